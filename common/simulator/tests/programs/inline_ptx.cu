// PTX by hand: scopes with registers and labels of their own, branches, predicates, state spaces, special
// registers, clocks and sleeping.
#include "program.h"

__device__ uint32_t count_bits(uint32_t x) {  // inlined many times: the label must be local
  uint32_t result;
  asm("{\n"
      "  .reg .pred more;\n"
      "  .reg .u32 rest, bit;\n"
      "  mov.u32 rest, %1;\n"
      "  mov.u32 %0, 0;\n"
      "LOOP:\n"
      "  and.b32 bit, rest, 1;\n"
      "  add.u32 %0, %0, bit;\n"
      "  shr.u32 rest, rest, 1;\n"
      "  setp.ne.u32 more, rest, 0;\n"
      "  @more bra LOOP;\n"
      "}"
      : "=&r"(result)
      : "r"(x));
  return result;
}

__device__ uint32_t nested_scopes(uint32_t a, uint32_t b) {
  uint32_t r;
  asm("{\n .reg .u32 t, u;\n add.u32 t, %1, %2;\n mov.u32 u, 5;\n"
      " {\n .reg .u32 t;\n .reg .pred p;\n mul.lo.u32 t, %1, 3;\n setp.gt.u32 p, t, %2;\n @p bra HIGH;\n"
      "  add.u32 u, u, t;\n bra.uni OUT;\n HIGH: sub.u32 u, t, u;\n OUT:\n }\n"
      " xor.b32 %0, t, u;\n}"
      : "=r"(r)
      : "r"(a), "r"(b));
  return r;
}

__device__ uint32_t predicates(uint32_t a, uint32_t b) {
  uint32_t r;
  asm("{\n .reg .pred p, q, s;\n .reg .u32 t;\n"
      " setp.lt.u32 p|q, %1, %2;\n"
      " setp.eq.and.u32 s, %1, 7, !p;\n"
      " xor.pred p, p, s;\n not.pred s, s;\n"
      " selp.u32 %0, 100, 200, p;\n @q add.u32 %0, %0, 1;\n @!s add.u32 %0, %0, 10;\n"
      " set.ge.u32.u32 t, %1, %2;\n xor.b32 %0, %0, t;\n"
      " slct.u32.s32 t, %1, %2, -1;\n add.u32 %0, %0, t;\n}"
      : "=&r"(r)
      : "r"(a), "r"(b));
  return r;
}

__device__ uint32_t state_spaces(uint32_t i, const uint32_t* global) {
  __shared__ uint32_t words[64];
  __shared__ uint64_t wide[2];
  uint32_t r, address = uint32_t(__cvta_generic_to_shared(words));
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address + i * 4), "r"(i * 7) : "memory");
  if (i == 0) wide[0] = 5, wide[1] = 6;
  __syncthreads();
  uint32_t a, b, c, d;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2+8];" : "=r"(a), "=r"(b) : "r"(address + i / 8 * 8) : "memory");
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(r), "=r"(c), "=r"(d), "=r"(address)
               : "l"(__cvta_generic_to_global(global + i / 4 * 4)));
  uint16_t half;
  int8_t byte;
  short widened;
  asm volatile("ld.global.cg.u16 %0, [%1+2];" : "=h"(half) : "l"(global + i));
  asm volatile("{\n .reg .s8 t;\n ld.global.ca.s8 t, [%1+3];\n cvt.s16.s8 %0, t;\n}"
               : "=h"(widened)
               : "l"(global + i));
  byte = int8_t(widened);
  uint32_t is_shared, is_global;
  asm("{\n .reg .pred p;\n isspacep.shared p, %1;\n selp.u32 %0, 1, 0, p;\n}" : "=r"(is_shared) : "l"(wide));
  asm("{\n .reg .pred p;\n isspacep.global p, %1;\n selp.u32 %0, 1, 0, p;\n}"
      : "=r"(is_global)
      : "l"(global));
  return a + b * 3 + r * 5 + c * 7 + d * 11 + address * 13 + half * 17 + uint32_t(int(byte)) * 19 +
         is_shared * 1000 + is_global * 2000 + uint32_t(wide[1]);
}

__device__ uint32_t special(dim3 origin) {
  uint32_t x, y, nx, ny, lane, size;
  asm("mov.u32 %0, %%tid.x;\n mov.u32 %1, %%ctaid.y;" : "=r"(x), "=r"(y));
  asm("mov.u32 %0, %%ntid.x;\n mov.u32 %1, %%nctaid.y;" : "=r"(nx), "=r"(ny));
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, WARP_SZ;" : "=r"(size));
  const bool same = x == threadIdx.x && y == blockIdx.y && nx == blockDim.x && ny == gridDim.y &&
                    lane == (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32 &&
                    size == 32;
  return same ? origin.x + x * 2 + y * 3 + nx * 5 + ny * 7 : 0;
}

__device__ uint32_t by_table(uint32_t i) {  // an indirect branch
  uint32_t r;
  asm("{\n ts: .branchtargets A, B, C;\n .reg .u32 k;\n rem.u32 k, %1, 3;\n brx.idx k, ts;\n"
      " A: mov.u32 %0, 10;\n bra.uni E;\n B: mul.lo.u32 %0, %1, 20;\n bra.uni E;\n C: sub.u32 %0, 30, %1;\n "
      "E:\n}"
      : "=r"(r)
      : "r"(i));
  return r;
}

__device__ uint64_t mixed_widths(uint32_t i, uint64_t l) {
  uint64_t r, s;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(r) : "r"(i * 77777u), "r"(0xfffffff0u), "l"(l));
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(s) : "r"(int(i) - 20), "r"(-1234567));
  uint32_t low, high;
  asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(r ^ s));
  uint16_t parts[2];
  asm("mov.b32 {%0, %1}, %2;" : "=h"(parts[0]), "=h"(parts[1]) : "r"(low));
  uint32_t packed;
  asm("mov.b32 %0, {%1, %2};" : "=r"(packed) : "h"(parts[1]), "h"(parts[0]));
  float f;
  asm("mov.b32 %0, %1;" : "=f"(f) : "r"(0x3f800000u + i));
  asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(low) : "f"(f * 100.0f));
  return uint64_t(packed) * high + low;
}

__global__ void everything(const uint32_t* in, uint64_t* out, dim3 origin) {
  const uint32_t i = threadIdx.x, x = noise(i + 64 * blockIdx.y);
  uint64_t* o = out + (blockIdx.y * 64 + i) * 8;
  o[0] = count_bits(x) + count_bits(x >> (i % 32)) * 100;
  o[1] = nested_scopes(x % 50, i) + nested_scopes(i, x % 90) * 1000ull;
  o[2] = predicates(i % 16, x % 16);
  o[3] = state_spaces(i, in);
  o[4] = special(origin);
  o[5] = by_table(i);
  o[6] = mixed_widths(i, noise64(i));
  o[7] = i % 3 ? count_bits(x | 1) : nested_scopes(i, 9);
}

// Time goes forward, and sleeping takes time.
__global__ void clocks(int* ok) {
  const long long start = clock64();
  const clock_t start32 = clock();
  uint64_t nanoseconds, later;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  uint32_t x = threadIdx.x;
  for (int k = 0; k < 100; ++k) x = noise(x);
  __nanosleep(2000);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(later));
  const long long end = clock64();
  const clock_t end32 = clock();
  if (end > start && uint32_t(end32 - start32) > 0 && later >= nanoseconds && x != 12345) atomicAdd(ok, 1);
}

__global__ void exits(int* out) {
  out[threadIdx.x] = 1;
  if (threadIdx.x % 3 == 1) asm volatile("exit;");
  out[threadIdx.x] = 2;
}

int main() {
  std::vector<uint32_t> in(128);
  for (uint32_t i = 0; i < 128; ++i) in[i] = noise(i);
  const Buffer<uint32_t> device_in(in);
  Buffer<uint64_t> out(2 * 64 * 8);
  everything<<<dim3(1, 2), 64>>>(device_in, out, dim3(9));
  LAUNCHED();
  const std::vector<uint64_t> got = out.download();
  bool ok = true;
  for (uint32_t k = 0; k < 128; ++k) {
    const uint32_t i = k % 64, x = noise(i + k / 64 * 64);
    ok &= got[k * 8] == uint64_t(__builtin_popcount(x) + __builtin_popcount(x >> (i % 32)) * 100);
    ok &= got[k * 8 + 4] == 9 + i * 2 + k / 64 * 3 + 64 * 5 + 2 * 7;
    ok &= got[k * 8 + 5] == (i % 3 == 0 ? 10 : i % 3 == 1 ? i * 20 : uint32_t(30 - i));
  }
  for (int k = 0; k < 8; ++k) {
    std::vector<uint64_t> column;
    for (int i = 0; i < 128; ++i) column.push_back(got[i * 8 + k]);
    std::printf("%d, ", k);
    show("", column, 12);
  }
  expect(ok, "scopes, branches and registers");

  Buffer<int> forward(1), left(64);
  clocks<<<2, 64>>>(forward);
  LAUNCHED();
  expect(forward.download()[0] == 128, "clocks");
  exits<<<1, 64>>>(left);
  LAUNCHED();
  show("exit", left.download(), 6);
  return finish();
}
