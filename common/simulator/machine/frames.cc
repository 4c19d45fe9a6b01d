// Activations of functions: registers and local memory.
#include "common/simulator/machine/frames.h"

#include <bit>
#include <cstring>

#include "common/simulator/machine/machine.h"

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
  fill(warp.local.data(), 0xa5);
  if (!warp.worker->checking) return;
  if (warp.local_written.size() < warp.local.size()) warp.local_written.resize(warp.local.size());
  fill(warp.local_written.data(), 0);
}

Frame* new_frame(Warp& warp, const Program& program, Frame* caller) {
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
  made->caller = caller;
  made->depth = caller ? caller->depth + 1 : 0;
  made->lanes = warp.exec;
  made->local_base = caller ? caller->local_end() : 0;
  made->dynamic = 0;
  made->unwritten.clear();
  const uint32_t local_end = made->local_base + program.local_bytes;
  if (made->depth > max_call_depth || local_end > max_local_bytes) {
    const uint32_t depth = made->depth;
    delete made;
    fault(warp, FindingKind::stack_overflow,
          "call depth " + std::to_string(depth) + " with " + std::to_string(local_end) +
              " bytes of local memory: more than a thread's stack holds");
  }
  begin_local(warp, made->local_base, local_end);
  return made;
}

}  // namespace simulator
