// nvcuda::wmma: matrices loaded, multiplied and stored by a warp, from global and shared memory, in rows and
// columns, with strides.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <string>

#include "program.h"

using namespace nvcuda;

// What an element type is in memory, and a number of it.
template <class T>
struct Memory {
  using type = T;
  static type from(float value) { return T(value); }
};
template <>
struct Memory<wmma::precision::tf32> {
  using type = float;
  static float from(float value) { return value; }
};

template <class Fragment, class T, class Out>
__device__ void look_at(const Fragment& fragment, Out* out) {
  for (int i = 0; i < fragment.num_elements; ++i) out[i * 32 + threadIdx.x] = Out(T(fragment.x[i]));
}

// elements: of every fragment, as the lanes hold it: A's, then B's, then D's, 16 each at most.
template <int m, int n, int k, class T, class Sum, class LayoutA, class LayoutB, bool row_d>
__global__ void multiply(const typename Memory<T>::type* a, int stride_a, const typename Memory<T>::type* b,
                         int stride_b, const Sum* c, int stride_c, Sum* d, float* elements, bool in_shared) {
  using In = typename Memory<T>::type;
  __shared__ alignas(32) In left[2048], right[2048];
  __shared__ alignas(32) Sum result[2048];
  if (in_shared) {
    for (int i = threadIdx.x; i < 2048; i += 32) left[i] = a[i], right[i] = b[i], result[i] = c[i];
    __syncwarp();
  }
  wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> x;
  wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> y;
  wmma::fragment<wmma::accumulator, m, n, k, Sum> z;
  const auto order = row_d ? wmma::mem_row_major : wmma::mem_col_major;
  if (in_shared) {
    wmma::load_matrix_sync(x, left, stride_a);
    wmma::load_matrix_sync(y, right, stride_b);
    wmma::load_matrix_sync(z, result, stride_c, order);
  } else {
    wmma::load_matrix_sync(x, a, stride_a);
    wmma::load_matrix_sync(y, b, stride_b);
    wmma::load_matrix_sync(z, c, stride_c, order);
  }
  look_at<decltype(x), In>(x, elements);
  look_at<decltype(y), In>(y, elements + 512);
  wmma::mma_sync(z, x, y, z);
  look_at<decltype(z), Sum>(z, elements + 1024);
  for (int i = 0; i < z.num_elements; ++i) z.x[i] = z.x[i] + z.x[i];
  if (in_shared) {
    wmma::store_matrix_sync(result, z, stride_c, order);
    __syncwarp();
    for (int i = threadIdx.x; i < 2048; i += 32) d[i] = result[i];
  } else {
    wmma::store_matrix_sync(d, z, stride_c, order);
  }
}

// exact: small integers; otherwise numbers whose sums round.
template <int m, int n, int k, class T, class Sum, class LayoutA, class LayoutB, bool row_d>
void one(const std::string& name, bool exact, bool in_shared) {
  using In = typename Memory<T>::type;
  std::vector<In> a(2048), b(2048);
  std::vector<Sum> c(2048);
  for (uint32_t i = 0; i < 2048; ++i) {
    const auto value = [&](uint32_t seed) {
      const int random = int(noise(seed + i) >> 8 & 0xffff) - 32768;
      return exact ? float(random >> 12) : float(random) * 0x1p-13f;
    };
    a[i] = Memory<T>::from(value(0));
    b[i] = Memory<T>::from(value(10000));
    c[i] = Sum(value(20000));
  }
  constexpr bool row_a = std::is_same_v<LayoutA, wmma::row_major>,
                 row_b = std::is_same_v<LayoutB, wmma::row_major>;
  const int stride_a = (row_a ? k : m) + 16, stride_b = (row_b ? n : k) + 32, stride_c = (row_d ? n : m) + 16;
  Buffer<In> left(a), right(b);
  Buffer<Sum> start(c), d(2048);
  Buffer<float> elements(1536);
  multiply<m, n, k, T, Sum, LayoutA, LayoutB, row_d>
      <<<1, 32>>>(left, stride_a, right, stride_b, start, stride_c, d, elements, in_shared);
  LAUNCHED();
  const std::vector<float> held = elements.download();
  const std::string full = name + (exact ? ", exact" : ", rounded") + (in_shared ? ", shared" : ", global") +
                           (row_a ? ", row" : ", col") + (row_b ? " row" : " col") +
                           (row_d ? " row" : " col");
  show((full + ", A").c_str(), held.data(), 512, exact ? 16 : 4);
  show((full + ", B").c_str(), held.data() + 512, 512, exact ? 16 : 4);
  show((full + ", sums").c_str(), held.data() + 1024, 512, exact ? 16 : 4);
  show((full + ", D").c_str(), d.download(), 8);
}

template <int m, int n, int k, class T, class Sum>
void all(const std::string& name) {
  using Row = wmma::row_major;
  using Column = wmma::col_major;
  one<m, n, k, T, Sum, Row, Column, true>(name, true, false);
  one<m, n, k, T, Sum, Row, Column, true>(name, false, true);
  if constexpr (!std::is_same_v<T, double>) {
    one<m, n, k, T, Sum, Column, Row, false>(name, true, true);
    one<m, n, k, T, Sum, Column, Row, false>(name, false, false);
  } else {
    one<m, n, k, T, Sum, Column, Row, false>(name, true, false);
  }
}

template <class T, class Sum>
void three_shapes(const std::string& name) {
  all<16, 16, 16, T, Sum>(name + " m16n16k16");
  all<32, 8, 16, T, Sum>(name + " m32n8k16");
  all<8, 32, 16, T, Sum>(name + " m8n32k16");
}

int main() {
  three_shapes<half, float>("f16");
  three_shapes<half, half>("f16 in f16");
  three_shapes<__nv_bfloat16, float>("bf16");
  three_shapes<signed char, int>("s8");
  three_shapes<unsigned char, int>("u8");
  all<16, 16, 8, wmma::precision::tf32, float>("tf32 m16n16k8");
  all<8, 8, 4, double, double>("f64 m8n8k4");
  return finish();
}
