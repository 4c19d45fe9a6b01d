// Matrices in shared memory, made of chunks of 16 bytes (wgmma_matrix.h), as factors of a tensor core.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/simulator/machine/machine.h"
#include "common/simulator/tensor_core/fragments.h"
#include "common/simulator/tensor_core/tensor_core.h"

namespace simulator {

// A chunk's elements.
using Widen = void (*)(const std::byte* chunk, float* to);
template <class Of>
void widen_chunk(const std::byte* chunk, float* to) {
  uint32_t words[4];
  std::memcpy(words, chunk, sizeof words);
  for (int w = 0; w < 4; ++w) {
    for (int i = 0; i < Of::per; ++i) to[w * Of::per + i] = Of::widen(words[w], i);
  }
}
template <>
inline void widen_chunk<fragments::OfF16>(const std::byte* chunk, float* to) {
  uint16_t halves[8];
  std::memcpy(halves, chunk, sizeof halves);
  widen_f16(halves, to, 8);
}

// `count` rows of A or columns of B from chunks of `per` elements: those of this tile come first. shared: the
// CTA's shared memory.
template <int across>
void load_factors(Widen widen, uint32_t per, bool mn_major, uint32_t count, uint32_t k,
                  const std::byte* shared, const uint32_t* chunks, Factors<across>& to) {
  float values[32];
  if (mn_major) {
    for (uint32_t mn = 0; mn < count; mn += per) {
      for (uint32_t i = 0; i < k; ++i) widen(shared + (*chunks++ & offset_in_cta), to.value[i] + mn);
    }
    return;
  }
  for (uint32_t row = 0; row < count; ++row) {
    for (uint32_t first = 0; first < k; first += per) {
      widen(shared + (*chunks++ & offset_in_cta), values);
      for (uint32_t i = 0; i < per; ++i) to.value[first + i][row] = values[i];
    }
  }
}

template <int across>
void negate(Factors<across>& factors, uint32_t k) {
  for (uint32_t i = 0; i < k; ++i) {
    for (float& value : factors.value[i]) value = -value;
  }
}

}  // namespace simulator
