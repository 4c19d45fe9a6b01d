// Copies into shared memory that complete later (cp.async) and barriers that are objects (mbarrier).
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/pipeline>
#include <utility>

#include "program.h"

#pragma nv_diag_suppress static_var_with_dynamic_init  // shared: initialised by hand

namespace cg = cooperative_groups;

__global__ void group_copy(const int* in, int* out) {
  __shared__ alignas(16) int staged[128];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, staged, in + blockIdx.x * 128, sizeof staged);
  cg::wait(block);
  out[blockIdx.x * 128 + threadIdx.x] = staged[127 - threadIdx.x];
}

// Two stages: one is summed while the other is filled. Copies of 4, 8 and 16 bytes, and one cut short by
// zeros.
__global__ void two_stages(const int* in, int* out, int stages) {
  __shared__ alignas(16) int staged[2][64 * 8];
  const int t = int(threadIdx.x);
  auto fetch = [&](int stage) {
    int* to = &staged[stage % 2][t * 8];
    const int* from = in + stage * 512 + t * 8;
    __pipeline_memcpy_async(to, from, 16);
    __pipeline_memcpy_async(to + 4, from + 4, 8);
    __pipeline_memcpy_async(to + 6, from + 6, 4);
    __pipeline_memcpy_async(to + 7, from + 7, 4, t % 2 ? 4 : 0);
    __pipeline_commit();
  };
  fetch(0);
  int sum = 0;
  for (int stage = 0; stage < stages; ++stage) {
    if (stage + 1 < stages)
      fetch(stage + 1);
    else
      __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int k = 0; k < 8; ++k) sum = sum * 3 + staged[stage % 2][k * 64 + (t * 5) % 64];
    __syncthreads();
  }
  out[t] = sum;
}

__global__ void barriers(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int values[128];
  if (threadIdx.x == 0) init(&barrier, 128);
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < 5; ++round) {
    values[threadIdx.x] = in[round * 128 + int(threadIdx.x)];
    auto token = barrier.arrive();
    sum += in[round];
    barrier.wait(std::move(token));
    sum += values[127 - int(threadIdx.x)] * 3;
    barrier.arrive_and_wait();
  }
  out[threadIdx.x] = sum;
}

// The barrier also waits for the copy; one warp leaves early.
__global__ void copy_with_barrier(const int* in, int* out) {
  __shared__ alignas(16) int staged[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  const auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  cuda::memcpy_async(block, staged, in, cuda::aligned_size_t<16>(sizeof staged), barrier);
  if (threadIdx.x >= 96) {
    barrier.arrive_and_drop();
    return;
  }
  barrier.arrive_and_wait();
  out[threadIdx.x] = staged[threadIdx.x * 2] + staged[255 - threadIdx.x];
  barrier.arrive_and_wait();  // of 96 now
  if (threadIdx.x == 0) out[96] = 1;
}

__global__ void pipeline(const int* in, int* out) {
  constexpr int stages = 3;
  __shared__ alignas(16) int staged[stages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int fetched = 0, used = 0; used < 8; ++used) {
    for (; fetched < 8 && fetched < used + stages; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, staged[fetched % stages], in + fetched * 64, cuda::aligned_size_t<16>(256),
                         pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum = sum * 5 + staged[used % stages][63 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

int main() {
  std::vector<int> in(4096);
  for (uint32_t i = 0; i < in.size(); ++i) in[i] = int(noise(i) % 1000);
  const Buffer<int> device_in(in);
  Buffer<int> out(512);

  group_copy<<<4, 128>>>(device_in, out);
  LAUNCHED();
  std::vector<int> got = out.download();
  bool ok = true;
  for (int i = 0; i < 512; ++i) ok &= got[i] == in[i / 128 * 128 + 127 - i % 128];
  expect(ok, "a group's copy");

  two_stages<<<1, 64>>>(device_in, out, 8);
  LAUNCHED();
  got = out.download();
  ok = true;
  for (int t = 0; t < 64; ++t) {
    uint32_t sum = 0;
    for (int stage = 0; stage < 8; ++stage)
      for (int k = 0; k < 8; ++k) {
        const int i = k * 64 + t * 5 % 64;
        sum = sum * 3 + uint32_t(i % 8 == 7 && i / 8 % 2 == 1 ? 0 : in[stage * 512 + i]);
      }
    ok &= uint32_t(got[t]) == sum;
  }
  show("two stages", got.data(), 64);
  expect(ok, "two stages");

  barriers<<<1, 128>>>(device_in, out);
  LAUNCHED();
  got = out.download();
  ok = true;
  for (int t = 0; t < 128; ++t) {
    int sum = 0;
    for (int round = 0; round < 5; ++round) sum += in[round] + in[round * 128 + 127 - t] * 3;
    ok &= got[t] == sum;
  }
  show("barriers", got.data(), 128);
  expect(ok, "barriers");

  copy_with_barrier<<<1, 128>>>(device_in, out);
  LAUNCHED();
  got = out.download();
  ok = got[96] == 1;
  for (int t = 0; t < 96; ++t) ok &= got[t] == in[t * 2] + in[255 - t];
  expect(ok, "a copy and its barrier");

  pipeline<<<1, 64>>>(device_in, out);
  LAUNCHED();
  got = out.download();
  ok = true;
  for (int t = 0; t < 64; ++t) {
    uint32_t sum = 0;
    for (int k = 0; k < 8; ++k) sum = sum * 5 + uint32_t(in[k * 64 + 63 - t]);
    ok &= uint32_t(got[t]) == sum;
  }
  show("pipeline", got.data(), 64);
  expect(ok, "pipeline");
  return finish();
}
