// Tensor maps: what the hardware refuses, and maps that a kernel changes.
#include "common/simulator/units/tma_map.h"

#include <gtest/gtest.h>

#include <string>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

// Rows of 16 words, 8 of them; boxes of 4 × 4.
TmaMap small_map() {
  TmaMap map;
  map.rank = 2;
  map.type = TmaType::u32;
  map.last[0] = 15;
  map.last[1] = 7;
  map.stride[0] = 64;
  map.box[0] = map.box[1] = 4;
  map.step[0] = map.step[1] = 1;
  return map;
}

// CUTLASS clears this bit, see tma_map.cc.
TEST(TmaMapBytes, DoNotNeedBit21OfTheSecondWord) {
  TmaMap map = small_map();
  map.address = (uint64_t{1} << 40) + (uint64_t{1} << 21);
  std::byte bytes[tma_map_bytes];
  map.store(bytes);
  bytes[8 + 21 / 8] &= ~std::byte(1 << 21 % 8);
  const auto loaded = TmaMap::load(bytes);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->address, map.address);
}

class TmaMapTest : public Execution {
 protected:
  // Thread t of 32: words 0 to 127 of `out` are 100 + their number. `map` is in global memory, its address in
  // %rd3, of `out` in its first word; s in shared memory at %r3, an mbarrier for one arrival at %r4. %p1:
  // thread 0.
  Result run_body(const std::string& body, const TmaMap& map = small_map()) {
    std::byte bytes[tma_map_bytes];
    map.store(bytes);
    std::string variable = ".global .align 128 .b8 map[128] = {";
    for (uint32_t i = 0; i < tma_map_bytes; ++i)
      variable += (i ? "," : "") + std::to_string(static_cast<uint32_t>(bytes[i]));
    return run_ptx(".shared .align 1024 .b8 s[2048];\n" + start + R"(
      mov.u64 %rd3, map;
      mov.u32 %r3, s;
      add.u32 %r4, %r3, 1024;
      setp.eq.u32 %p1, %r1, 0;
      add.u32 %r5, %r1, 100; st.global.u32 [%rd1], %r5;
      add.u32 %r5, %r1, 132; st.global.u32 [%rd1+128], %r5;
      add.u32 %r5, %r1, 164; st.global.u32 [%rd1+256], %r5;
      add.u32 %r5, %r1, 196; st.global.u32 [%rd1+384], %r5;
      @%p1 mbarrier.init.shared::cta.b64 [%r4], 1;
      bar.sync 0;
      )" + body,
                   256, 32, 1, variable + "};\n");
  }
  const std::string address_ = "@%p1 tensormap.replace.tile.global_address.global.b1024.b64 [%rd3], %rd0;\n";
  const std::string release_ = "fence.proxy.tensormap::generic.release.gpu;\n";
  const std::string acquire_ = "fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;\n";
  // The box at x = 4, y = 5: words 0 to 15 of the tile become words 128 to 143 of `out`.
  const std::string load_ = R"(
      @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 64;
      mov.u32 %r6, 4; mov.u32 %r7, 5;
      @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd3, {%r6, %r7}], [%r4];
      WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0;
      @!%p2 bra WAIT;
      setp.ge.u32 %p3, %r1, 16;
      @%p3 bra DONE;
      shl.b32 %r8, %r1, 2;
      add.u32 %r8, %r3, %r8;
      ld.shared.u32 %r9, [%r8];
      st.global.u32 [%rd1+512], %r9;
      DONE: mov.u32 %r9, 0;
      )";
  static uint32_t word(uint32_t x, uint32_t y) { return 100 + y * 16 + x; }
};

TEST_F(TmaMapTest, AChangedAddressIsUsedBehindItsFences) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = run_body(address_ + release_ + acquire_ + load_);
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t i = 0; i < 16; ++i)
      EXPECT_EQ(r.words[128 + i], i < 12 ? word(4 + i % 4, 5 + i / 4) : 0) << i;
  }
}

TEST_F(TmaMapTest, AMissingFenceIsTold) {
  for (const std::string& fences : {release_, acquire_, std::string()}) {
    const Result r = run_body(address_ + fences + load_);
    ASSERT_TRUE(r.end) << fences;
    EXPECT_EQ(r.end->kind, FindingKind::missing_fence);
    const std::string missing = fences == release_ ? ".acquire" : ".release";
    EXPECT_NE(r.end->what.find("no fence.proxy.tensormap::generic" + missing), std::string::npos)
        << r.end->what;
  }
}

TEST_F(TmaMapTest, FieldsAreReplaced) {
  const auto loaded = [&](const std::string& field, const TmaMap& map = small_map()) {
    const Result r = run_body(
        address_ + "@%p1 tensormap.replace.tile." + field + ";\n" + release_ + acquire_ + load_, map);
    EXPECT_FALSE(r.end) << field << ": " << r.end->what;
    return r.words;
  };
  EXPECT_EQ(loaded("global_dim.global.b1024.b32 [%rd3], 0, 6")[128 + 2], 0u);
  EXPECT_EQ(loaded("global_dim.global.b1024.b32 [%rd3], 1, 6")[128 + 4], 0u);
  EXPECT_EQ(loaded("global_stride.global.b1024.b64 [%rd3], 0, 48")[128 + 4], 100u + 6 * 12 + 4);
  TmaMap map = small_map();
  map.box[1] = 8;
  EXPECT_EQ(loaded("element_stride.global.b1024.b32 [%rd3], 1, 2", map)[128 + 4], word(4, 7));
  map.box[1] = 2;
  EXPECT_EQ(loaded("box_dim.global.b1024.b32 [%rd3], 1, 4", map)[128 + 8], word(4, 7));
  map = small_map();
  map.rank = 3;
  EXPECT_EQ(loaded("rank.global.b1024.b32 [%rd3], 1", map)[128], word(4, 5));
  map.rank = 2;
  map.type = TmaType::s32;
  EXPECT_EQ(loaded("elemtype.global.b1024.b32 [%rd3], 7", map)[128], word(4, 5));
  EXPECT_EQ(loaded("fill_mode.global.b1024.b32 [%rd3], 0", map)[128 + 15], 0u);
  map.swizzle = Swizzle::b128;
  EXPECT_EQ(loaded("swizzle_mode.global.b1024.b32 [%rd3], 0", map)[128 + 4], word(4, 6));
  EXPECT_EQ(loaded("interleave_layout.global.b1024.b32 [%rd3], 0")[128], word(4, 5));
}

TEST_F(TmaMapTest, AChangeInSharedMemoryIsCopiedWithItsFence) {
  // Words of the map by way of shared memory, at s + 512.
  const std::string body = R"(
      shl.b32 %r8, %r1, 2;
      cvt.u64.u32 %rd4, %r8;
      add.u64 %rd4, %rd3, %rd4;
      ld.global.u32 %r9, [%rd4];
      add.u32 %r8, %r3, %r8;
      st.shared.u32 [%r8+512], %r9;
      bar.warp.sync -1;
      @%p1 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r3+512], %rd0;
      bar.warp.sync -1;
      add.u32 %r10, %r3, 512;
      tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd3], [%r10], 128;
      )";
  const Result right = run_body(body + acquire_ + load_);
  ASSERT_FALSE(right.end) << right.end->what;
  EXPECT_EQ(right.words[128], word(4, 5));
  const Result wrong = run_body(body + load_);
  ASSERT_TRUE(wrong.end);
  EXPECT_EQ(wrong.end->kind, FindingKind::missing_fence) << wrong.end->what;
}

TEST_F(TmaMapTest, WhatTheHardwareRefuses) {
  const auto what = [&](const TmaMap& map, const std::string& from = "", const std::string& to = "") {
    std::string load = load_;
    if (!from.empty()) load.replace(load.find(from), from.size(), to);
    const Result r = run_body(address_ + release_ + acquire_ + load, map);
    return r.end ? std::string(name_of(r.end->kind)) + ": " + r.end->what : std::string();
  };
  EXPECT_NE(what(small_map(), "[%r3]", "[%r3+64]").find("misaligned access: the box's address"),
            std::string::npos);
  EXPECT_NE(what(small_map(), "[%rd3, {", "[%rd3+32, {").find("misaligned access"), std::string::npos);
  EXPECT_NE(what(small_map(), "[%rd3, {", "[%rd0, {").find("no tensor map at this address"),
            std::string::npos);
  EXPECT_NE(what(small_map(), "[%r3], [%rd3", "[%r3+2048], [%rd3").find("shared memory out of bounds"),
            std::string::npos);
  TmaMap map = small_map();
  map.rank = 3;
  EXPECT_NE(what(map).find("has 3 dimensions, not 2"), std::string::npos);
  map = small_map();
  map.box[0] = 3;
  EXPECT_NE(what(map).find("12 bytes: it must be a multiple of 16"), std::string::npos);
  map = small_map();
  map.last[1] = 1000;  // more rows than the allocation has
  map.stride[0] = 256;
  EXPECT_NE(what(map).find("illegal address: load of 16 bytes"), std::string::npos) << what(map);
}

TEST_F(TmaMapTest, AStoreStartsInsideAtAMultipleOf16Bytes) {
  for (const auto& [x, y, why] : {std::tuple(-4, 0, "coordinate is negative"),
                                  {0, -1, "coordinate is negative"},
                                  {1, 0, "must be a multiple of 16"},
                                  {0, 0, ""}}) {
    const Result r =
        run_body(address_ + release_ + acquire_ + "st.shared.v4.u32 [%r3], {0, 0, 0, 0};\n" +
                 "st.shared.v4.u32 [%r3+16], {0, 0, 0, 0};\nst.shared.v4.u32 [%r3+32], {0, 0, 0, 0};\n" +
                 "st.shared.v4.u32 [%r3+48], {0, 0, 0, 0};\nfence.proxy.async.shared::cta;\n" +
                 "mov.u32 %r6, " + std::to_string(x) + "; mov.u32 %r7, " + std::to_string(y) + R"(;
      bar.sync 0;
      @%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd3, {%r6, %r7}], [%r3];
      cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;)");
    ASSERT_EQ(r.end.has_value(), *why != 0) << (r.end ? r.end->what : "");
    if (!r.end) continue;
    EXPECT_NE(r.end->what.find(why), std::string::npos) << r.end->what;
  }
}

// Elements of 4 and 6 bits: rows of 128, boxes of 128 × 4. PTX ISA 5.5.1.1.
TmaMap packed_map(TmaType type, uint32_t rows) {
  TmaMap map = small_map();
  map.type = type;
  map.last[0] = 127;
  map.last[1] = rows - 1;
  map.stride[0] = 128 * bits_of(type) / 8;
  map.box[0] = 128;
  map.swizzle = Swizzle::b128;
  return map;
}

TEST_F(TmaMapTest, PackedElements) {
  // The box's last row is outside. Thread 8 · r + g reads the first three words of group g of row r.
  const auto loaded = [&](TmaType type, uint32_t rows, uint32_t bytes, const std::string& x = "0") {
    return run_body(address_ + release_ + acquire_ +
                        "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], " + std::to_string(bytes) +
                        ";\nmov.u32 %r6, " + x + "; mov.u32 %r7, " + std::to_string(rows - 3) + R"(;
      @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd3, {%r6, %r7}], [%r4];
      WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0;
      @!%p2 bra WAIT;
      shl.b32 %r8, %r1, 4; shr.u32 %r9, %r1, 3; shl.b32 %r9, %r9, 4; xor.b32 %r8, %r8, %r9; add.u32 %r8, %r3, %r8;
      ld.shared.v2.u32 {%r9, %r10}, [%r8];
      ld.shared.u32 %r11, [%r8+8];
      st.global.u32 [%rd1+512], %r9; st.global.u32 [%rd1+640], %r10; st.global.u32 [%rd1+768], %r11;)",
                    packed_map(type, rows));
  };
  for (const auto& [type, rows, words] :
       {std::tuple(TmaType::b4_padded, 8u, 2u), std::tuple(TmaType::b6_padded, 5u, 3u)}) {
    const Result r = loaded(type, rows, 4 * 8 * 4 * words);
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t t = 0; t < 32; ++t) {
      for (uint32_t w = 0; w < words; ++w)
        EXPECT_EQ(r.words[128 + 32 * w + t], t < 24 ? 100 + (rows - 3) * 8 * words + t * words + w : 0) << t;
    }
    const Result wrong = loaded(type, rows, 4 * 8 * 4 * words, "64");
    ASSERT_TRUE(wrong.end);
    EXPECT_NE(wrong.end->what.find("it must be a multiple of 128"), std::string::npos) << wrong.end->what;
  }
  TmaMap map = packed_map(TmaType::b4, 8);
  map.box[0] = 32;
  std::string load = load_;
  load.replace(load.find("mov.u32 %r6, 4"), 14, "mov.u32 %r6, 8");
  const Result r = run_body(address_ + release_ + acquire_ + load, map);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 4; ++i)
    EXPECT_EQ(r.words[128 + i], 100 + 5 * 16 + 1 + i) << "eight elements a word";
}

TEST_F(TmaMapTest, ElementsOfSixBitsArePackedWhenStored) {
  // Byte b of shared memory is b % 64, and two bits that are left out.
  const std::string store = R"(
      mov.u32 %r6, 0; mov.u32 %r7, 0;
      LOOP: shl.b32 %r8, %r1, 2; add.u32 %r8, %r8, %r6; and.b32 %r9, %r8, 63;
      mad.lo.u32 %r9, %r9, 0x1010101, 0xc3824100;
      add.u32 %r8, %r3, %r8; st.shared.u32 [%r8], %r9;
      add.u32 %r6, %r6, 128; setp.lt.u32 %p2, %r6, 512; @%p2 bra LOOP;
      fence.proxy.async.shared::cta; bar.sync 0; mov.u32 %r6, 0;
      @%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd3, {%r6, %r7}], [%r3];
      cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;)";
  TmaMap map = packed_map(TmaType::b6_padded, 4);
  map.swizzle = Swizzle::none;
  const Result r = run_body(address_ + release_ + acquire_ + store, map);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t element = 0; element < 512; ++element) {
    const uint32_t bit = element * 6;
    const uint64_t pair = r.words[bit / 32] | uint64_t{r.words[bit / 32 + 1]} << 32;
    EXPECT_EQ(pair >> bit % 32 & 63, element % 64) << element;
  }
  EXPECT_EQ(r.words[96], 196u) << "behind the box";
  map.type = TmaType::b4_padded;
  map.stride[0] = 64;
  const Result wrong = run_body(address_ + release_ + acquire_ + store, map);
  ASSERT_TRUE(wrong.end);
  EXPECT_NE(wrong.end->what.find("can only be loaded"), std::string::npos) << wrong.end->what;
}

TEST(PackedMaps, WhatTheDriverRefuses) {
  const auto problem = [](auto change, TmaType type = TmaType::b6_padded) {
    TmaMap map = packed_map(type, 4);
    change(map);
    return problem_of(map);
  };
  EXPECT_EQ(problem([](TmaMap&) {}), "");
  EXPECT_NE(problem([](TmaMap& map) { map.address = 16; }).find("multiple of 32"), std::string::npos);
  EXPECT_NE(problem([](TmaMap& map) { map.stride[0] = 112; }).find("multiple of 32"), std::string::npos);
  EXPECT_NE(problem([](TmaMap& map) { map.last[0] = 191; }).find("multiple of 128"), std::string::npos);
  EXPECT_NE(problem([](TmaMap& map) { map.box[0] = 64; }).find("it must be 128"), std::string::npos);
  EXPECT_NE(problem([](TmaMap& map) { map.swizzle = Swizzle::b64; }).find("swizzled"), std::string::npos);
  EXPECT_EQ(problem([](TmaMap& map) { map.swizzle = Swizzle::b128_atom64; }), "");
  EXPECT_NE(problem([](TmaMap& map) { map.swizzle = Swizzle::b128_atom64; }, TmaType::b4_padded), "");
  EXPECT_NE(problem([](TmaMap& map) { map.last[0] = 126; }, TmaType::b4).find("multiple of 2"),
            std::string::npos);
  EXPECT_NE(problem([](TmaMap& map) { map.fill_nan = true; }, TmaType::b4).find("NaN"), std::string::npos);
}

TEST_F(TmaMapTest, ReductionsThatAreNone) {
  const Result r = run_body(address_ + release_ + acquire_ + R"(
      st.shared.u32 [%r3], 0; mov.u32 %r6, 0; mov.u32 %r7, 0;
      @%p1 cp.reduce.async.bulk.tensor.2d.global.shared::cta.inc.tile.bulk_group [%rd3, {%r6, %r7}], [%r3];)",
                            [] {
                              TmaMap map = small_map();
                              map.type = TmaType::f32;
                              return map;
                            }());
  ASSERT_TRUE(r.end);
  EXPECT_NE(r.end->what.find("there is no reduction .inc"), std::string::npos) << r.end->what;
}

TEST(Swizzles, FollowTheTablesOfThePtxIsa) {
  // Sections 5.5.7: which chunk of 16 bytes is where, in lines of 128 bytes.
  const auto chunk = [](Swizzle swizzle, uint32_t line, uint32_t place) {
    return swizzled(swizzle, line * 128 + place * 16) % 128 / 16;
  };
  for (uint32_t line = 0; line < 16; ++line) {
    for (uint32_t c = 0; c < 8; ++c) {
      EXPECT_EQ(chunk(Swizzle::none, line, c), c);
      EXPECT_EQ(chunk(Swizzle::b32, line, c), c ^ line % 2);
      EXPECT_EQ(chunk(Swizzle::b64, line, c), c ^ line % 4);
      EXPECT_EQ(chunk(Swizzle::b128, line, c), c ^ line % 8);
      EXPECT_EQ(chunk(Swizzle::b128_atom32, line, c), c ^ line % 4 * 2);
      EXPECT_EQ(chunk(Swizzle::b128_atom64, line, c), c ^ line % 2 * 4);
    }
  }
  EXPECT_EQ(swizzled(Swizzle::b128_atom32_flip8, 128), 128u + 32 + 8);
}

}  // namespace
}  // namespace simulator
