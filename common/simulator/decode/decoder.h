// From a PTX instruction to an Inst. Each family of opcodes (a file in instructions/) gives a table of decode
// functions (opcodes.h there).
//
// A decode function reads the modifiers it understands (has, type, one_of …), names its registers with dst()
// and src(), and sets inst().inner. It is called twice: once to learn which registers an instruction reads
// and writes (from which registers are allocated), once with their final offsets; so it must do the same both
// times. A modifier that it does not read makes the instruction unsupported: nothing is ignored silently.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/simulator/program/carried.h"
#include "common/simulator/program/program.h"
#include "common/simulator/program/speculation.h"

namespace simulator {

// What a decode function may need of the kernel around its instruction.
class Loader {
 public:
  virtual ~Loader() = default;
  virtual uint64_t address_of(const ptx::Variable& variable) = 0;  // in the variable's own space
  // A called function: decoded later, the pointer is good now.
  virtual const Program* program_of(const ptx::Function& function) = 0;
  virtual uint64_t address_of(const ptx::Function& function) = 0;
  virtual void has_indirect_call() = 0;
  // Shared memory that the system keeps for groups of several warps (%reserved_smem_offset_1): its address. A
  // kernel that does not use it has none.
  virtual uint32_t group_scratch() = 0;
};

struct Unsupported : std::runtime_error {
  using runtime_error::runtime_error;
};

class Decoder {
 public:
  virtual ~Decoder() = default;

  const ptx::Instruction& ptx() const { return *ptx_; }
  Inst& inst() { return inst_; }
  MemoryUse& memory() { return memory_; }
  Program& program() { return *program_; }
  Loader& loader() { return *loader_; }

  // Is the modifier there? It then counts as understood.
  bool has(std::string_view modifier);
  // Which of these modifiers is there: its index; -1 where none is.
  int one_of(std::initializer_list<std::string_view> modifiers);
  // The nth modifier that is a type ("cvt.rn.f16.f32": type(0) = f16, type(1) = f32); Type::none where there
  // are fewer.
  ptx::Type type(int nth = 0);
  // The nth modifier, whatever it is (counts as understood); empty where there are fewer.
  std::string_view modifier(size_t nth);

  size_t operand_count() const { return ptx_->operands.size(); }
  const ptx::Operand& operand(size_t nth) const;  // throws Unsupported where there is no such operand

  // Register written. `as` gives the width for a sink "_"; a register of another width is left to the caller
  // (width()). With more than one destination, or after early_clobber(), destinations share no storage with
  // sources.
  uint32_t dst(const ptx::Operand& operand, ptx::Type as);
  uint32_t dst(size_t nth, ptx::Type as) { return dst(operand(nth), as); }
  // Register read; an immediate (or the address of a variable, or a special register that is constant)
  // becomes one. Floating immediates are converted where `as` is f16/bf16/f32/f64; integers are cut to the
  // width of `as`.
  uint32_t src(const ptx::Operand& operand, ptx::Type as);
  uint32_t src(size_t nth, ptx::Type as) { return src(operand(nth), as); }
  void early_clobber() { early_clobber_ = true; }
  void own_guard() { own_guard_ = true; }  // the handler looks at inst.guard itself (control flow)
  bool unused(
      const ptx::Operand& operand);  // a destination that is never read (or "_"); false in the first pass
  // Bits of the register or immediate as declared: 1 (pred), 8, 16, 32, 64, 128. `otherwise` for an immediate
  // or sink.
  int width(const ptx::Operand& operand, int otherwise);
  // A predicate source that may be negated ("!%p1"): sets `negated`.
  uint32_t predicate(const ptx::Operand& operand, bool& negated);
  // Of a load: see speculation.h.
  virtual std::optional<Speculation::Choice> speculated() { return {}; }
  // Of a load, of a store's value: see carried.h.
  virtual Carried::Load carried() { return {}; }
  virtual std::vector<CarriedByte> carried_here() { return {}; }
  // The condition code register CC.CF (add.cc, addc …): one predicate register per frame, 0 at first.
  virtual uint32_t carry() = 0;

  // A list of offsets that lives as long as the program: for inst().list.
  const uint32_t* list(std::vector<uint32_t> offsets);
  template <class T>
  const T* keep(T value) {  // for inst().data
    auto kept = std::make_shared<T>(std::move(value));
    const T* pointer = kept.get();
    program_->owned.push_back(std::move(kept));
    return pointer;
  }

  [[noreturn]] void unsupported(const std::string& why);

 protected:
  const ptx::Instruction* ptx_ = nullptr;
  Inst inst_;
  MemoryUse memory_;
  Program* program_ = nullptr;
  Loader* loader_ = nullptr;
  bool early_clobber_ = false, own_guard_ = false;
  uint64_t understood_ = 0;  // a bit per modifier
  virtual uint32_t offset_of(const ptx::Operand& operand, ptx::Type as, bool write) = 0;
  virtual bool is_unused(const ptx::Operand& operand) = 0;
};

using Decode = void (*)(Decoder&);
struct Opcode {
  std::string_view name;
  Decode decode;
};

}  // namespace simulator
