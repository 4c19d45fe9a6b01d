// Boxes of tensors, copied by TMA: every rank, swizzle and element type, edges, strides, reductions. Where
// boxes land is worked out on the CPU as well; what the hardware makes of single values is printed.
#include <cuda.h>

#include <algorithm>
#include <array>
#include <string>

#include "program.h"

namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode encode() {
  static const Encode function = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result;
    CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                          &result));
    return reinterpret_cast<Encode>(found);
  }();
  return function;
}

struct Coordinates {
  int of[5];
};

struct Box {
  CUtensorMapDataType type;
  uint32_t rank;
  std::array<uint64_t, 5> size;
  std::array<uint32_t, 5> box;
  std::array<uint32_t, 5> step{1, 1, 1, 1, 1};
  std::array<int, 5> at{};
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  uint32_t element() const {
    const uint32_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return bytes[type];
  }
  uint32_t count(uint32_t i) const { return i ? (box[i] + step[i] - 1) / step[i] : box[0]; }
  uint64_t stride(uint32_t i) const {  // bytes, of dimension i
    uint64_t bytes = element();
    for (uint32_t k = 0; k < i; ++k) bytes = k ? bytes * size[k] : (size[0] * bytes + 15) / 16 * 16 + 16;
    return bytes;
  }
  uint64_t bytes() const { return rank == 1 ? size[0] * element() : stride(rank - 1) * size[rank - 1]; }
  uint32_t row() const { return box[0] * element(); }
  uint32_t rows() const {
    uint32_t n = 1;
    for (uint32_t i = 1; i < rank; ++i) n *= count(i);
    return n;
  }
  uint32_t span() const {
    const uint32_t bytes[] = {0, 32, 64, 128, 128, 128, 128};
    return bytes[swizzle];
  }
  uint32_t pitch() const { return std::max(row(), span()); }

  Coordinates coordinates() const { return {{at[0], at[1], at[2], at[3], at[4]}}; }
  CUresult map(CUtensorMap& to, void* data) const {
    cuuint64_t sizes[5], strides[5] = {};
    cuuint32_t boxes[5], steps[5];
    for (uint32_t i = 0; i < rank; ++i) {
      sizes[i] = size[i], boxes[i] = box[i], steps[i] = step[i];
      if (i) strides[i - 1] = stride(i);
    }
    return encode()(&to, type, rank, data, sizes, strides, boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                    swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
  }
  // Calls f(byte of the tensor, byte in shared memory) for every byte of the box; −1: outside of the tensor.
  template <class F>
  void each(F f) const {
    for (uint32_t r = 0; r < rows(); ++r) {
      uint64_t offset = 0;
      bool inside = true;
      for (uint32_t i = 1, rest = r; i < rank; rest /= count(i), ++i) {
        const int64_t c = at[i] + int64_t(rest % count(i)) * step[i];
        inside = inside && c >= 0 && c < int64_t(size[i]);
        offset += uint64_t(c) * stride(i);
      }
      for (uint32_t x = 0; x < box[0]; ++x) {
        const int64_t c = at[0] + int64_t(x);
        const bool in = inside && c >= 0 && c < int64_t(size[0]);
        for (uint32_t b = 0; b < element(); ++b) {
          uint32_t to = r * pitch() + x * element() + b;
          const uint32_t line = to / 128, chunk = 16 * (span() / 16);
          if (swizzle <= CU_TENSOR_MAP_SWIZZLE_128B && chunk) to ^= line % 8 * 16 & (chunk - 1);
          f(in ? int64_t(offset + uint64_t(c) * element() + b) : -1, to);
        }
      }
    }
  }
};

__device__ uint32_t shared(const void* pointer) {
  return uint32_t(__cvta_generic_to_shared(pointer));
}

template <int rank>
__device__ void load(uint32_t to, const CUtensorMap& map, uint32_t barrier, const int* c) {
  if constexpr (rank == 1)
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3}], "
        "[%2];" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(c[0])
        : "memory");
  if constexpr (rank == 2)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
        "[%2];" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(c[0]), "r"(c[1])
        : "memory");
  if constexpr (rank == 3)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
        "%5}], [%2];" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(c[0]), "r"(c[1]), "r"(c[2])
        : "memory");
  if constexpr (rank == 4)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, "
        "%6}], [%2];" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])
        : "memory");
  if constexpr (rank == 5)
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, "
        "%6, %7}], [%2];" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4])
        : "memory");
}

// op: "" or a reduction.
#define STORES(function, instruction)                                                                        \
  template <int rank>                                                                                        \
  __device__ void function(const CUtensorMap& map, uint32_t from, const int* c) {                            \
    if constexpr (rank == 1)                                                                                 \
      asm volatile(instruction(1) " [%0, {%2}], [%1];" ::"l"(&map), "r"(from), "r"(c[0]) : "memory");        \
    if constexpr (rank == 2)                                                                                 \
      asm volatile(instruction(2) " [%0, {%2, %3}], [%1];" ::"l"(&map), "r"(from), "r"(c[0]), "r"(c[1])      \
                   : "memory");                                                                              \
    if constexpr (rank == 3)                                                                                 \
      asm volatile(instruction(3) " [%0, {%2, %3, %4}], [%1];" ::"l"(&map), "r"(from), "r"(c[0]), "r"(c[1]), \
                   "r"(c[2])                                                                                 \
                   : "memory");                                                                              \
    if constexpr (rank == 4)                                                                                 \
      asm volatile(instruction(4) " [%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map), "r"(from), "r"(c[0]),        \
                   "r"(c[1]), "r"(c[2]), "r"(c[3])                                                           \
                   : "memory");                                                                              \
    if constexpr (rank == 5)                                                                                 \
      asm volatile(instruction(5) " [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(&map), "r"(from), "r"(c[0]),    \
                   "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4])                                                \
                   : "memory");                                                                              \
  }
#define PLAIN(n) "cp.async.bulk.tensor." #n "d.global.shared::cta.bulk_group"
#define ADD(n) "cp.reduce.async.bulk.tensor." #n "d.global.shared::cta.add.bulk_group"
#define MIN(n) "cp.reduce.async.bulk.tensor." #n "d.global.shared::cta.min.bulk_group"
#define MAX(n) "cp.reduce.async.bulk.tensor." #n "d.global.shared::cta.max.bulk_group"
#define INC(n) "cp.reduce.async.bulk.tensor." #n "d.global.shared::cta.inc.bulk_group"
#define DEC(n) "cp.reduce.async.bulk.tensor." #n "d.global.shared::cta.dec.bulk_group"
#define AND(n) "cp.reduce.async.bulk.tensor." #n "d.global.shared::cta.and.bulk_group"
#define OR(n) "cp.reduce.async.bulk.tensor." #n "d.global.shared::cta.or.bulk_group"
#define XOR(n) "cp.reduce.async.bulk.tensor." #n "d.global.shared::cta.xor.bulk_group"
STORES(store_box, PLAIN)
STORES(add_box, ADD)
STORES(min_box, MIN)
STORES(max_box, MAX)
STORES(inc_box, INC)
STORES(dec_box, DEC)
STORES(and_box, AND)
STORES(or_box, OR)
STORES(xor_box, XOR)

constexpr uint32_t untouched = 0xee;  // byte

// out: the shared memory, `bytes` of it, after a load; the last word: has the phase become complete with so
// many bytes?
template <int rank>
__global__ void load_kernel(const __grid_constant__ CUtensorMap map, Coordinates at, uint32_t expected,
                            uint32_t bytes, uint8_t* out, uint32_t* complete) {
  extern __shared__ __align__(1024) uint8_t tile[];
  __shared__ alignas(8) uint64_t barrier;
  for (uint32_t i = threadIdx.x; i < bytes; i += blockDim.x) tile[i] = untouched;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&barrier)) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&barrier)),
                 "r"(expected)
                 : "memory");
    load<rank>(shared(tile), map, shared(&barrier), at.of);
  }
  uint32_t done = 0;
  for (int tries = 0; tries < 1000 && !done; ++tries) {
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0, 1000;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(shared(&barrier))
        : "memory");
  }
  if (threadIdx.x == 0) *complete = done;
  if (!done) return;
  for (uint32_t i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = tile[i];
}

enum Operation { plain, add, min_, max_, inc, dec, and_, or_, xor_ };

template <int rank>
__global__ void store_kernel(const __grid_constant__ CUtensorMap map, Coordinates at, uint32_t bytes,
                             const uint8_t* in, Operation operation) {
  extern __shared__ __align__(1024) uint8_t tile[];
  for (uint32_t i = threadIdx.x; i < bytes; i += blockDim.x) tile[i] = in[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  const uint32_t from = shared(tile);
  switch (operation) {
    case plain:
      store_box<rank>(map, from, at.of);
      break;
    case add:
      add_box<rank>(map, from, at.of);
      break;
    case min_:
      min_box<rank>(map, from, at.of);
      break;
    case max_:
      max_box<rank>(map, from, at.of);
      break;
    case inc:
      inc_box<rank>(map, from, at.of);
      break;
    case dec:
      dec_box<rank>(map, from, at.of);
      break;
    case and_:
      and_box<rank>(map, from, at.of);
      break;
    case or_:
      or_box<rank>(map, from, at.of);
      break;
    case xor_:
      xor_box<rank>(map, from, at.of);
      break;
  }
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

std::vector<uint8_t> random_bytes(uint64_t count, uint32_t salt) {
  std::vector<uint8_t> bytes(count);
  for (uint32_t i = 0; i < count; ++i) bytes[i] = uint8_t(noise(i + salt * 0x10001u) >> 7);
  return bytes;
}

// What a load leaves in shared memory; empty where the mbarrier does not count `expected` bytes.
std::vector<uint8_t> loaded(const Box& box, const std::vector<uint8_t>& tensor, uint32_t expected) {
  const Buffer<uint8_t> data(tensor);
  const uint32_t bytes = box.rows() * box.pitch();
  Buffer<uint8_t> out(bytes);
  Buffer<uint32_t> complete(1);
  CUtensorMap map;
  if (const CUresult error = box.map(map, data.data)) {
    std::printf("refused: %d\n", int(error));
    return {};
  }
  using Kernel = decltype(&load_kernel<1>);
  const Kernel kernels[] = {load_kernel<1>, load_kernel<2>, load_kernel<3>, load_kernel<4>, load_kernel<5>};
  const Kernel kernel = kernels[box.rank - 1];
  CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                            cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
  kernel<<<1, 128, bytes>>>(map, box.coordinates(), expected, bytes, out.data, complete.data);
  LAUNCHED();
  return complete.download()[0] ? out.download() : std::vector<uint8_t>();
}

void check_load(const char* name, const Box& box) {
  const std::vector<uint8_t> tensor = random_bytes(box.bytes(), 1);
  const std::vector<uint8_t> got = loaded(box, tensor, box.rows() * box.row());
  std::vector<uint8_t> want(box.rows() * box.pitch(), untouched);
  box.each([&](int64_t from, uint32_t to) { want[to] = from < 0 ? 0 : tensor[uint64_t(from)]; });
  expect(got == want, name);
}

// The tensor after a store.
std::vector<uint8_t> stored(const Box& box, const std::vector<uint8_t>& tensor,
                            const std::vector<uint8_t>& tile, Operation operation) {
  const Buffer<uint8_t> data(tensor), in(tile);
  CUtensorMap map;
  if (box.map(map, data.data)) return {};
  using Kernel = decltype(&store_kernel<1>);
  const Kernel kernels[] = {store_kernel<1>, store_kernel<2>, store_kernel<3>, store_kernel<4>,
                            store_kernel<5>};
  const Kernel kernel = kernels[box.rank - 1];
  CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                            cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
  kernel<<<1, 128, tile.size()>>>(map, box.coordinates(), uint32_t(tile.size()), in.data, operation);
  LAUNCHED();
  return data.download();
}

void check_store(const char* name, const Box& box) {
  const std::vector<uint8_t> tensor = random_bytes(box.bytes(), 2),
                             tile = random_bytes(box.rows() * box.pitch(), 3);
  std::vector<uint8_t> want = tensor;
  box.each([&](int64_t to, uint32_t from) {
    if (to >= 0) want[uint64_t(to)] = tile[from];
  });
  expect(stored(box, tensor, tile, plain) == want, name);
}

void both(const std::string& name, const Box& box) {
  check_load((name + ", loaded").c_str(), box);
  check_store((name + ", stored").c_str(), box);
}

constexpr auto u8 = CU_TENSOR_MAP_DATA_TYPE_UINT8, u16 = CU_TENSOR_MAP_DATA_TYPE_UINT16,
               u32 = CU_TENSOR_MAP_DATA_TYPE_UINT32, u64 = CU_TENSOR_MAP_DATA_TYPE_UINT64,
               bf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, f16 = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
               f32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32, f64 = CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
constexpr std::array<uint32_t, 5> ones{1, 1, 1, 1, 1};

void layouts() {
  both("1 dimension", {u16, 1, {1000}, {256}, ones, {64}});
  // A box starts at a multiple of 16 bytes; stored, it has no negative coordinate. An H200 stops at others:
  // illegal instruction.
  check_load("1 dimension, over both ends, loaded", {u32, 1, {100}, {128}, ones, {-12}});
  both("1 dimension, over the right end", {u32, 1, {100}, {128}, ones, {12}});
  both("2 dimensions", {bf16, 2, {200, 150}, {64, 64}, ones, {64, 10}});
  both("2 dimensions, over the right edge", {bf16, 2, {200, 150}, {64, 64}, ones, {168, 120}});
  check_load("2 dimensions, over the left edge, loaded", {bf16, 2, {200, 150}, {64, 64}, ones, {-8, -9}});
  check_load("2 dimensions, over the upper edge, loaded", {bf16, 2, {200, 150}, {64, 64}, ones, {8, -9}});
  both("2 dimensions, outside", {bf16, 2, {200, 150}, {64, 8}, ones, {200, 0}});
  check_load("2 dimensions, far outside to the left, loaded",
             {bf16, 2, {200, 150}, {64, 8}, ones, {-2000000000, 2000000000}});
  both("2 dimensions, far outside", {bf16, 2, {200, 150}, {64, 8}, ones, {2000000000, 2000000000}});
  both("3 dimensions", {u8, 3, {96, 20, 10}, {48, 5, 3}, ones, {16, 17, 8}});
  both("4 dimensions", {u32, 4, {20, 7, 6, 5}, {12, 4, 3, 2}, ones, {12, 5, 4, 1}});
  check_load("4 dimensions, over an upper edge, loaded",
             {u32, 4, {20, 7, 6, 5}, {12, 4, 3, 2}, ones, {12, -1, 4, 1}});
  both("5 dimensions", {u64, 5, {12, 5, 4, 3, 4}, {6, 3, 2, 2, 3}, ones, {8, 3, 3, 2, 2}});
  check_load("5 dimensions, over an upper edge, loaded",
             {u64, 5, {12, 5, 4, 3, 4}, {6, 3, 2, 2, 3}, ones, {8, 3, -1, 2, 2}});
  both("every second row", {u16, 2, {64, 100}, {32, 40}, {1, 2, 1, 1, 1}, {8, 30}});
  both("every third row, fifth plane", {u16, 3, {64, 40, 40}, {16, 10, 12}, {1, 3, 5, 1, 1}, {56, 35, 31}});
  const struct {
    const char* name;
    CUtensorMapSwizzle swizzle;
    uint32_t span;
  } swizzles[] = {{"swizzle of 32 bytes", CU_TENSOR_MAP_SWIZZLE_32B, 32},
                  {"swizzle of 64 bytes", CU_TENSOR_MAP_SWIZZLE_64B, 64},
                  {"swizzle of 128 bytes", CU_TENSOR_MAP_SWIZZLE_128B, 128}};
  for (const auto& s : swizzles) {
    for (const auto type : {u8, bf16, f32, u64}) {
      Box box{type, 2, {150, 90}, {}, ones, {16, 80}, s.swizzle};
      box.box = {s.span / box.element(), 40};
      both(std::string(s.name) + ", elements of " + std::to_string(box.element()), box);
    }
    both(std::string(s.name) + ", 3 dimensions",
         {f16, 3, {104, 9, 9}, {s.span / 2, 5, 7}, ones, {88, 6, 4}, s.swizzle});
  }
}

// The last bytes of a row are fewer than 16, and others follow before the next row.
void last_bytes() {
  for (const Box& box :
       {Box{f16, 2, {100, 9}, {16, 5}, ones, {88, 6}}, Box{u8, 2, {99, 9}, {16, 5}, ones, {96, 2}},
        Box{f16, 3, {100, 9, 9}, {16, 5, 7}, ones, {88, 6, 4}, CU_TENSOR_MAP_SWIZZLE_32B}}) {
    const std::vector<uint8_t> tensor = random_bytes(box.bytes(), 7),
                               tile = random_bytes(box.rows() * box.pitch(), 8);
    check_load("a row's last bytes, loaded", box);
    show("a row's last bytes, stored", stored(box, tensor, tile, plain), 0);
    if (box.type == f16) show("a row's last bytes, added", stored(box, tensor, tile, add), 0);
  }
}

// Rows narrower than the swizzle's span: how far are they apart, and how many bytes does the mbarrier count?
void narrow_rows() {
  for (const auto swizzle :
       {CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B}) {
    const Box box{u16, 2, {64, 64}, {8, 16}, ones, {0, 0}, swizzle};
    const std::vector<uint8_t> tensor = random_bytes(box.bytes(), 4);
    const std::vector<uint8_t> own = loaded(box, tensor, box.rows() * box.row());
    const std::vector<uint8_t> spans = own.empty() ? loaded(box, tensor, box.rows() * box.pitch()) : own;
    std::printf("rows of 16 bytes in %u: the mbarrier counts %s\n", box.span(),
                !own.empty()    ? "the rows"
                : spans.empty() ? "neither"
                                : "the spans");
    show("  shared memory", spans, 48);
  }
}

void fills() {
  for (const auto type : {f16, bf16, f32, f64, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32}) {
    const Box box{type,
                  1,
                  {64},
                  {16},
                  ones,
                  {56},
                  CU_TENSOR_MAP_SWIZZLE_NONE,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA};
    const std::vector<uint8_t> got = loaded(box, std::vector<uint8_t>(box.bytes()), box.row());
    const std::vector<uint8_t> outside(
        got.end() - std::min<ptrdiff_t>(got.end() - got.begin(), 8 * box.element()), got.end());
    show(("NaN outside, elements of " + std::to_string(box.element())).c_str(), outside, 8);
  }
}

// Single values of f32 in tensors of the types that are not kept as they are.
void conversions() {
  const std::vector<uint32_t> values = {
      0x3f800000, 0x3f800fff, 0x3f801000, 0x3f801001, 0x3f802fff, 0x3f803000, 0x3f803001, 0xbf801000,
      0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff, 0xff801000, 0x00000001, 0x00001000,
      0x00000fff, 0x00003000, 0x007fffff, 0x00800000, 0x807fffff, 0x80000001, 0x00801000, 0x80000000};
  std::vector<uint8_t> tensor(values.size() * 4);
  std::memcpy(tensor.data(), values.data(), tensor.size());
  const struct {
    const char* name;
    CUtensorMapDataType type;
  } types[] = {{"f32", f32},
               {"f32.ftz", CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ},
               {"tf32", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32},
               {"tf32.ftz", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ}};
  for (const auto& type : types) {
    const Box box{type.type, 1, {values.size()}, {uint32_t(values.size())}};
    std::vector<uint32_t> got(values.size());
    const std::vector<uint8_t> bytes = loaded(box, tensor, box.row());
    std::memcpy(got.data(), bytes.data(), bytes.size());
    show((std::string(type.name) + " loaded").c_str(), got, got.size());
    const std::vector<uint8_t> back = stored(box, std::vector<uint8_t>(tensor.size()), tensor, plain);
    std::memcpy(got.data(), back.data(), back.size());
    show((std::string(type.name) + " stored").c_str(), got, got.size());
    if (&type - types > 1) continue;  // no sums of tf32
    const std::vector<uint8_t> sums = stored(box, tensor, tensor, add);
    std::memcpy(got.data(), sums.data(), sums.size());
    show((std::string(type.name) + " added").c_str(), got, got.size());
  }
}

void reductions() {
  const char* operations[] = {"stored", "add", "min", "max", "inc", "dec", "and", "or", "xor"};
  const struct {
    const char* name;
    CUtensorMapDataType type;
    std::vector<Operation> operations;
  } types[] = {{"u32", u32, {add, min_, max_, inc, dec, and_, or_, xor_}},
               {"s32", CU_TENSOR_MAP_DATA_TYPE_INT32, {add, min_, max_, and_, or_, xor_}},
               {"u64", u64, {add, min_, max_, and_, or_, xor_}},
               {"s64", CU_TENSOR_MAP_DATA_TYPE_INT64, {min_, max_}},
               {"f16", f16, {add, min_, max_}},
               {"bf16", bf16, {add, min_, max_}},
               {"f32", f32, {add}},
               {"f64", f64, {add}}};
  for (const auto& type : types) {
    Box box{type.type, 2, {40, 20}, {}, ones, {32, 3}, CU_TENSOR_MAP_SWIZZLE_64B};
    box.box = {64 / box.element(), 12};
    const std::vector<uint8_t> tensor = random_bytes(box.bytes(), 5), tile = random_bytes(box.rows() * 64, 6);
    for (const Operation operation : type.operations)
      show((std::string(type.name) + " " + operations[operation]).c_str(),
           stored(box, tensor, tile, operation), 0);
  }
}

// The driver's own checks: 0 is success, 1 an invalid value.
void arguments() {
  const Buffer<uint8_t> data(1 << 20);
  const auto say = [&](const char* name, Box box, size_t offset = 0) {
    CUtensorMap map;
    std::printf("%s: %d\n", name, int(box.map(map, data.data + offset)));
  };
  const Box good{u16, 2, {64, 64}, {32, 16}};
  say("good", good);
  say("address + 8", good, 8);
  say("address + 16", good, 16);
  Box box = good;
  box.box[0] = 4;
  say("row of 8 bytes", box);
  box.box = {256, 256};
  say("box of 256 x 256", box);
  box.box = {264, 1};
  say("box of 264", box);
  box.box = {32, 0};
  say("box of 0", box);
  box = good;
  box.size[1] = 0;
  say("size 0", box);
  box.size[1] = 1ull << 32;
  say("size 2^32", box);
  box.size[1] = (1ull << 32) + 1;
  say("size 2^32 + 1", box);
  box = good;
  box.step[1] = 8;
  say("step 8", box);
  box.step[1] = 9;
  say("step 9", box);
  box.step[1] = 0;
  say("step 0", box);
  box.step = {2, 1, 1, 1, 1};
  say("step 2 in dimension 0", box);
  box.step = {9, 1, 1, 1, 1};
  say("step 9 in dimension 0", box);
  box = good;
  box.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
  say("row of 64 bytes, swizzle of 32", box);
  box.swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
  say("row of 64 bytes, swizzle of 64", box);
  box.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  say("NaN in integers", box);
  box.type = bf16;
  say("NaN in bf16", box);
  for (const auto swizzle : {CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B,
                             CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B}) {
    box = good;
    box.swizzle = swizzle;
    say("atoms of more than 16 bytes", box);
  }
  box = good;
  box.rank = 0;
  say("rank 0", box);
  alignas(128) char bytes[256];
  const cuuint64_t sizes[] = {64, 64}, strides[] = {128}, odd_strides[] = {136}, overlapping[] = {0};
  const cuuint32_t boxes[] = {32, 16}, steps[] = {1, 1};
  const auto raw = [&](const char* name, void* map, const cuuint64_t* stride,
                       int type = CU_TENSOR_MAP_DATA_TYPE_UINT16) {
    std::printf("%s: %d\n", name,
                int(encode()(static_cast<CUtensorMap*>(map), CUtensorMapDataType(type), 2, data.data, sizes,
                             stride, boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)));
  };
  raw("map at a multiple of 64", bytes + 64, strides);
  raw("map at a multiple of 32", bytes + 32, strides);
  raw("no map", nullptr, strides);
  raw("stride 136", bytes, odd_strides);
  raw("stride 0", bytes, overlapping);
  raw("unknown type", bytes, strides, 99);
}

}  // namespace

int main() {
  layouts();
  last_bytes();
  narrow_rows();
  fills();
  conversions();
  reductions();
  arguments();
  return finish();
}
