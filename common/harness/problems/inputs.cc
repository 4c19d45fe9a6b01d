#include "common/harness/problems/inputs.h"

namespace ladder {

const char* input_text(Input input) {
  switch (input) {
    case Input::normal:
      return "normal(0,1)";
    case Input::integers:
      return "integers -3..3";
    case Input::ones:
      return "ones";
    case Input::zeros:
      return "zeros";
  }
  return "";
}

}  // namespace ladder
