#include "common/rung.h"

#include <cutlass/version.h>

#include <string>

namespace ladder {
namespace beside {
Variants<Gemm> sm80();
Variants<Gemm> sm90_cooperative();
Variants<Gemm> sm90_pingpong();
}  // namespace beside

const Rung& rung() {
  static const std::string title = [] {
    std::string text = "CUTLASS ";
    text.append(std::to_string(CUTLASS_MAJOR)).append(".").append(std::to_string(CUTLASS_MINOR));
    return text.append(".").append(std::to_string(CUTLASS_PATCH));
  }();
  static const Rung r{
      .name = "cutlass_beside",
      .title = title.c_str(),
      .needs = {9, 0, Compatibility::exact},
      .gemm = join({beside::sm80(), beside::sm90_pingpong(), beside::sm90_cooperative()}),
      .fused_norm = {},
  };
  return r;
}

}  // namespace ladder
