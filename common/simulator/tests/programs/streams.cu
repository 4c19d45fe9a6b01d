// Streams, events, asynchronous and two-dimensional copies, host functions, pinned memory, memory pools and
// graphs.
#include <atomic>
#include <cmath>

#include "program.h"

__global__ void scale(int* data, int n, int factor, int add) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) data[i] = data[i] * factor + add;
}
__global__ void sum_into(const int* data, int n, long long* out) {
  if (threadIdx.x != 0) return;
  long long sum = 0;
  for (int i = 0; i < n; ++i) sum += data[i];
  *out += sum;
}

void CUDART_CB host_step(void* value) {
  *static_cast<int*>(value) *= 10;
}
void CUDART_CB stream_done(cudaStream_t, cudaError_t status, void* value) {
  *static_cast<int*>(value) += status == cudaSuccess ? 3 : 1000;
}

void test_order() {
  constexpr int n = 1000;
  int* pinned = nullptr;
  CUDA(cudaMallocHost(&pinned, n * sizeof(int)));
  for (int i = 0; i < n; ++i) pinned[i] = i;
  int* data = nullptr;
  CUDA(cudaMalloc(&data, n * sizeof(int)));
  cudaStream_t a, b;
  CUDA(cudaStreamCreate(&a));
  CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  cudaEvent_t start, copied, done;
  CUDA(cudaEventCreate(&start));
  CUDA(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
  CUDA(cudaEventCreate(&done));
  int steps = 1;
  CUDA(cudaEventRecord(start, a));
  CUDA(cudaMemcpyAsync(data, pinned, n * sizeof(int), cudaMemcpyHostToDevice, a));
  scale<<<8, 128, 0, a>>>(data, n, 3, 1);
  CUDA(cudaEventRecord(copied, a));
  CUDA(cudaStreamWaitEvent(b, copied, 0));
  scale<<<8, 128, 0, b>>>(data, n, 2, -7);
  CUDA(cudaLaunchHostFunc(b, host_step, &steps));
  CUDA(cudaStreamAddCallback(b, stream_done, &steps, 0));
  CUDA(cudaLaunchHostFunc(b, host_step, &steps));
  CUDA(cudaMemcpyAsync(pinned, data, n * sizeof(int), cudaMemcpyDeviceToHost, b));
  CUDA(cudaEventRecord(done, b));
  CUDA(cudaEventSynchronize(done));
  CUDA(cudaStreamSynchronize(b));
  bool ok = steps == 130;
  for (int i = 0; i < n; ++i) ok &= pinned[i] == (i * 3 + 1) * 2 - 7;
  float milliseconds = -1;
  CUDA(cudaEventElapsedTime(&milliseconds, start, done));
  ok &= milliseconds >= 0 && milliseconds < 1e5f;
  std::printf("queries: %d %d %d\n", cudaStreamQuery(a), cudaStreamQuery(b), cudaEventQuery(done));
  const cudaError_t untimed = cudaEventElapsedTime(&milliseconds, copied, done);
  std::printf("an event without a time: %d, then %d\n", untimed, cudaGetLastError());
  CUDA(cudaEventDestroy(start));
  CUDA(cudaEventDestroy(copied));
  CUDA(cudaEventDestroy(done));
  CUDA(cudaStreamDestroy(a));
  CUDA(cudaStreamDestroy(b));
  CUDA(cudaFree(data));
  CUDA(cudaFreeHost(pinned));
  expect(ok, "order");
}

void test_copies() {
  constexpr size_t width = 37, height = 11;  // bytes × rows
  uint8_t* image = nullptr;
  size_t pitch = 0;
  CUDA(cudaMallocPitch(&image, &pitch, width, height));
  std::vector<uint8_t> host(width * height), back(width * height), whole;
  for (size_t i = 0; i < host.size(); ++i) host[i] = uint8_t(noise(uint32_t(i)));
  bool ok = pitch >= width && pitch % 32 == 0;
  CUDA(cudaMemset2D(image, pitch, 0xee, pitch, height));
  CUDA(cudaMemcpy2D(image, pitch, host.data(), width, width, height, cudaMemcpyHostToDevice));
  whole.resize(pitch * height);
  CUDA(cudaMemcpy(whole.data(), image, whole.size(), cudaMemcpyDeviceToHost));
  for (size_t y = 0; y < height; ++y) {
    ok &= std::memcmp(&whole[y * pitch], &host[y * width], width) == 0;
    for (size_t x = width; x < pitch; ++x) ok &= whole[y * pitch + x] == 0xee;
  }
  CUDA(cudaMemset2D(image + 5, pitch, 7, 3, 4));
  CUDA(cudaMemcpy2DAsync(back.data(), width, image, pitch, width, height, cudaMemcpyDeviceToHost, nullptr));
  CUDA(cudaDeviceSynchronize());
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x)
      ok &= back[y * width + x] == (y < 4 && x >= 5 && x < 8 ? 7 : host[y * width + x]);
  show("rows", back);
  CUDA(cudaFree(image));

  cudaPitchedPtr volume;
  const cudaExtent extent = make_cudaExtent(20, 6, 4);
  CUDA(cudaMalloc3D(&volume, extent));
  CUDA(cudaMemset3D(volume, 9, extent));
  std::vector<uint8_t> cube(20 * 6 * 4, 1);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = volume;
  copy.dstPtr = make_cudaPitchedPtr(cube.data(), 20, 20, 6);
  copy.srcPos = make_cudaPos(0, 0, 0);
  copy.dstPos = make_cudaPos(3, 2, 1);
  copy.extent = make_cudaExtent(10, 3, 2);
  copy.kind = cudaMemcpyDeviceToHost;
  CUDA(cudaMemcpy3D(&copy));
  int nines = 0;
  for (uint8_t byte : cube) nines += byte == 9;
  ok &= nines == 60 && cube[(1 * 6 + 2) * 20 + 3] == 9 && cube[(1 * 6 + 2) * 20 + 2] == 1;
  CUDA(cudaFree(volume.ptr));

  Buffer<int> from(100), to(100);
  CUDA(cudaMemset(from, 0x11, 400));
  CUDA(cudaMemcpy(to.data + 50, from.data, 200, cudaMemcpyDeviceToDevice));
  CUDA(cudaMemcpy(to.data, to.data + 90, 40, cudaMemcpyDefault));
  const std::vector<int> moved = to.download();
  ok &= moved[9] == 0x11111111 && moved[10] == 0 && moved[49] == 0 && moved[50] == 0x11111111;
  expect(ok, "copies");
}

void test_memory() {
  int* mapped = nullptr;
  CUDA(cudaHostAlloc(&mapped, 400, cudaHostAllocMapped));
  int* on_device = nullptr;
  CUDA(cudaHostGetDevicePointer(&on_device, mapped, 0));
  for (int i = 0; i < 100; ++i) mapped[i] = i;
  scale<<<1, 128>>>(on_device, 100, 5, 5);
  LAUNCHED();
  expect(mapped[0] == 5 && mapped[99] == 500, "mapped host memory");
  CUDA(cudaFreeHost(mapped));

  std::vector<int> ordinary(100, 4);
  CUDA(cudaHostRegister(ordinary.data(), 400, cudaHostRegisterDefault));
  Buffer<int> device(ordinary);
  CUDA(cudaHostUnregister(ordinary.data()));

  int* pooled = nullptr;
  CUDA(cudaMallocAsync(&pooled, 400, nullptr));
  CUDA(cudaMemsetAsync(pooled, 0, 400, nullptr));
  scale<<<1, 128>>>(pooled, 100, 1, 6);
  std::vector<int> result(100);
  CUDA(cudaMemcpyAsync(result.data(), pooled, 400, cudaMemcpyDeviceToHost, nullptr));
  CUDA(cudaFreeAsync(pooled, nullptr));
  CUDA(cudaDeviceSynchronize());
  expect(result == std::vector<int>(100, 6), "stream-ordered memory");

  cudaPointerAttributes attributes;
  CUDA(cudaPointerGetAttributes(&attributes, device.data + 7));
  std::printf("pointers: %d", int(attributes.type));
  CUDA(cudaPointerGetAttributes(&attributes, &pooled));
  std::printf(" %d\n", int(attributes.type));
  size_t free_bytes = 0, total = 0;
  CUDA(cudaMemGetInfo(&free_bytes, &total));
  expect(free_bytes > 0 && free_bytes <= total, "memory left");
}

void test_graph() {
  constexpr int n = 256;
  std::vector<int> ones(n, 1);
  Buffer<int> data(ones);
  Buffer<long long> sum(1);
  cudaStream_t stream, side;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  cudaEvent_t fork, join;
  CUDA(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CUDA(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  int factor = 2;
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  scale<<<2, 128, 0, stream>>>(data, n, factor, 1);
  CUDA(cudaEventRecord(fork, stream));
  CUDA(cudaStreamWaitEvent(side, fork, 0));
  scale<<<1, 128, 0, side>>>(data.data + 128, 128, 1, 100);
  CUDA(cudaEventRecord(join, side));
  scale<<<1, 64, 0, stream>>>(data, 64, 1, -1);
  CUDA(cudaStreamWaitEvent(stream, join, 0));
  sum_into<<<1, 32, 0, stream>>>(data, n, sum);
  cudaGraph_t graph;
  CUDA(cudaStreamEndCapture(stream, &graph));
  const std::vector<int> untouched = data.download();
  size_t nodes = 0;
  CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  std::printf("graph: %zu nodes\n", nodes);
  cudaGraphExec_t executable;
  CUDA(cudaGraphInstantiate(&executable, graph, 0));
  factor = 5;  // arguments are copied when captured
  for (int k = 0; k < 3; ++k) CUDA(cudaGraphLaunch(executable, stream));
  CUDA(cudaStreamSynchronize(stream));
  std::vector<int> want(ones);
  long long total = 0;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < n; ++i) {
      want[i] = want[i] * 2 + 1 + (i >= 128 ? 100 : 0) - (i < 64 ? 1 : 0);
      total += want[i];
    }
  expect(untouched == ones && data.download() == want && sum.download()[0] == total, "graph");
  CUDA(cudaGraphExecDestroy(executable));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaEventDestroy(fork));
  CUDA(cudaEventDestroy(join));
  CUDA(cudaStreamDestroy(stream));
  CUDA(cudaStreamDestroy(side));
}

int main() {
  test_order();
  test_copies();
  test_memory();
  test_graph();
  return finish();
}
