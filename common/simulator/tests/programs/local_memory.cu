// Thread-private arrays indexed at run time, vector types, bit fields, unions, unaligned structures, memcpy
// and memset.
#include "program.h"

struct Fields {
  uint32_t a : 3, b : 11, c : 18;
  int32_t d : 5, e : 27;
  uint64_t f : 40, g : 24;
};
union Bits {
  float f;
  uint32_t u;
  uint8_t bytes[4];
  struct {
    uint16_t low, high;
  } halves;
};
#pragma pack(push, 1)
struct Packed {
  uint8_t tag;
  uint32_t value;
  uint16_t half;
  double number;
  uint8_t tail[3];
};
#pragma pack(pop)
struct Padded {
  uint8_t tag;
  uint64_t value;
  uint16_t half;
};

// Sorting and permuting in an array that cannot live in registers.
__host__ __device__ uint32_t sort_of(uint32_t seed) {
  uint32_t a[24];
  for (uint32_t i = 0; i < 24; ++i) a[i] = noise(seed * 24 + i) % 1000;
  for (int i = 1; i < 24; ++i) {
    const uint32_t x = a[i];
    int j = i - 1;
    while (j >= 0 && a[j] > x) {
      a[j + 1] = a[j];
      --j;
    }
    a[j + 1] = x;
  }
  uint32_t r = 0;
  for (uint32_t i = 0; i < 24; ++i) r = r * 33 + a[i];
  return r + a[noise(seed) % 24];
}

template <typename T>
__host__ __device__ T shuffled(uint32_t seed) {  // elements of every size
  T a[16];
  for (uint32_t i = 0; i < 16; ++i) a[i] = T(noise(seed + i));
  for (uint32_t i = 15; i > 0; --i) {
    const uint32_t j = noise(seed ^ i) % (i + 1);
    const T t = a[i];
    a[i] = a[j];
    a[j] = t;
  }
  T r = 0;
  for (uint32_t i = 0; i < 16; ++i) r = T(r * T(3) + a[(i * 5 + seed) % 16]);
  return r;
}

__host__ __device__ uint64_t fields_of(uint32_t i) {
  Fields x{};
  x.a = i;
  x.b = i * 37;
  x.c = i * 1001;
  x.d = int32_t(i);
  x.e = -int32_t(i * 99);
  x.f = noise64(i);
  x.g = noise(i);
  x.b += x.a;
  x.d -= 3;
  x.f ^= x.g;
  return x.a + x.b * 8ull + x.c * 20000ull + uint64_t(int64_t(x.d)) * 77 + uint64_t(int64_t(x.e)) + x.f * 3 +
         x.g;
}

__host__ __device__ uint32_t union_of(uint32_t i) {
  Bits b;
  b.f = float(i) + 0.5f;
  uint32_t r = b.u + b.bytes[i % 4];
  b.halves.low = uint16_t(i);
  b.bytes[3] ^= 0x40;
  return r * 31 + b.u;
}

__host__ __device__ uint32_t packed_of(uint32_t i) {
  Packed p[3];
  memset(p, int(i & 255), sizeof p);
  for (uint32_t k = 0; k < 3; ++k) {
    p[k].value = noise(i + k);
    p[k].half = uint16_t(noise(i + k) >> 8);
    p[k].number = double(i + k) * 0.125;
  }
  Packed q = p[i % 3];
  q.tail[1] = uint8_t(i);
  memcpy(&p[(i + 1) % 3], &q, sizeof q);
  uint8_t raw[sizeof p];
  memcpy(raw, p, sizeof p);
  uint32_t r = 0;
  for (uint8_t byte : raw) r = r * 31 + byte;
  uint32_t odd;
  memcpy(&odd, raw + i % 40, 4);  // at any address
  return r ^ odd ^ uint32_t(int(p[2].number * 8));
}

constexpr int kCases = 1000;

__global__ void everything(uint32_t* words, uint64_t* longs) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kCases) return;
  uint32_t* w = words + i * 8;
  w[0] = sort_of(i);
  w[1] = uint32_t(shuffled<uint8_t>(i));
  w[2] = uint32_t(shuffled<int16_t>(i));
  w[3] = shuffled<uint32_t>(i);
  w[4] = uint32_t(shuffled<float>(i) < 1e20f);
  w[5] = union_of(i);
  w[6] = packed_of(i);
  w[7] = uint32_t(sizeof(Fields) + sizeof(Packed) * 256 + sizeof(Padded) * 65536);
  longs[i * 2] = shuffled<uint64_t>(i);
  longs[i * 2 + 1] = fields_of(i);
}

// Vector types in memory: each load and store is one access of its whole size.
__global__ void vectors(const float4* f4, const double2* d2, const char4* c4, const uchar3* u3,
                        const ushort2* s2, const longlong2* l2, const int3* i3, float4* out4, double2* out2,
                        char4* out_c, uchar3* out_u, ushort2* out_s, longlong2* out_l, int3* out_i) {
  const int i = int(threadIdx.x), j = 127 - i;
  const float4 f = f4[i];
  out4[j] = make_float4(f.w, f.z, f.y, f.x);
  const double2 d = d2[i];
  out2[j] = make_double2(d.y - d.x, d.x);
  const char4 c = c4[i];
  out_c[j] = make_char4(c.y, char(c.x + c.z), char(-c.w), c.x);
  const uchar3 u = u3[i];
  out_u[j] = make_uchar3(u.z, u.x, uint8_t(u.y + 1));
  const ushort2 s = s2[i];
  out_s[j] = make_ushort2(uint16_t(s.x * s.y), uint16_t(s.x - s.y));
  const longlong2 l = l2[i];
  out_l[j] = make_longlong2(l.y, l.x + l.y);
  const int3 t = i3[i];
  out_i[j] = make_int3(t.z, t.x * t.y, -t.x);
}

template <typename T>
std::vector<T> random_bytes(size_t n, uint32_t seed) {
  std::vector<T> v(n);
  uint8_t* bytes = reinterpret_cast<uint8_t*>(v.data());
  for (size_t i = 0; i < n * sizeof(T); ++i) bytes[i] = uint8_t(noise(uint32_t(i) + seed) % 120);
  return v;
}

// Copies between unaligned places of global memory, byte by byte and by memcpy.
__global__ void copies(const uint8_t* in, uint8_t* out) {
  const uint32_t t = threadIdx.x;
  memcpy(out + t * 37, in + t * 29 + 3, 37);
  Padded p;
  memset(&p, 0, sizeof p);
  p.tag = in[t];
  p.value = noise64(t);
  p.half = uint16_t(t * 3);
  if (t % 4 == 0)
    memcpy(out + 37 * 64 + t * sizeof p, &p, sizeof p);
  else
    memset(out + 37 * 64 + t * sizeof p, int(t), sizeof p);
}

int main() {
  Buffer<uint32_t> words(kCases * 8);
  Buffer<uint64_t> longs(kCases * 2);
  everything<<<(kCases + 95) / 96, 96>>>(words, longs);
  LAUNCHED();
  const std::vector<uint32_t> w = words.download();
  const std::vector<uint64_t> l = longs.download();
  bool ok = true;
  for (uint32_t i = 0; i < kCases; ++i) {
    ok &= w[i * 8] == sort_of(i) && w[i * 8 + 1] == shuffled<uint8_t>(i);
    ok &= w[i * 8 + 2] == uint32_t(shuffled<int16_t>(i)) && w[i * 8 + 3] == shuffled<uint32_t>(i);
    ok &= w[i * 8 + 5] == union_of(i) && w[i * 8 + 6] == packed_of(i);
    ok &= l[i * 2] == shuffled<uint64_t>(i) && l[i * 2 + 1] == fields_of(i);
  }
  show("local arrays", w, 16);
  show("local arrays, 64 bits", l, 8);
  expect(ok, "local arrays");

  const Buffer<float4> f4(random_bytes<float4>(128, 1));
  const Buffer<double2> d2(random_bytes<double2>(128, 20000));
  const Buffer<char4> c4(random_bytes<char4>(128, 3));
  const Buffer<uchar3> u3(random_bytes<uchar3>(128, 4));
  const Buffer<ushort2> s2(random_bytes<ushort2>(128, 5));
  const Buffer<longlong2> l2(random_bytes<longlong2>(128, 6));
  const Buffer<int3> i3(random_bytes<int3>(128, 7));
  Buffer<float4> o4(128);
  Buffer<double2> o2(128);
  Buffer<char4> oc(128);
  Buffer<uchar3> ou(128);
  Buffer<ushort2> os(128);
  Buffer<longlong2> ol(128);
  Buffer<int3> oi(128);
  vectors<<<1, 128>>>(f4, d2, c4, u3, s2, l2, i3, o4, o2, oc, ou, os, ol, oi);
  LAUNCHED();
  show("float4", o4.download());
  show("double2", o2.download());
  show("char4", oc.download());
  show("uchar3", ou.download());
  show("ushort2", os.download());
  show("longlong2", ol.download());
  show("int3", oi.download());

  const std::vector<uint8_t> source = random_bytes<uint8_t>(64 * 29 + 64, 9);
  const Buffer<uint8_t> in(source);
  Buffer<uint8_t> copied(64 * 37 + 64 * sizeof(Padded));
  copies<<<1, 64>>>(in, copied);
  LAUNCHED();
  const std::vector<uint8_t> got = copied.download();
  ok = true;
  for (int t = 0; t < 64; ++t) ok &= std::memcmp(&got[t * 37], &source[t * 29 + 3], 37) == 0;
  for (int t = 0; t < 64; ++t)
    if (t % 4) ok &= got[64 * 37 + t * sizeof(Padded) + 23] == t;
  show("copies", got, 8);
  expect(ok, "copies");
  return finish();
}
