// Rung 08's norm_gemm, with the product's tile chosen by shape; and the choice between its two kernels and
// its one.
#include "08_warp_specialized/norm_gemm/sum.cuh"
#include "common/every_shape/hopper/norm_gemm/launches.h"
#include "common/every_shape/hopper/norm_gemm/scaled_tiles.cuh"

namespace ladder::every_shape {
namespace {

using rung_08::AddRows, rung_08::high_strips, rung_08::low_strips, rung_08::product;

// Whether the add starts while the grid before still runs, the product while the add does, and whether the
// product then loads weights before it waits for the add.
struct EarlyStart {
  bool sum, product, weights = false;
};

template <EarlyStart early>
cudaError_t launch_two_kernels(const NormGemm& p, cudaStream_t stream) {
  const NormOperands norm = rung_08::operands_of_two_kernels(p);
  const cudaError_t error = rung_08::launch_add(p, norm.squares, stream, early.sum);
  if (error != cudaSuccess) return error;
  static_assert(!early.weights || !early.sum, "what wrote the weights must have ended when the add starts");
  if (early.weights) return launch_weights_first(product(p), stream, norm);
  return launch_among(ScaledTiles(), product(p), stream, norm, early.product);
}

template <bool early_start>
cudaError_t launch_one_kernel(const NormGemm& p, cudaStream_t stream, int sms) {
  const NormOperands norm = rung_08::operands_of_one_kernel(p);
  return rung_08::wants_high_strips(p.n, sms)
             ? general::launch<high_strips, AddRows>(product(p), stream, norm, early_start)
             : general::launch<low_strips, AddRows>(product(p), stream, norm, early_start);
}

// Where adding is hidden behind the product, if there is enough of a product. docs/deeper/norm_gemm.md
// derives it.
cudaError_t is_one_kernel_faster(const NormGemm& p, bool* faster) {
  constexpr double copied_per_cycle = 2300;  // bytes that memory moves for a kernel that does nothing else
  constexpr double added_per_cycle = 670;    // and for the producers' other warps
  constexpr double element = sizeof(__nv_bfloat16);
  int which = 0;
  double adding = 0, scaled = 0;
  cudaError_t error = choose_design<AddRows, low_strips>(product(p), &which, &adding);
  if (error == cudaSuccess) error = choose_scaled(product(p), &which, &scaled);
  const double bytes = 3 * element * p.rows * p.cols;  // x, residual and h
  // The first products wait for a part of a strip.
  const double first = 3 * element * std::min(p.rows, 1024) * std::min(p.cols, rung_08::part_columns);
  *faster =
      std::max(adding, bytes / added_per_cycle) + first / added_per_cycle < scaled + bytes / copied_per_cycle;
  return error;
}

template <bool early_start>
cudaError_t launch_no_norm(const NormGemm& p, cudaStream_t stream) {
  int device = 0, sms = 0;
  bool one_kernel = false;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) error = is_one_kernel_faster(p, &one_kernel);
  if (error != cudaSuccess) return error;
  return one_kernel ? launch_one_kernel<early_start>(p, stream, sms)
                    : launch_two_kernels<EarlyStart{early_start, true}>(p, stream);
}

Text kernel_of(const NormGemm& p) {
  bool one_kernel = false;
  if (is_one_kernel_faster(p, &one_kernel) != cudaSuccess) return {};
  return one_kernel ? "one_kernel" : "row_scales";
}

constexpr Extension<NormGemm> as_in_rung_08 = rung_08::with_workspace;
constexpr Extension<NormGemm> chosen{
    .workspace_bytes = rung_08::workspace_bytes, .prepare = rung_08::fold_gamma, .kernel = kernel_of};

}  // namespace

Variants<NormGemm> norm_gemm() {
  Variants<NormGemm> variants = {
      {.name = "late_start",
       .what = "the residual add, and a product that scales rows and starts when the add has ended",
       .launch = launch_two_kernels<EarlyStart{false, false}>,
       .extension = &as_in_rung_08},
      {.name = "row_scales",
       .what = "the residual add, and a product that scales rows and starts while the add still runs",
       .launch = launch_two_kernels<EarlyStart{false, true}>,
       .extension = &as_in_rung_08},
      {.name = "early_weights",
       .what =
           "row_scales, whose product loads weights before it waits for the add, which does not write them",
       .launch = launch_two_kernels<EarlyStart{false, true, true}>,
       .extension = &as_in_rung_08},
      {.name = "early_start",
       .what = "no_norm in a chain: its first grid, too, starts while the one before still runs",
       .launch = launch_no_norm<true>,
       .dependent_launch = true,
       .extension = &chosen},
      {.name = "no_norm",
       .what = "row_scales or rung 08's one_kernel, whichever is estimated faster",
       .launch = launch_no_norm<false>,
       .extension = &chosen}};
  for (Variant<NormGemm>& variant : variants) variant.unsupported = rung_08::rows_of_vectors;
  return variants;
}

}  // namespace ladder::every_shape
