// Activations of functions: registers and local memory.
#include "common/simulator/machine/frames.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simulator/machine/machine.h"
#include "common/simulator/memory/poison.h"

namespace simulator {

void begin_local(Warp& warp, uint32_t from, uint32_t to) {
  if (warp.local.size() < size_t{to} * warp_size) warp.local.resize(size_t{to} * warp_size);
  const auto fill = [&](void* all, int value) {
    std::byte* const begin = static_cast<std::byte*>(all) + size_t{from} * warp_size;
    const size_t bytes = size_t{to - from} * warp_size;
    if (!bytes) return;  // and there may be no memory at all
    if (warp.exec == ~0u) {
      std::memset(begin, value, bytes);
      return;
    }
    for (size_t at = 0; at < bytes; at += 16 * warp_size) {
      for (uint32_t left = warp.exec; left; left &= left - 1)
        std::memset(begin + at + static_cast<size_t>(std::countr_zero(left)) * 16, value, 16);
    }
  };
  fill(warp.local.data(), static_cast<int>(poison));
  if (!warp.worker->checking) return;
  if (warp.local_written.size() < warp.local.size()) warp.local_written.resize(warp.local.size());
  fill(warp.local_written.data(), 0);
}

Frame* new_frame(Warp& warp, const Program& program, Way way) {
  Worker& worker = *warp.worker;
  Frame* made = nullptr;
  // One that was last used for the same function has its constants already.
  for (size_t i = worker.frames.size(); i-- > 0 && i + 64 > worker.frames.size();) {
    if (worker.frames[i]->program == &program && worker.frames[i]->launch == warp.cta->grid->id &&
        worker.frames[i]->rank == warp.cta->rank) {
      made = worker.frames[i].release();
      worker.frames.erase(worker.frames.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  }
  if (!made) {
    if (worker.frames.size() > 256) {
      made = worker.frames.front().release();
      worker.frames.erase(worker.frames.begin());
    } else {
      made = new Frame;
    }
    made->program = &program;
    made->launch = warp.cta->grid->id;
    made->rank = warp.cta->rank;
    if (made->storage.size() < program.frame_bytes + 64) made->storage.resize(program.frame_bytes + 64);
    const uintptr_t address = reinterpret_cast<uintptr_t>(made->storage.data());
    made->registers = made->storage.data() + ((address + 63) / 64 * 64 - address);
    for (const Program::Constant& constant : program.constants) {
      std::byte* at = made->registers + constant.offset;
      if (constant.bytes == 0) {
        std::memcpy(at, &constant.low, 4);
      } else {
        const uint64_t rank = constant.shared ? uint64_t{made->rank} << rank_shift : 0;
        const uint64_t value[2] = {constant.low + rank, constant.high};
        for (int lane = 0; lane < warp_size; ++lane)
          std::memcpy(at + lane * constant.bytes, value, constant.bytes);
      }
    }
  }
  std::memset(made->registers, 0, 64);  // carry
  if (!program.watched.empty()) {
    for (Unit* unit : units_of(*warp.cta)) unit->begin(*made);
  }
  for (const Program::Formal& zeroed : program.zeroed)
    std::memset(made->registers + zeroed.offset, 0, zeroed.bytes);
  made->depth = way.caller ? way.caller->depth + 1 : 0;
  made->lanes = way.lanes = warp.exec;
  made->local_top = way.local_base = way.caller ? way.caller->local_end() : 0;
  made->ways.assign(1, way);
  made->dynamic = 0;
  made->unwritten.clear();
  const uint32_t local_end = made->local_top + program.local_bytes;
  if (made->depth > max_call_depth || local_end > max_local_bytes) {
    const uint32_t depth = made->depth;
    delete made;
    fault(warp, FindingKind::stack_overflow,
          "call depth " + std::to_string(depth) + " with " + std::to_string(local_end) +
              " bytes of local memory: more than a thread's stack holds");
  }
  begin_local(warp, made->local_top, local_end);
  return made;
}

void returned(Worker& worker, Frame& frame, uint32_t lanes) {
  for (Way& way : frame.ways) way.lanes &= ~lanes;
  std::erase_if(frame.ways, [](const Way& way) { return way.lanes == 0; });
  if ((frame.lanes &= ~lanes) == 0) worker.frames.emplace_back(&frame);
}

void exited(Worker& worker, Frame* frame, uint32_t lanes) {
  while (frame && lanes) {
    Frame* outer = nullptr;
    uint32_t rest = 0;
    for (const Way& way : frame->ways) {
      if (!(way.lanes & lanes)) continue;
      if (outer) exited(worker, outer, rest);
      outer = way.caller;
      rest = way.lanes & lanes;
    }
    returned(worker, *frame, lanes);
    frame = outer;
    lanes = rest;
  }
}

namespace {

// Some lanes of a warp's registers: those of one activation as another one of the same function has them.
class Columns {
 public:
  Columns(std::byte* to, const std::byte* from, uint32_t lanes) : to_(to), from_(from), lanes_(lanes) {}

  void copy(uint32_t offset, uint32_t bytes) const {
    for (uint32_t left = lanes_; left; left &= left - 1) {
      const size_t at = offset + static_cast<size_t>(std::countr_zero(left)) * bytes;
      std::memcpy(to_ + at, from_ + at, bytes);
    }
  }
  void copy_bits(uint32_t offset) const {
    uint32_t to, from;
    std::memcpy(&to, to_ + offset, 4);
    std::memcpy(&from, from_ + offset, 4);
    to = (to & ~lanes_) | (from & lanes_);
    std::memcpy(to_ + offset, &to, 4);
  }

 private:
  std::byte* to_;
  const std::byte* from_;
  uint32_t lanes_;
};

void copy_registers(const Program& program, const Columns& columns) {
  columns.copy_bits(0);  // carry
  for (size_t width = 0; width < slot_bytes.size(); ++width) {
    for (uint32_t i = 0; i < program.slots.count[width]; ++i) {
      const uint32_t at = program.slots.begin[width] + i * slot_bytes[width];
      width ? columns.copy(at, slot_bytes[width] / warp_size) : columns.copy_bits(at);
    }
  }
  for (const auto& [variable, offset] : program.call_params)
    columns.copy(offset, param_stride(static_cast<uint32_t>(variable->size)));
}

void copy_unwritten(std::vector<UnwrittenLoad>& to, const std::vector<UnwrittenLoad>& from, uint32_t lanes) {
  for (const UnwrittenLoad& load : from) {
    auto found = std::find_if(to.begin(), to.end(), [&](const auto& each) { return each.pc == load.pc; });
    if (found == to.end()) found = to.insert(found, UnwrittenLoad{load.pc, {}});
    for (size_t lane = 0; lane < warp_size; ++lane) {
      if (lanes >> lane & 1) found->bytes[lane] = load.bytes[lane];
    }
  }
}

}  // namespace

bool join(Warp& warp, Group& into, const Group& from) {
  Frame &to = *into.frame, &left = *from.frame;
  const uint32_t lanes = from.lanes;
  if (to.lanes & lanes) return false;
  copy_registers(*to.program, {to.registers, left.registers, lanes});
  copy_unwritten(to.unwritten, left.unwritten, lanes);
  for (const Way& way : left.ways) {
    if (!(way.lanes & lanes)) continue;
    const auto same = std::find_if(to.ways.begin(), to.ways.end(), [&](const Way& known) {
      return known.caller == way.caller && known.return_pc == way.return_pc &&
             known.local_base == way.local_base;
    });
    if (same != to.ways.end()) {
      same->lanes |= way.lanes & lanes;
    } else {
      to.ways.push_back(way);
      to.ways.back().lanes &= lanes;
    }
  }
  const uint32_t end = std::max(to.local_end(), left.local_end());
  to.local_top = std::max(to.local_top, left.local_top);
  to.dynamic = end - to.local_top - to.program->local_bytes;
  to.depth = std::max(to.depth, left.depth);
  to.lanes |= lanes;
  into.lanes |= lanes;
  if (lanes == left.lanes) {
    for (Unit* unit : units_of(*warp.cta)) unit->forget(warp, &left);
  }
  returned(*warp.worker, left, lanes);
  return true;
}

}  // namespace simulator
