// A function of PTX made ready to run: one Inst per PTX instruction, registers as byte offsets into a warp's
// frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/simulator/program/registers.h"
#include "common/simulator/ptx/module.h"

namespace simulator {

class Warp;
class Watch;
struct Inst;
struct Program;
using Handler = void (*)(Warp&, const Inst&);

// Registers of a warp are arrays of 32 lanes. A register is named by its byte offset in the frame:
//   pred: one uint32_t, a bit per lane · 8 and 16 bits: 32 × uint16_t · 32 bits: 32 × uint32_t · 64: 32 ×
//   uint64_t 128: 32 × 16 bytes
// Immediates are registers too: the decoder gives each distinct one a register that is filled before the
// frame is used.
struct Inst {
  Handler run = nullptr;  // what the loop calls: `inner`, or the guard that calls it for the lanes whose
                          // predicate holds
  Handler inner = nullptr;
  uint32_t d = 0, a = 0, b = 0, c = 0;  // registers: destination, sources
  uint32_t guard = 0;                   // predicate register
  bool guard_negated = false;
  uint8_t bytes = 0;               // memory instructions: bytes per lane
  uint16_t extra = 0;              // the handler's own
  uint64_t imm = 0;                // the handler's own: address offset, branch target, …
  const uint32_t* list = nullptr;  // further registers
  const void* data = nullptr;      // further constants, owned by the Program
};
static_assert(sizeof(Inst) == 64, "one cache line an instruction");

// A memory instruction, statically (counters and checks read it).
struct MemoryUse {
  // copy: an asynchronous one, by all lanes; bulk: by one thread.
  enum class Kind : uint8_t { none, load, store, atomic, copy, bulk };
  Kind kind = Kind::none;
  ptx::Space space = ptx::Space::global;  // the space named in the instruction
  bool generic = false;
  uint8_t bytes = 0;  // per lane
};

// An instruction that is watched (decode/watch.h): what it does, and the offsets of the registers that it is
// watched for.
struct Watched {
  Handler run = nullptr;
  std::vector<uint32_t> registers;
};

// What an instruction does with values that loads have brought into registers, for the counters of overlap.
struct Observed {
  enum : uint8_t {
    nothing = 0,
    arithmetic = 1,   // floating-point, or for the tensor cores
    product = 2,      // of matrices in registers
    barrier = 4,      // of the CTA
    shared_read = 8,  // a load from shared memory
    load = 16,        // `writes` come from memory
    move = 32,        // `writes` are copies of `reads`
    use = 64,         // of `reads`
  };
  uint8_t is = nothing;
  std::vector<uint32_t> reads, writes;  // numbers among the function's loaded values
};

struct Program {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  std::vector<Inst> code;         // code.size() = instructions + 1: the last one is an implicit ret
  std::vector<MemoryUse> memory;  // as long as code
  uint32_t frame_bytes = 0;       // registers and call parameters of one activation
  RegisterSlots slots;            // where its registers are in it
  uint32_t local_bytes = 0;       // local memory per thread of one activation
  uint32_t words_live = 0;        // most 32-bit registers alive at once
  uint32_t most_registers = 0;    // that it may request at run time
  struct Constant {               // filled in when a frame is made
    uint32_t offset;
    uint32_t bytes;  // per lane: 2, 4, 8, 16; 0: a predicate, all lanes
    uint64_t low, high;
    bool shared;  // the address of a shared variable: in each CTA of a cluster another one
  };
  std::vector<Constant> constants;
  struct Formal {
    uint32_t offset, bytes;
  };  // .param of a .func: lane l at offset + l · param_stride(bytes)
  std::vector<Formal> params, results;
  std::map<const ptx::Variable*, uint32_t> call_params;  // every .param variable of the body: its offset
  uint32_t call_param_bytes = 0;
  std::vector<Formal> zeroed;   // registers that may be read before they are written: offset, bytes in all
  uint32_t shared_bytes = 0;    // static shared memory of the kernel and all it calls
  uint32_t shared_granule = 4;  // bytes: the narrowest access to shared or generic memory (1, 2 or 4)
  bool prints = false, allocates = false;  // calls printf, malloc
  bool order_sensitive = false;   // communicates between CTAs in a way whose outcome depends on their order
  bool cancels_launches = false;  // that of clusters which have not begun
  bool reads_clock = false;       // %clock, %globaltimer
  // Addresses (register, offset) of atomic compare-and-swaps. The load in front of such a loop, which the
  // toolkit's own headers write as a plain one, is part of the atomic update: a stale value costs one more
  // iteration.
  std::set<std::pair<uint32_t, int64_t>> compared;
  std::shared_ptr<const Watch> watch;  // null: no instruction is watched
  std::vector<Watched> watched;        // as long as code, or empty
  std::set<uint32_t> compared_values;  // registers that they compare with: such a load's destination
  // Qualifiers that must be the same in all instructions of a kernel: the rule in words, the value.
  std::map<std::string, uint32_t> agreed;
  std::vector<Observed> observed;  // as long as code
  uint32_t loaded_values = 0;
  bool relaxed_ends = false;             // its relaxed barriers order what they separate, but for `strict`
  uint32_t first = 0;                    // index of code[0] in the kernel's per-instruction counters
  std::vector<std::string> unsupported;  // "PTX line N: text: why"; not empty: the kernel is not launched
  std::deque<std::vector<uint32_t>> lists;
  std::deque<std::shared_ptr<void>> owned;
};

// Bytes between the lanes of a call parameter in a frame.
constexpr uint32_t param_stride(uint32_t bytes) {
  return (bytes + 15) / 16 * 16;
}

}  // namespace simulator
