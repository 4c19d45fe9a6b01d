#include "common/simulator/context/registration.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/simulator/context/replacement.h"
#include "common/simulator/context/state.h"
#include "common/simulator/image/fatbin.h"
#include "common/simulator/loading/link.h"
#include "common/simulator/settings/device.h"
#include "common/simulator/settings/settings.h"

namespace simulator {
namespace {

struct Tables {
  std::deque<Binary> binaries;
  std::deque<Function> functions;
  std::deque<Variable> variables;
  std::vector<std::unique_ptr<Module>>
      retired;  // by cudaDeviceReset(): graphs and counters may still name their kernels
  std::unordered_map<const void*, Function*> function_of;  // host address, or the Function itself
  std::unordered_map<const void*, Variable*> variable_of;
  std::map<std::pair<Binary*, std::string>, Function*> named;
};

Tables& tables() {
  static Tables* all = new Tables;  // never destroyed: programs unregister at exit
  return *all;
}

std::string list_of(const std::vector<Image>& images, Image::Kind kind) {
  std::set<std::string> targets;
  for (const Image& image : images) {
    if (image.kind == kind) targets.insert(image.target());
  }
  std::string list;
  for (const std::string& target : targets) list += (list.empty() ? "" : ", ") + target;
  return list;
}

std::string build_hint() {
  const std::string own =
      std::to_string(device().major * 10 + device().minor) + (device().architecture_specific ? "a" : "");
  return "build with -gencode=arch=compute_" + own + ",code=compute_" + own;
}

// There is nothing that the device can run: a line that says why.
cudaError_t report_no_image(const std::vector<Image>& images) {
  const std::string ptx = list_of(images, Image::Kind::ptx), cubin = list_of(images, Image::Kind::cubin);
  if (!ptx.empty()) {
    say("the program holds PTX for " + ptx + ", which " + device().name + " cannot run: " + build_hint() +
        " or choose another SIMULATOR_DEVICE");
  } else {
    say("the program holds no PTX" + (cubin.empty() ? "" : ", only machine code for " + cubin) + ": " +
        build_hint() + " (code=sm_… embeds machine code, code=compute_… PTX)");
  }
  return cudaErrorNoKernelImageForDevice;
}

cudaError_t load_now(Binary& binary) {
  std::string ptx = binary.ptx;
  if (binary.fatbin != nullptr) {
    if (const cudaError_t error = ptx_of(binary.fatbin, ptx); error != cudaSuccess) return error;
  }
  ptx = replaced(std::move(ptx));
  if (const size_t target = ptx.find(".target sm_"); target != std::string::npos) {
    binary.ptx_architecture = std::atoi(ptx.c_str() + target + std::strlen(".target sm_"));
  }
  binary.module = std::make_unique<Module>(std::move(ptx));
  for (Variable& variable : tables().variables) {
    if (variable.binary != &binary || variable.managed == nullptr) continue;
    const Allocation* memory = binary.module->variable(variable.name);
    if (memory == nullptr) continue;
    *variable.managed = memory->backing;
    tables().variable_of[memory->backing] = &variable;  // in host code, the symbol is the memory itself
  }
  return cudaSuccess;
}

}  // namespace

// A program linked with -rdc=true has a container for each of its files: their code is linked here. The
// device's own runtime comes with it, as machine code.
cudaError_t ptx_of(const void* fatbin, std::string& ptx) {
  const std::vector<Image> images = read_fatbin(fatbin);
  std::map<uint32_t, std::vector<Image>> files;
  for (const Image& image : images) files[image.container].push_back(image);
  std::vector<std::string> texts;
  for (const auto& [number, file] : files) {
    if (const Image* image = choose(file, device())) texts.push_back(text_of(*image));
  }
  if (texts.empty()) return report_no_image(images);
  ptx = link(texts);
  return cudaSuccess;
}

Function* find_function(const void* func) {
  const auto it = tables().function_of.find(func);
  return it != tables().function_of.end() ? it->second : nullptr;
}

Variable* find_variable(const void* symbol) {
  const auto it = tables().variable_of.find(symbol);
  return it != tables().variable_of.end() ? it->second : nullptr;
}

cudaError_t load(Binary& binary) {
  if (binary.tried) return binary.error;
  binary.tried = true;
  try {
    binary.error = load_now(binary);
  } catch (...) {
    binary.error = error_of_exception();
  }
  return binary.error;
}

cudaError_t load(Function& function) {
  if (function.kernel != nullptr) return cudaSuccess;
  if (const cudaError_t error = load(*function.binary); error != cudaSuccess) return error;
  function.kernel = function.binary->module->kernel(function.name);
  if (function.kernel == nullptr && !settings().ptx.empty())
    say("SIMULATOR_PTX=" + settings().ptx + ": it has not the kernel " + shown_names({function.name}) +
        ": it has " + shown_names(function.binary->module->kernels()));
  return function.kernel != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t load(Variable& variable, const Allocation*& memory) {
  if (const cudaError_t error = load(*variable.binary); error != cudaSuccess) return error;
  memory = variable.binary->module->variable(variable.name);
  return memory != nullptr ? cudaSuccess : cudaErrorInvalidSymbol;
}

Binary* add_binary(const void* fatbin, std::string ptx) {
  Binary& binary = tables().binaries.emplace_back();
  binary.fatbin = fatbin;
  binary.ptx = std::move(ptx);
  return &binary;
}

void remove_binary(Binary* binary) {
  std::erase_if(tables().function_of, [&](const auto& entry) { return entry.second->binary == binary; });
  std::erase_if(tables().variable_of, [&](const auto& entry) { return entry.second->binary == binary; });
  std::erase_if(tables().named, [&](const auto& entry) { return entry.first.first == binary; });
}

Function* add_function(Binary* binary, std::string name) {
  Function*& known = tables().named[{binary, name}];
  if (known == nullptr) {
    known = &tables().functions.emplace_back();
    known->binary = binary;
    known->name = std::move(name);
    tables().function_of[known] = known;
  }
  return known;
}

void unload_all() {
  for (Function& function : tables().functions) {
    const Function fresh{.binary = function.binary, .name = function.name};
    function = fresh;
  }
  for (Binary& binary : tables().binaries) {
    if (binary.module != nullptr) tables().retired.push_back(std::move(binary.module));
    binary.tried = false;
  }
}

namespace {

template <class F>
void register_quietly(F&& body) noexcept {  // nothing to return an error with
  try {
    std::lock_guard lock(runtime_mutex());
    body();
  } catch (...) {
    set_last_error(error_of_exception());
  }
}

}  // namespace
}  // namespace simulator

using namespace simulator;

// NOLINTBEGIN(bugprone-reserved-identifier): the names that nvcc calls
SIMULATOR_EXPORT void** __cudaRegisterFatBinary(void* fatbin) {
  Binary* binary = nullptr;
  register_quietly([&] { binary = add_binary(fatbin); });
  return reinterpret_cast<void**>(binary);
}

SIMULATOR_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

SIMULATOR_EXPORT void __cudaUnregisterFatBinary(void** handle) {
  register_quietly([&] { remove_binary(reinterpret_cast<Binary*>(handle)); });
}

SIMULATOR_EXPORT void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int,
                                             uint3*, uint3*, dim3*, dim3*, int*) {
  register_quietly(
      [&] { tables().function_of[host] = add_function(reinterpret_cast<Binary*>(handle), name); });
}

namespace {

void add_variable(void** handle, const void* host, const char* name, size_t size, void** managed) {
  register_quietly([&] {
    Variable& variable = tables().variables.emplace_back();
    variable.binary = reinterpret_cast<Binary*>(handle);
    variable.name = name;
    variable.size = size;
    variable.managed = managed;
    tables().variable_of[host] = &variable;
  });
}

}  // namespace

SIMULATOR_EXPORT void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t size,
                                        int, int) {
  add_variable(handle, host, name, size, nullptr);
}

SIMULATOR_EXPORT void __cudaRegisterHostVar(void**, const char*, char*, size_t) {}

SIMULATOR_EXPORT void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int,
                                               size_t size, int, int) {
  add_variable(handle, host, name, size, host);
}

// Texture and surface references are gone from CUDA; old objects may still register some.
SIMULATOR_EXPORT void __cudaRegisterTexture(void**, const void*, const void**, const char*, int, int, int) {}
SIMULATOR_EXPORT void __cudaRegisterSurface(void**, const void*, const void**, const char*, int, int) {}
SIMULATOR_EXPORT void __cudaRegisterUnifiedTable(void**, void*) {}

// Called before the host first uses a managed variable.
SIMULATOR_EXPORT char __cudaInitModule(void** handle) {
  const cudaError_t error = call([&] { return load(*reinterpret_cast<Binary*>(handle)); });
  return error == cudaSuccess;
}

SIMULATOR_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* func) {
  return query([&] {
    Function* function = find_function(func);
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    *kernel = reinterpret_cast<cudaKernel_t>(function);
    return cudaSuccess;
  });
}
// NOLINTEND(bugprone-reserved-identifier)
