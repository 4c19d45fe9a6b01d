// What the programs on mma.sync share: one instruction per warp, on registers filled with chosen bits.
#pragma once

#include <algorithm>
#include <string>

#include "program.h"

// NAME: an instruction with this many registers of 32 bits a lane for C and D, A and B.
#define MMA_4_4_2(NAME, TEXT)                                                              \
  struct NAME {                                                                            \
    static constexpr int c = 4, a = 4, b = 2;                                              \
    static __device__ void run(uint32_t* d, const uint32_t* x, const uint32_t* y) {        \
      asm volatile(TEXT " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                   : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                        \
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));    \
    }                                                                                      \
  }
#define MMA_4_2_1(NAME, TEXT)                                                       \
  struct NAME {                                                                     \
    static constexpr int c = 4, a = 2, b = 1;                                       \
    static __device__ void run(uint32_t* d, const uint32_t* x, const uint32_t* y) { \
      asm volatile(TEXT " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"      \
                   : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                 \
                   : "r"(x[0]), "r"(x[1]), "r"(y[0]));                              \
    }                                                                               \
  }
#define MMA_2_4_2(NAME, TEXT)                                                           \
  struct NAME {                                                                         \
    static constexpr int c = 2, a = 4, b = 2;                                           \
    static __device__ void run(uint32_t* d, const uint32_t* x, const uint32_t* y) {     \
      asm volatile(TEXT " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"              \
                   : "+r"(d[0]), "+r"(d[1])                                             \
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1])); \
    }                                                                                   \
  }
#define MMA_2_2_1(NAME, TEXT)                                                       \
  struct NAME {                                                                     \
    static constexpr int c = 2, a = 2, b = 1;                                       \
    static __device__ void run(uint32_t* d, const uint32_t* x, const uint32_t* y) { \
      asm volatile(TEXT " {%0, %1}, {%2, %3}, {%4}, {%0, %1};"                      \
                   : "+r"(d[0]), "+r"(d[1])                                         \
                   : "r"(x[0]), "r"(x[1]), "r"(y[0]));                              \
    }                                                                               \
  }
#define MMA_2_1_1(NAME, TEXT)                                                                                \
  struct NAME {                                                                                              \
    static constexpr int c = 2, a = 1, b = 1;                                                                \
    static __device__ void run(uint32_t* d, const uint32_t* x, const uint32_t* y) {                          \
      asm volatile(TEXT " {%0, %1}, {%2}, {%3}, {%0, %1};" : "+r"(d[0]), "+r"(d[1]) : "r"(x[0]), "r"(y[0])); \
    }                                                                                                        \
  }

// Warp w does its instruction `times` times on its registers: register r of lane l at (w · registers + r) ·
// 32 + l.
template <class Mma>
__global__ void multiply(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, int times) {
  const uint32_t warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  uint32_t x[Mma::a], y[Mma::b], z[Mma::c];
  for (int r = 0; r < Mma::a; ++r) x[r] = a[(warp * Mma::a + r) * 32 + lane];
  for (int r = 0; r < Mma::b; ++r) y[r] = b[(warp * Mma::b + r) * 32 + lane];
  for (int r = 0; r < Mma::c; ++r) z[r] = c[(warp * Mma::c + r) * 32 + lane];
  for (int i = 0; i < times; ++i) Mma::run(z, x, y);
  for (int r = 0; r < Mma::c; ++r) d[(warp * Mma::c + r) * 32 + lane] = z[r];
}

constexpr int kWarps = 32;

template <class Mma>
void show_products(const std::string& name, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b,
                   const std::vector<uint32_t>& c, int times = 1) {
  const int warps = int(c.size()) / (32 * Mma::c);
  Buffer<uint32_t> left(a), right(b), start(c), result(c.size());
  multiply<Mma><<<warps, 32>>>(left, right, start, result, times);
  LAUNCHED();
  show(name.c_str(), result.download(), 8);
}

// A floating-point format, as it lies in a register.
struct Format {
  int exponent, mantissa;
  bool special = true;  // the largest exponent means infinity or NaN

  int bits() const { return 1 + exponent + mantissa; }
  int bias() const { return (1 << (exponent - 1)) - 1; }
  int last() const { return (1 << exponent) - 1; }
};
constexpr Format kF16{5, 10}, kBf16{8, 7}, kF32{8, 23}, kE4m3{4, 3, false}, kE5m2{5, 2};

// Numbers with exponents from `low` to `high`, where the format has them; of 16, `zeros` are zero and
// `specials` anything.
struct Range {
  int low, high;
  uint32_t zeros = 0, specials = 0;
};

inline uint32_t number(const Format& format, const Range& range, uint64_t random) {
  const uint32_t pick = random >> 60, mantissa = uint32_t(random) & ((1u << format.mantissa) - 1);
  const uint32_t sign = uint32_t(random >> 32 & 1) << (format.bits() - 1);
  if (pick < range.zeros) return sign;
  if (pick < range.zeros + range.specials) {
    const uint32_t kind = random >> 40 & 3;  // infinity, NaN, the largest, the smallest
    const uint32_t all = uint32_t(format.last()) << format.mantissa;
    return sign | (kind == 0 ? all : kind == 1 ? all | mantissa | 1 : kind == 2 ? all - 1 : 1);
  }
  const int exponent = range.low + int((random >> 33 & 0xffff) % uint64_t(range.high - range.low + 1));
  const int top = format.special ? format.last() - 1 : format.last();
  const uint32_t field = uint32_t(std::clamp(exponent + format.bias(), 0, top));
  const uint32_t safe = !format.special && int(field) == top ? mantissa & ~1u : mantissa;  // no NaN
  return sign | field << format.mantissa | safe;
}

inline std::vector<uint32_t> numbers(const Format& format, const Range& range, size_t words, uint32_t seed) {
  std::vector<uint32_t> result(words);
  const int per = 32 / format.bits();
  for (size_t i = 0; i < words; ++i) {
    for (int j = 0; j < per; ++j) {
      const uint64_t random = noise64(seed * 1000003u + uint32_t(i) * 8u + uint32_t(j));
      result[i] |= number(format, range, random) << (j * format.bits());
    }
  }
  return result;
}

// The instruction on many kinds of numbers. tail: where products go below C; exponents of A, B and C.
template <class Mma>
void numerics(const std::string& name, const Format& of_a, const Format& of_b, const Format& of_c) {
  const int least = 1 - std::min(of_a.bias(), of_b.bias());
  const int wide = std::min(-least, 60);
  const struct {
    const char* name;
    Range a, b, c;
    int times;
  } cases[] = {
      {"near one", {-2, 1}, {-2, 1}, {-2, 3}, 1},
      {"no C", {-2, 1}, {-2, 1}, {0, 0, 16}, 1},
      {"a chain of 64", {-3, 0}, {-3, 0}, {0, 0, 16}, 64},
      {"spread", {-8, 8}, {-8, 8}, {-10, 12}, 1},
      {"wide", {-wide, wide}, {-wide, wide}, {-wide, wide}, 1},
      {"large C", {-6, 2}, {-6, 2}, {8, 24}, 1},
      {"small C", {-2, 6}, {-2, 6}, {-30, -8}, 1},
      {"tiny", {least - 3, least + 2}, {-4, 4}, {least - 6, least + 2}, 1},
      {"tiny by tiny", {least - 3, least + 8}, {least - 3, least + 8}, {-149, -120}, 1},
      {"many zeros", {-4, 4, 8}, {-4, 4, 8}, {-8, 8, 8}, 1},
      {"zeros by large", {-wide, -wide + 3, 8}, {wide / 2, wide, 8}, {-wide, -wide + 12, 8}, 1},
      {"to infinity", {of_a.bias() - 2, of_a.bias()}, {-2, 2}, {of_c.bias() - 2, of_c.bias()}, 1},
      {"large by large", {of_a.bias() - 4, of_a.bias()}, {of_b.bias() - 4, of_b.bias()}, {0, 20}, 1},
      {"specials", {-4, 4, 2, 1}, {-4, 4, 2, 1}, {-4, 4, 2, 1}, 1},
      {"NaN and infinity in C", {-4, 4}, {-4, 4}, {-4, 4, 0, 6}, 1},
  };
  uint32_t seed = 1;
  for (const auto& each : cases) {
    show_products<Mma>(name + ", " + each.name, numbers(of_a, each.a, kWarps * Mma::a * 32, seed),
                       numbers(of_b, each.b, kWarps * Mma::b * 32, seed + 1),
                       numbers(of_c, each.c, kWarps * Mma::c * 32, seed + 2), each.times);
    seed += 3;
  }
}

// Where elements lie: element i of A is one where the others are zero, and likewise B; D shows which meet.
// bits: of an element; one: its value 1; per_result: elements of D to a register.
template <class Mma>
void layout(const std::string& name, int bits, uint32_t one) {
  const int per = 32 / bits, of_a = Mma::a * 32 * per, of_b = Mma::b * 32 * per;
  std::vector<uint32_t> a, b, c;
  for (int i = 0; i < std::max(of_a, of_b); ++i) {
    std::vector<uint32_t> x(Mma::a * 32), y(Mma::b * 32);
    const int p = i % of_a, q = (i * 5 + i / of_b) % of_b;
    // A has a single one; B is one wherever its bit of q is set, so that many of D see it.
    x[p / per] = one << (p % per * bits);
    for (int j = 0; j < of_b; ++j) {
      if ((j ^ q) % 3 == 0) y[j / per] |= one << (j % per * bits);
    }
    a.insert(a.end(), x.begin(), x.end());
    b.insert(b.end(), y.begin(), y.end());
    c.insert(c.end(), Mma::c * 32, 0u);
  }
  show_products<Mma>(name + ", layout", a, b, c);
}
