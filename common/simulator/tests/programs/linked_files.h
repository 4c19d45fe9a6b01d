// What the two files of linked_files.cu know of each other.
#pragma once

#include <cuda_runtime.h>

extern __device__ int table[4];
__device__ int of_other_file(int i);
cudaError_t launch_of_other_file(int* out);
