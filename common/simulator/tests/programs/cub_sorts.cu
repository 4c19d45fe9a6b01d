// Sorting with CUB: over the device by digits and by merging, and within a block.
#include <algorithm>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_store.cuh>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <numeric>

#include "program.h"

// Calls twice: for the size of the temporary storage, then with it.
template <typename Call>
void with_storage(Call call) {
  size_t bytes = 0;
  CUDA(call(nullptr, bytes));
  Buffer<uint8_t> storage(bytes + 1);
  CUDA(call(storage.data, bytes));
  CUDA(cudaDeviceSynchronize());
}

__global__ void block_sort(const int* in, int* out) {
  using Load = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<int, 128, 4, cub::BLOCK_STORE_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, 128, 4>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Sort::TempStorage sort;
  } storage;
  int items[4];
  Load(storage.load).Load(in + blockIdx.x * 512, items);
  __syncthreads();
  Sort(storage.sort).SortDescending(items);
  __syncthreads();
  Store(storage.store).Store(out + blockIdx.x * 512, items);
}

int main() {
  constexpr int n = 6000;
  std::vector<float> keys(n);
  std::vector<uint32_t> values(n);
  for (int i = 0; i < n; ++i)
    keys[i] = float(int(noise(uint32_t(i)) % 4001) - 2000) * 0.125f, values[i] = uint32_t(i);
  const Buffer<float> dk(keys);
  const Buffer<uint32_t> dv(values);
  Buffer<float> sorted_keys(n);
  Buffer<uint32_t> sorted_values(n);
  with_storage([&](void* storage, size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(storage, bytes, dk.data, sorted_keys.data, dv.data,
                                           sorted_values.data, n);
  });
  std::vector<uint32_t> want = values;
  std::stable_sort(want.begin(), want.end(), [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
  show("radix sort of pairs", sorted_keys.download());
  expect(sorted_values.download() == want, "radix sort of pairs");

  std::vector<unsigned long long> wide(n), sorted(n);
  for (int i = 0; i < n; ++i) wide[i] = noise64(uint32_t(i));
  const Buffer<unsigned long long> dw(wide);
  Buffer<unsigned long long> sorted_wide(n);
  with_storage([&](void* storage, size_t& bytes) {
    return cub::DeviceRadixSort::SortKeysDescending(storage, bytes, dw.data, sorted_wide.data, n, 20, 44);
  });
  sorted = wide;
  std::stable_sort(sorted.begin(), sorted.end(), [](unsigned long long a, unsigned long long b) {
    return (a >> 20 & 0xffffff) > (b >> 20 & 0xffffff);
  });
  show("radix sort of some bits", sorted_wide.download());
  expect(sorted_wide.download() == sorted, "radix sort of some bits");

  std::vector<int> ints(n);
  for (int i = 0; i < n; ++i) ints[i] = int(noise(uint32_t(i + 90000)));
  Buffer<int> di(ints);
  with_storage([&](void* storage, size_t& bytes) {
    return cub::DeviceMergeSort::SortKeys(
        storage, bytes, di.data, n, [] __device__(int a, int b) -> bool { return (a ^ 0x55) < (b ^ 0x55); });
  });
  std::vector<int> merged = ints;
  std::sort(merged.begin(), merged.end(), [](int a, int b) { return (a ^ 0x55) < (b ^ 0x55); });
  show("merge sort", di.download());
  expect(di.download() == merged, "merge sort");

  ints.resize(4 * 512);
  const Buffer<int> in(ints);
  Buffer<int> out(ints.size());
  block_sort<<<4, 128>>>(in, out);
  LAUNCHED();
  for (int b = 0; b < 4; ++b)
    std::sort(ints.begin() + b * 512, ints.begin() + (b + 1) * 512, std::greater<int>());
  show("block sort", out.download());
  expect(out.download() == ints, "block sort");
  return finish();
}
