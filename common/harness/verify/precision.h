// The precisions of common/rung.h on the CPU: what a block of numbers is rounded to, and what bytes stand
// for. Written from the definition and not from a rung's kernel, which it judges.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/extension.h"

namespace ladder {

constexpr Precision all_precisions[] = {Precision::bf16,
                                        Precision::f16,
                                        Precision::f16_f16,
                                        Precision::tf32,
                                        Precision::fp32,
                                        Precision::fp64,
                                        Precision::s8,
                                        Precision::fp8,
                                        Precision::fp8_e5m2,
                                        Precision::fp8_e4m3_e5m2,
                                        Precision::fp8_e5m2_e5m2,
                                        Precision::fp8_tensor,
                                        Precision::fp8_block,
                                        Precision::mxfp8,
                                        Precision::nvfp4,
                                        Precision::nvfp4_blocks,
                                        Precision::bf16_s8,
                                        Precision::bf16_e4m3,
                                        Precision::bf16_sparse};

const char* precision_name(Precision precision);
std::optional<Precision> precision_of(const std::string& name);

// Of nvfp4 the scale that all of a matrix share, whose largest absolute value this is; else 1.
float matrix_scale_of(Precision precision, float largest);

// The scale of a block, in fp8_tensor a matrix, or of bf16_s8 and bf16_e4m3 a column of B, whose largest
// absolute value this is; 1 without scales. Grows with it, but for the 1 in fp8_tensor. Of nvfp4 it is the
// product of both scales.
float scale_of(Precision precision, float largest, float matrix_scale = 1);

// What x of a block with this scale becomes. Grows with x.
float rounded_element(Precision precision, float x, float scale);

// What the byte of a block's scale stands for, and the element (for nvfp4 the half) of a byte.
float decoded_scale(Precision precision, unsigned char byte);
float decoded_element(Precision precision, unsigned char bits);

enum class Factor { a, b };

// Rounds a row-major matrix in place: A with its blocks along rows, B down columns. What the tensor core
// multiplies, without error but for those whose scales are fp32: they make more than 24 bits of an element.
// Of s8 the whole numbers, without their scale.
void round_matrix(Precision precision, Factor factor, std::vector<float>& matrix, int rows, int cols);

}  // namespace ladder
