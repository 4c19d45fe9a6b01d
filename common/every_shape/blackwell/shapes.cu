// Small and awkward shapes: the variants of pairs.cu and transposed.cu, and the choice among them.
#include "common/every_shape/blackwell/estimate.h"
#include "common/every_shape/blackwell/launches.h"

namespace ladder::every_shape {
namespace {

// A tile of estimate.h, or where `which` is -1 the estimate's choice.
template <int which, bool early_start>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  const Estimate choice = which < 0 ? shortest(p, sms) : estimate(p, which, sms);
  const Candidate& tile = tiles[choice.tile];
  if (tile.pair == 2) return launch_pairs(p, tile.cols, true, stream, early_start);
  return launch_transposed(p, tile.rows, choice.parts, stream, early_start);
}

cudaError_t launch_relaxed(const Gemm& p, cudaStream_t stream) {
  return launch_pairs(p, 256, false, stream, false);
}

Text rows_of_vectors(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8: a tensor map's rows are multiples of 16 bytes";
}

}  // namespace

Variants<Gemm> shapes() {
  Variants<Gemm> variants = {
      {.name = "relaxed_start",
       .what = "rung 09's kernel with one cluster barrier less at the start",
       .launch = launch_relaxed},
      {.name = "serpentine",
       .what = "the same, and every second group of tile rows goes back from the last column",
       .launch = launch<0, false>},
      {.name = "256x128",
       .what = "CTA pairs with tiles of half the width, eight stages",
       .launch = launch<1, false>},
      {.name = "transposed_128x128",
       .what = "transposed: one CTA, 128 columns and 128 rows, k split in a cluster",
       .launch = launch<2, false>},
      {.name = "transposed_128x64",
       .what = "transposed: one CTA, 128 columns and 64 rows, k split in a cluster",
       .launch = launch<3, false>},
      {.name = "transposed_128x32",
       .what = "transposed: one CTA, 128 columns and 32 rows, k split in a cluster",
       .launch = launch<4, false>},
      {.name = "early_start",
       .what = "every_shape in a chain: a grid starts while the one before still runs",
       .launch = launch<-1, true>,
       .dependent_launch = true},
      {.name = "every_shape",
       .what = "by size one of five tiles: the estimate's choice",
       .launch = launch<-1, false>}};
  for (Variant<Gemm>& variant : variants) variant.unsupported = rows_of_vectors;
  return variants;
}

}  // namespace ladder::every_shape
