// Shuffles in every mode and width, votes, matches, reductions, masks of active lanes.
#include "program.h"

template <typename T>
__global__ void shuffles(T* out) {
  const uint32_t t = threadIdx.x, lane = t % 32;
  const T v = T(noise(t) % 100000);
  T* o = out + t;
  int n = 0;
  auto put = [&](T x) { o[128 * n++] = x; };
  for (int width = 1; width <= 32; width *= 2) {
    put(__shfl_sync(~0u, v, int(lane * 3 + 1), width));
    put(__shfl_sync(~0u, v, -1, width));
    put(__shfl_up_sync(~0u, v, width / 2 + 1, width));
    put(__shfl_down_sync(~0u, v, width / 4 + 1, width));
    put(__shfl_xor_sync(~0u, v, (width / 2) | 1, width));
  }
  put(__shfl_sync(~0u, v, int(noise(t) % 64)));
}
constexpr int kShuffles = 31;

template <typename T>
void test_shuffles(const char* name) {
  Buffer<T> out(128 * kShuffles);
  shuffles<T><<<1, 128>>>(out);
  LAUNCHED();
  const std::vector<T> got = out.download();
  bool ok = true;
  int n = 0;
  for (int width = 1; width <= 32; width *= 2, n += 5)
    for (int t = 0; t < 128; ++t) {
      auto value = [&](int thread) { return T(noise(uint32_t(thread)) % 100000); };
      const int lane = t % 32, base = t - lane % width, in = lane % width;
      ok &= got[n * 128 + t] == value(base + (lane * 3 + 1) % width);
      ok &= got[(n + 1) * 128 + t] == value(base + width - 1);
      const int up = width / 2 + 1, down = width / 4 + 1, flip = (width / 2) | 1;
      ok &= got[(n + 2) * 128 + t] == value(in >= up ? t - up : t);
      ok &= got[(n + 3) * 128 + t] == value(in + down < width ? t + down : t);
      const int other = lane ^ flip;  // may reach an earlier part of the warp, never a later one
      ok &= got[(n + 4) * 128 + t] == value(other < (lane - in) + width ? t - lane + other : t);
    }
  show(name, got, 8);
  expect(ok, name);
}

__global__ void shuffles_predicate(
    uint32_t* out) {  // whether the source was in range; segment and clamp by hand
  const uint32_t t = threadIdx.x;
  uint32_t value, valid;
  asm volatile("{\n .reg .pred p;\n shfl.sync.up.b32 %0|p, %2, 3, 0x1000, -1;\n selp.u32 %1, 1, 0, p;\n}"
               : "=r"(value), "=r"(valid)
               : "r"(t * 5));
  out[t] = value * 2 + valid;
  asm volatile("{\n .reg .pred p;\n shfl.sync.idx.b32 %0|p, %2, %3, 0x181f, -1;\n selp.u32 %1, 1, 0, p;\n}"
               : "=r"(value), "=r"(valid)
               : "r"(t * 5), "r"(t * 7));
  out[32 + t] = value * 2 + valid;
  asm volatile("{\n .reg .pred p;\n shfl.sync.down.b32 %0|p, %2, %3, 0x0b13, -1;\n selp.u32 %1, 1, 0, p;\n}"
               : "=r"(value), "=r"(valid)
               : "r"(t * 5), "r"(t % 4));
  out[64 + t] = value * 2 + valid;
}

__global__ void votes(uint32_t* out) {
  const uint32_t t = threadIdx.x, v = noise(t);
  out[t] = __ballot_sync(~0u, v & 1);
  out[64 + t] = uint32_t(__any_sync(~0u, v % 40 == 3)) | uint32_t(__all_sync(~0u, v % 40 != 3)) << 1 |
                uint32_t(__any_sync(~0u, 0)) << 2 | uint32_t(__all_sync(~0u, 1)) << 3;
  uint32_t r = 0;
  if (t % 3 == 0) {
    const uint32_t mask = 0x49249249u << (t / 32 ? 1 : 0);  // the warp's lanes here
    r = __ballot_sync(mask, v & 2) ^ uint32_t(__any_sync(mask, v & 4));
    r += __shfl_sync(mask, v, t / 32 ? 4 : 3);
  } else {
    const uint32_t mask = ~(0x49249249u << (t / 32 ? 1 : 0));
    r = __ballot_sync(mask, v & 8) + uint32_t(__all_sync(mask, v | 8)) + __popc(mask);
  }
  out[128 + t] = r;
  out[192 + t] = __match_any_sync(~0u, v % 5);
  int same;
  out[256 + t] = __match_all_sync(~0u, t / 32 ? 7u : v % 3, &same);
  out[320 + t] = uint32_t(same);
  out[384 + t] = __match_any_sync(~0u, (unsigned long long)(v % 3) << 40);
  out[448 + t] = __match_any_sync(~0u, float(v % 4) * 0.5f);
}

__global__ void reductions(uint32_t* out) {
  const uint32_t t = threadIdx.x, v = noise(t);
  out[t] = __reduce_add_sync(~0u, v);
  out[32 + t] = __reduce_min_sync(~0u, v);
  out[64 + t] = __reduce_max_sync(~0u, v);
  out[96 + t] = uint32_t(__reduce_min_sync(~0u, int(v)));
  out[128 + t] = uint32_t(__reduce_max_sync(~0u, int(v)));
  out[160 + t] = __reduce_and_sync(~0u, v | 0xff00);
  out[192 + t] = __reduce_or_sync(~0u, v & 0x11110000);
  out[224 + t] = __reduce_xor_sync(~0u, v);
  const uint32_t peers = __match_any_sync(~0u, t % 4);
  out[256 + t] = __reduce_add_sync(peers, t);  // four groups, each on its own
}

__global__ void masks(uint32_t* out) {
  const uint32_t t = threadIdx.x;
  uint32_t equal, less, less_equal, greater, greater_equal, lane, warp;
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(equal));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(less));
  asm("mov.u32 %0, %%lanemask_le;" : "=r"(less_equal));
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(greater));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(greater_equal));
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  const uint32_t values[7] = {equal, less, less_equal, greater, greater_equal, lane, warp < 64 ? 1u : 0u};
  for (int k = 0; k < 7; ++k) out[k * 64 + t] = values[k];
  out[448 + t] = __activemask();
  uint32_t inside = 0;
  if (t < 13) inside = __activemask();
  __syncwarp();
  out[512 + t] = t < 13 ? inside : warpSize;
}

// Parts of a warp synchronise and pass values on through shared memory, at their own pace.
__global__ void partial(uint32_t* out) {
  __shared__ uint32_t values[32];
  const uint32_t t = threadIdx.x, group = t / 8, mask = 0xffu << group * 8;
  values[t] = t;
  for (uint32_t k = 0; k < 3 + group; ++k) {
    __syncwarp(mask);
    const uint32_t next = values[group * 8 + (t + 1) % 8] * 3 + k;
    __syncwarp(mask);
    values[t] = next;
  }
  __syncwarp();
  out[t] = values[31 - t];
}

// Half a warp waits for the other half: each lane must be able to move on without the rest.
__global__ void ping_pong(volatile int* flags, int* out) {
  const int t = int(threadIdx.x);
  if (t < 16) {
    for (int k = 1; k <= 10; ++k) {
      flags[t] = k;
      __threadfence();
      while (flags[16 + t] != k) {
      }
    }
    out[t] = flags[16 + t];
  } else {
    for (int k = 1; k <= 10; ++k) {
      while (flags[t - 16] != k) {
      }
      __threadfence();
      flags[t] = k;
    }
    out[t] = 100 + flags[t];
  }
}

// Sums by shuffles, the whole block's.
__global__ void block_sum(const float* in, float* out, int n) {
  __shared__ float partial_sums[32];
  float sum = 0;
  for (int i = int(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += int(gridDim.x * blockDim.x))
    sum += in[i];
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) partial_sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial_sums[threadIdx.x] : 0;
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(~0u, sum, offset);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

int main() {
  test_shuffles<int>("shuffles, int");
  test_shuffles<uint32_t>("shuffles, uint32_t");
  test_shuffles<float>("shuffles, float");
  test_shuffles<double>("shuffles, double");
  test_shuffles<long long>("shuffles, long long");

  Buffer<uint32_t> predicates(96);
  shuffles_predicate<<<1, 32>>>(predicates);
  LAUNCHED();
  show("shuffle predicates", predicates.download(), 96);

  Buffer<uint32_t> voted(512);
  votes<<<1, 64>>>(voted);
  LAUNCHED();
  const std::vector<uint32_t> vote = voted.download();
  bool ok = true;
  for (uint32_t t = 0; t < 64; ++t) {
    uint32_t ballot = 0, match = 0;
    for (uint32_t k = 0; k < 32; ++k) {
      const uint32_t other = noise(t / 32 * 32 + k);
      ballot |= (other & 1) << k;
      match |= uint32_t(other % 5 == noise(t) % 5) << k;
    }
    ok &= vote[t] == ballot && vote[192 + t] == match && vote[256 + t] == (t / 32 ? ~0u : 0u);
  }
  for (int k = 0; k < 8; ++k) {
    std::printf("vote %d, ", k);
    show("", &vote[k * 64], 64, 64);
  }
  expect(ok, "votes");

  Buffer<uint32_t> reduced(288);
  reductions<<<1, 32>>>(reduced);
  LAUNCHED();
  const std::vector<uint32_t> reduction = reduced.download();
  uint32_t sum = 0, parity = 0;
  for (uint32_t t = 0; t < 32; ++t) sum += noise(t), parity ^= noise(t);
  show("reductions", reduction, 288);
  expect(reduction[0] == sum && reduction[31] == sum && reduction[224] == parity && reduction[256] == 112,
         "reductions");

  Buffer<uint32_t> masked(576);
  masks<<<1, 64>>>(masked);
  LAUNCHED();
  show("masks", masked.download(), 576);

  Buffer<uint32_t> parts(32);
  partial<<<1, 32>>>(parts);
  LAUNCHED();
  show("parts of a warp", parts.download(), 32);

  Buffer<int> flags(32), answers(32);
  ping_pong<<<1, 32>>>(flags, answers);
  LAUNCHED();
  const std::vector<int> answer = answers.download();
  ok = true;
  for (int t = 0; t < 32; ++t) ok &= answer[t] == (t < 16 ? 10 : 110);
  expect(ok, "half a warp waits for the other");

  std::vector<float> in(20000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = float(noise(uint32_t(i)) % 64);  // sums are exact
  const Buffer<float> device_in(in);
  Buffer<float> sums(7);
  block_sum<<<7, 160>>>(device_in, sums, int(in.size()));
  LAUNCHED();
  float total = 0, want = 0;
  for (float x : sums.download()) total += x;
  for (float x : in) want += x;
  show("block sums", sums.download(), 7);
  expect(total == want, "block sums");
  return finish();
}
