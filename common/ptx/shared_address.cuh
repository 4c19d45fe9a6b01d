// Addresses in shared memory, as the instructions of this folder take them.
#pragma once

#include <cuda_runtime_api.h>

namespace ladder::ptx {

// A byte address in the CTA's shared memory: 32 bits, where a generic pointer has 64.
using SharedAddress = unsigned;

// `pointer` must point into shared memory. (cvta.to.shared.u64; PTX ISA, "Generic Addressing")
__device__ __forceinline__ SharedAddress shared_address(const void* pointer) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(pointer));
}

// The same address, which the compiler has to keep in a register: it does not know where it comes from.
__device__ __forceinline__ SharedAddress keep(SharedAddress address) {
  asm volatile("" : "+r"(address));
  return address;
}

}  // namespace ladder::ptx
