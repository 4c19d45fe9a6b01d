// The norm disappears. Its scale is a factor of a row of C, gamma a factor of a row of W: what is left in
// front of the product is the sum h = x + residual. In two kernels, the first adds and leaves the sums of
// squares, the second is the general gemm of shapes/, which scales C's rows as it stores them. In one kernel,
// the gemm adds as well: add_rows.cuh.
#include <algorithm>

#include "08_warp_specialized/norm_gemm/add_rows.cuh"
#include "common/extension.h"

namespace ladder::rung_08 {

// early_weights.cu
cudaError_t launch_weights_first(const Gemm& p, cudaStream_t stream, const NormOperands& norm, int sms);

namespace {

using general::Design;

// What lies in the workspace, each aligned to 256 bytes.
struct NormWorkspace {
  std::size_t folded, squares, progress, rows_there, end;  // bytes from its start

  explicit NormWorkspace(const NormGemm& p) {
    const auto aligned = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
    const std::size_t parts = ceil_div(p.cols, part_columns), rows = p.rows;
    folded = 0;
    squares = aligned(std::size_t(p.cols) * p.n * sizeof(__nv_bfloat16));
    progress = squares + aligned(parts * rows * sizeof(float));
    rows_there = progress + aligned(sizeof(Progress));
    end = rows_there + aligned(ceil_div(p.rows, block_rows) * parts * sizeof(unsigned));
  }

  static constexpr int block_rows = general::Config<general::tile_128x256>::block_m;
};

template <class T>
T* at(const NormGemm& p, std::size_t bytes) {
  return reinterpret_cast<T*>(static_cast<unsigned char*>(p.workspace) + bytes);
}

// W' = gamma · W, one thread for 8 columns of one row.
constexpr int fold_threads = 256;
__global__ void __launch_bounds__(fold_threads) fold_kernel(NormGemm p, __nv_bfloat16* folded) {
  const std::size_t row_vectors = p.n / vector, i = std::size_t(blockIdx.x) * fold_threads + threadIdx.x;
  if (i >= row_vectors * p.cols) return;
  const unsigned gamma =
      __bfloat16_as_ushort(p.gamma[i / row_vectors]) * 0x10001u;  // twice, as vectors have pairs
  store(folded + i * vector, scale_vector(load(p.w + i * vector), make_uint4(gamma, gamma, gamma, gamma), 1));
}

// h = x + residual and the row's sum of squares, by one CTA. All its loads of a batch are on their way before
// the first is used.
constexpr int add_threads = 512;
__global__ void __launch_bounds__(add_threads) add_kernel(NormGemm p, float* squares_of_rows) {
  __shared__ float of_warps[add_threads / warp_size];
  ptx::let_next_grid_start();
  ptx::wait_for_previous_grid();  // it may have written x and residual, and read h
  constexpr int batch = 2;
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  const int row_vectors = p.cols / vector;
  float squares = 0;
  for (int first = threadIdx.x; first < row_vectors; first += batch * add_threads) {
    uint4 x[batch], residual[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      x[i] = residual[i] = make_uint4(0, 0, 0, 0);
      if (first + i * add_threads >= row_vectors) continue;
      x[i] = load(p.x + start + (first + i * add_threads) * vector);
      residual[i] = load(p.residual + start + (first + i * add_threads) * vector);
    }
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      const uint4 h = add_vector(x[i], residual[i], squares);
      if (first + i * add_threads < row_vectors) store(p.h + start + (first + i * add_threads) * vector, h);
    }
  }
  squares = warp_sum(squares);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  if (lane == 0) of_warps[warp] = squares;
  __syncthreads();  // of_warps[] is complete
  if (warp == 0) {
    squares = warp_sum(lane < add_threads / warp_size ? of_warps[lane] : 0);
    if (lane == 0) squares_of_rows[blockIdx.x] = squares;
  }
}

cudaError_t launch_add(const NormGemm& p, float* squares, cudaStream_t stream, bool early_start) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = p.rows;
  config.blockDim = add_threads;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = early_start;
  return cudaLaunchKernelEx(&config, add_kernel, p, squares);
}

// The product on its own: h · W'.
Gemm product(const NormGemm& p) {
  return {p.rows, p.n, p.cols, p.h, at<__nv_bfloat16>(p, NormWorkspace(p).folded), p.c};
}

general::Choice<ScaleRows> fastest_scaled(const Gemm& p, int sms) {
  return general::fastest<ScaleRows, general::tile_64x64, general::split_2, general::split_4,
                          general::split_8, general::tile_64x128_share_a, general::tile_64x128_share_b,
                          general::tile_128x128, general::tile_128x192, general::tile_128x256>(p, sms);
}

// Whether the sum starts while the grid before still runs, the product while the sum does, and whether the
// product then loads weights before it waits for the sum.
struct EarlyStart {
  bool sum, product, weights = false;
};

template <EarlyStart early>
cudaError_t launch_two_kernels(const NormGemm& p, cudaStream_t stream) {
  int sms = 0;
  cudaError_t error = general::count_sms(&sms);
  if (error != cudaSuccess) return error;
  NormOperands norm{};
  norm.squares = at<float>(p, NormWorkspace(p).squares);
  norm.parts = 1;
  norm.eps = p.eps;
  error = launch_add(p, norm.squares, stream, early.sum);
  if (error != cudaSuccess) return error;
  static_assert(!early.weights || !early.sum, "what wrote the weights must have ended when the sum starts");
  if (early.weights) return launch_weights_first(product(p), stream, norm, sms);
  return fastest_scaled(product(p), sms).launch(product(p), stream, norm, early.product);
}

// A strip of tiles, which is also one of pieces, is `group` clusters high.
constexpr Design low_strips{.group = 4}, high_strips{.group = 8};

// A strip should be what the GPU multiplies at a time. Lower, and the pieces of the second strip come after
// all of the first one's, though its tiles have begun; higher, and pieces are made that no tile needs yet.
general::Choice<AddRows> fastest_adding(const Gemm& p, int sms) {
  using C = general::Config<high_strips, AddRows>;
  if (C::group * ceil_div(p.n, C::block_n * C::cluster_n) <= sms / C::cluster)
    return general::fastest<AddRows, high_strips>(p, sms);
  return general::fastest<AddRows, low_strips>(p, sms);
}

NormOperands operands_of_one_kernel(const NormGemm& p) {
  const NormWorkspace workspace(p);
  NormOperands norm{};
  norm.squares = at<float>(p, workspace.squares);
  norm.parts = ceil_div(p.cols, part_columns);
  norm.eps = p.eps;
  norm.x = p.x;
  norm.residual = p.residual;
  norm.h = p.h;
  norm.progress = at<Progress>(p, workspace.progress);
  norm.rows_there = at<unsigned>(p, workspace.rows_there);
  return norm;
}

cudaError_t launch_high_strips(const NormGemm& p, cudaStream_t stream) {
  return general::launch<high_strips, AddRows>(product(p), stream, operands_of_one_kernel(p), false);
}

template <bool early_start>
cudaError_t launch_one_kernel(const NormGemm& p, cudaStream_t stream) {
  int sms = 0;
  const cudaError_t error = general::count_sms(&sms);
  if (error != cudaSuccess) return error;
  return fastest_adding(product(p), sms).launch(product(p), stream, operands_of_one_kernel(p), early_start);
}

// Where adding is hidden behind the product, if there is enough of a product. docs/deeper/norm_gemm.md
// derives it.
bool one_kernel_is_faster(const NormGemm& p, int sms) {
  constexpr double copied_per_cycle = 2300;  // bytes that memory moves for a kernel that does nothing else
  constexpr double added_per_cycle = 670;    // and for the producers' other warps
  const Gemm gemm = product(p);
  const double bytes = 3.0 * element * p.rows * p.cols;  // x, residual and h
  // The first products wait for a part of a strip.
  const double first = 3.0 * element * std::min(p.rows, 1024) * std::min(p.cols, part_columns);
  const double one = std::max(fastest_adding(gemm, sms).cycles, bytes / added_per_cycle);
  const double two = fastest_scaled(gemm, sms).cycles + bytes / copied_per_cycle;
  return one + first / added_per_cycle < two;
}

template <bool early_start>
cudaError_t launch_no_norm(const NormGemm& p, cudaStream_t stream) {
  int sms = 0;
  const cudaError_t error = general::count_sms(&sms);
  if (error != cudaSuccess) return error;
  return one_kernel_is_faster(p, sms) ? launch_one_kernel<early_start>(p, stream)
                                      : launch_two_kernels<EarlyStart{early_start, true}>(p, stream);
}

Text rows_of_vectors(const NormGemm& p) {
  if (p.n % vector == 0 && p.cols % vector == 0) return {};
  return "n and cols must be multiples of 8: a tensor map's rows are multiples of 16 bytes";
}

std::size_t workspace_bytes(const NormGemm& p) {
  return NormWorkspace(p).end;
}

cudaError_t fold_gamma(const NormGemm& p, cudaStream_t stream) {
  const NormWorkspace workspace(p);
  const std::size_t vectors = std::size_t(p.cols) * p.n / vector;
  fold_kernel<<<unsigned((vectors + fold_threads - 1) / fold_threads), fold_threads, 0, stream>>>(
      p, at<__nv_bfloat16>(p, workspace.folded));
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  return cudaMemsetAsync(at<void>(p, workspace.progress), 0, workspace.end - workspace.progress, stream);
}

}  // namespace

Variants<NormGemm> norm_gemm() {
  static constexpr Extension<NormGemm> extension{.workspace_bytes = workspace_bytes, .prepare = fold_gamma};
  Variants<NormGemm> variants = {
      {.name = "late_start",
       .what = "a sum, and a product that scales rows and starts when the sum has ended",
       .launch = launch_two_kernels<EarlyStart{false, false}>},
      {.name = "row_scales",
       .what = "a sum, and a product that scales rows and starts while the sum still runs",
       .launch = launch_two_kernels<EarlyStart{false, true}>},
      {.name = "early_weights",
       .what =
           "row_scales, whose product loads weights before it waits for the sum, which does not write them",
       .launch = launch_two_kernels<EarlyStart{false, true, true}>},
      {.name = "high_strips",
       .what = "one kernel: the product's producers add, in strips as high as the gemm's",
       .launch = launch_high_strips},
      {.name = "one_kernel",
       .what = "one kernel, in strips as high as what the GPU multiplies at a time",
       .launch = launch_one_kernel<false>},
      {.name = "early_start",
       .what = "the rung in a chain: its first grid, too, starts while the one before still runs",
       .launch = launch_no_norm<true>,
       .dependent_launch = true},
      {.name = "no_norm",
       .what = "row_scales or one_kernel, whichever is estimated faster",
       .launch = launch_no_norm<false>}};
  for (Variant<NormGemm>& variant : variants) {
    variant.unsupported = rows_of_vectors;
    variant.extension = &extension;
  }
  return variants;
}

}  // namespace ladder::rung_08
