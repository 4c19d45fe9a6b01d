// Fits the estimate to measured times: the costs of the formula, the network, and the kernels' traits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/every_shape/estimate/fitted.h"
#include "common/every_shape/fit/measured.h"

namespace ladder::every_shape {

// As the estimate is now, in the order of all_candidates().
Fitted as_it_is(Card card);
// What a fit begins with: the other card's numbers, from which a card's own differ little, so that fewer
// measurements are enough.
Fitted start_of(Card card);

// What the first choice loses, as a fraction of the fastest kernel's time.
struct Regret {
  double mean = 0, worst = 0;
  double near = 0, far = 0;  // shares of the shapes at which it is at most 3 %, and more than 10 %
};
Regret regret(std::span<const MeasuredShape> shapes, const Fitted& fitted);

// The logarithm of the estimate.
double log_estimate(const Gemm& p, const Way& way, const Fitted& fitted);

// All but every `parts`-th shape from `part` on, or only those.
std::vector<MeasuredShape> without(std::span<const MeasuredShape> shapes, int part, int parts);
std::vector<MeasuredShape> only(std::span<const MeasuredShape> shapes, int part, int parts);

// Steps of gradient descent (Adam) from `start`, in the logarithms of the costs, the network's weights and
// the traits, all at once; what need not change stays. They minimise two terms, in the mean over the shapes.
//
// The first is the expected loss, if each way to launch a kernel were taken with a probability that falls
// with its estimate, in the end by 1/e for each percent. It is a smooth function of the estimates, which the
// loss of the one that is chosen is not.
//
// The second is how far the estimates are from being proportional to the times, of kernels that are among the
// fastest or seem to be. Otherwise one that is never taken would have a random estimate, and one that is
// taken wrongly would stay chosen. It weighs more than the first, which alone learns the noise of the fastest
// ones.
Fitted fit(std::span<const MeasuredShape> shapes, const Fitted& start, int steps);

// Where another measurement would teach most: of the shapes of a draw that are not among `measured`, those at
// which fits to different parts of `measured` choose most differently; and of each shape the fits' choices,
// filled up to `ways` with the lowest estimates. Their times are 0. Where nothing is measured yet: the first
// shapes of the draw, with the lowest estimates of `start`.
std::vector<MeasuredShape> doubtful(std::span<const MeasuredShape> measured, const Fitted& start,
                                    std::uint64_t seed, int shapes, int steps, std::size_t ways = 26);

// A tile of the transposed product that every_shape does not have.
struct MissingTile {
  Kind kind;  // whole or ping_pong
  int rows, cols;
  int shapes;   // at which it should be 3 % faster or more than all kernels, and than the tiles before it,
  double most;  // where most, by how much the others take longer,
  Gemm at;      // and where that is
};
// What the estimate expects of tiles that were never timed: of each the formula, times the network's factor
// for kernels of similar tiles. The one that should gain most first, then what gains most beside it, ...
std::vector<MissingTile> missing(std::span<const Candidate> have, std::span<const Gemm> shapes, Card card);

}  // namespace ladder::every_shape
