// Atomic operations that came with compute capability 9.0: 16 bytes at once, and sums of float vectors.
#include <algorithm>

#include "program.h"

struct alignas(16) State {
  unsigned long long count, hash;
};

__device__ State advance(State s) {
  return {s.count + 1, s.hash * 31 + s.count};
}

__global__ void compare_and_swap(State* state, unsigned long long* mine) {
  State old = {0, 7}, seen;  // a guess: the first exchange corrects it
  do {
    seen = old;
    old = atomicCAS(state, seen, advance(seen));
  } while (old.count != seen.count || old.hash != seen.hash);
  mine[blockIdx.x * blockDim.x + threadIdx.x] = seen.count;
}

__global__ void exchange(State* state, State* received) {
  const unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x;
  received[i] = atomicExch(state, State{i + 1, (i + 1) * 1000});  // never half of one and half of another
}

__global__ void vectors(float2* two, float4* four) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  atomicAdd(&two[i % 3], make_float2(float(i), float(i % 7) * 0.5f));
  atomicAdd(&four[i % 2], make_float4(1, float(-i), 0.25f, float(i % 5)));
}

int main() {
  Buffer<State> state(std::vector<State>{{0, 7}});
  Buffer<unsigned long long> mine(512);
  compare_and_swap<<<4, 128>>>(state, mine);
  LAUNCHED();
  State want = {0, 7};
  for (int i = 0; i < 512; ++i) want = {want.count + 1, want.hash * 31 + want.count};
  std::vector<unsigned long long> counts = mine.download();
  std::sort(counts.begin(), counts.end());
  bool ok = true;
  for (unsigned i = 0; i < 512; ++i) ok &= counts[i] == i;
  const State got = state.download()[0];
  show("compare and swap", &got, 1);
  expect(ok && got.count == want.count && got.hash == want.hash, "compare and swap");

  Buffer<State> slot(std::vector<State>{{0, 0}}), received(512);
  exchange<<<4, 128>>>(slot, received);
  LAUNCHED();
  std::vector<State> all = received.download();
  all.push_back(slot.download()[0]);
  std::sort(all.begin(), all.end(), [](const State& a, const State& b) { return a.count < b.count; });
  for (unsigned i = 0; i <= 512; ++i) ok &= all[i].count == i && all[i].hash == i * 1000;
  expect(ok, "exchange");

  Buffer<float2> two(3);
  Buffer<float4> four(2);
  vectors<<<2, 96>>>(two, four);
  LAUNCHED();
  show("float2", two.download());
  show("float4", four.download());
  expect(two.download()[0].x == 63.0f * 64 / 2 * 3 && four.download()[1].y == -96.0f * 96, "vectors");
  return finish();
}
