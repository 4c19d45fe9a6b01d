// Kernels with one mistake each, and the same kernels without it: what the checks must find, and where they
// must keep quiet. `broken NAME` runs a mistake, `broken NAME fixed` its twin, `broken` lists the names. The
// last line of output is the name of the CUDA error. Lines that a report must name are marked, with the kind
// of mistake: a race has two.
#undef NDEBUG
#include <cuda_runtime.h>

#include <cassert>
#include <cstdio>
#include <cstring>

// Device memory for `count` integers; written (with 1, 1, …) or not.
int* device_array(int count, bool written = true) {
  int* memory = nullptr;
  if (cudaMalloc(&memory, count * sizeof(int)) != cudaSuccess) std::printf("cudaMalloc failed\n");
  if (written) cudaMemset(memory, 1, count * sizeof(int));
  return memory;
}

// ---- Global memory

template <bool fixed>
__global__ void read_past_end(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int next = fixed ? i : i + 1;
  out[i] = in[next];  // BUG(read_past_end): illegal address
}
template <bool fixed>
void run_read_past_end() {
  read_past_end<fixed><<<2, 32>>>(device_array(64), device_array(64));
}

template <bool fixed>
__global__ void write_past_end(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[fixed ? i : i + 1] = i;  // BUG(write_past_end): illegal address
}
template <bool fixed>
void run_write_past_end() {
  write_past_end<fixed><<<2, 32>>>(device_array(64));
}

template <bool fixed>
__global__ void read_before_start(const int* in, int* out, int n) {
  const int i = threadIdx.y * blockDim.x + threadIdx.x;
  out[i] = in[n - 1 - i];  // BUG(read_before_start): illegal address
}
template <bool fixed>
void run_read_before_start() {
  read_before_start<fixed><<<1, dim3(8, 8)>>>(device_array(64), device_array(64), fixed ? 64 : 20);
}

template <bool fixed>
__global__ void misaligned(const float* in, float4* out) {
  const float* first = in + 4 * threadIdx.x + (fixed ? 4 : 1);
  out[threadIdx.x] = *reinterpret_cast<const float4*>(first);  // BUG(misaligned): misaligned access
}
template <bool fixed>
void run_misaligned() {
  int* in = device_array(256);
  int* out = device_array(128);
  misaligned<fixed><<<1, 32>>>(reinterpret_cast<float*>(in), reinterpret_cast<float4*>(out));
}

template <bool fixed>
__global__ void use_after_free(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  // BUG(use_after_free): illegal address
}
template <bool fixed>
void run_use_after_free() {
  int* in = device_array(64);
  int* out = device_array(64);
  if (!fixed) cudaFree(in);
  use_after_free<fixed><<<1, 64>>>(in, out);
}

template <bool fixed>
__global__ void never_written(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  // BUG(never_written): uninitialised read
}
template <bool fixed>
void run_never_written() {
  never_written<fixed><<<1, 64>>>(device_array(64, fixed), device_array(64));
}

__constant__ int table[32] = {1, 2, 3};

template <bool fixed>
__global__ void write_constant(int* target, int* out) {
  target[threadIdx.x] = 7;  // BUG(write_constant): illegal address
  out[threadIdx.x] += table[threadIdx.x];
}
template <bool fixed>
void run_write_constant() {
  void* constant = nullptr;
  cudaGetSymbolAddress(&constant, table);
  write_constant<fixed><<<1, 32>>>(fixed ? device_array(32) : static_cast<int*>(constant), device_array(32));
}

// ---- Shared and local memory: bounds, contents

template <bool fixed>
__global__ void shared_past_end(int* out) {
  extern __shared__ int dynamic[];
  const int i = threadIdx.x;
  dynamic[fixed ? i : i + 1] = i;  // BUG(shared_past_end): shared memory out of bounds
  __syncthreads();
  out[i] = dynamic[i];
}
template <bool fixed>
void run_shared_past_end() {
  shared_past_end<fixed><<<1, 64, 64 * sizeof(int)>>>(device_array(64));
}

template <bool fixed>
__global__ void local_past_end(int* out, int length) {
  int values[8];
  for (int i = 0; i < 8; ++i) values[i] = out[i];
  const int i = fixed ? length & 7 : length;
  values[i] += 1;  // BUG(local_past_end): local memory out of bounds
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += values[k ^ (length & 7)];
  out[threadIdx.x] = sum;
}
template <bool fixed>
void run_local_past_end() {
  local_past_end<fixed><<<1, 32>>>(device_array(32), 1000);
}

template <bool fixed>
__global__ void shared_never_written(int* out) {
  __shared__ int values[32];
  const int i = threadIdx.x;
  if (fixed || i < 16) values[i] = i;
  __syncthreads();
  out[i] = values[i];  // BUG(shared_never_written): uninitialised read
}
template <bool fixed>
void run_shared_never_written() {
  shared_never_written<fixed><<<1, 32>>>(device_array(32));
}

struct Padded {
  double weight;
  int index;  // … and 4 bytes of padding
};
__global__ void make_padded(Padded* to) {
  to[threadIdx.x].weight = 1;
  to[threadIdx.x].index = 2;
}
template <bool fixed>
__global__ void padding_used(const Padded* from, int* out) {
  __shared__ Padded copies[32];
  const int i = threadIdx.x;
  copies[i] = from[i];
  __syncwarp();
  const int* words = reinterpret_cast<const int*>(&copies[i ^ 1]);
  out[i] = words[fixed ? 2 : 3] + 1;  // BUG(padding_used): uninitialised read
}
template <bool fixed>
void run_padding_used() {
  Padded* padded = nullptr;
  cudaMalloc(&padded, 32 * sizeof(Padded));
  make_padded<<<1, 32>>>(padded);
  padding_used<fixed><<<1, 32>>>(padded, device_array(32));
}

template <bool fixed>
__global__ void histogram_not_cleared(const int* in, int* out) {
  __shared__ int bins[16];
  const int i = threadIdx.x;
  if (fixed && i < 16) bins[i] = 0;
  __syncthreads();
  atomicAdd(&bins[in[i] & 15], 1);  // BUG(histogram_not_cleared): uninitialised read
  __syncthreads();
  if (i < 16) out[i] = bins[i];
}
template <bool fixed>
void run_histogram_not_cleared() {
  histogram_not_cleared<fixed><<<1, 64>>>(device_array(64), device_array(16));
}

// ---- Races

template <bool fixed>
__global__ void missing_barrier(int* out) {
  __shared__ int values[32];
  const int i = threadIdx.x;
  if (i < 32) values[i] = i;  // BUG(missing_barrier): race
  if (fixed) __syncthreads();
  out[i] = values[i & 31];  // BUG(missing_barrier): race
}
template <bool fixed>
void run_missing_barrier() {
  missing_barrier<fixed><<<1, 64>>>(device_array(64));
}

template <bool fixed>
__global__ void missing_second_barrier(const int* in, int* out, int tiles) {
  __shared__ int tile[64];
  const int i = threadIdx.x;
  int sum = 0;
  for (int t = 0; t < tiles; ++t) {
    tile[i] = in[t * 64 + i];  // BUG(missing_second_barrier): race
    __syncthreads();
    for (int k = 0; k < 64; ++k) {
      sum += tile[k] * k;  // BUG(missing_second_barrier): race
    }
    if (fixed) __syncthreads();
  }
  out[i] = sum;
}
template <bool fixed>
void run_missing_second_barrier() {
  missing_second_barrier<fixed><<<1, 64>>>(device_array(256), device_array(64), 4);
}

template <bool fixed>
__global__ void missing_syncwarp(int* out) {
  __shared__ int values[32];
  const int i = threadIdx.x;
  values[i] = out[i];  // BUG(missing_syncwarp): race
  if (fixed) __syncwarp();
  out[i] = values[31 - i];  // BUG(missing_syncwarp): race
}
template <bool fixed>
void run_missing_syncwarp() {
  missing_syncwarp<fixed><<<1, 32>>>(device_array(32));
}

// Each warp waits for half of the block, and for the wrong half.
template <bool fixed>
__global__ void wrong_half(int* out) {
  __shared__ int values[128];
  const int i = threadIdx.x, half = i / 64;
  values[i] = 0;
  __syncthreads();
  values[i] = out[i];  // BUG(wrong_half): race
  asm volatile("bar.sync %0, 64;" ::"r"(1 + half) : "memory");
  out[i] = values[fixed ? i ^ 32 : i ^ 64];  // BUG(wrong_half): race
}
template <bool fixed>
void run_wrong_half() {
  wrong_half<fixed><<<1, 128>>>(device_array(128));
}

template <bool fixed>
__global__ void two_lanes_write_one_place(int* out) {
  __shared__ int values[32];
  const int i = threadIdx.x;
  values[fixed ? i : i / 2] = i;  // BUG(two_lanes_write_one_place): race
  __syncthreads();
  out[i] = values[fixed ? i : i / 2];
}
template <bool fixed>
void run_two_lanes_write_one_place() {
  two_lanes_write_one_place<fixed><<<1, 32>>>(device_array(32));
}

template <bool fixed>
__global__ void count_without_atomic(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    if (fixed) {
      atomicAdd(&count, 1);
    } else {
      count += 1;  // BUG(count_without_atomic): race
    }
  }
  __syncthreads();
  out[threadIdx.x] = count;
}
template <bool fixed>
void run_count_without_atomic() {
  count_without_atomic<fixed><<<1, 128>>>(device_array(128));
}

// ---- Asynchronous copies

#define COPY(to, from)                                                                                   \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(unsigned(__cvta_generic_to_shared(to))), \
               "l"(__cvta_generic_to_global(from))                                                       \
               : "memory")
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
    WAIT(fixed ? stages - 2 : stages - 1);
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

// A wait tells a thread of its own copies only.
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

// ---- Barriers

template <bool fixed>
__global__ void divergent_barrier(int* out) {
  const int i = threadIdx.x;
  int value = out[i];
  if (fixed || i % 2 == 1) {
    value += 1;
    __syncthreads();  // BUG(divergent_barrier): divergent barrier
  }
  out[i] = value;
}
template <bool fixed>
void run_divergent_barrier() {
  divergent_barrier<fixed><<<1, 64>>>(device_array(64));
}

template <bool fixed>
__global__ void exit_before_barrier(const int* in, int* out, int n) {
  __shared__ int values[64];
  const int i = threadIdx.x;
  if (!fixed && i >= n) return;
  values[i] = i < n ? in[i] : 0;
  __syncthreads();  // BUG(exit_before_barrier): divergent barrier
  if (i < n) out[i] = values[n - 1 - i];
}
template <bool fixed>
void run_exit_before_barrier() {
  exit_before_barrier<fixed><<<1, 64>>>(device_array(40), device_array(40), 40);
}

template <bool fixed>
__global__ void barrier_count_too_large(int* out) {
  const int threads = fixed ? 64 : 96;
  asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");  // BUG(barrier_count_too_large): deadlock
  out[threadIdx.x] = 0;
}
template <bool fixed>
void run_barrier_count_too_large() {
  barrier_count_too_large<fixed><<<1, 64>>>(device_array(64));
}

template <bool fixed>
__global__ void flag_never_set(volatile int* flag, int* out) {
  if (fixed && threadIdx.x == 32) *flag = 2;
  if (threadIdx.x == 0) {
    while (*flag != 2) {  // BUG(flag_never_set): deadlock
    }
  }
  out[threadIdx.x] = 0;
}
template <bool fixed>
void run_flag_never_set() {
  flag_never_set<fixed><<<1, 64>>>(device_array(1), device_array(64));
}

template <bool fixed>
__global__ void crosswise(int* out) {
  if (fixed || threadIdx.x < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG(crosswise): deadlock
    asm volatile("bar.sync 2, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");  // BUG(crosswise): deadlock
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
  out[threadIdx.x] = 0;
}
template <bool fixed>
void run_crosswise() {
  crosswise<fixed><<<1, 64>>>(device_array(64));
}

template <bool fixed>
__global__ void lock_never_released(int* lock, int* out) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {  // BUG(lock_never_released): deadlock
    }
    out[blockIdx.x] = 1;
    __threadfence();
    if (fixed) atomicExch(lock, 0);
  }
}
template <bool fixed>
void run_lock_never_released() {
  int* lock = device_array(1);
  cudaMemset(lock, 0, sizeof(int));
  lock_never_released<fixed><<<4, 32>>>(lock, device_array(4));
}

// ---- Warps, errors that the kernel raises itself

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

struct Case {
  const char* name;
  void (*broken)();
  void (*fixed)();
};
#define CASE(name) \
  { #name, run_##name < false>, run_##name < true> }
constexpr Case cases[] = {
    CASE(read_past_end),
    CASE(write_past_end),
    CASE(read_before_start),
    CASE(misaligned),
    CASE(use_after_free),
    CASE(never_written),
    CASE(write_constant),
    CASE(shared_past_end),
    CASE(local_past_end),
    CASE(shared_never_written),
    CASE(padding_used),
    CASE(histogram_not_cleared),
    CASE(missing_barrier),
    CASE(missing_second_barrier),
    CASE(missing_syncwarp),
    CASE(wrong_half),
    CASE(two_lanes_write_one_place),
    CASE(count_without_atomic),
    CASE(copy_not_waited_for),
    CASE(copy_read_by_its_own_thread),
    CASE(copy_waited_for_one_too_few),
    CASE(copy_not_committed),
    CASE(copy_without_barrier),
    CASE(copy_refills_too_early),
    CASE(divergent_barrier),
    CASE(exit_before_barrier),
    CASE(barrier_count_too_large),
    CASE(flag_never_set),
    CASE(crosswise),
    CASE(lock_never_released),
    CASE(shuffle_from_exited),
    CASE(failed_assertion),
    CASE(trap),
    CASE(endless_recursion),
};

int main(int argc, char** argv) {
  const bool fixed = argc > 2 && std::strcmp(argv[2], "fixed") == 0;
  for (const Case& one : cases) {
    if (argc < 2) {
      std::printf("%s\n", one.name);
    } else if (std::strcmp(argv[1], one.name) == 0) {
      (fixed ? one.fixed : one.broken)();
      cudaError_t error = cudaGetLastError();
      if (error == cudaSuccess) error = cudaDeviceSynchronize();
      std::printf("%s\n", cudaGetErrorName(error));
      return 0;
    }
  }
  return argc < 2 ? 0 : 2;
}
