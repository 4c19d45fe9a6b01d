// The PTX parser at module level: directives, variables and their initial values, function headers.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "common/simulator/tests/ptx_fixture.h"

namespace simulator::ptx {
namespace {

template <class T>
T initial(const Variable& variable, size_t index) {
  T value;
  EXPECT_EQ(variable.initial.size(), variable.size);
  std::memcpy(&value, variable.initial.data() + index * sizeof(T), sizeof(T));
  return value;
}

// ---- Types

TEST(PtxTypes, WidthsAndNames) {
  EXPECT_EQ(bits(Type::pred), 1);
  EXPECT_EQ(bits(Type::none), 0);
  EXPECT_EQ(bits(Type::b128), 128);
  EXPECT_EQ(bits(Type::bf16x2), 32);
  EXPECT_EQ(bits(Type::f32x2), 64);
  Type type;
  EXPECT_TRUE(parse_type("s16", type));
  EXPECT_EQ(type, Type::s16);
  EXPECT_TRUE(parse_type("bf16", type));
  EXPECT_EQ(type, Type::bf16);
  EXPECT_FALSE(parse_type("tf32", type));
  EXPECT_FALSE(parse_type("", type));
}

// ---- The module level

TEST(PtxModule, Header) {
  Module module(
      "// comment { \" \n/* another\n{ */ .version 8.7\n.target sm_100a, debug\n.address_size 64\n"
      ".file 1 \"a.cu\"\n.file 7 \"dir/b { .cuh\", 1339013327, 64118\n"
      ".pragma \"nounroll\", \"x\";\n.section .debug_str {\n$L__info_string0:\n.b8 95 // }\n .b8 "
      "\n}\n.section .debug_loc { }");
  EXPECT_EQ(module.version, "8.7");
  EXPECT_EQ(module.target, "sm_100a");
  EXPECT_EQ(module.files[1], "a.cu");
  EXPECT_EQ(module.files[7], "dir/b { .cuh");
  EXPECT_EQ(module.locations.size(), 1u);
}

TEST(PtxModule, ViewsPointIntoTheText) {
  Module module(ptx(".global .u32 v;"));
  const char* name = module.variables[0].name.data();
  EXPECT_TRUE(name >= module.text.data() && name < module.text.data() + module.text.size());
}

TEST(PtxModule, Variables) {
  Module module(ptx(R"(.global .align 4 .b8 table[12] = {1, 0xFF, -1};
.const .f32 vals[8] = { 0.5, 0f40000000, -.25e1 };
.global .attribute(.managed) .align 8 .f64 d = 0d4000000000000000, e = 1.5;
.extern .shared .align 16 .b8 dyn[];
.shared .v4 .f32 quad[2];
.visible .global .s32 rows[][2] = { {-1, 0}, {5} , {7, 8} };
.weak .global .u16 grid[2][3] = {{1}, {2, 3}};
.common .global .u64 zero;
.global .u32 flat[] = {2, 3, (1 << 4) | 1};
.global .texref tex; .global .samplerref sampler = { addr_mode_0 = wrap };
)"));
  const Variable& table = *module.find_variable("table");
  EXPECT_EQ(table.space, Space::global);
  EXPECT_EQ(table.align, 4u);
  EXPECT_EQ(table.size, 12u);
  EXPECT_EQ(table.initial, (std::vector<uint8_t>{1, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  const Variable& vals = *module.find_variable("vals");
  EXPECT_EQ(vals.space, Space::constant);
  EXPECT_EQ(vals.size, 32u);
  EXPECT_EQ(initial<float>(vals, 0), 0.5f);
  EXPECT_EQ(initial<float>(vals, 1), 2.0f);
  EXPECT_EQ(initial<float>(vals, 2), -2.5f);
  EXPECT_EQ(initial<float>(vals, 3), 0.0f);
  EXPECT_TRUE(module.find_variable("d")->managed);
  EXPECT_EQ(initial<double>(*module.find_variable("d"), 0), 2.0);
  EXPECT_EQ(initial<double>(*module.find_variable("e"), 0), 1.5);
  const Variable& dyn = *module.find_variable("dyn");
  EXPECT_TRUE(dyn.external);
  EXPECT_EQ(dyn.space, Space::shared);
  EXPECT_EQ(dyn.size, 0u);
  EXPECT_EQ(dyn.align, 16u);
  EXPECT_EQ(module.find_variable("quad")->size, 32u);
  EXPECT_EQ(module.find_variable("quad")->align, 16u);
  EXPECT_EQ(module.find_variable("quad")->type, Type::f32);
  const Variable& rows = *module.find_variable("rows");
  EXPECT_EQ(rows.size, 24u);
  EXPECT_EQ(initial<int32_t>(rows, 0), -1);
  EXPECT_EQ(initial<int32_t>(rows, 2), 5);
  EXPECT_EQ(initial<int32_t>(rows, 3), 0);
  EXPECT_EQ(initial<int32_t>(rows, 5), 8);
  const Variable& grid = *module.find_variable("grid");
  EXPECT_EQ(initial<uint16_t>(grid, 3), 2);
  EXPECT_EQ(initial<uint16_t>(grid, 4), 3);
  EXPECT_TRUE(module.find_variable("zero")->initial.empty());
  EXPECT_EQ(module.find_variable("flat")->size, 12u);
  EXPECT_EQ(initial<uint32_t>(*module.find_variable("flat"), 2), 17u);
  EXPECT_EQ(module.find_variable("tex")->size, 8u);
  EXPECT_EQ(module.find_variable("absent"), nullptr);
}

TEST(PtxModule, InitialAddresses) {
  Module module(ptx(R"(.global .u32 foo; .func f();
.global .align 8 .u64 p[4] = {generic(foo), 7, foo+4, generic(foo)+8-1};
.global .u64 q = f;
.global .u8 bytes[3] = {0xFF(foo), 0xff00(generic(foo) + 4), 65280 (0x1234)};
.global .b32 one = 0f3F800000;)"));
  const Variable& p = *module.find_variable("p");
  ASSERT_EQ(p.references.size(), 3u);
  EXPECT_EQ(p.references[0].symbol, "foo");
  EXPECT_TRUE(p.references[0].generic);
  EXPECT_EQ(p.references[0].mask, ~0ull);
  EXPECT_EQ(p.references[1].offset, 16u);
  EXPECT_FALSE(p.references[1].generic);
  EXPECT_EQ(p.references[1].addend, 4);
  EXPECT_EQ(p.references[2].offset, 24u);
  EXPECT_EQ(p.references[2].addend, 7);
  EXPECT_EQ(initial<uint64_t>(p, 1), 7u);
  EXPECT_EQ(module.find_variable("q")->references.at(0).symbol, "f");
  const Variable& bytes = *module.find_variable("bytes");
  ASSERT_EQ(bytes.references.size(), 2u);
  EXPECT_EQ(bytes.references[0].mask, 0xFFu);
  EXPECT_EQ(bytes.references[1].mask, 0xFF00u);
  EXPECT_EQ(bytes.references[1].offset, 1u);
  EXPECT_EQ(bytes.references[1].addend, 4);
  EXPECT_TRUE(bytes.references[1].generic);
  EXPECT_EQ(bytes.initial[2], 0x12);
  EXPECT_EQ(initial<uint32_t>(*module.find_variable("one"), 0), 0x3F800000u);
}

TEST(PtxModule, Functions) {
  Module module(ptx(R"(.func (.param .b32 result) f(.param .b64 a);
.visible .entry k(
  .param .u64 .ptr .global .align 16 p,
  .param .align 8 .b8 big[40],
  .param .b32 n)
.maxntid 128, 2
.minnctapersm 3
.maxnreg 64
{ // }
  .pragma "}"; /* } */ { ret; }
}
.weak .func (.param .align 8 .b8 result[16]) f(.param .b64 b, .reg .b32 c) .noreturn .abi_preserve 3
{ mov.b32 c, 1; ret; }
.visible .entry c() .reqntid 64 .explicitcluster .reqnctapercluster 2, 1, 1 .blocksareclusters .maxclusterrank 8 { ret; }
.extern .func vprintf(.param .b64 x);
.func same(.param .b32 x);
.alias same, g;
.func g(.param .b32 x) { ret; }
)"));
  ASSERT_EQ(module.functions.size(), 6u);
  const Function& k = *module.find("k");
  EXPECT_TRUE(k.entry && k.defined);
  EXPECT_FALSE(k.parsed);
  EXPECT_EQ(k.line, 4u);
  EXPECT_EQ(k.body_line, 11u);
  ASSERT_EQ(k.params.size(), 3u);
  EXPECT_EQ(k.params[0]->align, 8u);  // .align 16 is that of what it points to
  EXPECT_EQ(k.params[0]->size, 8u);
  EXPECT_EQ(k.params[1]->size, 40u);
  EXPECT_EQ(k.params[1]->align, 8u);
  EXPECT_EQ(k.params[2]->name, "n");
  EXPECT_EQ(k.max_threads[0], 128u);
  EXPECT_EQ(k.max_threads[1], 2u);
  EXPECT_EQ(k.max_threads[2], 1u);
  EXPECT_EQ(k.required_threads[0], 0u);
  EXPECT_EQ(k.min_ctas, 3u);
  EXPECT_EQ(k.max_registers, 64u);
  EXPECT_EQ(k.body, " // }\n  .pragma \"}\"; /* } */ { ret; }\n");

  Function& f = *module.find("f");  // the declaration and the definition are one
  EXPECT_TRUE(f.defined);
  ASSERT_EQ(f.params.size(), 2u);
  EXPECT_EQ(f.params[0]->name, "b");
  EXPECT_EQ(f.params[1]->space, Space::reg);
  EXPECT_EQ(f.results.at(0)->size, 16u);
  module.parse_body(f);
  EXPECT_EQ(f.registers.at(0).name, "c");
  EXPECT_EQ(f.instructions[0].operands[0].kind, Kind::reg);

  const Function& c = *module.find("c");
  EXPECT_EQ(c.required_threads[0], 64u);
  EXPECT_EQ(c.required_cluster[0], 2u);
  EXPECT_EQ(c.max_cluster_rank, 8u);
  EXPECT_TRUE(c.explicit_cluster && c.blocks_are_clusters);
  EXPECT_FALSE(module.find("vprintf")->defined);
  EXPECT_EQ(module.find("same"), module.find("g"));
  EXPECT_EQ(module.find("absent"), nullptr);
}

TEST(PtxModule, Errors) {
  EXPECT_EQ(error_of(""), "line 1: no .version: this is not PTX");
  EXPECT_EQ(error_of("\x7f"
                     "ELF"),
            "line 1: a directive expected, not '\x7f'");
  EXPECT_EQ(module_error("\n.frobnicate 3;"), "line 4: unknown directive .frobnicate");
  EXPECT_EQ(module_error(".entry k() .frobnicate {}"), "line 3: unknown directive .frobnicate of a function");
  EXPECT_EQ(module_error(".entry k()\n{ {"), "line 4: '{' without its '}'");
  EXPECT_EQ(module_error("\n/* "), "line 4: comment without an end");
  EXPECT_EQ(module_error("/*\n\n*/ .frobnicate;"), "line 5: unknown directive .frobnicate");
  EXPECT_EQ(module_error(".global .u32 a;\n.global .u32 a;"), "line 4: 'a' is declared twice");
  EXPECT_EQ(module_error(".entry a() {}\n.entry a() {}"), "line 4: 'a' is declared twice");
  EXPECT_EQ(module_error(".global .u32 a[2] = {1,\n2, 3};"),
            "line 4: more initial values than 'a' has room for");
  EXPECT_EQ(module_error(".global .u32 a = 1.5;"),
            "line 3: a floating-point initial value of a variable that is no .f32 or .f64");
  EXPECT_EQ(module_error(".global .u32 a[];"), "line 3: array 'a' without a size");
  EXPECT_EQ(module_error(".global .align 3 .u32 a;"), "line 3: an alignment that is not a power of two");
  EXPECT_EQ(module_error(".global .u33 a;"), "line 3: unknown directive .u33 in a declaration");
  EXPECT_EQ(module_error(".global .u8 a = b;"), "line 3: an address in fewer than 4 bytes");
  EXPECT_EQ(module_error(".global .u32 a"), "line 3: ';' expected, not the end of the text");
  EXPECT_EQ(module_error(".global .u32 a[2] = {{1}, {2}};"), "line 3: a constant expected, not '{'");
  EXPECT_EQ(module_error(".global .u32 a[2][2] = {1, 2, 3, 4};"), "line 3: '{' expected, not '1'");
  EXPECT_EQ(module_error(".global .u32 a = 0f3F800000;"),
            "line 3: a floating-point initial value of a variable that is no .f32 or .f64");
  EXPECT_EQ(module_error(".global .f32 a = 1;"),
            "line 3: an integer as the initial value of a floating-point variable");
  EXPECT_EQ(module_error("\n.global .u64 a = b;"), "line 4: 'b' is not declared");
  EXPECT_EQ(module_error(".shared .u32 s;\n.global .u64 a = s;"),
            "line 4: the address of 's', in shared memory, as an initial value");
  EXPECT_EQ(module_error(".global .u32 b; .global .u32 a = 0xFFF(b);"),
            "line 3: a mask that is not one byte");
  EXPECT_EQ(module_error(".alias f, g;"), "line 3: .alias of 'g', which is no function");
  EXPECT_EQ(error_of(".version 9.0 .target sm_90 .address_size 32"),
            "line 1: only .address_size 64 is supported");
  Module module(ptx(".func f();"));
  EXPECT_THROW(module.parse_body(*module.find("f")), SyntaxError);
}

}  // namespace
}  // namespace simulator::ptx
