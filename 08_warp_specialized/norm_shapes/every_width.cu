// The norm at every shape: what fused_norm.cu is not made for, and the choice. Narrow rows share a warp,
// rows_in_lanes.cuh; rows that start anywhere have unaligned.cuh, and by their width rows_in_tile.cuh or
// rows_in_ctas.cuh; few long rows go over all SMs, row_over_grid.cuh.
#include <string>

#include "08_warp_specialized/norm_shapes/row_over_grid.cuh"
#include "08_warp_specialized/norm_shapes/rows_in_ctas.cuh"
#include "08_warp_specialized/norm_shapes/rows_in_lanes.cuh"
#include "08_warp_specialized/norm_shapes/rows_in_tile.cuh"

namespace ladder::rung_08 {

// fused_norm.cu
cudaError_t launch_row_in_cluster(const FusedNorm& p, cudaStream_t stream);

namespace {

using norm_shapes::Config, norm_shapes::launch_in_ctas, norm_shapes::launch_in_lanes;

cudaError_t count_sms(int* sms) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  return cudaDeviceGetAttribute(sms, cudaDevAttrMultiProcessorCount, device);
}

// As many lanes as a row has vectors, or the next power of two.
cudaError_t launch_narrow(const FusedNorm& p, cudaStream_t stream) {
  const int row_vectors = p.cols / vector;
  if (row_vectors <= 1) return launch_in_lanes<1, 1, 4, 256>(p, stream);
  if (row_vectors <= 2) return launch_in_lanes<2, 1, 4, 256>(p, stream);
  if (row_vectors <= 4) return launch_in_lanes<4, 1, 4, 256>(p, stream);
  if (row_vectors <= 8) return launch_in_lanes<8, 1, 4, 256>(p, stream);
  if (row_vectors <= 16) return launch_in_lanes<16, 1, 4, 256>(p, stream);
  if (row_vectors <= 32) return launch_in_lanes<32, 1, 4, 256>(p, stream);
  if (row_vectors <= 64) return launch_in_lanes<32, 2, 2, 256>(p, stream);
  return launch_in_lanes<32, 4, 1, 256>(p, stream);
}

template <int vectors, int cluster, int most_threads>
cudaError_t launch_unaligned(const FusedNorm& p, cudaStream_t stream) {
  return launch_in_ctas<Config<vectors, 1, cluster, false, most_threads>>(p, stream);
}

cudaError_t launch_odd(const FusedNorm& p, cudaStream_t stream) {
  if (p.cols <= 1024) return norm_shapes::launch_in_tile<256, 4>(p, stream);
  if (p.cols <= 2048 - vector) return launch_unaligned<1, 1, 256>(p, stream);
  if (p.cols <= 8192 - vector) return launch_unaligned<2, 1, 512>(p, stream);
  if (p.cols <= 16384 - vector) return launch_unaligned<2, 2, 512>(p, stream);
  if (p.cols <= 32768 - vector) return launch_unaligned<2, 4, 512>(p, stream);
  return launch_unaligned<4, 16, 512>(p, stream);
}

constexpr int widest_in_registers = 262144 - vector;  // of a cluster that leaves room for a second on its SMs

std::string too_wide(const FusedNorm& p) {
  return p.cols <= widest_in_registers ? "" : "cols must be at most " + std::to_string(widest_in_registers);
}

std::string too_narrow(const FusedNorm& p) {
  return p.cols >= 64 ? "" : "cols must be at least 64: y has to hold a sum between two boundaries";
}

cudaError_t launch_grid(const FusedNorm& p, cudaStream_t stream) {
  constexpr std::size_t bytes_of_h = 16 << 20;  // a third of the L2, through which x, residual and y go, too
  const int rows_at_once = int(std::clamp<std::size_t>(bytes_of_h / 2 / p.cols, 1, 65535));
  int sms = 0;
  const cudaError_t error = count_sms(&sms);
  if (error != cudaSuccess) return error;
  return norm_shapes::launch_over_grid<2, 256>(p, rows_at_once, 4 * sms, stream);
}

cudaError_t launch_every_width(const FusedNorm& p, cudaStream_t stream) {
  int sms = 0;
  const cudaError_t error = count_sms(&sms);
  if (error != cudaSuccess) return error;
  constexpr int most_ctas_of_cluster = 16;
  const bool few_rows = p.rows * std::size_t(most_ctas_of_cluster) < std::size_t(sms);
  if (p.cols > widest_in_registers || (few_rows && p.cols > 32768)) return launch_grid(p, stream);
  if (p.cols % vector != 0) return launch_odd(p, stream);
  if (p.cols < 512) return launch_narrow(p, stream);
  return launch_row_in_cluster(p, stream);
}

}  // namespace

Variants<FusedNorm> fused_norm_shapes() {
  return {{.name = "row_over_grid",
           .what = "a row over all SMs, by two kernels; the sums wait in the memory of y",
           .unsupported = too_narrow,
           .launch = launch_grid},
          {.name = "unaligned",
           .what = "as if no row were aligned: in tiles of eight rows, in CTAs or in clusters, by width",
           .unsupported = too_wide,
           .launch = launch_odd},
          {.name = "every_width",
           .what = "by shape the rung, narrow rows in lanes, unaligned rows or a row over all SMs",
           .launch = launch_every_width}};
}

}  // namespace ladder::rung_08
