// Built with --use_fast_math: subnormal numbers become zero, exactly; divisions, roots and functions are
// approximate, within their documented error.
#include <cmath>

#include "program.h"

constexpr int kCases = 2048, kResults = 10;

__device__ float operand(uint32_t i) {  // half of them around the smallest normal number
  const uint32_t r = noise(i);
  return __uint_as_float(i % 2 ? (r & 0x80ffffffu) : (r & 0x80000000u) | (0x3a000000u + (r & 0x0bffffffu)));
}

__global__ void exact(uint32_t* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const float a = operand(i), b = operand(i + 5000), c = operand(i + 10000);
  const float results[kResults] = {
      __fadd_rn(a, b), __fmul_rn(a, b), __fmaf_rn(a, b, c),     fminf(a, b),   fmaxf(a, b),
      fabsf(a),        floorf(a),       float(double(a) * 0.5), a < b ? a : c, __saturatef(a)};
  for (int k = 0; k < kResults; ++k) out[k * kCases + i] = __float_as_uint(results[k] + 0.0f);
  if (a == 0.0f && b != 0.0f) out[i] ^= 0x5a5a5a5au;  // a comparison flushes too
}

__global__ void approximate(float* out) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  const float x = float(i + 1) * 0.01f;
  float* o = out + i * 8;
  o[0] = 1.7f / x;
  o[1] = sqrtf(x);
  o[2] = rsqrtf(x);
  o[3] = expf(-x);
  o[4] = logf(x);
  o[5] = sinf(x * 0.1f);
  o[6] = cosf(x * 0.1f);
  o[7] = powf(x, 1.5f);
}

int main() {
  Buffer<uint32_t> out(kResults * kCases);
  exact<<<kCases / 128, 128>>>(out);
  LAUNCHED();
  const std::vector<uint32_t> bits = out.download();
  bool ok = true;
  for (int k = 0; k < kResults; ++k) {
    std::printf("%d, ", k);
    show("", &bits[k * kCases], kCases, 8);
    for (int i = 0; k > 0 && i < kCases; ++i) {
      const uint32_t magnitude = bits[k * kCases + i] & 0x7fffffffu;
      ok &= magnitude == 0 || magnitude >= 0x00800000u;
    }
  }
  expect(ok, "no subnormal numbers");

  Buffer<float> values(1024 * 8);
  approximate<<<8, 128>>>(values);
  LAUNCHED();
  const std::vector<float> got = values.download();
  const char* names[8] = {"division", "square root", "reciprocal root", "exp", "log", "sin", "cos", "pow"};
  for (int k = 0; k < 8; ++k) {
    double worst = 0;
    for (int i = 0; i < 1024; ++i) {
      const double x = float(i + 1) * 0.01f, tenth = float(x) * 0.1f;
      const double want[8] = {1.7f / x,    std::sqrt(x),    1 / std::sqrt(x), std::exp(-x),
                              std::log(x), std::sin(tenth), std::cos(tenth),  std::pow(x, 1.5)};
      const double error = std::fabs(got[i * 8 + k] - want[k]);
      worst = std::max(worst,
                       k >= 4 && k <= 6 ? error : error / std::fabs(want[k]));  // absolute for log, sin, cos
    }
    expect(worst < 4e-6, names[k]);
  }
  return finish();
}
