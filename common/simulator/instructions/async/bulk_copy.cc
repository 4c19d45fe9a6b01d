#include "common/simulator/instructions/async/bulk_copy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "common/simulator/access/addresses.h"
#include "common/simulator/access/check_async.h"
#include "common/simulator/access/check_remote.h"
#include "common/simulator/access/names.h"
#include "common/simulator/counters/trace.h"
#include "common/simulator/instructions/async/opcodes.h"
#include "common/simulator/instructions/sync/mbarrier.h"
#include "common/simulator/instructions/sync/mbarrier_life.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/naming/mbarrier_names.h"
#include "common/simulator/settings/settings.h"
#include "common/simulator/units/mbarriers.h"
#include "common/simulator/units/overlap.h"

namespace simulator {
namespace {

// Throws, or reports, with the line of the instruction that issued the copy.
Finding about(const BulkCopy& copy, FindingKind kind, std::string what,
              std::vector<std::string> details = {}) {
  const Program& program = *program_at(*copy.warp->cta, copy.pc);
  return {kind, std::move(what), std::move(details),
          site_of(*copy.warp, program, copy.pc - program.first, static_cast<int>(copy.lane))};
}

// Elements of 6 bits, of which each takes a byte in shared memory: PTX ISA 5.5.1.1, .b6p2x16.
bool packs(const BulkCopy& copy) {
  return copy.kind == BulkCopy::Kind::store && copy.type == TmaType::b6_padded;
}

uint32_t bytes_in_shared(const BulkCopy& copy, const BulkPiece& piece) {
  return packs(copy) ? padded_group : piece.bytes;
}

// 16 of them, to 12 bytes.
void pack(std::byte* to, const std::byte* from) {
  uint32_t bits = 0, count = 0;
  for (uint32_t i = 0; i < padded_group; ++i) {
    bits |= (std::to_integer<uint32_t>(from[i]) & 0x3f) << count;
    for (count += 6; count >= 8; count -= 8, bits >>= 8) *to++ = std::byte(bits & 0xff);
  }
}

// Calls f(address in shared memory, byte of the piece, bytes) for what stays together.
template <class F>
void each_run(const BulkCopy& copy, const BulkPiece& piece, F f) {
  const uint32_t begin = copy.shared + piece.offset, end = bytes_in_shared(copy, piece);
  if (copy.swizzle == Swizzle::none) return f(begin, 0u, end);
  const uint32_t atom = copy.swizzle == Swizzle::b128_atom32_flip8 ? 8 : 16;
  for (uint32_t at = 0; at < end;) {
    const uint32_t bytes = std::min(end - at, atom - (begin + at) % atom);
    f(swizzled(copy.swizzle, begin + at), at, bytes);
    at += bytes;
  }
}

// What fills in for elements outside of the tensor.
void fill(const BulkCopy& copy, std::byte* to, uint32_t bytes) {
  std::memset(to, 0, bytes);
  if (!copy.fill_nan) return;
  for (uint32_t at = 0; at < bytes; ++at) to[at] = std::byte(at % 2 ? 0x7f : 0xf7);  // as an H200 has it
}

// Elements of tf32 are rounded. (.ftz changes nothing here: it flushes sums.)
void convert(TmaType type, std::byte* at, uint32_t bytes) {
  if (type != TmaType::tf32 && type != TmaType::tf32_ftz) return;
  for (uint32_t i = 0; i < bytes; i += 4) {
    uint32_t bits;
    std::memcpy(&bits, at + i, 4);
    const uint32_t size = bits & 0x7fffffffu;
    bits = size > 0x7f800000u ? 0x7fffe000u : (bits + 0xfffu + (bits >> 13 & 1)) & ~0x1fffu;
    std::memcpy(at + i, &bits, 4);
  }
}

void write_shared(BulkCopy& copy) {
  std::byte* shared = copy.cta->shared.data();
  if (copy.kind == BulkCopy::Kind::send) {
    std::byte* to = shared + copy.shared;
    const std::byte* from = copy.warp->cta->shared.data() + copy.source;
    if (copy.reduction) {
      copy.reduction(to, from, copy.bytes);
    } else {
      std::memmove(to, from, copy.bytes);
    }
    return;
  }
  if (copy.kind == BulkCopy::Kind::response) {
    std::memcpy(shared + copy.shared, copy.in_flight.data(), copy.bytes);
    return;
  }
  for (const BulkPiece& piece : copy.pieces) {
    each_run(copy, piece, [&](uint32_t address, uint32_t at, uint32_t bytes) {
      if (piece.global) {
        std::memcpy(shared + address, piece.global + at, bytes);
        convert(copy.type, shared + address, bytes);
      } else {
        fill(copy, shared + address, bytes);
      }
    });
  }
}

void read_shared(BulkCopy& copy) {
  if (copy.state != BulkCopy::State::issued) return;
  copy.state = BulkCopy::State::read;
  const std::byte* shared = copy.cta->shared.data();
  uint32_t total = 0;
  for (const BulkPiece& piece : copy.pieces) total += bytes_in_shared(copy, piece);
  copy.in_flight.resize(total);
  std::byte* to = copy.in_flight.data();
  for (const BulkPiece& piece : copy.pieces) {
    each_run(copy, piece, [&](uint32_t address, uint32_t at, uint32_t bytes) {
      std::memcpy(to + at, shared + address, bytes);
    });
    to += bytes_in_shared(copy, piece);
  }
}

// It has taken effect: the trace is that of the warp that issued it.
void trace_end(const BulkCopy& copy) {
  Trace* trace = trace_of(*copy.warp);
  if (!trace) return;
  const Program& program = *program_at(*copy.warp->cta, copy.pc);
  trace->landed(program, copy.pc - program.first, 1u << copy.lane, copy.issued, copy.group);
}

void write_piece(const BulkCopy& copy, const BulkPiece& piece, const std::byte* from) {
  if (copy.byte_mask != all_bytes) {
    for (uint32_t i = 0; i < piece.bytes; ++i) {
      if (!(copy.byte_mask >> i % 16 & 1)) continue;
      piece.global[i] = from[i];
      if (piece.written) piece.written[i] = 1;
    }
    return;
  }
  if (copy.reduction) {
    copy.reduction(piece.global, from, piece.bytes);
  } else if (packs(copy)) {
    pack(piece.global, from);
  } else {
    std::memcpy(piece.global, from, piece.bytes);
  }
  if (piece.written) std::memset(piece.written, 1, piece.bytes);
}

void write_global(BulkCopy& copy) {
  read_shared(copy);
  if (copy.state == BulkCopy::State::done) return;
  copy.state = BulkCopy::State::done;
  const std::byte* from = copy.in_flight.data();
  for (const BulkPiece& piece : copy.pieces) {
    write_piece(copy, piece, from);
    from += bytes_in_shared(copy, piece);
  }
  copy.in_flight = {};
  ++copy.cta->worker->events;
  trace_end(copy);
}

// The address in shared memory of the cluster.
uint32_t in_cluster(const Cta& cta, uint32_t address) {
  return cta.rank << rank_shift | address;
}

// Chunks of 16 bytes that a store reads. Of one that the tensor's edge runs through, the rest need not have
// been written.
std::vector<uint32_t> chunks_read(const BulkCopy& copy) {
  constexpr uint32_t chunk = 16;
  const Cta& cta = *copy.cta;
  std::vector<uint32_t> chunks;
  const auto whole = [&](uint32_t address) {
    for (uint32_t at = 0; at < chunk; at += cta.grid->entry->shared_granule) {
      if (!cta.cluster->shadow.ever_written(shadow_offset(cta, address + at), 1)) return false;
    }
    return true;
  };
  for (const BulkPiece& piece : copy.pieces) {
    const uint32_t begin = copy.shared + piece.offset, end = begin + bytes_in_shared(copy, piece);
    for (uint32_t at = begin / chunk * chunk; at < end; at += chunk) {
      const uint32_t address = swizzled(copy.swizzle, at) / chunk * chunk;
      if ((at >= begin && at + chunk <= end) || whole(address)) chunks.push_back(in_cluster(cta, address));
    }
  }
  return chunks;
}

// Reports to the checks which shared memory the copy reads or writes.
void note_accesses(Warp& warp, BulkCopy& copy) {
  if (!warp.worker->checking || copy.bytes == 0) return;
  if (copy.kind == BulkCopy::Kind::store) {
    const std::vector<uint32_t> chunks = chunks_read(copy);
    copy.access = async_begin(warp, copy.lane, false);
    return async_access(warp, copy.access, chunks.data(), static_cast<uint32_t>(chunks.size()), 16);
  }
  if (copy.kind == BulkCopy::Kind::send) {
    const uint32_t source = in_cluster(*warp.cta, copy.source);
    copy.source_access = async_begin(warp, copy.lane, false);
    async_access(warp, copy.source_access, &source, 1, copy.bytes);
  }
  const uint32_t to = in_cluster(*copy.cta, copy.shared);
  if (copy.kind == BulkCopy::Kind::response && settings().strict)
    async_reads_fenced(warp, copy.lane, to, copy.extent);
  copy.access = async_begin(warp, copy.lane, true);
  async_access(warp, copy.access, &to, 1, copy.extent);
}

// A copy from or to the shared memory of this CTA, counted there or by its peer.
void add(Warp& warp, BulkCopy copy, Cta& cta, Cta& counting) {
  const bool store = copy.kind == BulkCopy::Kind::store;
  const int lane = static_cast<int>(copy.lane);
  copy.cta = &cta;
  copy.counting = &counting;
  shared_range(warp, lane, store ? AccessKind::load : AccessKind::store, copy.extent, copy.shared);
  if (copy.kind == BulkCopy::Kind::send) shared_range(warp, lane, AccessKind::load, copy.bytes, copy.source);
  check_presence(warp, lane, cta);
  if (&counting != &cta) check_presence(warp, lane, counting);
  if (!store && !mbarriers_of(counting).contains(copy.mbarrier)) {
    throw Fault(about(copy, FindingKind::illegal_instruction,
                      "there is no mbarrier object where the copy is to be counted, " +
                          name_of_mbarrier(counting, copy.mbarrier) +
                          (&counting == warp.cta ? "" : " of " + name_of_cta(counting)) +
                          ": it has not been initialised"));
  }
  if (!store) {
    check_mbarrier(warp, counting, copy.mbarrier);
    copy.phase = mbarrier_phase(counting, copy.mbarrier);
  }
  if (store) overlap_issue(warp, Groups::stores);
  if (copy.kind == BulkCopy::Kind::load) overlap_copy(warp, counting, copy.mbarrier, copy.phase);
  note_accesses(warp, copy);
  (store ? cta.state<BulkCopies>().leaving : counting.state<BulkCopies>().arriving)
      .push_back(std::move(copy));
}

// A copy to shared memory happens.
void arrive(BulkCopy& copy) {
  if (copy.state == BulkCopy::State::done) return;
  copy.state = BulkCopy::State::done;
  write_shared(copy);
  copy.pieces = {};
  ++copy.cta->worker->events;
  trace_end(copy);
  const MbarrierArrival by{"a copy", *copy.warp, copy.lane, copy.pc};
  if (arrives_late(*copy.counting, copy.mbarrier, copy.phase, by)) return;
  copy.phase = mbarrier_phase(*copy.counting, copy.mbarrier);
  const std::string problem = complete_bytes(*copy.counting, copy.mbarrier, copy.bytes);
  if (!problem.empty()) throw Fault(about(copy, FindingKind::illegal_instruction, problem));
}

void end_copies_for(Cta& cta, uint32_t mbarrier) {
  const uint64_t phase = mbarrier_phase(cta, mbarrier);
  for (BulkCopy& copy : cta.state<BulkCopies>().arriving) {
    if (copy.mbarrier != mbarrier || copy.state == BulkCopy::State::done) continue;
    arrive(copy);
    if (mbarrier_phase(cta, mbarrier) != phase) return;
  }
}

void bulk_copies_seen(Warp& warp, Cta& cta, uint32_t mbarrier) {
  const uint64_t phase = mbarrier_phase(cta, mbarrier);
  for (BulkCopy& copy : cta.state<BulkCopies>().arriving) {
    if (copy.mbarrier != mbarrier || copy.state != BulkCopy::State::done || copy.phase + 1 != phase) continue;
    copy.seen = true;
    warp.cta->state<BulkCopies>().launches_over |= copy.refused;
    async_seen(warp, copy.access);
    async_seen(*copy.warp, copy.source_access);
  }
  std::erase_if(cta.state<BulkCopies>().arriving, [&](const BulkCopy& copy) {
    return copy.mbarrier == mbarrier && copy.state == BulkCopy::State::done && copy.phase + 1 < phase;
  });
}

void end_copies_at_random(Cta& cta, uint64_t random) {
  const auto chance = [&] {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 40 & 3) == 0;
  };
  for (BulkCopy& copy : cta.state<BulkCopies>().arriving) {
    if (chance()) arrive(copy);
  }
  for (BulkCopy& copy : cta.state<BulkCopies>().leaving) {
    if (chance()) read_shared(copy);
    if (copy.state == BulkCopy::State::read && chance()) write_global(copy);
  }
}

bool end_stores(Cta& cta) {
  bool any = false;
  for (BulkCopy& copy : cta.state<BulkCopies>().leaving) {
    any |= copy.state != BulkCopy::State::done;
    write_global(copy);
  }
  return any;
}

void end_bulk_copies(Cta& cta) {
  end_stores(cta);
  cta.state<BulkCopies>().leaving.clear();
  const auto report = [&](const BulkCopy& copy, const char* memory) {
    if (!cta.worker->checking || copy.seen) return;
    Finding found = about(copy, FindingKind::unfinished_async,
                          std::string("a copy ") + memory + " may still be in flight when " +
                              (&cta == copy.warp->cta ? "the CTA" : name_of_cta(cta)) +
                              " ends: no thread has waited for it");
    if (std::string text = unexpected_bytes(copy); !text.empty()) found.details.push_back(std::move(text));
    if (settings().checks == Checks::fail) throw Fault(std::move(found));
    cta.grid->findings.add(std::move(found));
  };
  const auto concerns = [&](const BulkCopy& copy) { return copy.cta == &cta || copy.counting == &cta; };
  for (const auto& other : cta.cluster->ctas) {
    std::deque<BulkCopy>& arriving = other->state<BulkCopies>().arriving;
    for (const BulkCopy& copy : arriving) {
      if (copy.kind == BulkCopy::Kind::send && copy.warp->cta == &cta) report(copy, "from shared memory");
    }
    std::deque<BulkCopy> ended;
    for (BulkCopy& copy : arriving) {
      if (concerns(copy)) ended.push_back(std::move(copy));
    }
    std::erase_if(arriving, concerns);
    for (const BulkCopy& copy : ended) report(copy, "to shared memory");
  }
}

// What the mbarrier has counted: a line each.
void describe_copies(const Cta& cta, uint32_t mbarrier, std::vector<std::string>& lines) {
  for (const BulkCopy& copy : cta.state<BulkCopies>().arriving) {
    if (copy.mbarrier != mbarrier || copy.phase != mbarrier_phase(cta, mbarrier) ||
        copy.state != BulkCopy::State::done)
      continue;
    lines.push_back("  it has counted " + std::to_string(copy.bytes) + " bytes of the copy by thread " +
                    thread_name(*copy.warp->cta, thread_index(*copy.warp, copy.lane)) + " at " +
                    place_of(*copy.warp->cta, copy.pc));
  }
}

class BulkCopyUnit final : public Unit {
  void launch(Grid& grid) override { grid.make<ChangedMaps>(); }
  void start(Cta& cta) override {
    cta.make<BulkCopies>() = {};
    for (Warp& warp : cta.warps) warp.make<BulkGroups>() = {};
  }
  void end(Cta& cta) override { end_bulk_copies(cta); }
  bool pending(const Cta& cta) const override { return !cta.state<BulkCopies>().empty(); }
  void groups(const Warp& warp, size_t lane, CommittedGroups& groups) const override {
    groups.bulk = warp.state<BulkGroups>().committed[lane];
  }
  void land_at_random(Cta& cta, uint64_t random) override { end_copies_at_random(cta, random); }
  void land_for(Cta& cta, uint32_t mbarrier) override { end_copies_for(cta, mbarrier); }
  bool land_stores(Cta& cta) override { return end_stores(cta); }
  void seen(Warp& warp, Cta& cta, uint32_t mbarrier) override { bulk_copies_seen(warp, cta, mbarrier); }
  void describe(const Cta& cta, uint32_t mbarrier, std::vector<std::string>& lines) const override {
    describe_copies(cta, mbarrier, lines);
  }
};

}  // namespace

Unit& bulk_copy_unit() {
  static BulkCopyUnit unit;
  return unit;
}

void begin_bulk_copy(BulkCopy copy, uint32_t mask) {
  Warp& warp = *copy.warp;
  const auto& ctas = warp.cta->cluster->ctas;
  const uint32_t rank = copy.shared >> rank_shift;
  const bool store = copy.kind == BulkCopy::Kind::store;
  if (rank >= ctas.size() || mask >> ctas.size())
    throw Fault(about(copy, FindingKind::illegal_address, "the cluster has no CTA of that rank"));
  const uint32_t rank_of_mbarrier = store ? rank : copy.mbarrier >> rank_shift;
  if (!mask && (rank_of_mbarrier ^ rank) > (copy.pairs ? 1u : 0u)) {
    throw Fault(about(copy, FindingKind::illegal_instruction,
                      copy.pairs ? "the mbarrier is neither in the CTA whose shared memory is written nor in "
                                   "its peer"
                                 : "the mbarrier is not in the CTA whose shared memory is written"));
  }
  copy.shared &= offset_in_cta;
  copy.mbarrier &= offset_in_cta;
  // PTX ISA, cp.async.bulk.tensor: with .cta_group::2 what is counted for each CTA of the mask is counted
  // there or by its peer, whichever has the parity of the CTA that the mbarrier's address names.
  for (uint32_t left = mask ? mask : 1u << rank; left; left &= left - 1) {
    const uint32_t to = static_cast<uint32_t>(std::countr_zero(left));
    const uint32_t counting = copy.pairs ? (to & ~1u) | (rank_of_mbarrier & 1) : to;
    if (counting >= ctas.size())
      throw Fault(about(copy, FindingKind::illegal_address, "the cluster has no CTA of that rank"));
    add(warp, copy, *ctas[to], *ctas[counting]);
  }
  ++warp.worker->events;
  ++warp.writes;
}

namespace {

// Of the first of these lanes: groups whose memory it must not write yet.
uint32_t groups_of_stores(const Warp& warp) {
  std::set<uint32_t> groups;
  for (const BulkCopy& copy : warp.cta->state<BulkCopies>().leaving) {
    if (copy.warp == &warp && !copy.seen && copy.lane == static_cast<uint32_t>(std::countr_zero(warp.exec)))
      groups.insert(copy.group);
  }
  return static_cast<uint32_t>(groups.size());
}

}  // namespace

void wait_for_groups(Warp& warp, uint32_t newest, bool reading) {
  std::deque<BulkCopy>& leaving = warp.cta->state<BulkCopies>().leaving;
  const bool counting = warp.worker->counting;
  const uint32_t before = counting ? groups_of_stores(warp) : 0;
  for (BulkCopy& copy : leaving) {
    if (copy.warp != &warp || !(warp.exec >> copy.lane & 1)) continue;
    if (copy.group + newest >= warp.state<BulkGroups>().committed[copy.lane]) continue;
    if (reading) {
      read_shared(copy);
    } else {
      write_global(copy);
    }
    if (!copy.seen) async_seen(warp, copy.access);
    copy.seen = true;
  }
  if (counting) overlap_wait(warp, Groups::stores, before, groups_of_stores(warp));
  std::erase_if(leaving,
                [](const BulkCopy& copy) { return copy.seen && copy.state == BulkCopy::State::done; });
}

}  // namespace simulator
