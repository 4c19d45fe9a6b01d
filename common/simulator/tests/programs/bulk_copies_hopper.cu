// Bulk copies of bytes: to shared memory, back, and to global memory as reductions of every type; the same to
// all CTAs of a cluster, and between them. What a whole warp's copies do when its lanes all issue the same
// one is printed.
#include <cooperative_groups.h>

#include <algorithm>
#include <string>

#include "program.h"

namespace cg = cooperative_groups;

namespace {

constexpr int bytes = 4096;

__device__ uint32_t shared(const void* pointer) {
  return uint32_t(__cvta_generic_to_shared(pointer));
}

__device__ void init(uint64_t& barrier) {
  asm volatile(
      "mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(shared(&barrier))
      : "memory");
}
__device__ void expect_bytes(uint64_t& barrier, int count) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&barrier)), "r"(count)
               : "memory");
}
__device__ void wait(uint64_t& barrier, uint32_t parity) {
  uint32_t done = 0;
  while (!done) {
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(shared(&barrier)), "r"(parity)
        : "memory");
  }
}

// Three rounds of in → shared memory → out, each through the other half.
__global__ void there_and_back(const uint8_t* in, uint8_t* out) {
  __shared__ alignas(128) uint8_t tile[2][bytes];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) init(barrier);
  __syncthreads();
  for (uint32_t round = 0; round < 3; ++round) {
    uint8_t* half = tile[round % 2];
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
      expect_bytes(barrier, bytes);
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
              shared(half)),
          "l"(in + round * bytes), "r"(bytes), "r"(shared(&barrier))
          : "memory");
    }
    wait(barrier, round % 2);
    for (int i = int(threadIdx.x); i < bytes; i += int(blockDim.x)) half[i] = uint8_t(half[i] * 3 + round);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile(
          "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\ncp.async.bulk.commit_group;" ::"l"(
              out + round * bytes),
          "r"(shared(half)), "r"(bytes)
          : "memory");
    }
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#define REDUCTIONS(use)                                                                                   \
  use(add_u32, "add.u32") use(min_u32, "min.u32") use(max_u32, "max.u32") use(inc_u32, "inc.u32")         \
      use(dec_u32, "dec.u32") use(and_b32, "and.b32") use(or_b32, "or.b32") use(xor_b32, "xor.b32")       \
          use(add_s32, "add.s32") use(min_s32, "min.s32") use(max_s32, "max.s32") use(add_u64, "add.u64") \
              use(min_u64, "min.u64") use(max_u64, "max.u64") use(min_s64, "min.s64")                     \
                  use(max_s64, "max.s64") use(and_b64, "and.b64") use(or_b64, "or.b64")                   \
                      use(xor_b64, "xor.b64") use(add_f32, "add.f32") use(add_f64, "add.f64")             \
                          use(add_f16, "add.noftz.f16") use(min_f16, "min.f16") use(max_f16, "max.f16")   \
                              use(add_bf16, "add.noftz.bf16") use(min_bf16, "min.bf16")                   \
                                  use(max_bf16, "max.bf16")

#define KERNEL(name, operation)                                                            \
  __global__ void name(const uint8_t* in, uint8_t* out) {                                  \
    __shared__ alignas(128) uint8_t tile[bytes];                                           \
    for (int i = int(threadIdx.x); i < bytes; i += int(blockDim.x)) tile[i] = in[i];       \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                           \
    __syncthreads();                                                                       \
    if (threadIdx.x != 0) return;                                                          \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." operation           \
                 " [%0], [%1], %2;" ::"l"(out),                                            \
                 "r"(shared(tile)), "r"(bytes)                                             \
                 : "memory");                                                              \
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory"); \
  }
REDUCTIONS(KERNEL)

// Every lane issues the same: how often does it happen?
__global__ void by_a_warp(uint32_t* out) {
  __shared__ alignas(128) uint32_t ones[32];
  ones[threadIdx.x] = 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 128;" ::"l"(out),
               "r"(shared(ones))
               : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

// Four CTAs: each loads a quarter for all; then each sends what it has to the next one.
__global__ void __cluster_dims__(4, 1, 1) in_a_cluster(const uint8_t* in, uint8_t* out) {
  __shared__ alignas(128) uint8_t tile[2][bytes];
  __shared__ uint64_t barriers[2];
  const cg::cluster_group cluster = cg::this_cluster();
  const uint32_t rank = cluster.block_rank(), next = (rank + 1) % 4;
  if (threadIdx.x == 0) {
    init(barriers[0]);
    init(barriers[1]);
  }
  cluster.sync();
  if (threadIdx.x == 0) {
    expect_bytes(barriers[0], bytes);
    expect_bytes(barriers[1], bytes);
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], "
        "%2, [%3], "
        "%4;" ::"r"(shared(tile[0] + rank * bytes / 4)),
        "l"(in + rank * bytes / 4), "r"(bytes / 4), "r"(shared(&barriers[0])), "h"(uint16_t(15))
        : "memory");
  }
  wait(barriers[0], 0);
  for (int i = int(threadIdx.x); i < bytes; i += int(blockDim.x))
    tile[0][i] = uint8_t(tile[0][i] + 50 * rank);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t to, barrier;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared(tile[1])), "r"(next));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrier) : "r"(shared(&barriers[1])), "r"(next));
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            to),
        "r"(shared(tile[0])), "r"(bytes), "r"(barrier)
        : "memory");
  }
  wait(barriers[1], 0);
  for (int i = int(threadIdx.x); i < bytes; i += int(blockDim.x))
    out[rank * bytes + uint32_t(i)] = tile[1][i];
  cluster.sync();
}

}  // namespace

int main() {
  std::vector<uint8_t> in(3 * bytes), begin(bytes);
  for (uint32_t i = 0; i < in.size(); ++i) in[i] = uint8_t(noise(i) >> 5);
  for (uint32_t i = 0; i < begin.size(); ++i) begin[i] = uint8_t(noise(i + 77777) >> 5);
  const Buffer<uint8_t> device_in(in);
  Buffer<uint8_t> out(4 * bytes);

  there_and_back<<<1, 128>>>(device_in, out);
  LAUNCHED();
  std::vector<uint8_t> got = out.download();
  bool ok = true;
  for (uint32_t i = 0; i < 3 * bytes; ++i) ok &= got[i] == uint8_t(in[i] * 3 + i / bytes);
  expect(ok, "there and back");

  // The second operand of every 16 bytes begins with what is special to some type.
  const uint32_t special[] = {0,          1,          0x80000000, 0x007fffff, 0x7f800000,
                              0x7fc00001, 0x7c007e00, 0x7f807fc0, 0x00018001, 0x03ff83ff};
  for (uint32_t i = 0; i < bytes / 16; ++i) {
    std::memcpy(&in[i * 16], &special[i % 10], 4);
    std::memcpy(&begin[i * 16], &special[i / 10 % 10], 4);
  }
  const Buffer<uint8_t> operands(in);
#define RUN(name, operation)                                                       \
  {                                                                                \
    Buffer<uint8_t> data(begin);                                                   \
    name<<<1, 128>>>(operands, data);                                              \
    LAUNCHED();                                                                    \
    const std::vector<uint8_t> result = data.download();                           \
    std::vector<uint32_t> words(100);                                              \
    for (uint32_t i = 0; i < 100; ++i) std::memcpy(&words[i], &result[i * 16], 4); \
    show(operation, result, 0);                                                    \
    show("  special values", words, 100);                                          \
  }
  REDUCTIONS(RUN)

  Buffer<uint32_t> counts(32);
  by_a_warp<<<1, 32>>>(counts);
  LAUNCHED();
  std::printf("a reduction that 32 lanes ask for happens %u times\n", counts.download()[0]);

  in_a_cluster<<<4, 128>>>(device_in, out);
  LAUNCHED();
  got = out.download();
  const std::vector<uint8_t> source = device_in.download();
  ok = true;
  for (uint32_t i = 0; i < 4 * bytes; ++i)
    ok &= got[i] == uint8_t(source[i % bytes] + 50 * ((i / bytes + 3) % 4));
  expect(ok, "a cluster");
  return finish();
}
