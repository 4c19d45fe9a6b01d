// Keeps in L2 what is read again and again: kernels are launched while their stream has an access policy
// window over gamma, or over B. A line of the window that is read becomes a persisting one. L2 evicts none of
// these while they fit the part that is set aside for them, whatever streams through the rest.
//
// Three things bound it. The part set aside is a limit of the whole process, cudaLimitPersistingL2CacheSize,
// 3/16 of L2 unless the program has set another (--l2-set-aside). A launch leaves it alone: it would take L2
// away from every kernel after it, from cuBLAS's in turns with it, too. Of a window that does not fit, as B's
// may not, only a share of the lines is to persist, the hit ratio; if all were, they would evict each other.
// And a window has a largest size.
#include <algorithm>
#include <string_view>

#include "common/every_shape/estimate/estimate.h"
#include "common/every_shape/hopper/any_n_k.h"
#include "common/rung.h"

namespace ladder::every_shape {

Variants<FusedNorm> every_width();

namespace {

cudaError_t window_over(const void* base, std::size_t bytes, cudaStreamAttrValue& value) {
  int device = 0, largest = 0;
  std::size_t set_aside = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&largest, cudaDevAttrMaxAccessPolicyWindowSize, device);
  if (error == cudaSuccess) error = cudaDeviceGetLimit(&set_aside, cudaLimitPersistingL2CacheSize);
  if (error != cudaSuccess) return error;
  if (set_aside == 0 || largest == 0) return cudaErrorNotSupported;  // see nothing_set_aside()
  bytes = std::min(bytes, std::size_t(largest));
  const float share = std::min(1.0f, float(set_aside) / float(bytes));
  value.accessPolicyWindow = {const_cast<void*>(base), bytes, share, cudaAccessPropertyPersisting,
                              cudaAccessPropertyNormal};
  return cudaSuccess;
}

// `launch` with the window. A launch takes the attributes that its stream has at the call, as does a kernel
// node where the stream is being captured: a graph keeps the window, and the stream has its own again when
// this returns. The legacy stream, on which the harness checks, is left without one; results are the same.
template <class Launch>
cudaError_t launch_with_window(const void* base, std::size_t bytes, cudaStream_t stream,
                               const Launch& launch) {
  constexpr auto attribute = cudaStreamAttributeAccessPolicyWindow;
  cudaStreamAttrValue before{}, window{};
  cudaError_t error = window_over(base, bytes, window);
  if (error != cudaSuccess) return error;
  if (stream == nullptr) return launch();
  error = cudaStreamGetAttribute(stream, attribute, &before);
  if (error == cudaSuccess) error = cudaStreamSetAttribute(stream, attribute, &window);
  if (error != cudaSuccess) return error;
  error = launch();
  const cudaError_t restored = cudaStreamSetAttribute(stream, attribute, &before);
  return error != cudaSuccess ? error : restored;
}

// Without a window a variant would be its plain kernel. In an instance of MIG it is like that.
Text nothing_set_aside() {
  std::size_t set_aside = 0;
  const cudaError_t error = cudaDeviceGetLimit(&set_aside, cudaLimitPersistingL2CacheSize);
  if (error != cudaSuccess) cudaGetLastError();  // reported here, and not by a later launch
  return error == cudaSuccess && set_aside > 0
             ? Text()
             : "no part of L2 is set aside for lines that persist (cudaLimitPersistingL2CacheSize)";
}

cudaError_t launch_persisting_gamma(const FusedNorm& p, cudaStream_t stream) {
  static const auto launch = every_width().back().launch;
  return launch_with_window(p.gamma, sizeof p.gamma[0] * p.cols, stream, [&] { return launch(p, stream); });
}

cudaError_t launch_persisting_b(const Gemm& p, cudaStream_t stream) {
  static const auto launch =
      std::ranges::find(straight_candidates(), std::string_view("128x256"), &Candidate::name)->launch;
  return launch_with_window(p.b, sizeof p.b[0] * p.k * p.n, stream,
                            [&] { return launch(p, {}, stream, false); });
}

}  // namespace

Variants<FusedNorm> persisting_gamma() {
  return {{.name = "persisting_gamma",
           .what = "gamma's lines persist in L2, by an access policy window",
           .unsupported = [](const FusedNorm&) { return nothing_set_aside(); },
           .launch = launch_persisting_gamma,
           .extension = every_width().back().extension}};
}

Variants<Gemm> persisting_b() {
  return {{.name = "persisting_b",
           .what = "128x256 while B's lines persist in L2, as many as fit the part set aside",
           .unsupported =
               [](const Gemm& p) {
                 const Text rows = rows_of_vectors(p);
                 return rows.empty() ? nothing_set_aside() : rows;
               },
           .launch = launch_persisting_b}};
}

}  // namespace ladder::every_shape
