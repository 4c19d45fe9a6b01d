// The ceilings of this GPU, measured: how fast it copies, reads, multiplies in fp32, and multiplies on tensor
// cores. The roofline plot and the chapters use these figures, not a datasheet's: they are taken under the
// card's real power limit, on random data.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "common/benchmarks/program.h"
#include "common/benchmarks/read.h"
#include "common/benchmarks/roofs/copy.h"
#include "common/benchmarks/roofs/fp64.h"
#include "common/benchmarks/roofs/wgmma.h"
#include "common/harness/backend/device_buffer.h"
#include "common/harness/measure/benchmark.h"
#include "common/harness/report/report.h"
#include "common/ptx/mma.cuh"

namespace ladder {
namespace {

constexpr int threads = 256;
constexpr int ctas_per_sm = 8;
constexpr int steps = 4096;  // of each kernel's loop
constexpr int chains =
    16;  // independent accumulators per thread: covers the latency of an FMA four times over

// chains · steps FMAs per thread on values that neither grow nor vanish.
__global__ void __launch_bounds__(threads) fma_kernel(const __nv_bfloat16* random, float* out) {
  const int i = blockIdx.x * threads + threadIdx.x;
  float sum[chains];
  const float x = 0.5f + 0.01f * __bfloat162float(random[i]), y = __bfloat162float(random[i + 1]);
#pragma unroll
  for (int c = 0; c < chains; ++c) sum[c] = __bfloat162float(random[i + c]);
#pragma unroll 16
  for (int step = 0; step < steps; ++step)
#pragma unroll
    for (int c = 0; c < chains; ++c) sum[c] = fmaf(sum[c], x, y);
  float total = 0;
  for (int c = 0; c < chains; ++c) total += sum[c];
  out[i] = total;
}

// The products of mma.sync, by type: m16n8, and k that fills the same registers of A.
struct Bf16Mma {
  using Sum = float;
  static constexpr int sums = 4, of_b = 2, k = 16;
  static __device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], unsigned) {
    ptx::mma_m16n8k16(d, a, b);
  }
};
struct F16SumsMma {
  using Sum = unsigned;
  static constexpr int sums = 2, of_b = 2, k = 16;
  static __device__ void multiply(unsigned (&d)[2], const unsigned (&a)[4], const unsigned (&b)[2],
                                  unsigned) {
    ptx::mma_m16n8k16_f16(d, a, b);
  }
};
struct Tf32Mma {
  using Sum = float;
  static constexpr int sums = 4, of_b = 2, k = 8;
  static __device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], unsigned) {
    ptx::mma_m16n8k8_tf32(d, a, b);
  }
};
struct S8Mma {
  using Sum = int;
  static constexpr int sums = 4, of_b = 2, k = 32;
  static __device__ void multiply(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], unsigned) {
    ptx::mma_m16n8k32_s8(d, a, b);
  }
};
struct SparseMma {  // k counts what is not stored, too
  using Sum = float;
  static constexpr int sums = 4, of_b = 4, k = 32;
  static __device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[4],
                                  unsigned metadata) {
    ptx::mma_sp_m16n8k32<0>(d, a, b, metadata);
  }
};

// Eight products per step share the fragment of A, as they do in a GEMM.
constexpr int mma_steps = 1024;
constexpr int mma_products = 8;
template <class Mma>
__global__ void __launch_bounds__(threads) mma_kernel(const __nv_bfloat16* random, float* out) {
  const int i = blockIdx.x * threads + threadIdx.x;
  const unsigned* bits = reinterpret_cast<const unsigned*>(random);
  unsigned a[4], b[mma_products][Mma::of_b];
  typename Mma::Sum sum[mma_products][Mma::sums] = {};
#pragma unroll
  for (int r = 0; r < 4; ++r) a[r] = bits[i + r * 32];
#pragma unroll
  for (int p = 0; p < mma_products; ++p)
#pragma unroll
    for (int r = 0; r < Mma::of_b; ++r) b[p][r] = bits[i + 128 + p * 64 + r * 32];
  constexpr unsigned first_and_last_of_four = 0xCCCCCCCC;  // metadata, where the type has them
  for (int step = 0; step < mma_steps; ++step)
#pragma unroll
    for (int p = 0; p < mma_products; ++p) Mma::multiply(sum[p], a, b[p], first_and_last_of_four);
  float total = 0;
#pragma unroll
  for (int p = 0; p < mma_products; ++p)
#pragma unroll
    for (int r = 0; r < Mma::sums; ++r) total += float(sum[p][r]);
  out[i] = total;
}

struct Roof {
  std::string name;  // as in the records
  const char* what;
  const char* unit;
  double work;                        // per launch: bytes for GB/s, operations for TFLOPS
  std::vector<Contender> contenders;  // ways to do it, of which the fastest counts
  int sets = 1;                       // of buffers, in turn
};

// A line of the table, and a record.
void measure_roof(const Roof& roof, const System& system, JsonLines& json) {
  const Measurement m = measure(roof.contenders, roof.sets, 0, Launches::automatic);
  const Timing& fastest =
      *std::min_element(m.timings.begin(), m.timings.end(),
                        [](const Timing& a, const Timing& b) { return a.median_us < b.median_us; });
  const double per_second = roof.work / fastest.median_us * 1e6;
  const double value = per_second / (std::strcmp(roof.unit, "GB/s") == 0 ? 1e9 : 1e12);
  std::printf("%-20s %9.5g %-6s %6.0f MHz %6.0f W  %-12s %s\n", roof.name.c_str(), value, roof.unit,
              m.card.sm_clock_mhz, m.card.power_w, m.card.throttle.c_str(), roof.what);
  JsonObject o;
  o.field("record", "roof")
      .field("roof", roof.name)
      .field("what", roof.what)
      .field("value", value)
      .field("unit", roof.unit);
  o.field("median_us", fastest.median_us).field("p10_us", fastest.p10_us).field("p90_us", fastest.p90_us);
  o.field("repeats", fastest.samples);
  add_system(o, system);
  add_card_state(o, m.card);
  o.field("input", "normal(0,1)").field("seed", 1);
  json.write(o);
}

void run(const System& system, const std::string& only, JsonLines& json) {
  int device = 0, sms = 0;
  check(cudaGetDevice(&device), "getting the device");
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "counting multiprocessors");

  // The copy: 2 GiB in, 2 GiB out, or what a smaller card has room for; far more than any L2.
  const std::uint64_t most = std::uint64_t(1) << 30;
  const std::uint64_t elements = std::min(most, free_device_bytes() / 8);
  const GuardedBuffer from("the copy's source", GuardedBuffer::Kind::input, elements);
  const GuardedBuffer to("the copy's target", GuardedBuffer::Kind::output, elements);
  fill(from, {Distribution::Kind::normal}, 1);

  const int ctas = sms * ctas_per_sm;
  float* out = reinterpret_cast<float*>(to.data());
  const std::size_t vectors = elements * sizeof(__nv_bfloat16) / 16;
  // All of it, or as many bytes as a matrix of weights has, another part in each launch.
  const std::size_t short_vectors = std::min<std::size_t>(vectors, (128 << 20) / 16);
  const int parts = int(vectors / short_vectors);
  std::vector<Contender> read_streams, short_reads;
  for (const int depth : read_depths) {
    const auto read = [&, depth](std::size_t first, std::size_t count, cudaStream_t s) {
      auto* words = reinterpret_cast<unsigned*>(to.data());
      return launch_read(from.data() + first * 8, count, words, sms, depth, s);
    };
    const std::string name = "read by " + std::to_string(depth);
    read_streams.push_back({name, [=](int, cudaStream_t s) { return read(0, vectors, s); }});
    short_reads.push_back(
        {name, [=](int part, cudaStream_t s) { return read(part * short_vectors, short_vectors, s); }});
  }
  std::vector<Roof> roofs = {
      {"copy",
       "device-to-device copy, bytes read plus written",
       "GB/s",
       4.0 * double(elements),
       {{"copy",
         [&](int, cudaStream_t s) {
           return cudaMemcpyAsync(to.data(), from.data(), elements * 2, cudaMemcpyDeviceToDevice, s);
         }}}},
      {"read", "a stream that is only read", "GB/s", 16.0 * double(vectors), read_streams},
      {"read_128_mib", "128 MiB that are only read, start and end of the launch included", "GB/s",
       16.0 * double(short_vectors), short_reads, parts},
      {"fp32_fma",
       "fp32 fused multiply-add on CUDA cores",
       "TFLOPS",
       2.0 * chains * steps * threads * ctas,
       {{"fp32_fma",
         [&](int, cudaStream_t s) {
           fma_kernel<<<ctas, threads, 0, s>>>(from.data(), out);
           return cudaGetLastError();
         }}}},
  };
  auto add_mma = [&]<class Mma>(Mma, const char* name, const char* what) {
    roofs.push_back({name,
                     what,
                     "TFLOPS",
                     2.0 * 16 * 8 * Mma::k * mma_products * mma_steps * (threads / 32) * ctas,
                     {{name, [&](int, cudaStream_t s) {
                         mma_kernel<Mma><<<ctas, threads, 0, s>>>(from.data(), out);
                         return cudaGetLastError();
                       }}}});
  };
  add_mma(Bf16Mma(), "bf16_mma_sync", "bf16 tensor cores through mma.sync");
  add_mma(F16SumsMma(), "f16_f16_mma_sync", "f16, accumulated in f16");
  add_mma(Tf32Mma(), "tf32_mma_sync", "tf32");
  add_mma(S8Mma(), "s8_mma_sync", "s8");
  add_mma(SparseMma(), "bf16_sparse_mma_sync", "bf16 with a sparse A, by mma.sp; what is not stored counts");
  if (system.major == 9 && system.minor == 0) {
    roofs.push_back(
        {"bf16_wgmma",
         "bf16 tensor cores through wgmma, from shared memory",
         "TFLOPS",
         wgmma_operations(sms),
         {{"bf16_wgmma", [&](int, cudaStream_t s) { return launch_wgmma(from.data(), out, sms, s); }}}});
    roofs.push_back({"bf16_sparse_wgmma",
                     "bf16 with a sparse A, by wgmma.sp; what is not stored counts",
                     "TFLOPS",
                     wgmma_sp_operations(sms),
                     {{"bf16_sparse_wgmma",
                       [&](int, cudaStream_t s) { return launch_wgmma_sp(from.data(), out, sms, s); }}}});
    auto add_fp64 = [&](Fp64Mma mma, const char* name, const char* what) {
      roofs.push_back(
          {name, what, "TFLOPS", fp64_operations(mma, sms), {{name, [&, mma](int, cudaStream_t s) {
                                                                return launch_fp64(mma, from.data(), out, sms,
                                                                                   s);
                                                              }}}});
    };
    add_fp64(Fp64Mma::m8n8k4, "fp64_m8n8k4", "fp64 tensor cores, by the mma.sync of sm_80");
    add_fp64(Fp64Mma::m16n8k4, "fp64_m16n8k4", "fp64 tensor cores, by the mma.sync of sm_90");
  }

  // As many bytes as the chapters' norms move, in parts by turns.
  const std::size_t copied = std::min<std::size_t>(vectors, (128 << 20) / 16);
  for (const CopyInFlight way : copies_in_flight) {
    const auto copy = [&, way](int part, cudaStream_t s) {
      return launch_copy(from.data() + part * copied * 8, to.data() + part * copied * 8, copied, way, s);
    };
    const std::string name = "copy_" + std::to_string(way.kib()) + "_kib";
    roofs.push_back({name,
                     "a copy of 128 MiB, with this much in flight on an SM",
                     "GB/s",
                     32.0 * double(copied),
                     {{name, copy}},
                     int(vectors / copied)});
  }
  keep_named(roofs, only, "roof");

  std::printf("%s, driver %s, CUDA %s\n\n%-20s %16s %10s %8s  %-12s %s\n", system.device.c_str(),
              system.driver.c_str(), system.cuda.c_str(), "roof", "measured", "SM clock", "power", "throttle",
              "what");
  for (const Roof& roof : roofs) measure_roof(roof, system, json);
}

}  // namespace
}  // namespace ladder

int main(int argc, char** argv) {
  return ladder::run_benchmark(
      "roofs",
      "Measures this GPU's bandwidth of a copy and of a stream that is only read, its fp32 FMA rate and its\n"
      "tensor-core rates, by mma.sync in several types and, on compute capability 9.0, by wgmma in bf16, "
      "with a\n"
      "dense and a sparse A, and in fp64 by mma.sync of both sizes; and copies with few and many bytes in "
      "flight.\n"
      "  --only WORD   the roofs with this word in their names, such as kib",
      argc, argv, ladder::run);
}
