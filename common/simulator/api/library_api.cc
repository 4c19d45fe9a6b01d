// Device code that the program loads itself: cudaLibraryLoadData() and what follows from it.
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/simulator/context/registration.h"
#include "common/simulator/context/state.h"
#include "common/simulator/image/fatbin.h"

using namespace simulator;

namespace {

Binary* binary_of(cudaLibrary_t library) {
  return reinterpret_cast<Binary*>(library);
}

// PTX text, or a fat binary; what was loaded belongs to the library from then on.
cudaError_t load_code(cudaLibrary_t* library, const void* code) {
  if (library == nullptr || code == nullptr) return cudaErrorInvalidValue;
  std::string ptx;
  if (is_fatbin(code)) {
    if (const cudaError_t error = ptx_of(code, ptx); error != cudaSuccess) return error;
  } else if (std::memcmp(code, "\177ELF", 4) == 0) {
    say("the library holds machine code only: load PTX (NVRTC: nvrtcGetPTX()) or a fat binary that holds "
        "PTX");
    return cudaErrorNoKernelImageForDevice;
  } else {
    ptx = static_cast<const char*>(code);
    if (const auto first = static_cast<unsigned char>(ptx.empty() ? '\0' : ptx.front());
        first >= 0x7f || first < '\t') {
      say("the library is neither PTX nor a fat binary (LTO-IR?): load PTX or a fat binary that holds PTX");
      return cudaErrorInvalidKernelImage;
    }
  }
  Binary* binary = add_binary(nullptr, std::move(ptx));
  if (const cudaError_t error = load(*binary); error != cudaSuccess) return error;
  *library = reinterpret_cast<cudaLibrary_t>(binary);
  return cudaSuccess;
}

cudaError_t find_variable_of(void** pointer, size_t* bytes, cudaLibrary_t library, const char* name) {
  if (library == nullptr || name == nullptr) return cudaErrorInvalidValue;
  const Allocation* memory = binary_of(library)->module->variable(name);
  if (memory == nullptr) return cudaErrorSymbolNotFound;
  if (pointer != nullptr) *pointer = reinterpret_cast<void*>(memory->base);
  if (bytes != nullptr) *bytes = memory->size;
  return cudaSuccess;
}

}  // namespace

extern "C" cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                           unsigned, cudaLibraryOption*, void**, unsigned) {
  return call([&] { return load_code(library, code); });
}

extern "C" cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, cudaJitOption*,
                                               void**, unsigned, cudaLibraryOption*, void**, unsigned) {
  return call([&] {
    if (path == nullptr) return cudaErrorInvalidValue;
    std::ifstream file(path, std::ios::binary);
    if (!file) return cudaErrorFileNotFound;
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    return load_code(library, bytes.c_str());
  });
}

extern "C" cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return call([&] {
    if (library == nullptr) return cudaErrorInvalidResourceHandle;
    remove_binary(binary_of(library));
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return call([&] {
    if (kernel == nullptr || library == nullptr || name == nullptr) return cudaErrorInvalidValue;
    Function* function = add_function(binary_of(library), name);
    if (const cudaError_t error = load(*function); error != cudaSuccess) {
      return error == cudaErrorInvalidDeviceFunction ? cudaErrorSymbolNotFound : error;
    }
    *kernel = reinterpret_cast<cudaKernel_t>(function);
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return call([&] {
    if (count == nullptr || library == nullptr) return cudaErrorInvalidValue;
    *count = static_cast<unsigned>(binary_of(library)->module->kernels().size());
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count,
                                                   cudaLibrary_t library) {
  return call([&] {
    if (kernels == nullptr || count == 0 || library == nullptr) return cudaErrorInvalidValue;
    const std::vector<std::string> names = binary_of(library)->module->kernels();
    for (unsigned i = 0; i < count && i < names.size(); ++i)
      kernels[i] = reinterpret_cast<cudaKernel_t>(add_function(binary_of(library), names[i]));
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* bytes, cudaLibrary_t library,
                                            const char* name) {
  return call([&] { return find_variable_of(pointer, bytes, library, name); });
}

extern "C" cudaError_t cudaLibraryGetManaged(void** pointer, size_t* bytes, cudaLibrary_t library,
                                             const char* name) {
  return call([&] { return find_variable_of(pointer, bytes, library, name); });
}
