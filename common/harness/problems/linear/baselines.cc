// A linear is timed beside cublasLt with the same epilogue, where it has that, and beside chains: a product,
// or two, stored in bf16, and then the epilogue by a kernel of its own. A file of its own: it needs a rung,
// and not every program has one.
#include <memory>
#include <string>

#include "common/harness/backend/device_buffer.h"
#include "common/harness/base/failure.h"
#include "common/harness/cublas/lt.h"
#include "common/harness/problems/check_output.h"
#include "common/harness/problems/gemm/cublas.h"
#include "common/harness/problems/linear/pointwise.h"
#include "common/harness/problems/linear/problem.h"

namespace ladder {
namespace {

// A buffer set's own memory: A·B, or A·B and A·Gate side by side, rows of one after those of the other or in
// one row; and the weights in one row, which a layer that is run like this stores so from the start.
struct Intermediate {
  GuardedBuffer products;
  std::shared_ptr<GuardedBuffer> weights;
};
using Intermediates = std::shared_ptr<std::vector<Intermediate>>;

Intermediates intermediates_of(const std::vector<Linear>& sets, bool gated) {
  auto all = std::make_shared<std::vector<Intermediate>>();
  for (const Linear& p : sets) {
    const std::uint64_t elements = area(p.m, p.n) * (gated ? 2 : 1);
    all->push_back({GuardedBuffer("the products", GuardedBuffer::Kind::output, elements), {}});
    if (!gated) continue;
    all->back().weights =
        std::make_shared<GuardedBuffer>("the weights", GuardedBuffer::Kind::input, area(p.k, p.n) * 2);
    const std::size_t row = std::size_t(p.n) * sizeof(__nv_bfloat16);
    for (int i = 0; i < 2; ++i)
      check(cudaMemcpy2D(all->back().weights->data() + std::size_t(i) * std::size_t(p.n), 2 * row,
                         i == 0 ? p.b : p.gate, row, row, p.k, cudaMemcpyDeviceToDevice),
            "copying the weights side by side");
  }
  return all;
}

// Ways to compute these products: cuBLAS's, and the rung's own gemm.
std::vector<Contender> ways_of(const std::vector<Gemm>& gemms) {
  std::vector<Contender> ways = cublas_baselines(gemms, Precision::bf16);
  const Variant<Gemm>& own = rung().gemm.back();
  if (own.unsupported(gemms[0]).empty())
    ways.push_back(
        {own.name, [&own, gemms](int set, cudaStream_t stream) { return own.launch(gemms[set], stream); }});
  return ways;
}

Contender chain(std::string name, std::vector<Contender> products, std::vector<Pointwise> seconds,
                Epilogue epilogue, Intermediates behind) {
  return {std::move(name), [=](int set, cudaStream_t stream) {
            (void)behind;  // its memory lives as long as the contender
            for (const Contender& product : products)
              if (const cudaError_t error = product.launch(set, stream); error != cudaSuccess) return error;
            return launch_pointwise(seconds[set], epilogue, stream);
          }};
}

// By cublasLt's own epilogue, where it has that one: bias, and gelu, which it computes in the tanh form, too.
// The fastest of 16 algorithms.
std::vector<Contender> lt_epilogue(const std::vector<Linear>& sets, Epilogue epilogue) {
  if (epilogue != Epilogue::bias && epilogue != Epilogue::gelu) return {};
  auto library = std::make_shared<Library>();
  auto all = std::make_shared<LtSets>();
  for (const Linear& p : sets) {
    all->operands.push_back({p.a, p.b, p.c});
    all->operands.back().bias = p.bias;
  }
  const Linear& p = sets[0];
  const cublasLtEpilogue_t own =
      epilogue == Epilogue::bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_GELU_BIAS;
  std::vector<Contender> baselines;
  add_best_of_lt(baselines, "cublasLt_epilogue_best16", library,
                 std::make_shared<LtProblem>(*library, Gemm{p.m, p.n, p.k, p.a, p.b, p.c}, Precision::bf16,
                                             p.k, false, all->operands[0], own),
                 all);
  return baselines;
}

// The rung's own gemm of the same size; two of them where it is gated. Empty where the rung does not take the
// shape.
std::vector<Contender> plain_product(const std::vector<Linear>& sets, Epilogue epilogue) {
  const Variant<Gemm>& own = rung().gemm.back();
  if (!own.unsupported(gemm_of(sets[0])).empty()) return {};
  const bool gated = is_gated(epilogue);
  return {{"the product alone", [&own, sets, gated](int set, cudaStream_t stream) {
             Gemm product = gemm_of(sets[set]);
             const cudaError_t error = own.launch(product, stream);
             if (error != cudaSuccess || !gated) return error;
             product.b = sets[set].gate;
             return own.launch(product, stream);
           }}};
}

// lt_epilogue() and the chains.
std::vector<Contender> rivals_of(const std::vector<Linear>& sets, Epilogue epilogue) {
  std::vector<Contender> all = lt_epilogue(sets, epilogue);
  if (sets[0].n % 8 != 0) return all;  // the second step has whole vectors
  const bool gated = is_gated(epilogue);
  const Intermediates behind = intermediates_of(sets, gated);
  std::vector<Gemm> values, gates, both;
  std::vector<Pointwise> apart, in_a_row;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const Linear& p = sets[i];
    __nv_bfloat16* const products = (*behind)[i].products.data();
    values.push_back({p.m, p.n, p.k, p.a, p.b, products});
    if (!gated) {
      apart.push_back({p.m, p.n, p.n, products, nullptr, p.bias, p.c});
      continue;
    }
    gates.push_back({p.m, p.n, p.k, p.a, p.gate, products + area(p.m, p.n)});
    apart.push_back({p.m, p.n, p.n, products, gates.back().c, nullptr, p.c});
    if (p.n > max_dimension / 2) continue;
    both.push_back({p.m, 2 * p.n, p.k, p.a, (*behind)[i].weights->data(), products});
    in_a_row.push_back({p.m, p.n, 2 * p.n, products, products + p.n, nullptr, p.c});
  }
  const std::vector<Contender> of_values = ways_of(values);
  if (!gated) {
    for (const Contender& way : of_values)
      all.push_back(chain(std::string(way.name) + "+pointwise", {way}, apart, epilogue, behind));
    return all;
  }
  const std::vector<Contender> of_gates = ways_of(gates);
  for (const Contender& way : of_values)
    for (const Contender& other : of_gates)
      if (way.name == other.name)
        all.push_back(
            chain(std::string("2x ") + way.name + "+pointwise", {way, other}, apart, epilogue, behind));
  if (!both.empty())
    for (const Contender& way : ways_of(both))
      all.push_back(chain(std::string("wide ") + way.name + "+pointwise", {way}, in_a_row, epilogue, behind));
  return all;
}

}  // namespace

Baselines baselines(const Variant<Linear>& variant, const std::vector<Linear>& sets) {
  const Epilogue epilogue = extension_of(variant).epilogue;
  return {rivals_of(sets, epilogue), plain_product(sets, epilogue)};
}

}  // namespace ladder
