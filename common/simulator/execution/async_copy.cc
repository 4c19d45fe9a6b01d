// cp.async (PTX ISA 9.7.9.25.3).
#include "common/simulator/execution/async_copy.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simulator/execution/addresses.h"
#include "common/simulator/execution/decoder.h"
#include "common/simulator/execution/mbarrier.h"
#include "common/simulator/execution/memory_operand.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

struct CopyUse {
  AddressUse from, to;
  uint32_t to_base = 0;  // register
  uint64_t to_offset = 0;
  uint32_t present = 0;  // register: bytes to read; 0: all
  uint32_t ignore = 0;   // predicate register: read nothing; 0: none
  bool ignore_negated = false;
};

void end(Warp& warp, AsyncCopy& copy) {
  std::byte value[16] = {};
  std::memcpy(value, copy.from, copy.present);
  std::memcpy(warp.cta->shared.data() + copy.to, value, copy.bytes);
  ++warp.worker->events;
  ++warp.writes;
  if (warp.worker->checking) {
    uint32_t address[32] = {};
    address[copy.lane] = copy.to - shared_reserved;
    std::byte values[32 * 16];
    std::memcpy(values + copy.lane * copy.bytes, value, copy.bytes);
    // A race was told when the copy was asked for; from now on the bytes are new.
    warp.cta->shadow.access(warp.index, copy.pc, address, 1u << copy.lane, copy.bytes, true, false, values);
  }
  for (uint32_t index : copy.arrivals) {
    PendingArrival& arrival = warp.cta->arrivals[index];
    if (--arrival.left == 0) arrive_at_mbarrier(warp.cta->warps[arrival.warp], arrival.mbarrier, 1);
  }
}

// Ends the warp's copies that `which` names.
template <class Which>
void end_copies(Warp& warp, Which which) {
  std::vector<AsyncCopy> kept;
  kept.reserve(warp.copies.size());
  std::vector<AsyncCopy> ended;
  for (AsyncCopy& copy : warp.copies) (which(copy) ? ended : kept).push_back(std::move(copy));
  warp.copies = std::move(kept);
  for (AsyncCopy& copy : ended) end(warp, copy);
}

void run_copy(Warp& warp, const Inst& inst) {
  const CopyUse& use = *static_cast<const CopyUse*>(inst.data);
  Resolved to;
  Inst target = inst;
  target.a = use.to_base;
  target.imm = use.to_offset;
  resolve(warp, target, use.to, to);
  const uint32_t exec = warp.exec;
  const bool full = warp.full;
  uint32_t skip = 0;
  if (use.ignore) skip = use.ignore_negated ? ~warp.pred(use.ignore) : warp.pred(use.ignore);
  uint32_t present[32];
  uint32_t reads = 0;
  for (uint32_t l = 0; l < warp_size; ++l) {
    present[l] = use.present ? warp.reg<uint32_t>(use.present)[l] : inst.bytes;
    if (skip >> l & 1) present[l] = 0;
    if ((exec >> l & 1) && present[l] > inst.bytes) {
      fault(warp, FindingKind::illegal_instruction,
            "cp.async of " + std::to_string(present[l]) + " bytes into " + std::to_string(inst.bytes),
            static_cast<int>(l));
    }
    if (present[l]) reads |= exec & 1u << l;
  }
  Resolved from;
  if (reads) {  // lanes that read nothing may have any address
    warp.exec = reads;
    warp.full = full && reads == exec;
    resolve(warp, inst, use.from, from);
    warp.exec = exec;
    warp.full = full;
  }
  std::byte values[32 * 16] = {};
  for (uint32_t left = exec; left; left &= left - 1) {
    const uint32_t l = static_cast<uint32_t>(std::countr_zero(left));
    AsyncCopy copy;
    copy.lane = l;
    copy.group = warp.copy_group[l];
    copy.to = static_cast<uint32_t>(to.address[l]);
    copy.bytes = inst.bytes;
    copy.present = present[l];
    copy.pc = warp.frame->program->first + warp.pc - 1;
    copy.from = reads >> l & 1 ? from.at[l] : nullptr;
    if (copy.present) std::memcpy(values + l * inst.bytes, copy.from, copy.present);
    warp.copies.push_back(std::move(copy));
  }
  // Who reads or writes these bytes now races with the copy.
  stored(warp, target, use.to, to, values);
}

void run_commit(Warp& warp, const Inst&) {
  for (uint32_t l = 0; l < warp_size; ++l) warp.copy_group[l] += warp.exec >> l & 1;
}

// imm: groups that may still be under way; ~0: none may, committed or not.
void run_wait(Warp& warp, const Inst& inst) {
  const uint32_t exec = warp.exec;
  end_copies(warp, [&](const AsyncCopy& copy) {
    if (!(exec >> copy.lane & 1)) return false;
    return inst.imm == ~0ull || copy.group + inst.imm < warp.copy_group[copy.lane];
  });
}

// imm: offset; a: address; c: not 0: .noinc
void run_arrive(Warp& warp, const Inst& inst) {
  const AddressUse& use = *static_cast<const AddressUse*>(inst.data);
  Resolved at;
  resolve(warp, inst, use, at);
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const uint32_t l = static_cast<uint32_t>(std::countr_zero(left));
    const uint32_t address = static_cast<uint32_t>(at.address[l]);
    PendingArrival arrival{address, warp.index, 0};
    const uint32_t index = static_cast<uint32_t>(warp.cta->arrivals.size());
    for (AsyncCopy& copy : warp.copies) {
      if (copy.lane != l) continue;
      copy.arrivals.push_back(index);
      ++arrival.left;
    }
    if (!inst.c) expect_one_more(warp, address);
    warp.cta->arrivals.push_back(arrival);
    if (!arrival.left) arrive_at_mbarrier(warp, address, 1);
  }
}

void decode_copy(Decoder& d) {
  CopyUse use;
  use.to.kind = AccessKind::store;
  use.to.space = Space::shared;
  use.from.kind = AccessKind::load;
  use.from.space = Space::global;
  if (d.one_of({"shared", "shared::cta"}) < 0 || !d.has("global"))
    d.unsupported("this copy is not implemented");
  cache_operators(d);
  const Operand& size = d.operand(2);
  if (size.kind != Operand::Kind::immediate || (size.value != 4 && size.value != 8 && size.value != 16)) {
    d.unsupported("the size must be 4, 8 or 16");
  }
  const uint32_t bytes = static_cast<uint32_t>(size.value);
  use.to = memory_address(d, d.operand(0), use.to, bytes);
  use.to_base = d.inst().a;
  use.to_offset = d.inst().imm;
  use.from = memory_address(d, d.operand(1), use.from, bytes);
  // cp-size{, src-size or ignore-src}{, cache policy}: a policy has 64 bits and no effect here
  for (size_t i = 3; i < d.operand_count(); ++i) {
    const Operand& operand = d.operand(i);
    const int width = d.width(operand, operand.kind == Operand::Kind::immediate ? 32 : 0);
    if (width == 1) {
      use.ignore = d.predicate(operand, use.ignore_negated);
    } else if (width == 32 && i == 3) {
      use.present = d.src(operand, Type::u32);
    } else if (width == 64) {
      d.src(operand, Type::b64);
    } else {
      d.unsupported("this operand is not implemented");
    }
  }
  d.inst().data = d.keep(use);
  d.inst().inner = run_copy;
}

void decode(Decoder& d) {
  if (!d.has("async")) d.unsupported("this instruction is not implemented");
  if (d.has("bulk")) d.unsupported("bulk copies are not implemented");
  if (d.has("commit_group")) {
    d.inst().inner = run_commit;
  } else if (d.has("wait_all")) {
    d.inst().imm = ~0ull;
    d.inst().inner = run_wait;
  } else if (d.has("wait_group")) {
    if (d.operand(0).kind != Operand::Kind::immediate)
      d.unsupported("the number of groups must be an immediate");
    d.inst().imm = static_cast<uint64_t>(d.operand(0).value);
    d.inst().inner = run_wait;
  } else if (d.has("mbarrier")) {
    d.has("arrive");
    const bool no_increment = d.has("noinc");
    AddressUse use;
    use.kind = AccessKind::atomic;
    use.strong = true;
    memory_space(d, use);
    d.type();
    memory_address(d, d.operand(0), use, 8);
    d.inst().c = no_increment;
    d.inst().inner = run_arrive;
  } else {
    decode_copy(d);
  }
}

}  // namespace

void end_copies_for(Cta& cta, uint32_t mbarrier) {
  for (Warp& warp : cta.warps) {
    end_copies(warp, [&](const AsyncCopy& copy) {
      return std::any_of(copy.arrivals.begin(), copy.arrivals.end(),
                         [&](uint32_t index) { return cta.arrivals[index].mbarrier == mbarrier; });
    });
  }
}

void end_copies_at_random(Warp& warp, uint64_t random) {
  end_copies(warp, [&](const AsyncCopy&) {
    return (random = random * 6364136223846793005u + 1442695040888963407u) >> 62 == 0;
  });
}

std::span<const Opcode> async_copy_opcodes() {
  static const Opcode table[] = {{"cp", decode}};
  return table;
}

}  // namespace simulator
