// The driver's functions beside those that load and launch modules: contexts, memory, fills and copies,
// streams and events, occupancy, graphs, linking.
#include <cuda.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "program.h"

namespace {

void driver(CUresult result, const char* call, int line) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "an unknown error";
  cuGetErrorName(result, &name);
  std::printf("line %d: %s: %s\n", line, call, name);
  std::exit(2);
}
#define DRIVER(...) driver((__VA_ARGS__), #__VA_ARGS__, __LINE__)

const char add_ptx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) twice(.param .b32 value);
.global .align 4 .u32 own = 1;
.visible .entry add(.param .u64 out, .param .u32 term)
{
  .reg .u32 %r<6>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [term];
  mov.u32 %r2, %tid.x;
  { .param .b32 value; .param .b32 result;
    st.param.b32 [value], %r1;
    call.uni (result), twice, (value);
    ld.param.b32 %r1, [result]; }
  ld.global.u32 %r3, [own];
  cvta.to.global.u64 %rd1, %rd1;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r4, [%rd3];
  add.u32 %r4, %r4, %r1;
  add.u32 %r4, %r4, %r3;
  st.global.u32 [%rd3], %r4;
  ret;
}
)";

// Its `own` is another one than add's.
const char twice_ptx[] = R"(
.version 7.8
.target sm_75
.address_size 64
.global .align 4 .u32 own = 2;
.visible .func (.param .b32 result) twice(.param .b32 value)
{
  .reg .u32 %r<3>;
  ld.param.b32 %r1, [value];
  ld.global.u32 %r2, [own];
  mul.lo.u32 %r1, %r1, %r2;
  st.param.b32 [result], %r1;
  ret;
}
)";

constexpr unsigned n = 64;

std::vector<uint32_t> download(CUdeviceptr address, unsigned count = n) {
  std::vector<uint32_t> values(count);
  DRIVER(cuMemcpyDtoH(values.data(), address, count * sizeof(uint32_t)));
  return values;
}

bool all(const std::vector<uint32_t>& values, uint32_t value) {
  for (const uint32_t each : values) {
    if (each != value) return false;
  }
  return true;
}

void contexts(CUdevice device) {
  CUcontext first = nullptr, second = nullptr, current = nullptr, popped = nullptr;
  CUdeviceptr memory = 0;
  expect(cuMemAlloc(&memory, 4) == CUDA_ERROR_INVALID_CONTEXT, "no context yet");
  DRIVER(cuCtxCreate(&first, nullptr, 0, device));
  DRIVER(cuCtxCreate(&second, nullptr, CU_CTX_SCHED_BLOCKING_SYNC, device));
  DRIVER(cuCtxGetCurrent(&current));
  expect(first != second && current == second, "the new one is current");
  unsigned flags = 0;
  DRIVER(cuCtxGetFlags(&flags));
  expect((flags & CU_CTX_SCHED_BLOCKING_SYNC) != 0, "with its flags");
  DRIVER(cuCtxPopCurrent(&popped));
  DRIVER(cuCtxGetCurrent(&current));
  expect(popped == second && current == first, "the one before it is again");
  std::thread([&] {
    CUcontext none = first;
    DRIVER(cuCtxGetCurrent(&none));
    expect(none == nullptr, "another thread has none");
    DRIVER(cuCtxPushCurrent(second));
    DRIVER(cuMemAlloc(&memory, 4));
    DRIVER(cuMemFree(memory));
  }).join();
  DRIVER(cuCtxDestroy(second));
  expect(cuCtxSetCurrent(second) == CUDA_ERROR_INVALID_CONTEXT, "a context that was destroyed");
  DRIVER(cuCtxDestroy(first));
  DRIVER(cuCtxGetCurrent(&current));
  expect(current == nullptr, "all are gone");
}

void memory() {
  CUdeviceptr out = 0, base = 0;
  size_t bytes = 0, pitch = 0;
  DRIVER(cuMemAlloc(&out, n * 4));
  DRIVER(cuMemsetD32(out, 0x01020304, n));
  expect(all(download(out), 0x01020304), "32 bits");
  DRIVER(cuMemsetD16Async(out, 0x0506, 2 * n, nullptr));
  expect(all(download(out), 0x05060506), "16 bits");
  DRIVER(cuMemsetD2D8(out, 8, 0, 4, n / 2));
  expect(download(out)[0] == 0 && download(out)[1] == 0x05060506, "every other word");
  DRIVER(cuMemGetAddressRange(&base, &bytes, out + 17));
  expect(base == out && bytes == n * 4, "where an address belongs");
  unsigned type = 0;
  CUdeviceptr start = 0;
  bool managed = true;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                      CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* data[] = {&type, &start, &managed};
  DRIVER(cuPointerGetAttributes(3, attributes, data, out + 4));
  expect(type == CU_MEMORYTYPE_DEVICE && start == out && !managed, "attributes of a pointer");
  expect(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                               reinterpret_cast<CUdeviceptr>(&type)) == CUDA_ERROR_INVALID_VALUE,
         "of the host's own");
  DRIVER(cuMemFree(out));

  // Two rows of four words, out of a matrix of eight words a row.
  std::vector<uint32_t> host(4 * 8);
  for (uint32_t i = 0; i < 32; ++i) host[i] = i;
  DRIVER(cuMemAllocPitch(&out, &pitch, 16, 2, 4));
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host.data();
  copy.srcPitch = 32;
  copy.srcXInBytes = 8;
  copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = out;
  copy.dstPitch = pitch;
  copy.WidthInBytes = 16;
  copy.Height = 2;
  DRIVER(cuMemcpy2D(&copy));
  expect(download(out, 4) == std::vector<uint32_t>({10, 11, 12, 13}) &&
             download(out + pitch, 4) == std::vector<uint32_t>({18, 19, 20, 21}),
         "a part of a matrix");
  DRIVER(cuMemFree(out));
  CUstream stream = nullptr;
  DRIVER(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
  DRIVER(cuMemAllocAsync(&out, 256, stream));
  DRIVER(cuMemFreeAsync(out, stream));
  DRIVER(cuStreamDestroy(stream));
}

CUmodule linked() {
  CUlinkState state = nullptr;
  char log[64] = "unchanged";
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  DRIVER(cuLinkCreate(2, options, values, &state));
  for (const char* text : {add_ptx, twice_ptx}) {
    DRIVER(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text) + 1, "", 0,
                         nullptr, nullptr));
  }
  void* image = nullptr;
  size_t bytes = 0;
  DRIVER(cuLinkComplete(state, &image, &bytes));
  expect(bytes > 0 && log[0] == '\0', "linked, and nothing to log");
  CUmodule module = nullptr;
  DRIVER(cuModuleLoadData(&module, image));
  DRIVER(cuLinkDestroy(state));
  return module;
}

void launches(CUmodule module) {
  CUfunction add = nullptr;
  CUdeviceptr out = 0;
  unsigned count = 0;
  int blocks = 0, grid = 0, block = 0, threads = 0;
  const char* name = nullptr;
  DRIVER(cuModuleGetFunctionCount(&count, module));
  DRIVER(cuModuleEnumerateFunctions(&add, 1, module));
  DRIVER(cuFuncGetName(&name, add));
  expect(count == 1 && std::string(name) == "add", "the module's kernel");
  DRIVER(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add));
  DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
  DRIVER(cuOccupancyMaxPotentialBlockSize(&grid, &block, add, nullptr, 0, 0));
  expect(threads == 1024 && blocks > 0 && block > 0 && grid > 0, "its occupancy");

  DRIVER(cuMemAlloc(&out, n * 4));
  DRIVER(cuMemsetD32(out, 100, n));
  struct {
    CUdeviceptr out;
    uint32_t term;
  } arguments{out, 7};
  size_t bytes = sizeof arguments;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  DRIVER(cuLaunchKernel(add, 1, 1, 1, n, 1, 1, 0, nullptr, nullptr, extra));
  expect(all(download(out), 100 + 2 * 7 + 1), "a launch, its arguments in one buffer");

  // fill, then add twice
  CUgraph graph = nullptr;
  CUgraphNode fill = nullptr, first = nullptr, second = nullptr;
  CUgraphExec executable = nullptr;
  uint32_t term = 3;
  void* parameters[] = {&out, &term};
  DRIVER(cuGraphCreate(&graph, 0));
  CUcontext context = nullptr;
  DRIVER(cuCtxGetCurrent(&context));
  CUDA_MEMSET_NODE_PARAMS zeroes = {out, 0, 0, 4, n, 1};
  DRIVER(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &zeroes, context));
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  kernel.func = add;
  kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.blockDimX = n;
  kernel.kernelParams = parameters;
  DRIVER(cuGraphAddKernelNode(&first, graph, &fill, 1, &kernel));
  DRIVER(cuGraphAddKernelNode(&second, graph, &first, 1, &kernel));
  DRIVER(cuGraphInstantiate(&executable, graph, 0));
  DRIVER(cuGraphLaunch(executable, nullptr));
  expect(all(download(out), 2 * (2 * 3 + 1)), "a graph");
  CUDA_KERNEL_NODE_PARAMS known = {};
  DRIVER(cuGraphKernelNodeGetParams(second, &known));
  expect(known.func == add && known.blockDimX == n && *static_cast<uint32_t*>(known.kernelParams[1]) == 3,
         "what a node was made of");
  term = 5;
  DRIVER(cuGraphExecKernelNodeSetParams(executable, second, &kernel));
  DRIVER(cuGraphLaunch(executable, nullptr));
  expect(all(download(out), 2 * 3 + 1 + 2 * 5 + 1), "and what it is made of now");
  DRIVER(cuGraphExecDestroy(executable));
  DRIVER(cuGraphDestroy(graph));
  DRIVER(cuMemFree(out));
}

}  // namespace

int main() {
  CUdevice device = -1;
  expect(cuDeviceGet(&device, 0) == CUDA_ERROR_NOT_INITIALIZED, "before cuInit()");
  DRIVER(cuInit(0));
  DRIVER(cuDeviceGet(&device, 0));
  contexts(device);
  CUcontext context = nullptr;
  unsigned flags = 0;
  int active = -1;
  DRIVER(cuDevicePrimaryCtxGetState(device, &flags, &active));
  expect(active == 0, "the primary context is not in use");
  CUDA(cudaFree(nullptr));  // the runtime makes it current
  DRIVER(cuCtxGetCurrent(&context));
  expect(context != nullptr, "the runtime's context is the driver's");
  memory();
  CUmodule module = linked();
  launches(module);
  DRIVER(cuModuleUnload(module));
  const char* name = nullptr;
  DRIVER(cuGetErrorName(CUDA_ERROR_NOT_FOUND, &name));
  expect(name == std::string("CUDA_ERROR_NOT_FOUND"), "an error's name");
  expect(cuGetErrorName(static_cast<CUresult>(12345), &name) == CUDA_ERROR_INVALID_VALUE && name == nullptr,
         "the name of none");
  expect(cuMemAlloc(nullptr, 4) == CUDA_ERROR_INVALID_VALUE && cudaGetLastError() == cudaSuccess,
         "the driver's errors are not the runtime's last");
  return finish();
}
