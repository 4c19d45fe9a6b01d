// A rung that does not take every shape, and has a variant that is not always right, for cli_test's suite
// Refusing.
#include "common/extension.h"

namespace ladder {
namespace {

Text whole_vectors(const Gemm& p) {
  return p.n % 8 == 0 && p.k % 8 == 0 ? "" : "n and k must be multiples of 8";
}
Text whole_tiles(const Gemm& p) {
  return p.m % 16 == 0 && p.n % 16 == 0 && p.k % 16 == 0 ? "" : "only whole tiles";
}
Text tall(const Gemm& p) {
  return p.m <= 24 ? "only tall ones" : whole_vectors(p);
}
template <class Problem>
Text nothing(const Problem&) {
  return "not today";
}

__global__ void one_element_per_thread(Gemm p) {
  const int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= p.n) return;
  float sum = 0;
  for (int k = 0; k < p.k; ++k)
    sum +=
        __bfloat162float(p.a[std::size_t(row) * p.k + k]) * __bfloat162float(p.b[std::size_t(k) * p.n + col]);
  p.c[std::size_t(row) * p.n + col] = __float2bfloat16_rn(sum);
}

cudaError_t gemm(const Gemm& p, cudaStream_t stream) {
  one_element_per_thread<<<dim3((p.n + 127) / 128, p.m), 128, 0, stream>>>(p);
  return cudaGetLastError();
}
// Leaves out the last row, once.
cudaError_t gemm_that_slips(const Gemm& p, cudaStream_t stream) {
  static int launches = 0;
  Gemm most = p;
  if (++launches == 40) --most.m;
  return gemm(most, stream);
}
cudaError_t never(const FusedNorm&, cudaStream_t) {
  return cudaErrorInvalidValue;
}

constexpr Extension<Gemm> f16{.precision = Precision::f16};

}  // namespace

const Rung& rung() {
  static const Rung r{
      .name = "refusing",
      .title = "takes what it likes",
      .needs = {8, 0, Compatibility::newer},
      .gemm = {{"typed", "of another type", nothing, gemm, false, nullptr, &f16},
               {"slips", "its 40th launch is wrong", tall, gemm_that_slips},
               {"whole_tiles", "multiples of 16", whole_tiles, gemm},
               {"rung", "n and k multiples of 8", whole_vectors, gemm}},
      .fused_norm = {{"no", "nothing", nothing, never}, {"rung", "nothing, either", nothing, never}},
  };
  return r;
}

}  // namespace ladder
