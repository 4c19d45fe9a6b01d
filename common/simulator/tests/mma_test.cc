// mma.sync: where the elements of a fragment lie, by the PTX ISA's own formulas; what sums round to.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

using Words = std::vector<uint32_t>;  // register r of lane l at 32 · r + l

std::string list(const std::string& name, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i ? ", %" : "%") + name + std::to_string(i);
  return text + "}";
}

class Mma : public Execution {
 protected:
  // D = instruction(A, B, C), of registers of 32 bits.
  Words multiply(const std::string& instruction, const Words& a, const Words& b, const Words& c,
                 const std::string& guard = "") {
    const int of_a = registers(a), of_b = registers(b), of_c = registers(c);
    std::string data = ".global .align 4 .b32 in[" + std::to_string(a.size() + b.size() + c.size()) + "] = {";
    for (const Words* words : {&a, &b, &c})
      for (const uint32_t word : *words) data += std::to_string(word) + ", ";
    data.replace(data.size() - 2, 2, "};\n");
    std::string body = start +
                       ".reg .b32 %a<8>, %b<8>, %c<8>;\n mov.u64 %rd2, in; mul.wide.u32 %rd3, %r1, 4;" +
                       "add.s64 %rd2, %rd2, %rd3; setp.eq.u32 %p1, 1, 1;\n";
    int offset = 0;
    const auto load = [&](const std::string& name, int count) {
      for (int r = 0; r < count; ++r, offset += 128) {
        body += "ld.global.b32 %" + name + std::to_string(r) + ", [%rd2+" + std::to_string(offset) + "];\n";
      }
    };
    load("a", of_a), load("b", of_b), load("c", of_c);
    body += guard + instruction + " " + list("c", of_c) + ", " + list("a", of_a) + ", " + list("b", of_b) +
            ", " + list("c", of_c) + ";\n";
    for (int r = 0; r < of_c; ++r) {
      body += "st.global.b32 [%rd1+" + std::to_string(128 * r) + "], %c" + std::to_string(r) + ";\n";
    }
    const Result result = run_ptx(body, static_cast<uint32_t>(c.size()), 32, 1, data);
    EXPECT_FALSE(result.end) << result.end->what;
    return result.words;
  }
  static int registers(const Words& words) { return static_cast<int>(words.size() / 32); }

  // Row 0 of A is `a`, column 0 of B is `b`, C is `c` there: D[0][0] of m16n8k16 on bf16.
  float bf16_dot(const std::vector<float>& a, const std::vector<float>& b, float c) {
    Words x(128), y(64), z(128);
    for (size_t k = 0; k < 16; ++k) {
      const auto put = [&](Words& words, size_t reg, float value) {
        const uint32_t bits = std::bit_cast<uint32_t>(value) >> 16;
        words[reg * 32 + k % 8 / 2] |= bits << (k % 2 * 16);
      };
      put(x, k / 8 * 2, k < a.size() ? a[k] : 0);
      put(y, k / 8, k < b.size() ? b[k] : 0);
    }
    z[0] = std::bit_cast<uint32_t>(c);
    return std::bit_cast<float>(multiply("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", x, y, z)[0]);
  }
};

// A shape with one type: how element i of a lane's fragment is found, as the ISA writes it.
struct Case {
  std::string instruction;
  int m, k, bits;
  std::function<bool(int)> upper;   // of A: is a_i in rows 8 to 15?
  std::function<int(int)> further;  // of A: added to the column
  std::function<int(int)> further_b;
  int result_bits;  // of D
  std::function<uint32_t(int)> encode;
};

uint32_t as_f32(int x) {
  return std::bit_cast<uint32_t>(static_cast<float>(x));
}
uint32_t as_bf16(int x) {
  return as_f32(x) >> 16;
}
uint32_t as_f16(int x) {  // of -4 … 4
  static constexpr uint32_t size[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};
  return size[std::abs(x)] | (x < 0 ? 0x8000 : 0);
}
uint32_t as_e4m3(int x) {
  static constexpr uint32_t size[] = {0, 0x38, 0x40, 0x44, 0x48};
  return size[std::abs(x)] | (x < 0 ? 0x80 : 0);
}
uint32_t as_e5m2(int x) {
  return as_f16(x) >> 8;
}
uint32_t as_s8(int x) {
  return static_cast<uint8_t>(x);
}
uint32_t as_s4(int x) {
  return static_cast<uint32_t>(x) & 15;
}

std::vector<Case> cases() {
  const auto never = [](int) { return false; };
  const auto none = [](int) { return 0; };
  std::vector<Case> all;
  for (const std::string type : {"f16", "bf16"}) {
    const auto encode = type == "f16" ? as_f16 : as_bf16;
    const std::string types = ".row.col.f32." + type + "." + type + ".f32";
    all.push_back({"mma.sync.aligned.m16n8k8" + types, 16, 8, 16, [](int i) { return i >= 2; }, none, none,
                   32, encode});
    all.push_back({"mma.sync.aligned.m16n8k16" + types, 16, 16, 16, [](int i) { return (i & 2) != 0; },
                   [](int i) { return i >= 4 ? 8 : 0; }, [](int i) { return i >= 2 ? 8 : 0; }, 32, encode});
  }
  all.push_back({"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 16, [](int i) { return i >= 2; },
                 none, none, 16, as_f16});
  all.push_back({"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 16, 16, 16,
                 [](int i) { return (i & 2) != 0; }, [](int i) { return i >= 4 ? 8 : 0; },
                 [](int i) { return i >= 2 ? 8 : 0; }, 16, as_f16});
  all.push_back({"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 16, 4, 32,
                 [](int i) { return i == 1; }, none, none, 32, as_f32});
  all.push_back({"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 32,
                 [](int i) { return i % 2 == 1; }, [](int i) { return i >= 2 ? 4 : 0; },
                 [](int i) { return i == 1 ? 4 : 0; }, 32, as_f32});
  const auto upper_of_8 = [](int i) { return !(i < 4 || (i >= 8 && i < 12)); };
  const auto upper_of_4 = [](int i) { return !(i < 8 || (i >= 16 && i < 24)); };
  for (const std::string types : {"e4m3.e4m3", "e5m2.e5m2"}) {
    const auto encode = types[1] == '4' ? as_e4m3 : as_e5m2;
    for (const std::string result : {"f32", "f16"}) {
      const std::string rest = ".row.col." + result + "." + types + "." + result;
      const int bits = result == "f32" ? 32 : 16;
      all.push_back({"mma.sync.aligned.m16n8k16" + rest, 16, 16, 8, [](int i) { return i >= 4; }, none, none,
                     bits, encode});
      all.push_back({"mma.sync.aligned.m16n8k32" + rest, 16, 32, 8, upper_of_8,
                     [](int i) { return i >= 8 ? 16 : 0; }, [](int i) { return i >= 4 ? 16 : 0; }, bits,
                     encode});
    }
  }
  all.push_back({"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 8, 16, 8, never, none, none, 32, as_s8});
  all.push_back({"mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", 16, 16, 8, [](int i) { return i >= 4; },
                 none, none, 32, as_s8});
  all.push_back({"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32", 16, 32, 8, upper_of_8,
                 [](int i) { return i >= 8 ? 16 : 0; }, [](int i) { return i >= 4 ? 16 : 0; }, 32, as_s8});
  all.push_back({"mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32", 8, 32, 4, never, none, none, 32, as_s4});
  all.push_back({"mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32", 16, 32, 4, [](int i) { return i >= 8; },
                 none, none, 32, as_s4});
  all.push_back({"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", 16, 64, 4, upper_of_4,
                 [](int i) { return i >= 16 ? 32 : 0; }, [](int i) { return i >= 8 ? 32 : 0; }, 32, as_s4});
  return all;
}

TEST_F(Mma, FragmentsLieAsTheIsaSays) {
  std::mt19937 random(1);
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.instruction);
    const int per = 32 / each.bits;
    const auto draw = [&] { return static_cast<int>(random() % 9) - 4; };
    std::vector<std::vector<int>> a(16, std::vector<int>(64)), b(64, std::vector<int>(8)), c = a;
    Words x(static_cast<size_t>(each.m * each.k / per)), y(static_cast<size_t>(8 * each.k / per));
    Words z(static_cast<size_t>(each.m * 8 * each.result_bits / 32));
    const auto element = [](Words& words, size_t lane, size_t i, int bits, uint32_t value) {
      const size_t own = static_cast<size_t>(32 / bits);
      words[i / own * 32 + lane] |= value << (i % own * static_cast<size_t>(bits));
    };
    for (size_t lane = 0; lane < 32; ++lane) {
      const int group = static_cast<int>(lane) >> 2, in_group = static_cast<int>(lane) % 4;
      for (int i = 0; i < each.m * each.k / 32; ++i) {
        const int row = each.upper(i) ? group + 8 : group;
        const int column = in_group * per + (i & (per - 1)) + each.further(i);
        int& value = a[static_cast<size_t>(row)][static_cast<size_t>(column)];
        value = draw();
        element(x, lane, static_cast<size_t>(i), each.bits, each.encode(value));
      }
      for (int i = 0; i < 8 * each.k / 32; ++i) {
        const int row = in_group * per + (i & (per - 1)) + each.further_b(i);
        int& value = b[static_cast<size_t>(row)][static_cast<size_t>(group)];
        value = draw();
        element(y, lane, static_cast<size_t>(i), each.bits, each.encode(value));
      }
      for (int i = 0; i < each.m * 8 / 32; ++i) {
        const int row = i < 2 ? group : group + 8, column = in_group * 2 + (i & 1);
        int& value = c[static_cast<size_t>(row)][static_cast<size_t>(column)];
        value = draw();
        const bool integer = each.instruction.find(".s32.") != std::string::npos;
        element(z, lane, static_cast<size_t>(i), each.result_bits,
                integer                  ? static_cast<uint32_t>(value)
                : each.result_bits == 32 ? as_f32(value)
                                         : as_f16(value));
      }
    }
    const Words d = multiply(each.instruction, x, y, z);
    for (size_t lane = 0; lane < 32; ++lane) {
      for (size_t i = 0; i < static_cast<size_t>(each.m * 8 / 32); ++i) {
        const size_t row = (i < 2 ? 0 : 8) + lane / 4, column = lane % 4 * 2 + (i & 1);
        int sum = c[row][column];
        for (size_t k = 0; k < static_cast<size_t>(each.k); ++k) sum += a[row][k] * b[k][column];
        int got = 0;
        if (each.result_bits == 16) {
          const uint32_t half = d[i / 2 * 32 + lane] >> (i % 2 * 16) & 0xffff;
          const int exponent = static_cast<int>(half >> 10 & 31);
          const double size = exponent ? std::ldexp(1024 + (half & 1023), exponent - 25) : 0;
          got = static_cast<int>(half >> 15 ? -size : size);
        } else if (each.instruction.find(".s32.") != std::string::npos) {
          got = static_cast<int>(d[i * 32 + lane]);
        } else {
          got = static_cast<int>(std::bit_cast<float>(d[i * 32 + lane]));
        }
        ASSERT_EQ(got, sum) << "row " << row << ", column " << column;
      }
    }
  }
}

TEST_F(Mma, BitsAreCounted) {
  std::mt19937 random(2);
  for (const std::string operation : {"and", "xor"}) {
    Words a(128), b(64), c(128);
    for (Words* words : {&a, &b}) {
      for (uint32_t& word : *words) word = static_cast<uint32_t>(random());
    }
    for (uint32_t& word : c) word = static_cast<uint32_t>(random());
    const Words d =
        multiply("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32." + operation + ".popc", a, b, c);
    for (size_t row = 0; row < 16; ++row) {
      for (size_t column = 0; column < 8; ++column) {
        uint32_t count = 0;
        for (size_t word = 0; word < 8; ++word) {  // 32 columns each
          const uint32_t x = a[(word / 4 * 2 + row / 8) * 32 + row % 8 * 4 + word % 4];
          const uint32_t y = b[word / 4 * 32 + column * 4 + word % 4];
          count += static_cast<uint32_t>(std::popcount(operation == "and" ? x & y : x ^ y));
        }
        const size_t at = (row / 8 * 2 + column % 2) * 32 + row % 8 * 4 + column / 2;
        ASSERT_EQ(d[at], c[at] + count) << operation << ", row " << row << ", column " << column;
      }
    }
  }
}

TEST_F(Mma, IntegersWrapOrSaturate) {
  const Words a(128, 0x7f7f7f7f), b(64, 0x7f7f7f7f), c(128, 0x7fffffff);
  const std::string rest = ".s32.s8.s8.s32";
  const uint32_t sum = 32 * 127 * 127;
  EXPECT_EQ(multiply("mma.sync.aligned.m16n8k32.row.col" + rest, a, b, c)[5], 0x7fffffffu + sum);
  EXPECT_EQ(multiply("mma.sync.aligned.m16n8k32.row.col.satfinite" + rest, a, b, c)[5], 0x7fffffffu);
}

// What is added is cut at 25 bits below the largest exponent on sm_90, at 24 on sm_80, and the sum at 24
// bits.
TEST_F(Mma, SmallTermsAreCutBeforeTheyAreAdded) {
  const std::vector<float> sixteen(16, 1.0f);
  const auto terms = [](float size) { return std::vector<float>(16, size); };
  EXPECT_EQ(bf16_dot(sixteen, terms(0x1p-25f), 1), 1 + 0x1p-21f);
  EXPECT_EQ(bf16_dot(sixteen, terms(0x1p-26f), 1), 1);
  EXPECT_EQ(bf16_dot(sixteen, terms(-0x1p-25f), 1), 1 - 0x1p-21f);
  EXPECT_EQ(bf16_dot(sixteen, terms(-0x1p-26f), 1), 1);
  settings().device = "a100";
  EXPECT_EQ(bf16_dot(sixteen, terms(0x1p-24f), 1), 1 + 0x1p-20f);
  EXPECT_EQ(bf16_dot(sixteen, terms(0x1p-25f), 1), 1);
}

TEST_F(Mma, SumsAreRoundedTowardZero) {
  EXPECT_EQ(bf16_dot({1, 1}, {1, 0x1.fep-25f}, 0), 1);  // next after 1: + 2^-23
  EXPECT_EQ(bf16_dot({1, 1, 1}, {1, 0x1p-24f, 0x1p-25f}, 0), 1);
  EXPECT_EQ(bf16_dot({1, 1, 1}, {-1, -0x1p-24f, -0x1p-25f}, 0), -1);
}

TEST_F(Mma, InfinitiesAndNans) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(bf16_dot({infinity}, {1}, 1), infinity);
  EXPECT_EQ(bf16_dot({1}, {1}, -infinity), -infinity);
  EXPECT_EQ(std::bit_cast<uint32_t>(bf16_dot({infinity}, {0}, 1)), 0x7fffffffu);
  EXPECT_EQ(std::bit_cast<uint32_t>(bf16_dot({infinity}, {1}, -infinity)), 0x7fffffffu);
  EXPECT_EQ(bf16_dot({0x1p127f, 0x1p127f}, {1, 1}, 0), infinity);
  EXPECT_EQ(std::bit_cast<uint32_t>(bf16_dot({0}, {1}, -0.0f)), 0u);
}

// Results do not depend on the scale: what is far from 1 is computed in another way.
TEST_F(Mma, ScalesDoNotMatter) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<float> a(16), b(16);
    const auto draw = [&] {
      return std::ldexp(static_cast<float>(static_cast<int>(random() % 511) - 255),
                        static_cast<int>(random() % 12));
    };
    for (float& x : a) x = draw();
    for (float& x : b) x = draw();
    const float c = std::ldexp(draw(), 10) * 1.2345f;
    const float plain = bf16_dot(a, b, c);
    for (const int scale : {90, -125}) {
      std::vector<float> scaled = a;
      for (float& x : scaled) x = std::ldexp(x, scale);
      EXPECT_EQ(bf16_dot(scaled, b, std::ldexp(c, scale)), std::ldexp(plain, scale)) << scale;
    }
  }
}

// What a kernel may rely on, on all of these GPUs. First: whole numbers are added exactly, as long as the sum
// of their sizes stays below 2^24. (The last bit that is kept lies below 1.)
TEST_F(Mma, WholeNumbersAreExact) {
  std::mt19937 random(5);
  for (const std::string device : {"h200", "a100"}) {
    settings().device = device;
    for (int round = 0; round < 20; ++round) {
      const auto draw = [&] { return static_cast<float>(static_cast<int>(random() % 511) - 255); };
      std::vector<float> a(16), b(16);
      for (float& x : a) x = draw();
      for (float& x : b) x = draw();
      const float sign = round % 2 ? -1 : 1;
      const float c = sign * static_cast<float>((1 << 24) - 16 * 255 * 255);
      double exact = static_cast<double>(c);
      for (size_t k = 0; k < 16; ++k) exact += static_cast<double>(a[k]) * static_cast<double>(b[k]);
      EXPECT_EQ(static_cast<double>(bf16_dot(a, b, c)), exact);
    }
  }
}

// Second: whatever the order, every term of a block loses less than a unit of the 24th bit below the largest
// exponent's, and the result less than a unit of its last place. (The largest term is less than four times
// its exponent's power of two.)
TEST_F(Mma, TheErrorIsBounded) {
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  for (const std::string device : {"h200", "a100"}) {
    settings().device = device;
    for (int round = 0; round < 40; ++round) {
      const auto draw = [&] {
        return std::bit_cast<float>(std::bit_cast<uint32_t>(normal(random)) & 0xffff0000u);
      };
      std::vector<float> a(16), b(16);
      for (float& x : a) x = draw();
      for (float& x : b) x = draw();
      const float c = round % 3 ? normal(random) : 0;
      double exact = c, largest = std::fabs(c);
      for (size_t k = 0; k < 16; ++k) {
        const double product = static_cast<double>(a[k]) * static_cast<double>(b[k]);
        exact += product;
        largest = std::max(largest, std::fabs(product));
      }
      const double error = std::fabs(static_cast<double>(bf16_dot(a, b, c)) - exact);
      EXPECT_LE(error, 17 * largest * 0x1p-24 + 2 * std::fabs(exact) * 0x1p-23);
    }
  }
}

// So k products, 8 or more at a time, are off by less than k · (1/2 + 1/8) · 2^-23 · Σ|a·b|: within k · 2^-23
// · Σ|a·b|, what the course's harness allows. Here all terms but the first are lost, which costs most.
TEST_F(Mma, TheErrorOfALongSumIsBounded) {
  for (const std::string device : {"h200", "a100"}) {
    settings().device = device;
    const float lost = device == "h200" ? 0x1.fep-26f : 0x1.fep-25f;
    constexpr int k = 1024;
    float sum = bf16_dot({1}, {1}, 0);
    for (int i = 0; i < k; i += 16)
      sum = bf16_dot(std::vector<float>(16, lost), std::vector<float>(16, 1), sum);
    const double exact = 1 + k * static_cast<double>(lost), error = exact - static_cast<double>(sum);
    EXPECT_LE(error, k * (0.5 + 0.125) * 0x1p-23 * exact);
    EXPECT_GT(error, 0.9 * k * (device == "h200" ? 0.25 : 0.5) * 0x1p-23);
  }
}

TEST_F(Mma, UnknownFormsAreRefused) {
  for (const std::string form : {"m16n8k32.row.col.f32.f16.f16.f32", "m16n8k16.row.row.f32.f16.f16.f32",
                                 "m16n8k16.row.col.f16.f16.f16.f32", "m16n8k16.row.col.f32.f16.bf16.f32",
                                 "m16n8k8.row.col.s32.s8.s8.s32"}) {
    const Result result =
        run_ptx(start + ".reg .b32 %a<4>, %b<2>, %c<4>;\nmma.sync.aligned." + form +
                    " {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
                1, 32);
    ASSERT_TRUE(result.end) << form;
    EXPECT_EQ(result.end->kind, FindingKind::not_supported) << form;
  }
}

TEST_F(Mma, MetadataOfASparseMatrixNameTwoOfFour) {
  const auto with = [&](const std::string& variant, const std::string& form, const std::string& metadata,
                        const std::string& selector, const std::string& a = "0x3f803f80") {
    return run_ptx(start + ".reg .b32 %a<2>, %b<2>, %c<4>, %e;\nmov.b32 %a0, " + a + "; mov.b32 %a1, " + a +
                       "; mov.b32 %b0, 0; mov.b32 %b1, 0; mov.b32 %c0, 0; mov.b32 %c1, 0; mov.b32 %c2, 0; "
                       "mov.b32 %c3, 0;\n"
                       "mov.b32 %e, " +
                       metadata + ";\nmma." + variant + ".sync.aligned." + form +
                       " {%c0, %c1, %c2, %c3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e, " +
                       selector + ";\n",
                   1, 32)
        .end;
  };
  const std::string f16 = "m16n8k16.row.col.f32.f16.f16.f32", tf32 = "m16n8k8.row.col.f32.tf32.tf32.f32",
                    s8 = "m16n8k32.row.col.s32.s8.s8.s32", ordered = "sp::ordered_metadata";
  EXPECT_FALSE(with(ordered, f16, "0x4e9d8c4e", "3"));
  EXPECT_FALSE(with(ordered, tf32, "0x4e4e44ee", "0"));
  EXPECT_FALSE(with("sp", s8, "0x1e9d8c4e", "1"));
  for (const auto& [variant, form, metadata] : {std::tuple(ordered, f16, "0x4e9d8c45"),
                                                {ordered, tf32, "0x4e4e44e8"},
                                                {ordered, s8, "0x1e9d8c4e"},
                                                {std::string("sp"), s8, "0x0e9d8c4e"}}) {
    const auto end = with(variant, form, metadata, "0");
    ASSERT_TRUE(end) << form;
    EXPECT_NE(end->what.find("sparsity metadata"), std::string::npos) << end->what;
    EXPECT_FALSE(with(variant, form, metadata, "0", "0"));  // of zeros they do not matter
  }
  for (const auto& [form, selector] : {std::pair(f16, "4"), {s8, "2"}}) {
    const auto end = with(ordered, form, "0x4e9d8c4e", selector);
    ASSERT_TRUE(end) << form;
    EXPECT_EQ(end->kind, FindingKind::not_supported) << end->what;
  }
}

}  // namespace
}  // namespace simulator
