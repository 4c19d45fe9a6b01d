// What may be launched and what may not: limits, error codes and when they appear, attributes of functions,
// shared memory beyond 48 KB, occupancy, launches in three dimensions, many parameters.
#include "program.h"

struct Big {
  int words[900];
};

__global__ void empty() {}
__global__ void geometry(int* out) {
  const int block = int(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
  const int thread = int(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
  const int n = int(blockDim.x * blockDim.y * blockDim.z);
  out[block * n + thread] = int(threadIdx.x * 1 + threadIdx.y * 100 + threadIdx.z * 10000 + blockIdx.x * 7 +
                                blockIdx.y * 70 + blockIdx.z * 700 + gridDim.z * 1000000);
}
__global__ void parameters(Big big, char a, double b, short c, const int* index, float3 d, bool e, int* out) {
  out[threadIdx.x] =
      big.words[index[threadIdx.x]] + a + int(b * 4) + c + int(d.x + d.y * 10 + d.z * 100) + (e ? 100000 : 0);
}
__global__ void much_shared(int* out, int n) {
  extern __shared__ int words[];
  for (int i = int(threadIdx.x); i < n; i += int(blockDim.x)) words[i] = int(noise(uint32_t(i)) % 1000);
  __syncthreads();
  int sum = 0;
  for (int i = int(threadIdx.x); i < n; i += int(blockDim.x)) sum += words[n - 1 - i];
  atomicAdd(out, sum);
  uint32_t dynamic;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(dynamic));
  if (threadIdx.x == 0) out[1] = int(dynamic);
}
__global__ void static_shared(int* out) {
  __shared__ int words[3000];
  words[threadIdx.x] = 1;
  __syncthreads();
  *out = words[0];
}
__global__ void __launch_bounds__(128, 4) bounded(int* out) {
  *out = int(blockDim.x);
}
__global__ void tail(int* out, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) atomicAdd(out, 1);
}

// The launch's own error, which is not sticky.
void refused(const char* what) {
  const cudaError_t peeked = cudaPeekAtLastError(), last = cudaGetLastError(), then = cudaGetLastError();
  std::printf("%s: %d %d %d, and synchronize %d\n", what, peeked, last, then, cudaDeviceSynchronize());
}

void test_errors() {
  Buffer<int> out(4);
  empty<<<1, 1025>>>();
  refused("1025 threads");
  empty<<<1, 1024>>>();
  refused("1024 threads");
  empty<<<1, dim3(32, 32, 2)>>>();
  refused("32 x 32 x 2 threads");
  empty<<<1, dim3(1, 1, 65)>>>();
  refused("65 threads in z");
  empty<<<1, dim3(2, 2, 64)>>>();
  refused("2 x 2 x 64 threads");
  empty<<<1, 0>>>();
  refused("no threads");
  empty<<<0, 32>>>();
  refused("no blocks");
  empty<<<dim3(1, 65536), 32>>>();
  refused("65536 blocks in y");
  empty<<<dim3(1, 1, 65536), 32>>>();
  refused("65536 blocks in z");
  much_shared<<<1, 32, 49152>>>(out, 10);
  refused("48 KB");
  much_shared<<<1, 32, 49153>>>(out, 10);
  refused("more than 48 KB");
  static_shared<<<1, 32, 40000>>>(out);
  refused("static and dynamic beyond 48 KB");
  bounded<<<1, 256>>>(out);
  refused("more threads than the launch bounds");
  bounded<<<1, 128>>>(out);
  refused("as many as the launch bounds");
  std::printf("%s: %s\n", cudaGetErrorName(cudaErrorInvalidConfiguration),
              cudaGetErrorString(cudaErrorInvalidConfiguration));
  std::printf("%s: %s\n", cudaGetErrorName(cudaErrorInvalidValue), cudaGetErrorString(cudaErrorInvalidValue));
  std::printf("%s: %s\n", cudaGetErrorName(cudaErrorMemoryAllocation),
              cudaGetErrorString(cudaErrorMemoryAllocation));
  std::printf("%s: %s\n", cudaGetErrorName(cudaErrorIllegalAddress),
              cudaGetErrorString(cudaErrorIllegalAddress));
  std::printf("%s: %s\n", cudaGetErrorName(cudaErrorLaunchFailure),
              cudaGetErrorString(cudaErrorLaunchFailure));
  std::printf("%s: %s\n", cudaGetErrorName(cudaSuccess), cudaGetErrorString(cudaSuccess));

  void* p = nullptr;
  std::printf("a malloc of 2^46 bytes: %d", cudaMalloc(&p, size_t(1) << 46));
  std::printf(", then %d\n", cudaGetLastError());
  std::printf("a malloc of 0 bytes: %d %d\n", cudaMalloc(&p, 0), p == nullptr);
  std::printf("free of null: %d\n", cudaFree(nullptr));
  int local = 0;
  std::printf("free of what was not allocated: %d", cudaFree(&local));
  std::printf(", then %d\n", cudaGetLastError());
  std::printf("no such device: %d", cudaSetDevice(99));
  std::printf(", then %d\n", cudaGetLastError());
  std::printf("a bad copy: %d", cudaMemcpy(out, &local, 4, cudaMemcpyKind(17)));
  std::printf(", then %d\n", cudaGetLastError());
}

void test_shared() {
  const int n = 24000;  // 96000 bytes
  int limit = 0, default_limit = 0;
  CUDA(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  CUDA(cudaDeviceGetAttribute(&default_limit, cudaDevAttrMaxSharedMemoryPerBlock, 0));
  expect(limit >= 99 * 1024 && default_limit == 49152, "limits of shared memory");
  CUDA(cudaFuncSetAttribute(much_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, n * 4));
  Buffer<int> out(2);
  much_shared<<<2, 256, n * 4>>>(out, n);
  LAUNCHED();
  int want = 0;
  for (int i = 0; i < n; ++i) want += int(noise(uint32_t(i)) % 1000);
  expect(out.download()[0] == 2 * want && out.download()[1] == n * 4, "96000 bytes of shared memory");
  much_shared<<<1, 256, n * 4 + 4>>>(out, n);
  refused("more than was set");
  std::printf("more than there is: %d",
              cudaFuncSetAttribute(much_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, limit + 1));
  std::printf(", then %d\n", cudaGetLastError());
  cudaFuncAttributes attributes;
  CUDA(cudaFuncGetAttributes(&attributes, much_shared));
  std::printf("attributes: static %zu, dynamic %d, threads %d\n", attributes.sharedSizeBytes,
              attributes.maxDynamicSharedSizeBytes, attributes.maxThreadsPerBlock);
  CUDA(cudaFuncGetAttributes(&attributes, static_shared));
  std::printf("attributes: static %zu, local %zu\n", attributes.sharedSizeBytes, attributes.localSizeBytes);
  CUDA(cudaFuncGetAttributes(&attributes, bounded));
  std::printf("attributes: threads %d\n", attributes.maxThreadsPerBlock);
  std::printf("attributes: PTX of version %d%s\n", attributes.ptxVersion,
              attributes.binaryVersion >= 80 ? "" : ", an older binary");
}

void test_geometry() {
  const dim3 grid(3, 2, 4), block(5, 3, 2);
  Buffer<int> out(24 * 30);
  geometry<<<grid, block>>>(out);
  LAUNCHED();
  show("geometry", out.download());

  Big big;
  for (int i = 0; i < 900; ++i) big.words[i] = i * 3;
  std::vector<int> index(64);
  for (int i = 0; i < 64; ++i) index[i] = int(noise(uint32_t(i)) % 900);
  const Buffer<int> device_index(index);
  Buffer<int> sums(64);
  parameters<<<1, 64>>>(big, 'c', 2.25, -9, device_index, make_float3(1, 2, 3), true, sums);
  LAUNCHED();
  bool ok = true;
  const std::vector<int> got = sums.download();
  for (int i = 0; i < 64; ++i) ok &= got[i] == index[i] * 3 + 'c' + 9 - 9 + 321 + 100000;
  expect(ok, "parameters");

  Buffer<int> count(1);
  int n = 1001;
  int* p = count;
  void* arguments[] = {&p, &n};
  CUDA(cudaLaunchKernel(tail, dim3(9), dim3(128), arguments, 0, nullptr));
  LAUNCHED();
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(9);
  config.blockDim = dim3(128);
  CUDA(cudaLaunchKernelEx(&config, tail, p, 500));
  LAUNCHED();
  expect(count.download()[0] == 1501, "other ways to launch");
}

void test_occupancy() {
  int blocks = 0, minimum = 0, size = 0, sms = 0, threads_per_sm = 0;
  CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CUDA(cudaDeviceGetAttribute(&threads_per_sm, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 1024, 0));
  bool ok = sms > 0 && threads_per_sm == 2048 && blocks == 2;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 32, 0));
  ok &= blocks == 32;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, much_shared, 32, 96000));
  ok &= blocks >= 1 && blocks <= 2;
  CUDA(cudaOccupancyMaxPotentialBlockSize(&minimum, &size, empty, 0, 0));
  ok &= size % 32 == 0 && size >= 128 && minimum * size == sms * threads_per_sm;
  cudaDeviceProp properties;
  CUDA(cudaGetDeviceProperties(&properties, 0));
  ok &= properties.multiProcessorCount == sms && properties.warpSize == 32 &&
        properties.maxThreadsPerBlock == 1024 && properties.regsPerBlock == 65536 &&
        properties.maxGridSize[0] == 2147483647 && properties.maxGridSize[1] == 65535 &&
        properties.maxThreadsDim[2] == 64 && properties.major >= 8 && properties.totalGlobalMem > 1u << 30 &&
        properties.totalConstMem == 65536 && properties.unifiedAddressing == 1;
  int count = 0, device = -1, runtime = 0, driver = 0;
  CUDA(cudaGetDeviceCount(&count));
  CUDA(cudaGetDevice(&device));
  CUDA(cudaRuntimeGetVersion(&runtime));
  CUDA(cudaDriverGetVersion(&driver));
  ok &= count >= 1 && device == 0 && runtime >= 13000 && driver >= runtime;
  expect(ok, "occupancy and properties");
}

int main() {
  test_errors();
  test_shared();
  test_geometry();
  test_occupancy();
  return finish();
}
