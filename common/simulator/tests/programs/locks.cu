// Threads that wait for threads: spin locks between the lanes of a warp and between blocks, tickets, the last
// block's reduction, a grid-wide barrier made of atomics, and a scan that looks back at its predecessors.
#include "program.h"

__device__ void lock(int* mutex) {
  while (atomicCAS(mutex, 0, 1) != 0) {
  }
  __threadfence();
}
__device__ void unlock(int* mutex) {
  __threadfence();
  atomicExch(mutex, 0);
}

__global__ void counters(int* mutexes, volatile long long* counts, int slots) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x), s = i % slots;
  lock(&mutexes[s]);
  counts[s] = counts[s] * 3 % 1000003 + 1;  // depends on how often, not on who
  unlock(&mutexes[s]);
}

// The pattern from textbooks: the critical section inside the loop.
__global__ void textbook(int* mutex, volatile int* value) {
  bool done = false;
  while (!done) {
    if (atomicExch(mutex, 1) == 0) {
      *value = *value + 1;
      __threadfence();
      atomicExch(mutex, 0);
      done = true;
    }
  }
}

__global__ void shared_lock(int* out) {
  __shared__ int mutex, value;
  if (threadIdx.x == 0) mutex = 0, value = 0;
  __syncthreads();
  for (int k = 0; k < 3; ++k) {
    while (atomicCAS(&mutex, 0, 1) != 0) {
    }
    __threadfence_block();
    *const_cast<volatile int*>(&value) = *const_cast<volatile int*>(&value) + 1;
    __threadfence_block();
    atomicExch(&mutex, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = value;
}

// Served in the order of the tickets; each adds a digit that depends on its turn.
__global__ void tickets(unsigned* next, volatile unsigned* serving, volatile unsigned* hash) {
  const unsigned mine = atomicAdd(next, 1u);
  bool done = false;
  while (!done) {
    if (*serving == mine) {
      __threadfence();
      *hash = *hash * 31 + mine;
      __threadfence();
      *serving = mine + 1;
      done = true;
    }
  }
}

// Each block sums; whichever comes last adds the blocks' sums.
__global__ void last_block(const int* in, int n, volatile long long* partial, unsigned* arrived,
                           long long* out) {
  __shared__ long long sums[128];
  __shared__ bool last;
  long long sum = 0;
  for (int i = int(blockIdx.x * 128 + threadIdx.x); i < n; i += int(gridDim.x) * 128) sum += in[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int stride = 64; stride > 0; stride /= 2) {
    if (int(threadIdx.x) < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sums[0];
    __threadfence();
    last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    long long total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
    *out = total;
  }
}

// All blocks are resident, so they may wait for one another.
__device__ void grid_barrier(unsigned* arrived, unsigned round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x * (round + 1)) __nanosleep(20);
    __threadfence();
  }
  __syncthreads();
}
__global__ void rounds(volatile unsigned* a, volatile unsigned* b, unsigned* arrived) {
  const unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned round = 0; round < 6; ++round) {
    volatile unsigned* from = round % 2 ? b : a;
    volatile unsigned* to = round % 2 ? a : b;
    to[i] = from[(i + 37) % n] * 3 + from[(i * 5 + round) % n];
    grid_barrier(arrived, round);
  }
}

// One pass over the data: a block publishes its sum, then adds those of the blocks before it.
constexpr unsigned kAggregate = 1, kPrefix = 2;
__global__ void look_back(const unsigned* in, unsigned* out, unsigned* order,
                          volatile unsigned long long* states) {
  __shared__ unsigned block, before, scanned[128];
  if (threadIdx.x == 0) block = atomicAdd(order, 1u);
  __syncthreads();
  const unsigned t = threadIdx.x, i = block * 128 + t;
  scanned[t] = in[i];
  __syncthreads();
  for (unsigned stride = 1; stride < 128; stride *= 2) {
    const unsigned left = t >= stride ? scanned[t - stride] : 0;
    __syncthreads();
    scanned[t] += left;
    __syncthreads();
  }
  if (t == 0) {
    const unsigned long long sum = scanned[127];
    if (block == 0) {
      states[0] = sum << 2 | kPrefix;
      before = 0;
    } else {
      states[block] = sum << 2 | kAggregate;
      unsigned long long total = 0;
      for (unsigned k = block - 1;; --k) {
        unsigned long long state;
        do state = states[k];
        while ((state & 3) == 0);
        total += state >> 2;
        if ((state & 3) == kPrefix) break;
      }
      states[block] = (total + sum) << 2 | kPrefix;
      before = unsigned(total);
    }
  }
  __syncthreads();
  out[i] = before + scanned[t];
}

// A producer block and a consumer block over a ring buffer of eight stages.
__global__ void ring(volatile unsigned* stages, unsigned* filled, unsigned* taken, unsigned long long* sum) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    for (unsigned k = 0; k < 64; ++k) {
      while (k - atomicAdd(taken, 0u) >= 8) {
      }
      stages[k % 8] = k * k + 1;
      __threadfence();
      atomicAdd(filled, 1u);
    }
  } else {
    unsigned long long total = 0;
    for (unsigned k = 0; k < 64; ++k) {
      while (atomicAdd(filled, 0u) <= k) {
      }
      __threadfence();
      total = total * 5 % 1000000007ull + stages[k % 8];
      __threadfence();
      atomicAdd(taken, 1u);
    }
    *sum = total;
  }
}

int main() {
  constexpr int slots = 5;
  Buffer<int> mutexes(slots), mutex(1), value(1), shared_values(3);
  Buffer<long long> counts(slots);
  counters<<<6, 96>>>(mutexes, counts, slots);
  LAUNCHED();
  const std::vector<long long> got = counts.download();
  bool ok = true;
  for (int s = 0; s < slots; ++s) {
    long long want = 0;
    for (int i = s; i < 576; i += slots) want = want * 3 % 1000003 + 1;
    ok &= got[s] == want;
  }
  show("locks", got, slots);
  expect(ok, "locks");
  textbook<<<3, 64>>>(mutex, value);
  LAUNCHED();
  expect(value.download()[0] == 192, "textbook lock");
  shared_lock<<<3, 64>>>(shared_values);
  LAUNCHED();
  expect(shared_values.download() == std::vector<int>(3, 192), "lock in shared memory");

  Buffer<unsigned> next(1), serving(1), hash(1);
  tickets<<<2, 64>>>(next, serving, hash);
  LAUNCHED();
  unsigned want = 0;
  for (unsigned k = 0; k < 128; ++k) want = want * 31 + k;
  expect(hash.download()[0] == want && serving.download()[0] == 128, "tickets");

  std::vector<int> in(10000);
  long long total = 0;
  for (size_t i = 0; i < in.size(); ++i) total += in[i] = int(noise(uint32_t(i)) >> 1);
  const Buffer<int> device_in(in);
  Buffer<long long> partial(9), sum(1);
  Buffer<unsigned> arrived(1);
  for (int k = 0; k < 2; ++k) {  // the counter wraps back to 0
    last_block<<<9, 128>>>(device_in, int(in.size()), partial, arrived, sum);
    LAUNCHED();
  }
  show("last block", sum.download());
  expect(sum.download()[0] == total, "last block");

  constexpr unsigned n = 8 * 64;
  std::vector<unsigned> a(n), b(n);
  for (unsigned i = 0; i < n; ++i) a[i] = noise(i);
  Buffer<unsigned> device_a(a), device_b(b), barrier(1);
  rounds<<<8, 64>>>(device_a, device_b, barrier);
  LAUNCHED();
  for (unsigned round = 0; round < 6; ++round) {
    const std::vector<unsigned>& from = round % 2 ? b : a;
    std::vector<unsigned>& to = round % 2 ? a : b;
    for (unsigned i = 0; i < n; ++i) to[i] = from[(i + 37) % n] * 3 + from[(i * 5 + round) % n];
  }
  show("rounds", device_a.download());
  expect(device_a.download() == a, "rounds between barriers of the grid");

  constexpr unsigned blocks = 40;
  std::vector<unsigned> values(blocks * 128);
  for (unsigned i = 0; i < values.size(); ++i) values[i] = noise(i) % 1000;
  const Buffer<unsigned> device_values(values);
  Buffer<unsigned> scanned(values.size()), order(1);
  Buffer<unsigned long long> states(blocks);
  look_back<<<blocks, 128>>>(device_values, scanned, order, states);
  LAUNCHED();
  for (unsigned i = 1; i < values.size(); ++i) values[i] += values[i - 1];
  show("scan that looks back", scanned.download());
  expect(scanned.download() == values, "scan that looks back");

  Buffer<unsigned> ring_stages(8), filled(1), taken(1);
  Buffer<unsigned long long> ring_sum(1);
  ring<<<2, 32>>>(ring_stages, filled, taken, ring_sum);
  LAUNCHED();
  unsigned long long expected = 0;
  for (unsigned k = 0; k < 64; ++k) expected = expected * 5 % 1000000007ull + k * k + 1;
  show("ring", ring_sum.download());
  expect(ring_sum.download()[0] == expected, "ring");
  return finish();
}
