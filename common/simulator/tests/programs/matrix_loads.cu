// ldmatrix and movmatrix: which lane gets which elements, for rows in order, scattered, shared, swizzled, and
// addresses that must not matter.
#include <string>

#include "program.h"

constexpr int kBytes = 4352;  // of shared memory, filled with 16-bit numbers 0, 1, 2, …

__device__ uint32_t shared_address(const void* pointer) {
  return uint32_t(__cvta_generic_to_shared(pointer));
}

__device__ void load_x1(uint32_t* r, uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(at));
}
__device__ void load_x1_trans(uint32_t* r, uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(at));
}
__device__ void load_x2(uint32_t* r, uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at));
}
__device__ void load_x2_trans(uint32_t* r, uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(at));
}
__device__ void load_x4(uint32_t* r, uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at));
}
__device__ void load_x4_trans(uint32_t* r, uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at));
}
__device__ void load_generic(uint32_t* r, const void* at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.b16 {%0, %1, %2, %3}, [%4 + 32];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "l"(at));
}

// The 32 row addresses, in rows of 16 bytes, of this many ways to give them.
constexpr int kWays = 6;
__device__ uint32_t row_of(int way, uint32_t lane) {
  switch (way) {
    case 0:
      return lane;  // in order
    case 1:
      return lane * 8;  // as in a tile of 64 columns: eight rows in the same banks
    case 2:
      return lane * 8 + (lane % 8);  // the same, padded
    case 3:
      return lane / 4 * 8 + ((lane % 4) ^ (lane / 4 % 4));  // swizzled
    case 4:
      return lane / 8;  // all rows of a matrix are one
    default:
      return (lane * 37 + 11) % 250;
  }
}

__global__ void load(uint32_t* out) {
  __shared__ alignas(16) uint16_t numbers[kBytes / 2];
  const uint32_t lane = threadIdx.x, way = blockIdx.x;
  for (uint32_t i = lane; i < kBytes / 2; i += 32) numbers[i] = uint16_t(i);
  __syncthreads();
  const uint32_t base = shared_address(numbers), row = base + row_of(way, lane) * 16;
  // Lanes whose addresses do not count give none that could be read.
  const uint32_t none = 0xfffffff3;
  uint32_t r[18];
  load_x1(r, lane < 8 ? row : none);
  load_x1_trans(r + 1, lane < 8 ? row : none);
  load_x2(r + 2, lane < 16 ? row : none);
  load_x2_trans(r + 4, lane < 16 ? row : none);
  load_x4(r + 6, row);
  load_x4_trans(r + 10, row);
  load_generic(r + 14, reinterpret_cast<const char*>(numbers) + row_of(way, lane) * 16);
  for (int i = 0; i < 18; ++i) out[(way * 18 + i) * 32 + lane] = r[i];
}

__global__ void move(uint32_t* out) {
  const uint32_t lane = threadIdx.x;
  uint32_t to;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(to) : "r"(lane * 0x20002u + 0x10000u));
  out[lane] = to;
}

int main() {
  Buffer<uint32_t> out(kWays * 18 * 32), moved(32);
  load<<<kWays, 32>>>(out);
  LAUNCHED();
  const std::vector<uint32_t> all = out.download();
  const char* names[18] = {"x1",          "x1.trans",    "x2, 0",       "x2, 1",       "x2.trans, 0",
                           "x2.trans, 1", "x4, 0",       "x4, 1",       "x4, 2",       "x4, 3",
                           "x4.trans, 0", "x4.trans, 1", "x4.trans, 2", "x4.trans, 3", "generic, 0",
                           "generic, 1",  "generic, 2",  "generic, 3"};
  for (int way = 0; way < kWays; ++way) {
    for (int i = 0; i < 18; ++i) {
      const std::string name = "way " + std::to_string(way) + ", " + names[i];
      show(name.c_str(), &all[size_t(way * 18 + i) * 32], 32, 32);
    }
  }
  move<<<1, 32>>>(moved);
  LAUNCHED();
  show("movmatrix", moved.download(), 32);
  return finish();
}
