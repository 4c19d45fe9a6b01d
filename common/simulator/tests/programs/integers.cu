// Integer arithmetic of every width, bit tricks, packed bytes, 128-bit integers and carry chains.
#include <limits>
#include <type_traits>

#include "program.h"

constexpr int kCases = 2048;
constexpr int kOperations = 24;

// The corner values first, then noise.
template <typename T>
__host__ __device__ T operand(uint32_t i) {
  constexpr int bits = sizeof(T) * 8;
  const uint64_t corners[8] = {0, 1, ~0ull, 1ull << (bits - 1), (1ull << (bits - 1)) - 1, 2, 0x55, ~0ull - 1};
  if (i % 4 == 0) return T(corners[noise(i) % 8]);
  return T(noise64(i) >> (noise(i + 77) % bits));
}

template <typename T>
__host__ __device__ void operations(T a, T b, T* out) {
  using U = std::make_unsigned_t<T>;
  using W = std::conditional_t<sizeof(T) < 4, unsigned, U>;  // small unsigned types would promote to int
  constexpr unsigned bits = sizeof(T) * 8;
  const unsigned s = unsigned(b) % bits;
  T d = b == 0 ? T(3) : b;
  if (std::is_signed_v<T> && d == T(-1)) d = T(-7);
  int n = 0;
  out[n++] = T(W(U(a)) + W(U(b)));
  out[n++] = T(W(U(a)) - W(U(b)));
  out[n++] = T(W(U(a)) * W(U(b)));
  out[n++] = T(W(U(a)) * W(U(b)) + W(s));
  out[n++] = T(a / d);
  out[n++] = T(a % d);
  out[n++] = T(a / T(10));
  out[n++] = T(a % T(7));
  out[n++] = T(W(U(a)) << s);
  out[n++] = T(a >> s);
  out[n++] = T(U(a) >> s);
  out[n++] = T((W(U(a)) << s) | (U(a) >> ((bits - s) % bits)));
  out[n++] = T(a & b);
  out[n++] = T(a | b);
  out[n++] = T(a ^ b);
  out[n++] = T(~a & (b ^ T(s)));
  out[n++] = T(-W(U(a)));
  out[n++] = a < b ? a : b;
  out[n++] = a > b ? a : b;
  out[n++] = T((a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a >= b) << 4 | (a > b) << 5);
  out[n++] = T(int8_t(a)) ^ T(uint8_t(b));
  out[n++] = T(int16_t(a)) ^ T(uint16_t(b));
  out[n++] = T(int64_t(int32_t(a)) >> (s & 31));
  out[n++] = T(a == 0) | T((a && b) << 1) | T((a || !b) << 2);
}

template <typename T>
__global__ void arithmetic(T* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kCases) return;
  T values[kOperations];
  operations(operand<T>(i), operand<T>(i + 5000), values);
  for (int k = 0; k < kOperations; ++k) out[i * kOperations + k] = values[k];
}

template <typename T>
void test_arithmetic(const char* name) {
  Buffer<T> out(kCases * kOperations);
  arithmetic<T><<<kCases / 128, 128>>>(out);
  LAUNCHED();
  const std::vector<T> got = out.download();
  std::vector<T> want(got.size());
  for (int i = 0; i < kCases; ++i)
    operations(operand<T>(i), operand<T>(i + 5000), want.data() + i * kOperations);
  show(name, got, 8);
  expect(got == want, name);
}

constexpr int kIntrinsics = 42;

__global__ void intrinsics(uint32_t* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t a = operand<uint32_t>(i), b = operand<uint32_t>(i + 9000), c = noise(i);
  const uint64_t l = operand<uint64_t>(i), m = operand<uint64_t>(i + 11000);
  uint32_t v[kIntrinsics];
  int n = 0;
  v[n++] = __clz(a);
  v[n++] = __ffs(a);
  v[n++] = __popc(a);
  v[n++] = __brev(a);
  v[n++] = __clzll(l);
  v[n++] = __ffsll(l);
  v[n++] = __popcll(l);
  v[n++] = uint32_t(__brevll(l) >> 13);
  v[n++] = __mulhi(int(a), int(b));
  v[n++] = __umulhi(a, b);
  v[n++] = uint32_t(__mul64hi(l, m)) ^ uint32_t(__mul64hi(l, m) >> 32);
  v[n++] = uint32_t(__umul64hi(l, m)) ^ uint32_t(__umul64hi(l, m) >> 32);
  v[n++] = __funnelshift_l(a, b, c);
  v[n++] = __funnelshift_r(a, b, c);
  v[n++] = __funnelshift_lc(a, b, c & 63);
  v[n++] = __funnelshift_rc(a, b, c & 63);
  v[n++] = __byte_perm(a, b, c);
  v[n++] = __dp4a(int(a), int(b), int(c));
  v[n++] = __dp4a(a, b, c);
  v[n++] = __dp2a_lo(int(a), int(b), int(c));
  v[n++] = __dp2a_hi(a, b, c);
  v[n++] = __sad(int(a), int(b), c);
  v[n++] = __usad(a, b, c);
  v[n++] = __mul24(int(a), int(b));
  v[n++] = __umul24(a, b);
  v[n++] = __hadd(int(a), int(b));
  v[n++] = __rhadd(int(a), int(b));
  v[n++] = __uhadd(a, b);
  v[n++] = __urhadd(a, b);
  v[n++] = __vadd4(a, b);
  v[n++] = __vsub2(a, b);
  v[n++] = __vabsdiffu4(a, b);
  v[n++] = __vmaxs2(a, b);
  v[n++] = __vminu4(a, b);
  v[n++] = __vcmpgtu4(a, b);
  v[n++] = __vavgu4(a, b);
  v[n++] = __vaddus4(a, b);
  v[n++] = __vsetles2(a, b);
  v[n++] = __viaddmax_s32(int(a >> 1), int(b >> 1), int(c));
  v[n++] = __vimax3_u32(a, b, c);
  v[n++] = uint32_t(abs(int(a | 1)));
  v[n++] = uint32_t(llabs(int64_t(l | 1)) >> 7);
  for (int k = 0; k < kIntrinsics; ++k) out[i * kIntrinsics + k] = v[k];
}

void test_intrinsics() {
  Buffer<uint32_t> out(kCases * kIntrinsics);
  intrinsics<<<kCases / 256, 256>>>(out);
  LAUNCHED();
  const std::vector<uint32_t> got = out.download();
  bool ok = true;
  for (uint32_t i = 0; i < kCases; ++i) {
    const uint32_t a = operand<uint32_t>(i), b = operand<uint32_t>(i + 9000), c = noise(i);
    const uint64_t l = operand<uint64_t>(i);
    const uint32_t* v = &got[i * kIntrinsics];
    ok &= v[0] == uint32_t(a ? __builtin_clz(a) : 32) && v[1] == uint32_t(__builtin_ffs(int(a)));
    ok &= v[2] == uint32_t(__builtin_popcount(a)) && v[4] == uint32_t(l ? __builtin_clzll(l) : 64);
    ok &= v[8] == uint32_t((int64_t(int32_t(a)) * int32_t(b)) >> 32);
    ok &= v[9] == uint32_t((uint64_t(a) * b) >> 32);
    const uint64_t both = uint64_t(b) << 32 | a;
    ok &= v[12] == uint32_t((both << (c & 31)) >> 32) && v[13] == uint32_t(both >> (c & 31));
    const uint32_t clamped = (c & 63) < 32 ? c & 63 : 32;
    ok &= v[14] == uint32_t((both << clamped) >> 32) && v[15] == uint32_t(both >> clamped);
    uint32_t dot = c, permuted = 0;
    for (int k = 0; k < 4; ++k) {
      dot += ((a >> 8 * k) & 255) * ((b >> 8 * k) & 255);
      permuted |= uint32_t((both >> 8 * ((c >> 4 * k) & 7)) & 255) << 8 * k;
    }
    ok &= v[16] == permuted && v[18] == dot;
    ok &= v[27] == uint32_t((uint64_t(a) + b) >> 1) && v[28] == uint32_t((uint64_t(a) + b + 1) >> 1);
  }
  for (int k = 0; k < kIntrinsics; ++k) {
    std::vector<uint32_t> column;
    for (int i = 0; i < kCases; ++i) column.push_back(got[i * kIntrinsics + k]);
    std::printf("intrinsic %d, ", k);
    show("", column, 3);
  }
  expect(ok, "intrinsics");
}

using Wide = unsigned __int128;
constexpr int kWide = 14;

__host__ __device__ void wide_operations(Wide a, Wide b, unsigned s, Wide* out) {
  const Wide d = b == 0 ? 5 : b;
  const __int128 e = __int128(b >> 1) == 0 ? -9 : -__int128(b >> 1);
  out[0] = a + b;
  out[1] = a - b;
  out[2] = a * b;
  out[3] = a / d;
  out[4] = a % d;
  out[5] = a << (s & 127);
  out[6] = a >> (s & 127);
  out[7] = Wide(__int128(a) >> (s & 127));
  out[8] = Wide(__int128(a >> 1) / e);
  out[9] = Wide(__int128(a >> 1) % e);
  out[10] = Wide(a < b) | Wide(__int128(a) < __int128(b)) << 1 | Wide(a == b) << 2;
  out[11] = a / 1000000007u;
  out[12] = Wide(uint64_t(a)) * uint64_t(b);
  out[13] = Wide(-__int128(a & ~(Wide(1) << 127)));
}

__global__ void wide(Wide* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const Wide a = Wide(operand<uint64_t>(i)) << 64 | operand<uint64_t>(i + 1);
  const Wide b = Wide(i % 3 ? operand<uint64_t>(i + 700) : 0) << 64 | operand<uint64_t>(i + 900);
  Wide v[kWide];
  wide_operations(a, b, noise(i), v);
  for (int k = 0; k < kWide; ++k) out[i * kWide + k] = v[k];
}

void test_wide() {
  constexpr int cases = 512;
  Buffer<Wide> out(cases * kWide);
  wide<<<cases / 64, 64>>>(out);
  LAUNCHED();
  const std::vector<Wide> got = out.download();
  std::vector<Wide> want(got.size());
  for (int i = 0; i < cases; ++i) {
    const Wide a = Wide(operand<uint64_t>(i)) << 64 | operand<uint64_t>(i + 1);
    const Wide b = Wide(i % 3 ? operand<uint64_t>(i + 700) : 0) << 64 | operand<uint64_t>(i + 900);
    wide_operations(a, b, noise(i), &want[i * kWide]);
  }
  show("128 bits", got, 14);
  expect(got == want, "128 bits");
}

// 256-bit sums, differences and products with the carry flag.
__global__ void carry(uint32_t* out) {
  const uint32_t i = threadIdx.x;
  uint32_t a[8], b[8], r[8];
  for (int k = 0; k < 8; ++k) {
    a[k] = operand<uint32_t>(i * 16 + k);
    b[k] = operand<uint32_t>(i * 16 + k + 8);
  }
  asm("add.cc.u32 %0, %8, %16;\n addc.cc.u32 %1, %9, %17;\n addc.cc.u32 %2, %10, %18;\n addc.cc.u32 %3, %11, "
      "%19;\n"
      "addc.cc.u32 %4, %12, %20;\n addc.cc.u32 %5, %13, %21;\n addc.cc.u32 %6, %14, %22;\n addc.u32 %7, %15, "
      "%23;\n"
      : "=&r"(r[0]), "=&r"(r[1]), "=&r"(r[2]), "=&r"(r[3]), "=&r"(r[4]), "=&r"(r[5]), "=&r"(r[6]), "=&r"(r[7])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]),
        "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
  for (int k = 0; k < 8; ++k) out[i * 20 + k] = r[k];
  asm("sub.cc.u32 %0, %4, %8;\n subc.cc.u32 %1, %5, %9;\n subc.cc.u32 %2, %6, %10;\n subc.u32 %3, %7, %11;\n"
      : "=&r"(r[0]), "=&r"(r[1]), "=&r"(r[2]), "=&r"(r[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
  for (int k = 0; k < 4; ++k) out[i * 20 + 8 + k] = r[k];
  // 64 × 64 → 128 in 32-bit pieces.
  asm("mul.lo.u32 %0, %4, %6;\n mul.hi.u32 %1, %4, %6;\n mad.lo.cc.u32 %1, %4, %7, %1;\n madc.hi.u32 %2, %4, "
      "%7, 0;\n"
      "mad.lo.cc.u32 %1, %5, %6, %1;\n madc.hi.cc.u32 %2, %5, %6, %2;\n madc.hi.u32 %3, %5, %7, 0;\n"
      "mad.lo.cc.u32 %2, %5, %7, %2;\n addc.u32 %3, %3, 0;\n"
      : "=&r"(r[0]), "=&r"(r[1]), "=&r"(r[2]), "=&r"(r[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));
  for (int k = 0; k < 4; ++k) out[i * 20 + 12 + k] = r[k];
  uint64_t low, high;
  const uint64_t x = uint64_t(a[1]) << 32 | a[0], y = uint64_t(b[1]) << 32 | b[0];
  asm("add.cc.u64 %0, %2, %3;\n addc.u64 %1, 0, 0;\n" : "=&l"(low), "=l"(high) : "l"(x), "l"(y));
  out[i * 20 + 16] = uint32_t(low);
  out[i * 20 + 17] = uint32_t(low >> 32);
  out[i * 20 + 18] = uint32_t(high);
  // The flag that a subtraction leaves, read by an addition, and the other way round: 128-bit divisions do
  // that.
  uint32_t sum, difference, difference64;
  asm("sub.cc.u32 %0, %1, %2;\n addc.u32 %0, 0, 0;\n" : "=&r"(sum) : "r"(a[0]), "r"(b[0]));
  asm("add.cc.u32 %0, %1, %2;\n subc.u32 %0, 0, 0;\n" : "=&r"(difference) : "r"(a[0]), "r"(b[0]));
  asm("{\n .reg .u64 t;\n sub.cc.u64 t, %1, %2;\n subc.cc.u64 t, t, %1;\n addc.u32 %0, 0, 0;\n}"
      : "=r"(difference64)
      : "l"(x), "l"(y));
  out[i * 20 + 19] = (sum & 255) | (difference & 255) << 8 | difference64 << 16;
}

void test_carry() {
  constexpr int cases = 256;
  Buffer<uint32_t> out(cases * 20);
  carry<<<1, cases>>>(out);
  LAUNCHED();
  const std::vector<uint32_t> got = out.download();
  bool ok = true;
  for (int i = 0; i < cases; ++i) {
    uint32_t a[8], b[8];
    uint64_t sum = 0;
    int64_t difference = 0;
    for (int k = 0; k < 8; ++k) {
      a[k] = operand<uint32_t>(i * 16 + k);
      b[k] = operand<uint32_t>(i * 16 + k + 8);
      sum = (sum >> 32) + a[k] + b[k];
      ok &= got[i * 20 + k] == uint32_t(sum);
      difference = (difference >> 32) + int64_t(a[k]) - int64_t(b[k]);
      if (k < 4) ok &= got[i * 20 + 8 + k] == uint32_t(difference);
    }
    const Wide x = uint64_t(a[1]) << 32 | a[0], y = uint64_t(b[1]) << 32 | b[0];
    for (int k = 0; k < 4; ++k) ok &= got[i * 20 + 12 + k] == uint32_t((x * y) >> 32 * k);
    for (int k = 0; k < 3; ++k) ok &= got[i * 20 + 16 + k] == uint32_t((x + y) >> 32 * k);
  }
  show("carry", got, 20);
  std::vector<uint32_t> mixed;
  for (int i = 0; i < cases; ++i) mixed.push_back(got[i * 20 + 19]);
  show("mixed", mixed, 24);
  expect(ok, "carry");
}

// Instructions that no C++ operator names.
__global__ void bit_fields(uint32_t* out) {
  const uint32_t i = threadIdx.x, a = operand<uint32_t>(i), b = noise(i), c = noise(i + 1);
  const uint64_t l = noise64(i), m = noise64(i + 3);
  uint32_t v[16];
  uint64_t w;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(v[0]) : "r"(a), "r"(b & 255), "r"(c & 255));
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(v[1]) : "r"(a), "r"(b & 31), "r"(c & 31));
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(v[2]) : "r"(a), "r"(b), "r"(c & 63), "r"(b & 63));
  asm("bfe.s64 %0, %1, %2, %3;" : "=l"(w) : "l"(l), "r"(b & 63), "r"(c & 63));
  v[3] = uint32_t(w) ^ uint32_t(w >> 32);
  asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(w) : "l"(l), "l"(m), "r"(c & 63), "r"(b & 63));
  v[4] = uint32_t(w) ^ uint32_t(w >> 32);
  asm("bfind.u32 %0, %1;" : "=r"(v[5]) : "r"(a));
  asm("bfind.s32 %0, %1;" : "=r"(v[6]) : "r"(a));
  asm("bfind.shiftamt.u32 %0, %1;" : "=r"(v[7]) : "r"(a));
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(v[8]) : "r"(a), "r"(b), "r"(c));
  asm("lop3.b32 %0, %1, %2, %3, 0xe2;" : "=r"(v[9]) : "r"(a), "r"(b), "r"(c));
  asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(v[10]) : "r"(a), "r"(b), "r"(c & 3));
  asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(v[11]) : "r"(a), "r"(b), "r"(c & 3));
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(v[12]) : "r"(a), "r"(b), "r"(c & 0xffff));
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(v[13]) : "r"(b & 63), "r"(c & 63));
  asm("szext.wrap.s32 %0, %1, %2;" : "=r"(v[14]) : "r"(a), "r"(c & 31));
  asm("cnot.b32 %0, %1;" : "=r"(v[15]) : "r"(a & (b >> 3 & 1)));
  for (int k = 0; k < 16; ++k) out[k * 256 + i] = v[k];
}

void test_bit_fields() {
  Buffer<uint32_t> out(16 * 256);
  bit_fields<<<1, 256>>>(out);
  LAUNCHED();
  const std::vector<uint32_t> got = out.download();
  for (int k = 0; k < 16; ++k) {
    std::printf("bit field %d, ", k);
    show("", &got[k * 256], 256);
  }
}

int main() {
  test_arithmetic<int8_t>("int8");
  test_arithmetic<uint8_t>("uint8");
  test_arithmetic<int16_t>("int16");
  test_arithmetic<uint16_t>("uint16");
  test_arithmetic<int32_t>("int32");
  test_arithmetic<uint32_t>("uint32");
  test_arithmetic<int64_t>("int64");
  test_arithmetic<uint64_t>("uint64");
  test_intrinsics();
  test_wide();
  test_carry();
  test_bit_fields();
  return finish();
}
