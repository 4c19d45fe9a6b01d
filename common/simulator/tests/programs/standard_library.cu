// The standard library's parts that work on the device: atomics with orders and scopes, semaphores, spans and
// other types; cuRAND's generators.
#include <curand_kernel.h>

#include <cuda/atomic>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>

#include "program.h"

#pragma nv_diag_suppress static_var_with_dynamic_init  // shared: constructed by hand

__global__ void atomics(int* counter, unsigned long long* most, int* flags, int* out) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  cuda::atomic_ref<int, cuda::thread_scope_device> count(*counter);
  count.fetch_add(i, cuda::memory_order_relaxed);
  cuda::atomic_ref<unsigned long long> greatest(*most);
  greatest.fetch_max(noise64(uint32_t(i)), cuda::memory_order_acq_rel);
  __shared__ cuda::atomic<int, cuda::thread_scope_block> turns;
  if (threadIdx.x == 0) new (&turns) cuda::atomic<int, cuda::thread_scope_block>(0);
  __syncthreads();
  int seen = turns.load();
  while (!turns.compare_exchange_weak(seen, seen + 2)) {
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = turns.exchange(-1);
  // One thread hands a value to another.
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[0]);
  if (i == 0) {
    flags[1] = 77;
    flag.store(1, cuda::memory_order_release);
    flag.notify_all();
  } else if (i == 33) {
    flag.wait(0, cuda::memory_order_acquire);
    out[10] = flags[1];
  }
}

__global__ void semaphores(int* inside, int* most, int* done) {
  __shared__ cuda::counting_semaphore<cuda::thread_scope_block, 4> places;
  if (threadIdx.x == 0) new (&places) cuda::counting_semaphore<cuda::thread_scope_block, 4>(4);
  __syncthreads();
  places.acquire();
  const int now = atomicAdd(inside, 1) + 1;
  atomicMax(most, now);
  atomicSub(inside, 1);
  places.release();
  atomicAdd(done, 1);
}

__device__ cuda::std::optional<int> root(int x) {
  for (int r = 0; r * r <= x; ++r)
    if (r * r == x) return r;
  return cuda::std::nullopt;
}
__device__ int total(cuda::std::span<const int> values) {
  int sum = 0;
  for (int x : values) sum += x;
  return sum;
}

__global__ void stateless(const int* in, int* out) {
  const int t = int(threadIdx.x);
  const cuda::std::span<const int> all(in, 640);
  cuda::std::array<int, 8> a{};
  for (size_t k = 0; k < a.size(); ++k) a[k] = int(k) * t;
  const auto [x, y] = cuda::std::pair<int, int>(t * 3, t + 1);
  const cuda::std::tuple<int, char, double> triple(x, 'q', y * 0.5);
  const cuda::std::complex<double> z = cuda::std::complex<double>(x, y) * cuda::std::complex<double>(y, -2);
  int* o = out + t * 8;
  o[0] = total(all.subspan(size_t(t), 16)) + total(a) * 3;
  o[1] = cuda::std::popcount(unsigned(in[t])) + cuda::std::countl_zero(unsigned(t)) * 100 +
         int(cuda::std::rotl(uint8_t(t), 3)) * 10000;
  o[2] = root(t).value_or(-5);
  o[3] = cuda::std::get<0>(triple) + cuda::std::get<1>(triple) + int(cuda::std::get<2>(triple) * 2);
  o[4] = int(z.real());
  o[5] = int(z.imag());
  o[6] = cuda::std::numeric_limits<short>::max() - int(cuda::std::bit_cast<uint32_t>(float(t)) >> 16);
  int swapped = x;
  o[7] = cuda::std::exchange(swapped, y) * 1000 + swapped;
}

__global__ void random_numbers(uint32_t* out) {
  const uint32_t t = threadIdx.x;
  curandStatePhilox4_32_10_t philox;
  curand_init(42, t, 5, &philox);
  curandStateXORWOW_t xorwow;
  curand_init(42, 0, t, &xorwow);
  curandStateMRG32k3a_t mrg;
  curand_init(7, 0, t, &mrg);
  for (int k = 0; k < 4; ++k) {
    out[t * 16 + k] = curand(&philox);
    out[t * 16 + 4 + k] = curand(&xorwow);
    out[t * 16 + 8 + k] = curand(&mrg);
  }
  const uint4 four = curand4(&philox);
  out[t * 16 + 12] = four.x ^ four.w;
  out[t * 16 + 13] = __float_as_uint(curand_uniform(&philox));
  out[t * 16 + 14] = uint32_t(__double_as_longlong(curand_uniform_double(&xorwow)) >> 20);
  out[t * 16 + 15] = uint32_t(fabsf(curand_normal(&philox)) < 7);
}

int main() {
  Buffer<int> counter(1), flags(2), out(11);
  Buffer<unsigned long long> most(1);
  atomics<<<4, 96>>>(counter, most, flags, out);
  LAUNCHED();
  const std::vector<int> turns = out.download();
  expect(counter.download()[0] == 383 * 192 && turns[0] == 192 && turns[3] == 192 && turns[10] == 77,
         "atomics");
  show("greatest", most.download());

  std::vector<int> in(640);
  for (uint32_t i = 0; i < in.size(); ++i) in[i] = int(noise(i) % 1000);
  const Buffer<int> device_in(in);
  Buffer<int> inside(1), greatest(1), done(1);
  semaphores<<<1, 64>>>(inside, greatest, done);
  LAUNCHED();
  expect(inside.download()[0] == 0 && greatest.download()[0] <= 4 && greatest.download()[0] >= 1 &&
             done.download()[0] == 64,
         "semaphores");

  Buffer<int> results(64 * 8);
  stateless<<<1, 64>>>(device_in, results);
  LAUNCHED();
  show("stateless", results.download(), 16);

  Buffer<uint32_t> numbers(64 * 16);
  random_numbers<<<1, 64>>>(numbers);
  LAUNCHED();
  show("random numbers", numbers.download(), 16);
  return finish();
}
