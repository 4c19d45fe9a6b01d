// The contexts of the driver's interface. There is one device and one address space: a context is a name in
// which a thread works, and what a context holds all of them see. Called with runtime_mutex() held, but for
// what is this thread's own.
#pragma once

namespace simulator {

struct Context {
  unsigned flags = 0;
  unsigned long long id = 0;
  bool alive = true;  // false: destroyed; the handle stays valid memory
};

Context& primary_context();
// How many retain it. The runtime's functions are one more user, from the first that needs a context on.
int& primary_retained();
bool primary_in_use();

Context* new_context(unsigned flags);
bool is_context(const Context* context);  // alive

// Of this thread; null: none.
Context* current_context();
void set_current(Context* context);  // in place of the current one; null: the thread leaves it
void push_current(Context* context);
Context* pop_current();  // null: there was none

// The runtime's functions work in the primary context, where the thread has none of its own.
void use_a_context();

}  // namespace simulator
