// Shared memory, static and dynamic, of several types; strides that collide in banks; block barriers with
// votes and named barriers.
#include "program.h"

struct Cell {
  double weight;
  int key;
  short flags[3];
};

template <typename T>
__global__ void reverse(const T* in, T* out) {  // static
  __shared__ T values[256];
  values[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = values[255 - threadIdx.x];
}

template <typename T>
void test_reverse(const char* name) {
  std::vector<T> in(512);
  for (size_t i = 0; i < in.size(); ++i) in[i] = T(noise(uint32_t(i)) & 0x7f);
  const Buffer<T> device_in(in);
  Buffer<T> out(512);
  reverse<T><<<2, 256>>>(device_in, out);
  LAUNCHED();
  const std::vector<T> got = out.download();
  bool ok = true;
  for (int i = 0; i < 512; ++i) ok &= got[i] == in[i / 256 * 256 + 255 - i % 256];
  show(name, got);
  expect(ok, name);
}

// One dynamic array, cut into parts of different types.
__global__ void parts(uint64_t* out, int n) {
  extern __shared__ __align__(16) uint8_t memory[];
  double* doubles = reinterpret_cast<double*>(memory);
  float* floats = reinterpret_cast<float*>(doubles + n);
  uint16_t* shorts = reinterpret_cast<uint16_t*>(floats + n);
  uint8_t* bytes = reinterpret_cast<uint8_t*>(shorts + n);
  __shared__ Cell cells[32];
  __shared__ int total;
  const int t = int(threadIdx.x);
  if (t == 0) total = 0;
  if (t < 32) cells[t] = Cell{t * 0.5, t * 3, {short(t), short(-t), 9}};
  for (int i = t; i < n; i += int(blockDim.x)) {
    doubles[i] = i * 0.25;
    floats[i] = float(i * 3);
    shorts[i] = uint16_t(noise(uint32_t(i)));
    bytes[i] = uint8_t(i);
  }
  __syncthreads();
  for (int i = t; i < n; i += int(blockDim.x)) {
    const int j = (i * 7 + 5) % n;
    atomicAdd(&total, bytes[j]);
    out[i] = uint64_t(doubles[j] * 4) + uint64_t(floats[j]) * 1000 + uint64_t(shorts[j]) * 1000000 +
             bytes[j] + uint64_t(cells[j % 32].key + cells[i % 32].flags[1] + 50) * 77 +
             uint64_t(cells[j % 32].weight * 2);
  }
  __syncthreads();
  if (t == 0) out[n] = uint64_t(total);
}

// Words at every stride: the values do not depend on the banks.
__global__ void strides(uint32_t* out) {
  __shared__ uint32_t words[32 * 33];
  __shared__ float4 quads[64];
  for (int i = int(threadIdx.x); i < 32 * 33; i += 32) words[i] = noise(uint32_t(i));
  quads[threadIdx.x] = make_float4(float(threadIdx.x), 1, 2, 3);
  quads[threadIdx.x + 32] = make_float4(4, 5, 6, float(threadIdx.x));
  __syncwarp();
  uint32_t sum = 0;
  for (int stride = 0; stride <= 33; ++stride) sum = sum * 31 + words[int(threadIdx.x) * stride];
  for (int k = 0; k < 8; ++k) {
    const float4 q = quads[(int(threadIdx.x) << k) % 64];
    sum = sum * 31 + uint32_t(q.x + q.y * 2 + q.z * 3 + q.w * 4);
  }
  const uint64_t pair = reinterpret_cast<const uint64_t*>(words)[threadIdx.x * 5 % 528];
  out[threadIdx.x] = sum + uint32_t(pair >> 32) - uint32_t(pair);
}

template <int kPad>
__global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float tile[32][32 + kPad];
  int x = int(blockIdx.x * 32 + threadIdx.x), y = int(blockIdx.y * 32 + threadIdx.y);
  for (int k = 0; k < 32; k += 8)
    if (x < width && y + k < height) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
  __syncthreads();
  x = int(blockIdx.y * 32 + threadIdx.x), y = int(blockIdx.x * 32 + threadIdx.y);
  for (int k = 0; k < 32; k += 8)
    if (x < height && y + k < width) out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}

template <int kPad>
void test_transpose(const char* name) {
  constexpr int width = 71, height = 45;
  std::vector<float> in(width * height);
  for (size_t i = 0; i < in.size(); ++i) in[i] = float(i);
  const Buffer<float> device_in(in);
  Buffer<float> out(in.size());
  transpose<kPad><<<dim3(3, 2), dim3(32, 8)>>>(device_in, out, width, height);
  LAUNCHED();
  const std::vector<float> got = out.download();
  bool ok = true;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) ok &= got[x * height + y] == in[y * width + x];
  show(name, got);
  expect(ok, name);
}

__global__ void votes(int* out) {
  const int t = int(threadIdx.x), value = int(noise(uint32_t(t + blockIdx.x * 1000)) % 10);
  int* row = out + (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  row[0] = __syncthreads_count(value < 4);
  row[1] = __syncthreads_and(value < 10 - int(blockIdx.x % 2));
  row[2] = __syncthreads_or(value > 8 && t % 50 == int(blockIdx.x));
  int rounds = 0;
  while (__syncthreads_or(rounds < int(blockIdx.x) * 2 + t % 3)) ++rounds;  // as long as one still works
  row[3] = rounds;
}

// Two producers' warps and two consumers' warps hand a buffer over at named barriers.
__global__ void handover(uint32_t* out) {
  __shared__ uint32_t buffer[64];
  const uint32_t t = threadIdx.x;
  if (t < 64) {
    for (uint32_t round = 0; round < 5; ++round) {
      if (round > 0) asm volatile("bar.sync 2, 128;" ::: "memory");  // taken
      buffer[t] = noise(round * 64 + t);
      asm volatile("bar.arrive 1, 128;" ::: "memory");  // filled
    }
  } else {
    uint32_t sum = 0;
    for (uint32_t round = 0; round < 5; ++round) {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      sum = sum * 31 + buffer[(t * 5 + round) % 64];
      if (round < 4) asm volatile("bar.arrive 2, 128;" ::: "memory");
    }
    out[t - 64] = sum;
  }
}

// A barrier for each half of the block, and votes at them.
__global__ void halves(uint32_t* out) {
  __shared__ uint32_t values[128];
  const uint32_t t = threadIdx.x, half = t / 64;
  uint32_t sum = 0;
  for (uint32_t k = 0; k < 3 + half * 4; ++k) {
    values[t] = noise(t + k);
    asm volatile("barrier.sync %0, 64;" ::"r"(half + 3) : "memory");
    sum += values[half * 64 + (t + 13) % 64];
    asm volatile("barrier.sync %0, 64;" ::"r"(half + 3) : "memory");
  }
  uint32_t count, all;
  asm volatile(
      "{\n .reg .pred p, q;\n setp.ne.u32 p, %2, 0;\n barrier.red.popc.u32 %0, 7, p;\n"
      " barrier.red.and.pred q, 7, p;\n selp.u32 %1, 1, 0, q;\n}"
      : "=r"(count), "=r"(all)
      : "r"(sum & 1)
      : "memory");
  out[t] = sum + count * 1000 + all;
}

int main() {
  test_reverse<uint8_t>("uint8_t");
  test_reverse<int16_t>("int16_t");
  test_reverse<float>("float");
  test_reverse<double>("double");
  test_reverse<uint64_t>("uint64_t");

  constexpr int n = 1000;
  Buffer<uint64_t> mixed(n + 1);
  parts<<<1, 160, n*(8 + 4 + 2 + 1)>>>(mixed, n);
  LAUNCHED();
  const std::vector<uint64_t> got = mixed.download();
  bool ok = true;
  uint64_t total = 0;
  for (int i = 0; i < n; ++i) {
    const int j = (i * 7 + 5) % n;
    total += uint64_t(j & 255);
    ok &= got[i] == uint64_t(j + j * 3000) + uint64_t(uint16_t(noise(uint32_t(j)))) * 1000000 +
                        uint64_t(j & 255) + uint64_t(j % 32 * 3 - i % 32 + 50) * 77 + uint64_t(j % 32);
  }
  show("dynamic", got, 8);
  expect(ok && got[n] == total, "dynamic");

  Buffer<uint32_t> words(32);
  strides<<<1, 32>>>(words);
  LAUNCHED();
  show("strides", words.download(), 32);

  test_transpose<0>("transpose");
  test_transpose<1>("transpose, padded");

  Buffer<int> voted(5 * 200 * 4);
  votes<<<5, 200>>>(voted);
  LAUNCHED();
  const std::vector<int> row = voted.download();
  ok = true;
  for (int b = 0; b < 5; ++b) {
    int count = 0, all = 1, any = 0;
    for (int t = 0; t < 200; ++t) {
      const int value = int(noise(uint32_t(t + b * 1000)) % 10);
      count += value < 4;
      all &= value < 10 - b % 2;
      any |= value > 8 && t % 50 == b;
    }
    for (int t = 0; t < 200; ++t) {
      const int* v = &row[(b * 200 + t) * 4];
      ok &= v[0] == count && v[1] == all && v[2] == any && v[3] == b * 2 + 2;
    }
  }
  show("votes", row, 8);
  expect(ok, "votes");

  Buffer<uint32_t> handed(64);
  handover<<<1, 128>>>(handed);
  LAUNCHED();
  const std::vector<uint32_t> sums = handed.download();
  ok = true;
  for (uint32_t t = 64; t < 128; ++t) {
    uint32_t sum = 0;
    for (uint32_t round = 0; round < 5; ++round) sum = sum * 31 + noise(round * 64 + (t * 5 + round) % 64);
    ok &= sums[t - 64] == sum;
  }
  show("handover", sums);
  expect(ok, "handover");

  Buffer<uint32_t> halved(128);
  halves<<<1, 128>>>(halved);
  LAUNCHED();
  show("halves", halved.download(), 8);
  return finish();
}
