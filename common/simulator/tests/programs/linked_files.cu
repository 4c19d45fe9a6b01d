// Device code of two files (nvcc -rdc=true): see linked_files_other.cu.
#include "linked_files.h"
#include "program.h"

__device__ int table[4] = {1, 2, 3, 4};
static __device__ int offset = 5;  // the other file has one of this name, too

__global__ void use(int* out) {
  out[threadIdx.x] = of_other_file(static_cast<int>(threadIdx.x)) + offset;
}

int main() {
  Buffer<int> out(4);
  use<<<1, 4>>>(out);
  LAUNCHED();
  expect(out.download() == std::vector<int>({115, 125, 135, 145}), "a function of another file");
  const int five[] = {5, 5, 5, 5};
  CUDA(cudaMemcpyToSymbol(table, five, sizeof five));
  CUDA(launch_of_other_file(out));
  expect(out.download() == std::vector<int>({150, 150, 150, 150}),
         "a kernel of another file, a variable of both");
  return finish();
}
