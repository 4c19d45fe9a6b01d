#include "common/simulator/context/current.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <vector>

namespace simulator {
namespace {

std::deque<Context>& contexts() {  // the primary one first
  static auto* all = new std::deque<Context>{{0, 1, true}};
  return *all;
}

std::atomic<bool> used_by_runtime{false};

std::vector<Context*>& stack() {
  thread_local std::vector<Context*> of_thread;
  return of_thread;
}

}  // namespace

Context& primary_context() {
  return contexts().front();
}

int& primary_retained() {
  static int count = 0;
  return count;
}

bool primary_in_use() {
  return used_by_runtime || primary_retained() > 0;
}

Context* new_context(unsigned flags) {
  return &contexts().emplace_back(Context{flags, contexts().size() + 1, true});
}

bool is_context(const Context* context) {
  return std::any_of(contexts().begin(), contexts().end(),
                     [&](const Context& one) { return &one == context && one.alive; });
}

Context* current_context() {
  return stack().empty() ? nullptr : stack().back();
}

void set_current(Context* context) {
  if (!stack().empty()) stack().pop_back();
  if (context != nullptr) stack().push_back(context);
}

void push_current(Context* context) {
  stack().push_back(context);
}

Context* pop_current() {
  Context* const context = current_context();
  if (context != nullptr) stack().pop_back();
  return context;
}

void use_a_context() {
  if (!stack().empty()) return;
  used_by_runtime = true;
  stack().push_back(&primary_context());
}

}  // namespace simulator
