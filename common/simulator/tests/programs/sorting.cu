// Sums, scans, histograms and sorting by hand.
#include <algorithm>
#include <numeric>

#include "program.h"

template <typename T, int kThreads>
__global__ void reduce(const T* in, T* out, int n) {  // unrolled at the end
  __shared__ T sums[kThreads];
  T sum = 0;
  for (int i = int(blockIdx.x) * kThreads + int(threadIdx.x); i < n; i += int(gridDim.x) * kThreads)
    sum += in[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
#pragma unroll
  for (int stride = kThreads / 2; stride >= 32; stride /= 2) {
    if (int(threadIdx.x) < stride) sums[threadIdx.x] = sum = sum + sums[threadIdx.x + stride];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

// Up and down a tree in shared memory, each block its 256 values; then the blocks' sums.
__global__ void scan_blocks(const uint32_t* in, uint32_t* out, uint32_t* sums, int n) {
  __shared__ uint32_t tree[256];
  const int t = int(threadIdx.x), first = int(blockIdx.x) * 256;
  for (int k = t; k < 256; k += 128) tree[k] = first + k < n ? in[first + k] : 0;
  for (int stride = 1; stride < 256; stride *= 2) {
    __syncthreads();
    const int i = (t + 1) * stride * 2 - 1;
    if (i < 256) tree[i] += tree[i - stride];
  }
  __syncthreads();
  if (t == 0) sums[blockIdx.x] = tree[255], tree[255] = 0;
  for (int stride = 128; stride > 0; stride /= 2) {
    __syncthreads();
    const int i = (t + 1) * stride * 2 - 1;
    if (i < 256) {
      const uint32_t left = tree[i - stride];
      tree[i - stride] = tree[i];
      tree[i] += left;
    }
  }
  __syncthreads();
  for (int k = t; k < 256; k += 128)
    if (first + k < n) out[first + k] = tree[k];
}
__global__ void add_sums(uint32_t* out, const uint32_t* sums, int n) {
  const int i = int(blockIdx.x * 256 + threadIdx.x);
  if (i < n) out[i] += sums[blockIdx.x];
}
// Exclusive; n up to 65536.
void scan(const uint32_t* in, uint32_t* out, int n) {
  const int blocks = (n + 255) / 256;
  const size_t count = size_t(blocks);
  Buffer<uint32_t> sums(count), scanned(count), total(1);
  scan_blocks<<<blocks, 128>>>(in, out, sums, n);
  scan_blocks<<<1, 128>>>(sums, scanned, total, blocks);
  add_sums<<<blocks, 256>>>(out, scanned, n);
  LAUNCHED();
}

__global__ void histogram(const uint8_t* in, int n, unsigned* bins) {
  __shared__ unsigned local[256];
  for (int i = int(threadIdx.x); i < 256; i += int(blockDim.x)) local[i] = 0;
  __syncthreads();
  for (int i = int(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += int(gridDim.x * blockDim.x))
    atomicAdd(&local[in[i]], 1u);
  __syncthreads();
  for (int i = int(threadIdx.x); i < 256; i += int(blockDim.x))
    if (local[i]) atomicAdd(&bins[i], local[i]);
}

template <typename T>
__global__ void bitonic(T* data) {  // 512 values a block
  __shared__ T values[512];
  const uint32_t t = threadIdx.x;
  for (uint32_t k = t; k < 512; k += 256) values[k] = data[blockIdx.x * 512 + k];
  for (uint32_t size = 2; size <= 512; size *= 2)
    for (uint32_t stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const uint32_t i = 2 * t - (t & (stride - 1)), j = i + stride;
      const bool up = (i & size) == 0;
      const T a = values[i], b = values[j];
      if ((b < a) == up) values[i] = b, values[j] = a;
    }
  __syncthreads();
  for (uint32_t k = t; k < 512; k += 256) data[blockIdx.x * 512 + k] = values[k];
}

// Two bits a pass: flags, a scan, and every value to its place.
__global__ void flags(const uint32_t* in, uint32_t* counts, int n, int shift) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const uint32_t digit = in[i] >> shift & 3;
  for (uint32_t d = 0; d < 4; ++d) counts[d * uint32_t(n) + uint32_t(i)] = digit == d;
}
__global__ void scatter(const uint32_t* in, const uint32_t* places, uint32_t* out, int n, int shift) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[places[(in[i] >> shift & 3) * uint32_t(n) + uint32_t(i)]] = in[i];
}

// Pairs of neighbours, over global memory.
__global__ void odd_even(int* data, int n, int parity) {
  const int i = 2 * int(blockIdx.x * blockDim.x + threadIdx.x) + parity;
  if (i + 1 < n && data[i] > data[i + 1]) {
    const int t = data[i];
    data[i] = data[i + 1];
    data[i + 1] = t;
  }
}

// Merging sorted runs: each thread finds where its value goes by bisection.
__global__ void merge_runs(const int* in, int* out, int n, int run) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const int pair = i / (2 * run) * 2 * run, middle = min(pair + run, n), end = min(pair + 2 * run, n);
  const bool left = i < middle;
  int low = left ? middle : pair, high = left ? end : middle;
  const int start = low, value = in[i];
  while (low < high) {
    const int m = (low + high) / 2;
    if (left ? in[m] < value : in[m] <= value)
      low = m + 1;
    else
      high = m;
  }
  out[pair + (left ? i - pair : i - middle) + (low - start)] = value;
}

int main() {
  constexpr int n = 10007;
  std::vector<int> ints(n);
  std::vector<double> doubles(n);
  for (int i = 0; i < n; ++i)
    ints[i] = int(noise(uint32_t(i)) % 2000001) - 1000000, doubles[i] = ints[i] * 0.5;
  const Buffer<int> di(ints);
  const Buffer<double> dd(doubles);
  Buffer<int> int_sums(6);
  Buffer<double> double_sums(6);
  reduce<int, 256><<<6, 256>>>(di, int_sums, n);
  reduce<double, 64><<<6, 64>>>(dd, double_sums, n);
  LAUNCHED();
  long long sum = 0, total = 0;
  double double_sum = 0;
  for (int x : ints) sum += x;
  for (int x : int_sums.download()) total += x;
  for (double x : double_sums.download()) double_sum += x;
  show("sums", double_sums.download(), 6);
  expect(sum == total && double_sum == double(sum) * 0.5, "sums");

  std::vector<uint32_t> values(n), scanned(n);
  for (int i = 0; i < n; ++i) values[i] = noise(uint32_t(i)) % 1000;
  std::exclusive_scan(values.begin(), values.end(), scanned.begin(), 0u);
  const Buffer<uint32_t> dv(values);
  Buffer<uint32_t> ds(n);
  scan(dv, ds, n);
  show("scan", ds.download());
  expect(ds.download() == scanned, "scan");

  std::vector<uint8_t> bytes(40000);
  std::vector<unsigned> bins(256);
  for (size_t i = 0; i < bytes.size(); ++i)
    ++bins[bytes[i] = uint8_t(noise(uint32_t(i)) % 40 * (noise(uint32_t(i + 1)) % 6))];
  const Buffer<uint8_t> db(bytes);
  Buffer<unsigned> dh(256);
  histogram<<<5, 192>>>(db, int(bytes.size()), dh);
  LAUNCHED();
  show("histogram", dh.download());
  expect(dh.download() == bins, "histogram");

  std::vector<float> floats(512 * 3);
  for (size_t i = 0; i < floats.size(); ++i) floats[i] = float(int(noise(uint32_t(i)))) * 0.25f;
  Buffer<float> df(floats);
  bitonic<<<3, 256>>>(df.data);
  LAUNCHED();
  for (int b = 0; b < 3; ++b) std::sort(floats.begin() + b * 512, floats.begin() + (b + 1) * 512);
  show("bitonic", df.download());
  expect(df.download() == floats, "bitonic");

  constexpr int small = 3001;
  std::vector<uint32_t> keys(small);
  for (int i = 0; i < small; ++i) keys[i] = noise(uint32_t(i)) & 0xffff;
  Buffer<uint32_t> a(keys), b(small), counts(4 * small), places(4 * small);
  for (int shift = 0; shift < 16; shift += 2) {
    const Buffer<uint32_t>&from = shift % 4 ? b : a, &to = shift % 4 ? a : b;
    flags<<<(small + 127) / 128, 128>>>(from, counts, small, shift);
    scan(counts, places, 4 * small);
    scatter<<<(small + 127) / 128, 128>>>(from, places, to, small, shift);
    LAUNCHED();
  }
  std::sort(keys.begin(), keys.end());
  show("radix", a.download());
  expect(a.download() == keys, "radix");

  constexpr int few = 150;
  std::vector<int> list(ints.begin(), ints.begin() + few);
  Buffer<int> dl(list);
  for (int k = 0; k < few; ++k) odd_even<<<1, 96>>>(dl, few, k % 2);
  LAUNCHED();
  std::sort(list.begin(), list.end());
  expect(dl.download() == list, "odd-even");

  Buffer<int> x(ints), y(n);
  int run = 1, passes = 0;
  for (; run < n; run *= 2, ++passes)
    merge_runs<<<(n + 127) / 128, 128>>>(passes % 2 ? y : x, passes % 2 ? x : y, n, run);
  LAUNCHED();
  std::sort(ints.begin(), ints.end());
  const std::vector<int> merged = (passes % 2 ? y : x).download();
  show("merge", merged);
  expect(merged == ints, "merge");
  return finish();
}
