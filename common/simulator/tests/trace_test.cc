// SIMULATOR_TRACE: which lane wants which byte, as JSON Lines.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/simulator/launch/launch.h"
#include "common/simulator/loading/module.h"
#include "common/simulator/memory/global_memory.h"
#include "common/simulator/settings/settings.h"

namespace simulator {
namespace {

// Lane l of warp 0 stores to out[l], to the words 2 · l of shared memory, and, where l < 2, loads out[8 · l].
const char text_of_accesses[] = R"(
.version 9.0
.target sm_90
.address_size 64
.file 1 "/course/gemm.cu"
.file 2 "/usr/include/header.h"
.global .align 4 .u32 total;
.visible .entry kernel(.param .u64 out)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
  .shared .align 16 .b8 tile[1024];
  .loc 1 10 3
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.s64 %rd1, %rd0, %rd1;
  .loc 1 11 3
  st.global.u32 [%rd1+4], %r0;
  mov.u32 %r1, tile;
  shl.b32 %r2, %r0, 3;
  and.b32 %r2, %r2, 255;
  add.s32 %r1, %r1, %r2;
  .loc 1 20 3, function_name $name, inlined_at 1 12 5
  .loc 2 7 3, function_name $name, inlined_at 1 20 3
  st.volatile.shared.u32 [%r1], %r0;
  .loc 1 13 3
  setp.lt.u32 %p1, %r0, 2;
  mul.wide.u32 %rd2, %r0, 32;
  add.s64 %rd2, %rd0, %rd2;
  @%p1 ld.global.u32 %r3, [%rd2+4];
  .loc 1 14 3
  mov.u64 %rd3, total;
  atom.global.add.u32 %r4, [%rd3], 1;
  ret;
}
.section .debug_str { $name: .b8 0 }
)";

// Two stages of copies and a product of matrices; the second warp comes late to the barrier.
const char text_of_pipeline[] = R"(
.version 9.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 out)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>; .reg .f32 %f<4>;
  .shared .align 16 .b8 tile[1024];
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.s64 %rd1, %rd0, %rd1;
  shl.b32 %r2, %r0, 2;
  mov.u32 %r1, tile;
  add.s32 %r1, %r1, %r2;
  cp.async.ca.shared.global [%r1], [%rd1], 4;
  cp.async.commit_group;
  cp.async.ca.shared.global [%r1+256], [%rd1], 4;
  cp.async.commit_group;
  cp.async.wait_group 1;
  bar.sync 0;
  ld.shared.u32 %r3, [%r1];
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r3, %r3, %r3, %r3}, {%r3, %r3},
      {%f0, %f1, %f2, %f3};
  cp.async.wait_all;
  ret;
}
)";

class TraceTest : public testing::Test {
 protected:
  TraceTest() {
    settings() = Settings{};
    settings().threads = 1;  // its CTAs store to the same places
    path_ = std::filesystem::temp_directory_path() / ("trace_test." + std::to_string(getpid()));
    path_ += std::string(".") + testing::UnitTest::GetInstance()->current_test_info()->name();
    settings().trace = path_;
  }
  ~TraceTest() override {
    settings() = Settings{};
    std::filesystem::remove(path_);
  }

  // Two CTAs of two warps.
  void launch(const char* text = text_of_accesses) {
    Module module(text);
    const Allocation* out = global_memory().allocate(1024, Allocation::Kind::device);
    number_ = out->number;
    global_memory().set_name(out->base, name_);
    if (module.variable("total")) total_ = module.variable("total")->number;
    const uint64_t address = out->base;
    Launch launch;
    launch.grid = {2, 1, 1};
    launch.block = {64, 1, 1};
    settings().checks = Checks::off;
    const auto end = run(*module.kernel("kernel"), launch, reinterpret_cast<const std::byte*>(&address));
    EXPECT_FALSE(end.has_value());
    global_memory().free(out->base);
  }
  std::vector<std::string> lines() const {
    std::ifstream file(path_);
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }

  std::filesystem::path path_;
  std::string name_;
  uint32_t number_ = 0, total_ = 0;  // of allocations
};

// "[first, first + step, …]", `count` of them and then null.
std::string addresses(int first, int step, int count = 32) {
  std::string list = "\"addresses\": [";
  for (int lane = 0; lane < 32; ++lane) {
    list += (lane > 0 ? ", " : "") + (lane < count ? std::to_string(first + step * lane) : "null");
  }
  return list + "]";
}

testing::AssertionResult says(const std::string& line, const std::string& part) {
  if (line.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no " << part << "\nin " << line;
}

TEST_F(TraceTest, EveryAccessOfTheFirstWarp) {
  launch();
  const std::vector<std::string> all = lines();
  ASSERT_EQ(all.size(), 4u);
  const std::string begin = "\"kernel\": \"kernel\", \"cta\": 0, \"warp\": 0, \"at\": ";
  const int at[] = {5, 10, 14, 16};
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(
        says(all[i], begin + std::to_string(at[i]) + ", \"access\": " + std::to_string(i + 1) + ", "));
    EXPECT_EQ(all[i].front(), '{');
    EXPECT_EQ(all[i].back(), '}');
  }
  EXPECT_TRUE(says(all[0],
                   "\"ptx\": \"st.global.u32\", \"file\": \"/course/gemm.cu\", \"lines\": [11], "
                   "\"lanes\": \"ffffffff\", \"space\": \"global\", \"bytes\": 4, \"allocation\": " +
                       std::to_string(number_) + ", " + addresses(4, 4) + ", \"sectors\": 5}"));
  // From a header that was inlined into a function of the kernel's file, which was inlined into the kernel.
  EXPECT_TRUE(says(all[1],
                   "\"ptx\": \"st.volatile.shared.u32\", \"file\": \"/course/gemm.cu\", "
                   "\"lines\": [20, 12], \"lanes\": \"ffffffff\", \"space\": \"shared\", \"bytes\": 4, " +
                       addresses(0, 8) + ", \"wavefronts\": 2, \"ideal_wavefronts\": 1}"));
  EXPECT_TRUE(says(all[2], "\"ptx\": \"ld.global.u32\""));
  EXPECT_TRUE(says(all[2], "\"lanes\": \"00000003\""));
  EXPECT_TRUE(says(all[2], addresses(4, 32, 2) + ", \"sectors\": 2}"));
  EXPECT_TRUE(says(all[3], "\"ptx\": \"atom.global.add.u32\""));
  EXPECT_TRUE(says(all[3], "\"allocation\": " + std::to_string(total_) + ", \"variable\": \"total\", " +
                               addresses(0, 0) + ", \"sectors\": 1}"));
}

TEST_F(TraceTest, MemoryThatHasAName) {
  name_ = "x";
  launch();
  EXPECT_TRUE(says(lines().at(0), "\"allocation\": " + std::to_string(number_) + ", \"array\": \"x\", "));
}

TEST_F(TraceTest, AnotherWarp) {
  settings().trace_cta = 1;
  settings().trace_warp = 1;
  launch();
  const std::vector<std::string> all = lines();
  ASSERT_EQ(all.size(), 3u);  // no lane of it loads
  EXPECT_TRUE(says(all[0], "\"cta\": 1, \"warp\": 1, "));
  EXPECT_TRUE(says(all[0], addresses(132, 4)));
}

TEST_F(TraceTest, LaunchesFollowEachOtherUpToALimit) {
  settings().trace_limit = 1;
  launch();
  launch();
  const std::vector<std::string> all = lines();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_NE(all[0].substr(0, all[0].find(',')), all[1].substr(0, all[1].find(','))) << "its number";
}

TEST_F(TraceTest, TheLifeOfACopy) {
  settings().trace_events = true;
  launch(text_of_pipeline);
  const std::vector<std::string> all = lines();
  const char* expected[] = {
      "\"at\": 8, \"access\": 1, \"ptx\": \"cp.async.ca.shared.global\", \"lanes\": \"ffffffff\", \"space\": "
      "\"shared\"",
      "\"at\": 8, \"access\": 2, \"ptx\": \"cp.async.ca.shared.global\", \"lanes\": \"ffffffff\", \"space\": "
      "\"global\"",
      "\"at\": 9, \"event\": \"commit\", \"ptx\": \"cp.async.commit_group\", \"lanes\": \"ffffffff\", "
      "\"group\": 0}",
      "\"at\": 10, \"access\": 3",
      "\"at\": 10, \"access\": 4",
      "\"at\": 11, \"event\": \"commit\", \"ptx\": \"cp.async.commit_group\", \"lanes\": \"ffffffff\", "
      "\"group\": 1}",
      "\"at\": 12, \"event\": \"wait\", \"ptx\": \"cp.async.wait_group\", \"lanes\": \"ffffffff\", "
      "\"below\": 1}",
      "\"at\": 12, \"event\": \"landed\", \"ptx\": \"cp.async.ca.shared.global\", \"lanes\": \"ffffffff\", "
      "\"group\": 0, "
      "\"issued\": 8}",
      "\"at\": 13, \"event\": \"barrier\", \"ptx\": \"bar.sync\", \"lanes\": \"ffffffff\"}",
      "\"at\": 14, \"access\": 5, \"ptx\": \"ld.shared.u32\"",
      "\"at\": 15, \"event\": \"mma\", \"ptx\": \"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32\"",
      "\"at\": 16, \"event\": \"wait\", \"ptx\": \"cp.async.wait_all\", \"lanes\": \"ffffffff\", \"below\": "
      "2}",
      "\"at\": 16, \"event\": \"landed\"",
  };
  ASSERT_EQ(all.size(), std::size(expected));
  for (size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(says(all[i], expected[i]));
}

TEST_F(TraceTest, TheLimitCountsEventsToo) {
  settings().trace_events = true;
  settings().trace_limit = 4;
  launch(text_of_pipeline);
  EXPECT_EQ(lines().size(), 4u);
}

TEST_F(TraceTest, NoEventsUnlessAskedFor) {
  launch(text_of_pipeline);
  ASSERT_EQ(lines().size(), 5u);
  for (const std::string& line : lines()) EXPECT_TRUE(says(line, "\"access\": "));
}

TEST_F(TraceTest, NothingIsWrittenUnlessAskedFor) {
  settings().trace.clear();
  launch();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(TraceTest, AFileThatCannotBeWrittenIsTold) {
  settings().trace = "/nonexistent/folder/trace";
  testing::internal::CaptureStderr();
  launch();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "simulator: cannot write the trace to /nonexistent/folder/trace\n");
}

}  // namespace
}  // namespace simulator
