// A norm_gemm is timed beside the same in two steps: the rung's own fused_norm, and then its gemm or
// cuBLAS's. A file of its own: it needs a rung, and not every program has one.
#include <memory>
#include <string>

#include "common/harness/backend/device_buffer.h"
#include "common/harness/problems/gemm/cublas.h"
#include "common/harness/problems/norm_gemm/problem.h"

namespace ladder {

Baselines baselines(const Variant<NormGemm>&, const std::vector<NormGemm>& sets) {
  auto ys = std::make_shared<std::vector<GuardedBuffer>>();
  std::vector<FusedNorm> norms;
  std::vector<Gemm> gemms;
  for (const NormGemm& p : sets) {
    const GuardedBuffer& y =
        ys->emplace_back("y", GuardedBuffer::Kind::output, std::uint64_t(p.rows) * std::uint64_t(p.cols));
    fill(y, {Distribution::Kind::normal}, ys->size());  // for choosing among cuBLAS's algorithms
    norms.push_back(norm_of(p));
    norms.back().y = y.data();
    gemms.push_back(gemm_of(p));
    gemms.back().a = y.data();
    gemms.back().b = p.w;
    gemms.back().c = p.c;
  }
  std::vector<Contender> seconds = cublas_baselines(gemms, Precision::bf16);
  const Variant<Gemm>& own = rung().gemm.back();
  if (own.unsupported(gemms[0]).empty())
    seconds.push_back(
        {own.name, [&own, gemms](int set, cudaStream_t stream) { return own.launch(gemms[set], stream); }});
  const Variant<FusedNorm>& norm = rung().fused_norm.back();
  std::vector<Contender> chains;
  for (const Contender& second : seconds)
    chains.push_back({std::string(norm.name) + "+" + second.name,
                      [&norm, norms, ys, second](int set, cudaStream_t stream) {
                        const cudaError_t error = norm.launch(norms[set], stream);
                        return error == cudaSuccess ? second.launch(set, stream) : error;
                      }});
  return {chains, {}};
}

}  // namespace ladder
