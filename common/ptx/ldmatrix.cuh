// ldmatrix: a warp reads 8×8 matrices of 16-bit elements from shared memory, straight into the fragments that
// mma.sync takes; stmatrix does the reverse. PTX ISA, "Warp-level matrix load instruction: ldmatrix" (sm_75
// and newer), "Warp-level matrix store instruction: stmatrix" (sm_90 and newer).
//
// A matrix is eight rows of 16 bytes, each at an address of its own, a multiple of 16. Lanes 8i to 8i+7 give
// the row addresses of matrix i. Of each matrix lane l receives one register with two neighbouring elements
// of row l/4: columns 2·(l%4) and 2·(l%4)+1, the first in the lower half. With .trans they are elements of
// column l/4: rows 2·(l%4) and 2·(l%4)+1.
//
// A matrix takes one wavefront if its eight rows lie in 32 different banks.
#pragma once

#include "common/ptx/shared_address.cuh"

namespace ladder::ptx {

// Four matrices; `row` is this lane's row address. (ldmatrix.sync.aligned.m8n8.x4.shared.b16)
__device__ __forceinline__ void ldmatrix_x4(unsigned (&matrix)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
               : "r"(row)
               : "memory");
}

// The same, each matrix transposed. (ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16)
__device__ __forceinline__ void ldmatrix_x4_trans(unsigned (&matrix)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
               : "r"(row)
               : "memory");
}

// Stores four matrices, each lane the registers that ldmatrix would give it; `row` is this lane's row
// address. (stmatrix.sync.aligned.m8n8.x4.shared.b16)
__device__ __forceinline__ void stmatrix_x4(SharedAddress row, const unsigned (&matrix)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(matrix[0]),
               "r"(matrix[1]), "r"(matrix[2]), "r"(matrix[3])
               : "memory");
}

// Two matrices, each transposed: what ldmatrix_x4_trans() would give; lanes 0 to 15 give the row addresses.
// (stmatrix.sync.aligned.m8n8.x2.trans.shared.b16)
__device__ __forceinline__ void stmatrix_x2_trans(SharedAddress row, const unsigned (&matrix)[2]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(row), "r"(matrix[0]),
               "r"(matrix[1])
               : "memory");
}

}  // namespace ladder::ptx
