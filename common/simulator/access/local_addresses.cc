#include "common/simulator/access/local_addresses.h"

#include <bit>
#include <cstring>

#include "common/simulator/access/names.h"
#include "common/simulator/access/written.h"

namespace simulator {

std::byte* local_byte(Warp& warp, int lane, const AddressUse& use, uint32_t bytes, uint64_t address) {
  const AccessKind kind = use.kind;
  const uint64_t size = warp.frame->local_end();
  if (address > size || bytes > size - address) {
    // Before the first byte it is negative, as the index was.
    const int64_t offset = address >> 32 ? static_cast<int64_t>(address) : static_cast<int32_t>(address);
    fault(warp, FindingKind::local_out_of_bounds,
          attempt(kind, bytes) + " at " + (offset < 0 ? std::to_string(offset) : hexadecimal(address)) +
              " of local memory, of which this thread has " + std::to_string(size) + " bytes",
          lane);
  }
  const size_t at = local_index(address, lane);
  if (warp.worker->checking) {
    uint8_t* flags = warp.local_written.data() + at;
    if (kind != AccessKind::load) {
      std::memset(flags, 1, bytes);
    } else if (!all_written(flags, bytes) && !warp.frame->program->module->debug) {
      // (A debug build has every variable here, and copies those that nothing uses as well.)
      const auto written = [&](int32_t i) {
        const uint64_t other = address + static_cast<uint64_t>(int64_t{i});
        return other < size && warp.local_written[local_index(other, lane)] != 0;
      };
      if (reads_unwritten(warp, lane, bytes, use, written))
        never_written(warp, lane, kind, bytes, address, " of local memory");
    }
  }
  return warp.local.data() + at;
}

void resolve_local(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to) {
  const int first = std::countr_zero(warp.exec) & 31;
  const uint32_t count = lanes_that_count(warp, use);
  AddressUse of_others = use;
  of_others.used = 0;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const int l = std::countr_zero(left);
    if (to.address[l] & (inst.bytes - 1u))
      misaligned(warp, l, use.kind, inst.bytes, to.address[l], "local memory");
    if (inst.bytes > 16) fault(warp, FindingKind::not_supported, "a local access of more than 16 bytes", l);
    to.at[l] = local_byte(warp, l, count >> l & 1 ? use : of_others, inst.bytes, to.address[l]);
  }
  for (uint32_t left = ~warp.exec; left; left &= left - 1) to.at[std::countr_zero(left)] = to.at[first];
}

}  // namespace simulator
