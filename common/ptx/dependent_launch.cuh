// Programmatic dependent launch: a grid may start while the one before it in the stream still runs, and only
// waits before it touches memory. PTX ISA, "griddepcontrol"; CUDA Programming Guide, "Programmatic Dependent
// Launch". sm_90 and newer. For a grid that was launched without
// cudaLaunchAttributeProgrammaticStreamSerialization, and for the one after it, nothing changes.
#pragma once

namespace ladder::ptx {

// From this CTA the next grid may start, as soon as every CTA has said so or left. It says nothing about
// memory. (griddepcontrol.launch_dependents)
__device__ __forceinline__ void let_next_grid_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// Waits until the grid before this one has ended, and what it wrote is there. By every thread that reads or
// writes global memory. (griddepcontrol.wait)
__device__ __forceinline__ void wait_for_previous_grid() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

}  // namespace ladder::ptx
