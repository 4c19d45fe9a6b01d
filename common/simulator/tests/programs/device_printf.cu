// printf in kernels. Lines of one thread keep their order; those of different threads are sorted here.
#include <unistd.h>

#include <algorithm>
#include <string>

#include "program.h"

__global__ void formats() {
  printf("plain\n");
  printf("%d %i %u %x %X %o %c %%\n", -5, 7, 4000000000u, 48879, 48879, 8, 'z');
  printf("[%5d|%-5d|%05d|%+d|% d]\n", 42, 42, 42, 42, 42);
  printf("%lld %llu %llx %ld\n", -(1ll << 60), ~0ull, 1ull << 44, 123456789012l);
  printf("%f %e %g %.3f %10.2f %G\n", 3.14159265358979, 12345.678, 1e-10, 2.0f / 3.0f, -7.5, 1e20);
  printf("%s and %10s|%-8s|%.2s\n", "text", "right", "left", "cut");
  printf("%hd %hu %p\n", short(-3), (unsigned short)(65535), (void*)0x1234abcd);
  printf("%a %f %f\n", 1.0, INFINITY, -INFINITY);
  const int written = printf("two %d %d\n", 1, 2);
  printf("returned %d\n", written);
  printf("nothing here: %d%s\n", 0, "");
}

__global__ void many(int base) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i % 5 == 2)
    printf("thread %03d of block (%d,%d) says %d\n", i, int(blockIdx.x), int(blockIdx.y), base * i);
  else if (i % 7 == 0)
    printf("%03d: %.2f %s\n", i, i * 0.25, i % 2 ? "odd" : "even");
}

// What a kernel printed, by way of a file in place of standard output.
template <typename Launch>
std::string printed(Launch launch) {
  std::fflush(stdout);
  std::FILE* file = std::tmpfile();
  const int saved = dup(1);
  dup2(fileno(file), 1);
  launch();
  LAUNCHED();
  std::fflush(stdout);
  dup2(saved, 1);
  close(saved);
  std::string text;
  std::rewind(file);
  for (int c; (c = std::fgetc(file)) != EOF;) text += char(c);
  std::fclose(file);
  return text;
}

int main() {
  size_t size = 0;
  CUDA(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 << 20));
  CUDA(cudaDeviceGetLimit(&size, cudaLimitPrintfFifoSize));
  expect(size >= 2 << 20, "size of the buffer");
  std::printf("%s", printed([] { formats<<<1, 1>>>(); }).c_str());
  const std::string text = printed([] { many<<<dim3(3, 1), 40>>>(11); });
  std::vector<std::string> lines;
  for (size_t start = 0; start < text.size();) {
    const size_t end = text.find('\n', start);
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  std::sort(lines.begin(), lines.end());
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
  expect(lines.size() == 24 + 14, "lines");
  // Once a kernel has printed it is too late to choose the buffer's size.
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4 << 20)));
  return finish();
}
