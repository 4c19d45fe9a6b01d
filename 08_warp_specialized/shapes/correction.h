// What the formula does not know: a small neural network that has learned it from measured times.
#pragma once

#include <array>

#include "08_warp_specialized/shapes/choice.h"

namespace ladder::rung_08 {

// One hidden layer. Its output is the logarithm of a factor.
struct Network {
  static constexpr int inputs = 31, hidden = 32;
  using Inputs = std::array<float, inputs>;
  using Hidden = std::array<float, hidden>;
  float weight[inputs][hidden];
  float bias[hidden];
  float out[hidden];
};

// Of the problem, the layout, the formula and the kernel, most of them between -2 and 2. The kernel's traits
// are the last.
Network::Inputs network_inputs(const Gemm& p, const Choice& choice, const Launch& how, const Layout& layout,
                               const Formula& formula, const Traits& traits);

// The hidden layer's sums and values, x / (1 + |x|) of each.
void hidden_layer(const Network& network, const Network::Inputs& inputs, Network::Hidden& sums,
                  Network::Hidden& values);
float output(const Network& network, const Network::Hidden& values);

// What is fitted to the times of a card.
struct TraitsOf {
  const char* kernel;
  Traits values;
};
struct OfCard {
  Costs costs;
  Network network;
  std::span<const TraitsOf> traits;
};
extern const OfCard fitted_to_h200, fitted_to_h100;
const OfCard& fitted_to(Card card);

}  // namespace ladder::rung_08
