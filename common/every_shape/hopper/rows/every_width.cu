// The norm at every shape: which kernel, by arithmetic from rows, columns and SMs. Narrow rows share a warp,
// rows_in_lanes.cuh, or, where they start anywhere, a tile, rows_in_tile.cuh. Wider rows wait for their sum
// in the registers of a CTA or a cluster, rows_in_ctas.cuh and rows_of_any_start.cuh. Parts of the longest go
// to any SMs, rows_by_tickets.cuh; one or two of them are shared out over all SMs, row_over_grid.cuh.
#include "common/every_shape/hopper/rows/row_over_grid.cuh"
#include "common/every_shape/hopper/rows/rows_by_tickets.cuh"
#include "common/every_shape/hopper/rows/rows_in_ctas.cuh"
#include "common/every_shape/hopper/rows/rows_in_lanes.cuh"
#include "common/every_shape/hopper/rows/rows_in_tile.cuh"
#include "common/every_shape/hopper/rows/rows_of_any_start.cuh"
#include "common/extension.h"

namespace ladder::every_shape {
namespace {

using norm_rows::Config, norm_rows::launch_in_ctas, norm_rows::launch_in_lanes, norm_rows::launch_in_warps,
    norm_rows::launch_of_any_start, norm_rows::usual_ctas;

// A vector for each lane. Where four lanes in ten have none, two rows at once make up for it.
template <int lanes>
cudaError_t launch_narrow(const FusedNorm& p, cudaStream_t stream) {
  const bool half_empty = p.cols / vector * 10 <= lanes * 6;
  return half_empty ? launch_in_lanes<lanes, 1, 2, 256>(p, stream)
                    : launch_in_lanes<lanes, 1, 1, 256>(p, stream);
}

template <int vectors, int cluster, int most_threads, int ctas_of_sm = usual_ctas(vectors, most_threads)>
cudaError_t launch_aligned(const FusedNorm& p, cudaStream_t stream, int most_ctas = 0) {
  return launch_in_ctas<Config<vectors, cluster, most_threads, ctas_of_sm>>(p, stream, most_ctas);
}

// Rows that are all on the SMs at once: a warp for each, without a barrier, is done sooner.
bool few_in_warps(const FusedNorm& p, int sms) {
  return p.cols > 512 && p.cols <= 1024 && p.rows <= 8 * sms;
}

cudaError_t launch_by_width(const FusedNorm& p, int sms, cudaStream_t stream) {
  // As many lanes as a row has vectors, or the next power of two.
  if (p.cols <= 8) return launch_narrow<1>(p, stream);
  if (p.cols <= 16) return launch_narrow<2>(p, stream);
  if (p.cols <= 32) return launch_narrow<4>(p, stream);
  if (p.cols <= 64) return launch_narrow<8>(p, stream);
  if (p.cols <= 128) return launch_narrow<16>(p, stream);
  if (p.cols <= 256) return launch_narrow<32>(p, stream);
  if (p.cols <= 320) return launch_in_lanes<32, 2, 1, 128>(p, stream);
  if (few_in_warps(p, sms)) return launch_in_lanes<32, 4, 1, 256>(p, stream);
  // A CTA, a vector for each thread: an SM has up to 64 KiB of x and residual in flight. More costs time.
  if (p.cols <= 1024) return launch_aligned<1, 1, 128>(p, stream);
  if (p.cols <= 2048) return launch_aligned<1, 1, 256>(p, stream);
  if (p.cols <= 3840) return launch_aligned<1, 1, 512>(p, stream);
  if (p.cols <= 4096) return launch_aligned<1, 1, 512>(p, stream, 3);
  if (p.cols <= 8192) return launch_aligned<1, 1, 1024>(p, stream);
  // A cluster of CTAs: the one with the fewest idle threads, if it is not too large.
  if (p.cols <= 16384) return launch_aligned<2, 4, 256>(p, stream);
  if (p.cols <= 18432) return launch_aligned<2, 4, 512>(p, stream);
  if (p.cols <= 32768) return launch_aligned<2, 8, 256>(p, stream);
  if (p.cols <= 67584) return launch_aligned<3, 8, 352, 3>(p, stream);
  if (p.cols <= 147456) return launch_aligned<3, 16, 384, 3>(p, stream);
  return launch_aligned<4, 16, 512>(p, stream);
}

cudaError_t launch_unaligned(const FusedNorm& p, cudaStream_t stream) {
  if (p.cols <= 256) return norm_rows::launch_in_tile<256, 2>(p, stream);
  if (p.cols <= 256 + 24) return launch_in_warps<1>(p, stream);
  if (p.cols <= 512 + 24) return launch_in_warps<2>(p, stream);
  if (p.cols <= 8192) return launch_of_any_start<3, 1, 512>(p, stream);
  const int of_row = norm_rows::most_vectors(p);
  if (of_row <= 4 * 256 * 3) return launch_of_any_start<3, 4, 256>(p, stream);
  if (of_row <= 8 * 352 * 3) return launch_of_any_start<3, 8, 352, 3>(p, stream);
  if (of_row <= 16 * 384 * 3) return launch_of_any_start<3, 16, 384, 3>(p, stream);
  if (of_row <= 16 * 384 * 4) return launch_of_any_start<4, 16, 512>(p, stream);
  return launch_of_any_start<8, 16, 256, 2>(p, stream);
}

// Rows too long for the registers of a cluster.
bool is_long(const FusedNorm& p) {
  return norm_rows::most_vectors(p) > 16 * 512 * 4;
}

// Long rows that start in the middle of a line are better off where warps access whole lines.
bool is_aligned(const FusedNorm& p) {
  return p.cols % (p.cols > 8192 ? norm_rows::line : vector) == 0;
}

cudaError_t count_sms(int* sms) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  return error != cudaSuccess ? error : cudaDeviceGetAttribute(sms, cudaDevAttrMultiProcessorCount, device);
}

cudaError_t launch_every_width(const FusedNorm& p, cudaStream_t stream) {
  int sms = 0;
  cudaError_t error = count_sms(&sms);
  if (error != cudaSuccess) return error;
  if (!is_long(p)) return is_aligned(p) ? launch_by_width(p, sms, stream) : launch_unaligned(p, stream);
  if (p.rows > 2) {
    error = norm_rows::launch_by_tickets(p, sms, stream);
    if (error != cudaErrorCooperativeLaunchTooLarge) return error;
  }
  return norm_rows::launch_over_grid<2, 512>(p, 4 * sms, stream);
}

Text kernel_of(const FusedNorm& p) {
  int sms = 0;
  if (count_sms(&sms) != cudaSuccess) return {};
  if (is_long(p)) return p.rows > 2 ? "rows_by_tickets" : "row_over_grid";
  if (is_aligned(p)) return p.cols <= 320 || few_in_warps(p, sms) ? "rows_in_lanes" : "rows_in_ctas";
  return p.cols <= 256 ? "rows_in_tile" : "rows_of_any_start";
}

std::size_t workspace_bytes(const FusedNorm& p) {
  return is_long(p) ? norm_rows::SumsInMemory::bytes(p.rows, norm_rows::parts_by_tickets(p)) : 0;
}
cudaError_t clear_workspace(const FusedNorm& p, cudaStream_t stream) {
  return cudaMemsetAsync(p.workspace, 0, workspace_bytes(p), stream);
}

}  // namespace

Variants<FusedNorm> every_width() {
  static constexpr Extension<FusedNorm> extension{
      .workspace_bytes = workspace_bytes, .prepare = clear_workspace, .kernel = kernel_of};
  return {{.name = "every_width",
           .what = "by shape: rows in lanes, tiles, CTAs, clusters or parts, or one over all SMs",
           .launch = launch_every_width,
           .extension = &extension}};
}

}  // namespace ladder::every_shape
