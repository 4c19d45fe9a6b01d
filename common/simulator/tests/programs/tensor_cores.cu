// mma.sync of sm_80: every shape and type of it, where the elements of a fragment lie, and how sums round.
#include "tensor_cores.h"

#define F32(SHAPE, TYPE) "mma.sync.aligned." SHAPE ".row.col.f32." TYPE "." TYPE ".f32"
MMA_4_4_2(F16k16, F32("m16n8k16", "f16"));
MMA_4_2_1(F16k8, F32("m16n8k8", "f16"));
MMA_2_4_2(HalfK16, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16");
MMA_2_2_1(HalfK8, "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16");
MMA_4_4_2(Bf16k16, F32("m16n8k16", "bf16"));
MMA_4_2_1(Bf16k8, F32("m16n8k8", "bf16"));
MMA_4_4_2(Tf32k8, F32("m16n8k8", "tf32"));
MMA_4_2_1(Tf32k4, F32("m16n8k4", "tf32"));

#define S32(SHAPE, MORE, A, B) "mma.sync.aligned." SHAPE ".row.col" MORE ".s32." A "." B ".s32"
MMA_4_4_2(S8k32, S32("m16n8k32", "", "s8", "s8"));
MMA_4_4_2(U8k32, S32("m16n8k32", "", "u8", "u8"));
MMA_4_4_2(S8u8k32, S32("m16n8k32", ".satfinite", "s8", "u8"));
MMA_4_2_1(S8k16, S32("m16n8k16", ".satfinite", "s8", "s8"));
MMA_4_2_1(U8s8k16, S32("m16n8k16", "", "u8", "s8"));
MMA_2_1_1(S8m8, S32("m8n8k16", "", "s8", "s8"));
MMA_2_1_1(U8m8, S32("m8n8k16", ".satfinite", "u8", "u8"));
MMA_4_4_2(S4k64, S32("m16n8k64", "", "s4", "s4"));
MMA_4_4_2(U4s4k64, S32("m16n8k64", ".satfinite", "u4", "s4"));
MMA_4_2_1(U4k32, S32("m16n8k32", "", "u4", "u4"));
MMA_2_1_1(S4m8, S32("m8n8k32", "", "s4", "u4"));
MMA_4_4_2(AndK256, S32("m16n8k256", "", "b1", "b1") ".and.popc");
MMA_4_4_2(XorK256, S32("m16n8k256", "", "b1", "b1") ".xor.popc");
MMA_4_2_1(XorK128, S32("m16n8k128", "", "b1", "b1") ".xor.popc");
MMA_2_1_1(AndM8, S32("m8n8k128", "", "b1", "b1") ".and.popc");

// Any bits are integers; C is large in every other warp, so that sums overflow.
template <class Mma>
void integers(const std::string& name, int bits) {
  std::vector<uint32_t> a(kWarps * Mma::a * 32), b(kWarps * Mma::b * 32), c(kWarps * Mma::c * 32);
  for (size_t i = 0; i < a.size(); ++i) a[i] = noise(uint32_t(i));
  for (size_t i = 0; i < b.size(); ++i) b[i] = noise(uint32_t(i) + 1000000u);
  for (size_t i = 0; i < c.size(); ++i) {
    const uint32_t any = noise(uint32_t(i) + 2000000u);
    const bool large = i / (Mma::c * 32) % 2;
    c[i] = large ? (any & 1 ? 0x7fffff00u + (any >> 8 & 0xff) : 0x80000000u + (any >> 8 & 0xff)) : any >> 8;
  }
  show_products<Mma>(name, a, b, c);
  show_products<Mma>(name + ", 40 times", a, b, c, 40);
  layout<Mma>(name, bits, 1);
}

__global__ void multiply_f64(const double* a, const double* b, const double* c, double* d) {
  const uint32_t lane = threadIdx.x, warp = blockIdx.x;
  double z[2] = {c[warp * 64 + lane], c[warp * 64 + 32 + lane]};
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(z[0]), "+d"(z[1])
               : "d"(a[warp * 32 + lane]), "d"(b[warp * 32 + lane]));
  d[warp * 64 + lane] = z[0];
  d[warp * 64 + 32 + lane] = z[1];
}

void doubles() {
  std::vector<double> a(kWarps * 32), b(kWarps * 32), c(kWarps * 64);
  const auto value = [](uint32_t i) {
    const uint64_t random = noise64(i);
    const uint64_t exponent = 1023 - 20 + random % 40;
    const uint64_t bits = (random & 0x800fffffffffffffull) | exponent << 52;
    double result;
    std::memcpy(&result, &bits, 8);
    return i % 97 == 0 ? 1 / 0.0 : i % 89 == 0 ? 0.0 : result;
  };
  for (size_t i = 0; i < a.size(); ++i) a[i] = value(uint32_t(i));
  for (size_t i = 0; i < b.size(); ++i) b[i] = value(uint32_t(i) + 100000u);
  for (size_t i = 0; i < c.size(); ++i) c[i] = value(uint32_t(i) + 200000u);
  Buffer<double> left(a), right(b), start(c), result(c.size());
  multiply_f64<<<kWarps, 32>>>(left, right, start, result);
  LAUNCHED();
  show("f64 m8n8k4", result.download(), 8);
}

int main() {
  layout<F16k16>("f16 m16n8k16", 16, 0x3c00);
  layout<F16k8>("f16 m16n8k8", 16, 0x3c00);
  layout<HalfK16>("f16 m16n8k16 in f16", 16, 0x3c00);
  layout<HalfK8>("f16 m16n8k8 in f16", 16, 0x3c00);
  layout<Bf16k16>("bf16 m16n8k16", 16, 0x3f80);
  layout<Bf16k8>("bf16 m16n8k8", 16, 0x3f80);
  layout<Tf32k8>("tf32 m16n8k8", 32, 0x3f800000);
  layout<Tf32k4>("tf32 m16n8k4", 32, 0x3f800000);
  numerics<F16k16>("f16 m16n8k16", kF16, kF16, kF32);
  numerics<F16k8>("f16 m16n8k8", kF16, kF16, kF32);
  numerics<HalfK16>("f16 m16n8k16 in f16", kF16, kF16, kF16);
  numerics<HalfK8>("f16 m16n8k8 in f16", kF16, kF16, kF16);
  numerics<Bf16k16>("bf16 m16n8k16", kBf16, kBf16, kF32);
  numerics<Bf16k8>("bf16 m16n8k8", kBf16, kBf16, kF32);
  numerics<Tf32k8>("tf32 m16n8k8", kF32, kF32, kF32);
  numerics<Tf32k4>("tf32 m16n8k4", kF32, kF32, kF32);
  integers<S8k32>("s8 m16n8k32", 8);
  integers<U8k32>("u8 m16n8k32", 8);
  integers<S8u8k32>("s8 by u8 m16n8k32, saturating", 8);
  integers<S8k16>("s8 m16n8k16, saturating", 8);
  integers<U8s8k16>("u8 by s8 m16n8k16", 8);
  integers<S8m8>("s8 m8n8k16", 8);
  integers<U8m8>("u8 m8n8k16, saturating", 8);
  integers<S4k64>("s4 m16n8k64", 4);
  integers<U4s4k64>("u4 by s4 m16n8k64, saturating", 4);
  integers<U4k32>("u4 m16n8k32", 4);
  integers<S4m8>("s4 by u4 m8n8k32", 4);
  integers<AndK256>("and m16n8k256", 1);
  integers<XorK256>("xor m16n8k256", 1);
  integers<XorK128>("xor m16n8k128", 1);
  integers<AndM8>("and m8n8k128", 1);
  doubles();
  return finish();
}
