// cuBLAS's ways to multiply in groups: cublasGemmEx for one after the other, as a graph;
// cublasGemmGroupedBatchedEx, one call for all; and cublasGemmStridedBatchedEx where all groups have as many
// rows. Each gets the groups' numbers of rows on the host; the kernel has to read them on the device.

#include <algorithm>
#include <functional>
#include <memory>
#include <span>

#include "common/harness/backend/device_buffer.h"
#include "common/harness/cublas/library.h"
#include "common/harness/problems/grouped_gemm/problem.h"

namespace ladder {
namespace {

// One call for all groups. Sizes are the host's, pointers to the matrices are in device memory.
struct GroupedCall {
  std::vector<cublasOperation_t> operations;
  std::vector<int> m, n, k, ones;
  std::vector<float> alphas, betas;
  GuardedBuffer a, b, c;  // pointers

  static GuardedBuffer pointers(const std::vector<Gemm>& gemms, const void* (*of)(const Gemm&)) {
    std::vector<const void*> host;
    for (const Gemm& gemm : gemms) host.push_back(of(gemm));
    GuardedBuffer device("pointers", GuardedBuffer::Kind::input, host.size(), sizeof(void*));
    device.copy_from_host(std::span(host));
    return device;
  }
  explicit GroupedCall(const std::vector<Gemm>& gemms)
      : operations(gemms.size(), CUBLAS_OP_N),
        n(gemms.size(), gemms[0].n),
        k(gemms.size(), gemms[0].k),
        ones(gemms.size(), 1),
        alphas(gemms.size(), 1),
        betas(gemms.size(), 0),
        a(pointers(gemms, [](const Gemm& p) { return static_cast<const void*>(p.a); })),
        b(pointers(gemms, [](const Gemm& p) { return static_cast<const void*>(p.b); })),
        c(pointers(gemms, [](const Gemm& p) { return static_cast<const void*>(p.c); })) {
    for (const Gemm& gemm : gemms) m.push_back(gemm.m);
  }
  // As for one product: A and B swap places, and so do m and n.
  cublasStatus_t run(Library& library) const {
    return cublasGemmGroupedBatchedEx(library.blas, operations.data(), operations.data(), n.data(), m.data(),
                                      k.data(), alphas.data(), b.as<const void*>(), CUDA_R_16BF, n.data(),
                                      a.as<const void*>(), CUDA_R_16BF, k.data(), betas.data(), c.as<void*>(),
                                      CUDA_R_16BF, n.data(), int(m.size()), ones.data(), CUBLAS_COMPUTE_32F);
  }
};

cublasStatus_t strided(Library& library, const std::vector<Gemm>& gemms) {
  const Gemm& p = gemms[0];
  const float one = 1, zero = 0;
  const long long a = 1ll * p.m * p.k, b = 1ll * p.k * p.n, c = 1ll * p.m * p.n;
  return cublasGemmStridedBatchedEx(library.blas, CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &one, p.b,
                                    CUDA_R_16BF, p.n, b, p.a, CUDA_R_16BF, p.k, a, &zero, p.c, CUDA_R_16BF,
                                    p.n, c, int(gemms.size()), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

cudaError_t loop(Library& library, const std::vector<Gemm>& gemms, cudaStream_t stream) {
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  for (const Gemm& p : gemms)
    if (status == CUBLAS_STATUS_SUCCESS) status = gemm_ex(library, p, p.c, CUDA_R_16BF, stream);
  return as_cuda(status);
}

// A launch as a graph. Null where it cannot be captured.
std::shared_ptr<CUgraphExec_st> captured(const std::function<cudaError_t(cudaStream_t)>& launch) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "creating a stream");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing a baseline");
  const bool launched = launch(stream) == cudaSuccess;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  if (cudaStreamEndCapture(stream, &graph) == cudaSuccess && launched)
    cudaGraphInstantiate(&executable, graph, 0);
  if (graph) cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  cudaGetLastError();  // an error that it leaves is not the next launch's
  if (!executable) return nullptr;
  return {executable, [](cudaGraphExec_t it) { cudaGraphExecDestroy(it); }};
}

bool capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) == cudaSuccess && status != cudaStreamCaptureStatusNone;
}

}  // namespace

Baselines baselines(const Variant<GroupedGemm>&, const std::vector<GroupedGemm>& sets) {
  const auto library = std::make_shared<Library>();
  std::vector<std::vector<Gemm>> gemms;
  auto calls = std::make_shared<std::vector<GroupedCall>>();
  for (const GroupedGemm& p : sets) {
    std::vector<int> offsets(p.groups + 1);
    check(cudaMemcpy(offsets.data(), p.offsets, offsets.size() * sizeof(int), cudaMemcpyDeviceToHost),
          "copying the offsets to the host");
    gemms.push_back(gemms_of(p, offsets));
    calls->emplace_back(gemms.back());
  }
  std::vector<Contender> rivals;
  // Each set's loop as a graph: a launch of every product would take the host longer than some take the GPU.
  // The clock, which makes graphs of short launches itself, gets the products.
  std::vector<std::shared_ptr<CUgraphExec_st>> graphs;
  for (const std::vector<Gemm>& set : gemms)
    graphs.push_back(captured([&](cudaStream_t stream) { return loop(*library, set, stream); }));
  const Contender looped{"cublasGemmEx_loop", [=](int set, cudaStream_t stream) {
                           if (!graphs[set] || capturing(stream)) return loop(*library, gemms[set], stream);
                           return cudaGraphLaunch(graphs[set].get(), stream);
                         }};
  if (works(looped)) rivals.push_back(looped);
  const auto add = [&](const char* name, const auto& run) {
    Contender contender{name, [library, run](int set, cudaStream_t stream) {
                          const cublasStatus_t status = use(*library, stream);
                          return as_cuda(status == CUBLAS_STATUS_SUCCESS ? run(set) : status);
                        }};
    // Left out where the library refuses, or where the clock could make no graph of it.
    if (works(contender) && captured([&](cudaStream_t stream) { return contender.launch(0, stream); }))
      rivals.push_back(contender);
  };
  add("cublasGemmGroupedBatchedEx", [=](int set) { return (*calls)[set].run(*library); });
  const std::vector<Gemm>& first = gemms[0];
  const bool equal =
      first.size() == std::size_t(sets[0].groups) &&
      std::all_of(first.begin(), first.end(), [&](const Gemm& p) { return p.m == first[0].m; });
  if (equal) add("cublasGemmStridedBatchedEx", [=](int set) { return strided(*library, gemms[set]); });
  return {rivals, {}};
}

}  // namespace ladder
