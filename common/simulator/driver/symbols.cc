#include "common/simulator/driver/symbols.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/simulator/driver/call.h"

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

// From "cuMemAlloc" to {3020, "cuMemAlloc_v2"} and its like, ascending.
using Versions = std::unordered_map<std::string, std::vector<std::pair<int, std::string>>>;

const Versions& versions_of() {
  static const Versions* const all = [] {
    auto* made = new Versions;
    for (const Names& each : driver_names()) {
      std::istringstream words(each.names);
      for (std::string word; words >> word;) {
        const size_t suffix = word.rfind("_v");
        (*made)[word.substr(0, suffix)].emplace_back(each.since, word);
      }
    }
    return made;
  }();
  return *all;
}

}  // namespace

Found find_driver_function(const char* name, int version, bool per_thread, void*& function) {
  static void* const self = [] {
    Dl_info found;
    const bool known = dladdr(reinterpret_cast<const void*>(report_static_runtime), &found) != 0;
    return known ? dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  }();
  function = nullptr;
  const auto it = versions_of().find(name);
  if (it == versions_of().end()) return Found::no;
  std::string best;
  for (const auto& [since, versioned] : it->second) {
    if (since <= version) best = versioned;
  }
  if (best.empty()) return Found::too_new;
  if (self == nullptr) return Found::no;
  for (const char* variant : {"_ptsz", "_ptds"}) {
    if (per_thread && function == nullptr) function = dlsym(self, (best + variant).c_str());
  }
  if (function == nullptr) function = dlsym(self, best.c_str());
  return function != nullptr ? Found::yes : Found::no;
}

void report_static_runtime(const void* address) {
  static auto* reported = new std::set<std::string>;
  const std::lock_guard lock(runtime_mutex());
  const std::string file = file_of(address);
  if (file.starts_with("libnvrtc") || file.starts_with("libnvJitLink"))
    return;  // compilers: they run on the host
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
extern "C" CUresult cuGetExportTable(const void**, const CUuuid*) {
  report_static_runtime(__builtin_return_address(0));
  return CUDA_ERROR_NOT_SUPPORTED;
}

extern "C" CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                                        CUdriverProcAddressQueryResult* result) {
  if (name == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const Found found = find_driver_function(name, version, per_thread, *function);
  if (result != nullptr) {
    *result = found == Found::yes       ? CU_GET_PROC_ADDRESS_SUCCESS
              : found == Found::too_new ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                        : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return found == Found::yes ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

extern "C" CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}
