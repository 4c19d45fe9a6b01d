// The command line of a rung.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/rung.h"

namespace ladder {

enum class Reference {
  cublas,  // every element against cuBLAS in fp32, sampled elements against fp64 on the CPU
  cpu,     // every element against fp64 on the CPU: slow, and needs no library
};

struct Options {
  bool help = false;
  bool list = false;

  bool gemm = true;  // which problems to run
  bool fused_norm = true;
  std::optional<Gemm> gemm_shape;  // sizes given on the command line, completed by the defaults
  std::optional<FusedNorm> norm_shape;

  std::string variant;  // empty: the rung itself
  bool ablate = false;
  bool sweep = false;
  bool verify_only = false;
  Reference reference = Reference::cublas;

  int repeats = 0;  // 0: as many as fit a fixed time
  std::uint64_t seed = 1;
  std::string json;   // empty: no file
  bool rows = false;  // table rows without the header, for the course's ladder
};

// Reads the arguments after the program's name. Throws Failure(Exit::bad_usage) with one line that names the
// argument at fault and what it should have been.
Options parse_options(const std::vector<std::string>& arguments, const Rung& rung);

std::string help_text(const Rung& rung);
std::string list_text(const Rung& rung);

}  // namespace ladder
