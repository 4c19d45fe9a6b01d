// How the inputs of a run are drawn, and what its outputs are compared with.
#pragma once

#include <cstdint>

namespace ladder {

enum class Reference {
  cublas,  // every element against cuBLAS in fp32, sampled elements against fp64 on the CPU
  cpu,     // every element against fp64 on the CPU: slow, and needs no library; the only one on the simulator
};

// What the elements of a gemm's timed A and B are.
enum class Input {
  normal,    // N(0,1)
  integers,  // whole numbers from -3 to 3: few bits of the significand are set
  ones,
  zeros,
};
const char* input_text(Input input);  // "normal(0,1)", "integers -3..3", "ones", "zeros"

struct InputOptions {
  std::uint64_t seed = 1;
  Reference reference = Reference::cublas;
  Input input = Input::normal;  // of a gemm
  int outlier = 0;    // what the last element of a gemm's normal A and of its B is; 0: like the others
  bool even = false;  // every group of a grouped_gemm has the same number of rows, or one more
};

}  // namespace ladder
