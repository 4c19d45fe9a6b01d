// Thrust, as a program would use it.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include <algorithm>
#include <numeric>

#include "program.h"

struct Square {
  __host__ __device__ long long operator()(int x) const { return static_cast<long long>(x) * x; }
};
struct Odd {
  __host__ __device__ bool operator()(int x) const { return x & 1; }
};
struct Axpy {
  float a;
  __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};

int main() {
  constexpr int n = 5000;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = int(noise(uint32_t(i)) % 3000) - 1500;
  const thrust::device_vector<int> values(host.begin(), host.end());

  thrust::device_vector<int> sorted = values;
  thrust::sort(sorted.begin(), sorted.end());
  std::vector<int> want = host, got(n);
  std::sort(want.begin(), want.end());
  thrust::copy(sorted.begin(), sorted.end(), got.begin());
  show("sort", got);
  expect(got == want, "sort");

  thrust::device_vector<int> order(n);
  thrust::copy(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n), order.begin());
  thrust::device_vector<int> keys = values;
  thrust::stable_sort_by_key(keys.begin(), keys.end(), order.begin());
  std::vector<int> index(n);
  std::iota(index.begin(), index.end(), 0);
  std::stable_sort(index.begin(), index.end(), [&](int a, int b) { return host[a] < host[b]; });
  thrust::copy(order.begin(), order.end(), got.begin());
  show("sort by key", got);
  expect(got == index, "sort by key");

  const int sum = thrust::reduce(values.begin(), values.end());
  const long long squares =
      thrust::transform_reduce(values.begin(), values.end(), Square(), 0ll, thrust::plus<long long>());
  long long want_squares = 0;
  for (int x : host) want_squares += Square()(x);
  std::printf("reduce: %d, squares: %lld\n", sum, squares);
  expect(sum == std::accumulate(host.begin(), host.end(), 0) && squares == want_squares, "reduce");

  thrust::device_vector<int> scanned(n);
  thrust::inclusive_scan(values.begin(), values.end(), scanned.begin());
  std::partial_sum(host.begin(), host.end(), want.begin());
  thrust::copy(scanned.begin(), scanned.end(), got.begin());
  show("inclusive scan", got);
  expect(got == want, "inclusive scan");

  const auto last = thrust::unique(sorted.begin(), sorted.end());
  want = host;
  std::sort(want.begin(), want.end());
  want.erase(std::unique(want.begin(), want.end()), want.end());
  got.resize(size_t(last - sorted.begin()));
  thrust::copy(sorted.begin(), last, got.begin());
  show("unique", got);
  expect(got == want, "unique");

  thrust::device_vector<int> odd(n);
  const auto end = thrust::copy_if(values.begin(), values.end(), odd.begin(), Odd());
  want.clear();
  std::copy_if(host.begin(), host.end(), std::back_inserter(want), Odd());
  got.resize(size_t(end - odd.begin()));
  thrust::copy(odd.begin(), end, got.begin());
  show("copy if", got);
  expect(got == want, "copy if");

  thrust::device_vector<float> x(n), y(n, 0.5f);
  thrust::transform(values.begin(), values.end(), x.begin(),
                    [] __host__ __device__(int v) { return float(v) * 0.25f; });
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), Axpy{2});
  std::vector<float> floats(n);
  thrust::copy(y.begin(), y.end(), floats.begin());
  bool ok = true;
  for (int i = 0; i < n; ++i) ok &= floats[i] == host[i] * 0.5f + 0.5f;
  show("transform", floats);
  expect(ok, "transform");
  return finish();
}
