#include "common/simulator/api/driver_symbols.h"

#include <cuda.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "common/simulator/context/cuda_api.h"
#include "common/simulator/context/state.h"

namespace simulator {
namespace {

std::string file_of(const void* address) {
  Dl_info found;
  if (dladdr(address, &found) == 0 || found.dli_fname == nullptr) return "the program";
  const char* slash = std::strrchr(found.dli_fname, '/');
  return slash != nullptr ? slash + 1 : found.dli_fname;
}

bool is_library(const std::string& file) {
  return file.find(".so") != std::string::npos;
}

}  // namespace

void* driver_function(const char* name) {
  static void* const self = [] {
    Dl_info found;
    const bool known = dladdr(reinterpret_cast<const void*>(report_static_runtime), &found) != 0;
    return known ? dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  }();
  if (self == nullptr || std::strncmp(name, "cuda", 4) == 0) return nullptr;
  for (const char* version : {"_v4", "_v3", "_v2", ""}) {
    if (void* function = dlsym(self, (std::string(name) + version).c_str())) return function;
  }
  return nullptr;
}

void report_static_runtime(const void* address) {
  static auto* reported = new std::set<std::string>;
  const std::lock_guard lock(runtime_mutex());
  const std::string file = file_of(address);
  if (!reported->insert(file).second) return;
  say(is_library(file)
          ? file +
                " has CUDA's own runtime inside, which needs a GPU: the simulator cannot run what it is "
                "called for"
          : file + " is linked with CUDA's static runtime, which needs a GPU: build it with -cudart shared");
}

}  // namespace simulator

using namespace simulator;

// What CUDA's runtime begins with, where it is linked statically, as in cuBLAS and cuRAND.
SIMULATOR_EXPORT CUresult cuGetExportTable(const void**, const CUuuid*) {
  report_static_runtime(__builtin_return_address(0));
  return CUDA_ERROR_NOT_SUPPORTED;
}

SIMULATOR_EXPORT CUresult cuGetProcAddress_v2(const char* name, void** function, int, cuuint64_t,
                                              CUdriverProcAddressQueryResult* result) {
  if (name == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (std::strcmp(name, "cuGetExportTable") == 0) report_static_runtime(__builtin_return_address(0));
  *function = driver_function(name);
  const bool found = *function != nullptr;
  if (result != nullptr) *result = found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
