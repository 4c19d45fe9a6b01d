// malloc, free, new and delete in kernels: blocks that do not overlap, outlive the kernel, and are aligned.
#include "program.h"

struct Item {
  int key;
  Item* next;
};
__device__ int alive = 0;
struct Counted {
  int id;
  __device__ explicit Counted(int i) : id(i) { atomicAdd(&alive, 1); }
  __device__ virtual ~Counted() { atomicSub(&alive, 1); }
  __device__ virtual int twice() const { return 2 * id; }
};

__global__ void lists(int* out) {  // a list of each thread's own
  const int t = int(blockIdx.x * blockDim.x + threadIdx.x);
  Item* first = nullptr;
  for (int i = 0; i < 3 + t % 5; ++i) {
    Item* item = static_cast<Item*>(malloc(sizeof(Item)));
    if (item == nullptr) {
      out[t] = -1;
      return;
    }
    item->key = t * 10 + i;
    item->next = first;
    first = item;
  }
  int sum = 0;
  while (first != nullptr) {
    sum = sum * 3 + first->key;
    Item* gone = first;
    first = first->next;
    free(gone);
  }
  out[t] = sum;
}

__global__ void allocate(int** blocks, int* ok) {
  const int t = int(threadIdx.x), n = 5 + t;
  blocks[t] = new int[n];
  for (int i = 0; i < n; ++i) blocks[t][i] = t * 1000 + i;
  if (reinterpret_cast<uintptr_t>(blocks[t]) % 16 == 0) atomicAdd(ok, 1);
}
__global__ void use(int** blocks, int* sums) {  // another thread than the one that made it
  const int t = int(threadIdx.x), other = 63 - t;
  int sum = 0;
  for (int i = 0; i < 5 + other; ++i) sum += blocks[other][i];
  sums[t] = sum;
  delete[] blocks[other];
}

__global__ void objects(int* out) {
  const int t = int(threadIdx.x);
  Counted* c = new Counted(t);
  __syncthreads();
  out[t] = c->twice() + (alive == int(blockDim.x) ? 1000 : 0);
  __syncthreads();
  delete c;
  __syncthreads();
  if (t == 0) out[blockDim.x] = alive;
}

__global__ void shared_block(int* out) {
  __shared__ int* data;
  if (threadIdx.x == 0) data = static_cast<int*>(malloc(blockDim.x * sizeof(int)));
  __syncthreads();
  data[threadIdx.x] = int(threadIdx.x * threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = data[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) free(data);
}

__global__ void too_much(int* out) {
  void* p = malloc(size_t(1) << 40);
  *out = p == nullptr;
  free(nullptr);
}

int main() {
  CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  size_t size = 0;
  CUDA(cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize));
  expect(size >= 16 << 20, "size of the heap");
  Buffer<int> sums(256);
  lists<<<2, 128>>>(sums);
  LAUNCHED();
  bool ok = true;
  const std::vector<int> got = sums.download();
  for (int t = 0; t < 256; ++t) {
    int want = 0;
    for (int i = 2 + t % 5; i >= 0; --i) want = want * 3 + t * 10 + i;
    ok &= got[t] == want;
  }
  show("lists", got);
  expect(ok, "lists");

  Buffer<int*> blocks(64);
  Buffer<int> aligned(1), block_sums(64);
  allocate<<<1, 64>>>(blocks, aligned);
  LAUNCHED();
  use<<<1, 64>>>(blocks, block_sums);
  LAUNCHED();
  show("arrays", block_sums.download());
  expect(aligned.download()[0] == 64, "alignment");

  Buffer<int> out(97), one(1);
  objects<<<1, 96>>>(out);
  LAUNCHED();
  expect(out.download()[95] == 1190 && out.download()[96] == 0, "objects");
  shared_block<<<1, 96>>>(out);
  LAUNCHED();
  expect(out.download()[0] == 95 * 95 && out.download()[95] == 0, "an array for the block");
  too_much<<<1, 1>>>(one);
  LAUNCHED();
  expect(one.download()[0] == 1, "more than there is");
  return finish();
}
