// CUB's reductions, scans, histograms and selections, over the device, a block and a warp.
#include <algorithm>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <numeric>

#include "program.h"

template <typename Call>
void with_storage(Call call) {
  size_t bytes = 0;
  CUDA(call(nullptr, bytes));
  Buffer<uint8_t> storage(bytes + 1);
  CUDA(call(storage.data, bytes));
  CUDA(cudaDeviceSynchronize());
}

__global__ void in_block(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, 128>;
  using Scan = cub::BlockScan<int, 128, cub::BLOCK_SCAN_RAKING>;
  using Exchange = cub::BlockExchange<int, 128, 2>;
  using Heads = cub::BlockDiscontinuity<int, 128>;
  using WarpScan = cub::WarpScan<int>;
  using WarpReduce = cub::WarpReduce<int, 16>;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
    typename Exchange::TempStorage exchange;
    typename Heads::TempStorage heads;
    typename WarpScan::TempStorage warp_scan[4];
    typename WarpReduce::TempStorage warp_reduce[8];
  } s;
  const int t = int(threadIdx.x);
  int items[2] = {in[t * 2], in[t * 2 + 1]};
  const int sum = Reduce(s.reduce).Sum(items[0]);
  __syncthreads();
  const int most = Reduce(s.reduce).Reduce(
      items[1], [](int a, int b) { return a > b ? a : b; }, 100);
  __syncthreads();
  int before, total;
  Scan(s.scan).ExclusiveSum(items[0], before, total);
  __syncthreads();
  Exchange(s.exchange).BlockedToStriped(items);
  __syncthreads();
  int head[1], item[1] = {items[0] / 100};
  Heads(s.heads).FlagHeads(head, item, [](int a, int b) { return a != b; });
  __syncthreads();
  int running;
  WarpScan(s.warp_scan[t / 32]).InclusiveSum(items[1], running);
  __syncthreads();
  const int least =
      WarpReduce(s.warp_reduce[t / 16]).Reduce(items[0], [](int a, int b) { return a < b ? a : b; });
  out[t] = before;
  out[128 + t] = total;
  out[256 + t] = head[0];
  out[384 + t] = running;
  out[512 + t] = t % 16 == 0 ? least : 0;
  if (t == 0) out[640] = sum, out[641] = most;
}

int main() {
  constexpr int n = 7000;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = int(noise(uint32_t(i / 3)) % 1000);
  const Buffer<int> in(host);
  Buffer<int> out(n), lengths(n), count(1);

  with_storage(
      [&](void* s, size_t& bytes) { return cub::DeviceReduce::Sum(s, bytes, in.data, out.data, n); });
  expect(out.download()[0] == std::accumulate(host.begin(), host.end(), 0), "sum");
  Buffer<cub::KeyValuePair<int, int>> pair(1);
  Buffer<int> least(1);
  Buffer<long long> where(1);
  with_storage([&](void* s, size_t& bytes) {
    return cub::DeviceReduce::ArgMin(s, bytes, in.data, least.data, where.data, n);
  });
  const auto smallest = std::min_element(host.begin(), host.end());
  expect(least.download()[0] == *smallest && where.download()[0] == smallest - host.begin(),
         "least and where");

  with_storage(
      [&](void* s, size_t& bytes) { return cub::DeviceScan::ExclusiveSum(s, bytes, in.data, out.data, n); });
  std::vector<int> want(n);
  std::exclusive_scan(host.begin(), host.end(), want.begin(), 0);
  show("exclusive sum", out.download());
  expect(out.download() == want, "exclusive sum");

  Buffer<int> bins(20);
  with_storage([&](void* s, size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(s, bytes, in.data, bins.data, 21, 0, 1000, n);
  });
  std::vector<int> want_bins(20);
  for (int x : host) ++want_bins[x / 50];
  show("histogram", bins.download(), 20);
  expect(bins.download() == want_bins, "histogram");

  with_storage([&](void* s, size_t& bytes) {
    return cub::DeviceSelect::If(s, bytes, in.data, out.data, count.data, n,
                                 [] __device__(int x) -> bool { return x % 3 == 0; });
  });
  want.clear();
  std::copy_if(host.begin(), host.end(), std::back_inserter(want), [](int x) { return x % 3 == 0; });
  std::vector<int> got = out.download();
  got.resize(size_t(count.download()[0]));
  show("select", got);
  expect(got == want, "select");

  with_storage([&](void* s, size_t& bytes) {
    return cub::DeviceRunLengthEncode::Encode(s, bytes, in.data, out.data, lengths.data, count.data, n);
  });
  std::vector<int> values, runs;
  for (int x : host) {
    if (values.empty() || values.back() != x) values.push_back(x), runs.push_back(0);
    ++runs.back();
  }
  got = out.download();
  got.resize(size_t(count.download()[0]));
  std::vector<int> got_runs = lengths.download();
  got_runs.resize(got.size());
  show("run lengths", got_runs);
  expect(got == values && got_runs == runs, "run lengths");

  std::vector<int> offsets = {0};
  while (offsets.back() < n)
    offsets.push_back(std::min(n, offsets.back() + int(noise(uint32_t(offsets.size())) % 300)));
  const int segments = int(offsets.size()) - 1;
  const Buffer<int> device_offsets(offsets);
  Buffer<int> maxima(offsets.size());
  with_storage([&](void* s, size_t& bytes) {
    return cub::DeviceSegmentedReduce::Max(s, bytes, in.data, maxima.data, segments, device_offsets.data,
                                           device_offsets.data + 1);
  });
  got = maxima.download();
  bool ok = true;
  for (int k = 0; k < segments; ++k)
    if (offsets[k] < offsets[k + 1])
      ok &= got[k] == *std::max_element(host.begin() + offsets[k], host.begin() + offsets[k + 1]);
  show("segments", got);
  expect(ok, "segments");

  Buffer<int> parts(642);
  in_block<<<1, 128>>>(in, parts);
  LAUNCHED();
  got = parts.download();
  int before = 0, most = 0;
  ok = true;
  for (int t = 0; t < 100; ++t) most = std::max(most, host[t * 2 + 1]);
  for (int t = 0; t < 128; ++t) ok &= got[t] == before, before += host[t * 2];
  show("block and warp", got);
  expect(ok && got[128] == before && got[640] == before && got[641] == most, "block and warp");
  return finish();
}
