#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/every_shape/estimate/fitted.h"
#include "common/extension.h"

namespace ladder::every_shape {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double hopeless = 2;  // times the lowest formula: above that a launch is not passed to the network

double with_factor(const Gemm& p, const Candidate& c, const Launch& how, const Layout& at, const Formula& f,
                   Card card) {
  if (!c.name) return f.cycles;
  const Network& network = fitted_to(card).network;
  Network::Hidden sums, values;
  hidden_layer(network, network_inputs(p, c, how, at, f, c.traits[int(card)]), sums, values);
  return f.cycles * std::exp(output(network, values));
}

}  // namespace

cudaError_t card_of(int device, Card* card) {
  int l2_bytes = 0;
  const cudaError_t error = cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device);
  *card = l2_bytes < (55 << 20) ? Card::h100 : Card::h200;
  return error;
}

double estimate_cycles(const Gemm& p, const Candidate& c, const Launch& how, int sms, Card card) {
  const Layout at = layout(p, c, how, sms);
  return at.possible ? with_factor(p, c, how, at, formula(c, how, at, sms, fitted_to(card).costs), card)
                     : never;
}

cudaError_t choose(const Gemm& p, std::span<const Candidate> candidates, Chosen* chosen, int rank) {
  int device = 0, sms = 0;
  Card card{};
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) error = card_of(device, &card);
  if (error != cudaSuccess) return error;
  struct Way {
    Chosen chosen;
    Layout at;
    Formula formula;
  };
  std::vector<Way> ways;
  for (const Candidate& candidate : candidates) {
    each_way(candidate, p.typed && p.typed->workspace, [&](const Launch& how) {
      const Layout at = layout(p, candidate, how, sms);
      if (!at.possible) return;
      const Formula f = formula(candidate, how, at, sms, fitted_to(card).costs);
      ways.push_back({{&candidate, how, f.cycles}, at, f});
    });
  }
  *chosen = {&candidates.front(), {}, never};
  if (ways.empty()) return cudaSuccess;
  const auto cycles = [](const Way& way) { return way.chosen.cycles; };
  const double most = hopeless * std::ranges::min(ways, {}, cycles).chosen.cycles;
  std::erase_if(ways, [&](const Way& way) { return way.chosen.cycles > most; });
  for (auto& [way, at, f] : ways) way.cycles = with_factor(p, *way.candidate, way.how, at, f, card);
  std::ranges::stable_sort(ways, {}, cycles);
  *chosen = ways[std::min<std::size_t>(rank, ways.size() - 1)].chosen;
  return cudaSuccess;
}

}  // namespace ladder::every_shape
