// What a GPU and the simulator do each in their own way. A program is linked with gpu.cc or with
// simulated.cc, beside objects that are the same for both. What the other kind alone can do throws
// std::logic_error: options.cc lets no command line ask for it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/extension.h"
#include "common/harness/backend/counters.h"
#include "common/harness/measure/benchmark.h"
#include "common/harness/problems/problems.h"

namespace ladder {

DeviceKind device_kind();          // the one that is linked
std::uint64_t guard_zone_bytes();  // before and after each buffer, see GuardedBuffer

// What stands below the harness. Empty: there is none.
struct Platform {
  std::string driver;                          // "580.159.04"
  std::string cublas;                          // "13.1.0"
  std::string checks;                          // the simulator's: "fail", "report" or "off"
  std::optional<std::uint64_t> schedule_seed;  // the simulator's: which order its warps run in
};

// Called before any other function of the CUDA runtime. Throws Failure(Exit::bad_usage) where the environment
// asks the simulator for what it does not know.
Platform platform();

// --- Only on a GPU. benchmark.h has the clock, measure().

// C of gemms in bf16, in fp32 by cuBLAS, one after the other in memory; and the product [m,n] of a [m,k] and
// b [k,n], in fp64 by cuBLAS. All row-major, the results on the host.
std::vector<float> library_reference(const std::vector<Gemm>& gemms);
std::vector<double> library_reference(const Gemm& shape, const std::vector<float>& a,
                                      const std::vector<float>& b);

// What a variant of this precision is timed beside: cuBLAS for the gemm, where it has the precision, and a
// plain copy of as many bytes for the norm. `sets` are the problems that timings rotate over.
std::vector<Contender> baselines(const std::vector<Gemm>& sets, Precision precision);
std::vector<Contender> baselines(const std::vector<FusedNorm>& sets, Precision precision);
// A norm_gemm beside the same in two steps: the rung's own fused_norm, and then its gemm or cuBLAS's.
std::vector<Contender> baselines(const std::vector<NormGemm>& sets, Precision precision);
// A grouped_gemm beside cuBLAS: in a loop, and in one call where it has one.
std::vector<Contender> baselines(const std::vector<GroupedGemm>& sets, Precision precision);
// A linear beside cublasLt with the same epilogue, where it has that, and beside chains: a product, or two,
// stored in bf16, and then the epilogue by a kernel of its own.
std::vector<Contender> baselines(const std::vector<Linear>& sets, Epilogue epilogue);
// A row_operator beside a plain copy of as many bytes.
std::vector<Contender> baselines(const std::vector<RowOperator>& sets, RowOperation operation);
// The rung's own gemm of the same size, with no epilogue; two of them where it is gated. Empty where the rung
// does not take the shape.
std::vector<Contender> plain_product(const std::vector<Linear>& sets, Epilogue epilogue);

// --- Only on the simulator.

// Calls `launch`, which launches kernels and waits for them, and says what they did. `listing`: line by line,
// too.
Counters count(const std::function<void()>& launch, bool listing);

}  // namespace ladder
