// What the programs on wgmma share: one instruction, or a few, of one warpgroup on matrices whose bytes the
// host has laid out.
#pragma once

#include <functional>
#include <string>

#include "tensor_cores.h"

#define D_2 "%0, %1"
#define O_2(d) "+r"(d[0]), "+r"(d[1])
#define D_4 D_2 ", %2, %3"
#define O_4(d) O_2(d), "+r"(d[2]), "+r"(d[3])
#define D_8 D_4 ", %4, %5, %6, %7"
#define O_8(d) O_4(d), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
#define D_16 D_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define O_16(d) \
  O_8(d), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
#define D_32 D_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define O_32(d)                                                                                       \
  O_16(d), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), \
      "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]),      \
      "+r"(d[30]), "+r"(d[31])
#define D_64                                                                                               \
  D_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, " \
       "%51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define O_64(d)                                                                                       \
  O_32(d), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), \
      "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]),      \
      "+r"(d[46]), "+r"(d[47]), "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]),      \
      "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]),      \
      "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
#define D_128                                                                                              \
  D_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, " \
       "%83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, " \
       "%102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, "  \
       "%118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define O_128(d)                                                                                        \
  O_64(d), "+r"(d[64]), "+r"(d[65]), "+r"(d[66]), "+r"(d[67]), "+r"(d[68]), "+r"(d[69]), "+r"(d[70]),   \
      "+r"(d[71]), "+r"(d[72]), "+r"(d[73]), "+r"(d[74]), "+r"(d[75]), "+r"(d[76]), "+r"(d[77]),        \
      "+r"(d[78]), "+r"(d[79]), "+r"(d[80]), "+r"(d[81]), "+r"(d[82]), "+r"(d[83]), "+r"(d[84]),        \
      "+r"(d[85]), "+r"(d[86]), "+r"(d[87]), "+r"(d[88]), "+r"(d[89]), "+r"(d[90]), "+r"(d[91]),        \
      "+r"(d[92]), "+r"(d[93]), "+r"(d[94]), "+r"(d[95]), "+r"(d[96]), "+r"(d[97]), "+r"(d[98]),        \
      "+r"(d[99]), "+r"(d[100]), "+r"(d[101]), "+r"(d[102]), "+r"(d[103]), "+r"(d[104]), "+r"(d[105]),  \
      "+r"(d[106]), "+r"(d[107]), "+r"(d[108]), "+r"(d[109]), "+r"(d[110]), "+r"(d[111]), "+r"(d[112]), \
      "+r"(d[113]), "+r"(d[114]), "+r"(d[115]), "+r"(d[116]), "+r"(d[117]), "+r"(d[118]), "+r"(d[119]), \
      "+r"(d[120]), "+r"(d[121]), "+r"(d[122]), "+r"(d[123]), "+r"(d[124]), "+r"(d[125]), "+r"(d[126]), \
      "+r"(d[127])

// NAME: an instruction with COUNT registers for D; A and B in shared memory (SS), or A in registers (RS). The
// other numbers are those of the operands behind D's.
#define WGMMA_SS(NAME, COUNT, A, B, S, TEXT, TAIL)                                                          \
  struct NAME {                                                                                             \
    static constexpr int count = COUNT;                                                                     \
    static __device__ void run(uint32_t* d, const uint32_t*, uint64_t a, uint64_t b, uint32_t, int scale) { \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #S ", 0;\nwgmma.mma_async.sync.aligned." TEXT       \
                   " {" D_##COUNT "}, %" #A ", %" #B ", p" TAIL ";\n}"                                      \
                   : O_##COUNT(d)                                                                           \
                   : "l"(a), "l"(b), "r"(scale));                                                           \
    }                                                                                                       \
  }
#define WGMMA_RS(NAME, COUNT, A0, A1, A2, A3, B, S, TEXT, TAIL)                                             \
  struct NAME {                                                                                             \
    static constexpr int count = COUNT;                                                                     \
    static __device__ void run(uint32_t* d, const uint32_t* x, uint64_t, uint64_t b, uint32_t, int scale) { \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #S ", 0;\nwgmma.mma_async.sync.aligned." TEXT       \
                   " {" D_##COUNT "}, {%" #A0 ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #B ", p" TAIL ";\n}"     \
                   : O_##COUNT(d)                                                                           \
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(b), "r"(scale));                       \
    }                                                                                                       \
  }

// The same with a sparse A; SELECTOR: which threads hold the metadata.
#define WGMMA_SP_SS(NAME, COUNT, A, B, E, S, SELECTOR, TEXT, TAIL)                                       \
  struct NAME {                                                                                          \
    static constexpr int count = COUNT, selector = SELECTOR;                                             \
    static __device__ void run(uint32_t* d, const uint32_t*, uint64_t a, uint64_t b, uint32_t e,         \
                               int scale) {                                                              \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #S ", 0;\nwgmma.mma_async.sp.sync.aligned." TEXT \
                   " {" D_##COUNT "}, %" #A ", %" #B ", %" #E ", " #SELECTOR ", p" TAIL ";\n}"           \
                   : O_##COUNT(d)                                                                        \
                   : "l"(a), "l"(b), "r"(e), "r"(scale));                                                \
    }                                                                                                    \
  }
#define WGMMA_SP_RS(NAME, COUNT, A0, A1, A2, A3, B, E, S, SELECTOR, TEXT, TAIL)                          \
  struct NAME {                                                                                          \
    static constexpr int count = COUNT, selector = SELECTOR;                                             \
    static __device__ void run(uint32_t* d, const uint32_t* x, uint64_t, uint64_t b, uint32_t e,         \
                               int scale) {                                                              \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #S ", 0;\nwgmma.mma_async.sp.sync.aligned." TEXT \
                   " {" D_##COUNT "}, {%" #A0 ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #B ", %" #E           \
                                  ", " #SELECTOR ", p" TAIL ";\n}"                                       \
                   : O_##COUNT(d)                                                                        \
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(b), "r"(e), "r"(scale));            \
    }                                                                                                    \
  }

// What one CTA, a warpgroup, is given: shared memory (from a boundary of 1024 bytes on), of each thread the
// registers of A, of D and the metadata.
struct Input {
  std::vector<uint8_t> shared;
  uint32_t a_start = 0, b_start = 0;    // bytes in `shared`
  uint64_t a_matrix = 0, b_matrix = 0;  // descriptors but for the start address
  std::vector<uint32_t> a, d;           // register r of thread t at 128 · r + t
  std::vector<uint32_t> metadata;       // of thread t
  int scale = 1, times = 1;
};

constexpr int kSharedBytes = 96 * 1024;

template <class Wgmma>
__global__ void multiply_group(const uint8_t* shared, int bytes, uint32_t a_start, uint64_t a_matrix,
                               uint32_t b_start, uint64_t b_matrix, const uint32_t* a,
                               const uint32_t* metadata, uint32_t* d, int scale, int times) {
  extern __shared__ uint8_t raw[];
  const uint32_t base = (uint32_t(__cvta_generic_to_shared(raw)) + 1023) / 1024 * 1024;
  uint8_t* image = raw + (base - uint32_t(__cvta_generic_to_shared(raw)));
  for (int i = threadIdx.x * 4; i < bytes; i += 512)
    *reinterpret_cast<uint32_t*>(image + i) = *reinterpret_cast<const uint32_t*>(shared + i);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const auto encode = [&](uint32_t start) { return uint64_t((base + start) >> 4 & 0x3fff); };
  uint32_t x[4], y[Wgmma::count];
  for (int r = 0; r < 4; ++r) x[r] = a[128 * r + threadIdx.x];
  for (int r = 0; r < Wgmma::count; ++r) y[r] = d[128 * r + threadIdx.x];
  const uint32_t e = metadata[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < times; ++i) {
    for (int r = 0; r < 4; ++r) asm volatile("" : "+r"(x[r])::"memory");
    for (int r = 0; r < Wgmma::count; ++r) asm volatile("" : "+r"(y[r])::"memory");
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    Wgmma::run(y, x, a_matrix | encode(a_start), b_matrix | encode(b_start), e, scale);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int r = 0; r < Wgmma::count; ++r) asm volatile("" : "+r"(y[r])::"memory");
  }
  for (int r = 0; r < Wgmma::count; ++r) d[128 * r + threadIdx.x] = y[r];
}

template <class Wgmma>
std::vector<uint32_t> run_group(const Input& input) {
  std::vector<uint8_t> shared(input.shared);
  shared.resize((shared.size() + 3) / 4 * 4);
  std::vector<uint32_t> a(input.a), metadata(input.metadata), d(input.d);
  a.resize(4 * 128);
  metadata.resize(128);
  d.resize(size_t(Wgmma::count) * 128);
  Buffer<uint8_t> image(shared);
  Buffer<uint32_t> left(a), positions(metadata), result(d);
  CUDA(
      cudaFuncSetAttribute(multiply_group<Wgmma>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  multiply_group<Wgmma><<<1, 128, kSharedBytes>>>(image, int(shared.size()), input.a_start, input.a_matrix,
                                                  input.b_start, input.b_matrix, left, positions, result,
                                                  input.scale, input.times);
  LAUNCHED();
  return result.download();
}

// ---- Layouts in shared memory, as the PTX ISA's table of canonical layouts has them.

struct Layout {
  bool mn_major;
  int swizzle;           // bytes; 16: none
  int leading, stride;   // bytes
  uint32_t pattern = 0;  // where the swizzle's pattern begins: bytes, a multiple of 128

  uint64_t descriptor() const {
    const uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    return uint64_t(leading >> 4 & 0x3fff) << 16 | uint64_t(stride >> 4 & 0x3fff) << 32 |
           uint64_t(pattern >> 7 & 7) << 49 | mode << 62;
  }
  // Bytes from the matrix's start of the byte that has bits `bit` … of element (mn, k).
  uint32_t at(int mn, int k, int bits) const {
    const int t = 128 / bits, s = swizzle / 16;  // elements of 16 bytes; times 16 bytes
    uint32_t offset;
    if (mn_major && s == 1) {
      offset = mn / t * stride + k % 8 * 16 + k / 8 * leading + mn % t * bits / 8;
    } else if (mn_major) {
      offset = mn / t % s * 16 + mn / t / s * leading + k % 8 * swizzle + k / 8 * stride + mn % t * bits / 8;
    } else if (s == 1) {
      offset = mn % 8 * 16 + mn / 8 * stride + k / t * leading + k % t * bits / 8;
    } else {
      offset = mn % 8 * swizzle + mn / 8 * stride + k * bits / 8;
    }
    return offset ^ ((offset >> 7) % uint32_t(s)) << 4;
  }
};

// An element type: how many bits, and those of a small whole number.
struct Element {
  int bits;
  std::function<uint32_t(int)> encode;
  Format format;  // floating types
};

inline void put(std::vector<uint8_t>& bytes, uint32_t at, int bits, int nth, uint32_t value) {
  if (bits == 1) {
    if (at >= bytes.size()) bytes.resize(at + 1024);
    bytes[at] |= uint8_t(value << nth % 8);
    return;
  }
  if (at + 4 > bytes.size()) bytes.resize(at + 1024);
  for (int i = 0; i < bits / 8; ++i) bytes[at + i] = uint8_t(value >> 8 * i);
}

// Row of A and column of k that element `i` (low to high) of register r of thread t holds.
inline void a_place(int bits, int t, int r, int i, int& row, int& k) {
  const int per = 32 / bits, lane = t % 32;
  row = t / 32 * 16 + lane / 4 + r % 2 * 8;
  k = r / 2 * 4 * per + lane % 4 * per + i;
}
// Row of a sparse A and first column of k that bits 4 · i … 4 · i + 3 of the metadata of thread t describe;
// false: those of another thread do.
inline bool metadata_place(int bits, int selector, int t, int i, int& row, int& k) {
  const int warp = t / 32, g = t % 32 / 4, in_four = t % 4;
  if (bits == 8) {
    row = 16 * warp + g + 8 * (in_four % 2);
    k = in_four / 2 * 32 + 4 * i;
    return true;
  }
  row = 16 * warp + g + 8 * (i / 4);
  k = (in_four % 2 * 4 + i % 4) * (bits == 32 ? 2 : 4);
  return in_four / 2 == selector;
}
// Row and column of D that element `i` of register r of thread t holds.
inline void d_place(bool half, int t, int r, int i, int& row, int& column) {
  const int lane = t % 32, e = half ? 2 * r + i : r;
  row = t / 32 * 16 + lane / 4 + e / 2 % 2 * 8;
  column = e / 4 * 8 + lane % 4 * 2 + e % 2;
}
