// wgmma.mma_async: every type, where the elements of its matrices lie (in registers and, by descriptors, in
// shared memory), and what its sums round to.
#include <algorithm>
#include <cmath>

#include "wgmma.h"

WGMMA_SS(Bf16, 32, 32, 33, 34, "m64n64k16.f32.bf16.bf16", ", 1, 1, 0, 0");
WGMMA_SS(Bf16Mn, 32, 32, 33, 34, "m64n64k16.f32.bf16.bf16", ", 1, 1, 1, 1");
WGMMA_SS(Bf16BMn, 128, 128, 129, 130, "m64n256k16.f32.bf16.bf16", ", 1, 1, 0, 1");
WGMMA_SS(Bf16N8, 4, 4, 5, 6, "m64n8k16.f32.bf16.bf16", ", 1, 1, 0, 0");
WGMMA_SS(Bf16Negated, 8, 8, 9, 10, "m64n16k16.f32.bf16.bf16", ", -1, 1, 1, 0");
WGMMA_RS(Bf16Rs, 64, 64, 65, 66, 67, 68, 69, "m64n128k16.f32.bf16.bf16", ", 1, -1, 1");
WGMMA_SS(F16, 32, 32, 33, 34, "m64n64k16.f32.f16.f16", ", 1, 1, 0, 0");
WGMMA_SS(F16Half, 16, 16, 17, 18, "m64n64k16.f16.f16.f16", ", 1, 1, 0, 0");
WGMMA_RS(F16HalfRs, 8, 8, 9, 10, 11, 12, 13, "m64n32k16.f16.f16.f16", ", 1, 1, 0");
WGMMA_SS(Tf32, 32, 32, 33, 34, "m64n64k8.f32.tf32.tf32", ", 1, 1");
WGMMA_RS(Tf32Rs, 16, 16, 17, 18, 19, 20, 21, "m64n32k8.f32.tf32.tf32", ", 1, 1");
WGMMA_SS(E4m3, 32, 32, 33, 34, "m64n64k32.f32.e4m3.e4m3", ", 1, 1");
WGMMA_RS(E4m3Rs, 16, 16, 17, 18, 19, 20, 21, "m64n32k32.f32.e4m3.e5m2", ", 1, 1");
WGMMA_SS(E5m2, 32, 32, 33, 34, "m64n64k32.f32.e5m2.e5m2", ", 1, 1");
WGMMA_SS(E5m2Half, 16, 16, 17, 18, "m64n64k32.f16.e5m2.e4m3", ", 1, 1");
WGMMA_SS(E4m3Half, 16, 16, 17, 18, "m64n64k32.f16.e4m3.e4m3", ", 1, 1");
WGMMA_SS(S8, 32, 32, 33, 34, "m64n64k32.s32.s8.s8", "");
WGMMA_SS(U8, 128, 128, 129, 130, "m64n256k32.s32.u8.u8", "");
WGMMA_RS(S8U8, 16, 16, 17, 18, 19, 20, 21, "m64n32k32.s32.s8.u8", "");
WGMMA_SS(S8Saturating, 8, 8, 9, 10, "m64n16k32.s32.s8.s8.satfinite", "");
WGMMA_SS(Bits, 32, 32, 33, 34, "m64n64k256.s32.b1.b1.and.popc", "");
WGMMA_RS(BitsRs, 4, 4, 5, 6, 7, 8, 9, "m64n8k256.s32.b1.b1.and.popc", "");

WGMMA_SP_SS(SparseF16, 32, 32, 33, 34, 35, 0, "m64n64k32.f32.f16.f16", ", 1, 1, 0, 0");
WGMMA_SP_SS(SparseF16Half, 8, 8, 9, 10, 11, 1, "m64n32k32.f16.f16.f16", ", 1, 1, 1, 1");
WGMMA_SP_RS(SparseBf16Rs, 16, 16, 17, 18, 19, 20, 21, 22, 1, "m64n32k32.f32.bf16.bf16", ", 1, 1, 1");
WGMMA_SP_SS(SparseTf32, 32, 32, 33, 34, 35, 0, "m64n64k16.f32.tf32.tf32", ", 1, 1");
WGMMA_SP_RS(SparseTf32Rs, 4, 4, 5, 6, 7, 8, 9, 10, 1, "m64n8k16.f32.tf32.tf32", ", 1, 1");
WGMMA_SP_SS(SparseE4m3, 32, 32, 33, 34, 35, 0, "m64n64k64.f32.e4m3.e4m3", ", 1, 1");
WGMMA_SP_RS(SparseE5m2Rs, 8, 8, 9, 10, 11, 12, 13, 14, 0, "m64n16k64.f32.e5m2.e4m3", ", 1, 1");
WGMMA_SP_SS(SparseS8, 32, 32, 33, 34, 35, 0, "m64n64k64.s32.s8.u8", "");

uint32_t as_f32(int x) {
  const float value = float(x);
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
// A small whole number in a format narrower than f32.
uint32_t as(const Format& format, int x) {
  if (x == 0) return 0;
  const uint32_t bits = as_f32(x);
  const int exponent = int(bits >> 23 & 255) - 127 + format.bias();
  return (bits >> 31) << (format.bits() - 1) | uint32_t(exponent) << format.mantissa |
         (bits & 0x7fffff) >> (23 - format.mantissa);
}
Element floating(const Format& format) {
  return {format.bits(), [format](int x) { return as(format, x); }, format};
}
const Element kOfBf16 = floating(kBf16), kOfF16 = floating(kF16), kOfE4m3 = floating(kE4m3),
              kOfE5m2 = floating(kE5m2), kOfTf32{32, as_f32, kF32},
              kOfS8{8, [](int x) { return uint32_t(x) & 255; }, {}},
              kOfU8{8, [](int x) { return uint32_t(std::abs(x)); }, {}},
              kOfBit{1, [](int x) { return uint32_t(x & 1); }, {}};

enum class Result { f32, f16, s32 };

struct Case {
  const char* name;
  std::vector<uint32_t> (*run)(const Input&);
  int n, k;
  Element a, b;
  Result result;
  bool rs;
  Layout layout_a, layout_b;
  int sign = 1;       // of A · B
  int selector = -1;  // A is sparse
};

// Products of whole numbers: exact, so that any mistake in a layout shows.
void layout(const Case& each) {
  const int range = each.a.bits == 1 ? 2 : 5;
  const auto value = [&](int seed, int i, int j) {
    const int x = int(noise(uint32_t(seed * 1000003 + i * 1009 + j)) % uint32_t(range));
    return each.a.bits == 1 ? x : x - 2;
  };
  const auto decoded = [](const Element& of, int x) {
    return of.bits == 8 && of.encode(-1) == 1 ? std::abs(x) : x;
  };
  for (const bool accumulate : {false, true}) {
    Input input;
    input.scale = accumulate;
    // Where the pattern of a swizzle begins elsewhere than at a multiple of its size, the base offset says
    // so.
    input.a_start = each.layout_a.pattern;
    input.b_start = 32 * 1024 + each.layout_b.pattern;
    input.a_matrix = each.layout_a.descriptor();
    input.b_matrix = each.layout_b.descriptor();
    input.a.resize(4 * 128);
    // Sparse: which elements of four neighbours (tf32: of two) are there.
    const bool sparse = each.selector >= 0;
    const int group = each.a.bits == 32 ? 2 : 4;
    static constexpr int pairs[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
    const auto code = [&](int row, int k) {
      const uint32_t pick = noise(uint32_t(4000037 + row * 1009 + k / group));
      return group == 2 ? (pick % 2 ? 0b1110 : 0b0100) : pairs[pick % 6];
    };
    // Number of element k of the row among those that are there; -1: it is not.
    const auto packed = [&](int row, int k) {
      if (!sparse) return k;
      const int bits = code(row, k), at = k % group, first = k / group * (group / 2);
      if (group == 2) return at == bits >> 3 ? first : -1;
      return at == (bits & 3) ? first : at == bits >> 2 ? first + 1 : -1;
    };
    input.metadata.resize(128);
    for (int t = 0; t < 128 && sparse; ++t) {
      for (int i = 0; i < 8; ++i) {
        int row, k;
        if (metadata_place(each.a.bits, each.selector, t, i, row, k))
          input.metadata[t] |= uint32_t(code(row, k)) << 4 * i;
      }
    }
    for (int t = 0; t < 128 && each.rs; ++t) {
      for (int r = 0; r < 4; ++r) {
        for (int i = 0; i < 32 / each.a.bits; ++i) {
          int row, k;
          a_place(each.a.bits, t, r, i, row, k);
          input.a[128 * r + t] |= each.a.encode(value(1, row, k))
                                  << i * each.a.bits;  // k: of those that are there
        }
      }
    }
    for (int k = 0; k < each.k; ++k) {
      for (int m = 0; m < 64 && !each.rs && k < each.k / (sparse ? 2 : 1); ++m) {
        put(input.shared, input.a_start + each.layout_a.at(m, k, each.a.bits), each.a.bits, k,
            each.a.encode(value(1, m, k)));
      }
      for (int n = 0; n < each.n; ++n) {
        put(input.shared, input.b_start + each.layout_b.at(n, k, each.b.bits), each.b.bits, k,
            each.b.encode(value(2, n, k)));
      }
    }
    const bool half = each.result == Result::f16;
    const int count = each.n / (half ? 4 : 2);
    input.d.resize(size_t(count) * 128);
    std::vector<uint32_t> want(input.d.size());
    for (int t = 0; t < 128; ++t) {
      for (int r = 0; r < count; ++r) {
        for (int i = 0; i < (half ? 2 : 1); ++i) {
          int row, column, sum = 0;
          d_place(half, t, r, i, row, column);
          for (int k = 0; k < each.k; ++k) {
            if (packed(row, k) < 0) continue;
            sum += decoded(each.a, value(1, row, packed(row, k))) * decoded(each.b, value(2, column, k));
          }
          const int start = value(3, row, column);
          const auto encode = [&](int x) {
            return each.result == Result::s32 ? uint32_t(x) : half ? as(kF16, x) << 16 * i : as_f32(x);
          };
          input.d[128 * r + t] |= encode(start);
          want[128 * r + t] |= encode(each.sign * sum + (accumulate ? start : 0));
        }
      }
    }
    const std::vector<uint32_t> got = each.run(input);
    const std::string name = std::string(each.name) + (accumulate ? ", D + A B" : ", A B");
    show(name.c_str(), got);
    expect(got == want, name.c_str());
  }
}

// So many bytes along k.
constexpr Layout k_major(int swizzle, int k_bytes = 32) {
  return swizzle == 16 ? Layout{false, 16, 128, 8 * k_bytes} : Layout{false, swizzle, 0, 8 * swizzle};
}
// Of 16 bits. Without a swizzle there are gaps.
constexpr Layout mn_major(int swizzle, int mn, int k = 16) {
  if (swizzle == 16) return {true, 16, mn / 8 * 128 + 256, 128};
  return {true, swizzle, k * swizzle, 8 * swizzle};
}

template <class Wgmma>
Case make(const char* name, int n, int k, const Element& a, const Element& b, Result result, bool rs,
          const Layout& layout_a, const Layout& layout_b, int sign = 1, int selector = -1) {
  return {name, run_group<Wgmma>, n, k, a, b, result, rs, layout_a, layout_b, sign, selector};
}

// Sums on all kinds of numbers, one column after the other of the same rule as mma: their bits.
template <class Wgmma>
void sums(const std::string& name, int n, int k, const Format& of_a, const Format& of_b, const Format& of_d) {
  const int least = 1 - std::min(of_a.bias(), of_b.bias()), wide = std::min(-least, 60);
  const struct {
    const char* name;
    Range a, b, d;
    int times;
  } cases[] = {
      {"near one", {-2, 1}, {-2, 1}, {-2, 3}, 1},
      {"no D", {-2, 1}, {-2, 1}, {0, 0, 16}, 1},
      {"a chain of 64", {-3, 0}, {-3, 0}, {0, 0, 16}, 64},
      {"spread", {-8, 8}, {-8, 8}, {-10, 12}, 1},
      {"wide", {-wide, wide}, {-wide, wide}, {-wide, wide}, 1},
      {"large D", {-6, 2}, {-6, 2}, {8, 24}, 1},
      {"small D", {-2, 6}, {-2, 6}, {-30, -8}, 1},
      {"tiny", {least - 3, least + 2}, {-4, 4}, {least - 6, least + 2}, 1},
      {"tiny by tiny", {least - 3, least + 8}, {least - 3, least + 8}, {-149, -120}, 1},
      {"many zeros", {-4, 4, 8}, {-4, 4, 8}, {-8, 8, 8}, 1},
      {"to infinity", {of_a.bias() - 2, of_a.bias()}, {-2, 2}, {of_d.bias() - 2, of_d.bias()}, 1},
      {"large by large", {of_a.bias() - 4, of_a.bias()}, {of_b.bias() - 4, of_b.bias()}, {0, 20}, 1},
      {"specials", {-4, 4, 2, 1}, {-4, 4, 2, 1}, {-4, 4, 2, 1}, 1},
      {"NaN and infinity in D", {-4, 4}, {-4, 4}, {-4, 4, 0, 6}, 1},
  };
  uint32_t seed = 1;
  for (const auto& each : cases) {
    Input input;
    const Layout a = k_major(128), b = k_major(64);
    input.b_start = 32 * 1024;
    input.a_matrix = a.descriptor();
    input.b_matrix = b.descriptor();
    input.times = each.times;
    for (int j = 0; j < k; ++j) {
      for (int m = 0; m < 64; ++m) {
        put(input.shared, a.at(m, j, of_a.bits()), of_a.bits(), j,
            number(of_a, each.a, noise64(seed * 1000003u + m * 64 + j)));
      }
      for (int c = 0; c < n; ++c) {
        put(input.shared, input.b_start + b.at(c, j, of_b.bits()), of_b.bits(), j,
            number(of_b, each.b, noise64((seed + 1) * 1000003u + c * 64 + j)));
      }
    }
    input.d = numbers(of_d, each.d, size_t(Wgmma::count) * 128, seed + 2);
    show((name + ", " + each.name).c_str(), run_group<Wgmma>(input), 8);
    seed += 3;
  }
}

int main() {
  const Result f32 = Result::f32, f16 = Result::f16, s32 = Result::s32;
  std::vector<Case> cases;
  for (const int swizzle : {16, 32, 64, 128}) {
    cases.push_back(make<Bf16>("bf16, K-major", 64, 16, kOfBf16, kOfBf16, f32, false, k_major(swizzle),
                               k_major(swizzle)));
    cases.push_back(make<Bf16Mn>("bf16, MN-major", 64, 16, kOfBf16, kOfBf16, f32, false,
                                 mn_major(swizzle, 64), mn_major(swizzle, 64)));
    cases.push_back(make<Bf16BMn>("bf16, K-major by MN-major, n = 256", 256, 16, kOfBf16, kOfBf16, f32, false,
                                  k_major(swizzle), mn_major(swizzle, 256)));
    cases.push_back(make<Bf16Rs>("bf16, registers by MN-major, -B", 128, 16, kOfBf16, kOfBf16, f32, true, {},
                                 mn_major(swizzle, 128), -1));
    cases.push_back(
        make<Tf32>("tf32", 64, 8, kOfTf32, kOfTf32, f32, false, k_major(swizzle), k_major(swizzle)));
    cases.push_back(
        make<E4m3>("e4m3", 64, 32, kOfE4m3, kOfE4m3, f32, false, k_major(swizzle), k_major(swizzle)));
    cases.push_back(make<S8>("s8", 64, 32, kOfS8, kOfS8, s32, false, k_major(swizzle), k_major(swizzle)));
    cases.push_back(
        make<Bits>("b1", 64, 256, kOfBit, kOfBit, s32, false, k_major(swizzle), k_major(swizzle)));
  }
  for (const uint32_t pattern : {128u, 384u, 896u}) {
    Layout shifted = k_major(128);
    shifted.pattern = pattern;
    cases.push_back(
        make<Bf16>("bf16, a base offset", 64, 16, kOfBf16, kOfBf16, f32, false, shifted, shifted));
  }
  cases.push_back(
      make<Bf16N8>("bf16, n = 8", 8, 16, kOfBf16, kOfBf16, f32, false, k_major(128), k_major(128)));
  cases.push_back(make<Bf16Negated>("bf16, -A, M-major by K-major", 16, 16, kOfBf16, kOfBf16, f32, false,
                                    mn_major(128, 64), k_major(32), -1));
  cases.push_back(make<F16>("f16", 64, 16, kOfF16, kOfF16, f32, false, k_major(128), k_major(128)));
  cases.push_back(
      make<F16Half>("f16 to f16", 64, 16, kOfF16, kOfF16, f16, false, k_major(128), k_major(128)));
  cases.push_back(
      make<F16HalfRs>("f16 to f16, registers", 32, 16, kOfF16, kOfF16, f16, true, {}, k_major(128)));
  cases.push_back(make<Tf32Rs>("tf32, registers", 32, 8, kOfTf32, kOfTf32, f32, true, {}, k_major(128)));
  cases.push_back(
      make<E4m3Rs>("e4m3 by e5m2, registers", 32, 32, kOfE4m3, kOfE5m2, f32, true, {}, k_major(128)));
  cases.push_back(make<E5m2>("e5m2", 64, 32, kOfE5m2, kOfE5m2, f32, false, k_major(128), k_major(128)));
  cases.push_back(make<E5m2Half>("e5m2 by e4m3 to f16", 64, 32, kOfE5m2, kOfE4m3, f16, false, k_major(128),
                                 k_major(128)));
  cases.push_back(make<U8>("u8, n = 256", 256, 32, kOfU8, kOfU8, s32, false, k_major(128), k_major(128)));
  cases.push_back(make<S8U8>("s8 by u8, registers", 32, 32, kOfS8, kOfU8, s32, true, {}, k_major(128)));
  cases.push_back(
      make<S8Saturating>("s8, saturating", 16, 32, kOfS8, kOfS8, s32, false, k_major(128), k_major(128)));
  cases.push_back(make<BitsRs>("b1, registers", 8, 256, kOfBit, kOfBit, s32, true, {}, k_major(128)));
  for (const int swizzle : {16, 32, 64, 128}) {
    // Of A as many bytes along k as without sparsity, of B twice as many.
    const Layout b = k_major(swizzle == 32 ? 64 : swizzle, 64);
    cases.push_back(
        make<SparseF16>("sparse f16", 64, 32, kOfF16, kOfF16, f32, false, k_major(swizzle), b, 1, 0));
    cases.push_back(make<SparseF16Half>("sparse f16 to f16, MN-major", 32, 32, kOfF16, kOfF16, f16, false,
                                        mn_major(swizzle, 64), mn_major(swizzle, 32, 32), 1, 1));
    cases.push_back(
        make<SparseTf32>("sparse tf32", 64, 16, kOfTf32, kOfTf32, f32, false, k_major(swizzle), b, 1, 0));
    cases.push_back(
        make<SparseE4m3>("sparse e4m3", 64, 64, kOfE4m3, kOfE4m3, f32, false, k_major(swizzle), b, 1, 0));
    cases.push_back(
        make<SparseS8>("sparse s8 by u8", 64, 64, kOfS8, kOfU8, s32, false, k_major(swizzle), b, 1, 0));
  }
  cases.push_back(make<SparseBf16Rs>("sparse bf16, registers by MN-major", 32, 32, kOfBf16, kOfBf16, f32,
                                     true, {}, mn_major(64, 32, 32), 1, 1));
  cases.push_back(make<SparseTf32Rs>("sparse tf32, registers", 8, 16, kOfTf32, kOfTf32, f32, true, {},
                                     k_major(128), 1, 1));
  cases.push_back(make<SparseE5m2Rs>("sparse e5m2 by e4m3, registers", 16, 64, kOfE5m2, kOfE4m3, f32, true,
                                     {}, k_major(128), 1, 0));
  for (const Case& each : cases) layout(each);

  const Format tf32{8, 23};
  sums<Bf16>("bf16", 64, 16, kBf16, kBf16, kF32);
  sums<F16>("f16", 64, 16, kF16, kF16, kF32);
  sums<F16Half>("f16 to f16", 64, 16, kF16, kF16, kF16);
  sums<Tf32>("tf32", 64, 8, tf32, tf32, kF32);
  sums<E4m3>("e4m3", 64, 32, kE4m3, kE4m3, kF32);
  sums<E5m2>("e5m2", 64, 32, kE5m2, kE5m2, kF32);
  sums<E4m3Half>("e4m3 to f16", 64, 32, kE4m3, kE4m3, kF16);
  sums<E5m2Half>("e5m2 by e4m3 to f16", 64, 32, kE5m2, kE4m3, kF16);
  return finish();
}
