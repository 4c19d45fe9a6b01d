// What the floating-point instructions of PTX give, bit by bit: one kernel per instruction, run on edge
// values and pseudo-random ones (float_inputs.h). Prints for each
//   instruction | input kinds | digits per result | exact or approximate | hash of all results
// and then the first results in hexadecimal. Approximate instructions have no hash: devices may differ in
// last bits.
//
//   nvcc -std=c++20 -arch=sm_90 -o float_ops float_ops.cu && ./float_ops >float_ops.txt

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "float_inputs.h"

using float_ops::Kind;

namespace {

struct Operation {
  const char* name;
  Kind kinds[3];
  int bits;  // of a result
  bool exact;
  int printed;  // cases
  void (*launch)(const uint64_t* a, const uint64_t* b, const uint64_t* c, uint64_t* d);
};
std::vector<Operation>& operations() {
  static std::vector<Operation> all;
  return all;
}
struct Add {
  explicit Add(const Operation& operation) { operations().push_back(operation); }
};

template <class Op>
__global__ void every_case(const uint64_t* a, const uint64_t* b, const uint64_t* c, uint64_t* d) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < float_ops::cases) d[i] = Op::run(a[i], b[i], c[i]);
}
template <class Op>
void launch(const uint64_t* a, const uint64_t* b, const uint64_t* c, uint64_t* d) {
  every_case<Op><<<float_ops::cases / 128, 128>>>(a, b, c, d);
}

}  // namespace

// Register classes of inline assembly: h 16 bits, r 32, l 64.
using type_h = uint16_t;
using type_r = uint32_t;
using type_l = uint64_t;
#define NAME2(a, b) a##b
#define NAME1(a, b) NAME2(a, b)
#define NAME(a) NAME1(a, __LINE__)

#define OPERATION(id, text, d, exact, printed, k0, k1, k2, ...)                                            \
  struct id {                                                                                              \
    static __device__ uint64_t run(uint64_t a, [[maybe_unused]] uint64_t b, [[maybe_unused]] uint64_t c) { \
      type_##d result;                                                                                     \
      __VA_ARGS__                                                                                          \
      return result;                                                                                       \
    }                                                                                                      \
  };                                                                                                       \
  const Add add_##id({text,                                                                                \
                      {Kind::k0, Kind::k1, Kind::k2},                                                      \
                      static_cast<int>(sizeof(type_##d)) * 8,                                              \
                      exact,                                                                               \
                      printed,                                                                             \
                      launch<id>});

#define ONE_OF(id, text, d, a_, ka, exact, printed)      \
  OPERATION(id, text, d, exact, printed, ka, none, none, \
            asm volatile(text " %0, %1;"                 \
                         : "=" #d(result)                \
                         : #a_(static_cast<type_##a_>(a)));)
#define TWO_OF(id, text, d, a_, b_, ka, kb, exact, printed) \
  OPERATION(id, text, d, exact, printed, ka, kb, none,      \
            asm volatile(text " %0, %1, %2;"                \
                         : "=" #d(result)                   \
                         : #a_(static_cast<type_##a_>(a)), #b_(static_cast<type_##b_>(b)));)
#define THREE_OF(id, text, d, a_, b_, c_, ka, kb, kc, exact, printed)                      \
  OPERATION(id, text, d, exact, printed, ka, kb, kc,                                       \
            asm volatile(text " %0, %1, %2, %3;"                                           \
                         : "=" #d(result)                                                  \
                         : #a_(static_cast<type_##a_>(a)), #b_(static_cast<type_##b_>(b)), \
                           #c_(static_cast<type_##c_>(c)));)
// d = op(a) and so on, all of one type.
#define ONE(text, r, k, printed) ONE_OF(NAME(Op), text, r, r, k, true, printed)
#define TWO(text, r, k, printed) TWO_OF(NAME(Op), text, r, r, r, k, k, true, printed)
#define THREE(text, r, k, printed) THREE_OF(NAME(Op), text, r, r, r, r, k, k, k, true, printed)
#define APPROXIMATE(text, r, k) ONE_OF(NAME(Op), text, r, r, k, false, 192)
#define CVT(text, d, a, k, printed) ONE_OF(NAME(Op), text, d, a, k, true, printed)

namespace {

// One line an instruction: the table would be three times as long otherwise.
// clang-format off
namespace f32 {
TWO("add.f32", r, f32, 176)
TWO("add.rn.f32", r, f32, 8)
TWO("add.rz.f32", r, f32, 176)
TWO("add.rm.f32", r, f32, 176)
TWO("add.rp.f32", r, f32, 176)
TWO("add.ftz.f32", r, f32, 176)
TWO("add.sat.f32", r, f32, 176)
TWO("add.rz.ftz.sat.f32", r, f32, 16)
TWO("sub.f32", r, f32, 176)
TWO("sub.rm.f32", r, f32, 16)
TWO("sub.ftz.f32", r, f32, 16)
TWO("mul.f32", r, f32, 176)
TWO("mul.rz.f32", r, f32, 176)
TWO("mul.rm.f32", r, f32, 176)
TWO("mul.rp.f32", r, f32, 176)
TWO("mul.ftz.f32", r, f32, 176)
TWO("mul.rp.ftz.f32", r, f32, 176)
TWO("mul.sat.f32", r, f32, 16)
THREE("fma.rn.f32", r, f32, 128)
THREE("fma.rz.f32", r, f32, 128)
THREE("fma.rm.f32", r, f32, 128)
THREE("fma.rp.f32", r, f32, 128)
THREE("fma.rn.ftz.f32", r, f32, 128)
THREE("fma.rn.sat.f32", r, f32, 128)
THREE("fma.rp.ftz.sat.f32", r, f32, 16)
THREE("mad.rn.f32", r, f32, 16)
TWO("div.rn.f32", r, f32, 176)
TWO("div.rz.f32", r, f32, 176)
TWO("div.rm.f32", r, f32, 176)
TWO("div.rp.f32", r, f32, 176)
TWO("div.rn.ftz.f32", r, f32, 176)
TWO("div.rp.ftz.f32", r, f32, 176)
TWO("min.f32", r, f32, 176)
TWO("max.f32", r, f32, 176)
TWO("min.ftz.f32", r, f32, 176)
TWO("max.ftz.f32", r, f32, 16)
TWO("min.NaN.f32", r, f32, 176)
TWO("max.NaN.f32", r, f32, 176)
TWO("min.xorsign.abs.f32", r, f32, 176)
TWO("max.xorsign.abs.f32", r, f32, 176)
TWO("max.NaN.xorsign.abs.f32", r, f32, 176)
TWO("max.ftz.NaN.xorsign.abs.f32", r, f32, 16)
TWO("copysign.f32", r, f32, 176)
ONE("neg.f32", r, f32, 13)
ONE("neg.ftz.f32", r, f32, 13)
ONE("abs.f32", r, f32, 13)
ONE("abs.ftz.f32", r, f32, 13)
ONE("rcp.rn.f32", r, f32, 128)
ONE("rcp.rz.f32", r, f32, 128)
ONE("rcp.rm.f32", r, f32, 128)
ONE("rcp.rp.f32", r, f32, 128)
ONE("rcp.rn.ftz.f32", r, f32, 128)
ONE("sqrt.rn.f32", r, f32, 128)
ONE("sqrt.rz.f32", r, f32, 128)
ONE("sqrt.rm.f32", r, f32, 128)
ONE("sqrt.rp.f32", r, f32, 128)
ONE("sqrt.rn.ftz.f32", r, f32, 128)
}  // namespace f32

namespace f64 {
TWO("add.f64", l, f64, 176)
TWO("add.rz.f64", l, f64, 16)
TWO("add.rm.f64", l, f64, 176)
TWO("add.rp.f64", l, f64, 16)
TWO("sub.f64", l, f64, 16)
TWO("mul.f64", l, f64, 176)
TWO("mul.rz.f64", l, f64, 16)
TWO("mul.rm.f64", l, f64, 16)
TWO("mul.rp.f64", l, f64, 176)
THREE("fma.rn.f64", l, f64, 128)
THREE("fma.rz.f64", l, f64, 16)
THREE("fma.rm.f64", l, f64, 128)
THREE("fma.rp.f64", l, f64, 16)
TWO("div.rn.f64", l, f64, 176)
TWO("div.rz.f64", l, f64, 16)
TWO("div.rm.f64", l, f64, 16)
TWO("div.rp.f64", l, f64, 176)
TWO("min.f64", l, f64, 176)
TWO("max.f64", l, f64, 176)
TWO("copysign.f64", l, f64, 16)
ONE("neg.f64", l, f64, 13)
ONE("abs.f64", l, f64, 13)
ONE("rcp.rn.f64", l, f64, 128)
ONE("rcp.rz.f64", l, f64, 16)
ONE("rcp.rm.f64", l, f64, 16)
ONE("rcp.rp.f64", l, f64, 128)
ONE("sqrt.rn.f64", l, f64, 128)
ONE("sqrt.rz.f64", l, f64, 16)
ONE("sqrt.rm.f64", l, f64, 16)
ONE("sqrt.rp.f64", l, f64, 128)
}  // namespace f64

namespace f16 {
#define HALF(type)                                                                      \
  namespace type##_ops {                                                                \
  namespace n1 { TWO("add." #type, h, type, 176) }                                      \
  namespace n2 { TWO("sub." #type, h, type, 16) }                                       \
  namespace n3 { TWO("mul." #type, h, type, 176) }                                      \
  namespace n4 { THREE("fma.rn." #type, h, type, 128) }                                 \
  namespace n5 { THREE("fma.rn.relu." #type, h, type, 128) }                            \
  namespace n6 { TWO("min." #type, h, type, 176) }                                      \
  namespace n7 { TWO("max." #type, h, type, 176) }                                      \
  namespace n8 { TWO("min.NaN." #type, h, type, 176) }                                  \
  namespace n9 { TWO("max.NaN.xorsign.abs." #type, h, type, 176) }                      \
  namespace m1 { TWO("min.xorsign.abs." #type, h, type, 176) }                          \
  namespace m2 { ONE("neg." #type, h, type, 13) }                                       \
  namespace m3 { ONE("abs." #type, h, type, 13) }                                       \
  namespace m4 { TWO("add." #type "x2", r, type##x2, 16) }                              \
  namespace m5 { TWO("mul." #type "x2", r, type##x2, 16) }                              \
  namespace m6 { THREE("fma.rn." #type "x2", r, type##x2, 16) }                         \
  namespace m7 { TWO("min." #type "x2", r, type##x2, 16) }                              \
  namespace m8 { TWO("max.NaN." #type "x2", r, type##x2, 16) }                          \
  namespace m9 { ONE("neg." #type "x2", r, type##x2, 16) }                              \
  namespace l1 { ONE("abs." #type "x2", r, type##x2, 16) }                              \
  namespace l2 { TWO("sub." #type "x2", r, type##x2, 16) }                              \
  }
HALF(f16)
HALF(bf16)
TWO("add.ftz.f16", h, f16, 176)
TWO("add.sat.f16", h, f16, 176)
TWO("mul.ftz.f16", h, f16, 176)
TWO("mul.sat.f16", h, f16, 16)
THREE("fma.rn.ftz.f16", h, f16, 128)
THREE("fma.rn.sat.f16", h, f16, 16)
THREE("fma.rn.ftz.relu.f16", h, f16, 16)
TWO("min.ftz.f16", h, f16, 176)
ONE("neg.ftz.f16", h, f16, 13)
ONE("abs.ftz.f16", h, f16, 13)
TWO("add.ftz.sat.f16x2", r, f16x2, 16)
TWO("mul.ftz.f16x2", r, f16x2, 16)
TWO("min.ftz.NaN.f16x2", r, f16x2, 16)
THREE("fma.rn.ftz.relu.f16x2", r, f16x2, 16)
THREE("fma.rn.relu.bf16x2", r, bf16x2, 16)
}  // namespace f16

namespace approximate {
APPROXIMATE("rcp.approx.f32", r, f32)
APPROXIMATE("rcp.approx.ftz.f32", r, f32)
APPROXIMATE("sqrt.approx.f32", r, f32)
APPROXIMATE("sqrt.approx.ftz.f32", r, f32)
APPROXIMATE("rsqrt.approx.f32", r, f32)
APPROXIMATE("rsqrt.approx.ftz.f32", r, f32)
APPROXIMATE("ex2.approx.f32", r, f32)
APPROXIMATE("ex2.approx.ftz.f32", r, f32)
APPROXIMATE("lg2.approx.f32", r, f32)
APPROXIMATE("lg2.approx.ftz.f32", r, f32)
APPROXIMATE("sin.approx.f32", r, f32)
APPROXIMATE("sin.approx.ftz.f32", r, f32)
APPROXIMATE("cos.approx.f32", r, f32)
APPROXIMATE("cos.approx.ftz.f32", r, f32)
APPROXIMATE("tanh.approx.f32", r, f32)
APPROXIMATE("rcp.approx.ftz.f64", l, f64)
APPROXIMATE("rsqrt.approx.ftz.f64", l, f64)
APPROXIMATE("rsqrt.approx.f64", l, f64)
APPROXIMATE("ex2.approx.f16", h, f16)
APPROXIMATE("ex2.approx.f16x2", r, f16x2)
APPROXIMATE("ex2.approx.ftz.bf16", h, bf16)
APPROXIMATE("ex2.approx.ftz.bf16x2", r, bf16x2)
APPROXIMATE("tanh.approx.f16", h, f16)
APPROXIMATE("tanh.approx.f16x2", r, f16x2)
APPROXIMATE("tanh.approx.bf16", h, bf16)
APPROXIMATE("tanh.approx.bf16x2", r, bf16x2)
TWO_OF(NAME(Op), "div.approx.f32", r, r, r, f32, f32, false, 176)
TWO_OF(NAME(Op), "div.approx.ftz.f32", r, r, r, f32, f32, false, 176)
TWO_OF(NAME(Op), "div.full.f32", r, r, r, f32, f32, false, 176)
TWO_OF(NAME(Op), "div.full.ftz.f32", r, r, r, f32, f32, false, 176)
}  // namespace approximate

namespace integers {
#define FROM_INTEGER(type, c)                                                           \
  namespace type##_ {                                                                   \
  namespace n1 { CVT("cvt.u8." #type, r, c, type, 14) }                                 \
  namespace n2 { CVT("cvt.s8." #type, r, c, type, 14) }                                 \
  namespace n3 { CVT("cvt.u16." #type, h, c, type, 14) }                                \
  namespace n4 { CVT("cvt.s16." #type, r, c, type, 14) }                                \
  namespace n5 { CVT("cvt.u32." #type, r, c, type, 14) }                                \
  namespace n6 { CVT("cvt.s32." #type, r, c, type, 14) }                                \
  namespace n7 { CVT("cvt.u64." #type, l, c, type, 14) }                                \
  namespace n8 { CVT("cvt.s64." #type, l, c, type, 14) }                                \
  namespace n9 { CVT("cvt.rn.f16." #type, h, c, type, 24) }                             \
  namespace m1 { CVT("cvt.rz.f16." #type, h, c, type, 8) }                              \
  namespace m4 { CVT("cvt.rn.f32." #type, r, c, type, 24) }                             \
  namespace m5 { CVT("cvt.rz.f32." #type, r, c, type, 8) }                              \
  namespace m6 { CVT("cvt.rm.f32." #type, r, c, type, 8) }                              \
  namespace m7 { CVT("cvt.rp.f32." #type, r, c, type, 8) }                              \
  namespace m8 { CVT("cvt.rn.f64." #type, l, c, type, 14) }                             \
  }
FROM_INTEGER(u8, r)
FROM_INTEGER(s8, r)
FROM_INTEGER(u16, h)
FROM_INTEGER(s16, h)
FROM_INTEGER(u32, r)
FROM_INTEGER(s32, r)
FROM_INTEGER(u64, l)
FROM_INTEGER(s64, l)
#define BF16_FROM(type, c)                                                              \
  namespace type##_ {                                                                   \
  namespace m2 { CVT("cvt.rn.bf16." #type, h, c, type, 24) }                            \
  namespace m3 { CVT("cvt.rp.bf16." #type, h, c, type, 8) }                             \
  }
BF16_FROM(u16, h)
BF16_FROM(s16, h)
BF16_FROM(u32, r)
BF16_FROM(s32, r)
BF16_FROM(u64, l)
BF16_FROM(s64, l)
CVT("cvt.rn.sat.f32.s32", r, r, s32, 14)
CVT("cvt.rn.sat.f16.u32", h, r, u32, 14)
CVT("cvt.rn.sat.f64.s64", l, l, s64, 14)
CVT("cvt.rz.f64.u64", l, l, u64, 14)
CVT("cvt.rm.f64.s64", l, l, s64, 14)
CVT("cvt.rp.f64.s64", l, l, s64, 14)
CVT("cvt.rm.f16.s32", h, r, s32, 14)
CVT("cvt.rp.f16.s64", h, l, s64, 14)
CVT("cvt.rz.bf16.s64", h, l, s64, 14)
CVT("cvt.rm.bf16.u64", h, l, u64, 14)
CVT("cvt.sat.u8.s32", r, r, s32, 14)
CVT("cvt.sat.s8.s32", r, r, s32, 14)
CVT("cvt.sat.u16.s32", h, r, s32, 14)
CVT("cvt.sat.s16.u32", r, r, u32, 14)
CVT("cvt.sat.u32.s32", r, r, s32, 14)
CVT("cvt.sat.s32.u32", r, r, u32, 14)
CVT("cvt.sat.s32.s64", r, l, s64, 14)
CVT("cvt.sat.u32.s64", r, l, s64, 14)
CVT("cvt.sat.u64.s64", l, l, s64, 14)
CVT("cvt.sat.s64.u64", l, l, u64, 14)
CVT("cvt.sat.u8.s8", r, r, s8, 14)
CVT("cvt.sat.u8.u16", r, h, u16, 14)
TWO("cvt.pack.sat.u16.s32", r, s32, 14)
TWO("cvt.pack.sat.s16.s32", r, s32, 14)
THREE("cvt.pack.sat.u8.s32.b32", r, s32, 14)
THREE("cvt.pack.sat.s8.s32.b32", r, s32, 14)
THREE("cvt.pack.sat.u4.s32.b32", r, s32, 14)
THREE("cvt.pack.sat.s4.s32.b32", r, s32, 14)
THREE("cvt.pack.sat.u2.s32.b32", r, s32, 14)
THREE("cvt.pack.sat.s2.s32.b32", r, s32, 14)
}  // namespace integers

namespace to_integers {
#define TO_INTEGER(type, c, full)                                                       \
  namespace type##_ {                                                                   \
  namespace n3 { CVT("cvt.rzi.u16." #type, h, c, type, full) }                          \
  namespace n4 { CVT("cvt.rzi.s16." #type, h, c, type, full) }                          \
  namespace n5 { CVT("cvt.rzi.u32." #type, r, c, type, full) }                          \
  namespace n6 { CVT("cvt.rzi.s32." #type, r, c, type, full) }                          \
  namespace n7 { CVT("cvt.rzi.u64." #type, l, c, type, full) }                          \
  namespace n8 { CVT("cvt.rzi.s64." #type, l, c, type, full) }                          \
  namespace n9 { CVT("cvt.rni.s32." #type, r, c, type, 101) }                           \
  namespace m1 { CVT("cvt.rmi.s32." #type, r, c, type, 16) }                            \
  namespace m2 { CVT("cvt.rpi.s32." #type, r, c, type, 16) }                            \
  namespace m3 { CVT("cvt.rni.u32." #type, r, c, type, 16) }                            \
  namespace m4 { CVT("cvt.rpi.u32." #type, r, c, type, 16) }                            \
  namespace m5 { CVT("cvt.rni.s64." #type, l, c, type, 16) }                            \
  namespace m6 { CVT("cvt.rmi.s64." #type, l, c, type, 16) }                            \
  namespace m7 { CVT("cvt.rpi.u64." #type, l, c, type, 16) }                            \
  namespace m9 { CVT("cvt.rmi.s16." #type, h, c, type, 16) }                            \
  }
TO_INTEGER(f32, r, 101)
TO_INTEGER(f64, l, 101)
TO_INTEGER(f16, h, 32)
TO_INTEGER(bf16, h, 32)
#define TO_BYTE(type, c, full)                                                          \
  namespace type##_ {                                                                   \
  namespace n1 { CVT("cvt.rzi.u8." #type, r, c, type, full) }                           \
  namespace n2 { CVT("cvt.rzi.s8." #type, r, c, type, full) }                           \
  namespace m8 { CVT("cvt.rni.s8." #type, r, c, type, 16) }                             \
  }
TO_BYTE(f32, r, 101)
TO_BYTE(f64, l, 101)
TO_BYTE(f16, h, 32)
CVT("cvt.rzi.sat.s8.f32", r, r, f32, 16)
CVT("cvt.rzi.ftz.s32.f32", r, r, f32, 16)
CVT("cvt.rpi.ftz.u64.f32", l, r, f32, 16)
CVT("cvt.rpi.ftz.s32.f32", r, r, f32, 16)
CVT("cvt.rmi.ftz.s32.f32", r, r, f32, 16)
}  // namespace to_integers

namespace floats {
#define ROUNDED(to, d, from, a)                                                         \
  namespace to##_##from {                                                               \
  namespace n1 { CVT("cvt.rn." #to "." #from, d, a, from, 140) }                        \
  namespace n2 { CVT("cvt.rz." #to "." #from, d, a, from, 101) }                        \
  namespace n3 { CVT("cvt.rm." #to "." #from, d, a, from, 16) }                         \
  namespace n4 { CVT("cvt.rp." #to "." #from, d, a, from, 16) }                         \
  }
ROUNDED(f32, r, f64, l)
ROUNDED(f16, h, f32, r)
ROUNDED(f16, h, f64, l)
ROUNDED(bf16, h, f64, l)
ROUNDED(bf16, h, f16, h)
CVT("cvt.rn.bf16.f32", h, r, f32, 140)
CVT("cvt.rz.bf16.f32", h, r, f32, 140)
CVT("cvt.rn.f16.bf16", h, h, bf16, 101)
CVT("cvt.rz.f16.bf16", h, h, bf16, 101)
CVT("cvt.f32.bf16", r, h, bf16, 101)
CVT("cvt.ftz.f32.bf16", r, h, bf16, 16)
CVT("cvt.f32.f16", r, h, f16, 101)
CVT("cvt.ftz.f32.f16", r, h, f16, 16)
CVT("cvt.sat.f32.f16", r, h, f16, 16)
CVT("cvt.f64.f32", l, r, f32, 32)
CVT("cvt.ftz.f64.f32", l, r, f32, 16)
CVT("cvt.sat.f64.f32", l, r, f32, 16)
CVT("cvt.f64.f16", l, h, f16, 32)
CVT("cvt.f64.bf16", l, h, bf16, 32)
CVT("cvt.rn.ftz.f32.f64", r, l, f64, 101)
CVT("cvt.rn.sat.f32.f64", r, l, f64, 16)
CVT("cvt.rp.ftz.f32.f64", r, l, f64, 101)
CVT("cvt.rn.ftz.f16.f32", h, r, f32, 101)
CVT("cvt.rp.ftz.f16.f32", h, r, f32, 16)
CVT("cvt.rn.sat.f16.f32", h, r, f32, 101)
CVT("cvt.rn.relu.f16.f32", h, r, f32, 101)
CVT("cvt.rz.relu.bf16.f32", h, r, f32, 101)
CVT("cvt.rn.relu.bf16.f32", h, r, f32, 101)
CVT("cvt.rn.satfinite.f16.f32", h, r, f32, 101)
CVT("cvt.rn.satfinite.bf16.f32", h, r, f32, 101)
CVT("cvt.rz.relu.satfinite.bf16.f32", h, r, f32, 101)
CVT("cvt.f32.f32", r, r, f32, 16)
CVT("cvt.ftz.f32.f32", r, r, f32, 16)
CVT("cvt.sat.f32.f32", r, r, f32, 101)
CVT("cvt.ftz.sat.f32.f32", r, r, f32, 16)
CVT("cvt.rni.f32.f32", r, r, f32, 101)
CVT("cvt.rzi.f32.f32", r, r, f32, 101)
CVT("cvt.rmi.f32.f32", r, r, f32, 101)
CVT("cvt.rpi.f32.f32", r, r, f32, 101)
CVT("cvt.rni.ftz.f32.f32", r, r, f32, 16)
CVT("cvt.rpi.ftz.f32.f32", r, r, f32, 16)
CVT("cvt.rni.sat.f32.f32", r, r, f32, 16)
CVT("cvt.rni.ftz.sat.f32.f32", r, r, f32, 16)
CVT("cvt.rn.ftz.sat.f32.f64", r, l, f64, 16)
CVT("cvt.rn.sat.f16.f64", h, l, f64, 16)
CVT("cvt.rm.ftz.f16.f32", h, r, f32, 16)
CVT("cvt.ftz.sat.f32.f16", r, h, f16, 16)
CVT("cvt.rni.sat.f16.f16", h, h, f16, 16)
CVT("cvt.f64.f64", l, l, f64, 13)
CVT("cvt.sat.f64.f64", l, l, f64, 32)
CVT("cvt.rni.f64.f64", l, l, f64, 101)
CVT("cvt.rzi.f64.f64", l, l, f64, 16)
CVT("cvt.rmi.f64.f64", l, l, f64, 16)
CVT("cvt.rpi.f64.f64", l, l, f64, 16)
CVT("cvt.f16.f16", h, h, f16, 13)
CVT("cvt.sat.f16.f16", h, h, f16, 101)
CVT("cvt.rni.f16.f16", h, h, f16, 101)
CVT("cvt.rzi.f16.f16", h, h, f16, 16)
CVT("cvt.rmi.f16.f16", h, h, f16, 16)
CVT("cvt.rpi.f16.f16", h, h, f16, 16)
CVT("cvt.rni.bf16.bf16", h, h, bf16, 101)
CVT("cvt.rzi.bf16.bf16", h, h, bf16, 16)
CVT("cvt.rmi.bf16.bf16", h, h, bf16, 16)
CVT("cvt.rpi.bf16.bf16", h, h, bf16, 16)
CVT("cvt.rna.tf32.f32", r, r, f32, 140)
CVT("cvt.rn.tf32.f32", r, r, f32, 140)
CVT("cvt.rz.tf32.f32", r, r, f32, 140)
CVT("cvt.rna.satfinite.tf32.f32", r, r, f32, 140)
CVT("cvt.rn.relu.tf32.f32", r, r, f32, 101)

#define PACKED(name) TWO_OF(NAME(Op), name, r, r, r, f32, f32, true, 176)
PACKED("cvt.rn.bf16x2.f32")
PACKED("cvt.rz.bf16x2.f32")
PACKED("cvt.rn.relu.bf16x2.f32")
PACKED("cvt.rn.satfinite.bf16x2.f32")
PACKED("cvt.rn.f16x2.f32")
PACKED("cvt.rz.f16x2.f32")
PACKED("cvt.rn.relu.satfinite.f16x2.f32")
#define EIGHT(name) TWO_OF(NAME(Op), name, h, r, r, f32, f32, true, 176)
EIGHT("cvt.rn.satfinite.e4m3x2.f32")
EIGHT("cvt.rn.satfinite.e5m2x2.f32")
EIGHT("cvt.rn.satfinite.relu.e4m3x2.f32")
EIGHT("cvt.rn.satfinite.relu.e5m2x2.f32")
CVT("cvt.rn.satfinite.e4m3x2.f16x2", h, r, f16x2, 101)
CVT("cvt.rn.satfinite.e5m2x2.f16x2", h, r, f16x2, 101)
CVT("cvt.rn.satfinite.relu.e4m3x2.f16x2", h, r, f16x2, 16)
CVT("cvt.rn.f16x2.e4m3x2", r, h, e4m3x2, 256)
CVT("cvt.rn.f16x2.e5m2x2", r, h, e5m2x2, 256)
CVT("cvt.rn.relu.f16x2.e4m3x2", r, h, e4m3x2, 16)
CVT("cvt.rn.relu.f16x2.e5m2x2", r, h, e5m2x2, 16)
}  // namespace floats

// clang-format on

void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "float_ops: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

}  // namespace

int main() {
  constexpr int cases = float_ops::cases;
  uint64_t* device;
  require(cudaMalloc(&device, 4 * cases * sizeof(uint64_t)));
  std::vector<uint64_t> host(4 * cases);
  for (const Operation& operation : operations()) {
    int operands = 0;
    while (operands < 3 && operation.kinds[operands] != Kind::none) ++operands;
    for (int n = 0; n < 3; ++n)
      for (int i = 0; i < cases; ++i)
        host[static_cast<size_t>(n * cases + i)] = float_ops::input(operation.kinds[n], operands, n, i);
    require(cudaMemcpy(device, host.data(), 3 * cases * sizeof(uint64_t), cudaMemcpyHostToDevice));
    uint64_t* const results = device + 3 * cases;
    operation.launch(device, device + cases, device + 2 * cases, results);
    require(cudaGetLastError());
    require(cudaMemcpy(host.data(), results, cases * sizeof(uint64_t), cudaMemcpyDeviceToHost));

    uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a over the results' bytes, low byte first
    for (int i = 0; i < cases; ++i)
      for (int byte = 0; byte < operation.bits / 8; ++byte)
        hash = (hash ^ (host[static_cast<size_t>(i)] >> (8 * byte) & 0xff)) * 0x100000001b3u;
    std::printf("%s |", operation.name);
    for (int n = 0; n < operands; ++n) std::printf(" %s", float_ops::name_of(operation.kinds[n]));
    std::printf(" | %d | ", operation.bits / 4);
    if (operation.exact) {
      std::printf("exact | %016llx\n", static_cast<unsigned long long>(hash));
    } else {
      std::printf("approximate |\n");
    }
    const int per_line = 96 / (operation.bits / 4);
    for (int i = 0; i < operation.printed; ++i)
      std::printf("%0*llx%s", operation.bits / 4,
                  static_cast<unsigned long long>(host[static_cast<size_t>(i)]),
                  (i + 1) % per_line == 0 || i + 1 == operation.printed ? "\n" : "");
  }
  require(cudaFree(device));
  return 0;
}
