// A program written to the driver's interface: it loads PTX itself, and launches what is in it.
#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

#include "program.h"

namespace {

// out[i] = i * factor + offset
const char ptx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 offset;
.visible .entry scale(.param .u64 out, .param .u32 factor)
{
  .reg .u32 %r<5>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [factor];
  mov.u32 %r2, %tid.x;
  ld.global.u32 %r3, [offset];
  mad.lo.u32 %r4, %r2, %r1, %r3;
  mul.wide.u32 %rd2, %r2, 4;
  cvta.to.global.u64 %rd1, %rd1;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r4;
  ret;
}
)";

void driver(CUresult result, const char* call) {
  const char* name = "no error";
  if (result != CUDA_SUCCESS) cuGetErrorName(result, &name);
  expect(result == CUDA_SUCCESS, (std::string(call) + ": " + name).c_str());
}
#define DRIVER(...) driver((__VA_ARGS__), #__VA_ARGS__)

}  // namespace

int main() {
  constexpr unsigned n = 64;
  int count = 0;
  CUdevice device = -1;
  CUcontext context = nullptr;
  DRIVER(cuInit(0));
  DRIVER(cuDeviceGetCount(&count));
  expect(count == 1, "one device");
  DRIVER(cuDeviceGet(&device, 0));
  DRIVER(cuDevicePrimaryCtxRetain(&context, device));
  DRIVER(cuCtxSetCurrent(context));
  CUmodule module = nullptr;
  CUfunction scale = nullptr, none = nullptr;
  DRIVER(cuModuleLoadData(&module, ptx));
  DRIVER(cuModuleGetFunction(&scale, module, "scale"));
  expect(cuModuleGetFunction(&none, module, "missing") == CUDA_ERROR_NOT_FOUND, "a kernel that is not there");
  CUdeviceptr offset = 0, out = 0;
  size_t bytes = 0;
  DRIVER(cuModuleGetGlobal(&offset, &bytes, module, "offset"));
  expect(bytes == 4, "the variable's size");
  uint32_t seven = 7, factor = 3;
  DRIVER(cuMemcpyHtoD(offset, &seven, sizeof seven));
  DRIVER(cuMemAlloc(&out, n * sizeof(uint32_t)));
  void* parameters[] = {&out, &factor};
  DRIVER(cuLaunchKernel(scale, 1, 1, 1, n, 1, 1, 0, nullptr, parameters, nullptr));
  DRIVER(cuCtxSynchronize());
  std::vector<uint32_t> values(n);
  DRIVER(cuMemcpyDtoH(values.data(), out, n * sizeof(uint32_t)));
  bool right = true;
  for (uint32_t i = 0; i < n; ++i) right = right && values[i] == 3 * i + 7;
  expect(right, "what the kernel has written");
  expect(
      cuLaunchKernel(scale, 1, 1, 1, 4096, 1, 1, 0, nullptr, parameters, nullptr) == CUDA_ERROR_INVALID_VALUE,
      "4096 threads");
  DRIVER(cuMemFree(out));
  DRIVER(cuModuleUnload(module));
  return finish();
}
