// Functions that every module may call and none defines: printf, assert, malloc, free,
// cudaGraphSetConditional.
#pragma once

#include <string>
#include <string_view>

namespace simulator {

class Decoder;

// Sets the handler of a call of `name`; false: there is no such function. inst.list is that of a call.
bool decode_builtin(Decoder& decoder, std::string_view name);

// Why a function that nothing defines cannot be called.
std::string why_missing(std::string_view name);

}  // namespace simulator
