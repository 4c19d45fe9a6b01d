// Thread block clusters: who is who, barriers, each other's shared memory by loads, stores, atomics and
// asynchronous stores, mbarriers of another block, registers handed from warpgroup to warpgroup.
#include <cooperative_groups.h>

#include <algorithm>

#include "program.h"

namespace cg = cooperative_groups;

__device__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}
__device__ uint32_t map_shared(uint32_t address, uint32_t rank) {
  uint32_t mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}
__device__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ void init_mbarrier(uint64_t& mbarrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1; fence.mbarrier_init.release.cluster;" ::"r"(
                   shared_address(&mbarrier)),
               "r"(count)
               : "memory");
}
__device__ void wait_mbarrier(uint64_t& mbarrier, uint32_t parity) {
  asm volatile(
      "{ .reg .pred done; WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1; "
      "@!done bra "
      "WAIT; }" ::"r"(shared_address(&mbarrier)),
      "r"(parity)
      : "memory");
}

// Launches with a cluster that the kernel does not name itself.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, dim3 cluster, size_t shared,
            Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster.x;
  attribute.val.clusterDim.y = cluster.y;
  attribute.val.clusterDim.z = cluster.z;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CUDA(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
  LAUNCHED();
}

// ---- Who is who.

__global__ void identity(uint32_t* out) {
  uint32_t id[17];
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(id[0]));
  asm("mov.u32 %0, %%clusterid.y;" : "=r"(id[1]));
  asm("mov.u32 %0, %%clusterid.z;" : "=r"(id[2]));
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(id[3]));
  asm("mov.u32 %0, %%nclusterid.y;" : "=r"(id[4]));
  asm("mov.u32 %0, %%nclusterid.z;" : "=r"(id[5]));
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(id[6]));
  asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(id[7]));
  asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(id[8]));
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(id[9]));
  asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(id[10]));
  asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(id[11]));
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(id[12]));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(id[13]));
  asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(id[14]));
  const cg::cluster_group cluster = cg::this_cluster();
  id[15] = cluster.block_rank() * 100 + cluster.num_blocks();
  id[16] = cluster.thread_rank() * 10000 + cluster.num_threads();
  const uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  if (threadIdx.x == 1) {
    for (int i = 0; i < 17; ++i) out[block * 17 + i] = id[i];
  }
}

void test_identity() {
  const dim3 grid(4, 6, 4);
  const auto one = [&](const char* name, dim3 cluster) {
    Buffer<uint32_t> out(4 * 6 * 4 * 17);
    launch(identity, grid, 32, cluster, 0, out.data);
    const std::vector<uint32_t> got = out.download();
    show(name, got);
    std::printf("  of block (3,4,1):");
    for (int i = 0; i < 17; ++i) std::printf(" %u", got[(3 + 4 * (4 + 6 * 1)) * 17 + i]);
    std::printf("\n");
  };
  one("a cluster of 1", 1);
  one("a cluster of 4", 4);
  one("a cluster of 2 x 3", dim3(2, 3));
  one("a cluster of 2 x 1 x 4", dim3(2, 1, 4));
  Buffer<uint32_t> out(4 * 6 * 4 * 17);
  identity<<<grid, 32>>>(out);
  LAUNCHED();
  show("no cluster", out.download());
}

// ---- What addresses look like: the rank of a block is in their upper bits, in its own addresses too.

__global__ void addresses(uint32_t* out) {
  __shared__ uint32_t words[32];
  words[threadIdx.x] = 0;
  const cg::cluster_group cluster = cg::this_cluster();
  const uint32_t rank = cluster.block_rank(), other = rank ^ 1;
  const uint32_t own = shared_address(words), mapped = map_shared(own, other);
  uint32_t* const there = cluster.map_shared_rank(words, other);
  uint32_t of_own, of_mapped, cta_holds_own, cta_holds_other, cluster_holds_other;
  asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of_own) : "r"(own));
  asm("getctarank.u64 %0, %1;" : "=r"(of_mapped) : "l"(there));
  asm("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(cta_holds_own)
      : "l"(words));
  asm("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(cta_holds_other)
      : "l"(there));
  asm("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(cluster_holds_other)
      : "l"(there));
  if (threadIdx.x == 0) {
    uint32_t* row = out + blockIdx.x * 10;
    row[0] = own >> 24;
    row[1] = mapped >> 24;
    row[2] = (own ^ mapped) & 0xffffff;
    row[3] = of_own;
    row[4] = of_mapped;
    row[5] = cta_holds_own * 100 + cta_holds_other * 10 + cluster_holds_other;
    row[6] = shared_address(there) >> 24;
    row[7] = static_cast<uint32_t>(reinterpret_cast<char*>(there) - reinterpret_cast<char*>(words)) >> 24;
    row[8] = cluster.query_shared_rank(there);
    row[9] = __isShared(words) * 10 + __isClusterShared(there);
  }
  cluster_sync();
}

void test_addresses() {
  Buffer<uint32_t> out(8 * 10);
  launch(addresses, 8, 32, 4, 0, out.data);
  const std::vector<uint32_t> got = out.download();
  bool own = true;
  for (uint32_t block = 0; block < 8; ++block) {
    std::printf("addresses in block %u:", block);
    for (uint32_t i = 0; i < 10; ++i) std::printf(" %u", got[block * 10 + i]);
    std::printf("\n");
    own &= got[block * 10 + 3] == block % 4 && got[block * 10 + 4] == (block % 4 ^ 1);
  }
  expect(own, "ranks of addresses");
}

// ---- Each other's memory: a histogram whose bins are spread over a cluster, and a ring of sums.

__global__ void histogram(const uint32_t* data, uint32_t n, uint32_t* out, uint32_t bins) {
  extern __shared__ uint32_t mine[];
  const cg::cluster_group cluster = cg::this_cluster();
  const uint32_t each = bins / cluster.num_blocks();
  for (uint32_t i = threadIdx.x; i < each; i += blockDim.x) mine[i] = 0;
  cluster.sync();
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uint32_t bin = data[i] % bins;
    atomicAdd(cluster.map_shared_rank(mine, bin / each) + bin % each, 1);
  }
  cluster.sync();
  const uint32_t first = cluster.block_rank() * each;
  for (uint32_t i = threadIdx.x; i < each; i += blockDim.x) atomicAdd(out + first + i, mine[i]);
}

__global__ void __cluster_dims__(8, 1, 1) ring(uint32_t* out) {
  __shared__ uint32_t words[2][64];
  const cg::cluster_group cluster = cg::this_cluster();
  const uint32_t rank = cluster.block_rank(), next = (rank + 1) % 8;
  uint32_t sum = rank * 1000 + threadIdx.x;
  uint32_t* const there[2] = {cluster.map_shared_rank(words[0], next),
                              cluster.map_shared_rank(words[1], next)};
  words[0][threadIdx.x] = words[1][threadIdx.x] = 0;
  cluster.sync();
  uint32_t passing = sum;
  for (int step = 0; step < 7; ++step) {
    there[step & 1][threadIdx.x] = passing;
    auto token = cluster.barrier_arrive();
    const uint32_t busy = noise(step);  // between arriving and waiting
    cluster.barrier_wait(std::move(token));
    passing = words[step & 1][threadIdx.x];
    sum += passing + (busy & 0);
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

void test_memory() {
  constexpr uint32_t n = 20000, bins = 128;
  std::vector<uint32_t> data(n), expected(bins);
  for (uint32_t i = 0; i < n; ++i) ++expected[(data[i] = noise(i)) % bins];
  const Buffer<uint32_t> in(data), out(bins);
  launch(histogram, 16, 128, 4, bins / 4 * 4, in.data, n, out.data, bins);
  show("a histogram over clusters", out.download());
  expect(out.download() == expected, "is that of the CPU");

  Buffer<uint32_t> sums(16 * 64);
  ring<<<16, 64>>>(sums);
  LAUNCHED();
  show("a ring of eight blocks", sums.download());
  const std::vector<uint32_t> got = sums.download();
  bool ok = true;
  for (uint32_t i = 0; i < got.size(); ++i) ok &= got[i] == 28000 + 8 * (i % 64);
  expect(ok, "every block has the sum of all");
}

// ---- A pipeline between two blocks: the first sends tiles into the second's shared memory, stage by stage,
// and waits on an mbarrier of its own which the second's threads arrive at.

__global__ void __cluster_dims__(2, 1, 1) pipeline(uint32_t* out, int tiles) {
  constexpr int kStages = 3;
  __shared__ uint32_t stage[kStages][64];
  __shared__ uint64_t full[kStages], empty[kStages];
  const uint32_t rank = cg::this_cluster().block_rank();
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) init_mbarrier(full[s], 64), init_mbarrier(empty[s], 64);
  }
  for (int s = 0; s < kStages; ++s) stage[s][threadIdx.x] = 0;
  cluster_sync();
  uint32_t sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const int s = tile % kStages;
    const uint32_t phase = tile / kStages & 1;
    if (rank == 0) {
      if (tile >= kStages) wait_mbarrier(empty[s], phase ^ 1);
      asm volatile(
          "st.shared::cluster.u32 [%0], %1;" ::"r"(map_shared(shared_address(&stage[s][threadIdx.x]), 1)),
          "r"(noise(tile * 64 + threadIdx.x))
          : "memory");
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                       map_shared(shared_address(&full[s]), 1))
                   : "memory");
    } else {
      wait_mbarrier(full[s], phase);
      sum = sum * 3 + stage[s][threadIdx.x ^ 1];
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], 1;" ::"r"(
                       map_shared(shared_address(&empty[s]), 0))
                   : "memory");
    }
  }
  cluster_sync();
  if (rank == 1) out[threadIdx.x] = sum;
}

// The same, one way, with stores that end later: each stage counts bytes.
__global__ void __cluster_dims__(2, 1, 1) asynchronous(uint32_t* out, int tiles) {
  __shared__ __align__(16) uint32_t stage[64][4];
  __shared__ uint64_t full, empty;
  const uint32_t rank = cg::this_cluster().block_rank();
  if (threadIdx.x == 0) init_mbarrier(full, 1), init_mbarrier(empty, 64);
  for (int i = 0; i < 4; ++i) stage[threadIdx.x][i] = 0;
  cluster_sync();
  uint32_t sum = 0;
  const uint32_t mapped = map_shared(shared_address(&stage[threadIdx.x]), 1);
  const uint32_t mapped_full = map_shared(shared_address(&full), 1);
  for (int tile = 0; tile < tiles; ++tile) {
    if (rank == 0) {
      if (tile > 0) wait_mbarrier(empty, tile - 1 & 1);
      const uint32_t a = noise(tile * 64 + threadIdx.x), b = a ^ 0x5a5a5a5a;
      asm volatile(
          "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%0], {%1, %2}, [%3];" ::"r"(
              mapped),
          "r"(a), "r"(b), "r"(mapped_full)
          : "memory");
      asm volatile(
          "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0+8], %1, "
          "[%2];" ::"r"(mapped),
          "r"(a), "r"(mapped_full)
          : "memory");
      asm volatile(
          "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.s32 [%0+12], %1, "
          "[%2];" ::"r"(mapped),
          "r"(a), "r"(mapped_full)
          : "memory");
    } else {
      if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&full)),
                     "r"(64 * 16)
                     : "memory");
      }
      wait_mbarrier(full, tile & 1);
      const uint32_t* const other = stage[threadIdx.x ^ 32];
      sum = sum * 5 + other[0] + 3 * other[1] + 7 * other[2] + 11 * other[3];
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                       map_shared(shared_address(&empty), 0))
                   : "memory");
    }
  }
  cluster_sync();
  if (rank == 1) out[threadIdx.x] = sum;
}

void test_pipelines() {
  constexpr int tiles = 20;
  Buffer<uint32_t> out(64);
  pipeline<<<2, 64>>>(out, tiles);
  LAUNCHED();
  std::vector<uint32_t> expected(64);
  for (uint32_t t = 0; t < 64; ++t) {
    for (int tile = 0; tile < tiles; ++tile) expected[t] = expected[t] * 3 + noise(tile * 64 + (t ^ 1));
  }
  show("a pipeline between blocks", out.download());
  expect(out.download() == expected, "is that of the CPU");

  asynchronous<<<2, 64>>>(out, tiles);
  LAUNCHED();
  for (uint32_t t = 0; t < 64; ++t) {
    expected[t] = 0;
    uint32_t sum = 0;
    int32_t most = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      const uint32_t a = noise(tile * 64 + (t ^ 32));
      sum += a;
      most = std::max(most, static_cast<int32_t>(a));
      expected[t] = expected[t] * 5 + a + 3 * (a ^ 0x5a5a5a5a) + 7 * sum + 11 * static_cast<uint32_t>(most);
    }
  }
  show("a pipeline of asynchronous stores", out.download());
  expect(out.download() == expected, "is that of the CPU");
}

// ---- Registers handed on, and one elected thread.

__global__ void __launch_bounds__(384, 1) registers(uint32_t* out) {
  const uint32_t group = threadIdx.x / 128;
  uint32_t elected, leader;
  asm volatile("{ .reg .pred p; elect.sync %1|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(elected), "=r"(leader));
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    out[threadIdx.x] = elected * 100 + leader;
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    out[threadIdx.x] = group * 1000 + elected * 100 + leader;
  }
}

void test_registers() {
  Buffer<uint32_t> out(384);
  registers<<<1, 384>>>(out);
  LAUNCHED();
  const std::vector<uint32_t> got = out.download();
  std::vector<uint32_t> expected(384);
  for (uint32_t t = 0; t < 384; ++t) expected[t] = t / 128 * 1000 + (t % 32 == 0) * 100;
  show("registers handed on", got);
  expect(got == expected, "in every warp the first thread is elected");
  cudaFuncAttributes attributes;
  CUDA(cudaFuncGetAttributes(&attributes, registers));
  std::printf("registers at entry: %d\n", attributes.numRegs);
}

// ---- A launch that counts clusters.

__block_size__((64, 1, 1), (2, 1, 1)) __global__ void counted_by_clusters(uint32_t* out) {
  const uint32_t rank = cg::this_cluster().block_rank();
  out[blockIdx.x * blockDim.x + threadIdx.x] = rank * 10000 + gridDim.x * 1000 + blockDim.x;
}

void test_counted_by_clusters() {
  Buffer<uint32_t> out(6 * 64);
  counted_by_clusters<<<3, 1>>>(out);
  LAUNCHED();
  show("three clusters of two blocks", out.download());
}

// ---- How many fit.

void test_occupancy() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  cudaLaunchConfig_t config{};
  config.blockDim = 128;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CUDA(cudaFuncSetAttribute(histogram, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
  for (const unsigned size : {1u, 2u, 4u, 8u}) {
    attribute.val.clusterDim.x = size, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = size;
    config.dynamicSmemBytes = 200 * 1024;
    int clusters = 0;
    CUDA(cudaOccupancyMaxActiveClusters(&clusters, histogram, &config));
    std::printf("clusters of %u with 200 KiB each: %s\n", size, clusters > 0 ? "some fit" : "none fits");
  }
  int size = 0;
  CUDA(cudaOccupancyMaxPotentialClusterSize(&size, histogram, &config));
  std::printf("largest cluster: %d\n", size);
  CUDA(cudaFuncSetAttribute(histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CUDA(cudaOccupancyMaxPotentialClusterSize(&size, histogram, &config));
  std::printf("largest cluster that is not portable: %d\n", size);
  config.numAttrs = 0;
  int clusters = 0;
  const cudaError_t without = cudaOccupancyMaxActiveClusters(&clusters, histogram, &config);
  std::printf("without a cluster: %s, %s\n", cudaGetErrorName(without),
              clusters > 0 ? "some fit" : "none fits");
  config.dynamicSmemBytes = 0;
  config.gridDim = 8;
  const cudaError_t own = cudaOccupancyMaxActiveClusters(&clusters, ring, &config);
  std::printf("with __cluster_dims__ only: %s, %s\n", cudaGetErrorName(own),
              clusters > 0 ? "some fit" : "none fits");
  cudaGetLastError();
}

int main() {
  test_identity();
  test_addresses();
  test_memory();
  test_pipelines();
  test_registers();
  test_counted_by_clusters();
  test_occupancy();
  return finish();
}
