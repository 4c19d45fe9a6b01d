// Programmatic dependent launch: a grid may start while the one before it in the stream still runs, and waits
// only before it accesses memory. PTX ISA, "griddepcontrol"; CUDA Programming Guide, "Programmatic Dependent
// Launch". sm_90 and newer. Without cudaLaunchAttributeProgrammaticStreamSerialization at the launch of the
// later grid, both instructions have no effect.
#pragma once

namespace ladder::ptx {

// The next grid may start as soon as every CTA of this one has executed this, or has exited. It orders no
// memory accesses. (griddepcontrol.launch_dependents)
__device__ __forceinline__ void let_next_grid_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// Waits until the grid before this one has completed and what it wrote is visible. Every thread that accesses
// global memory executes it first. (griddepcontrol.wait)
__device__ __forceinline__ void wait_for_previous_grid() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

}  // namespace ladder::ptx
