// Game of life, Mandelbrot, k-means, random numbers, breadth-first search, shortest paths, a hash table, text
// search. Built with -fmad=false: the CPU's bits are the GPU's.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "program.h"

__global__ void life(const uint8_t* from, uint8_t* to, int width, int height) {
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= width || y >= height) return;
  int alive = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy) alive += from[(y + dy + height) % height * width + (x + dx + width) % width];
  to[y * width + x] = alive == 3 || (alive == 2 && from[y * width + x]);
}

void test_life() {
  constexpr int width = 70, height = 45;
  std::vector<uint8_t> world(width * height), next(world.size());
  for (size_t i = 0; i < world.size(); ++i) world[i] = noise(uint32_t(i)) % 3 == 0;
  Buffer<uint8_t> a(world), b(world.size());
  for (int step = 0; step < 12; ++step) {
    life<<<dim3(5, 6), dim3(16, 8)>>>(step % 2 ? b : a, step % 2 ? a : b, width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        int alive = -world[y * width + x];
        for (int d = 0; d < 9; ++d)
          alive += world[(y + d / 3 - 1 + height) % height * width + (x + d % 3 - 1 + width) % width];
        next[y * width + x] = alive == 3 || (alive == 2 && world[y * width + x]);
      }
    world.swap(next);
  }
  LAUNCHED();
  show("life", a.download(), 16);
  expect(a.download() == world, "life");
}

template <typename T>
__host__ __device__ uint16_t escape(T cx, T cy, int limit) {
  T x = 0, y = 0;
  int n = 0;
  while (n < limit && x * x + y * y <= T(4)) {
    const T t = x * x - y * y + cx;
    y = T(2) * x * y + cy;
    x = t;
    ++n;
  }
  return uint16_t(n);
}
template <typename T>
__global__ void mandelbrot(uint16_t* out, int width, int height) {
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x < width && y < height)
    out[y * width + x] = escape(T(x) * T(0.03) - T(2), T(y) * T(0.04) - T(1.2), 200);
}
template <typename T>
void test_mandelbrot(const char* name) {
  constexpr int width = 96, height = 60;
  Buffer<uint16_t> out(width * height);
  mandelbrot<T><<<dim3(6, 8), dim3(16, 8)>>>(out, width, height);
  LAUNCHED();
  const std::vector<uint16_t> got = out.download();
  bool ok = true;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      ok &= got[y * width + x] == escape(T(x) * T(0.03) - T(2), T(y) * T(0.04) - T(1.2), 200);
  show(name, got, 16);
  expect(ok, name);
}

constexpr int kClusters = 5;
__global__ void assign(const float2* points, int n, const float2* centres, int* labels, int* sums) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  int best = 0;
  float nearest = INFINITY;
  for (int c = 0; c < kClusters; ++c) {
    const float dx = points[i].x - centres[c].x, dy = points[i].y - centres[c].y, d = dx * dx + dy * dy;
    if (d < nearest) nearest = d, best = c;
  }
  labels[i] = best;
  atomicAdd(&sums[best * 3], int(points[i].x));  // whole numbers: the order does not matter
  atomicAdd(&sums[best * 3 + 1], int(points[i].y));
  atomicAdd(&sums[best * 3 + 2], 1);
}
__global__ void move_centres(float2* centres, int* sums) {
  const int c = int(threadIdx.x);
  if (sums[c * 3 + 2] > 0)
    centres[c] = make_float2(float(sums[c * 3]) / float(sums[c * 3 + 2]),
                             float(sums[c * 3 + 1]) / float(sums[c * 3 + 2]));
  sums[c * 3] = sums[c * 3 + 1] = sums[c * 3 + 2] = 0;
}

void test_means() {
  constexpr int n = 1500;
  std::vector<float2> points(n), centres(kClusters);
  for (uint32_t i = 0; i < n; ++i)
    points[i] =
        make_float2(float(noise(i) % 200 + 300 * (i % 3)), float(noise(i + 5000) % 200 + 250 * (i % 2)));
  for (int c = 0; c < kClusters; ++c) centres[c] = points[c * 7];
  const Buffer<float2> device_points(points);
  Buffer<float2> device_centres(centres);
  Buffer<int> labels(n), sums(kClusters * 3);
  std::vector<int> want(n);
  for (int step = 0; step < 8; ++step) {
    assign<<<(n + 95) / 96, 96>>>(device_points, n, device_centres, labels, sums);
    move_centres<<<1, kClusters>>>(device_centres, sums);
    int total[kClusters][3] = {};
    for (int i = 0; i < n; ++i) {
      float nearest = INFINITY;
      for (int c = 0; c < kClusters; ++c) {
        const float dx = points[i].x - centres[c].x, dy = points[i].y - centres[c].y, d = dx * dx + dy * dy;
        if (d < nearest) nearest = d, want[i] = c;
      }
      int* t = total[want[i]];
      t[0] += int(points[i].x), t[1] += int(points[i].y), ++t[2];
    }
    for (int c = 0; c < kClusters; ++c)
      if (total[c][2])
        centres[c] =
            make_float2(float(total[c][0]) / float(total[c][2]), float(total[c][1]) / float(total[c][2]));
  }
  LAUNCHED();
  show("centres", device_centres.download(), 5);
  expect(labels.download() == want, "k-means");
}

// Philox-4x32-10, counter based.
__host__ __device__ void philox(uint32_t counter[4], uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t(counter[0]) * 0xD2511F53u, b = uint64_t(counter[2]) * 0xCD9E8D57u;
    const uint32_t next[4] = {uint32_t(b >> 32) ^ counter[1] ^ key0, uint32_t(b),
                              uint32_t(a >> 32) ^ counter[3] ^ key1, uint32_t(a)};
    for (int i = 0; i < 4; ++i) counter[i] = next[i];
    key0 += 0x9E3779B9u, key1 += 0xBB67AE85u;
  }
}
__global__ void circle(unsigned* inside, uint64_t* congruential) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned hits = 0;
  for (uint32_t k = 0; k < 16; ++k) {
    uint32_t r[4] = {i, k, 0, 0};
    philox(r, 1234, 5678);
    for (int p = 0; p < 4; p += 2) {
      const float x = float(r[p]) * 0x1p-32f, y = float(r[p + 1]) * 0x1p-32f;
      hits += x * x + y * y < 1.0f;
    }
  }
  hits = __reduce_add_sync(~0u, hits);
  if (threadIdx.x % 32 == 0) atomicAdd(inside, hits);
  uint64_t state = i;
  for (int k = 0; k < 50; ++k) state = state * 6364136223846793005ull + 1442695040888963407ull;
  congruential[i] = state ^ state >> 31;
}

void test_random() {
  Buffer<unsigned> inside(1);
  Buffer<uint64_t> congruential(2048);
  circle<<<16, 128>>>(inside, congruential);
  LAUNCHED();
  uint32_t r[4] = {0, 0, 0, 0};
  philox(r, 0, 0);
  expect(r[0] == 0x6627e8d5u && r[1] == 0xe169c58du && r[2] == 0xbc57ac4cu && r[3] == 0x9b00dbd8u,
         "Philox's known answer");
  const double pi = 4.0 * inside.download()[0] / (2048 * 32);
  show("points inside", inside.download());
  show("congruential", congruential.download());
  expect(std::fabs(pi - 3.14159) < 0.03, "pi");
}

__global__ void expand(const int* starts, const int* edges, const int* frontier, int size, int* distances,
                       int* next, int* next_size, int level) {
  const int t = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (t >= size) return;
  const int node = frontier[t];
  for (int e = starts[node]; e < starts[node + 1]; ++e)
    if (atomicCAS(&distances[edges[e]], -1, level) == -1) next[atomicAdd(next_size, 1)] = edges[e];
}
__global__ void shortest(int* d, int n, int k) {
  const int i = int(blockIdx.y * blockDim.y + threadIdx.y), j = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n && j < n && i != k && j != k) d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

void test_graphs() {
  constexpr int n = 2000;
  std::vector<int> starts(1, 0), edges, want(n, -1), queue(1, 0);
  for (int i = 0; i < n; ++i) {
    for (uint32_t k = 0; k < noise(uint32_t(i)) % 4; ++k)
      edges.push_back(int(noise(uint32_t(i) * 5 + k) % n));
    starts.push_back(int(edges.size()));
  }
  want[0] = 0;
  for (size_t q = 0; q < queue.size(); ++q)
    for (int e = starts[queue[q]]; e < starts[queue[q] + 1]; ++e)
      if (want[edges[e]] < 0) want[edges[e]] = want[queue[q]] + 1, queue.push_back(edges[e]);
  std::vector<int> unknown(n, -1);
  unknown[0] = 0;
  const Buffer<int> ds(starts), de(edges);
  Buffer<int> distances(unknown), a(n), b(n), size(1);
  int count = 1, level = 0;
  while (count > 0) {
    CUDA(cudaMemset(size, 0, 4));
    expand<<<(count + 63) / 64, 64>>>(ds, de, level % 2 ? b : a, count, distances, level % 2 ? a : b, size,
                                      level + 1);
    LAUNCHED();
    count = size.download()[0];
    ++level;
  }
  std::printf("levels: %d\n", level);
  show("breadth first", distances.download());
  expect(distances.download() == want, "breadth first");

  constexpr int nodes = 50;
  std::vector<int> d(nodes * nodes);
  for (int i = 0; i < nodes * nodes; ++i)
    d[i] = i / nodes == i % nodes   ? 0
           : noise(uint32_t(i)) % 6 ? 1000000
                                    : int(noise(uint32_t(i + 9999)) % 100) + 1;
  Buffer<int> device_d(d);
  for (int k = 0; k < nodes; ++k) {
    shortest<<<dim3(4, 7), dim3(16, 8)>>>(device_d, nodes, k);
    for (int i = 0; i < nodes; ++i)
      for (int j = 0; j < nodes; ++j)
        d[i * nodes + j] = std::min(d[i * nodes + j], d[i * nodes + k] + d[k * nodes + j]);
  }
  LAUNCHED();
  show("shortest paths", device_d.download());
  expect(device_d.download() == d, "shortest paths");
}

struct Slot {
  uint32_t key, value;
};
constexpr uint32_t kEmpty = ~0u, kSlots = 4096;
__global__ void insert(Slot* table, const uint32_t* keys, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  for (uint32_t s = noise(keys[i]) % kSlots;; s = (s + 1) % kSlots) {
    const uint32_t old = atomicCAS(&table[s].key, kEmpty, keys[i]);
    if (old == kEmpty || old == keys[i]) {
      atomicAdd(&table[s].value, 1u);
      return;
    }
  }
}
__global__ void find(const Slot* table, const uint32_t* keys, uint32_t* counts, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  counts[i] = 0;
  for (uint32_t s = noise(keys[i]) % kSlots; table[s].key != kEmpty; s = (s + 1) % kSlots)
    if (table[s].key == keys[i]) {
      counts[i] = table[s].value;
      break;
    }
}

void test_table() {
  constexpr int n = 3000;
  std::vector<uint32_t> keys(n), wanted(n), want(n);
  for (uint32_t i = 0; i < n; ++i) keys[i] = noise(i) % 2000, wanted[i] = noise(i + 40000) % 3000;
  for (int i = 0; i < n; ++i) want[i] = uint32_t(std::count(keys.begin(), keys.end(), wanted[i]));
  Buffer<Slot> table(std::vector<Slot>(kSlots, Slot{kEmpty, 0}));
  const Buffer<uint32_t> device_keys(keys), device_wanted(wanted);
  Buffer<uint32_t> counts(n);
  insert<<<(n + 127) / 128, 128>>>(table, device_keys, n);
  find<<<(n + 127) / 128, 128>>>(table, device_wanted, counts, n);
  LAUNCHED();
  show("hash table", counts.download(), 8);
  expect(counts.download() == want, "hash table");
}

__constant__ char pattern[16];
__global__ void search(const char* text, int n, int length, int* places, int* count) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i + length > n) return;
  for (int k = 0; k < length; ++k)
    if (text[i + k] != pattern[k]) return;
  places[atomicAdd(count, 1)] = i;
}

void test_search() {
  std::string text;
  for (uint32_t i = 0; i < 12000; ++i) text += char('a' + noise(i) % 3);
  const std::string word = "abcab";
  std::vector<int> want;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    want.push_back(int(at));
  CUDA(cudaMemcpyToSymbol(pattern, word.data(), word.size()));
  const Buffer<char> device_text(std::vector<char>(text.begin(), text.end()));
  Buffer<int> places(text.size()), count(1);
  search<<<int(text.size() + 255) / 256, 256>>>(device_text, int(text.size()), int(word.size()), places,
                                                count);
  LAUNCHED();
  std::vector<int> got = places.download();
  got.resize(size_t(count.download()[0]));
  std::sort(got.begin(), got.end());
  show("text search", got);
  expect(got == want, "text search");
}

int main() {
  test_life();
  test_mandelbrot<float>("Mandelbrot, float");
  test_mandelbrot<double>("Mandelbrot, double");
  test_means();
  test_random();
  test_graphs();
  test_table();
  test_search();
  return finish();
}
