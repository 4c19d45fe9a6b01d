#include "common/harness/problems/gemm/library_reference.h"

#include <cuda_runtime_api.h>

#include <span>

#include "common/harness/backend/device_buffer.h"
#include "common/harness/base/failure.h"
#include "common/harness/cublas/library.h"

namespace ladder {

static void cublas_reference(const std::vector<Gemm>& gemms, float* out) {
  Library library;
  for (const Gemm& p : gemms) {
    check(gemm_ex(library, p, out, CUDA_R_32F, nullptr), "computing the reference");
    out += std::size_t(p.m) * std::size_t(p.n);
  }
  ladder::check(cudaDeviceSynchronize(), "computing the reference");
}

static void cublas_reference(const Gemm& p, const double* a, const double* b, double* out) {
  Library library;
  const double one = 1, zero = 0;
  check(cublasDgemm(library.blas, CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &one, b, p.n, a, p.k, &zero, out,
                    p.n),
        "computing the reference");
  ladder::check(cudaDeviceSynchronize(), "computing the reference");
}

std::vector<float> library_reference(const std::vector<Gemm>& gemms) {
  std::size_t elements = 0;
  for (const Gemm& p : gemms) elements += std::size_t(p.m) * std::size_t(p.n);
  std::vector<float> host(elements);
  const std::size_t bytes = host.size() * sizeof(float);
  float* device = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&device), bytes), "GPU memory for the reference");
  cublas_reference(gemms, device);
  const cudaError_t copied = cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device);
  check(copied, "copying the reference to the host");
  return host;
}

std::vector<double> library_reference(const Gemm& shape, const std::vector<float>& a,
                                      const std::vector<float>& b) {
  auto on_device = [](const char* name, const std::vector<float>& matrix) {
    const std::vector<double> wide(matrix.begin(), matrix.end());
    GuardedBuffer buffer(name, GuardedBuffer::Kind::input, wide.size(), sizeof(double));
    check(cudaMemcpy(buffer.as<void>(), wide.data(), buffer.bytes(), cudaMemcpyHostToDevice),
          "copying the reference's factors to the GPU");
    return buffer;
  };
  const GuardedBuffer wide_a = on_device("A in fp64", a), wide_b = on_device("B in fp64", b);
  std::vector<double> host(std::size_t(shape.m) * std::size_t(shape.n));
  const GuardedBuffer wide_c("C in fp64", GuardedBuffer::Kind::output, host.size(), sizeof(double));
  cublas_reference(shape, wide_a.as<double>(), wide_b.as<double>(), wide_c.as<double>());
  wide_c.copy_to_host(0, std::span(host));
  return host;
}

}  // namespace ladder
