// A product by cuBLAS, as a reference. Only on a GPU.
#pragma once

#include <vector>

#include "common/rung.h"

namespace ladder {

// C of gemms in bf16, in fp32 by cuBLAS, one after the other in memory; and the product [m,n] of a [m,k] and
// b [k,n], in fp64 by cuBLAS. All row-major, the results on the host.
std::vector<float> library_reference(const std::vector<Gemm>& gemms);
std::vector<double> library_reference(const Gemm& shape, const std::vector<float>& a,
                                      const std::vector<float>& b);

}  // namespace ladder
