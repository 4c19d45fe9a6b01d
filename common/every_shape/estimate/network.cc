#include "common/every_shape/estimate/network.h"

#include <algorithm>
#include <cmath>

namespace ladder::every_shape {

Network::Inputs network_inputs(const Gemm& p, const Candidate& c, const Launch& how, const Layout& at,
                               const Formula& f, const Traits& traits) {
  const auto log = [](double x) { return float(std::log2(x)); };
  const double m = p.m, n = p.n, k = p.k;
  const double bytes = 2 * (m * k + n * k + m * n);
  const double last_wave = at.clusters - (at.waves - 1) * at.at_once;
  const double elements =
      1.0 * at.clusters_m * how.cluster.m * c.rows * at.clusters_n * how.cluster.n * c.cols;
  Network::Inputs x = {
      (log(m) - 10) / 3,
      (log(n) - 12) / 2,
      (log(k) - 11) / 2,
      (log(at.waves) - 2) / 2,
      float(4 * at.clusters / at.at_once / at.waves - 3),  // how full they are,
      float(4 * last_wave / at.at_once - 2),               // and the last one
      (log(at.tiles_k) - 5) / 2,
      log(c.rows) - 7,
      2 * (log(c.cols) - 7),
      float(5 * m * n / elements - 4),  // of the tiles' elements, those that are C's
      p.n % 64 ? 2.0f : -0.5f,          // rows begin within a line of L2,
      p.k % 64 ? 2.0f : -0.5f,
      p.n % 16 ? 2.5f : -0.5f,  // or within a sector
      p.k % 16 ? 2.5f : -0.5f,
      log(how.cluster.n) - 1,
      log(how.cluster.m) - 1,
      2 * log(how.parts),
      2.0f * float(c.per_sm - 1),
      (log(at.ctas) - 7),
      (log(bytes) - 26) / 3,
      log(f.busy[0]),
      log(f.busy[1]),
      log(f.busy[2]),
      log(f.busy[3]),
      float(4 * f.loop - 3),
      float(4 * f.end - 1),
      log(f.cycles) - 15,
      log(bytes / 2500 / f.cycles),  // DRAM's cycles, about
  };
  std::ranges::copy(traits, x.end() - traits.size());
  return x;
}

void hidden_layer(const Network& network, const Network::Inputs& inputs, Network::Hidden& sums,
                  Network::Hidden& values) {
  for (int h = 0; h < Network::hidden; ++h) sums[h] = network.bias[h];
  for (int i = 0; i < Network::inputs; ++i)
    for (int h = 0; h < Network::hidden; ++h) sums[h] += network.weight[i][h] * inputs[i];
  for (int h = 0; h < Network::hidden; ++h) values[h] = sums[h] / (1 + std::abs(sums[h]));
}

float output(const Network& network, const Network::Hidden& values) {
  float sum = 0;
  for (int h = 0; h < Network::hidden; ++h) sum += network.out[h] * values[h];
  return sum;
}

}  // namespace ladder::every_shape
