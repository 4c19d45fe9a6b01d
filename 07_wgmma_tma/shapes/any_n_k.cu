// Any n and k. TMA only takes matrices whose rows are multiples of 16 bytes: A is copied into padded rows
// first where k is not a multiple of 8. Where n is not, so is B, and C is copied out of padded rows at the
// end. The copies are part of the launch, and of its time.
#include "common/extension.h"
#include "common/rows/padded_rows.cuh"

namespace ladder::rung_07 {

Variants<Gemm> gemm();
cudaError_t launch_pitched(const Gemm& p, int pitch_a, int pitch_b, int pitch_c, cudaStream_t stream);

namespace {

using padded_rows::bytes_of, padded_rows::pitch_of;

// The padded copies, where there are any, in the workspace.
struct Copies {
  bool of_a, of_bc;
  std::size_t b, c, end;  // bytes from its start; A is first

  explicit Copies(const Gemm& p) : of_a(p.k % 8 != 0), of_bc(p.n % 8 != 0) {
    b = of_a ? bytes_of(p.m, p.k) : 0;
    c = b + (of_bc ? bytes_of(p.k, p.n) : 0);
    end = c + (of_bc ? bytes_of(p.m, p.n) : 0);
  }
};

cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  static const auto rung = gemm().back().launch;
  const Copies copies(p);
  if (copies.end == 0) return rung(p, stream);
  auto in_workspace = [&](std::size_t offset) {
    return reinterpret_cast<__nv_bfloat16*>(static_cast<unsigned char*>(p.typed->workspace) + offset);
  };
  Gemm padded = p;
  cudaError_t error = cudaSuccess;
  if (copies.of_a) {
    __nv_bfloat16* const a = in_workspace(0);
    error = padded_rows::launch(padded_rows::pad_kernel, p.a, a, p.m, p.k, stream);
    padded.a = a;
  }
  if (error == cudaSuccess && copies.of_bc) {
    __nv_bfloat16* const b = in_workspace(copies.b);
    error = padded_rows::launch(padded_rows::pad_kernel, p.b, b, p.k, p.n, stream);
    padded.b = b;
    padded.c = in_workspace(copies.c);
  }
  if (error == cudaSuccess)
    error = launch_pitched(padded, copies.of_a ? pitch_of(p.k) : p.k, copies.of_bc ? pitch_of(p.n) : p.n,
                           copies.of_bc ? pitch_of(p.n) : p.n, stream);
  if (error == cudaSuccess && copies.of_bc)
    error = padded_rows::launch(padded_rows::unpad_kernel, padded.c, p.c, p.m, p.n, stream);
  return error;
}

constexpr Extension<Gemm> with_workspace{.workspace_bytes = [](const Gemm& p) { return Copies(p).end; }};

}  // namespace

Variants<Gemm> any_n_k() {
  return {{.name = "any_n_k",
           .what = "any n and k: what is not aligned is copied into padded rows, in the same launch",
           .launch = launch,
           .extension = &with_workspace}};
}

}  // namespace ladder::rung_07
