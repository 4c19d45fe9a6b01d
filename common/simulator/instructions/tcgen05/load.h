// tcgen05.ld, .st and .wait (units/tcgen05_transfers.h).
#pragma once

namespace simulator {

class Decoder;
class Warp;
struct Inst;

void decode_tcgen05_load(Decoder& decoder);   // ld
void decode_tcgen05_store(Decoder& decoder);  // st
void decode_tcgen05_wait(Decoder& decoder);   // wait::ld, wait::st

}  // namespace simulator
