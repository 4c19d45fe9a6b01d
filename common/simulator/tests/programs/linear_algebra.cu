// Matrices, sparse matrices, stencils, bodies and the Fourier transform. Built with -fmad=false, so that the
// CPU's bits are the GPU's; __fmaf_rn and its like stay one instruction.
#include <cmath>
#include <complex>

#include "program.h"

float small(uint32_t i) {
  return float(int(noise(i) % 2001) - 1000) * 0.001f;
}

template <int kTile>
__global__ void tiled_product(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile + 1];
  const int x = int(threadIdx.x), y = int(threadIdx.y);
  const int row = int(blockIdx.y) * kTile + y, column = int(blockIdx.x) * kTile + x;
  float sum = 0;
  for (int start = 0; start < k; start += kTile) {
    tile_a[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0;
    tile_b[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum = __fmaf_rn(tile_a[y][i], tile_b[i][x], sum);
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

// Eight results a thread, from registers.
__global__ void register_product(const double* a, const double* b, double* c, int n) {
  __shared__ double tile_a[32][9], tile_b[8][32];
  double sums[4][2] = {};
  const int x = int(threadIdx.x), y = int(threadIdx.y), t = y * 16 + x;
  for (int start = 0; start < n; start += 8) {
    for (int i = t; i < 256; i += 128) {
      tile_a[i / 8][i % 8] = a[(int(blockIdx.y) * 32 + i / 8) * n + start + i % 8];
      tile_b[i / 32][i % 32] = b[(start + i / 32) * n + int(blockIdx.x) * 32 + i % 32];
    }
    __syncthreads();
    for (int k = 0; k < 8; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 2; ++j) sums[i][j] = fma(tile_a[y * 4 + i][k], tile_b[k][x * 2 + j], sums[i][j]);
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j)
      c[(int(blockIdx.y) * 32 + y * 4 + i) * n + int(blockIdx.x) * 32 + x * 2 + j] = sums[i][j];
}

void test_products() {
  constexpr int m = 45, n = 70, k = 53;
  std::vector<float> a(m * k), b(k * n), want(m * n);
  for (size_t i = 0; i < a.size(); ++i) a[i] = small(uint32_t(i));
  for (size_t i = 0; i < b.size(); ++i) b[i] = small(uint32_t(i + 100000));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum = std::fma(a[i * k + l], b[l * n + j], sum);
      want[i * n + j] = sum;
    }
  const Buffer<float> da(a), db(b);
  Buffer<float> c(want.size());
  tiled_product<16><<<dim3(5, 3), dim3(16, 16)>>>(da, db, c, m, n, k);
  LAUNCHED();
  show("product, tiles of 16", c.download());
  expect(c.download() == want, "product, tiles of 16");
  CUDA(cudaMemset(c, 0, c.size * 4));
  tiled_product<32><<<dim3(3, 2), dim3(32, 32)>>>(da, db, c, m, n, k);
  LAUNCHED();
  expect(c.download() == want, "product, tiles of 32");

  constexpr int size = 64;
  std::vector<double> p(size * size), q(size * size), r(size * size);
  for (size_t i = 0; i < p.size(); ++i)
    p[i] = small(uint32_t(i)) / 3.0, q[i] = small(uint32_t(i + 9000)) / 7.0;
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) {
      double sum = 0;
      for (int l = 0; l < size; ++l) sum = std::fma(p[i * size + l], q[l * size + j], sum);
      r[i * size + j] = sum;
    }
  const Buffer<double> dp(p), dq(q);
  Buffer<double> dr(r.size());
  register_product<<<dim3(2, 2), dim3(16, 8)>>>(dp, dq, dr, size);
  LAUNCHED();
  show("product of doubles", dr.download());
  expect(dr.download() == r, "product of doubles");
}

__global__ void sparse(const int* rows, const int* columns, const float* values, const float* x, float* y,
                       int n) {
  const int row = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= n) return;
  float sum = 0;
  for (int i = rows[row]; i < rows[row + 1]; ++i) sum += values[i] * __ldg(&x[columns[i]]);
  y[row] = sum;
}
// A warp for each row.
__global__ void sparse_by_warps(const int* rows, const int* columns, const float* values, const float* x,
                                float* y, int n) {
  const int row = int(blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = int(threadIdx.x % 32);
  if (row >= n) return;
  float sum = 0;
  for (int i = rows[row] + lane; i < rows[row + 1]; i += 32) sum += values[i] * x[columns[i]];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (lane == 0) y[row] = sum;
}

void test_sparse() {
  constexpr int n = 500;
  std::vector<int> rows(1, 0), columns;
  std::vector<float> values, x(n), want(n);
  for (int i = 0; i < n; ++i) x[i] = float(int(noise(uint32_t(i)) % 65) - 32);
  for (int i = 0; i < n; ++i) {
    const uint32_t length = i % 50 == 7 ? 130 : noise(uint32_t(i + 5000)) % 9;
    for (uint32_t k = 0; k < length; ++k) {
      columns.push_back(int(noise(uint32_t(i * 131) + k) % n));
      values.push_back(float(int(noise(uint32_t(i * 17) + k) % 33) - 16) * 0.5f);  // sums are exact
      want[i] += values.back() * x[columns.back()];
    }
    rows.push_back(int(columns.size()));
  }
  const Buffer<int> dr(rows), dc(columns);
  const Buffer<float> dv(values), dx(x);
  Buffer<float> y(n), by_warps(n);
  sparse<<<4, 128>>>(dr, dc, dv, dx, y, n);
  sparse_by_warps<<<(n * 32 + 127) / 128, 128>>>(dr, dc, dv, dx, by_warps, n);
  LAUNCHED();
  show("sparse", y.download());
  expect(y.download() == want && by_warps.download() == want, "sparse");
}

__global__ void heat(const float* from, float* to, int width, int height) {  // with a frame in shared memory
  __shared__ float tile[10][34];
  const int x = int(blockIdx.x * 32 + threadIdx.x), y = int(blockIdx.y * 8 + threadIdx.y);
  const int tx = int(threadIdx.x) + 1, ty = int(threadIdx.y) + 1;
  auto at = [&](int px, int py) {
    px = min(max(px, 0), width - 1), py = min(max(py, 0), height - 1);
    return from[py * width + px];
  };
  tile[ty][tx] = at(x, y);
  if (tx == 1) tile[ty][0] = at(x - 1, y);
  if (tx == 32) tile[ty][33] = at(x + 1, y);
  if (ty == 1) tile[0][tx] = at(x, y - 1);
  if (ty == 8) tile[9][tx] = at(x, y + 1);
  __syncthreads();
  if (x >= width || y >= height) return;
  const float sides = (tile[ty][tx - 1] + tile[ty][tx + 1]) + (tile[ty - 1][tx] + tile[ty + 1][tx]);
  to[y * width + x] = tile[ty][tx] + 0.2f * (sides - 4.0f * tile[ty][tx]);
}

__global__ void wave(const double* now, const double* before, double* next, int n) {  // in three dimensions
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  for (int z = 1; z < n - 1; ++z) {
    const int i = (z * n + y) * n + x;
    const double around = now[i - 1] + now[i + 1] + now[i - n] + now[i + n] + now[i - n * n] + now[i + n * n];
    next[i] = 2 * now[i] - before[i] + 0.1 * (around - 6 * now[i]);
  }
}

void test_stencils() {
  constexpr int width = 75, height = 43;
  std::vector<float> grid(width * height), other(grid.size());
  for (size_t i = 0; i < grid.size(); ++i) grid[i] = small(uint32_t(i)) * 50;
  Buffer<float> a(grid), b(grid.size());
  for (int step = 0; step < 10; ++step) {
    heat<<<dim3(3, 6), dim3(32, 8)>>>(step % 2 ? b : a, step % 2 ? a : b, width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        auto at = [&](int px, int py) {
          px = std::min(std::max(px, 0), width - 1), py = std::min(std::max(py, 0), height - 1);
          return grid[py * width + px];
        };
        const float sides = (at(x - 1, y) + at(x + 1, y)) + (at(x, y - 1) + at(x, y + 1));
        other[y * width + x] = at(x, y) + 0.2f * (sides - 4.0f * at(x, y));
      }
    grid.swap(other);
  }
  LAUNCHED();
  show("heat", a.download());
  expect(a.download() == grid, "heat");

  constexpr int n = 20;
  std::vector<double> start(n * n * n, 0.0);
  start[(n / 2 * n + n / 2) * n + n / 2] = 1;
  Buffer<double> volumes[3] = {Buffer<double>(start), Buffer<double>(start), Buffer<double>(start.size())};
  std::vector<double> cpu[3] = {start, start, std::vector<double>(start.size())};
  for (int step = 0; step < 8; ++step) {
    const int now = (step + 1) % 3, before = step % 3, next = (step + 2) % 3;
    wave<<<dim3(2, 3), dim3(16, 8)>>>(volumes[now], volumes[before], volumes[next], n);
    for (int z = 1; z < n - 1; ++z)
      for (int y = 1; y < n - 1; ++y)
        for (int x = 1; x < n - 1; ++x) {
          const int i = (z * n + y) * n + x;
          const std::vector<double>& v = cpu[now];
          const double around = v[i - 1] + v[i + 1] + v[i - n] + v[i + n] + v[i - n * n] + v[i + n * n];
          cpu[next][i] = 2 * v[i] - cpu[before][i] + 0.1 * (around - 6 * v[i]);
        }
  }
  LAUNCHED();
  show("wave", volumes[0].download());
  expect(volumes[0].download() == cpu[0], "wave");
}

__host__ __device__ float4 attraction(float4 a, float4 b, float4 sum) {
  const float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
  const float squared = dx * dx + dy * dy + dz * dz + 0.01f;
  const float strength = b.w / (squared * sqrtf(squared));
  sum.x += dx * strength, sum.y += dy * strength, sum.z += dz * strength;
  return sum;
}
__global__ void bodies(const float4* positions, float4* forces, int n) {
  __shared__ float4 others[64];
  const int i = int(blockIdx.x * 64 + threadIdx.x);
  const float4 mine = i < n ? positions[i] : make_float4(0, 0, 0, 0);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int start = 0; start < n; start += 64) {
    const int k = start + int(threadIdx.x);
    others[threadIdx.x] = k < n ? positions[k] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int j = 0; j < 64; ++j) sum = attraction(mine, others[j], sum);
    __syncthreads();
  }
  if (i < n) forces[i] = sum;
}

void test_bodies() {
  constexpr int n = 200;
  std::vector<float4> positions(n), want(n);
  for (uint32_t i = 0; i < n; ++i)
    positions[i] = make_float4(small(i * 4), small(i * 4 + 1), small(i * 4 + 2), 1 + small(i * 4 + 3));
  for (int i = 0; i < n; ++i) {
    want[i] = make_float4(0, 0, 0, 0);
    for (int j = 0; j < 256; ++j)
      want[i] = attraction(positions[i], j < n ? positions[j] : make_float4(0, 0, 0, 0), want[i]);
  }
  const Buffer<float4> in(positions);
  Buffer<float4> forces(n);
  bodies<<<4, 64>>>(in, forces, n);
  LAUNCHED();
  const std::vector<float4> got = forces.download();
  show("bodies", got);
  expect(std::memcmp(got.data(), want.data(), n * sizeof(float4)) == 0, "bodies");
}

// 256 points in shared memory, one transform a block.
__global__ void fourier(const float2* in, float2* out) {
  __shared__ float2 values[256];
  const uint32_t t = threadIdx.x;
  for (uint32_t k = t; k < 256; k += 128) values[__brev(k) >> 24] = in[blockIdx.x * 256 + k];
  __syncthreads();
  for (uint32_t half = 1; half < 256; half *= 2) {
    const uint32_t j = t % half, i = t / half * half * 2 + j;
    float sine, cosine;
    sincospif(-float(j) / float(half), &sine, &cosine);
    const float2 a = values[i], b = values[i + half];
    const float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    __syncthreads();
    values[i] = make_float2(a.x + turned.x, a.y + turned.y);
    values[i + half] = make_float2(a.x - turned.x, a.y - turned.y);
    __syncthreads();
  }
  for (uint32_t k = t; k < 256; k += 128) out[blockIdx.x * 256 + k] = values[k];
}

void test_fourier() {
  constexpr int n = 256, count = 4;
  std::vector<float2> in(n * count);
  for (uint32_t i = 0; i < in.size(); ++i) in[i] = make_float2(small(i), small(i + 7777));
  const Buffer<float2> device_in(in);
  Buffer<float2> out(in.size());
  fourier<<<count, 128>>>(device_in, out);
  LAUNCHED();
  const std::vector<float2> got = out.download();
  double worst = 0;
  for (int b = 0; b < count; ++b)
    for (int k = 0; k < n; ++k) {
      std::complex<double> sum = 0;
      for (int i = 0; i < n; ++i)
        sum +=
            std::complex<double>(in[b * n + i].x, in[b * n + i].y) * std::polar(1.0, -2 * M_PI * i * k / n);
      worst = std::max(worst, std::abs(sum - std::complex<double>(got[b * n + k].x, got[b * n + k].y)));
    }
  show("Fourier", got);
  expect(worst < 1e-4, "Fourier");
}

int main() {
  test_products();
  test_sparse();
  test_stencils();
  test_bodies();
  test_fourier();
  return finish();
}
