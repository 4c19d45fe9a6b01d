// What the formula does not know: a small neural network that has learned it from measured times.
#pragma once

#include <array>

#include "common/every_shape/estimate/estimate.h"

namespace ladder::every_shape {

// One hidden layer. Its output is the logarithm of a factor.
struct Network {
  static constexpr int inputs = 31, hidden = 32;
  using Inputs = std::array<float, inputs>;
  using Hidden = std::array<float, hidden>;
  float weight[inputs][hidden];
  float bias[hidden];
  float out[hidden];
};

// What goes in: of the problem, the layout, the formula and the kernel, most of it between -2 and 2. The
// kernel's traits are the last.
Network::Inputs network_inputs(const Gemm& p, const Candidate& candidate, const Launch& how,
                               const Layout& layout, const Formula& formula, const Traits& traits);

// The hidden layer before and after its activation, x / (1 + |x|).
void hidden_layer(const Network& network, const Network::Inputs& inputs, Network::Hidden& sums,
                  Network::Hidden& values);
float output(const Network& network, const Network::Hidden& values);

}  // namespace ladder::every_shape
