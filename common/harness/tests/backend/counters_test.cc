// What the simulator counted, as JSON and as text.
#include "common/harness/backend/counters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "common/harness/report/report.h"

namespace ladder {
namespace {

Counters some() {
  Counters c;
  c.ctas = 4;
  c.warps = 32;
  c.instructions = 1000;
  c.lanes = 31500;
  c.global_load = {.requests = 12, .sectors = 200, .bytes = 768};
  c.global_store = {.requests = 4, .sectors = 16, .bytes = 512};
  c.shared_load = {.requests = 20, .bytes = 2560, .wavefronts = 50, .ideal_wavefronts = 20};
  c.shared_store = {.requests = 3, .bytes = 384, .wavefronts = 4, .ideal_wavefronts = 3};
  c.mix = {{"add.f32", 100}, {"fma.rn.f32", 600}, {"bar.sync", 1}, {"ld.global.u16", 100}};
  return c;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Counters, Ratios) {
  EXPECT_DOUBLE_EQ(some().active_lanes(), 31.5);
  EXPECT_DOUBLE_EQ(some().global_store.sectors_per_request(), 4);
  EXPECT_EQ(some().wavefronts(), 54u);
  EXPECT_EQ(some().ideal_wavefronts(), 23u);
}

TEST(Counters, NothingCountedIsNoDivisionByZero) {
  EXPECT_EQ(Counters().active_lanes(), 0);
  EXPECT_EQ(AccessCounts().sectors_per_request(), 0);
}

TEST(CountersJson, IsFlatWithTheNamesOfTheHardwares) {
  EXPECT_EQ(
      counters_json(some()).text(),
      R"({"ptx_instructions": 1000, "active_lanes": 31.5, )"
      R"("global_load_requests": 12, "global_load_sectors": 200, )"
      R"("global_load_sectors_per_request": 16.667, "global_load_bytes": 768, )"
      R"("global_store_requests": 4, "global_store_sectors": 16, )"
      R"("global_store_sectors_per_request": 4, "global_store_bytes": 512, )"
      R"("shared_load_requests": 20, "shared_load_wavefronts": 50, "shared_load_wavefronts_ideal": 20, )"
      R"("shared_store_requests": 3, "shared_store_wavefronts": 4, "shared_store_wavefronts_ideal": 3, )"
      R"("shared_wavefronts": 54, "shared_wavefronts_ideal": 23})");
}

TEST(CountersJson, HasLocalAndAtomicAccessesWhereThereAreAny) {
  Counters c = some();
  EXPECT_FALSE(contains(counters_json(c).text(), "local"));
  EXPECT_FALSE(contains(counters_json(c).text(), "atomic"));
  c.local = {.requests = 2, .sectors = 8};
  c.atomic = {.requests = 1, .sectors = 1};
  EXPECT_TRUE(contains(counters_json(c).text(), R"("local_requests": 2, "local_sectors": 8)"));
  EXPECT_TRUE(contains(counters_json(c).text(), R"("atomic_requests": 1)"));
}

TEST(CountersJson, HasCopiesMatricesAndTensorCoresWhereThereAreAny) {
  Counters c = some();
  for (const char* name : {"async_copy", "bulk_copy", "wgmma", "ldmatrix", "stmatrix", "tensor"})
    EXPECT_FALSE(contains(counters_json(c).text(), name)) << name;
  c.async_copy = {.requests = 4, .sectors = 64, .bytes = 2048, .wavefronts = 32, .ideal_wavefronts = 16};
  c.ldmatrix = {.requests = 3, .bytes = 1536, .wavefronts = 24, .ideal_wavefronts = 12};
  c.wgmma = {.requests = 1, .bytes = 10240, .wavefronts = 80, .ideal_wavefronts = 80};
  c.tensor_instructions = 10;
  c.tensor_macs = 20480;
  const std::string json = counters_json(c).text();
  const std::uint64_t loads = some().global_load.requests + 4, sectors = some().global_load.sectors + 64;
  EXPECT_TRUE(contains(json, "\"global_load_requests\": " + std::to_string(loads) +
                                 ", \"global_load_sectors\": " + std::to_string(sectors)))
      << json;  // as the hardware counts
  EXPECT_TRUE(contains(json, R"("async_copy_requests": 4, "async_copy_sectors": 64, )"
                             R"("async_copy_sectors_per_request": 16, "async_copy_bytes": 2048, )"
                             R"("async_copy_wavefronts": 32, "async_copy_wavefronts_ideal": 16, )"
                             R"("wgmma_requests": 1, "wgmma_wavefronts": 80, "wgmma_wavefronts_ideal": 80, )"
                             R"("ldmatrix_requests": 3, "ldmatrix_wavefronts": 24, )"
                             R"("ldmatrix_wavefronts_ideal": 12, )"
                             R"("tensor_instructions": 10, "tensor_macs": 20480})"))
      << json;
  EXPECT_TRUE(contains(json, R"("shared_wavefronts": 166, "shared_wavefronts_ideal": 119)")) << json;
  const std::string text = counters_text("", c);
  EXPECT_TRUE(contains(text, "\n  async copy")) << text;
  EXPECT_TRUE(contains(text, "\n    ldmatrix")) << text;
  EXPECT_TRUE(contains(text, "\n  wgmma")) << text;
  EXPECT_TRUE(contains(text, "\n  10 mma of a warp: 20480 multiply-adds\n")) << text;
}

TEST(InstructionMix, TheMostFrequentFirst) {
  EXPECT_EQ(instruction_mix_json(some()).text(),
            R"({"fma.rn.f32": 600, "add.f32": 100, "ld.global.u16": 100, "bar.sync": 1})");
}

TEST(CountersText, SaysWhatWasCounted) {
  const std::string text = counters_text("gemm tiled 7x8x9", some());
  EXPECT_TRUE(text.starts_with("gemm tiled 7x8x9: 4 CTAs, 32 warps\n")) << text;
  for (const char* part : {"global load", "global store", "shared load", "shared store", "16.67",
                           "1000 PTX instructions, 31.50 of 32 lanes", "fma.rn.f32 60.0 %"})
    EXPECT_TRUE(contains(text, part)) << part << " in:\n" << text;
  EXPECT_FALSE(contains(text, "local")) << text;
  EXPECT_FALSE(contains(text, " \n")) << "trailing blanks:\n" << text;
}

TEST(CountersText, EveryFigureUnderItsName) {
  const std::string text = counters_text("", some());
  const std::size_t first = text.find('\n') + 1;
  const std::string head = text.substr(first, text.find('\n', first) - first);
  const auto end_of = [&](const std::string& row, const std::string& word) {
    return row.find(word) + word.size();
  };
  auto row = [&](const char* name) {
    const std::size_t at = text.find(std::string("  ") + name);
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(end_of(row("global load"), " 200"), end_of(head, "sectors"));
  EXPECT_EQ(end_of(row("global load"), "16.67"), end_of(head, "per request"));
  EXPECT_EQ(end_of(row("shared load"), " 50"), end_of(head, "wavefronts"));
  EXPECT_EQ(end_of(row("shared load"), " 30"), end_of(head, "excess"));
}

TEST(CountersText, PassesTheNotesOn) {
  Counters c = some();
  c.notes = {"ptxas may merge these", "and those"};
  EXPECT_TRUE(contains(counters_text("", c), "  note: ptxas may merge these\n  note: and those\n"));
}

}  // namespace
}  // namespace ladder
