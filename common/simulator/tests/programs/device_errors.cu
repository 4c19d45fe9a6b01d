// Faults of kernels, each in a process of its own as nothing works after one: the code that the next call
// returns, that it stays, and that the message of an assertion is there (in release builds too).
#undef NDEBUG
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <string>

#include "program.h"

__global__ void assertion(int limit) {
  const int thread = int(threadIdx.x);
  assert(thread < limit && "too many");
}
__global__ void trap(int when) {
  if (int(threadIdx.x) == when) __trap();
}
__global__ void store(int* p, long long offset) {
  p[offset] = 1;
}
__global__ void load(const int* p, long long offset, int* out) {
  *out = p[offset];
}
__global__ void atomic(int* p) {
  atomicAdd(p, 1);
}
__global__ void misaligned(char* p, int by) {
  *reinterpret_cast<int*>(p + by) = 3;
}
__global__ void misaligned_vector(float* p) {
  *reinterpret_cast<float4*>(p + 1) = make_float4(1, 2, 3, 4);
}
__global__ void shared_store(int index) {
  extern __shared__ int words[];
  words[index] = 1;
  __syncthreads();
  if (words[index] == 2) printf("never\n");
}
__global__ void misaligned_shared(int by) {
  __shared__ char bytes[64];
  *reinterpret_cast<volatile int*>(bytes + by) = 1;
  if (bytes[by] != 1) printf("never\n");
}
__global__ void fine(int* p) {
  *p = 5;
}

void run(const std::string& what) {
  int* p = nullptr;
  CUDA(cudaMalloc(&p, 1024));
  CUDA(cudaMemset(p, 0, 1024));
  if (what == "assert")
    assertion<<<2, 64>>>(60);
  else if (what == "assert holds")
    assertion<<<2, 64>>>(64);
  else if (what == "trap")
    trap<<<1, 64>>>(40);
  else if (what == "trap not taken")
    trap<<<1, 64>>>(64);
  else if (what == "store to null")
    store<<<1, 1>>>(nullptr, 0);
  else if (what == "store far away")
    store<<<1, 1>>>(p, 1ll << 40);
  else if (what == "load from null")
    load<<<1, 1>>>(nullptr, 1, p);
  else if (what == "load from the host")
    load<<<1, 1>>>(reinterpret_cast<int*>(0x1000), 0, p);
  else if (what == "atomic on null")
    atomic<<<1, 1>>>(nullptr);
  else if (what == "misaligned store")
    misaligned<<<1, 1>>>(reinterpret_cast<char*>(p), 2);
  else if (what == "misaligned vector")
    misaligned_vector<<<1, 1>>>(reinterpret_cast<float*>(p));
  else if (what == "store past shared memory")
    shared_store<<<1, 1, 1024>>>(1 << 20);
  else if (what == "misaligned in shared memory")
    misaligned_shared<<<1, 1>>>(1);
  const cudaError_t launched = cudaGetLastError();
  const cudaError_t first = cudaDeviceSynchronize(), second = cudaDeviceSynchronize();
  const cudaError_t last = cudaGetLastError(), again = cudaGetLastError();
  fine<<<1, 1>>>(p);
  const cudaError_t next = cudaGetLastError();
  int value = 0;
  const cudaError_t copied = cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost);
  const cudaError_t allocated = cudaMalloc(&p, 16);
  std::printf(
      "%s: launch %d, first %d %s, second %d, last %d, again %d, next launch %d, copy %d, malloc %d%s\n",
      what.c_str(), launched, first, cudaGetErrorName(first), second, last, again, next, copied, allocated,
      copied == cudaSuccess && value == 5 ? ", and goes on" : "");
}

int main(int argc, char** argv) {
  if (argc > 1) {
    run(argv[1]);
    return 0;
  }
  for (const char* what :
       {"assert", "assert holds", "trap", "trap not taken", "store to null", "store far away",
        "load from null", "load from the host", "atomic on null", "misaligned store", "misaligned vector",
        "store past shared memory", "misaligned in shared memory"}) {
    std::fflush(stdout);
    std::FILE* errors = std::tmpfile();
    const pid_t child = fork();
    if (child == 0) {
      dup2(fileno(errors), 2);
      execl("/proc/self/exe", argv[0], what, nullptr);
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::rewind(errors);
    std::string text;
    for (int c; (c = std::fgetc(errors)) != EOF;) text += char(c);
    std::fclose(errors);
    const bool asserted =
        text.find("Assertion `thread < limit && \"too many\"` failed") != std::string::npos &&
        text.find("assertion(int)") != std::string::npos && text.find("block: [") != std::string::npos &&
        text.find("thread: [6") != std::string::npos;
    if (asserted) std::printf("(with its message)\n");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) expect(false, what);
  }
  return finish();
}
