// mma.sp: products with matrices of which half of the elements are not stored. Small whole numbers are
// compared with the CPU's sums; other numbers show how the hardware rounds.
#include "tensor_cores.h"

// Metadata that are valid, for every lane others: eight times four bits.
__host__ __device__ inline uint32_t metadata(uint32_t warp, uint32_t lane, bool one_of_two) {
  constexpr uint32_t codes = 0xedc984;  // two of four, in order: 4, 8, 9, c, d, e
  uint32_t result = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t random = noise((warp * 32 + lane) * 8 + i);
    result = result << 4 | (one_of_two ? (random & 1 ? 0xe : 0x4) : codes >> random % 6 * 4 & 0xf);
  }
  return result;
}

#define SPARSE(VARIANT, SHAPE, TYPES) "mma." VARIANT ".sync.aligned." SHAPE ".row.col." TYPES
// NAME: k, bits of an element, lanes of four with metadata, the selector; registers of C and D, A, B.
#define SPARSE_4_4_4(NAME, K, BITS, SELECTOR, TEXT)                                                          \
  struct NAME {                                                                                              \
    static constexpr int k = K, bits = BITS, selector = SELECTOR, c = 4, a = 4, b = 4;                       \
    static __device__ void run(uint32_t* d, const uint32_t* x, const uint32_t* y) {                          \
      const uint32_t e = metadata(blockIdx.x, threadIdx.x, bits == 32);                                      \
      asm volatile(TEXT                                                                                      \
                   " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, %13;"    \
                   : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                          \
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), \
                     "r"(e), "n"(SELECTOR));                                                                 \
    }                                                                                                        \
  }
#define SPARSE_4_2_2(NAME, K, BITS, SELECTOR, TEXT)                                        \
  struct NAME {                                                                            \
    static constexpr int k = K, bits = BITS, selector = SELECTOR, c = 4, a = 2, b = 2;     \
    static __device__ void run(uint32_t* d, const uint32_t* x, const uint32_t* y) {        \
      const uint32_t e = metadata(blockIdx.x, threadIdx.x, bits == 32);                    \
      asm volatile(TEXT " {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3}, %8, %9;" \
                   : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                        \
                   : "r"(x[0]), "r"(x[1]), "r"(y[0]), "r"(y[1]), "r"(e), "n"(SELECTOR));   \
    }                                                                                      \
  }
#define SPARSE_2_4_4(NAME, K, BITS, SELECTOR, TEXT)                                                          \
  struct NAME {                                                                                              \
    static constexpr int k = K, bits = BITS, selector = SELECTOR, c = 2, a = 4, b = 4;                       \
    static __device__ void run(uint32_t* d, const uint32_t* x, const uint32_t* y) {                          \
      const uint32_t e = metadata(blockIdx.x, threadIdx.x, bits == 32);                                      \
      asm volatile(TEXT " {%0, %1}, {%2, %3, %4, %5}, {%6, %7, %8, %9}, {%0, %1}, %10, %11;"                 \
                   : "+r"(d[0]), "+r"(d[1])                                                                  \
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), \
                     "r"(e), "n"(SELECTOR));                                                                 \
    }                                                                                                        \
  }
#define SPARSE_2_2_2(NAME, K, BITS, SELECTOR, TEXT)                                      \
  struct NAME {                                                                          \
    static constexpr int k = K, bits = BITS, selector = SELECTOR, c = 2, a = 2, b = 2;   \
    static __device__ void run(uint32_t* d, const uint32_t* x, const uint32_t* y) {      \
      const uint32_t e = metadata(blockIdx.x, threadIdx.x, bits == 32);                  \
      asm volatile(TEXT " {%0, %1}, {%2, %3}, {%4, %5}, {%0, %1}, %6, %7;"               \
                   : "+r"(d[0]), "+r"(d[1])                                              \
                   : "r"(x[0]), "r"(x[1]), "r"(y[0]), "r"(y[1]), "r"(e), "n"(SELECTOR)); \
    }                                                                                    \
  }
#define ORDERED "sp::ordered_metadata"

SPARSE_4_2_2(F16k16, 16, 16, 2, SPARSE(ORDERED, "m16n8k16", "f32.f16.f16.f32"));
SPARSE_4_4_4(F16k32, 32, 16, 1, SPARSE("sp", "m16n8k32", "f32.f16.f16.f32"));
SPARSE_2_2_2(F16k16Half, 16, 16, 3, SPARSE(ORDERED, "m16n8k16", "f16.f16.f16.f16"));
SPARSE_2_4_4(F16k32Half, 32, 16, 0, SPARSE(ORDERED, "m16n8k32", "f16.f16.f16.f16"));
SPARSE_4_2_2(Bf16k16, 16, 16, 0, SPARSE(ORDERED, "m16n8k16", "f32.bf16.bf16.f32"));
SPARSE_4_4_4(Bf16k32, 32, 16, 0, SPARSE(ORDERED, "m16n8k32", "f32.bf16.bf16.f32"));
SPARSE_4_2_2(Tf32k8, 8, 32, 1, SPARSE(ORDERED, "m16n8k8", "f32.tf32.tf32.f32"));
SPARSE_4_4_4(Tf32k16, 16, 32, 1, SPARSE(ORDERED, "m16n8k16", "f32.tf32.tf32.f32"));
SPARSE_4_4_4(E4m3k64, 64, 8, 0, SPARSE(ORDERED, "m16n8k64", "f32.e4m3.e4m3.f32"));
SPARSE_4_4_4(MixedK64, 64, 8, 0, SPARSE(ORDERED, "m16n8k64", "f32.e5m2.e4m3.f32"));
SPARSE_4_2_2(S8k32, 32, 8, 1, SPARSE(ORDERED, "m16n8k32", "s32.s8.s8.s32"));
SPARSE_4_4_4(S8k64, 64, 8, 0, SPARSE("sp", "m16n8k64", "s32.s8.u8.s32"));
SPARSE_4_2_2(S4k64, 64, 4, 0, SPARSE(ORDERED, "m16n8k64", "s32.s4.s4.s32"));
SPARSE_4_4_4(S4k128, 128, 4, 0, SPARSE(ORDERED, "m16n8k128", "s32.u4.s4.s32"));
SPARSE_4_2_2(S8k32Saturated, 32, 8, 0, SPARSE(ORDERED, "m16n8k32", "satfinite.s32.s8.s8.s32"));

// What the CPU needs to know of a type: the value of an element, its bits for a small whole number.
struct Whole {
  uint32_t (*encode)(int value);
  bool is_signed = true;
};
uint32_t as_float(const Format& format, int value) {
  if (value == 0) return 0;
  const uint32_t sign = value < 0 ? 1u << (format.bits() - 1) : 0;
  uint32_t magnitude = uint32_t(std::abs(value)), exponent = 0;
  while (magnitude >> (exponent + 1)) ++exponent;
  const uint32_t mantissa = (magnitude ^ 1u << exponent) << format.mantissa >> exponent;
  return sign | (exponent + uint32_t(format.bias())) << format.mantissa | mantissa;
}

// Row g, or g + 8, of A: which column of the whole matrix the packed element is in (PTX ISA 9.7.14.6.1).
template <class Mma>
int column_of(const std::vector<uint32_t>& e, int row, int packed) {
  constexpr int group = Mma::bits == 32 ? 2 : Mma::bits == 4 ? 8 : 4, kept = group / 2;
  constexpr int lanes = Mma::k / group / 4;  // of four, that hold metadata
  const int number = packed / kept;          // of the group
  const int in_lane = Mma::bits <= 8 ? 8 : 4;
  const int part = number / in_lane, upper = row / 8;
  const int lane =
      row % 8 * 4 + (Mma::bits <= 8 ? upper + 2 * (Mma::selector + part) : lanes * Mma::selector + part);
  const int shift = number % in_lane * 4 + (Mma::bits <= 8 ? 0 : 16 * upper);
  const uint32_t code = e[size_t(lane)] >> shift & 15;
  const int i = packed % kept;
  if (Mma::bits == 32) return number * 2 + int(code >> 3);
  if (Mma::bits == 4) return number * 8 + int(code >> i / 2 * 2 & 3) * 2 + i % 2;
  return number * 4 + int(code >> i * 2 & 3);
}

// Whole numbers from -4 to 3 (unsigned: 0 to 7), against the CPU.
template <class Mma>
void whole_numbers(const std::string& name, const Whole& of_a, const Whole& of_b, bool integers) {
  constexpr int per = 32 / Mma::bits, words = 32;
  std::vector<uint32_t> a(size_t(kWarps) * Mma::a * 32), b(size_t(kWarps) * Mma::b * 32),
      c(size_t(kWarps) * Mma::c * 32);
  std::vector<int> sums(size_t(kWarps) * 16 * 8);
  for (int w = 0; w < kWarps; ++w) {
    std::vector<uint32_t> e;
    for (uint32_t lane = 0; lane < 32; ++lane) e.push_back(metadata(uint32_t(w), lane, Mma::bits == 32));
    std::vector<int> left(16 * Mma::k), right(Mma::k * 8);
    uint32_t seed = uint32_t(w) * 100000;
    const auto value = [&](const Whole& of) { return int(noise(seed++) % 8) - (of.is_signed ? 4 : 0); };
    for (int r = 0; r < Mma::a; ++r) {
      for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < per; ++i) {
          const int x = value(of_a), row = lane / 4 + 8 * (r % 2),
                    packed = per * (4 * (r / 2) + lane % 4) + i;
          left[size_t(row * Mma::k + column_of<Mma>(e, row, packed))] = x;
          a[size_t((w * Mma::a + r) * words + lane)] |= of_a.encode(x) << i * Mma::bits;
        }
      }
    }
    for (int r = 0; r < Mma::b; ++r) {
      for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < per; ++i) {
          const int x = value(of_b), row = per * (4 * r + lane % 4) + i;
          right[size_t(row * 8 + lane / 4)] = x;
          b[size_t((w * Mma::b + r) * words + lane)] |= of_b.encode(x) << i * Mma::bits;
        }
      }
    }
    for (int m = 0; m < 16; ++m) {
      for (int n = 0; n < 8; ++n) {
        int& sum = sums[size_t((w * 16 + m) * 8 + n)];
        for (int k = 0; k < Mma::k; ++k) sum += left[size_t(m * Mma::k + k)] * right[size_t(k * 8 + n)];
      }
    }
  }
  Buffer<uint32_t> x(a), y(b), z(c), result(c.size());
  multiply<Mma><<<kWarps, 32>>>(x, y, z, result, 1);
  LAUNCHED();
  const std::vector<uint32_t> got = result.download();
  int wrong = 0;
  for (int w = 0; w < kWarps; ++w) {
    for (int m = 0; m < 16; ++m) {
      for (int n = 0; n < 8; ++n) {
        const int sum = sums[size_t((w * 16 + m) * 8 + n)], lane = m % 8 * 4 + n / 2;
        const bool half = Mma::c == 2;
        const int r = half ? m / 8 : m / 8 * 2 + n % 2;
        uint32_t word = got[size_t((w * Mma::c + r) * 32 + lane)];
        if (half) word = word >> n % 2 * 16 & 0xffff;
        const uint32_t want = integers ? uint32_t(sum) : as_float(half ? kF16 : kF32, sum);
        if (word != want && wrong++ == 0) std::printf("%s: %x, not %x\n", name.c_str(), word, want);
      }
    }
  }
  expect(wrong == 0, name.c_str());
}

template <const Format& format>
uint32_t encode(int value) {
  return as_float(format, value);
}
template <int bits>
uint32_t encode_integer(int value) {
  return uint32_t(value) & ((1u << bits) - 1);
}

template <class Mma, const Format& a, const Format& b>
void floating(const std::string& name) {
  whole_numbers<Mma>(name, Whole{encode<a>}, Whole{encode<b>}, false);
  numerics<Mma>(name, a, b, Mma::c == 2 ? kF16 : kF32);
}

static constexpr Format kTf32{8, 23};  // of which the low bits are not looked at

int main() {
  floating<F16k16, kF16, kF16>("f16 k16");
  floating<F16k32, kF16, kF16>("f16 k32");
  floating<F16k16Half, kF16, kF16>("f16 k16, f16 results");
  floating<F16k32Half, kF16, kF16>("f16 k32, f16 results");
  floating<Bf16k16, kBf16, kBf16>("bf16 k16");
  floating<Bf16k32, kBf16, kBf16>("bf16 k32");
  floating<Tf32k8, kTf32, kTf32>("tf32 k8");
  floating<Tf32k16, kTf32, kTf32>("tf32 k16");
  floating<E4m3k64, kE4m3, kE4m3>("e4m3 k64");
  floating<MixedK64, kE5m2, kE4m3>("e5m2 by e4m3 k64");
  whole_numbers<S8k32>("s8 k32", Whole{encode_integer<8>}, Whole{encode_integer<8>}, true);
  whole_numbers<S8k64>("s8 by u8 k64", Whole{encode_integer<8>}, Whole{encode_integer<8>, false}, true);
  whole_numbers<S4k64>("s4 k64", Whole{encode_integer<4>}, Whole{encode_integer<4>}, true);
  whole_numbers<S4k128>("u4 by s4 k128", Whole{encode_integer<4>, false}, Whole{encode_integer<4>}, true);

  // Any bits are integers; the largest C and the smallest, with and without saturation.
  std::vector<uint32_t> a(size_t(kWarps) * 2 * 32), b(a.size()), c(size_t(kWarps) * 4 * 32);
  for (size_t i = 0; i < a.size(); ++i) a[i] = noise(uint32_t(i)), b[i] = noise(uint32_t(i) + 1000000);
  for (size_t i = 0; i < c.size(); ++i) c[i] = i % 2 ? 0x7fffff00u + i % 256 : 0x80000000u + i % 256;
  show_products<S8k32>("s8, C at its ends", a, b, c);
  show_products<S8k32Saturated>("s8, C at its ends, saturated", a, b, c);
  return finish();
}
