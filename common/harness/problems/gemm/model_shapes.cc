#include "common/harness/problems/gemm/model_shapes.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "common/harness/problems/gemm/shape.h"

namespace ladder {
namespace {

// n: Q, K and V together, or gate and up together, where the model's code computes them as one product.
constexpr ModelLayer layers[] = {
    {"Llama-3-8B", 6144, 4096},    {"Llama-3-8B", 4096, 4096},    {"Llama-3-8B", 28672, 4096},
    {"Llama-3-8B", 4096, 14336},   {"Llama-3-70B", 10240, 8192},  {"Llama-3-70B", 8192, 8192},
    {"Llama-3-70B", 57344, 8192},  {"Llama-3-70B", 8192, 28672},  {"Qwen2.5-7B", 4608, 3584},
    {"Qwen2.5-7B", 3584, 3584},    {"Qwen2.5-7B", 37888, 3584},   {"Qwen2.5-7B", 3584, 18944},
    {"Qwen2.5-32B", 7168, 5120},   {"Qwen2.5-32B", 5120, 5120},   {"Qwen2.5-32B", 55296, 5120},
    {"Qwen2.5-32B", 5120, 27648},  {"Gemma-2-9B", 8192, 3584},    {"Gemma-2-9B", 3584, 4096},
    {"Gemma-2-9B", 28672, 3584},   {"Gemma-2-9B", 3584, 14336},   {"Phi-3-mini", 9216, 3072},
    {"Phi-3-mini", 3072, 3072},    {"Phi-3-mini", 16384, 3072},   {"Phi-3-mini", 3072, 8192},
    {"Mixtral-8x7B", 28672, 4096}, {"Mixtral-8x7B", 4096, 14336}, {"DeepSeek-V3", 2112, 7168},
    {"DeepSeek-V3", 24576, 1536},  {"DeepSeek-V3", 32768, 512},   {"DeepSeek-V3", 7168, 16384},
    {"DeepSeek-V3", 4096, 7168},   {"DeepSeek-V3", 7168, 2048},   {"DeepSeek-V3", 36864, 7168},
    {"DeepSeek-V3", 7168, 18432},  {"Qwen3-30B-A3B", 5120, 2048}, {"Qwen3-30B-A3B", 2048, 4096},
    {"Qwen3-30B-A3B", 1536, 2048}, {"Qwen3-30B-A3B", 2048, 768}};
constexpr int octaves_of_m = 14;        // up to 16384
constexpr int octaves_of_vectors = 11;  // n and k up to 2048 · 8
constexpr int vector = 8;               // bf16 numbers in 16 bytes

// The generator is specified to the bit, the standard's distributions are not. Nor is std::exp, so a power of
// two comes from square roots and products, which IEEE 754 rounds in one way.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : generator_(seed) {}

  int below(int limit) { return int(generator_() % std::uint64_t(limit)); }

  int log_uniform(int octaves) {  // from 1 to 2^octaves
    constexpr int bits = 16;
    const int exponent = below((octaves << bits) + 1);
    double value = double(1 << (exponent >> bits)), factor = 2;
    for (int bit = bits - 1; bit >= 0; --bit) {
      factor = std::sqrt(factor);
      if (exponent >> bit & 1) value *= factor;
    }
    return int(std::lround(value));
  }

 private:
  std::mt19937_64 generator_;
};

Gemm drawn(Draw& draw, int index) {
  const int kind = index % 3;
  const int m = kind == 0 ? 1 << draw.below(octaves_of_m + 1) : draw.log_uniform(octaves_of_m);
  if (kind < 2) {
    const ModelLayer& layer = layers[draw.below(std::size(layers))];
    return gemm_shape(m, layer.n, layer.k);
  }
  const int n = vector * draw.log_uniform(octaves_of_vectors);
  const int k = vector * draw.log_uniform(octaves_of_vectors);
  return gemm_shape(m, n, k);
}

}  // namespace

std::span<const ModelLayer> model_layers() {
  return layers;
}

std::vector<Gemm> model_shapes(int count, std::uint64_t seed) {
  Draw draw(seed);
  std::vector<Gemm> shapes;
  while (int(shapes.size()) < count) {
    const Gemm p = drawn(draw, int(shapes.size()));
    const bool there = std::any_of(shapes.begin(), shapes.end(), [&](const Gemm& other) {
      return other.m == p.m && other.n == p.n && other.k == p.k;
    });
    if (!there && 2.0 * p.m * p.n * p.k <= max_model_flop) shapes.push_back(p);
  }
  return shapes;
}

}  // namespace ladder
