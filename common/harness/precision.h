// The precisions of common/rung.h on the CPU: what a block of numbers is rounded to, and what bytes stand
// for. Written from the definition and not from a rung's kernel, which it judges.
#pragma once

#include <cuda_bf16.h>

#include <vector>

#include "common/rung.h"

namespace ladder {

const char* precision_name(Precision precision);

// The scale of a block whose largest absolute value this is; 1 without scales. Grows with it.
float scale_of(Precision precision, float largest);

// What x of a block with this scale becomes. Grows with x.
float rounded_element(Precision precision, float x, float scale);

// What a scale's byte stands for, and the element (for nvfp4 the half) of a byte.
float decoded_scale(Precision precision, unsigned char byte);
float decoded_element(Precision precision, unsigned char bits);

// Rounds a matrix of row-major bf16 in place, with blocks along its rows or, as a gemm's B has them, down its
// columns. Exact: bf16 has more bits than an element and its scale together.
void round_matrix(Precision precision, std::vector<__nv_bfloat16>& matrix, int rows, int cols,
                  bool down_columns);

}  // namespace ladder
