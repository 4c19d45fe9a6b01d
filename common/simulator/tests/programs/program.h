// What the test programs share: an error check after every call, device buffers, and output that is the same
// on every machine: exact bits, integers, hashes, never a time or an address.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Ends the program with the error's name when the call did not succeed.
#define CUDA(...) require((__VA_ARGS__), #__VA_ARGS__, __LINE__)
// After a launch: it was accepted and ran.
#define LAUNCHED()                 \
  do {                             \
    CUDA(cudaGetLastError());      \
    CUDA(cudaDeviceSynchronize()); \
  } while (0)

inline void require(cudaError_t error, const char* call, int line) {
  if (error == cudaSuccess) return;
  std::printf("line %d: %s: %s\n", line, call, cudaGetErrorName(error));
  std::exit(2);
}

// A device array that frees itself.
template <typename T>
struct Buffer {
  T* data = nullptr;
  size_t size;

  explicit Buffer(size_t n) : size(n) {
    CUDA(cudaMalloc(&data, n * sizeof(T)));
    CUDA(cudaMemset(data, 0, n * sizeof(T)));
  }
  explicit Buffer(const std::vector<T>& host) : size(host.size()) {
    CUDA(cudaMalloc(&data, size * sizeof(T)));
    CUDA(cudaMemcpy(data, host.data(), size * sizeof(T), cudaMemcpyHostToDevice));
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data); }

  std::vector<T> download() const {
    std::vector<T> host(size);
    CUDA(cudaMemcpy(host.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }
  operator T*() const { return data; }
};

inline uint64_t hash_bytes(const void* data, size_t size) {  // FNV-1a
  uint64_t hash = 14695981039346656037ull;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<const uint8_t*>(data)[i]) * 1099511628211ull;
  return hash;
}

// One line: the name, how many values, the hash of all, and the first few in hexadecimal, as integers of
// their size.
template <typename T>
void show(const char* name, const T* values, size_t count, size_t first = 4) {
  std::printf("%s: %zu values, hash %016llx:", name, count,
              static_cast<unsigned long long>(hash_bytes(values, count * sizeof(T))));
  for (size_t i = 0; i < count && i < first; ++i) {
    std::printf(" ");
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(values + i);
    for (size_t b = sizeof(T); b-- > 0;) std::printf("%02x", bytes[b]);
  }
  std::printf("\n");
}
template <typename T>
void show(const char* name, const std::vector<T>& values, size_t first = 4) {
  show(name, values.data(), values.size(), first);
}

inline int& failures() {
  static int count = 0;
  return count;
}

// The program's own check against the CPU.
inline void expect(bool ok, const char* what) {
  std::printf("%s: %s\n", what, ok ? "ok" : "WRONG");
  if (!ok) ++failures();
}

// The last line of main(): the exit code.
inline int finish() {
  std::printf(failures() == 0 ? "passed\n" : "FAILED\n");
  return failures() == 0 ? 0 : 1;
}

// Noise that depends on i alone, the same on host and device.
__host__ __device__ inline uint32_t noise(uint32_t i) {
  i = (i ^ 61u) ^ (i >> 16);
  i *= 9u;
  i ^= i >> 4;
  i *= 0x27d4eb2du;
  return i ^ (i >> 15);
}
__host__ __device__ inline uint64_t noise64(uint32_t i) {
  return (uint64_t(noise(2 * i + 1)) << 32) | noise(2 * i);
}
