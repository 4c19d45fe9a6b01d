// The PTX parser in function bodies: instructions, scopes, calls, locations; and the lines of errors.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/simulator/tests/ptx_fixture.h"

namespace simulator::ptx {
namespace {

// ---- Instructions

TEST(PtxBody, OpcodeModifiersGuardText) {
  Kernel k(
      kRegisters +
      std::string("@!%p2 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                  ".L2::cache_hint [%r1], [%rd1, {%r2, %r3}], [%r4], %rd2;\n"
                  "  add .s32 %r1,\n %r2, 1 ; @%p1 ret; ret;\nfma.rn.f32x2 %rd1, %rd1, %rd1, %rd1;"));
  EXPECT_EQ(k.at(0).opcode, "cp");
  EXPECT_EQ(k.at(0).modifiers, (Views{"async", "bulk", "tensor", "2d", "shared::cluster", "global", "tile",
                                      "mbarrier::complete_tx::bytes", "L2::cache_hint"}));
  EXPECT_EQ(k.function.registers[static_cast<size_t>(k.at(0).guard)].name, "%p2");
  EXPECT_TRUE(k.at(0).guard_negated);
  EXPECT_EQ(k.at(0).line, 6u);
  EXPECT_EQ(k.at(0).text.substr(0, 15), "@!%p2 cp.async.");
  EXPECT_EQ(k.at(1).modifiers, Views{"s32"});
  EXPECT_EQ(k.at(1).text, "add .s32 %r1,\n %r2, 1");
  EXPECT_EQ(k.at(1).guard, -1);
  EXPECT_EQ(k.at(1).line, 7u);
  EXPECT_GE(k.at(2).guard, 0);
  EXPECT_FALSE(k.at(2).guard_negated);
  EXPECT_TRUE(k.at(2).operands.empty());
  EXPECT_EQ(k.at(4).modifiers, (Views{"rn", "f32x2"}));
}

TEST(PtxBody, Registers) {
  Kernel k(
      ".reg .b32 %r<279>; .reg .pred p, q; .reg .b64 %x1<12>; .reg .v4 .f32 v;\n"
      "mov.b32 %r278, %r0; mov.b64 %x111, %x10; add.f32 v.x, v.w, v.g; st.v4.f32 [%x10], v;");
  EXPECT_EQ(k.function.registers.size(), 279u + 2 + 12 + 4);
  EXPECT_EQ(k.function.registers[0].name, "%r0");
  EXPECT_EQ(k.function.registers[278].name, "%r278");
  EXPECT_EQ(k.function.registers[278].type, Type::b32);
  EXPECT_EQ(k.function.registers[279].type, Type::pred);
  EXPECT_EQ(k.operand(0, 0).index, 278u);
  EXPECT_EQ(k.operand(0, 1).index, 0u);
  EXPECT_EQ(k.name(k.operand(1, 0)), "%x111");
  EXPECT_EQ(k.name(k.operand(1, 1)), "%x10");
  EXPECT_EQ(k.name(k.operand(2, 0)), "v.x");
  EXPECT_EQ(k.name(k.operand(2, 1)), "v.w");
  EXPECT_EQ(k.name(k.operand(2, 2)), "v.y");
  ASSERT_EQ(k.operand(3, 1).kind, Kind::vector);
  EXPECT_EQ(k.operand(3, 1).elements.size(), 4u);
  EXPECT_EQ(k.name(k.operand(3, 1).elements[3]), "v.w");
}

// ---- Scopes

TEST(PtxScopes, LabelsResolveInTheInnermostScope) {
  Kernel k(R"(
    DONE: bra DONE;
    { LAB: bra DONE; bra LAB; DONE: }
    { bra LAB; { bra LAB; bra OUT; } LAB: ret; }
    bra OUT; %x: bra %x; OUT:)");
  EXPECT_EQ(k.operand(0, 0).kind, Kind::label);
  EXPECT_EQ(k.operand(0, 0).index, 0u);
  EXPECT_EQ(k.operand(1, 0).index, 3u);  // the inner DONE, declared later
  EXPECT_EQ(k.operand(2, 0).index, 1u);
  EXPECT_EQ(k.operand(3, 0).index, 6u);
  EXPECT_EQ(k.operand(4, 0).index, 6u);
  EXPECT_EQ(k.operand(5, 0).index, 9u);  // past the last instruction
  EXPECT_EQ(k.operand(8, 0).index, 8u);
  EXPECT_EQ(k.function.instructions.size(), 9u);
  EXPECT_EQ(k.function.label_targets, (std::vector<uint32_t>{0, 1, 3, 6, 8, 9}));
}

TEST(PtxScopes, RegistersAndVariablesShadow) {
  Kernel k(R"(.reg .b32 %r<4>, t; .reg .b64 %rd<2>;
    { .reg .f32 %r<2>; .reg .b64 t; .param .b32 a; mov.x %r1, %r3, t; st.param.b32 [a], %r1; }
    { .param .b64 a; st.param.b64 [a], %rd1; { st.param.b64 [a+4], %rd1; } }
    mov.x %r1, t;)");
  const std::vector<Register>& registers = k.function.registers;
  EXPECT_EQ(registers[k.operand(0, 0).index].type, Type::f32);
  EXPECT_EQ(registers[k.operand(0, 1).index].type, Type::b32);
  EXPECT_EQ(registers[k.operand(0, 2).index].type, Type::b64);
  EXPECT_EQ(registers[k.operand(4, 0).index].type, Type::b32);
  EXPECT_EQ(registers[k.operand(4, 1).index].type, Type::b32);
  const Variable* first = k.operand(1, 0).elements[0].variable;
  const Variable* second = k.operand(2, 0).elements[0].variable;
  EXPECT_NE(first, second);
  EXPECT_EQ(first->size, 4u);
  EXPECT_EQ(second->size, 8u);
  EXPECT_EQ(k.operand(3, 0).elements[0].variable, second);
  EXPECT_EQ(k.function.variables.size(), 3u);  // with the formal parameter
}

TEST(PtxScopes, LocalAndSharedVariables) {
  Kernel k(
      ".reg .b64 %x; .local .align 8 .b8 depot[24]; .shared .f64 s[4]; mov.u64 %x, depot; mov.u64 %x, s;",
      ".global .u32 s;");
  EXPECT_EQ(k.operand(0, 1).variable->space, Space::local);
  EXPECT_EQ(k.operand(0, 1).variable->align, 8u);
  EXPECT_EQ(k.operand(1, 1).variable->space, Space::shared);  // not the global one
  EXPECT_EQ(k.operand(1, 1).variable->size, 32u);
}

// ---- Calls

const char kCallee[] = ".func (.param .b32 r) f(.param .b32 a); .func g();";

TEST(PtxCall, AlwaysThreeOrFourOperands) {
  Kernel k(std::string(kRegisters) + R"({ .param .b32 p0; .param .b32 r0;
    call.uni (r0),
      f,
      (
      p0
      );
    call.uni g;
    call.uni f, (p0);
    call (r0), g;
    pr: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b8 _[12]) .noreturn;
    call (r0), %rd1, (p0, %r1, 7), pr;
    none: .callprototype ()_ ();
    call %rd1, none;
    list: .calltargets f, g;
    call %rd1, (p0), list; } mov.u64 %rd1, f;)",
           kCallee);
  const Module& module = k.module;
  EXPECT_EQ(k.at(0).operands.size(), 3u);
  EXPECT_EQ(k.at(0).modifiers, Views{"uni"});
  EXPECT_EQ(k.operand(0, 0).kind, Kind::vector);
  EXPECT_EQ(k.operand(0, 0).elements.at(0).variable->name, "r0");
  EXPECT_EQ(k.operand(0, 1).kind, Kind::function);
  EXPECT_EQ(k.operand(0, 1).function, module.function_names.at("f"));
  EXPECT_EQ(k.operand(0, 2).elements.at(0).variable->name, "p0");
  EXPECT_EQ(k.at(1).operands.size(), 3u);
  EXPECT_EQ(k.operand(1, 1).function->name, "g");
  EXPECT_TRUE(k.operand(1, 0).elements.empty() && k.operand(1, 2).elements.empty());
  EXPECT_EQ(k.operand(2, 2).elements.size(), 1u);
  EXPECT_TRUE(k.operand(2, 0).elements.empty());
  EXPECT_EQ(k.operand(3, 0).elements.size(), 1u);
  EXPECT_EQ(k.at(4).operands.size(), 4u);
  EXPECT_EQ(k.operand(4, 1).kind, Kind::reg);
  EXPECT_EQ(k.operand(4, 2).elements.size(), 3u);
  EXPECT_EQ(k.operand(4, 3).kind, Kind::name);
  EXPECT_EQ(k.operand(4, 3).text, "pr");
  EXPECT_EQ(k.at(5).operands.size(), 4u);
  EXPECT_EQ(k.operand(5, 3).text, "none");
  EXPECT_EQ(k.operand(6, 3).text, "list");
  EXPECT_EQ(k.operand(7, 1).kind, Kind::function);
  EXPECT_TRUE(k.function.label_targets.empty());
}

TEST(PtxCall, FunctionsMayBeDeclaredAfterUse) {
  Module module(ptx(
      ".entry k() { call later; call other; } .func later() { ret; } .func other(); .alias other, later;"));
  module.parse_body(*module.find("k"));
  const std::vector<Instruction>& code = module.find("k")->instructions;
  EXPECT_EQ(code[0].operands[1].function, module.find("later"));
  EXPECT_EQ(code[1].operands[1].function, module.find("later"));
}

TEST(PtxBody, BranchTargets) {
  Kernel k(std::string(kRegisters) + R"(
    ts: .branchtargets A, B, A;
    @%p1 brx.idx %r1, ts;
    A: ret; B: ret; N0: N1: ret;
    many: .branchtargets N<2>, B;
    brx.idx %r1, many;)");
  EXPECT_EQ(k.operand(0, 1).kind, Kind::name);
  EXPECT_EQ(k.operand(0, 1).text, "ts");
  EXPECT_EQ(k.function.branch_targets.at("ts"), (std::vector<uint32_t>{1, 2, 1}));
  EXPECT_EQ(k.function.branch_targets.at("many"), (std::vector<uint32_t>{3, 3, 2}));
  EXPECT_EQ(k.function.label_targets, (std::vector<uint32_t>{1, 2, 3}));
}

// ---- Locations

TEST(PtxLocations, InlinedChains) {
  Kernel k(R"(
    ret;
    .loc 1 27 3
    .pragma "nounroll";
    ret; ret;
    .loc 1 10 5, function_name $L__info_string0, inlined_at 1 27 3
    ret;
    .loc 2 15 3, function_name $L__info_string0+16, inlined_at 1 10 5
    ret;
    .loc 2 15 3, function_name .debug_str+16, inlined_at 1 10 5
    ret;
    .loc 2 16 3, function_name $L__info_string0, inlined_at 3 99 1
    ret;)");
  const std::vector<Location>& all = k.module.locations;
  EXPECT_EQ(k.at(0).location, 0u);
  EXPECT_EQ(all[k.at(1).location].line, 27u);
  EXPECT_EQ(all[k.at(1).location].inlined_at, 0u);
  EXPECT_EQ(k.at(2).location, k.at(1).location);
  EXPECT_EQ(all[k.at(3).location].line, 10u);
  EXPECT_EQ(all[k.at(3).location].inlined_at, k.at(1).location);
  EXPECT_EQ(all[k.at(4).location].file, 2u);
  EXPECT_EQ(all[k.at(4).location].inlined_at, k.at(3).location);
  EXPECT_EQ(k.at(5).location, k.at(4).location);
  const Location& call = all[all[k.at(6).location].inlined_at];  // never seen before: made
  EXPECT_EQ(call.file, 3u);
  EXPECT_EQ(call.line, 99u);
  EXPECT_EQ(call.inlined_at, 0u);
  EXPECT_EQ(all.size(), 6u);
}

// The compiler knows of no line.
TEST(PtxLocations, LineZeroKeepsTheLastOne) {
  Kernel k(R"(
    .loc 1 0 0
    ret;
    .loc 1 27 3
    ret;
    .loc 1 0 3
    ret;
    .loc 2 0 3, function_name $L__info_string0, inlined_at 1 27 3
    ret;
    .loc 2 15 3, function_name $L__info_string0, inlined_at 1 0 3
    ret;)");
  const std::vector<Location>& all = k.module.locations;
  EXPECT_EQ(k.at(0).location, 0u);
  EXPECT_EQ(all[k.at(1).location].line, 27u);
  EXPECT_EQ(k.at(2).location, k.at(1).location);
  EXPECT_EQ(k.at(3).location, k.at(1).location);
  EXPECT_EQ(all[k.at(4).location].line, 15u);
  EXPECT_EQ(all[k.at(4).location].inlined_at, 0u);
}

TEST(PtxLocations, RecursionThatIsInlinedStaysFlat) {
  std::string body = ".loc 1 5 9\n";
  for (int i = 0; i < 100; ++i) body += ".loc 1 5 9, function_name $s, inlined_at 1 5 9\nret;\n";
  Kernel k(body);
  EXPECT_LE(k.module.locations.size(), 4u);
  EXPECT_EQ(k.at(99).location, k.at(1).location);
}

// ---- Errors in bodies: line 5 is that of the "{".

TEST(PtxBody, Errors) {
  EXPECT_EQ(body_error("mov.b32 %r1, %r9;"), "line 6: '%r9' is not declared");
  EXPECT_EQ(body_error("\n\nmov.b32 %r1, nowhere;"), "line 8: 'nowhere' is not declared");
  EXPECT_EQ(body_error("{ L: } bra L;"), "line 6: 'L' is not declared");
  EXPECT_EQ(body_error("L: ret;\nL: ret;"), "line 7: 'L' is declared twice");
  EXPECT_EQ(body_error(".reg .b32 %r3;"), "line 6: '%r3' is declared twice");
  EXPECT_EQ(body_error(".reg .b32 a1; .reg .b32 a<3>;"), "line 6: 'a1' is declared twice");
  EXPECT_EQ(body_error("@%r1 ret;"), "line 6: '%r1' is no predicate");
  EXPECT_EQ(body_error("add.s32 %r1, %r2\nret;"), "line 7: ';' expected, not 'ret'");
  EXPECT_EQ(body_error("\n.frobnicate;"), "line 7: unknown directive .frobnicate");
  EXPECT_EQ(body_error("mov.b32 %r1, %r2.b7;"), "line 6: no such part of '%r2'");
  EXPECT_EQ(body_error("mov.b32 %r1, %tid.q;"), "line 6: no such part of '%tid'");
  EXPECT_EQ(body_error("ld.b32 %r1, [%rd1+%r2];"), "line 6: a constant expected, not '%r2'");
  EXPECT_EQ(body_error("call %tid.x;"), "line 6: a call of what is no function");
  EXPECT_EQ(body_error("L: call L;"), "line 6: 'L' is no function");
  EXPECT_EQ(body_error("t: .branchtargets L;"), "line 6: 'L' is no label");
  EXPECT_EQ(body_error("L: { t: .branchtargets L; }\n{ t: .branchtargets L; }"),
            "line 7: a second .branchtargets 't' in a function is not supported");
  EXPECT_EQ(body_error("L: mov.b64 %rd1, L+4;"), "line 6: an offset from 'L', which is no variable");
  EXPECT_EQ(body_error("add.s32 %r1, %r2, %r3;;"), "line 6: a name expected, not ';'");
  EXPECT_EQ(body_error(".global .u32 a;"),
            "line 6: a .global or .const variable inside a function is not supported");
}

TEST(PtxBody, ASecondParseFailsInTheSameWay) {
  Module module(
      ptx(".entry k(.param .u32 x) { .reg .b32 %r<3>; .param .b32 a; L: mov.b32 %r1, %r2; bra M; }"));
  Function& k = *module.find("k");
  std::string messages[2];
  for (std::string& message : messages) {
    try {
      module.parse_body(k);
    } catch (const SyntaxError& error) {
      message = error.what();
    }
  }
  EXPECT_EQ(messages[0], "line 3: 'M' is not declared");
  EXPECT_EQ(messages[1], messages[0]);
  EXPECT_FALSE(k.parsed);
  EXPECT_TRUE(k.instructions.empty() && k.registers.empty());
  EXPECT_EQ(k.variables.size(), 1u);
}

}  // namespace
}  // namespace simulator::ptx
