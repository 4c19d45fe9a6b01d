// Cooperative groups: tiles, coalesced threads, partitions, reductions and scans of a group, and a grid that
// synchronises.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <utility>

#include "program.h"

namespace cg = cooperative_groups;

template <int kSize>
__device__ int tile_results(cg::thread_block block, int v, int* out) {
  const cg::thread_block_tile<kSize> tile = cg::tiled_partition<kSize>(block);
  int r = 0;
  for (int offset = tile.size() / 2; offset > 0; offset /= 2) r += tile.shfl_down(v, offset) * offset;
  r += tile.shfl(v, 0) + tile.shfl_xor(v, 1) * 3 + tile.shfl_up(v, 1) * 5;
  r += int(tile.ballot(v & 1)) + tile.any(v % 7 == 0) * 11 + tile.all(v % 7) * 13;
  r += int(tile.match_any(v % 3)) ^
       int(tile.thread_rank() * 100 + tile.meta_group_rank() + tile.meta_group_size() * 7);
  tile.sync();
  out[block.thread_rank()] = r;
  return cg::reduce(tile, v, cg::plus<int>());
}

__global__ void tiles(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const int v = int(noise(block.thread_rank()) % 1000), n = int(block.size());
  int sum = 0;
  sum += tile_results<32>(block, v, out);
  sum += tile_results<16>(block, v, out + n) * 3;
  sum += tile_results<4>(block, v, out + 2 * n) * 5;
  sum += tile_results<2>(block, v, out + 3 * n) * 7;
  const auto tile = cg::tiled_partition<8>(block);
  sum += cg::reduce(tile, v, cg::less<int>()) + cg::reduce(tile, v, cg::greater<int>()) * 2;
  sum += cg::reduce(tile, v, cg::bit_xor<int>()) + int(cg::reduce(tile, float(v), cg::plus<float>()));
  sum += cg::inclusive_scan(tile, v, cg::plus<int>()) + cg::exclusive_scan(tile, v, cg::plus<int>()) * 3;
  out[4 * n + int(block.thread_rank())] = sum;
}

// What is left of a warp in a branch is a group too.
__global__ void coalesced(int* out, int* counter) {
  const int t = int(threadIdx.x), v = int(noise(uint32_t(t)) % 100);
  int r = -1;
  if (v % 3 != 0) {
    const cg::coalesced_group active = cg::coalesced_threads();
    int base = 0;
    if (active.thread_rank() == 0) base = atomicAdd(counter, int(active.size()));  // one for all
    base = active.shfl(base, 0);
    r = int(active.thread_rank()) + int(active.size()) * 100 + cg::reduce(active, v, cg::plus<int>()) * 10000;
    if (base < 0) r = -2;
  }
  out[t] = r;
  const cg::coalesced_group warp = cg::coalesced_threads();
  const auto by_label = cg::labeled_partition(warp, v % 4);
  out[64 + t] =
      int(by_label.size()) * 1000 + int(by_label.thread_rank()) + cg::reduce(by_label, 1, cg::plus<int>());
  const auto by_half = cg::binary_partition(warp, v > 50);
  out[128 + t] = int(by_half.size()) * 64 + int(by_half.thread_rank());
}

__global__ void whole_block(const int* in, int* out) {
  __shared__ int staged[128];
  const cg::thread_block block = cg::this_thread_block();
  staged[block.thread_rank()] = in[block.group_index().x * 128 + block.thread_rank()];
  block.sync();
  const int v = staged[127 - block.thread_rank()];
  block.sync();
  staged[block.thread_rank()] = v * 2;
  auto token = block.barrier_arrive();
  block.barrier_wait(std::move(token));
  out[block.group_index().x * 128 + block.thread_index().x] = staged[(block.thread_rank() + 1) % 128];
}

// Every block needs all of the others' results, six times over.
__global__ void whole_grid(unsigned* a, unsigned* b, unsigned* sizes) {
  const cg::grid_group grid = cg::this_grid();
  const unsigned n = unsigned(grid.size()), i = unsigned(grid.thread_rank());
  for (unsigned round = 0; round < 6; ++round) {
    const unsigned* from = round % 2 ? b : a;
    unsigned* to = round % 2 ? a : b;
    to[i] = from[(i + 101) % n] * 5 + from[(i * 3 + round) % n];
    grid.sync();
  }
  if (i == 0) sizes[0] = n, sizes[1] = unsigned(grid.num_blocks()), sizes[2] = unsigned(grid.is_valid());
}

int main() {
  constexpr int n = 128;
  Buffer<int> out(5 * n);
  tiles<<<1, n>>>(out);
  LAUNCHED();
  const std::vector<int> got = out.download();
  for (int k = 0; k < 5; ++k) {
    std::printf("tiles %d, ", k);
    show("", &got[k * n], n, 8);
  }

  Buffer<int> grouped(192), counter(1);
  coalesced<<<1, 64>>>(grouped, counter);
  LAUNCHED();
  const std::vector<int> parts = grouped.download();
  int active = 0, labels = 0;
  for (int t = 0; t < 64; ++t) active += noise(uint32_t(t)) % 100 % 3 != 0, labels += parts[64 + t] >= 1000;
  for (int k = 0; k < 3; ++k) {
    std::printf("coalesced %d, ", k);
    show("", &parts[k * 64], 64, 64);
  }
  expect(counter.download()[0] == active && labels == 64, "coalesced");

  std::vector<int> in(4 * 128), want(in.size());
  for (int i = 0; i < 512; ++i) in[i] = int(noise(uint32_t(i)));
  for (int i = 0; i < 512; ++i) want[i] = int(2u * unsigned(in[i / 128 * 128 + 127 - (i + 1) % 128]));
  const Buffer<int> device_in(in);
  Buffer<int> staged(512);
  whole_block<<<4, 128>>>(device_in, staged);
  LAUNCHED();
  show("block", staged.download());
  expect(staged.download() == want, "block");

  constexpr unsigned blocks = 12, threads = 96, total = blocks * threads;
  std::vector<unsigned> a(total), b(total);
  for (unsigned i = 0; i < total; ++i) a[i] = noise(i);
  Buffer<unsigned> device_a(a), device_b(b), sizes(3);
  unsigned *pa = device_a, *pb = device_b, *ps = sizes;
  void* arguments[] = {&pa, &pb, &ps};
  int supported = 0;
  CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
  expect(supported == 1, "cooperative launches");
  CUDA(cudaLaunchCooperativeKernel(whole_grid, dim3(blocks), dim3(threads), arguments, 0, nullptr));
  LAUNCHED();
  for (unsigned round = 0; round < 6; ++round) {
    const std::vector<unsigned>& from = round % 2 ? b : a;
    std::vector<unsigned>& to = round % 2 ? a : b;
    for (unsigned i = 0; i < total; ++i) to[i] = from[(i + 101) % total] * 5 + from[(i * 3 + round) % total];
  }
  show("grid", device_a.download());
  show("grid's size", sizes.download());
  expect(device_a.download() == a, "grid");
  return finish();
}
