// The gemms of public language models: what `gemm --sweep models` draws from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/rung.h"

namespace ladder {

// A linear layer y = x · W, with W of [k, n].
struct ModelLayer {
  const char* model;
  int n, k;
};
std::span<const ModelLayer> model_layers();

constexpr int default_model_shapes = 200;
constexpr int max_model_shapes = 1000;
constexpr double max_model_flop = 4e12;  // of a shape: about 6 ms of an H200's tensor cores

// `count` different shapes, at most max_model_shapes. Of three in a row two have n and k of a layer; of a
// third n and k are log-uniform multiples of 8 up to 16384. m is log-uniform from 1 to 16384; of one in three
// it is a power of two. A seed draws the same shapes on every machine, and fewer are the first of more.
std::vector<Gemm> model_shapes(int count, std::uint64_t seed);

}  // namespace ladder
