// From the counts of PTX instructions to those of kernels and source lines, and how these are written.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/simulator/ptx/module.h"
#include "common/simulator/reports/description.h"
#include "common/simulator/reports/registry.h"
#include "common/simulator/simulator.h"

namespace simulator::counters_report {

const std::vector<Overlap> no_overlap(1000);
namespace {

// A kernel of which nothing but the text is decoded.
struct Parsed {
  ptx::Module module;
  Program program;

  explicit Parsed(std::string text) : module(std::move(text)) {
    ptx::Function* function = nullptr;
    for (ptx::Function& candidate : module.functions) {
      if (candidate.entry) function = &candidate;
    }
    module.parse_body(*function);
    program.module = &module;
    program.function = function;
    program.code.resize(function->instructions.size() + 1);
    program.memory.resize(program.code.size());
    for (size_t pc = 0; pc < function->instructions.size(); ++pc) {
      program.memory[pc] = use_of(function->instructions[pc]);
    }
  }

  static MemoryUse use_of(const ptx::Instruction& instruction) {
    MemoryUse use;
    if (instruction.opcode == "ld") use.kind = MemoryUse::Kind::load;
    if (instruction.opcode == "st") use.kind = MemoryUse::Kind::store;
    if (instruction.opcode == "atom") use.kind = MemoryUse::Kind::atomic;
    if (instruction.opcode == "ldmatrix") use.kind = MemoryUse::Kind::load;
    if (instruction.opcode == "cp") use.kind = MemoryUse::Kind::copy;
    use.generic = use.kind != MemoryUse::Kind::none;
    use.bytes = 1;
    for (const std::string_view modifier : instruction.modifiers) {
      ptx::Type type;
      if (ptx::parse_type(modifier, type)) use.bytes = static_cast<uint8_t>(use.bytes * ptx::bits(type) / 8);
      if (modifier == "v2") use.bytes = static_cast<uint8_t>(use.bytes * 2);
      if (modifier == "v4") use.bytes = static_cast<uint8_t>(use.bytes * 4);
      if (modifier == "global" || modifier == "shared" || modifier == "local") {
        use.generic = false;
        use.space = modifier == "global"   ? ptx::Space::global
                    : modifier == "shared" ? ptx::Space::shared
                                           : ptx::Space::local;
      }
    }
    return use;
  }

  // The nth instruction that begins like this.
  size_t at(std::string_view text, int nth = 0) const {
    for (size_t pc = 0; pc < program.function->instructions.size(); ++pc) {
      if (program.function->instructions[pc].text.starts_with(text) && nth-- == 0) return pc;
    }
    ADD_FAILURE() << "no instruction " << text;
    return 0;
  }
};

std::string ptx_text(const std::string& body, const std::string& name = "_ZN4rung6kernelIfEEvPT_") {
  return ".version 9.0\n.target sm_90\n.address_size 64\n"
         ".file 1 \"/course/gemm.cu\"\n.file 2 \"/usr/include/header.h\"\n"
         ".visible .entry " +
         name +
         "() {\n.reg .b16 %h<40>;\n.reg .b32 %r<40>;\n.reg .f32 %f<40>;\n.reg .b64 %rd<40>;\n.reg .pred "
         "%p<4>;\n"
         ".shared .align 16 .b8 tile[1024];\n" +
         body + "ret;\n}\n";
}

Counts executed(uint64_t times, uint64_t lanes_each) {
  Counts counts;
  counts.executed = times;
  counts.lanes = times * lanes_each;
  return counts;
}
Counts global_access(uint64_t times, uint64_t sectors, uint64_t bytes) {
  Counts counts = executed(times, 32);
  counts.requests = times;
  counts.sectors = sectors;
  counts.bytes = bytes;
  return counts;
}
Counts shared_access(uint64_t times, uint64_t wavefronts, uint64_t ideal) {
  Counts counts = executed(times, 32);
  counts.requests = times;
  counts.wavefronts = wavefronts;
  counts.ideal_wavefronts = ideal;
  counts.bytes = times * 128;
  return counts;
}

const std::string body =
    ".loc 1 10 3\n"
    "mov.u32 %r1, %tid.x;\n"
    ".loc 2 500 7, function_name $name, inlined_at 1 12 9\n"
    "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n"
    ".loc 1 5 3, function_name $name, inlined_at 1 13 9\n"
    ".loc 2 500 7, function_name $name, inlined_at 1 5 3\n"
    "fma.rn.ftz.f32 %f5, %f1, %f2, %f3;\n"
    ".loc 1 14 3\n"
    "st.shared.f32 [%r2], %f5;\n"
    "ld.shared.f32 %f6, [%r3];\n"
    ".loc 1 15 3\n"
    "ld.f32 %f7, [%rd2];\n"
    "ld.f32 %f8, [%rd3];\n"
    "ld.f32 %f9, [%rd4];\n"
    "st.local.f32 [%rd5], %f9;\n"
    "atom.global.add.f32 %f10, [%rd6], %f9;\n"
    "st.global.f32 [%rd7], %f9;\n"
    "ld.f32 %f11, [%rd8];\n";

const std::string names = ".section .debug_str { $name: .b8 0 }\n";

// The counts that the tests below look for.
std::vector<KernelCounts> recorded(Parsed& kernel, int launches = 1) {
  std::vector<Counts> counts(kernel.program.code.size());
  counts[kernel.at("mov")] = executed(4, 32);
  counts[kernel.at("ld.global")] = global_access(4, 64, 2048);
  counts[kernel.at("fma")] = executed(4, 16);
  counts[kernel.at("st.shared")] = shared_access(4, 4, 4);
  counts[kernel.at("ld.shared")] = shared_access(4, 128, 4);
  counts[kernel.at("ld.f32", 0)] = global_access(4, 16, 512);
  counts[kernel.at("ld.f32", 1)] = shared_access(4, 8, 4);
  counts[kernel.at("ld.f32", 2)] = global_access(4, 0, 512);
  counts[kernel.at("st.local")] = global_access(4, 0, 512);
  counts[kernel.at("atom")] = global_access(4, 4, 512);
  counts[kernel.at("st.global")] = global_access(4, 32, 512);
  Counts both = global_access(4, 8, 512);
  both.wavefronts = 6;
  both.ideal_wavefronts = 2;
  counts[kernel.at("ld.f32", 3)] = both;
  counts.back() = executed(4, 32);
  reset_counters();
  for (int i = 0; i < launches; ++i)
    record(kernel.program, {&kernel.program}, counts.data(), no_overlap.data(), 2, 4, 1);
  return read_counters();
}

TEST(Registry, CountsOnlyOnRequestAndSinceTheLastReset) {
  Parsed kernel(ptx_text(body) + names);
  recorded(kernel);
  EXPECT_TRUE(counting());
  reset_counters();
  EXPECT_TRUE(read_counters().empty());
}

TEST(Registry, CtasThatDidNotRunAreNamed) {
  Parsed kernel(ptx_text(body) + names);
  EXPECT_EQ(counters_json(recorded(kernel)).find("left_out"), std::string::npos);
  EXPECT_EQ(counters_table(recorded(kernel)).find("did not run"), std::string::npos);
  const std::vector<Counts> counts(kernel.program.code.size());
  reset_counters();
  record(kernel.program, {&kernel.program}, counts.data(), no_overlap.data(), 2, 4, 0, 1000);
  const std::vector<KernelCounts> kernels = read_counters();
  EXPECT_EQ(kernels[0].ctas_left_out, 1000u);
  EXPECT_NE(counters_json(kernels).find(R"("ctas_left_out": 1000)"), std::string::npos);
  EXPECT_NE(counters_table(kernels).find("1 000 more CTAs did not run"), std::string::npos);
}

TEST(Registry, SumsByClassOfAccess) {
  Parsed kernel(ptx_text(body) + names);
  const std::vector<KernelCounts> kernels = recorded(kernel, 3);
  ASSERT_EQ(kernels.size(), 1u);
  const KernelCounts& k = kernels[0];
  EXPECT_EQ(k.name, "void rung::kernel<float>(float*)");
  EXPECT_EQ(k.launches, 3u);
  EXPECT_EQ(k.ctas, 6u);
  EXPECT_EQ(k.warps, 12u);
  EXPECT_EQ(k.findings, 3u);
  EXPECT_EQ(k.total.executed, 3u * 13 * 4);
  EXPECT_EQ(k.total.lanes, 3u * (12 * 4 * 32 + 4 * 16));
  // A generic access counts where it went.
  EXPECT_EQ(k.global_load.requests, 3u * (4 + 4 + 4));
  EXPECT_EQ(k.global_load.sectors, 3u * (64 + 16 + 8));
  EXPECT_EQ(k.global_load.wavefronts, 0u);
  EXPECT_EQ(k.global_store.sectors, 3u * 32);
  EXPECT_EQ(k.shared_load.requests, 3u * (4 + 4));
  EXPECT_EQ(k.shared_load.wavefronts, 3u * (128 + 8 + 6));
  EXPECT_EQ(k.shared_load.ideal_wavefronts, 3u * (4 + 4 + 2));
  EXPECT_EQ(k.shared_store.wavefronts, 3u * 4);
  EXPECT_EQ(k.local.requests, 3u * (4 + 4));
  EXPECT_EQ(k.atomic.sectors, 3u * 4);
  EXPECT_EQ(k.mix.at("fma.f32"), 12u);
  EXPECT_EQ(k.mix.at("ld.global.v4.f32"), 12u);
  EXPECT_EQ(k.mix.at("ld.generic.f32"), 48u);
  EXPECT_EQ(k.mix.at("atom.global.add.f32"), 12u);
  EXPECT_EQ(k.mix.at("ret"), 12u);
}

// Line 12 calls a function of a header; line 13 one of the kernel's own file, whose line 5 calls the
// header's.
TEST(Registry, GivesWhatIsInlinedToTheLineThatCalls) {
  Parsed kernel(ptx_text(body) + names);
  const std::vector<KernelCounts> kernels = recorded(kernel);
  std::vector<std::string> lines;
  uint64_t total = 0;
  for (const LineCounts& line : kernels.at(0).lines) {
    lines.push_back(line.file + ":" + std::to_string(line.line) + " " + std::to_string(line.total.executed));
    total += line.total.executed;
  }
  EXPECT_EQ(lines, (std::vector<std::string>{":0 4", "/course/gemm.cu:5 4", "/course/gemm.cu:10 4",
                                             "/course/gemm.cu:12 4", "/course/gemm.cu:14 8",
                                             "/course/gemm.cu:15 28"}));
  EXPECT_EQ(total, kernels[0].total.executed);
}

TEST(Registry, KeepsWhatItKnowsWhenTheModuleIsGone) {
  auto kernel = std::make_unique<Parsed>(ptx_text(body) + names);
  recorded(*kernel);
  kernel.reset();
  const std::vector<KernelCounts> kernels = read_counters();
  EXPECT_EQ(kernels.at(0).name, "void rung::kernel<float>(float*)");
  EXPECT_EQ(kernels.at(0).lines.at(1).file, "/course/gemm.cu");
}

// What rungs of tensor cores are made of.
KernelCounts pipeline() {
  Parsed kernel(
      ptx_text("cp.async.cg.shared.global [%r1], [%rd1], 16;\n"
               "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];\n"
               "ld.shared.f32 %f6, [%r3];\n"
               "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, "
               "%r3}, {%r4, %r5}, "
               "{%f0, %f1, %f2, %f3};\n"));
  std::vector<Counts> counts(kernel.program.code.size());
  counts[0] = global_access(4, 64, 2048);
  counts[0].wavefronts = 32;
  counts[0].ideal_wavefronts = 16;
  counts[1] = shared_access(3, 24, 12);
  counts[2] = shared_access(2, 2, 2);
  counts[3] = executed(10, 32);
  reset_counters();
  record(kernel.program, {&kernel.program}, counts.data(), no_overlap.data(), 1, 1, 0);
  return read_counters().at(0);
}

TEST(Registry, CopiesMatricesAndTensorCores) {
  const KernelCounts k = pipeline();
  EXPECT_EQ(k.async_copy.requests, 4u);
  EXPECT_EQ(k.async_copy.sectors, 64u);
  EXPECT_EQ(k.async_copy.wavefronts, 32u);
  EXPECT_EQ(k.global_load.requests, 0u);
  EXPECT_EQ(k.ldmatrix.wavefronts, 24u);
  EXPECT_EQ(k.shared_load.wavefronts, 26u) << "ldmatrix is among them";
  EXPECT_EQ(k.tensor_instructions, 10u);
  EXPECT_EQ(k.tensor_macs, 10u * 16 * 8 * 16);
  EXPECT_EQ(k.mix.at("cp.async.shared.global"), 4u);
  EXPECT_EQ(k.mix.at("ldmatrix.x4.trans.shared.b16"), 3u);
  EXPECT_EQ(k.mix.at("mma.m16n8k16.f32.bf16.bf16.f32"), 10u);
}

TEST(Report, CopiesMatricesAndTensorCores) {
  const std::string json = counters_json({pipeline()});
  for (const char* field :
       {"\"l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts.sum\": 4",
        "\"l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum\": 64",
        "\"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum\": 32",
        "\"ptx__inst_executed_op_ldsm\": 3", "\"ptx__wavefronts_mem_shared_op_ldsm\": 24",
        "\"memory_l1_wavefronts_shared\": 58", "\"memory_l1_wavefronts_shared_ideal\": 30",
        "\"ptx__inst_executed_op_mma\": 10", "\"ptx__multiply_adds_op_mma\": 20480"}) {
    EXPECT_NE(json.find(field), std::string::npos) << field << "\nin " << json;
  }
  const std::string table = counters_table({pipeline()});
  for (const char* row :
       {"\n  async copy", "\n    ldmatrix", "\n  10 mma of a warp, 20 480 multiply-adds\n"}) {
    EXPECT_NE(table.find(row), std::string::npos) << row << "\nin " << table;
  }
}

TEST(Registry, TellsKernelsApartInOrderOfFirstLaunch) {
  Parsed first(ptx_text("", "zebra")), second(ptx_text("", "ant"));
  const std::vector<Counts> counts(2, executed(1, 32));
  reset_counters();
  record(first.program, {&first.program}, counts.data(), no_overlap.data(), 1, 1, 0);
  record(second.program, {&second.program}, counts.data(), no_overlap.data(), 1, 1, 0);
  record(first.program, {&first.program}, counts.data(), no_overlap.data(), 1, 1, 0);
  const std::vector<KernelCounts> kernels = read_counters();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "zebra");
  EXPECT_EQ(kernels[0].launches, 2u);
  EXPECT_EQ(kernels[1].name, "ant");
}

TEST(Registry, CountsCalledFunctionsToo) {
  Parsed kernel(ptx_text("add.s32 %r1, %r1, %r2;\n")),
      callee(ptx_text("mul.lo.s32 %r1, %r1, %r2;\n", "callee"));
  callee.program.first = static_cast<uint32_t>(kernel.program.code.size());
  std::vector<Counts> counts(6);
  counts[0] = executed(2, 32);
  counts[3] = executed(5, 32);
  reset_counters();
  record(kernel.program, {&kernel.program, &callee.program}, counts.data(), no_overlap.data(), 1, 1, 0);
  const KernelCounts k = read_counters().at(0);
  EXPECT_EQ(k.mix.at("add.s32"), 2u);
  EXPECT_EQ(k.mix.at("mul.lo.s32"), 5u);
}

std::vector<std::string> notes_of(const std::string& text) {
  Parsed kernel(ptx_text(".loc 1 61 3\n" + text));
  const std::vector<Counts> counts(kernel.program.code.size(), executed(1, 32));
  reset_counters();
  record(kernel.program, {&kernel.program}, counts.data(), no_overlap.data(), 1, 1, 0);
  return read_counters().at(0).notes;
}
using Notes = std::vector<std::string>;

TEST(Notes, AdjacentAccessesThatPtxasMayMerge) {
  EXPECT_EQ(
      notes_of("ld.shared.u16 %h1, [%r1+4];\nld.shared.u16 %h2, [%r1];\nld.shared.u16 %h3, [%r1+2];\n"
               "add.s32 %r5, %r6, %r7;\nld.shared.u16 %h4, [%r1+6];\n"),
      Notes{"4 × ld.shared.u16 at gemm.cu:61 are adjacent: ptxas may issue one 8-byte load, with other bank "
            "conflicts"});
  EXPECT_EQ(notes_of("st.global.f32 [%rd1+8], %f1;\nst.global.f32 [%rd1+12], %f2;\n"),
            Notes{"2 × st.global.f32 at gemm.cu:61 are adjacent: ptxas may issue one 8-byte store, with "
                  "fewer requests"});
  std::string unrolled;  // 8 words at the tile's start: two 16-byte loads
  for (int i = 0; i < 8; ++i) {
    unrolled += "ld.shared.f32 %f" + std::to_string(i) + ", [tile+" + std::to_string(4 * i) + "];\n";
  }
  EXPECT_EQ(notes_of(unrolled),
            Notes{"4 × ld.shared.f32 at gemm.cu:61 (2 such groups) are adjacent: ptxas may issue one "
                  "16-byte load, with other bank conflicts"});
}

TEST(Notes, NoneWhereSomethingKeepsTheAccessesApart) {
  const std::string first = "ld.shared.u16 %h1, [%r1];\n", second = "ld.shared.u16 %h2, [%r1+2];\n";
  ASSERT_EQ(notes_of(first + second).size(), 1u);
  EXPECT_EQ(notes_of(first + "add.s32 %r1, %r1, 4;\n" + second), Notes{});  // another base
  EXPECT_EQ(notes_of(first + "ld.shared.u16 %h2, [%r2+2];\n"), Notes{});
  EXPECT_EQ(notes_of(first + "st.shared.u16 [%r2], %h1;\n" + second),
            Notes{});  // what is loaded may have changed
  EXPECT_EQ(notes_of(first + "bar.sync 0;\n" + second), Notes{});
  EXPECT_EQ(notes_of("bra $next;\n" + first + "$next:\n" + second), Notes{});  // another basic block
  EXPECT_EQ(notes_of(first + "@%p1 " + second), Notes{});                      // other lanes
  EXPECT_EQ(notes_of("ld.shared.u16 %h1, [%r1+2];\nld.shared.u16 %h2, [%r1+4];\n"),
            Notes{});                                                     // not aligned together
  EXPECT_EQ(notes_of(first + "ld.shared.u16 %h2, [%r1+4];\n"), Notes{});  // a gap
  EXPECT_EQ(notes_of("ld.volatile.shared.u16 %h1, [%r1];\nld.volatile.shared.u16 %h2, [%r1+2];\n"), Notes{});
  EXPECT_EQ(
      notes_of("ld.shared.v4.f32 {%f1,%f2,%f3,%f4}, [%r1];\nld.shared.v4.f32 {%f5,%f6,%f7,%f8}, [%r1+16];\n"),
      Notes{});  // no wider access exists
}

TEST(Notes, OnlyOfWhatWasExecuted) {
  Parsed kernel(ptx_text("ld.shared.u16 %h1, [%r1];\nld.shared.u16 %h2, [%r1+2];\n"));
  const std::vector<Counts> counts(kernel.program.code.size());
  reset_counters();
  record(kernel.program, {&kernel.program}, counts.data(), no_overlap.data(), 1, 1, 0);
  EXPECT_EQ(read_counters().at(0).notes, Notes{});
}

TEST(Report, JsonHasTheNamesOfNsightCompute) {
  Parsed kernel(ptx_text(body) + names);
  const std::string json = counters_json(recorded(kernel));
  for (const char* field :
       {"\"kernel\": \"void rung::kernel<float>(float*)\"", "\"ptx__inst_executed\": 52",
        "\"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum\": 12",
        "\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\": 88",
        "\"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio\": 7.33333",
        "\"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum\": 32",
        "\"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum\": 142",
        "\"memory_l1_wavefronts_shared\": 146", "\"memory_l1_wavefronts_shared_ideal\": 14",
        "\"derived__memory_l1_wavefronts_shared_excessive\": 132", "\"mix\": {", "\"fma.f32\": 4",
        "{\"file\": \"/course/gemm.cu\", \"line\": 14", "\"notes\": []"}) {
    EXPECT_NE(json.find(field), std::string::npos) << field << "\nin " << json;
  }
  EXPECT_EQ(json.find("smsp__"), std::string::npos);  // those count machine instructions
  EXPECT_EQ(std::count(json.begin(), json.end(), '{'), std::count(json.begin(), json.end(), '}'));
  EXPECT_EQ(counters_json({}), "{\"kernels\": []}\n");
}

TEST(Report, TableFitsInAHundredColumns) {
  Parsed kernel(ptx_text(body) + names);
  std::vector<KernelCounts> kernels = recorded(kernel);
  kernels[0].name = "void a::kernel<" + std::string(70, 'c') + " >(" + std::string(60, 'd') + ", int)";
  kernels[0].notes = {
      "4 × ld.shared.u16 at gemm.cu:61 (8 such groups) are adjacent: ptxas may issue one 8-byte load, with "
      "other bank conflicts"};
  kernels[0].shared_load.wavefronts = 123456789012;
  const std::string table = counters_table(kernels);
  for (const char* part :
       {"7.33", "123 456 789 012", "30.8 active lanes on average", "ld.generic.f32 30.8 %", "note: 4 ×"}) {
    EXPECT_NE(table.find(part), std::string::npos) << part << "\nin\n" << table;
  }
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }), 100)
        << line;
  }
}

class TemporaryFile {
 public:
  TemporaryFile()
      : folder_(std::filesystem::temp_directory_path() / ("simulator_counters_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ / "gemm.cu"; }

 private:
  std::filesystem::path folder_;
};

TEST(Report, ListingPutsCountsBesideTheLines) {
  const TemporaryFile file;
  std::ofstream(file.path()) << "first\nsecond\n\nfourth\n";
  KernelCounts kernel;
  LineCounts line;
  line.file = file.path();
  line.line = 2;
  line.total = executed(1000, 16);
  line.global_load = global_access(10, 320, 0);
  line.shared_load = shared_access(10, 40, 10);
  kernel.lines = {line, line};
  kernel.lines[1].file = "/usr/include/other.h";
  const std::string listing = annotated_listing({kernel, kernel}, file.path());
  EXPECT_NE(listing.find("        2 000  16.0    32.00           80         60                 2  second\n"),
            std::string::npos)
      << listing;
  EXPECT_NE(listing.find("\n" + std::string(69, ' ') + "1  first\n"), std::string::npos) << listing;
  EXPECT_EQ(std::count(listing.begin(), listing.end(), '\n'), 6);  // two lines of heading
  EXPECT_EQ(annotated_listing({kernel}, file.path() + ".missing"), "");
}

[[noreturn]] void run_with_counters(const std::string& output) {
  setenv("SIMULATOR_COUNTERS", output.c_str(), 1);
  if (!counting()) std::exit(1);
  Parsed kernel(ptx_text(""));
  const std::vector<Counts> counts(2, executed(1, 32));
  record(kernel.program, {&kernel.program}, counts.data(), no_overlap.data(), 1, 1, 0);
  std::exit(0);
}

TEST(AtExit, CountersGoWhereTheEnvironmentSays) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // each in a process of its own, from its start
  const std::string file = std::filesystem::temp_directory_path() / "simulator_counters_at_exit.json";
  std::filesystem::remove(file);
  EXPECT_EXIT(run_with_counters("-"), ::testing::ExitedWithCode(0), "PTX instructions of a warp");
  EXPECT_EXIT(run_with_counters(file), ::testing::ExitedWithCode(0), "");
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  EXPECT_NE(text.str().find("\"ptx__inst_executed\": 2"), std::string::npos) << text.str();
  std::filesystem::remove(file);
  EXPECT_EXIT(run_with_counters("/nowhere/counters.json"), ::testing::ExitedWithCode(0),
              "cannot write the counters");
}

}  // namespace
}  // namespace simulator::counters_report
