// Correct kernels whose threads communicate in less common ways: the checks must say nothing about them.
// `sound NAME` runs one and prints the name of the CUDA error and whether its results are right; `sound`
// lists the names.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <cuda/atomic>
#include <vector>

constexpr int threads = 128;

// Each block computes in out[threads], its part of what the kernel gets, what its check says.
using Kernel = void (*)(int* out);
using Expected = int (*)(int i);

// Producers (warps 2 and 3) and consumers (warps 0 and 1) with barriers that one side only arrives at.
__global__ void producer_consumer(int* out) {
  out += blockIdx.x * threads;
  __shared__ int stage[2][64];
  const int i = threadIdx.x;
  const auto sync = [](int barrier) { asm volatile("bar.sync %0, 128;" ::"r"(barrier) : "memory"); };
  const auto arrive = [](int barrier) { asm volatile("bar.arrive %0, 128;" ::"r"(barrier) : "memory"); };
  if (i >= 64) {
    for (int step = 0; step < 6; ++step) {
      if (step >= 2) sync(3 + step % 2);  // empty
      stage[step % 2][i - 64] = step * 100 + i;
      arrive(1 + step % 2);  // full
    }
    out[i] = 0;
  } else {
    int sum = 0;
    for (int step = 0; step < 6; ++step) {
      sync(1 + step % 2);
      sum += stage[step % 2][63 - i];
      if (step < 4) arrive(3 + step % 2);
    }
    out[i] = sum;
  }
}
int expect_producer_consumer(int i) {
  return i >= 64 ? 0 : 1500 + 6 * (127 - i);
}

// A warp waits for another's flag in shared memory.
__global__ void volatile_flag(int* out) {
  out += blockIdx.x * threads;
  __shared__ int data[32];
  __shared__ volatile int flag;
  const int i = threadIdx.x, lane = i % 32;
  if (i == 0) flag = 0;
  __syncthreads();
  if (i < 32) {
    data[lane] = lane * 3;
    __threadfence_block();
    __syncwarp();
    if (lane == 0) flag = 1;
    out[i] = 1;
  } else {
    while (flag == 0) {
    }
    __threadfence_block();
    out[i] = data[lane];
  }
}
int expect_volatile_flag(int i) {
  return i < 32 ? 1 : i % 32 * 3;
}

// Each warp's first thread adds under a lock.
__global__ void lock(int* out) {
  out += blockIdx.x * threads;
  __shared__ int taken, sum;
  if (threadIdx.x == 0) taken = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&taken, 0, 1) != 0) {
    }
    __threadfence_block();
    sum += static_cast<int>(threadIdx.x) + 1;
    __threadfence_block();
    atomicExch(&taken, 0);
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}
int expect_lock(int) {
  return 1 + 33 + 65 + 97;
}

__global__ void acquire_release(int* out) {
  out += blockIdx.x * threads;
  __shared__ int data;
  __shared__ int turn;
  if (threadIdx.x == 0) data = turn = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    const int me = threadIdx.x / 32;
    cuda::atomic_ref<int, cuda::thread_scope_block> next(turn);
    while (next.load(cuda::memory_order_acquire) != me) {
    }
    data = data * 10 + me;
    next.store(me + 1, cuda::memory_order_release);
  }
  __syncthreads();
  out[threadIdx.x] = data;
}
int expect_acquire_release(int) {
  return 123;
}

// The last warp to be done adds up what the others left.
__global__ void last_one_sums(int* out) {
  out += blockIdx.x * threads;
  __shared__ int parts[4], done;
  const int i = threadIdx.x, warp = i / 32;
  if (i == 0) done = 0;
  __syncthreads();
  const int part = __reduce_add_sync(0xFFFFFFFF, i);
  int before = 0;
  if (i % 32 == 0) {
    parts[warp] = part;
    __threadfence_block();
    before = atomicAdd(&done, 1);
  }
  before = __shfl_sync(0xFFFFFFFF, before, 0);
  out[i] = i;
  if (before == 3 && i % 32 == 0) out[i] = i + parts[0] + parts[1] + parts[2] + parts[3] - 8128;
}
int expect_last_one_sums(int i) {
  return i;
}

__global__ void histogram(int* out) {
  out += blockIdx.x * threads;
  __shared__ int bins[8];
  const int i = threadIdx.x;
  if (i < 8) bins[i] = 0;
  __syncthreads();
  atomicAdd(&bins[i * 5 % 8], i);
  __syncthreads();
  out[i] = bins[i % 8];
}
int expect_histogram(int i) {
  int sum = 0;
  for (int k = 0; k < threads; ++k) sum += k * 5 % 8 == i % 8 ? k : 0;
  return sum;
}

// Reductions, of bytes within each warp, then of warps.
__global__ void reduce(int* out) {
  out += blockIdx.x * threads;
  __shared__ unsigned char bytes[threads];
  __shared__ int parts[4];
  const int i = threadIdx.x, lane = i % 32;
  bytes[i] = static_cast<unsigned char>(i % 8);
  __syncwarp();
  for (int step = 16; step > 0; step /= 2) {
    const int sum = bytes[i] + bytes[i / 32 * 32 + (lane + step) % 32];
    __syncwarp();
    bytes[i] = static_cast<unsigned char>(sum);
    __syncwarp();
  }
  if (lane == 0) parts[i / 32] = bytes[i];
  __syncthreads();
  out[i] = parts[0] + parts[1] + parts[2] + parts[3];
}
int expect_reduce(int) {
  return 4 * 112;
}

// All lanes of a warp write the same value to the same place.
__global__ void same_value(int* out) {
  out += blockIdx.x * threads;
  __shared__ int values[4];
  const int i = threadIdx.x;
  values[i / 32] = i / 32 * 7;
  __syncthreads();
  out[i] = values[(i + 1) % 4];
}
int expect_same_value(int i) {
  return (i + 1) % 4 * 7;
}

__global__ void transpose(int* out) {
  out += blockIdx.x * threads;
  __shared__ int tile[4][33];
  const int i = threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    tile[i / 32][i % 32] = i + round;
    __syncthreads();
    out[i] = tile[i % 4][i / 4];
    __syncthreads();
  }
}
int expect_transpose(int i) {
  return i % 4 * 32 + i / 4 + 2;
}

// Half-warps that synchronise on their own, in branches of their own.
__global__ void tiles(int* out) {
  out += blockIdx.x * threads;
  namespace cg = cooperative_groups;
  __shared__ int values[threads];
  const int i = threadIdx.x;
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int first = i / 16 * 16;
  if (i / 16 % 2 == 0) {
    values[i] = i;
    tile.sync();
    out[i] = values[first + 15 - i % 16];
  } else {
    values[i] = 2 * i;
    tile.sync();
    out[i] = values[first + (i + 1) % 16];
  }
}
int expect_tiles(int i) {
  const int first = i / 16 * 16;
  return i / 16 % 2 == 0 ? first + 15 - i % 16 : 2 * (first + (i + 1) % 16);
}

// Barriers that count votes.
__global__ void votes(int* out) {
  out += blockIdx.x * threads;
  const int i = threadIdx.x;
  const int odd = __syncthreads_count(i % 2);
  const int all = __syncthreads_and(i < threads);
  const int any = __syncthreads_or(i == 77);
  out[i] = odd + (all != 0 ? 1000 : 0) + (any != 0 ? 2000 : 0);
}
int expect_votes(int) {
  return 3064;
}

// Dynamic shared memory used again for another type.
__global__ void reused(int* out) {
  out += blockIdx.x * threads;
  extern __shared__ int dynamic[];
  const int i = threadIdx.x;
  double* doubles = reinterpret_cast<double*>(dynamic);
  short* shorts = reinterpret_cast<short*>(dynamic);
  doubles[i] = i * 0.5;
  __syncthreads();
  const int twice = static_cast<int>(doubles[threads - 1 - i] * 4);
  __syncthreads();
  shorts[i] = static_cast<short>(twice);
  __syncthreads();
  out[i] = shorts[i ^ 1];
}
int expect_reused(int i) {
  return 2 * (threads - 1 - (i ^ 1));
}

// The compiler loads `value` for all threads and chooses afterwards.
__device__ __noinline__ bool odd_only(int i, int* value) {
  if (i % 2 == 0) return false;
  *value = 5 * i;
  return true;
}
__global__ void chosen(int* out) {
  out += blockIdx.x * threads;
  const int i = threadIdx.x;
  int value;
  out[i] = odd_only(i, &value) ? value : -1;
}
int expect_chosen(int i) {
  return i % 2 == 0 ? -1 : 5 * i;
}

// The first value is written by an atomic exchange.
__global__ void exchanged(int* out) {
  out += blockIdx.x * threads;
  __shared__ int sum;
  if (threadIdx.x == 0) atomicExch(&sum, 1000);
  __syncthreads();
  atomicAdd(&sum, 1);
  __syncthreads();
  out[threadIdx.x] = sum;
}
int expect_exchanged(int) {
  return 1000 + threads;
}

// Every warp stores the same to the same place: whichever is last.
__global__ void same_from_all_warps(int* out) {
  out += blockIdx.x * threads;
  __shared__ int limit;
  limit = 7;
  __syncthreads();
  out[threadIdx.x] = limit;
}
int expect_same_from_all_warps(int) {
  return 7;
}

struct Case {
  const char* name;
  Kernel kernel;
  Expected expected;
};
#define CASE(name) \
  { #name, name, expect_##name }
const Case cases[] = {
    CASE(producer_consumer),
    CASE(volatile_flag),
    CASE(lock),
    CASE(acquire_release),
    CASE(last_one_sums),
    CASE(histogram),
    CASE(reduce),
    CASE(same_value),
    CASE(transpose),
    CASE(tiles),
    CASE(votes),
    CASE(reused),
    CASE(chosen),
    CASE(exchanged),
    CASE(same_from_all_warps),
};

int main(int argc, char** argv) {
  for (const Case& one : cases) {
    if (argc < 2) {
      std::printf("%s\n", one.name);
    } else if (std::strcmp(argv[1], one.name) == 0) {
      constexpr int blocks = 3;
      int* out = nullptr;
      cudaMalloc(&out, blocks * threads * sizeof(int));
      one.kernel<<<blocks, threads, threads * sizeof(double)>>>(out);
      cudaError_t error = cudaGetLastError();
      std::vector<int> result(blocks * threads);
      if (error == cudaSuccess) {
        error = cudaMemcpy(result.data(), out, result.size() * sizeof(int), cudaMemcpyDeviceToHost);
      }
      bool right = true;
      for (int i = 0; i < blocks * threads; ++i) right = right && result[i] == one.expected(i % threads);
      std::printf("%s, %s\n", cudaGetErrorName(error), right ? "right" : "WRONG");
      return 0;
    }
  }
  return argc < 2 ? 0 : 2;
}
