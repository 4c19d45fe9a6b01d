// The 8-bit floating-point formats: every pattern to half, and halves and floats to them.
#include <cuda_fp8.h>

#include <cmath>

#include "program.h"

constexpr int kAll = 65536;

// Half to e4m3 and e5m2, saturating and not, and every float's upper half likewise.
__global__ void narrow(uint8_t* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  __half_raw h;
  h.x = uint16_t(i);
  const float f = __uint_as_float(i << 16 | (noise(i) & 0xffff));
  out[i] = __nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E4M3);
  out[kAll + i] = __nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E5M2);
  out[2 * kAll + i] = __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E4M3);
  out[3 * kAll + i] = __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E5M2);
  out[4 * kAll + i] = __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E4M3);
  out[5 * kAll + i] = __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E5M2);
  const __nv_fp8x2_storage_t both =
      __nv_cvt_float2_to_fp8x2(make_float2(f, -f * 0.5f), __NV_SATFINITE, __NV_E4M3);
  out[6 * kAll + i] = uint8_t(both);
  out[7 * kAll + i] = uint8_t(both >> 8);
}

__global__ void widen(uint16_t* out, float* floats) {
  const uint32_t i = threadIdx.x;
  out[i] = __half_as_ushort(__half(__nv_cvt_fp8_to_halfraw(uint8_t(i), __NV_E4M3)));
  out[256 + i] = __half_as_ushort(__half(__nv_cvt_fp8_to_halfraw(uint8_t(i), __NV_E5M2)));
  const __half2_raw pair = __nv_cvt_fp8x2_to_halfraw2(uint16_t(i << 8 | (255 - i)), __NV_E4M3);
  out[512 + i] = pair.x;
  out[768 + i] = pair.y;
  __nv_fp8_e4m3 a;
  a.__x = uint8_t(i);
  __nv_fp8_e5m2 b;
  b.__x = uint8_t(i);
  floats[i] = float(a);
  floats[256 + i] = float(b);
}

// A dot product of quantised numbers, as inference code does it. All values are small multiples of 1/8:
// exact.
__global__ void dot(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, float* sums) {
  float sum = 0;
  for (int k = 0; k < 64; ++k) sum += float(a[threadIdx.x * 64 + k]) * float(b[k]);
  sums[threadIdx.x] = sum;
}

int main() {
  Buffer<uint8_t> out(8 * kAll);
  narrow<<<kAll / 256, 256>>>(out);
  LAUNCHED();
  const std::vector<uint8_t> bytes = out.download();
  for (int k = 0; k < 8; ++k) {
    std::printf("to fp8, %d, ", k);
    show("", &bytes[k * kAll], kAll);
  }
  bool ok = true;
  for (uint32_t i = 0; i < kAll; ++i) {  // the header's own software for the host
    __half_raw h;
    h.x = uint16_t(i);
    const uint32_t bits = i << 16 | (noise(i) & 0xffff);
    float f;
    std::memcpy(&f, &bits, 4);
    if (std::isnan(f)) continue;
    ok &= bytes[2 * kAll + i] == __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E4M3);
    ok &= bytes[3 * kAll + i] == __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E5M2);
    if ((h.x & 0x7fff) <= 0x7c00) ok &= bytes[i] == __nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E4M3);
  }
  expect(ok, "to fp8");

  Buffer<uint16_t> halves(1024);
  Buffer<float> floats(512);
  widen<<<1, 256>>>(halves, floats);
  LAUNCHED();
  show("to half", halves.download());
  const std::vector<float> wide = floats.download();
  for (int i = 0; i < 256; ++i) {
    const int exponent = i >> 3 & 15, mantissa = i & 7;
    float want =
        exponent == 0 ? std::ldexp(float(mantissa), -9) : std::ldexp(float(8 + mantissa), exponent - 10);
    if ((i & 127) == 127) want = NAN;
    if (i & 128) want = -want;
    ok &= std::isnan(want) ? std::isnan(wide[i]) : wide[i] == want;
  }
  expect(ok, "to float");

  std::vector<__nv_fp8_e4m3> a(32 * 64), b(64);
  for (size_t i = 0; i < a.size(); ++i) a[i] = __nv_fp8_e4m3(float(int(noise(uint32_t(i)) % 15) - 7) * 0.25f);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = __nv_fp8_e4m3(float(int(noise(uint32_t(i) + 9999) % 15) - 7) * 0.5f);
  Buffer<__nv_fp8_e4m3> device_a(a), device_b(b);
  Buffer<float> sums(32);
  dot<<<1, 32>>>(device_a, device_b, sums);
  LAUNCHED();
  const std::vector<float> got = sums.download();
  ok = true;
  for (int i = 0; i < 32; ++i) {
    float sum = 0;
    for (int k = 0; k < 64; ++k) sum += float(a[i * 64 + k]) * float(b[k]);
    ok &= got[i] == sum;
  }
  show("dot products", got, 8);
  expect(ok, "dot products");
  return finish();
}
