// Asynchronous copies (cp.async) that are used too early, and of what was never written.
#include "common/simulator/tests/broken/broken.h"

#define COPY_OF(bytes, to, from)                                                                          \
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(unsigned(__cvta_generic_to_shared(to))), \
               "l"(__cvta_generic_to_global(from)), "n"(bytes)                                            \
               : "memory")
#define COPY(to, from) COPY_OF(4, to, from)
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(groups) asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory")

template <bool fixed>
__global__ void copy_not_waited_for(int* out) {
  __shared__ int values[64];
  const int i = threadIdx.x;
  COPY(&values[i], &out[i]);  // BUG(copy_not_waited_for): unfinished copy
  COMMIT();
  if (fixed) WAIT(0);
  __syncthreads();
  out[i] = values[i ^ 32];  // BUG(copy_not_waited_for): unfinished copy
}
template <bool fixed>
void run_copy_not_waited_for() {
  copy_not_waited_for<fixed><<<1, 64>>>(device_array(64));
}

template <bool fixed>
__global__ void copy_read_by_its_own_thread(int* out) {
  __shared__ int values[64];
  const int i = threadIdx.x;
  COPY(&values[i], &out[i]);  // BUG(copy_read_by_its_own_thread): unfinished copy
  COMMIT();
  if (fixed) WAIT(0);
  out[i] = values[i] + 1;  // BUG(copy_read_by_its_own_thread): unfinished copy
}
template <bool fixed>
void run_copy_read_by_its_own_thread() {
  copy_read_by_its_own_thread<fixed><<<1, 64>>>(device_array(64));
}

// Three stages, two of them under way while the third is read: when a stage is to be read, one group may be
// under way, not two.
template <bool fixed>
__global__ void copy_waited_for_one_too_few(const int* in, int* out, int tiles) {
  constexpr int stages = 3;
  __shared__ int values[stages][64];
  const int i = threadIdx.x;
  for (int tile = 0; tile < stages - 1; ++tile) {
    if (tile < tiles)
      COPY(&values[tile][i], &in[tile * 64 + i]);  // BUG(copy_waited_for_one_too_few): unfinished copy
    COMMIT();
  }
  int sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    WAIT(fixed ? stages - 2 : stages - 1);  // BUG(copy_waited_for_one_too_few): unfinished copy
    __syncthreads();
    const int next = tile + stages - 1;
    if (next < tiles) COPY(&values[next % stages][i], &in[next * 64 + i]);
    COMMIT();
    sum += values[tile % stages][i ^ 32];  // BUG(copy_waited_for_one_too_few): unfinished copy
  }
  out[i] = sum;
}
template <bool fixed>
void run_copy_waited_for_one_too_few() {
  copy_waited_for_one_too_few<fixed><<<1, 64>>>(device_array(64 * 8), device_array(64), 8);
}

template <bool fixed>
__global__ void copy_not_committed(int* out) {
  __shared__ int values[64];
  const int i = threadIdx.x;
  COPY(&values[i], &out[i]);  // BUG(copy_not_committed): unfinished copy
  if (fixed) COMMIT();
  WAIT(0);
  __syncthreads();
  out[i] = values[i ^ 32];  // BUG(copy_not_committed): unfinished copy
}
template <bool fixed>
void run_copy_not_committed() {
  copy_not_committed<fixed><<<1, 64>>>(device_array(64));
}

// A wait covers the thread's own copies only.
template <bool fixed>
__global__ void copy_without_barrier(int* out) {
  __shared__ int values[64];
  const int i = threadIdx.x;
  values[i] = 0;
  __syncthreads();
  COPY(&values[i], &out[i]);  // BUG(copy_without_barrier): race
  COMMIT();
  WAIT(0);
  if (fixed) __syncthreads();
  out[i] = values[i ^ 32];  // BUG(copy_without_barrier): race
}
template <bool fixed>
void run_copy_without_barrier() {
  copy_without_barrier<fixed><<<1, 64>>>(device_array(64));
}

// One stage is read while the other is filled; without the second barrier, so is the one that others read.
template <bool fixed>
__global__ void copy_refills_too_early(const int* in, int* out, int tiles) {
  __shared__ int values[2][64];
  const int i = threadIdx.x;
  int sum = 0;
  COPY(&values[0][i], &in[i]);
  COMMIT();
  for (int tile = 0; tile < tiles; ++tile) {
    const int next = tile + 1 < tiles ? tile + 1 : 0;
    COPY(&values[next % 2][i], &in[next * 64 + i]);  // BUG(copy_refills_too_early): race
    COMMIT();
    WAIT(1);
    __syncthreads();
    sum += values[tile % 2][i ^ 32];  // BUG(copy_refills_too_early): race
    if (fixed) __syncthreads();
  }
  out[i] = sum;
}
template <bool fixed>
void run_copy_refills_too_early() {
  copy_refills_too_early<fixed><<<1, 64>>>(device_array(64 * 8), device_array(64), 8);
}

// A struct's padding is copied with it, word by word here: its use is the mistake.
template <bool fixed>
__global__ void copy_of_padding_used(const int* from, int* out) {
  __shared__ int words[32 * 4];
  const int i = threadIdx.x;
  for (int word = i; word < 32 * 4; word += 32) COPY(&words[word], &from[word]);
  COMMIT();
  WAIT(0);
  __syncthreads();
  out[i] = words[4 * i + (fixed ? 2 : 3)] + 1;  // BUG(copy_of_padding_used): uninitialised read
}
template <bool fixed>
void run_copy_of_padding_used() {
  int* structs = device_array(32 * 4, false);
  make_padded<<<1, 32>>>(reinterpret_cast<Padded*>(structs));
  copy_of_padding_used<fixed><<<1, 32>>>(structs, device_array(32));
}

// And as a whole.
template <bool fixed>
__global__ void copy_of_struct_used(const Padded* from, int* out) {
  __shared__ __align__(16) Padded copies[32];
  const int i = threadIdx.x;
  COPY_OF(16, &copies[i], &from[i]);
  COMMIT();
  WAIT(0);
  __syncthreads();
  const int* words = reinterpret_cast<const int*>(&copies[i ^ 1]);
  out[i] = words[fixed ? 2 : 3] + 1;  // BUG(copy_of_struct_used): uninitialised read
}
template <bool fixed>
void run_copy_of_struct_used() {
  Padded* structs = reinterpret_cast<Padded*>(device_array(32 * 4, false));
  make_padded<<<1, 32>>>(structs);
  copy_of_struct_used<fixed><<<1, 32>>>(structs, device_array(32));
}

template <bool fixed>
__global__ void copy_of_never_written(const int* in, int* out) {
  __shared__ int values[64];
  const int i = threadIdx.x;
  COPY(&values[i], &in[i]);  // BUG(copy_of_never_written): uninitialised read
  COMMIT();
  WAIT(0);
  __syncthreads();
  out[i] = values[i ^ 32] + 1;
}
template <bool fixed>
void run_copy_of_never_written() {
  copy_of_never_written<fixed><<<1, 64>>>(device_array(64, fixed), device_array(64));
}

std::span<const Case> copy_cases() {
  static constexpr Case cases[] = {
      CASE(copy_not_waited_for),  CASE(copy_read_by_its_own_thread), CASE(copy_waited_for_one_too_few),
      CASE(copy_not_committed),   CASE(copy_without_barrier),        CASE(copy_refills_too_early),
      CASE(copy_of_padding_used), CASE(copy_of_struct_used),         CASE(copy_of_never_written),
  };
  return cases;
}
