// tcgen05.mma: every kind and type, where the elements of its matrices lie in shared and tensor memory, and
// what its descriptors say. Products of small numbers: exact, so that any mistake in a layout shows.
#include <cmath>

#include "tcgen05.h"

TCGEN05_MMA(F16, 1, ".cta_group::1.kind::f16 [%0], %2, %3, %4, p");
TCGEN05_MMA(F16Ts, 1, ".cta_group::1.kind::f16 [%0], [%1], %3, %4, p");
TCGEN05_MMA(F16Lanes, 1, ".cta_group::1.kind::f16 [%0], %2, %3, %4, {%9, %10, %11, %12}, p, 2");
TCGEN05_MMA(F16Pair, 2, ".cta_group::2.kind::f16.collector::a::fill [%0], %2, %3, %4, p");
TCGEN05_MMA(F16PairLanes, 2,
            ".cta_group::2.kind::f16 [%0], %2, %3, %4, {%9, %10, %11, %12, %13, %14, %15, %16}, p");
TCGEN05_MMA(F16PairTs, 2, ".cta_group::2.kind::f16 [%0], [%1], %3, %4, p");
TCGEN05_MMA(F16Ws, 1, ".ws.cta_group::1.kind::f16.collector::b1::fill [%0], %2, %3, %4, p, %8");
TCGEN05_MMA(F16WsTs, 1, ".ws.cta_group::1.kind::f16 [%0], [%1], %3, %4, p");
TCGEN05_MMA(Tf32, 1, ".cta_group::1.kind::tf32 [%0], %2, %3, %4, p");
TCGEN05_MMA(Tf32Pair, 2, ".cta_group::2.kind::tf32 [%0], %2, %3, %4, p, 1");
TCGEN05_MMA(F8, 1, ".cta_group::1.kind::f8f6f4 [%0], %2, %3, %4, p");
TCGEN05_MMA(F8Ts, 1, ".cta_group::1.kind::f8f6f4 [%0], [%1], %3, %4, p");
TCGEN05_MMA(F8Pair, 2, ".cta_group::2.kind::f8f6f4 [%0], %2, %3, %4, p");
TCGEN05_MMA(I8, 1, ".cta_group::1.kind::i8 [%0], %2, %3, %4, p");
TCGEN05_MMA(Mx8, 1, ".cta_group::1.kind::mxf8f6f4.block_scale [%0], %2, %3, %4, [%5], [%6], p");
TCGEN05_MMA(Mx8Ts, 1,
            ".cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], [%1], %3, %4, [%5], [%6], p");
TCGEN05_MMA(Mx8Pair, 2, ".cta_group::2.kind::mxf8f6f4.block_scale.block32 [%0], %2, %3, %4, [%5], [%6], p");
TCGEN05_MMA(Mx4, 1, ".cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%0], %2, %3, %4, [%5], [%6], p");
TCGEN05_MMA(Nv4, 1, ".cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %2, %3, %4, [%5], [%6], p");
TCGEN05_MMA(Nv4Ts, 1, ".cta_group::1.kind::mxf4nvf4.block_scale.block16 [%0], [%1], %3, %4, [%5], [%6], p");
TCGEN05_MMA(Nv4Two, 1,
            ".cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::2X [%0], %2, %3, %4, [%5], [%6], p");
TCGEN05_MMA(Nv4Pair, 2,
            ".cta_group::2.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %2, %3, %4, [%5], [%6], p");
TCGEN05_MMA(F16Sp, 1, ".sp.cta_group::1.kind::f16 [%0], %2, %3, [%7], %4, p");
TCGEN05_MMA(F16SpTs, 1, ".sp.cta_group::1.kind::f16 [%0], [%1], %3, [%7], %4, p");
TCGEN05_MMA(F16SpPair, 2, ".sp.cta_group::2.kind::f16 [%0], %2, %3, [%7], %4, p");
TCGEN05_MMA(Tf32Sp, 1, ".sp.cta_group::1.kind::tf32 [%0], %2, %3, [%7], %4, p");
TCGEN05_MMA(F8Sp, 1, ".sp.cta_group::1.kind::f8f6f4 [%0], %2, %3, [%7], %4, p");
TCGEN05_MMA(I8SpWs, 1, ".ws.sp.cta_group::1.kind::i8 [%0], %2, %3, [%7], %4, p");
TCGEN05_MMA(Mx8Sp, 1, ".sp.cta_group::1.kind::mxf8f6f4.block_scale [%0], %2, %3, [%7], %4, [%5], [%6], p");
TCGEN05_MMA(
    Nv4Sp, 1,
    ".sp.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %2, %3, [%7], %4, [%5], [%6], p");

uint32_t f32_bits(double x) {
  const float value = float(x);
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
// A number that a floating-point format with these fields has.
uint32_t encode(double x, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1,
            sign = std::signbit(x) ? 1 << (exponent_bits + mantissa_bits) : 0;
  if (x == 0) return uint32_t(sign);
  int exponent;
  std::frexp(std::fabs(x), &exponent);
  const int field = std::max(exponent - 1 + bias, 0);
  const double unit = std::ldexp(1.0, std::max(field, 1) - bias - mantissa_bits);
  const int mantissa = int(std::fabs(x) / unit) & ((1 << mantissa_bits) - 1);
  return uint32_t(sign | field << mantissa_bits | mantissa);
}

struct Type {
  uint32_t code;         // atype, btype
  int bits;              // of an element
  uint32_t per;          // in 16 bytes of shared memory
  uint32_t in_byte = 0;  // tensor memory: its first bit in its container
  std::function<uint32_t(double)> encode;
  bool is_unsigned = false;
};
Type floating(uint32_t code, int exponent_bits, int mantissa_bits, uint32_t per = 0, uint32_t in_byte = 0) {
  const int bits = 1 + exponent_bits + mantissa_bits;
  return {code, bits, per ? per : uint32_t(128 / bits), in_byte,
          [=](double x) { return encode(x, exponent_bits, mantissa_bits); }};
}
const Type kF16 = floating(0, 5, 10), kBf16 = floating(1, 8, 7), kTf32{2, 32, 4, 0, f32_bits},
           kE4m3 = floating(0, 4, 3), kE5m2 = floating(1, 5, 2), kE2m3 = floating(3, 2, 3, 16),
           kE3m2 = floating(4, 3, 2, 16), kE2m1 = floating(5, 2, 1, 16, 2), kE2m1Pair = floating(1, 2, 1),
           kU8{0, 8, 16, 0, [](double x) { return uint32_t(std::fabs(x)); }, true},
           kS8{1, 8, 16, 0, [](double x) { return uint32_t(int(x)) & 255; }};

enum class Result { f16, f32, s32 };

struct Case {
  const char* name;
  void (*run)(const std::vector<std::vector<uint8_t>>&, std::vector<Tensor>&, const Operands&);
  int group;
  uint32_t m, n;
  Type a, b;
  Layout layout_a, layout_b;
  Result result = Result::f32;
  bool a_in_tensor = false, sparse = false, ws = false, disables = false;
  int negate_a = 0, negate_b = 0, scale_d = 0;
  uint32_t scales = 0;  // scale factors of a row
  bool ue4m3 = false;
  uint32_t id_a = 0, id_b = 0;
  uint32_t first_lane = 0;
  uint64_t zero_columns = 0;
};

constexpr uint32_t kOfA = 256, kOfScaleA = 320, kOfScaleB = 336, kOfMetadata = 352;  // columns

// Where row m and column n of D are.
struct Where {
  uint32_t rank, lane, column;
};
Where where(const Case& c, uint32_t m, uint32_t n) {
  const uint32_t rows = c.m / c.group, rank = m / rows, row = m % rows;
  const bool halves = rows == 64 && !c.ws && (c.group == 1 || c.sparse);
  if (halves) return {rank, row / 16 * 32 + row % 16 + c.first_lane, n};
  const uint32_t width = n < c.n ? c.n * rows / 128 : 1;
  return {rank, n / width * rows + row, n % width};
}
// All lanes that hold row m of A, or its metadata.
std::vector<uint32_t> lanes_of(const Case& c, uint32_t m) {
  std::vector<uint32_t> lanes;
  const uint32_t first = where(c, m, 0).lane, rows = c.m / c.group;
  const bool halves = rows == 64 && !c.ws && (c.group == 1 || c.sparse);
  for (uint32_t lane = first; lane < 128; lane += halves ? 128 : rows) lanes.push_back(lane);
  return lanes;
}

int noisy(uint32_t seed, uint32_t i, uint32_t j, uint32_t range) {
  return int(noise(seed * 1000003 + i * 1009 + j) % range);
}

void check(const Case& c, bool accumulate) {
  const uint32_t k = 2 * c.a.per * (c.sparse ? 2 : 1), stored = c.sparse ? k / 2 : k;
  const auto of_a = [&](uint32_t m, uint32_t i) { return noisy(1, m, i, 5) - 2; };  // of those that are there
  const auto of_b = [&](uint32_t n, uint32_t i) { return noisy(2, n, i, 5) - 2; };
  const auto value = [](const Type& type, int x) { return type.is_unsigned ? std::abs(x) : x; };
  static constexpr double nv[] = {0.5, 1, 1.5, 2};
  const auto scale = [&](uint32_t seed, uint32_t x, uint32_t i) {
    if (!c.scales) return 1.0;
    return c.ue4m3 ? nv[noisy(seed, x, i, 4)] : std::ldexp(1.0, noisy(seed, x, i, 3) - 1);
  };
  const auto scale_bits = [&](double x) {
    return c.ue4m3 ? encode(x, 4, 3) : uint32_t(127 + std::lround(std::log2(x)));
  };
  // Sparse: which of 2, 4 or (in pairs) 8 neighbours are there.
  const uint32_t group = c.a.per == 4 ? 2 : c.a.per == 32 ? 8 : 4;
  const auto code = [&](uint32_t m, uint32_t g) -> uint32_t {
    static constexpr uint32_t pairs[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110, 0b1110};
    return group == 2 ? (noisy(7, m, g, 2) ? 0b1110 : 0b0100) : pairs[noisy(7, m, g, 7)];
  };
  const auto index = [&](uint32_t m, uint32_t i) -> uint32_t {  // of the i-th that is there
    if (!c.sparse) return i;
    const uint32_t g = i / (group / 2), j = i % (group / 2), bits = code(m, g);
    if (group == 2) return 2 * g + (bits >> 3);
    const uint32_t width = group == 8 ? 2 : 1;
    return group * g + (bits >> 2 * (j / width) & 3) * width + j % width;
  };

  Operands o;
  o.accumulate = accumulate;
  o.d = c.first_lane << 16;
  o.a = c.first_lane << 16 | kOfA;
  o.scale_a = kOfScaleA;
  o.scale_b = kOfScaleB;
  o.metadata = c.first_lane << 16 | kOfMetadata;
  o.b_start = 64 * 1024;
  o.a_matrix = c.layout_a.descriptor();
  o.b_matrix = c.layout_b.descriptor();
  o.zero_columns = c.zero_columns;
  o.instruction = uint32_t(c.sparse) << 2 | c.a.code << 7 | c.b.code << 10 | uint32_t(c.negate_a) << 13 |
                  uint32_t(c.negate_b) << 14 | uint32_t(c.layout_a.mn_major) << 15 |
                  uint32_t(c.layout_b.mn_major) << 16 | c.n / 8 << 17;
  if (c.scales) {
    o.instruction |= c.id_b << 4 | uint32_t(!c.ue4m3) << 23 | c.m / 128 << 27 | c.id_a << 29;
  } else {
    o.instruction |= uint32_t(c.result) << 4 | c.m / 16 << 24 | uint32_t(c.ws) << 30;
  }
  for (uint32_t i = 0; i < 8 && c.disables; ++i) o.disabled[i] = noise(99 + i);

  std::vector<std::vector<uint8_t>> shared(c.group);
  std::vector<Tensor> tensor(c.group, Tensor(kColumns));
  for (auto& each : tensor) {
    for (uint32_t column = 0; column < kColumns; ++column) {
      for (uint32_t lane = 0; lane < 128; ++lane)
        each[column][lane] = column < 256 ? 0 : noise(column * 128 + lane);
    }
  }
  const uint32_t rows = c.m / c.group, columns = c.n / c.group;
  const uint32_t shift = uint32_t(c.zero_columns >> 56 & 63);
  const auto put = [&](uint32_t rank, uint32_t start, const Layout& layout, const Type& type, uint32_t mn,
                       uint32_t i, uint32_t bits) {
    const uint32_t nth = layout.mn_major ? mn % type.per : i % type.per;
    put_bits(shared[rank], (start + layout.chunk(mn, i, type.per)) * 8 + size_t(nth) * type.bits, type.bits,
             bits);
  };
  for (uint32_t i = 0; i < k; ++i) {
    for (uint32_t m = 0; m < c.m && i < stored; ++m) {
      const uint32_t bits = c.a.encode(of_a(m, i));
      if (!c.a_in_tensor) {
        put(m / rows, 0, c.layout_a, c.a, m % rows, i, bits);
        continue;
      }
      const uint32_t per_word = c.a.per / 4;
      for (const uint32_t lane : lanes_of(c, m)) {
        uint32_t& word = tensor[m / rows][kOfA + i / per_word][lane];
        const uint32_t width = 32 / per_word;
        const uint32_t mask = width == 32 ? ~0u : ((1u << width) - 1) << i % per_word * width;
        word = (word & ~mask) | bits << c.a.in_byte << i % per_word * width;
      }
    }
    for (uint32_t n = 0; n < c.n + shift; ++n)
      put(n / columns % c.group, o.b_start, c.layout_b, c.b, c.group == 1 ? n : n % columns, i,
          c.b.encode(of_b(n, i)));
  }
  const auto put_scale = [&](uint32_t rank, uint32_t first, uint32_t lanes_from, uint32_t lanes_to,
                             uint32_t x, uint32_t byte, uint32_t bits) {
    for (uint32_t lane = lanes_from + x % 32; lane < lanes_to; lane += 32) {
      uint32_t& word = tensor[rank][first + x / 32][lane];
      word = (word & ~(255u << 8 * byte)) | bits << 8 * byte;
    }
  };
  for (uint32_t i = 0; i < c.scales; ++i) {
    for (uint32_t m = 0; m < c.m; ++m)
      put_scale(m / rows, kOfScaleA, 0, 128, m % rows, c.id_a + i, scale_bits(scale(4, m, i)));
    for (uint32_t n = 0; n < c.n; ++n) {
      for (int r = 0; r < c.group; ++r) {
        const Where first = where(c, 0, n);  // a half of N has its own lanes
        const uint32_t begin = first.lane / rows * rows;
        put_scale(uint32_t(r), kOfScaleB, begin, begin + rows, first.column, c.id_b + i,
                  scale_bits(scale(5, n, i)));
      }
    }
  }
  for (uint32_t m = 0; m < c.m && c.sparse; ++m) {
    for (const uint32_t lane : lanes_of(c, m)) {
      for (uint32_t g = 0; g < k / group; ++g) {
        uint32_t column = g / 8, bit = g % 8 * 4, at = lane;
        if (c.a.per < 16) {  // halves of K in lanes 8 apart, rows 8 apart in halves of a word
          at = lane - m % 16 + m % 8 + g / 4 * 8;
          column = 0;
          bit = m / 8 % 2 * 16 + g % 4 * 4;
        }
        uint32_t& word = tensor[m / rows][kOfMetadata + column][at];
        word = (word & ~(15u << bit)) | code(m, g) << bit;
      }
    }
  }
  // The zero-column mask: runs of columns that are used and of zeros.
  const auto zeroed = [&](uint32_t n) {
    if (!(c.zero_columns >> 39 & 1)) return false;
    const uint32_t zeros = (c.zero_columns >> 40 & 255) + 1, used = (c.zero_columns >> 48 & 255) + 1;
    const uint32_t width = c.n * c.m / 128, part = n / width;
    bool zero = c.zero_columns >> (32 + part) & 1;
    uint32_t at = 0;
    for (uint32_t left = zero ? zeros : used, i = 0; i < n % width + (c.zero_columns >> 8 * part & 255);
         ++i, ++at) {
      if (--left == 0) {
        zero = !zero;
        left = zero ? zeros : used;
      }
    }
    return zero;
  };
  std::vector<Tensor> want = tensor;
  for (uint32_t m = 0; m < c.m; ++m) {
    for (uint32_t n = 0; n < c.n; ++n) {
      const Where at = where(c, m, n);
      const int before = noisy(3, m, n, 7) - 3;
      const auto bits = [&](double x) {
        return c.result == Result::s32   ? uint32_t(int(x))
               : c.result == Result::f16 ? encode(x, 5, 10)
                                         : f32_bits(x);
      };
      tensor[at.rank][at.column][at.lane] = want[at.rank][at.column][at.lane] = bits(before);
      if (o.disabled[4 * at.rank + at.lane / 32] >> at.lane % 32 & 1) continue;
      double sum = accumulate ? std::ldexp(before, -c.scale_d) : 0;
      for (uint32_t i = 0; i < stored && !zeroed(n); ++i) {
        const uint32_t at_k = index(m, i), block = c.scales ? at_k * c.scales / k : 0;
        const double product = value(c.a, of_a(m, i)) * value(c.b, of_b(n + shift, at_k));
        sum += (c.negate_a != c.negate_b ? -product : product) * scale(4, m, block) * scale(5, n, block);
      }
      want[at.rank][at.column][at.lane] = bits(sum + 0.0);
    }
  }
  c.run(shared, tensor, o);
  if (c.result == Result::f16) {  // the upper halves of the words mean nothing
    for (auto& each : tensor) {
      for (uint32_t column = 0; column < c.n; ++column) {
        for (uint32_t& word : each[column]) word &= 0xffff;
      }
    }
  }
  const std::string name = std::string(c.name) + (accumulate ? ", D + A B" : ", A B");
  expect(tensor == want, name.c_str());
}

int main() {
  using enum Swizzle;
  const Layout k128 = k_major(b128), k64 = k_major(b64), k32 = k_major(b32), k16 = k_major(none);
  const Layout wide = k_major(b128), wide16 = k_major(none, 64);  // twice as many bytes along k
  const Case cases[] = {
      {"bf16", run_mma<F16>, 1, 128, 64, kBf16, kBf16, k128, k128},
      {"bf16, N = 256", run_mma<F16>, 1, 128, 256, kBf16, kBf16, k64, k32},
      {"f16, N = 8", run_mma<F16>, 1, 128, 8, kF16, kF16, k16, k16},
      {"f16 to f16", run_mma<F16>, 1, 128, 24, kF16, kF16, k32, k64, Result::f16},
      {"f16 times bf16, M = 64", run_mma<F16>, 1, 64, 40, kF16, kBf16, k128, k128},
  };
  for (const Case& each : cases) {
    check(each, false);
    check(each, true);
  }
  std::vector<Case> more;
  const auto add = [&](Case c, auto change) {
    change(c);
    more.push_back(c);
  };
  const auto same = [](Case&) {};
  add({"bf16, both MN-major", run_mma<F16>, 1, 128, 128, kBf16, kBf16, mn_major(b128, 16),
       mn_major(b128, 16)},
      same);
  add({"f16, MN-major in 64 and 32 bytes", run_mma<F16>, 1, 64, 96, kF16, kF16, mn_major(b64, 16),
       mn_major(b32, 16)},
      same);
  add({"f16, MN-major without a swizzle", run_mma<F16>, 1, 128, 8, kF16, kF16, mn_major(none, 16),
       mn_major(none, 16)},
      same);
  add({"bf16, lanes 16 to 31", run_mma<F16>, 1, 64, 16, kBf16, kBf16, k128, k128},
      [](Case& c) { c.first_lane = 16; });
  add({"bf16, lanes disabled, D scaled", run_mma<F16Lanes>, 1, 128, 32, kBf16, kBf16, k128, k128},
      [](Case& c) { c.disables = true, c.scale_d = 2; });
  add({"bf16, A negated", run_mma<F16>, 1, 128, 16, kBf16, kBf16, k128, k128},
      [](Case& c) { c.negate_a = 1; });
  add({"bf16, B negated", run_mma<F16>, 1, 128, 16, kBf16, kBf16, k128, k128},
      [](Case& c) { c.negate_b = 1; });
  const auto in_tensor = [](Case& c) { c.a_in_tensor = true; };
  add({"bf16, A in tensor memory", run_mma<F16Ts>, 1, 128, 64, kBf16, kBf16, k128, k128}, in_tensor);
  add({"f16, A in tensor memory, M = 64", run_mma<F16Ts>, 1, 64, 64, kF16, kF16, k128, k128},
      [](Case& c) { c.a_in_tensor = true, c.first_lane = 16; });
  add({"pair, M = 256", run_mma<F16Pair>, 2, 256, 256, kBf16, kBf16, k128, mn_major(b128, 16)}, same);
  add({"pair, M = 256, lanes disabled", run_mma<F16PairLanes>, 2, 256, 32, kBf16, kBf16, k128, k128},
      [](Case& c) { c.disables = true; });
  add({"pair, M = 128", run_mma<F16Pair>, 2, 128, 96, kF16, kF16, k128, k128}, same);
  add({"pair, M = 128, A in tensor memory", run_mma<F16PairTs>, 2, 128, 64, kF16, kF16, k128, k128},
      in_tensor);
  add({"tf32", run_mma<Tf32>, 1, 128, 64, kTf32, kTf32, k128, k64}, same);
  add({"tf32, MN-major", run_mma<Tf32>, 1, 128, 64, kTf32, kTf32, mn_major(b128_atom32, 8),
       mn_major(b128_atom32, 8)},
      same);
  add({"tf32, pair", run_mma<Tf32Pair>, 2, 256, 64, kTf32, kTf32, k128, k32}, [](Case& c) { c.scale_d = 1; });
  const Type f8[] = {kE4m3, kE5m2, kE2m3, kE3m2, kE2m1};
  for (int i = 0; i < 5; ++i) {
    add({"f8f6f4", run_mma<F8>, 1, 128, 32, f8[i], f8[(i + 1) % 5], k128, k16}, same);
    add({"f8f6f4, MN-major", run_mma<F8>, 1, 64, 32, f8[i], f8[(i + 2) % 5], mn_major(b128, 32),
         mn_major(b32, 32)},
        same);
    add({"f8f6f4, A in tensor memory", run_mma<F8Ts>, 1, 128, 16, f8[i], f8[i], k128, k128}, in_tensor);
    add({"mxf8f6f4", run_mma<Mx8>, 1, 128, 48, f8[i], f8[(i + 3) % 5], k128, k64},
        [i](Case& c) { c.scales = 1, c.id_a = uint32_t(i) % 4, c.id_b = uint32_t(i + 1) % 4; });
  }
  add({"f8f6f4 to f16, pair", run_mma<F8Pair>, 2, 128, 64, kE4m3, kE4m3, k128, mn_major(b32, 32),
       Result::f16},
      same);
  add({"i8", run_mma<I8>, 1, 128, 48, kS8, kU8, k128, mn_major(none, 32), Result::s32}, same);
  const auto scaled = [](uint32_t count, bool ue4m3, uint32_t id_a, uint32_t id_b) {
    return [=](Case& c) { c.scales = count, c.ue4m3 = ue4m3, c.id_a = id_a, c.id_b = id_b; };
  };
  add({"mxf8f6f4, A in tensor memory", run_mma<Mx8Ts>, 1, 128, 40, kE5m2, kE4m3, k128, k128},
      [](Case& c) { c.scales = 1, c.id_a = 3, c.a_in_tensor = true; });
  add({"mxf8f6f4, pair", run_mma<Mx8Pair>, 2, 256, 256, kE4m3, kE4m3, k128, k128}, scaled(1, false, 1, 2));
  add({"mxf8f6f4, pair, M = 128", run_mma<Mx8Pair>, 2, 128, 96, kE4m3, kE5m2, k128, k128},
      scaled(1, false, 2, 0));
  add({"mxf4", run_mma<Mx4>, 1, 128, 64, kE2m1Pair, kE2m1Pair, k128, k64}, scaled(2, false, 2, 0));
  add({"mxf4nvf4, 4X, UE4M3", run_mma<Nv4>, 1, 128, 136, kE2m1Pair, kE2m1Pair, k128, k128},
      scaled(4, true, 0, 0));
  add({"mxf4nvf4, 4X, UE8M0, A in tensor memory", run_mma<Nv4Ts>, 1, 128, 64, kE2m1Pair, kE2m1Pair, k128,
       k16},
      [](Case& c) { c.scales = 4, c.a_in_tensor = true; });
  add({"mxf4nvf4, 2X", run_mma<Nv4Two>, 1, 128, 64, kE2m1Pair, kE2m1Pair, k128, k32}, scaled(2, false, 0, 2));
  add({"mxf4nvf4, pair", run_mma<Nv4Pair>, 2, 256, 128, kE2m1Pair, kE2m1Pair, k128, k128},
      scaled(4, true, 0, 0));
  add({"mxf4nvf4, pair, M = 128", run_mma<Nv4Pair>, 2, 128, 128, kE2m1Pair, kE2m1Pair, k128, k128},
      scaled(4, true, 0, 0));
  for (const uint32_t m : {32u, 64u, 128u}) {
    // Two columns of zeros, then three that are used, from elsewhere in each part; shifted by three.
    const uint64_t mask = 3ull << 56 | 2ull << 48 | 1ull << 40 | 1ull << 39 | 0b0101ull << 32 | 0x01020304;
    add({"ws, columns of zeros", run_mma<F16Ws>, 1, m, 64, kBf16, kF16, k128, k128},
        [=](Case& c) { c.ws = true, c.zero_columns = mask; });
    add({"ws, MN-major", run_mma<F16Ws>, 1, m, 128, kBf16, kF16, k128, mn_major(b128, 16)},
        [](Case& c) { c.ws = true; });
    add({"ws, A in tensor memory", run_mma<F16WsTs>, 1, m, 64, kF16, kF16, k128, k128},
        [](Case& c) { c.ws = c.a_in_tensor = true; });
    add({"ws, sparse i8", run_mma<I8SpWs>, 1, m, 64, kU8, kS8, k128, wide, Result::s32},
        [](Case& c) { c.ws = c.sparse = true; });
  }
  const auto sparse = [](Case& c) { c.sparse = true; };
  add({"sparse f16", run_mma<F16Sp>, 1, 128, 64, kF16, kF16, k128, wide}, sparse);
  add({"sparse bf16, M = 64, A in tensor memory", run_mma<F16SpTs>, 1, 64, 64, kBf16, kBf16, k128, wide16},
      [](Case& c) { c.sparse = c.a_in_tensor = true, c.first_lane = 16; });
  add({"sparse f16, pair, M = 256", run_mma<F16SpPair>, 2, 256, 64, kF16, kF16, mn_major(b128, 16), wide},
      sparse);
  add({"sparse f16, pair, M = 128", run_mma<F16SpPair>, 2, 128, 64, kF16, kF16, k128, mn_major(b128, 32)},
      sparse);
  add({"sparse tf32", run_mma<Tf32Sp>, 1, 128, 32, kTf32, kTf32, k128, wide}, sparse);
  add({"sparse f8f6f4", run_mma<F8Sp>, 1, 128, 32, kE4m3, kE2m1, k128, wide16}, sparse);
  add({"sparse mxf8f6f4", run_mma<Mx8Sp>, 1, 128, 32, kE4m3, kE3m2, k128, wide},
      [](Case& c) { c.sparse = true, c.scales = 1; });
  add({"sparse mxf4nvf4", run_mma<Nv4Sp>, 1, 128, 32, kE2m1Pair, kE2m1Pair, k128, wide},
      [](Case& c) { c.sparse = true, c.scales = 4, c.ue4m3 = true; });
  for (const Case& each : more) {
    check(each, false);
    check(each, true);
  }
  return finish();
}
