// What the estimate has learned of a card: the numbers of h200.txt and h100.txt, which every_shape_fit
// prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/every_shape/estimate/network.h"

namespace ladder::every_shape {

struct Fitted {
  struct Kernel {
    std::string name;
    Traits traits;
  };
  Costs costs;
  Network network;
  std::vector<Kernel> kernels;
};

// The file of a card, which the program contains; read once.
const Fitted& fitted_to(Card card);

// Such a file's text <-> its numbers, printed to four digits. read_fitted() throws std::invalid_argument,
// which names the line that it cannot read.
Fitted read_fitted(std::string_view text);
std::string text_of(const Fitted& fitted, Card card, std::size_t shapes);

}  // namespace ladder::every_shape
