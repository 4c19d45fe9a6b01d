#include "common/simulator/loading/module.h"

#include <bit>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include "common/simulator/loading/loader.h"
#include "common/simulator/ptx/module.h"
#include "common/simulator/reports/speed.h"

namespace simulator {

struct Module::Impl {
  explicit Impl(std::string text) : tree(std::move(text)) {}

  ptx::Module tree;
  std::map<const ptx::Variable*, uint64_t> address;
  std::map<std::string_view, const Allocation*> variables;
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels;
  std::mutex mutex;

  uint64_t value_of(const ptx::Variable::Reference& reference) {
    for (const ptx::Variable& variable : tree.variables) {
      const auto found = variable.name == reference.symbol ? address.find(&variable) : address.end();
      if (found != address.end()) return found->second + static_cast<uint64_t>(reference.addend);
    }
    if (const ptx::Function* function = tree.find(reference.symbol)) {
      return function_address(tree, *function) + static_cast<uint64_t>(reference.addend);
    }
    throw ptx::SyntaxError("the initial value '" + std::string(reference.symbol) + "' is not known");
  }
};

Module::Module(std::string ptx) {
  const LoadingTime loading;
  impl_ = std::make_unique<Impl>(std::move(ptx));
  // Addresses first: initial values may name any of them.
  for (const ptx::Variable& variable : impl_->tree.variables) {
    if (variable.space != ptx::Space::global && variable.space != ptx::Space::constant) continue;
    const uint64_t bytes = variable.size ? variable.size : 1;
    const auto kind = variable.managed ? Allocation::Kind::managed : Allocation::Kind::variable;
    const Allocation* made = global_memory().allocate(bytes, kind, std::string(variable.name));
    if (!made) throw std::bad_alloc();
    impl_->address[&variable] = made->base;
    impl_->variables[variable.name] = made;
  }
  for (const ptx::Variable& variable : impl_->tree.variables) {
    const auto found = impl_->variables.find(variable.name);
    if (found == impl_->variables.end()) continue;
    const Allocation& to = *found->second;
    std::memset(to.backing, 0, to.size);
    if (!variable.initial.empty())
      std::memcpy(to.backing, variable.initial.data(), std::min<uint64_t>(variable.initial.size(), to.size));
    for (const ptx::Variable::Reference& reference : variable.references) {
      uint64_t value = impl_->value_of(reference);
      uint64_t bytes = std::min<uint64_t>(8, to.size - reference.offset);
      if (reference.mask != ~0ull) {  // one byte of the address
        value = (value & reference.mask) >> std::countr_zero(reference.mask);
        bytes = 1;
      }
      std::memcpy(to.backing + reference.offset, &value, bytes);
    }
    global_memory().mark_written(to.base, to.size);
    if (variable.space == ptx::Space::constant) const_cast<Allocation&>(to).read_only = true;
  }
}

Module::~Module() {
  for (const auto& [name, allocation] : impl_->variables) global_memory().free(allocation->base);
}

const Kernel* Module::kernel(std::string_view name) {
  const std::lock_guard lock(impl_->mutex);
  const auto known = impl_->kernels.find(name);
  if (known != impl_->kernels.end()) return known->second.get();
  ptx::Function* entry = impl_->tree.find(name);
  if (!entry || !entry->entry || !entry->defined) return nullptr;
  const LoadingTime loading;
  std::unique_ptr<Kernel> made;
  try {
    made = KernelLoader(impl_->tree, impl_->address).load(*entry);
  } catch (const std::exception& error) {
    made = std::make_unique<Kernel>();
    made->info.name = made->shown = name;
    made->info.unsupported.push_back(error.what());
  }
  for (const std::string& line : made->info.unsupported) {
    std::fprintf(stderr, "simulator: %s cannot run: %s\n", made->shown.c_str(), line.c_str());
  }
  return (impl_->kernels[std::string(name)] = std::move(made)).get();
}

std::vector<std::string> Module::kernels() const {
  std::vector<std::string> names;
  for (const ptx::Function& function : impl_->tree.functions) {
    if (function.entry && function.defined) names.emplace_back(function.name);
  }
  return names;
}

const Allocation* Module::variable(std::string_view name) const {
  const auto found = impl_->variables.find(name);
  return found == impl_->variables.end() ? nullptr : found->second;
}

}  // namespace simulator
