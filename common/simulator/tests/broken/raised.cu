// Errors that a warp raises itself.
#undef NDEBUG
#include <cassert>

#include "common/simulator/tests/broken/broken.h"

template <bool fixed>
__global__ void shuffle_from_exited(int* out) {
  const int i = threadIdx.x;
  if (!fixed && i >= 16) return;
  out[i] = __shfl_sync(0xFFFFFFFF, out[i], (i + 1) & 31);  // BUG(shuffle_from_exited): invalid shuffle
}
template <bool fixed>
void run_shuffle_from_exited() {
  shuffle_from_exited<fixed><<<1, 32>>>(device_array(32));
}

template <bool fixed>
__global__ void failed_assertion(const int* in, int* out) {
  const int i = threadIdx.x;
  assert(in[i] >= 0 && (fixed || i < 5));  // BUG(failed_assertion): failed assertion
  out[i] = in[i];
}
template <bool fixed>
void run_failed_assertion() {
  failed_assertion<fixed><<<1, 32>>>(device_array(32), device_array(32));
}

template <bool fixed>
__global__ void trap(int* out) {
  if (!fixed && out[threadIdx.x] != 0 && threadIdx.x == 9) {
    __trap();  // BUG(trap): trap
  }
  out[threadIdx.x] = 0;
}
template <bool fixed>
void run_trap() {
  trap<fixed><<<1, 32>>>(device_array(32));
}

__device__ __noinline__ int descend(int depth, int limit) {
  if (depth == limit) return 1;
  int kept[8];
  for (int i = 0; i < 8; ++i) kept[i] = depth * i;
  kept[depth & 7] = descend(depth + 1, limit);  // BUG(endless_recursion): stack overflow
  return kept[limit & 7] * 3 + kept[(limit + depth) & 7];
}
template <bool fixed>
__global__ void endless_recursion(int* out, int limit) {
  out[threadIdx.x] = descend(0, fixed ? 10 : limit);
}
template <bool fixed>
void run_endless_recursion() {
  endless_recursion<fixed><<<1, 32>>>(device_array(32), -1);
}

std::span<const Case> raised_cases() {
  static constexpr Case cases[] = {
      CASE(shuffle_from_exited),
      CASE(failed_assertion),
      CASE(trap),
      CASE(endless_recursion),
  };
  return cases;
}
