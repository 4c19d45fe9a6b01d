// What reports call the program's own things; and a launch that goes on for too long.
#include <cstdint>
#include <string>

#include "common/simulator/simulator.h"
#include "common/simulator/tests/runtime_fixture.h"

namespace names {
namespace {

using Barrier = unsigned long long;

struct Shared {
  float data[7];
  Barrier full[3], empty[3], done;
};

__device__ unsigned address_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ __forceinline__ void barrier_init(unsigned barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
template <int n>
__device__ __forceinline__ void init_all(Barrier (&barriers)[n], int count) {
  for (Barrier& barrier : barriers) barrier_init(address_of(&barrier), count);
}
__device__ __noinline__ void init_one(Barrier* barrier) {
  barrier_init(address_of(barrier), 1);
}
__device__ void wait_for(Barrier& barrier) {
  asm volatile(
      "{.reg .pred done;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n@!done bra "
      "AGAIN;}" ::"r"(address_of(&barrier))
      : "memory");
}

__global__ void waits(int which) {
  extern __shared__ __align__(16) unsigned char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < 3; ++stage) barrier_init(address_of(&shared.full[stage]), 1);
    init_all(shared.empty, 2);
    init_one(&shared.done);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  wait_for(which < 3 ? shared.full[which] : which < 6 ? shared.empty[which - 3] : shared.done);
}

__global__ void waits_for_static() {
  __shared__ Barrier arrived;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(&arrived)));
  __syncthreads();
  wait_for(arrived);
}

// Two of a line, and their indices are not to be seen there.
__global__ void waits_for_one_of_two(int first) {
  __shared__ Barrier pair[2];
  for (int i = first; i < 2; ++i) barrier_init(address_of(&pair[i]), 1);
  wait_for(pair[1]);
}

class Names : public Runtime {
 protected:
  template <class F>
  void reports(const std::string& text, F&& launch) {
    const std::string all = said([&] {
      launch();
      cudaDeviceSynchronize();
    });
    EXPECT_NE(all.find(text), std::string::npos) << "not " << text << "\n" << all;
    cudaGetLastError();
    OK(cudaDeviceReset());
  }
};

TEST_F(Names, Mbarriers) {
  const char* names[] = {"shared.full[0]",  "shared.full[1]",  "shared.full[2]", "shared.empty[0]",
                         "shared.empty[1]", "shared.empty[2]", "shared.done"};
  for (int which = 0; which < 7; ++which) {
    reports("phase 0 of the mbarrier " + std::string(names[which]) + " (0x4",
            [&] { waits<<<1, 32, sizeof(Shared)>>>(which); });
  }
  reports("the mbarrier arrived (0x400) is not complete", [] { waits_for_static<<<1, 1>>>(); });
  reports("of the mbarrier at 0x408 (pair + 8, mbarrier 2 of 2 initialised at tests/runtime_names_test.cu:",
          [] { waits_for_one_of_two<<<1, 1>>>(0); });
}

__global__ void store_beyond(int* to) {
  to[64] = 1;
}

TEST_F(Names, Memory) {
  int* memory = nullptr;
  OK(cudaMalloc(&memory, 64 * sizeof(int)));
  EXPECT_FALSE(simulator::name_memory(memory + 1, "A"));
  EXPECT_TRUE(simulator::name_memory(memory, "A"));
  reports("0 bytes past the end of A (allocation #", [&] { store_beyond<<<1, 1>>>(memory); });
  OK(cudaMalloc(&memory, 64 * sizeof(int)));
  OK(cudaFree(memory));
  EXPECT_FALSE(simulator::name_memory(memory, "freed"));
  OK(cudaMalloc(&memory, 64 * sizeof(int)));
  reports("0 bytes past the end of allocation #", [&] { store_beyond<<<1, 1>>>(memory); });
}

// Its state is never what it was before.
__global__ void counts_on(unsigned* to) {
  for (unsigned i = 1; i != 0; i += 2) *to = i;
}

TEST_F(Names, ALaunchBeyondTheLimit) {
  unsigned* to = nullptr;
  OK(cudaMalloc(&to, sizeof *to));
  simulator::settings().limit = 3'000'000;
  const std::string text = said([&] {
    counts_on<<<4, 64>>>(to);
    GIVES(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  });
  EXPECT_NE(text.find("limit reached in names::"), std::string::npos) << text;
  EXPECT_NE(text.find("warp-instructions, more than SIMULATOR_LIMIT=3 allows, and 0 of 4 CTAs are done"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("CTA (0,0,0) warp"), std::string::npos) << text;
  EXPECT_NE(text.find("stand at tests/runtime_names_test.cu:"), std::string::npos) << text;
  cudaGetLastError();
  OK(cudaDeviceReset());
  simulator::settings().limit = 0;
}

}  // namespace
}  // namespace names
