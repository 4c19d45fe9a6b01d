// Atomic operations of every kind and type, in global and shared memory. Only results that do not depend on
// the order of the threads are printed; old values are checked as a set.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "program.h"

constexpr int kThreads = 1024, kSlots = 7;

template <typename T>
__device__ void integer_operations(T* a, T* old) {  // kSlots of each
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, s = i % kSlots;
  const T v = T(noise64(i));
  atomicAdd(&a[s], v);
  atomicMin(&a[kSlots + s], v);
  atomicMax(&a[2 * kSlots + s], v);
  atomicAnd(&a[3 * kSlots + s], T(v | T(noise(i + 1))));
  atomicOr(&a[4 * kSlots + s], T(T(1) << (v & 15)));
  atomicXor(&a[5 * kSlots + s], v);
  old[i] = atomicAdd(&a[6 * kSlots], T(1));               // a ticket
  T expected = atomicOr(&a[7 * kSlots + s], T(0)), seen;  // a multiplication by compare and swap
  do {
    seen = expected;
    expected = atomicCAS(&a[7 * kSlots + s], seen, T(seen * 3));
  } while (expected != seen);
}

template <typename T>
__global__ void in_global(T* a, T* old) {
  integer_operations(a, old);
}

template <typename T>
__global__ void in_shared(const T* start, T* a, T* old) {
  __shared__ T values[8 * kSlots];
  if (threadIdx.x < 8 * kSlots) values[threadIdx.x] = start[threadIdx.x];
  __syncthreads();
  integer_operations(values, old);
  __syncthreads();
  if (threadIdx.x < 8 * kSlots) a[threadIdx.x] = values[threadIdx.x];
}

template <typename T>
void test_integers(const char* name) {
  std::vector<T> start(8 * kSlots, 0), want;
  for (int s = 0; s < kSlots; ++s) {
    start[kSlots + s] = std::numeric_limits<T>::max();
    start[2 * kSlots + s] = std::numeric_limits<T>::min();
    start[3 * kSlots + s] = T(~T(0));
    start[7 * kSlots + s] = T(s + 1);
  }
  want = start;
  for (uint32_t i = 0; i < kThreads; ++i) {
    const T v = T(noise64(i));
    T* w = &want[i % kSlots];
    using U = std::make_unsigned_t<T>;
    w[0] = T(U(w[0]) + U(v));
    w[kSlots] = std::min(w[kSlots], v);
    w[2 * kSlots] = std::max(w[2 * kSlots], v);
    w[3 * kSlots] &= T(v | T(noise(i + 1)));
    w[4 * kSlots] |= T(T(1) << (v & 15));
    w[5 * kSlots] ^= v;
    w[7 * kSlots] = T(U(w[7 * kSlots]) * 3);
  }
  want[6 * kSlots] = kThreads;
  for (bool shared : {false, true}) {
    Buffer<T> a(start), old(kThreads);
    const Buffer<T> initial(start);
    if (shared)
      in_shared<T><<<1, kThreads>>>(initial, a, old);
    else
      in_global<T><<<8, kThreads / 8>>>(a, old);
    LAUNCHED();
    const std::vector<T> got = a.download();
    std::vector<T> tickets = old.download();
    std::sort(tickets.begin(), tickets.end());
    bool ok = got == want;
    for (int i = 0; i < kThreads; ++i) ok &= tickets[i] == T(i);
    std::printf("%s, %s, ", name, shared ? "shared" : "global");
    show("", got, 16);
    expect(ok, name);
  }
}

__global__ void other_integers(uint32_t* a, unsigned long long* swapped, unsigned short* halves) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicInc(&a[0], 99);  // 0 … 99, then again
  atomicDec(&a[1], 99);
  atomicSub(&a[2], i);
  atomicExch(&a[3], 5u);
  atomicAdd_block(&a[4 + blockIdx.x], i);
  atomicMax_system(&a[12], noise(i));
  atomicExch(&swapped[i], (unsigned long long)(i)*3);
  unsigned short old = halves[i % 5], seen;  // 16 bits
  do {
    seen = old;
    old = atomicCAS(&halves[i % 5], seen, (unsigned short)(seen + i));
  } while (old != seen);
}

// Sums of small multiples of a power of two: exact in any order.
template <typename T>
__global__ void floating(T* global, T* out) {
  __shared__ T sums[4];
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 4) sums[threadIdx.x] = T(0);
  __syncthreads();
  const T v = T(float(int(noise(i) % 9) - 4) * 0.25f);
  atomicAdd(&global[i % 4], v);
  atomicAdd(&sums[i % 4], v);
  __syncthreads();
  if (threadIdx.x < 4) out[blockIdx.x * 4 + threadIdx.x] = sums[threadIdx.x];
}

template <typename T>
__device__ T zero_pair();
template <>
__device__ __half2 zero_pair<__half2>() {
  return __floats2half2_rn(0, 0);
}
template <>
__device__ __nv_bfloat162 zero_pair<__nv_bfloat162>() {
  return __floats2bfloat162_rn(0, 0);
}

template <typename P, typename T>
__global__ void floating_pairs(P* global, P* out) {
  __shared__ P sum;
  const uint32_t i = threadIdx.x;
  if (i == 0) sum = zero_pair<P>();
  __syncthreads();
  P v;
  v.x = T(float(int(noise(i) % 3) - 1) * 0.5f);
  v.y = T(float(int(noise(i + 50) % 5) - 2) * 0.25f);
  atomicAdd(&global[i % 2], v);
  atomicAdd(&sum, v);
  __syncthreads();
  if (i == 0) *out = sum;
}

template <typename T>
void test_floating(const char* name) {
  Buffer<T> global(4), out(16);
  floating<T><<<4, 64>>>(global, out);
  LAUNCHED();
  const std::vector<T> sums = global.download(), parts = out.download();
  bool ok = true;
  for (int s = 0; s < 4; ++s) {
    float want = 0, part = 0;
    for (uint32_t i = uint32_t(s); i < 256; i += 4) want += float(int(noise(i) % 9) - 4) * 0.25f;
    for (int b = 0; b < 4; ++b) part += float(parts[b * 4 + s]);
    ok &= float(sums[s]) == want && part == want;
  }
  show(name, sums);
  expect(ok, name);
}

// A minimum of floats by a loop of compare and swap, and an exchange that hands every value on exactly once.
__global__ void loops(int* minimum, float* chain, float* received) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = float(noise(i) % 100000) * 0.5f - 777;
  int old = *minimum;
  while (__int_as_float(old) > v) {
    const int seen = atomicCAS(minimum, old, __float_as_int(v));
    if (seen == old) break;
    old = seen;
  }
  received[i] = atomicExch(chain, float(i + 1));
}

// Scopes and orders by inline PTX.
__global__ void ptx(uint32_t* a, unsigned long long* b, uint32_t* olds) {
  const uint32_t i = threadIdx.x;
  uint32_t old;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(a), "r"(i) : "memory");
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(a + 1) : "memory");
  asm volatile("red.global.max.s32 [%0], %1;" ::"l"(a + 2), "r"(i) : "memory");
  olds[i] = old;  // depend on the order
  asm volatile("atom.acq_rel.sys.or.b32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(a + 3), "r"(1u << (i % 32))
               : "memory");
  olds[96 + i] = old;
  asm volatile("red.relaxed.cta.global.add.u64 [%0], %1;" ::"l"(b), "l"(uint64_t(i) << 33) : "memory");
  uint32_t acquired;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(acquired) : "l"(a + 5) : "memory");
  if (i == 0) asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(a + 4), "r"(acquired + 9) : "memory");
}

int main() {
  test_integers<int>("int");
  test_integers<unsigned>("unsigned");
  test_integers<unsigned long long>("unsigned long long");

  Buffer<uint32_t> words(13);
  Buffer<unsigned long long> swapped(1024);
  Buffer<unsigned short> halves(5);
  other_integers<<<8, 128>>>(words, swapped, halves);
  LAUNCHED();
  const std::vector<uint32_t> w = words.download();
  show("other operations", w, 13);
  show("exchanged", swapped.download());
  show("16 bits", halves.download());
  expect(w[0] == 1024 % 100 && w[1] == (100 - 1024 % 100) % 100 && w[2] == 0u - 1023 * 512 && w[3] == 5,
         "other operations");

  test_floating<float>("float");
  test_floating<double>("double");
  test_floating<__half>("half");
  test_floating<__nv_bfloat16>("bfloat16");
  Buffer<__half2> h2(2), h2_out(1);
  floating_pairs<__half2, __half><<<1, 64>>>(h2, h2_out);
  LAUNCHED();
  show("half2", h2.download());
  show("half2, shared", h2_out.download());
  Buffer<__nv_bfloat162> b2(2), b2_out(1);
  floating_pairs<__nv_bfloat162, __nv_bfloat16><<<1, 64>>>(b2, b2_out);
  LAUNCHED();
  show("bfloat162", b2.download());
  show("bfloat162, shared", b2_out.download());

  Buffer<int> minimum(std::vector<int>{0x7f000000});
  Buffer<float> chain(1), received(512);
  loops<<<4, 128>>>(minimum, chain, received);
  LAUNCHED();
  std::vector<float> all = received.download();
  all.push_back(chain.download()[0]);
  std::sort(all.begin(), all.end());
  bool ok = true;
  for (int i = 0; i <= 512; ++i) ok &= all[i] == float(i);
  show("minimum", minimum.download());
  expect(ok, "every value is handed on once");

  Buffer<uint32_t> a(6), olds(192);
  Buffer<unsigned long long> b(1);
  ptx<<<1, 96>>>(a, b, olds);
  LAUNCHED();
  show("scopes and orders", a.download(), 6);
  show("64 bits", b.download());
  expect(a.download()[0] == 95 * 48, "scopes and orders");
  return finish();
}
