// From a PTX instruction to an Inst. Each family of opcodes (a file in instructions/) gives a table of decode
// functions.
//
// A decode function reads the modifiers it understands (has, type, one_of …), names its registers with dst()
// and src(), and sets inst().inner. It is called twice: once to learn which registers an instruction reads
// and writes (from which registers are allocated), once with their final offsets; so it must do the same both
// times. A modifier that nobody asked for makes the instruction unsupported: nothing is ignored silently.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/simulator/launch/loader.h"
#include "common/simulator/program/program.h"
#include "common/simulator/program/speculation.h"

namespace simulator {

class Loader;

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

  // Register written. `as` gives the width for a sink "_"; a register of another width is the caller's affair
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
      const ptx::Operand& operand);  // a destination that nobody ever reads (or "_"); false in the first pass
  // Bits of the register or immediate as declared: 1 (pred), 8, 16, 32, 64, 128. `otherwise` for an immediate
  // or sink.
  int width(const ptx::Operand& operand, int otherwise);
  // A predicate source that may be negated ("!%p1"): sets `negated`.
  uint32_t predicate(const ptx::Operand& operand, bool& negated);
  // Of a load: see speculation.h.
  virtual std::optional<Speculation::Choice> speculated() { return {}; }
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

// The families. An opcode is in one table.
std::span<const Opcode> arithmetic_opcodes();  // arithmetic.cc   add sub mul mad fma div rem min max abs neg
                                               // … : integers here, by type on to the two functions below
std::span<const Opcode> bit_opcodes();  // bits.cc         and or xor not cnot shl shr shf lop3 bfe bfi prmt …
std::span<const Opcode> compare_opcodes();         // compare.cc      set setp selp slct testp
std::span<const Opcode> convert_opcodes();         // convert.cc      cvt
std::span<const Opcode> approximate_opcodes();     // approximate.cc  ex2 lg2 sin cos tanh rsqrt, rcp and sqrt
std::span<const Opcode> move_opcodes();            // move.cc         mov, special registers
std::span<const Opcode> control_opcodes();         // control.cc      bra brx call ret exit trap …
std::span<const Opcode> sync_opcodes();            // sync.cc         bar barrier fence membar …
std::span<const Opcode> cluster_opcodes();         // cluster.cc      mapa getctarank
std::span<const Opcode> cluster_launch_opcodes();  // cluster_launch.cc  clusterlaunchcontrol
std::span<const Opcode> register_pool_opcodes();   // register_pool.cc  setmaxnreg
std::span<const Opcode> warp_opcodes();            // warp_ops.cc     shfl vote match redux activemask elect
std::span<const Opcode> memory_opcodes();          // memory.cc       ld ldu st prefetch cvta isspacep …
std::span<const Opcode> stack_opcodes();           // stack.cc        alloca stacksave stackrestore
std::span<const Opcode> async_copy_opcodes();      // async_copy.cc    cp.async
std::span<const Opcode> mbarrier_opcodes();        // mbarrier.cc      mbarrier
std::span<const Opcode> atomic_opcodes();          // atomic.cc       atom red
std::span<const Opcode> tensor_map_opcodes();      // tma_map_instruction.cc  tensormap
std::span<const Opcode> matrix_load_opcodes();     // matrix_load.cc  ldmatrix stmatrix movmatrix
std::span<const Opcode> mma_opcodes();             // mma.cc          mma
std::span<const Opcode> wmma_opcodes();            // wmma.cc         wmma
std::span<const Opcode> wgmma_opcodes();           // wgmma.cc          wgmma
std::span<const Opcode> tcgen05_opcodes();         // tcgen05.cc        tcgen05: on to the following
void decode_tensor_mma(Decoder& decoder);          // tcgen05/mma.cc    tcgen05.mma
void decode_async_store(Decoder& decoder);         // async_store.cc  st.async red.async
Handler implicit_return();                 // control.cc      what stands behind a function's last instruction
void decode_bulk_store(Decoder& decoder);  // bulk_store.cc  st.bulk
void floating_arithmetic(
    Decoder& decoder);                    // floating.cc     the opcodes of arithmetic.cc on f32, f32x2, f64
void half_arithmetic(Decoder& decoder);   // half.cc         … on f16, f16x2, bf16, bf16x2
void decode_bulk_copy(Decoder& decoder);  // bulk_instruction.cc  cp with .bulk

}  // namespace simulator
