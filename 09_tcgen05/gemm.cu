// The designs of kernel.cuh that are launched, in bf16 and in the precisions of quantise.cu.
#include "09_tcgen05/kernel.cuh"
#include "09_tcgen05/variants.h"

namespace ladder::rung_09 {
namespace {

constexpr Design one_stage{.ctas = 1, .stages = 1, .specialized = false, .schedule = Schedule::one_tile};
constexpr Design pipelined{.ctas = 1, .stages = 4, .specialized = false, .schedule = Schedule::one_tile};
constexpr Design warp_specialized{.ctas = 1, .stages = 4, .schedule = Schedule::one_tile};
constexpr Design two_ctas{.schedule = Schedule::one_tile};
constexpr Design persistent{.schedule = Schedule::persistent};

}  // namespace

std::string rows_of_vectors(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8: a tensor map's rows are multiples of 16 bytes";
}
template <Precision precision>
std::string whole_blocks(const Gemm& p) {
  constexpr int block = QuantisedLayout(precision, 1, 64).block;
  if (p.n % 8 == 0 && p.k % (block ? block : 8) == 0) return {};
  return "n must be a multiple of 8" +
         (block ? ", k of " + std::to_string(block) + ": so many elements share a scale"
                : " and k too: a tensor map's rows are multiples of 16 bytes");
}
template std::string whole_blocks<Precision::fp8>(const Gemm&);
template std::string whole_blocks<Precision::mxfp8>(const Gemm&);
template std::string whole_blocks<Precision::nvfp4>(const Gemm&);

cudaError_t gemm_one_stage(const Gemm& p, cudaStream_t stream) {
  return launch<one_stage>(p, stream);
}
cudaError_t gemm_pipelined(const Gemm& p, cudaStream_t stream) {
  return launch<pipelined>(p, stream);
}
cudaError_t gemm_warp_specialized(const Gemm& p, cudaStream_t stream) {
  return launch<warp_specialized>(p, stream);
}
cudaError_t gemm_two_ctas(const Gemm& p, cudaStream_t stream) {
  return launch<two_ctas>(p, stream);
}
cudaError_t gemm_persistent(const Gemm& p, cudaStream_t stream) {
  return launch<persistent>(p, stream);
}
cudaError_t gemm_launch_control(const Gemm& p, cudaStream_t stream) {
  return launch<Design{}>(p, stream);
}
cudaError_t gemm_fp8(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.precision = Precision::fp8}>(p, stream);
}
cudaError_t gemm_mxfp8(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.precision = Precision::mxfp8, .stages = 5}>(p, stream);
}
cudaError_t gemm_nvfp4(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.precision = Precision::nvfp4, .stages = 5}>(p, stream);
}

}  // namespace ladder::rung_09
