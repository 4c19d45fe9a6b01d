// elect: selects one thread of a warp. PTX ISA, "Parallel Synchronization and Communication Instructions:
// elect.sync". sm_90 and newer.
#pragma once

namespace ladder::ptx {

// True in one thread of the warp. All 32 execute it together. Unlike after `lane == 0`, the compiler knows
// that what follows happens once per warp: operands of TMA instructions stay in uniform registers.
// (elect.sync)
__device__ __forceinline__ bool elect_one() {
  int elected;
  asm volatile(
      "{\n"
      ".reg .pred elected;\n"
      "elect.sync _|elected, 0xFFFFFFFF;\n"
      "selp.b32 %0, 1, 0, elected;\n"
      "}\n"
      : "=r"(elected));
  return elected != 0;
}

}  // namespace ladder::ptx
