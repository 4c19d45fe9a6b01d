// cuLink…(): several PTX texts become one, which cuModuleLoadData() takes as it would take machine code.
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/simulator/context/registration.h"
#include "common/simulator/driver/call.h"
#include "common/simulator/driver/jit_options.h"
#include "common/simulator/image/fatbin.h"
#include "common/simulator/loading/link.h"

namespace simulator {

void clear_logs(const CUjit_option* options, void** values, unsigned count) {
  if (options == nullptr || values == nullptr) return;
  std::map<CUjit_option, void**> given;
  for (unsigned i = 0; i < count; ++i) given[options[i]] = &values[i];
  const auto clear = [&](CUjit_option buffer, CUjit_option size) {
    const auto text = given.find(buffer), bytes = given.find(size);
    if (bytes == given.end()) return;
    if (text != given.end() && *text->second != nullptr && *bytes->second != nullptr)
      *static_cast<char*>(*text->second) = '\0';
    *bytes->second = nullptr;
  };
  clear(CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
  clear(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  if (const auto time = given.find(CU_JIT_WALL_TIME); time != given.end()) *time->second = nullptr;
}

}  // namespace simulator

using namespace simulator;

namespace {

struct Linker {
  std::vector<std::string> texts;
  std::string linked;
  // Of cuLinkCreate(): cuLinkComplete() writes the logs.
  std::vector<CUjit_option> options;
  void** values = nullptr;
};

std::map<CUlinkState, std::unique_ptr<Linker>>& linkers() {
  static auto* all = new std::map<CUlinkState, std::unique_ptr<Linker>>;
  return *all;
}

template <class F>
CUresult with_linker(CUlinkState state, F&& body) noexcept {
  return driver_result([&] {
    const auto it = linkers().find(state);
    return it != linkers().end() ? body(*it->second) : CUDA_ERROR_INVALID_HANDLE;
  });
}

const char* name_of(CUjitInputType type) {
  switch (type) {
    case CU_JIT_INPUT_CUBIN:
      return "machine code (CU_JIT_INPUT_CUBIN)";
    case CU_JIT_INPUT_OBJECT:
      return "an object file (CU_JIT_INPUT_OBJECT)";
    case CU_JIT_INPUT_LIBRARY:
      return "a library (CU_JIT_INPUT_LIBRARY)";
    case CU_JIT_INPUT_NVVM:
      return "LTO-IR (CU_JIT_INPUT_NVVM)";
    default:
      return "an input of a type that is not known";
  }
}

CUresult add(Linker& linker, CUjitInputType type, const char* data, size_t bytes) {
  if (data == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (type == CU_JIT_INPUT_PTX) {
    linker.texts.emplace_back(data, bytes);
    return CUDA_SUCCESS;
  }
  if (type == CU_JIT_INPUT_FATBINARY && bytes >= sizeof(uint32_t) && is_fatbin(data)) {
    return result_of(ptx_of(data, linker.texts.emplace_back()));
  }
  return not_supported(std::string("linking ") + name_of(type) + ", and not PTX,");
}

}  // namespace

extern "C" CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values,
                                    CUlinkState* state) {
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return driver_result([&] {
    if (state == nullptr || (count != 0 && (options == nullptr || values == nullptr)))
      return CUDA_ERROR_INVALID_VALUE;
    auto linker = std::make_unique<Linker>();
    linker->options.assign(options, options + count);
    linker->values = values;
    *state = reinterpret_cast<CUlinkState>(linker.get());
    linkers()[*state] = std::move(linker);
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t bytes,
                                     const char*, unsigned, CUjit_option*, void**) {
  return with_linker(
      state, [&](Linker& linker) { return add(linker, type, static_cast<const char*>(data), bytes); });
}

extern "C" CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned,
                                     CUjit_option*, void**) {
  return with_linker(state, [&](Linker& linker) {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::ifstream file(path, std::ios::binary);
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    return add(linker, type, bytes.data(), bytes.size());
  });
}

extern "C" CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes) {
  return with_linker(state, [&](Linker& linker) {
    if (image == nullptr || linker.texts.empty()) return CUDA_ERROR_INVALID_VALUE;
    linker.linked = link(linker.texts);
    clear_logs(linker.options.data(), linker.values, static_cast<unsigned>(linker.options.size()));
    *image = linker.linked.data();
    if (bytes != nullptr) *bytes = linker.linked.size() + 1;  // with the 0 at the end
    return CUDA_SUCCESS;
  });
}

extern "C" CUresult cuLinkDestroy(CUlinkState state) {
  return driver_result(
      [&] { return linkers().erase(state) != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}

SIMULATOR_ALIAS(cuLinkCreate, cuLinkCreate_v2);
SIMULATOR_ALIAS(cuLinkAddData, cuLinkAddData_v2);
SIMULATOR_ALIAS(cuLinkAddFile, cuLinkAddFile_v2);
