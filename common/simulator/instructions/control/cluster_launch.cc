#include <bit>
#include <cstring>

#include "common/simulator/access/written.h"
#include "common/simulator/counters/trace.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/instructions/async/bulk_copy.h"
#include "common/simulator/machine/cluster_queue.h"
#include "common/simulator/machine/machine.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Type;

// What is written to shared memory. Programs may only read it with query_cancel.
struct Response {
  uint32_t first[3];  // %ctaid
  uint32_t kind;
};
constexpr uint32_t canceled = 0x0c1c0001, refused = 0x0c1c0000;  // kinds
constexpr uint32_t no_cta = 0xa5a5a5a5;  // coordinates in a response that names none: undefined
static_assert(sizeof(Response) == 16 && sizeof(Response) == sizeof(Quad));

struct Address {
  uint32_t reg = 0;
  bool is_64 = false;
  uint64_t offset = 0;
};

struct TryUse {
  Address response, mbarrier;
  bool generic = false, multicast = false;
};

// The address in the shared memory of the thread's own CTA.
uint32_t own_shared(Warp& warp, int lane, const TryUse& use, const Address& address, const char* what,
                    uint32_t alignment) {
  const uint64_t value = address.offset + (address.is_64 ? warp.reg<uint64_t>(address.reg)[lane]
                                                         : warp.reg<uint32_t>(address.reg)[lane]);
  const uint64_t window = use.generic ? shared_window >> rank_shift : 0;
  if (value >> rank_shift != (window | warp.cta->rank)) {
    fault(warp, FindingKind::illegal_address, std::string(what) + " is not in the shared memory of this CTA",
          lane);
  }
  if (value % alignment != 0) {
    fault(warp, FindingKind::misaligned,
          std::string(what) + " is at " + hexadecimal(value & offset_in_cta) +
              " of shared memory: not a multiple of " + std::to_string(alignment),
          lane);
  }
  return static_cast<uint32_t>(value);
}

void run_try(Warp& warp, const Inst& inst) {
  const TryUse& use = *static_cast<const TryUse*>(inst.data);
  Cluster& cluster = *warp.cta->cluster;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (warp.cta->state<BulkCopies>().launches_over) {
      fault(warp, FindingKind::illegal_instruction,
            "another clusterlaunchcontrol.try_cancel by a CTA that has seen one fail: undefined behaviour",
            lane);
    }
    BulkCopy copy;
    copy.kind = BulkCopy::Kind::response;
    copy.warp = &warp;
    copy.lane = static_cast<uint32_t>(lane);
    copy.pc = warp.frame->program->first + warp.pc - 1;
    copy.shared = own_shared(warp, lane, use, use.response, "the response", sizeof(Response));
    copy.mbarrier = own_shared(warp, lane, use, use.mbarrier, "the mbarrier", 8);
    copy.extent = copy.bytes = sizeof(Response);
    Response response{{no_cta, no_cta, no_cta}, refused};
    if (const auto first = cancel_launch(cluster)) {
      std::memcpy(response.first, first->data(), sizeof response.first);
      response.kind = canceled;
    }
    copy.refused = response.kind == refused;
    copy.in_flight.resize(sizeof response);
    std::memcpy(copy.in_flight.data(), &response, sizeof response);
    if (const Trace* trace = trace_of(warp)) copy.issued = trace->now();
    const uint32_t ctas = static_cast<uint32_t>(cluster.ctas.size());
    begin_bulk_copy(std::move(copy), use.multicast ? (1u << ctas) - 1 : 0);
  }
}

Response response_at(Warp& warp, const Inst& inst, int lane) {
  const Response response = std::bit_cast<Response>(warp.reg<Quad>(inst.a)[lane]);
  if (response.kind != canceled && response.kind != refused) {
    fault(warp, FindingKind::illegal_instruction,
          "the operand is no response of clusterlaunchcontrol.try_cancel", lane);
  }
  return response;
}

void run_is_canceled(Warp& warp, const Inst& inst) {
  uint32_t yes = 0;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const int lane = std::countr_zero(left);
    yes |= static_cast<uint32_t>(response_at(warp, inst, lane).kind == canceled) << lane;
  }
  warp.set_pred(inst.d, yes);
}

// list: registers of the coordinates from inst.extra on, inst.imm of them.
void run_first_ctaid(Warp& warp, const Inst& inst) {
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const Response response = response_at(warp, inst, lane);
    for (uint32_t i = 0; i < inst.imm; ++i)
      warp.reg<uint32_t>(inst.list[i])[lane] = response.first[inst.extra + i];
  }
}

Address address(Decoder& d, const Operand& operand) {
  if (operand.kind != Operand::Kind::address || operand.elements.size() != 1) d.unsupported("not an address");
  const Operand& base = operand.elements[0];
  Address result;
  result.is_64 = d.width(base, 32) == 64;
  result.reg = d.src(base, result.is_64 ? Type::u64 : Type::u32);
  result.offset = static_cast<uint64_t>(operand.value);
  return result;
}

void decode_try(Decoder& d) {
  TryUse use;
  d.has("async");
  use.generic = !d.has("shared::cta");
  use.multicast = d.has("multicast::cluster::all");
  if (!d.has("mbarrier::complete_tx::bytes")) d.unsupported("without .mbarrier::complete_tx::bytes");
  d.type();
  use.response = address(d, d.operand(0));
  use.mbarrier = address(d, d.operand(1));
  d.program().cancels_launches = true;
  d.inst().data = d.keep(use);
  d.inst().inner = run_try;
}

void decode_query(Decoder& d) {
  d.type(0);
  d.type(1);
  if (d.has("is_canceled")) {
    d.inst().d = d.dst(0, Type::pred);
    d.inst().a = d.src(1, Type::b128);
    d.inst().inner = run_is_canceled;
    return;
  }
  const int form =
      d.one_of({"get_first_ctaid", "get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z"});
  if (form < 0) d.unsupported("unknown query");
  const Operand& to = d.operand(0);
  std::vector<uint32_t> list;
  if (form == 0) {
    if (!d.has("v4") || to.elements.size() != 4) d.unsupported("without .v4");
    for (size_t i = 0; i < 4; ++i) {
      const uint32_t reg = d.dst(to.elements[i], Type::b32);
      if (i < 3) list.push_back(reg);  // the fourth is unspecified
    }
  } else {
    list.push_back(d.dst(to, Type::b32));
  }
  d.early_clobber();
  d.inst().extra = static_cast<uint16_t>(form == 0 ? 0 : form - 1);
  d.inst().imm = list.size();
  d.inst().list = d.list(std::move(list));
  d.inst().a = d.src(1, Type::b128);
  d.inst().inner = run_first_ctaid;
}

void decode(Decoder& d) {
  if (d.has("try_cancel")) {
    decode_try(d);
  } else if (d.has("query_cancel")) {
    decode_query(d);
  }
}

}  // namespace

std::span<const Opcode> cluster_launch_opcodes() {
  static const Opcode table[] = {{"clusterlaunchcontrol", decode}};
  return table;
}

}  // namespace simulator
