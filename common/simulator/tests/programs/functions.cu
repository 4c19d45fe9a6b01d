// Calls: structures by value and as results, function pointers, virtual functions, lambdas, templates.
#include <cstddef>
#include <tuple>

#include "program.h"

struct Matrix {
  int m[3][3];
};
struct Mixed {
  char c;
  double d;
  short s[3];
  float f;
};
struct Small {
  uint8_t a, b, c;
};
struct alignas(16) Wide {
  uint32_t w[8];
};

__noinline__ __device__ Matrix multiply(Matrix a, Matrix b) {
  Matrix r{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) r.m[i][j] += a.m[i][k] * b.m[k][j];
  return r;
}
__noinline__ __device__ Mixed twist(Mixed x, char c, double d) {
  Mixed r = x;
  r.c = char(x.c + c);
  r.d = x.d * d;
  for (short& s : r.s) s = short(s * 3 - r.c);
  r.f = float(r.s[1]) + 0.5f;
  return r;
}
__noinline__ __device__ Small rotate(Small x, uint8_t by) {
  return {uint8_t(x.b + by), uint8_t(x.c ^ by), x.a};
}
__noinline__ __device__ Wide widen(Wide a, Small s) {
  for (int i = 0; i < 8; ++i) a.w[i] = a.w[i] * 5 + (i % 3 == 0 ? s.a : i % 3 == 1 ? s.b : s.c);
  return a;
}
__noinline__ __device__ bool all_set(bool a, bool b, uint16_t c, int8_t d) {
  return a && b && c > 3 && d < 0;
}
__noinline__ __device__ void by_pointer(int* value, const Matrix& m, int (*other)[4]) {
  *value += m.m[1][2];
  for (int i = 0; i < 4; ++i) (*other)[i] -= *value + i;
}

__global__ void structures(uint32_t* out) {
  const int t = int(threadIdx.x);
  Matrix a, b;
  for (int i = 0; i < 9; ++i) a.m[i / 3][i % 3] = i + t, b.m[i / 3][i % 3] = i * t - 4;
  Matrix power = multiply(a, b);
  for (int i = 0; i < t % 4; ++i) power = multiply(power, a);
  uint32_t hash = 0;
  for (int i = 0; i < 9; ++i) hash = hash * 31 + uint32_t(power.m[i / 3][i % 3]);
  out[t] = hash;

  const Mixed m = twist(Mixed{char(t), t * 0.25, {short(t), short(t + 1), short(-t)}, 1}, 7, 3.0);
  out[64 + t] = uint32_t(m.c) * 65537 + uint32_t(int(m.d * 4)) * 31 + uint16_t(m.s[0] ^ m.s[2]) +
                uint32_t(int(m.f * 2));

  const Small s = rotate(rotate({uint8_t(t), uint8_t(t * 3), 200}, 9), uint8_t(t));
  Wide w;
  for (int i = 0; i < 8; ++i) w.w[i] = uint32_t(t << i);
  w = widen(w, s);
  out[128 + t] = w.w[0] ^ w.w[1] * 3 ^ w.w[2] * 5 ^ w.w[7] * 7 ^ uint32_t(s.a << 16 | s.b << 8 | s.c);

  int value = t, others[4] = {1, 2, 3, 4};
  by_pointer(&value, a, &others);
  by_pointer(&others[t % 4], b, &others);
  out[192 + t] = uint32_t(value + others[0] * 3 + others[1] * 5 + others[2] * 7 + others[3] * 11) +
                 all_set(t & 1, t & 2, uint16_t(t), int8_t(t - 30));
}

using Operation = uint32_t (*)(uint32_t, uint32_t);
__device__ uint32_t op_add(uint32_t a, uint32_t b) {
  return a + b;
}
__device__ uint32_t op_sub(uint32_t a, uint32_t b) {
  return a - b;
}
__device__ uint32_t op_mul(uint32_t a, uint32_t b) {
  return a * b;
}
__device__ uint32_t op_loop(uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < b % 9; ++i) a = a * 3 + i;
  return a;
}
__device__ Operation operations[4] = {op_add, op_sub, op_mul, op_loop};
__constant__ Operation constant_operations[2] = {op_mul, op_add};

__global__ void pointers(uint32_t* out, Operation given) {
  const uint32_t t = threadIdx.x;
  const Operation mine = operations[noise(t) % 4];  // differs between the lanes of a warp
  uint32_t r = mine(t + 10, t * 3 + 1);
  r = constant_operations[t % 2](r, 17);
  if (given != nullptr) r = given(r, t);
  out[t] = r;
}
__global__ void fetch(Operation* out) {
  *out = operations[2];
}

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual uint32_t area() const = 0;
  __device__ virtual uint32_t twice() const { return 2 * area(); }
};
struct Square : Shape {
  uint32_t side;
  __device__ explicit Square(uint32_t s) : side(s) {}
  __device__ uint32_t area() const override { return side * side; }
};
struct Rectangle : Shape {
  uint32_t a, b;
  __device__ Rectangle(uint32_t x, uint32_t y) : a(x), b(y) {}
  __device__ uint32_t area() const override { return a * b; }
  __device__ uint32_t twice() const override { return area() + area() + 1; }
};
struct Named {
  uint32_t name = 7;
  __device__ virtual uint32_t label() const { return name; }
};
struct Both : Square, Named {
  __device__ explicit Both(uint32_t s) : Square(s) { name = s + 1; }
  __device__ uint32_t label() const override { return name * 100 + side; }
  __device__ ~Both() override { name = 0; }
};

__global__ void virtuals(uint32_t* out) {
  const uint32_t t = threadIdx.x;
  Square square(t);
  Rectangle rectangle(t, t + 1);
  Both both(t + 2);
  Shape* shapes[3] = {&square, &rectangle, &both};
  const Shape* shape = shapes[noise(t) % 3];
  const Named* named = &both;
  out[t] = shape->area() * 3 + shape->twice() + named->label() * 5;
}

template <typename F>
__global__ void apply(uint32_t* out, F f) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = f(blockIdx.x * blockDim.x + threadIdx.x);
}

template <int N>
struct Power {
  static __host__ __device__ constexpr uint32_t of(uint32_t x) { return x * Power<N - 1>::of(x); }
};
template <>
struct Power<0> {
  static __host__ __device__ constexpr uint32_t of(uint32_t) { return 1; }
};
template <typename... T>
__host__ __device__ uint32_t sum_of(T... values) {
  return (uint32_t(0) + ... + uint32_t(values));
}
template <typename T>
concept Number = requires(T a) {
  a + a;
};
template <Number T>
__host__ __device__ T doubled(T x) {
  return x + x;
}

enum class Colour : uint8_t { kRed = 3, kGreen = 5, kBlue = 250 };

template <int kPower, typename T>
__global__ void generic(T* out, T start, Colour colour) {
  const auto [a, b] =
      Mixed{char(threadIdx.x), 2.0, {}, 0}.c > 5 ? std::pair<int, int>{1, 2} : std::pair<int, int>{3, 4};
  auto local = [=](auto x) mutable { return T(x) * T(b) + T(a); };
  if constexpr (sizeof(T) == 8)
    out[threadIdx.x] = T(local(Power<kPower>::of(threadIdx.x))) + start;
  else
    out[threadIdx.x] = T(sum_of(threadIdx.x, 2, 3u, uint8_t(colour))) + doubled(start);
}

int main() {
  Buffer<uint32_t> out(256);
  structures<<<1, 64>>>(out);
  LAUNCHED();
  show("structures", out.download(), 16);

  Buffer<Operation> multiply_pointer(1);
  fetch<<<1, 1>>>(multiply_pointer);
  LAUNCHED();
  Buffer<uint32_t> pointed(64);
  pointers<<<1, 64>>>(pointed, multiply_pointer.download()[0]);
  LAUNCHED();
  std::vector<uint32_t> got = pointed.download();
  bool ok = true;
  for (uint32_t t = 0; t < 64; ++t) {
    uint32_t a = t + 10, b = t * 3 + 1;
    switch (noise(t) % 4) {
      case 0:
        a += b;
        break;
      case 1:
        a -= b;
        break;
      case 2:
        a *= b;
        break;
      default:
        for (uint32_t i = 0; i < b % 9; ++i) a = a * 3 + i;
    }
    ok &= got[t] == (t % 2 ? a + 17 : a * 17) * t;
  }
  show("function pointers", got);
  expect(ok, "function pointers");

  Buffer<uint32_t> areas(64);
  virtuals<<<1, 64>>>(areas);
  LAUNCHED();
  got = areas.download();
  ok = true;
  for (uint32_t t = 0; t < 64; ++t) {
    const uint32_t kind = noise(t) % 3;
    const uint32_t area = kind == 0 ? t * t : kind == 1 ? t * (t + 1) : (t + 2) * (t + 2);
    ok &= got[t] == area * 3 + 2 * area + (kind == 1) + ((t + 3) * 100 + t + 2) * 5;
  }
  show("virtual functions", got);
  expect(ok, "virtual functions");

  const uint32_t scale = 12, shift = 5;
  Buffer<uint32_t> applied(128);
  apply<<<2, 64>>>(applied.data, [=] __device__(uint32_t i) { return i * scale + shift; });
  LAUNCHED();
  show("lambda", applied.download());
  const std::tuple<int, char, uint64_t> table{3, 'x', 1ull << 40};
  apply<<<2, 64>>>(applied.data, [table] __host__ __device__(uint32_t i) {
    return i * uint32_t(std::get<0>(table)) + uint32_t(std::get<2>(table) >> 36) +
           uint32_t(std::get<1>(table));
  });
  LAUNCHED();
  show("lambda with a tuple", applied.download());

  Buffer<double> doubles(16);
  generic<3><<<1, 16>>>(doubles.data, 0.5, Colour::kRed);
  LAUNCHED();
  show("templates, double", doubles.download(), 16);
  Buffer<int> ints(16);
  generic<1><<<1, 16>>>(ints.data, -9, Colour::kBlue);
  LAUNCHED();
  show("templates, int", ints.download(), 16);
  return finish();
}
