// What warps do with matrices since sm_89 and sm_90: 8-bit floating-point factors, larger shapes of f64,
// stores of matrices.
#include "tensor_cores.h"

#define F32(SHAPE, A, B) "mma.sync.aligned." SHAPE ".row.col.f32." A "." B ".f32"
#define HALF(SHAPE, A, B) "mma.sync.aligned." SHAPE ".row.col.f16." A "." B ".f16"
MMA_4_4_2(E4m3k32, F32("m16n8k32", "e4m3", "e4m3"));
MMA_4_4_2(E5m2k32, F32("m16n8k32", "e5m2", "e5m2"));
MMA_4_4_2(MixedK32, F32("m16n8k32", "e4m3", "e5m2"));
MMA_4_2_1(E4m3k16, F32("m16n8k16", "e4m3", "e4m3"));
MMA_4_2_1(MixedK16, F32("m16n8k16", "e5m2", "e4m3"));
MMA_2_4_2(E4m3k32Half, HALF("m16n8k32", "e4m3", "e4m3"));
MMA_2_4_2(MixedK32Half, HALF("m16n8k32", "e5m2", "e4m3"));
MMA_2_2_1(E5m2k16Half, HALF("m16n8k16", "e5m2", "e5m2"));

// k steps of 4: A has k / 2 registers a lane, B k / 4, C and D 4.
#define MULTIPLY_F64(K, A_LIST, B_LIST, ...)                                                        \
  __global__ void multiply_f64_##K(const double* a, const double* b, const double* c, double* d) {  \
    const uint32_t lane = threadIdx.x, warp = blockIdx.x;                                           \
    double x[K / 2], y[K / 4], z[4];                                                                \
    for (int r = 0; r < K / 2; ++r) x[r] = a[(warp * (K / 2) + r) * 32 + lane];                     \
    for (int r = 0; r < K / 4; ++r) y[r] = b[(warp * (K / 4) + r) * 32 + lane];                     \
    for (int r = 0; r < 4; ++r) z[r] = c[(warp * 4 + r) * 32 + lane];                               \
    asm volatile("mma.sync.aligned.m16n8k" #K ".row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {" A_LIST \
                 "}, {" B_LIST "}, {%0, %1, %2, %3};"                                               \
                 : "+d"(z[0]), "+d"(z[1]), "+d"(z[2]), "+d"(z[3])                                   \
                 : __VA_ARGS__);                                                                    \
    for (int r = 0; r < 4; ++r) d[(warp * 4 + r) * 32 + lane] = z[r];                               \
  }
MULTIPLY_F64(4, "%4, %5", "%6", "d"(x[0]), "d"(x[1]), "d"(y[0]))
MULTIPLY_F64(8, "%4, %5, %6, %7", "%8, %9", "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]), "d"(y[0]), "d"(y[1]))
MULTIPLY_F64(16, "%4, %5, %6, %7, %8, %9, %10, %11", "%12, %13, %14, %15", "d"(x[0]), "d"(x[1]), "d"(x[2]),
             "d"(x[3]), "d"(x[4]), "d"(x[5]), "d"(x[6]), "d"(x[7]), "d"(y[0]), "d"(y[1]), "d"(y[2]),
             "d"(y[3]))

void doubles(const char* name, int k, void (*kernel)(const double*, const double*, const double*, double*)) {
  const auto values = [](size_t count, uint32_t seed) {
    std::vector<double> result(count);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t random = noise64(seed + uint32_t(i));
      const uint64_t bits = (random & 0x800fffffffffffffull) | (1023 - 6 + random % 12) << 52;
      std::memcpy(&result[i], &bits, 8);
    }
    return result;
  };
  Buffer<double> a(values(size_t(kWarps) * k / 2 * 32, 1)), b(values(size_t(kWarps) * k / 4 * 32, 1000000)),
      c(values(size_t(kWarps) * 4 * 32, 2000000)), d(c.size);
  kernel<<<kWarps, 32>>>(a, b, c, d);
  LAUNCHED();
  show(name, d.download(), 8);
}

// Every lane stores its registers, 100 · register + lane in both halves, as matrices; what is then in shared
// memory comes back.
template <int way>
__global__ void store(uint32_t* out) {
  __shared__ alignas(16) uint32_t rows[32][4];
  const uint32_t lane = threadIdx.x;
  for (int i = 0; i < 4; ++i) rows[lane][i] = 0;
  __syncthreads();
  const uint32_t at = uint32_t(__cvta_generic_to_shared(rows[lane ^ 5]));
  const uint32_t none = 0xfffffff3;
  uint32_t r[4];
  for (uint32_t i = 0; i < 4; ++i) r[i] = (100 * i + lane) * 0x20002u + 0x10000u;
  if constexpr (way == 0) {
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(lane < 8 ? at : none),
                 "r"(r[0]));
  } else if constexpr (way == 1) {
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(lane < 16 ? at : none),
        "r"(r[0]), "r"(r[1]));
  } else if constexpr (way == 2) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(r[0]),
                 "r"(r[1]), "r"(r[2]), "r"(r[3]));
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.b16 [%0], {%1, %2, %3, %4};" ::"l"(rows[lane ^ 5]),
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]));
  }
  __syncthreads();
  for (int i = 0; i < 4; ++i) out[lane * 4 + i] = rows[lane][i];
}

template <int way>
void stores(const char* name) {
  Buffer<uint32_t> out(128);
  store<way><<<1, 32>>>(out);
  LAUNCHED();
  show(name, out.download(), 128);
}

int main() {
  stores<0>("stmatrix x1");
  stores<1>("stmatrix x2.trans");
  stores<2>("stmatrix x4");
  stores<3>("stmatrix x4.trans, generic");
  layout<E4m3k32>("e4m3 m16n8k32", 8, 0x38);
  layout<E4m3k16>("e4m3 m16n8k16", 8, 0x38);
  layout<E4m3k32Half>("e4m3 m16n8k32 in f16", 8, 0x38);
  layout<E5m2k16Half>("e5m2 m16n8k16 in f16", 8, 0x3c);
  numerics<E4m3k32>("e4m3 m16n8k32", kE4m3, kE4m3, kF32);
  numerics<E5m2k32>("e5m2 m16n8k32", kE5m2, kE5m2, kF32);
  numerics<MixedK32>("e4m3 by e5m2 m16n8k32", kE4m3, kE5m2, kF32);
  numerics<E4m3k16>("e4m3 m16n8k16", kE4m3, kE4m3, kF32);
  numerics<MixedK16>("e5m2 by e4m3 m16n8k16", kE5m2, kE4m3, kF32);
  numerics<E4m3k32Half>("e4m3 m16n8k32 in f16", kE4m3, kE4m3, kF16);
  numerics<MixedK32Half>("e5m2 by e4m3 m16n8k32 in f16", kE5m2, kE4m3, kF16);
  numerics<E5m2k16Half>("e5m2 m16n8k16 in f16", kE5m2, kE5m2, kF16);
  doubles("f64 m16n8k4", 4, multiply_f64_4);
  doubles("f64 m16n8k8", 8, multiply_f64_8);
  doubles("f64 m16n8k16", 16, multiply_f64_16);
  return finish();
}
