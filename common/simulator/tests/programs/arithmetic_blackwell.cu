// Blackwell's conversions, pairs of floats and accesses of 32 bytes, against the toolkit's own software for
// the host where it has some.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // cuda_fp4.hpp
#include <cuda_fp4.h>
#pragma GCC diagnostic pop
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <cmath>

#include "program.h"

constexpr uint32_t count = 65536;

__host__ __device__ float number(uint32_t i) {  // of all sizes; the first: every upper half
  const uint32_t bits = i << 16 | (noise(i) & 0xffff);
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
#endif
}
__host__ __device__ float small(uint32_t i) {  // what the small formats can distinguish
  return (static_cast<float>(noise(i) % 8192) - 4096.0f) / 512.0f;
}

constexpr int forms = 8;
// The same on both sides.
__host__ __device__ void convert(uint32_t i, float x, uint32_t* out) {
  const float2 pair = make_float2(x, -0.75f * x);
  out[0] = __nv_cvt_float2_to_fp4x2(pair, __NV_E2M1, cudaRoundNearest);
  out[1] = __nv_cvt_float2_to_fp6x2(pair, __NV_E2M3, cudaRoundNearest);
  out[2] = __nv_cvt_float2_to_fp6x2(pair, __NV_E3M2, cudaRoundNearest);
  out[3] = __nv_cvt_float2_to_e8m0x2(pair, __NV_SATFINITE, cudaRoundZero);
  out[4] = __nv_cvt_float2_to_e8m0x2(pair, __NV_SATFINITE, cudaRoundPosInf);
  const __half2_raw four = __nv_cvt_fp4x2_to_halfraw2(static_cast<uint8_t>(i), __NV_E2M1);
  out[5] = four.x | static_cast<uint32_t>(four.y) << 16;
  const __half2_raw six = __nv_cvt_fp6x2_to_halfraw2(static_cast<uint16_t>(i & 0x3f3f), __NV_E3M2);
  out[6] = six.x | static_cast<uint32_t>(six.y) << 16;
  const __nv_bfloat162_raw scale = __nv_cvt_e8m0x2_to_bf162raw(static_cast<uint16_t>(i));
  out[7] = scale.x | static_cast<uint32_t>(scale.y) << 16;
}

__global__ void convert_all(uint32_t* out, bool of_all_sizes) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  convert(i, of_all_sizes ? number(i) : small(i), out + static_cast<size_t>(i) * forms);
}

__global__ void pairs(uint32_t* wrong) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const float2 a = make_float2(number(i), small(i)), b = make_float2(number(noise(i) & 0xffff), small(i + 1)),
               c = make_float2(number(noise(i + 7) & 0xffff), small(i + 2));
  const auto check = [&](float2 got, float x, float y) {
    if (__float_as_uint(got.x) != __float_as_uint(x) || __float_as_uint(got.y) != __float_as_uint(y))
      atomicAdd(wrong, 1);
  };
  check(__ffma2_rn(a, b, c), __fmaf_rn(a.x, b.x, c.x), __fmaf_rn(a.y, b.y, c.y));
  check(__ffma2_rz(a, b, c), __fmaf_rz(a.x, b.x, c.x), __fmaf_rz(a.y, b.y, c.y));
  check(__ffma2_ru(a, b, c), __fmaf_ru(a.x, b.x, c.x), __fmaf_ru(a.y, b.y, c.y));
  check(__fadd2_rn(a, b), __fadd_rn(a.x, b.x), __fadd_rn(a.y, b.y));
  check(__fadd2_rd(a, b), __fadd_rd(a.x, b.x), __fadd_rd(a.y, b.y));
  check(__fmul2_rn(a, b), __fmul_rn(a.x, b.x), __fmul_rn(a.y, b.y));
  check(__fmul2_rz(a, b), __fmul_rz(a.x, b.x), __fmul_rz(a.y, b.y));
  float most, least, expected_most = a.x, expected_least = a.x;
  asm("max.f32 %0, %1, %2, %3;" : "=f"(most) : "f"(a.x), "f"(b.x), "f"(c.x));
  asm("min.NaN.f32 %0, %1, %2, %3;" : "=f"(least) : "f"(a.x), "f"(b.x), "f"(c.x));
  asm("max.f32 %0, %0, %1;" : "+f"(expected_most) : "f"(b.x));
  asm("max.f32 %0, %0, %1;" : "+f"(expected_most) : "f"(c.x));
  asm("min.NaN.f32 %0, %0, %1;" : "+f"(expected_least) : "f"(b.x));
  asm("min.NaN.f32 %0, %0, %1;" : "+f"(expected_least) : "f"(c.x));
  check(make_float2(most, least), expected_most, expected_least);
}

__global__ void reduce(uint32_t* wrong) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = number(i);
  float most, largest, least;
  asm("redux.sync.max.f32 %0, %1, 0xffffffff;" : "=f"(most) : "f"(x));
  asm("redux.sync.max.abs.NaN.f32 %0, %1, 0xffffffff;" : "=f"(largest) : "f"(x));
  asm("redux.sync.min.f32 %0, %1, 0xffffffff;" : "=f"(least) : "f"(x));
  float m = x, n = x, a = fabsf(x);
  for (int step = 16; step > 0; step /= 2) {
    m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, step));
    n = fminf(n, __shfl_xor_sync(0xffffffff, n, step));
    asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(__shfl_xor_sync(0xffffffff, a, step)));
  }
  if (__float_as_uint(most) != __float_as_uint(m) || __float_as_uint(least) != __float_as_uint(n) ||
      __float_as_uint(largest) != __float_as_uint(a))
    atomicAdd(wrong, 1);
}

// 32 bytes a thread.
__global__ void copy_wide(const uint32_t* from, uint32_t* to) {
  const size_t i = (blockIdx.x * blockDim.x + threadIdx.x) * size_t{8};
  uint32_t v[8];
  asm volatile("ld.global.nc.L1::no_allocate.L2::evict_first.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]),
                 "=r"(v[7])
               : "l"(from + i));
  asm volatile("st.global.L2::evict_first.v8.b32 [%8], {%0, %1, %2, %3, %4, %5, %6, %7};" ::"r"(v[0]),
               "r"(v[1]), "r"(v[2]), "r"(v[3]), "r"(v[4]), "r"(v[5]), "r"(v[6]), "r"(v[7]), "l"(to + i)
               : "memory");
}

int main() {
  const char* names[forms] = {"e2m1x2",
                              "e2m3x2",
                              "e3m2x2",
                              "ue8m0x2 towards zero",
                              "ue8m0x2 upwards",
                              "halves from e2m1x2",
                              "halves from e3m2x2",
                              "bf16x2 from ue8m0x2"};
  for (const bool all_sizes : {false, true}) {
    Buffer<uint32_t> out(size_t{count} * forms);
    convert_all<<<count / 256, 256>>>(out, all_sizes);
    LAUNCHED();
    const std::vector<uint32_t> got = out.download();
    for (int form = 0; form < forms; ++form) {
      uint32_t wrong = 0;
      for (uint32_t i = 0; i < count; ++i) {
        const float x = all_sizes ? number(i) : small(i);
        uint32_t want[forms];
        convert(i, x, want);
        if (got[size_t{i} * forms + form] != want[form] && wrong++ == 0) {
          std::printf("%s of %a (%u): %x, not %x\n", names[form], static_cast<double>(x), i,
                      got[size_t{i} * forms + form], want[form]);
        }
      }
      expect(wrong == 0, names[form]);
    }
  }

  Buffer<uint32_t> wrong(1);
  pairs<<<count / 256, 256>>>(wrong);
  LAUNCHED();
  expect(wrong.download()[0] == 0, "pairs of floats, extremes of three");
  reduce<<<count / 256, 256>>>(wrong);
  LAUNCHED();
  expect(wrong.download()[0] == 0, "extremes of a warp");

  std::vector<uint32_t> values(8192);
  for (uint32_t i = 0; i < values.size(); ++i) values[i] = noise(i);
  Buffer<uint32_t> from(values), to(values.size());
  copy_wide<<<8, 128>>>(from, to);
  LAUNCHED();
  expect(to.download() == values, "32 bytes a thread");
  return finish();
}
