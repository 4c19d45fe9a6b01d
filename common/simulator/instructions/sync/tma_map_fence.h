// What a kernel does to tensor maps in global memory, and whether the tensormap proxy may see it (PTX ISA
// 9.7.13.4): a change needs a fence.proxy.tensormap::generic.release after it in its CTA, and then one with
// .acquire in the CTA that uses the map.
#pragma once

#include <cstdint>

namespace simulator {

class Decoder;
class Warp;

void decode_tma_map_fence(Decoder& decoder);

void tma_map_changed(Warp& warp, uint64_t address, bool released);
// The lane's bulk copy uses the map at this generic address.
void check_tma_map(Warp& warp, uint32_t lane, uint64_t address);

}  // namespace simulator
