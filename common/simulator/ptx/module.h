// PTX text as a tree: modules, functions, variables, instructions with their operands resolved. (PTX ISA 9.0,
// sections 4 "Syntax", 5 "State Spaces, Types, and Variables", 11 "Directives".) Nothing here knows what an
// instruction does.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace simulator::ptx {

enum class Type : uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f32x2,
  f64
};
int bits(Type type);  // 1 for pred, 0 for none
bool parse_type(std::string_view name,
                Type& type);  // "u32" → Type::u32; false where the name is no fundamental type

enum class Space : uint8_t { reg, constant, global, local, param, shared };

// A place in the CUDA source (.loc). Location 0 of a module is "unknown".
struct Location {
  uint32_t file = 0;  // key in Module::files
  uint32_t line = 0;
  uint32_t inlined_at = 0;  // index of the Location of the call that was inlined here; 0: not inlined
};

struct Function;

struct Variable {
  std::string_view name;
  Space space = Space::global;
  Type type = Type::b8;          // element type (of a .v4 .f32 too: f32)
  uint32_t align = 1;            // bytes
  uint64_t size = 0;             // bytes; 0 for an unsized extern array (dynamic shared memory)
  bool external = false;         // .extern
  bool managed = false;          // .attribute(.managed)
  std::vector<uint8_t> initial;  // empty: zeroes; else `size` bytes
  struct Reference {             // an initial value that is an address
    uint64_t offset;          // bytes from the variable's start; bits(Variable::type) / 8 bytes are filled in
    std::string_view symbol;  // a variable or function of the module (find_variable, find)
    int64_t addend;
    bool generic;           // generic(symbol)
    uint64_t mask = ~0ull;  // mask(): which byte of the address, as in 0xFF00(symbol); all bits otherwise
  };
  std::vector<Reference> references;
};

struct Register {
  std::string_view name;  // for messages; scopes may hold equal names
  Type type;
};

// Vector registers ("v" of ".reg .v4 .f32 v") are four registers: "v" is a vector operand, "v.x" a register.
struct Operand {
  enum class Kind : uint8_t {
    none,
    reg,        // index: Function::registers. `negated`: "!%p1"
    immediate,  // value: integer, sign-extended
    floating,   // value: the bits of an f32 (0f…) or an f64 (0d…, or decimal); floating_bits is 32 or 64
    variable,   // variable + value (bytes)
    function,   // function (a call target or an address taken)
    label,      // index: instruction the label stands before (may be instructions.size())
    special,    // text: "%tid.x", "%clock64", "WARP_SZ" …
    vector,     // elements: {a, b, …}
    pair,       // elements: p|q
    sink,       // "_"
    address,  // [base + value]: elements[0] is the base (reg, variable or immediate); more elements where the
              // brackets hold a list, such as [tensor_map, {x, y}] (elements: base, vector)
    name,     // text: anything else by name: .callprototype label, brx.idx's .branchtargets label
    part,     // elements[0] is the register of which a part is taken, text: "%r1.b0", "%r1.h1" (video
              // instructions)
  };
  Kind kind = Kind::none;
  bool negated = false;
  uint8_t floating_bits = 0;
  uint32_t index = 0;
  int64_t value = 0;
  const Variable* variable = nullptr;
  const Function* function = nullptr;
  std::string_view text;  // the operand as written
  std::vector<Operand> elements;
};

// "call (results), callee, (params), prototype;" always has 3 or 4 operands, whatever is left out in the
// text: [0] vector of results, may be empty · [1] function or reg · [2] vector of params, may be empty · [3]
// name, if given, of the .callprototype or .calltargets.
struct Instruction {
  std::string_view opcode;                  // "ld"
  std::vector<std::string_view> modifiers;  // {"global", "nc", "v4", "f32"}; "::" stays within one modifier
  std::string_view text;                    // as written, from guard to before the semicolon
  std::vector<Operand> operands;
  int32_t guard = -1;  // register index of @%p, -1: none
  bool guard_negated = false;
  uint32_t line = 0;      // of the PTX text, from 1
  uint32_t location = 0;  // index in Module::locations
  // .pragma "used_bytes_mask" in front of a load: a bit per byte, 0: it is not used (padding of a struct).
  uint32_t used_bytes = ~0u;
};

struct Function {
  std::string_view name;
  bool entry = false;
  bool defined = false;                  // false: only declared (.extern .func, or a body elsewhere)
  std::vector<const Variable*> params;   // entry: kernel parameters; func: formal parameters (.param or .reg)
  std::vector<const Variable*> results;  // func: return parameters
  std::deque<Variable> variables;   // every .param (formal and call-scope), .local, .shared declared inside
  std::vector<Register> registers;  // first the formal parameters in .reg space: results, then params
  std::vector<Instruction> instructions;
  std::map<std::string_view, std::vector<uint32_t>>
      branch_targets;                   // label of .branchtargets → instruction indices
  std::vector<uint32_t> label_targets;  // every instruction index that a label stands before, sorted, unique
  uint32_t max_threads[3] = {0, 0, 0};  // .maxntid; 0: not given
  uint32_t required_threads[3] = {0, 0, 0};  // .reqntid
  uint32_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster
  uint32_t max_cluster_rank = 0;             // .maxclusterrank
  bool explicit_cluster = false;             // .explicitcluster
  bool blocks_are_clusters = false;          // .blocksareclusters: a launch counts clusters, not CTAs
  uint32_t min_ctas = 0;                     // .minnctapersm
  uint32_t max_registers = 0;                // .maxnreg; 0: not given
  uint32_t line = 0;                         // of the PTX text

  std::string_view body;                   // between the braces, not yet parsed; see Module::parse_body()
  uint32_t body_line = 0;                  // of the PTX text, where `body` begins
  std::deque<std::string> register_names;  // those that the text does not spell out, such as "%r7" of "%r<9>"
  bool parsed = false;
};

// Thrown for text that is not PTX or uses a directive we do not know: what() = "line N: …".
struct SyntaxError : std::runtime_error {
  using runtime_error::runtime_error;
};

struct Module {
  // Reads directives, variables and function headers; bodies are skipped over. Keeps `text`. Throws
  // SyntaxError.
  explicit Module(std::string text);
  Module(const Module&) = delete;

  // Parses the body of one function (once; later calls return at once). Not thread-safe. Throws SyntaxError.
  void parse_body(Function& function);

  Function* find(std::string_view name);  // null: no such function. An alias gives the function behind it
  const Variable* find_variable(std::string_view name) const;  // of module scope; null: no such variable

  std::string text;
  std::string_view version, target;       // "9.0", "sm_90a"
  bool debug = false;                     // nvcc -G
  std::map<uint32_t, std::string> files;  // .file
  std::vector<Location> locations;        // grows as bodies are parsed; equal neighbours are stored once
  std::deque<Variable> variables;         // module scope
  std::deque<Function> functions;
  std::unordered_map<std::string_view, Function*> function_names;  // aliases too
  std::unordered_map<std::string_view, Variable*> variable_names;
};

}  // namespace simulator::ptx
