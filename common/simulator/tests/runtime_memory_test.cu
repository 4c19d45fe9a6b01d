// Allocation, copies, fills, symbols, pools. The errors are those that an H200 gave with CUDA 13.0.
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/simulator/memory/global_memory.h"
#include "common/simulator/settings/device.h"
#include "common/simulator/tests/runtime_fixture.h"

__device__ int table[16];
__device__ int answer = 42;
__constant__ int constants[4] = {1, 2, 3, 4};
__managed__ int shared_counter = 5;

namespace {

using simulator::global_memory;

__global__ void increment(int* value) {
  *value += 1;
}
__global__ void use_variables(int* out) {
  out[0] = table[3];
  out[1] = answer;
  out[2] = constants[2];
  shared_counter += 1;
}

uint64_t number(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

bool written(const void* pointer) {
  const simulator::Allocation* a = global_memory().find(number(pointer));
  return a->written == nullptr || a->written[number(pointer) - a->base] != 0;
}

TEST_F(Runtime, AllocationAndItsErrors) {
  void* pointer = &pointer;
  GIVES(cudaMalloc(&pointer, 0), cudaSuccess);
  EXPECT_EQ(pointer, nullptr);
  GIVES(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue);
  GIVES(cudaMalloc(&pointer, 1ull << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(pointer, nullptr);
  GIVES(cudaMalloc(&pointer, ~size_t{0}), cudaErrorMemoryAllocation);
  GIVES(cudaMalloc(&pointer, 1000), cudaSuccess);
  EXPECT_EQ(number(pointer) % 512, 0u);
  GIVES(cudaFree(static_cast<char*>(pointer) + 8), cudaErrorInvalidValue);
  GIVES(cudaFreeHost(pointer), cudaErrorInvalidValue);
  GIVES(cudaFree(pointer), cudaSuccess);
  GIVES(cudaFree(pointer), cudaErrorInvalidValue);
  GIVES(cudaFree(&pointer), cudaErrorInvalidValue);
  GIVES(cudaFree(nullptr), cudaSuccess);
}

TEST_F(Runtime, MemoryInfoFollows) {
  size_t before = 0, after = 0, total = 0;
  OK(cudaMemGetInfo(&before, &total));
  EXPECT_EQ(total, simulator::device().global_bytes);
  EXPECT_LE(before, total);
  const uint64_t used = global_memory().bytes_in_use();
  void* pointer = nullptr;
  OK(cudaMalloc(&pointer, 64 << 20));
  EXPECT_EQ(global_memory().bytes_in_use(), used + (64 << 20));
  OK(cudaMemGetInfo(&after, &total));
  EXPECT_LE(after, before);
}

TEST_F(Runtime, CopiesThereAndBack) {
  std::vector<int> there(1000), back(1000);
  for (int i = 0; i < 1000; ++i) there[static_cast<size_t>(i)] = i * i;
  int *a = nullptr, *b = nullptr;
  OK(cudaMalloc(&a, 4000));
  OK(cudaMalloc(&b, 4000));
  OK(cudaMemcpy(a, there.data(), 4000, cudaMemcpyHostToDevice));
  OK(cudaMemcpyAsync(b, a, 4000, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy(back.data(), b, 4000, cudaMemcpyDefault));
  EXPECT_EQ(there, back);
  OK(cudaMemcpy(a + 1, a, 3996, cudaMemcpyDeviceToDevice));  // overlapping
  OK(cudaMemcpy(back.data(), a, 4000, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back[999], there[998]);
}

TEST_F(Runtime, CopiesAreChecked) {
  char* device = nullptr;
  char host[2048] = {};
  OK(cudaMalloc(&device, 1000));
  said([&] {
    GIVES(cudaMemcpy(device, host, 1001, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    GIVES(cudaMemcpy(host, device + 999, 2, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    GIVES(cudaMemcpyAsync(device, host, 1001, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    GIVES(cudaMemset(device, 0, 1001), cudaErrorInvalidValue);
  });
  GIVES(cudaMemcpy(device, host, 4, static_cast<cudaMemcpyKind>(7)), cudaErrorInvalidMemcpyDirection);
  GIVES(cudaMemcpy(host, host + 8, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  GIVES(cudaMemcpy(host, host + 8, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  GIVES(cudaMemcpy(device, host, 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  GIVES(cudaMemcpy(device, device + 8, 4, cudaMemcpyHostToDevice), cudaSuccess);
  GIVES(cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  GIVES(cudaMemcpy(device, nullptr, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  GIVES(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
  GIVES(cudaMemset(nullptr, 0, 4), cudaErrorInvalidValue);
  GIVES(cudaMemset(nullptr, 0, 0), cudaSuccess);
  GIVES(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
  OK(cudaFree(device));
  EXPECT_NE(said([&] {
              GIVES(cudaMemcpy(host, device, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
            }).find("freed"),
            std::string::npos);
}

TEST_F(Runtime, WhatWasNeverWrittenStaysSoInACopy) {
  char *a = nullptr, *b = nullptr;
  OK(cudaMalloc(&a, 100));
  OK(cudaMalloc(&b, 100));
  EXPECT_FALSE(written(a));
  OK(cudaMemset(a + 10, 1, 20));
  EXPECT_TRUE(written(a + 10) && written(a + 29));
  EXPECT_FALSE(written(a + 9) || written(a + 30));
  OK(cudaMemset(b, 1, 100));
  OK(cudaMemcpy(b, a, 100, cudaMemcpyDeviceToDevice));
  EXPECT_FALSE(written(b + 9) || written(b + 30));
  EXPECT_TRUE(written(b + 10));
  const char host[100] = {};
  OK(cudaMemcpy(b, host, 100, cudaMemcpyHostToDevice));
  EXPECT_TRUE(written(b) && written(b + 99));
}

TEST_F(Runtime, PitchedCopiesAndFills) {
  char* device = nullptr;
  size_t pitch = 0;
  OK(cudaMallocPitch(&device, &pitch, 100, 10));
  EXPECT_EQ(pitch, 512u);
  char host[10][30];
  for (int row = 0; row < 10; ++row) std::memset(host[row], row, 30);
  OK(cudaMemset2D(device, pitch, 99, 100, 10));
  OK(cudaMemcpy2D(device + 5, pitch, host, 30, 20, 10, cudaMemcpyHostToDevice));
  char back[10][100];
  OK(cudaMemcpy2D(back, 100, device, pitch, 100, 10, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back[7][4], 99);
  EXPECT_EQ(back[7][5], 7);
  EXPECT_EQ(back[7][24], 7);
  EXPECT_EQ(back[7][25], 99);
  EXPECT_FALSE(written(device + 100)) << "between the rows";
  GIVES(cudaMemcpy2D(device, 8, host, 16, 16, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  GIVES(cudaMemset2D(device, 8, 0, 16, 2), cudaErrorInvalidValue);
  GIVES(cudaMemcpy2D(device, pitch, host, 30, 0, 10, cudaMemcpyHostToDevice), cudaSuccess);
  said([&] {
    GIVES(cudaMemcpy2D(device, pitch, host, 30, 20, 11, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  });
}

TEST_F(Runtime, ThreeDimensionalCopies) {
  cudaPitchedPtr device;
  const cudaExtent extent = make_cudaExtent(24, 3, 2);
  OK(cudaMalloc3D(&device, make_cudaExtent(600, 3, 2)));
  EXPECT_EQ(device.pitch, 1024u);
  OK(cudaMemset3D(device, 1, make_cudaExtent(600, 3, 2)));
  char host[2][3][24], back[2][3][24] = {};
  for (size_t i = 0; i < sizeof host; ++i) reinterpret_cast<char*>(host)[i] = static_cast<char>(i);
  cudaMemcpy3DParms to{};
  to.srcPtr = make_cudaPitchedPtr(host, 24, 24, 3);
  to.dstPtr = device;
  to.dstPos = make_cudaPos(16, 0, 0);
  to.extent = extent;
  to.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&to));
  cudaMemcpy3DParms from{};
  from.srcPtr = device;
  from.srcPos = make_cudaPos(16, 0, 0);
  from.dstPtr = make_cudaPitchedPtr(back, 24, 24, 3);
  from.extent = extent;
  from.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3DAsync(&from));
  EXPECT_EQ(std::memcmp(host, back, sizeof host), 0);
}

TEST_F(Runtime, Symbols) {
  int* out = nullptr;
  const int values[4] = {10, 20, 30, 40};
  OK(cudaMalloc(&out, 12));
  OK(cudaMemcpyToSymbol(table, values, sizeof values));
  OK(cudaMemcpyToSymbol(constants, values, 8, 8));
  use_variables<<<1, 1>>>(out);
  int read[3];
  OK(cudaMemcpy(read, out, 12, cudaMemcpyDeviceToHost));
  EXPECT_EQ(read[0], 40);
  EXPECT_EQ(read[1], 42);
  EXPECT_EQ(read[2], 10);
  int back[4] = {};
  OK(cudaMemcpyFromSymbol(back, constants, 16));
  EXPECT_EQ(back[1], 2);
  EXPECT_EQ(back[3], 20);
  void* address = nullptr;
  size_t size = 0;
  OK(cudaGetSymbolAddress(&address, table));
  OK(cudaGetSymbolSize(&size, table));
  EXPECT_EQ(size, sizeof table);
  OK(cudaMemcpy(back, address, 16, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back[3], 40);
  GIVES(cudaMemcpyToSymbol(table, values, 65), cudaErrorInvalidValue);
  GIVES(cudaMemcpyToSymbol(table, values, 4, 64), cudaErrorInvalidValue);
  GIVES(cudaMemcpyToSymbol(values, values, 4), cudaErrorInvalidSymbol);
  GIVES(cudaMemcpyToSymbol(table, values, 4, 0, cudaMemcpyDeviceToHost), cudaErrorInvalidMemcpyDirection);
  GIVES(cudaMemcpyFromSymbol(back, table, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidMemcpyDirection);
  GIVES(cudaGetSymbolAddress(&address, values), cudaErrorInvalidSymbol);
}

TEST_F(Runtime, AResetBringsVariablesBack) {
  const int other = 1;
  int value = 0;
  OK(cudaMemcpyToSymbol(answer, &other, 4));
  OK(cudaDeviceReset());
  OK(cudaMemcpyFromSymbol(&value, answer, 4));
  EXPECT_EQ(value, 42);
}

TEST_F(Runtime, ManagedMemory) {
  int* value = nullptr;
  OK(cudaMallocManaged(&value, 4));
  *value = 7;
  increment<<<1, 1>>>(value);
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(*value, 8);
  const cudaMemLocation here{cudaMemLocationTypeDevice, 0};
  GIVES(cudaMemPrefetchAsync(value, 4, here, 0, nullptr), cudaSuccess);
  GIVES(cudaMemAdvise(value, 4, cudaMemAdviseSetReadMostly, here), cudaSuccess);
  GIVES(cudaMallocManaged(&value, 4, 0), cudaErrorInvalidValue);
  int* device = nullptr;
  OK(cudaMalloc(&device, 4));
  GIVES(cudaMemPrefetchAsync(device, 4, here, 0, nullptr), cudaErrorInvalidValue);
}

TEST_F(Runtime, ManagedVariables) {
  int* out = nullptr;
  OK(cudaMalloc(&out, 12));
  shared_counter = 5;
  use_variables<<<1, 1>>>(out);
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(shared_counter, 6);
  void* address = nullptr;
  OK(cudaGetSymbolAddress(&address, shared_counter));
  EXPECT_EQ(address, &shared_counter);
}

TEST_F(Runtime, PinnedMemory) {
  int* pinned = nullptr;
  unsigned flags = 0;
  OK(cudaHostAlloc(&pinned, 4, cudaHostAllocWriteCombined | cudaHostAllocPortable));
  *pinned = 1;
  increment<<<1, 1>>>(pinned);
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(*pinned, 2);
  OK(cudaHostGetFlags(&flags, pinned));
  EXPECT_EQ(flags, unsigned{cudaHostAllocWriteCombined | cudaHostAllocPortable | cudaHostAllocMapped});
  GIVES(cudaHostAlloc(&pinned, 4, 0x100), cudaErrorInvalidValue);
  OK(cudaMallocHost(&pinned, 400));
  GIVES(cudaFreeHost(pinned + 1), cudaErrorInvalidValue);
  GIVES(cudaFree(pinned), cudaErrorInvalidValue);
  GIVES(cudaHostUnregister(pinned), cudaErrorInvalidValue);
  GIVES(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(Runtime, RegisteredMemory) {
  std::vector<int> host(100, 1);
  void* pointer = nullptr;
  GIVES(cudaHostGetDevicePointer(&pointer, host.data(), 0), cudaErrorInvalidValue);
  GIVES(cudaHostRegister(host.data(), 400, cudaHostRegisterDefault), cudaSuccess);
  GIVES(cudaHostRegister(host.data(), 400, cudaHostRegisterDefault), cudaErrorHostMemoryAlreadyRegistered);
  OK(cudaHostGetDevicePointer(&pointer, host.data() + 2, 0));
  EXPECT_EQ(pointer, host.data() + 2);
  increment<<<1, 1>>>(host.data() + 2);
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(host[2], 2);
  GIVES(cudaHostUnregister(host.data()), cudaSuccess);
  GIVES(cudaHostUnregister(host.data()), cudaErrorHostMemoryNotRegistered);
  GIVES(cudaHostRegister(nullptr, 4, 0), cudaErrorInvalidValue);
}

TEST_F(Runtime, PointerAttributes) {
  char host[8];
  char *device = nullptr, *managed = nullptr, *pinned = nullptr;
  OK(cudaMalloc(&device, 100));
  OK(cudaMallocManaged(&managed, 100));
  OK(cudaMallocHost(&pinned, 100));
  const auto of = [](const void* pointer) {
    cudaPointerAttributes attributes;
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, pointer), cudaSuccess);
    return attributes;
  };
  EXPECT_EQ(of(device + 50).type, cudaMemoryTypeDevice);
  EXPECT_EQ(of(device + 50).devicePointer, device + 50);
  EXPECT_EQ(of(device).hostPointer, nullptr);
  EXPECT_EQ(of(managed).type, cudaMemoryTypeManaged);
  EXPECT_EQ(of(managed).hostPointer, managed);
  EXPECT_EQ(of(pinned + 1).type, cudaMemoryTypeHost);
  EXPECT_EQ(of(host).type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(of(host).device, cudaInvalidDeviceId);
  EXPECT_EQ(of(nullptr).type, cudaMemoryTypeUnregistered);
  OK(cudaFree(device));
  EXPECT_EQ(of(device).type, cudaMemoryTypeUnregistered);
}

TEST_F(Runtime, StreamOrderedAllocation) {
  void* pointer = nullptr;
  cudaMemPool_t pool, initial;
  uint64_t used = 0;
  OK(cudaDeviceGetDefaultMemPool(&initial, 0));
  OK(cudaMallocAsync(&pointer, 100, cudaStream_t{}));
  OK(cudaMemPoolGetAttribute(initial, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 100u);
  OK(cudaFreeAsync(pointer, nullptr));
  OK(cudaMemPoolGetAttribute(initial, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 0u);
  GIVES(cudaFreeAsync(pointer, nullptr), cudaErrorInvalidValue);
  GIVES(cudaMallocAsync(&pointer, 1ull << 50, cudaStream_t{}), cudaErrorMemoryAllocation);
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  OK(cudaMemPoolCreate(&pool, &properties));
  uint64_t threshold = 1 << 20;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  threshold = 0;
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT_EQ(threshold, 1u << 20);
  OK(cudaMallocFromPoolAsync(&pointer, 100, pool, cudaStream_t{}));
  OK(cudaFree(pointer));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 0u) << "cudaFree() gives back to the pool, too";
  OK(cudaMemPoolDestroy(pool));
  GIVES(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
}

TEST_F(Runtime, PoolsOfHostAndManagedMemory) {
  cudaMemPool_t pool, current;
  void* pointer = nullptr;
  cudaPointerAttributes attributes;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeHost, 0};
  OK(cudaMemPoolCreate(&pool, &properties));
  OK(cudaMallocFromPoolAsync(&pointer, 100, pool, cudaStream_t{}));
  OK(cudaPointerGetAttributes(&attributes, pointer));
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  OK(cudaFreeAsync(pointer, nullptr));
  OK(cudaMemPoolDestroy(pool));

  properties.allocType = cudaMemAllocationTypeManaged;
  OK(cudaMemPoolCreate(&pool, &properties));
  OK(cudaMemSetMemPool(&properties.location, cudaMemAllocationTypeManaged, pool));
  OK(cudaMemGetMemPool(&current, &properties.location, cudaMemAllocationTypeManaged));
  EXPECT_EQ(current, pool);
  OK(cudaMallocFromPoolAsync(&pointer, 100, pool, cudaStream_t{}));
  OK(cudaPointerGetAttributes(&attributes, pointer));
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  OK(cudaFree(pointer));
  OK(cudaMemPoolDestroy(pool));
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  const std::string line = said([&] { GIVES(cudaMemPoolCreate(&pool, &properties), cudaErrorNotSupported); });
  EXPECT_NE(line.find("shared between processes"), std::string::npos) << line;
}

}  // namespace
