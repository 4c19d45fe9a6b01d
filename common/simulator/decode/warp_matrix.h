// What the instructions on matrices that a whole warp holds have in common.
#pragma once

#include <bit>
#include <string>
#include <vector>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/machine/scheduler.h"

namespace simulator {

// .sync.aligned: are all lanes of the warp here? If not, those that are wait; lanes that have exited are a
// finding. This applies the guard, too: decoder.own_guard().
inline bool whole_warp(Warp& warp, const Inst& inst) {
  if (!warp.enter_guard(inst)) return false;
  if (warp.exec != warp.live) {
    wait_for_others(warp, warp.exec);
    return false;
  }
  if (warp.live != ~0u && warp.worker->checking) {
    finding(warp, FindingKind::invalid_shuffle,
            "all 32 threads of a warp have to execute this, but only " +
                std::to_string(std::popcount(warp.live)) + " are there");
  }
  return true;
}

// {r0, r1, …}: `count` registers of the type's width, whose offsets are added to the list.
inline void registers_of(Decoder& d, const ptx::Operand& operand, size_t count, ptx::Type as, bool write,
                         std::vector<uint32_t>& list) {
  const bool vector = operand.kind == ptx::Operand::Kind::vector;
  if ((vector ? operand.elements.size() : 1) != count) {
    d.unsupported(std::to_string(count) + " registers expected in '" + std::string(operand.text) + "'");
  }
  for (size_t i = 0; i < count; ++i) {
    const ptx::Operand& each = vector ? operand.elements[i] : operand;
    if (d.width(each, ptx::bits(as)) != ptx::bits(as)) d.unsupported("an operand of another width");
    list.push_back(write ? d.dst(each, as) : d.src(each, as));
  }
}

// A register of the warp holds an 8×8 matrix of 4-byte words here: lane 4g + t has word t of row g. (Rows of
// 8 words would be two registers.) Transposed, so that the rows are neighbours.
template <class Word>
void turn(const Word from[32], Word to[4][8]) {
  for (int g = 0; g < 8; ++g) {
    for (int t = 0; t < 4; ++t) to[t][g] = from[4 * g + t];
  }
}

}  // namespace simulator
