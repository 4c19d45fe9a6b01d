// Products in groups, in one launch: the experts of a mixture-of-experts layer. In the order of the data:
// tiles.cuh, which tiles a CTA computes; ../transposed/mainloop.cuh, global -> shared -> accumulators;
// store.cuh, accumulators -> C; kernel.cuh.
#include "common/every_shape/hopper/grouped/kernel.cuh"
#include "common/extension.h"

namespace ladder::every_shape {
namespace {

using grouped::launch, transposed::Design;

constexpr Design tile_128x64{.rows = 64};
constexpr Design tile_256x152{.rows = 152, .blocks = 2};
constexpr Cluster pairs{.n = 2};  // which share A

// The host knows only the average. With few rows in a group, reading B takes the time, and a tile as high as
// most groups reads each B once; with many, the MMAs do, and a large tile reads the least from L2. The bound
// is where the two were equally fast on one H100, with weights that do not stay in L2.
bool are_low(const GroupedGemm& p) {
  return ceil_div(p.m, p.groups) < 64;
}
cudaError_t launch_by_average(const GroupedGemm& p, cudaStream_t stream) {
  return are_low(p) ? launch<tile_128x64>(p, stream) : launch<tile_256x152, pairs>(p, stream);
}

constexpr Extension<GroupedGemm> by_average{
    .kernel = [](const GroupedGemm& p) { return Text(are_low(p) ? "grouped_128x64" : "grouped_256x152"); }};

Text rows_of_vectors(const GroupedGemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8";
}

}  // namespace

Variants<GroupedGemm> grouped_gemm() {
  Variants<GroupedGemm> variants = {
      {.name = "grouped_128x64", .what = "tiles of 128 columns and 64 rows", .launch = launch<tile_128x64>},
      {.name = "grouped_256x152",
       .what = "256 columns and 152 rows, pairs share A",
       .launch = launch<tile_256x152, pairs>},
      {.name = "grouped",
       .what = "one of the two, by the average of the groups' rows",
       .launch = launch_by_average,
       .extension = &by_average}};
  for (Variant<GroupedGemm>& variant : variants) variant.unsupported = rows_of_vectors;
  return variants;
}

}  // namespace ladder::every_shape
