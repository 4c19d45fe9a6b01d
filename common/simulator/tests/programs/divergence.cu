// Lanes of a warp that go their own ways: nested branches, loops of different lengths, switches, early
// returns, goto, recursion, and what must still agree when they meet again.
#include "program.h"

__host__ __device__ uint32_t collatz(uint32_t n) {
  uint32_t steps = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    if (++steps > 300) break;
  }
  return steps;
}

__host__ __device__ uint32_t nested(uint32_t x) {
  uint32_t r = 0;
  if (x & 1) {
    if (x & 2) {
      for (uint32_t i = 0; i < (x & 15); ++i) {
        if ((i ^ x) & 4) continue;
        if (i * 3 > (x >> 4 & 31)) break;
        r += i * x;
      }
    } else {
      r = x ^ 0x1234;
      if (x & 8)
        r *= 7;
      else if (x & 16)
        r += 11;
      else
        r -= 13;
    }
  } else {
    uint32_t k = x >> 1 & 7;
    do {
      r = r * 31 + k;
      for (uint32_t j = 0; j < k; ++j) r ^= j << k;
    } while (k-- > 0);
  }
  return r;
}

__host__ __device__ uint32_t dense_switch(uint32_t x, uint32_t y) {  // a jump table
  switch (x % 19) {
    case 0:
      return y * 3;
    case 1:
      return y ^ 0xff;
    case 2:
      y += 7;
      [[fallthrough]];
    case 3:
      y *= 5;
      break;
    case 4:
      return y % 13;
    case 5:
      return collatz(y % 50 + 1);
    case 6:
      return y << 3 | y >> 29;
    case 7:
      return ~y;
    case 8:
      y ^= x;
      break;
    case 9:
      return y - x;
    case 10:
      return y / 3;
    case 11:
      return nested(y);
    case 12:
      return y & 0x0f0f0f0f;
    case 13:
      return y | 0x10101010;
    case 14:
      y = 1;
      break;
    case 15:
      return y * y;
    case 16:
      return 42;
    case 17:
      return x;
    default:
      y -= 1;
  }
  return y + 1000;
}

__host__ __device__ uint32_t jumps(uint32_t x) {
  uint32_t r = x & 63, n = 0;
again:
  if (++n > 40) goto done;
  r = r * 5 + 3;
  if (r % 7 == 0) goto other;
  if (r % 11 == 0) goto done;
  goto again;
other:
  r ^= n << 8;
  if (r & 1) goto again;
done:
  return r + n;
}

__host__ __device__ bool divisible(uint32_t x) {  // several exits from a loop
  for (uint32_t d = 2; d * d <= x; ++d) {
    if (x % d == 0) return true;
    if (d > 200) return false;
  }
  return false;
}

__host__ __device__ uint32_t evaluate(uint32_t i) {
  const uint32_t x = noise(i);
  uint32_t r = nested(x);
  r = r * 33 + dense_switch(x >> 5, r);
  r = r * 33 + jumps(x);
  r = r * 33 + collatz(x % 1000 + 1);
  r = r * 33 + (divisible(x % 10007) ? 1 : 2);
  if ((x & 3) == 1 || ((x & 4) && !(x & 16)) || (x % 5 == 2 && x % 3)) r += x;
  return (x & 64) ? r : (x & 128) ? ~r : r ^ x;
}

__global__ void independent(uint32_t* out, uint32_t n) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (noise(i) % 17 == 3) {
    out[i] = 17;
    return;
  }
  out[i] = evaluate(i);
}

// After divergent code a block still meets at its barriers and a warp at its shuffles.
__global__ void meeting(uint32_t* out) {
  __shared__ uint32_t values[256];
  const uint32_t t = threadIdx.x, i = blockIdx.x * 256 + t;
  uint32_t v = collatz(i % 77 + 1);
  if (t % 3 == 0) {
    for (uint32_t k = 0; k < t % 11; ++k) v += nested(v + k);
  } else if (t % 3 == 1) {
    v = dense_switch(v, t);
  }
  values[t] = v;
  __syncthreads();
  for (uint32_t round = 0; round < 4 + blockIdx.x % 3; ++round) {  // as many for the whole block
    uint32_t w = values[(t * 7 + round) % 256];
    if (w & 1)
      w = jumps(w);
    else
      w += __popc(w);
    __syncthreads();
    values[t] = w;
    __syncthreads();
  }
  uint32_t sum = values[t];
  if (t % 5 == 0) sum ^= 0xabcdu;
  __syncwarp();
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
  out[i] = sum;
}

// Lanes leave one by one; those left keep voting.
__global__ void leaving(uint32_t* out) {
  const uint32_t lane = threadIdx.x % 32;
  uint32_t seen = 0, active = ~0u;
  for (uint32_t step = 0; step < 32; ++step) {
    const bool stay = noise(lane * 31 + blockIdx.x) % 32 > step;
    const uint32_t staying = __ballot_sync(active, stay);
    if (!stay) {
      out[blockIdx.x * 32 + lane] = seen * 2 + 1;
      return;
    }
    active = staying;
    seen += __popc(staying) * step;
  }
  out[blockIdx.x * 32 + lane] = seen * 2;
}

// Depth differs by lane.
__noinline__ __device__ uint32_t ackermann(uint32_t m, uint32_t n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
__noinline__ __host__ __device__ uint32_t fibonacci(uint32_t n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ uint32_t even(uint32_t n);
__noinline__ __device__ uint32_t odd(uint32_t n) {
  return n == 0 ? 0 : even(n - 1);
}
__noinline__ __device__ uint32_t even(uint32_t n) {
  return n == 0 ? 1 : odd(n - 1);
}

__device__ void hanoi(int n, int from, int to, int* moves, uint32_t* hash) {
  if (n == 0) return;
  const int other = 3 - from - to;
  hanoi(n - 1, from, other, moves, hash);
  *hash = *hash * 31 + uint32_t(n * 9 + from * 3 + to);
  ++*moves;
  hanoi(n - 1, other, to, moves, hash);
}

__global__ void recursion(uint32_t* out) {
  const uint32_t t = threadIdx.x;
  out[t] = ackermann(t % 3, t % 5);
  out[64 + t] = fibonacci(t % 12);
  out[128 + t] = even(t % 29);
  int moves = 0;
  uint32_t hash = 1;
  hanoi(int(t % 7), 0, 2, &moves, &hash);
  out[192 + t] = uint32_t(moves);
  out[256 + t] = hash;
}

int main() {
  constexpr uint32_t n = 3001;
  Buffer<uint32_t> out(n);
  independent<<<(n + 127) / 128, 128>>>(out, n);
  LAUNCHED();
  const std::vector<uint32_t> got = out.download();
  bool ok = true;
  for (uint32_t i = 0; i < n; ++i) ok &= got[i] == (noise(i) % 17 == 3 ? 17 : evaluate(i));
  show("independent", got, 8);
  expect(ok, "independent");

  Buffer<uint32_t> met(16 * 256);
  meeting<<<16, 256>>>(met);
  LAUNCHED();
  show("meeting", met.download(), 8);

  Buffer<uint32_t> left(8 * 32);
  leaving<<<8, 32>>>(left);
  LAUNCHED();
  show("leaving", left.download(), 8);

  Buffer<uint32_t> deep(320);
  cudaFuncAttributes attributes;
  CUDA(cudaFuncGetAttributes(&attributes, recursion));
  CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 16 * 1024));
  recursion<<<1, 64>>>(deep);
  LAUNCHED();
  const std::vector<uint32_t> levels = deep.download();
  ok = true;
  for (uint32_t t = 0; t < 64; ++t) {
    const uint32_t ackermanns[3] = {t % 5 + 1, t % 5 + 2, 2 * (t % 5) + 3};
    ok &= levels[t] == ackermanns[t % 3] && levels[64 + t] == fibonacci(t % 12);
    ok &= levels[128 + t] == (t % 29 % 2 == 0) && levels[192 + t] == (1u << (t % 7)) - 1;
  }
  show("recursion", levels, 8);
  expect(ok, "recursion");
  return finish();
}
