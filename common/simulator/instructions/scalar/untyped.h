// The types of instructions on bits: .b16, .b32, .b64.
#pragma once

#include "common/simulator/decode/decoder.h"

namespace simulator {

inline bool is_untyped(ptx::Type type) {
  return type == ptx::Type::b16 || type == ptx::Type::b32 || type == ptx::Type::b64;
}

// A type .b16, .b32 or .b64, else a refusal.
inline ptx::Type untyped(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  if (!is_untyped(type)) decoder.unsupported("not for this type");
  return type;
}

}  // namespace simulator
