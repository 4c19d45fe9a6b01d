#include <algorithm>
#include <cmath>
#include <limits>

#include "common/every_shape/fit/fit.h"

namespace ladder::every_shape {
namespace {

constexpr double least = 0.03;          // log of how much faster a tile must be for a shape to count
constexpr int most_accumulators = 192;  // of a thread

// Kernels of a kind whose CTAs have an SM to themselves, those with a similar tile first.
std::vector<const Candidate*> nearest(std::span<const Candidate> have, const Candidate& tile) {
  std::vector<const Candidate*> alike;
  for (const Candidate& c : have)
    if (c.kind == tile.kind && c.per_sm == 1) alike.push_back(&c);
  std::ranges::stable_sort(alike, {}, [&](const Candidate* c) {
    return std::abs(c->rows - tile.rows) + 2 * std::abs(c->cols - tile.cols);
  });
  return alike;
}

// With the clusters of the kernel with the most similar tile, and traits between those of the nearest two.
std::vector<Candidate> tiles_not_among(std::span<const Candidate> have) {
  std::vector<Candidate> tiles;
  for (const Kind kind : {Kind::whole, Kind::ping_pong}) {
    const int warpgroups = kind == Kind::whole ? 2 : 1;  // for a tile
    for (int cols = 64 * warpgroups; cols <= 256; cols += 64) {
      for (int rows = 40; rows <= 256 && rows * cols <= warpgroups * 128 * most_accumulators; rows += 8) {
        Candidate tile{.name = "", .kind = kind, .rows = rows, .cols = cols, .clusters = {}};
        const auto alike = nearest(have, tile);
        if (alike.size() < 2 || (alike[0]->rows == rows && alike[0]->cols == cols)) continue;
        tile.clusters = alike[0]->clusters;
        for (std::size_t card = 0; card < tile.traits.size(); ++card)
          for (std::size_t i = 0; i < tile.traits[card].size(); ++i)
            tile.traits[card][i] = (alike[0]->traits[card][i] + alike[1]->traits[card][i]) / 2;
        tiles.push_back(tile);
      }
    }
  }
  return tiles;
}

// The logarithms of the lowest estimates.
std::vector<double> lowest(std::span<const Gemm> shapes, const Candidate& candidate, Card card) {
  std::vector<double> all;
  for (const Gemm& p : shapes) {
    double cycles = std::numeric_limits<double>::infinity();
    each_way(candidate, true, [&](const Launch& how) {
      cycles = std::min(cycles, estimate_cycles(p, candidate, how, measured_sms, card));
    });
    all.push_back(std::log(cycles));
  }
  return all;
}

}  // namespace

std::vector<MissingTile> missing(std::span<const Candidate> have, std::span<const Gemm> shapes, Card card) {
  std::vector<double> best(shapes.size(), std::numeric_limits<double>::infinity());
  const auto take = [&](const std::vector<double>& of_kernel) {
    for (std::size_t i = 0; i < best.size(); ++i) best[i] = std::min(best[i], of_kernel[i]);
  };
  for (const Candidate& candidate : have) take(lowest(shapes, candidate, card));
  std::vector<Candidate> tiles = tiles_not_among(have);
  std::vector<std::vector<double>> of_tiles;
  for (const Candidate& tile : tiles) of_tiles.push_back(lowest(shapes, tile, card));

  std::vector<MissingTile> all;
  for (;;) {
    MissingTile next{};
    double gain = 0;
    const std::vector<double>* of_next = nullptr;
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      MissingTile tile{tiles[t].kind, tiles[t].rows, tiles[t].cols, 0, 0, {}};
      double of_all = 0;
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        const double faster = best[i] - of_tiles[t][i];
        if (!(faster > least)) continue;
        ++tile.shapes;
        of_all += faster - least;
        if (faster > tile.most) tile.most = faster, tile.at = shapes[i];
      }
      if (of_all > gain) gain = of_all, next = tile, of_next = &of_tiles[t];
    }
    if (!of_next) return all;
    take(*of_next);
    next.most = std::exp(next.most) - 1;
    all.push_back(next);
  }
}

}  // namespace ladder::every_shape
