// Variables of the device: global, constant and managed, with initial values and pointers to one another;
// copies by symbol; what the host and several kernels see of them.
#include "program.h"

struct Node {
  int value;
  const Node* next;
};

__device__ int counter = 7;
__device__ double table[5] = {0.5, -1.25, 3e300, 0, 42};
__device__ uint8_t bytes[] = "device text";
__device__ short matrix[3][4] = {{1, 2, 3}, {4}, {}};
__device__ Node tail = {3, nullptr};
__device__ Node middle = {2, &tail};
__device__ const Node head = {1, &middle};
__device__ int* pointer = &counter;
__device__ double* into_table = table + 3;
__device__ const char* texts[2] = {"first", "second"};
__device__ unsigned zeroed[300];
__device__ float4 vector = {1, 2, 3, 4};
static __device__ int hidden = 11;
namespace inner {
__device__ long long named = -(1ll << 40);
}
__constant__ float coefficients[64] = {1, 2, 3};
__constant__ struct {
  char letter;
  int number;
  double real;
} settings = {'k', -5, 2.5};
__constant__ int lookup[8] = {7, 6, 5, 4, 3, 2, 1, 0};
__managed__ int managed = 100;
__managed__ unsigned managed_array[64] = {9, 8, 7};
template <typename T>
__device__ T templated = T(13);

__global__ void initial(long long* out) {
  int n = 0;
  out[n++] = counter;
  for (double x : table) out[n++] = __double_as_longlong(x);
  for (uint8_t b : bytes) out[n++] = b;
  for (auto& row : matrix)
    for (short x : row) out[n++] = x;
  for (const Node* node = &head; node; node = node->next) out[n++] = node->value;  // 1, 2, 3
  out[n++] = *pointer;
  out[n++] = int(into_table[1]);
  out[n++] = texts[1][2] * 256 + texts[0][4];
  out[n++] = zeroed[123];
  out[n++] = int(vector.z);
  out[n++] = hidden;
  out[n++] = inner::named;
  out[n++] = int(coefficients[1] * 2) + int(coefficients[40]);
  out[n++] = settings.letter * 1000 + settings.number * 10 + int(settings.real * 2);
  out[n++] = managed + int(managed_array[2]);
  out[n++] = templated<int> + int(templated<float>);
  while (n < 60) out[n++] = 0;
}

__global__ void changes(int by) {
  const int i = int(threadIdx.x);
  atomicAdd(&counter, by);
  zeroed[i] += unsigned(i * by);
  atomicAdd(&managed_array[i % 64], 1u);
  if (i == 0) {
    atomicAdd(pointer, 1000);
    pointer = &hidden;
    into_table[0] = 6.5;
    middle.next = nullptr;
    middle.value = 5;
    managed = managed * 2;
    texts[0] = texts[1] + 1;
    templated<float> = 2.5f;
  }
}

__global__ void indirect(int* out) {  // each lane its own constant, then all the same
  const int i = int(threadIdx.x);
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum = sum * 10 + lookup[(i + k) % 8];
  out[i] = sum + int(coefficients[i % 4] * 100) + (i < 3 ? lookup[3] : 0);
}

int main() {
  Buffer<long long> out(60);
  initial<<<1, 1>>>(out);
  LAUNCHED();
  std::vector<long long> got = out.download();
  show("initial values", got, 60);
  expect(got[0] == 7 && got[6] == 'd', "initial values");

  changes<<<1, 256>>>(3);
  LAUNCHED();
  expect(managed == 200 && managed_array[0] == 13 && managed_array[63] == 4, "managed, seen by the host");
  managed = 77;
  managed_array[2] = 1000;
  int number = 0;
  CUDA(cudaMemcpyFromSymbol(&number, counter, sizeof number));
  expect(number == 7 + 3 * 256 + 1000, "copy from a symbol");
  unsigned some[4];
  CUDA(cudaMemcpyFromSymbol(some, zeroed, sizeof some, 10 * sizeof(unsigned)));
  expect(some[0] == 30 && some[3] == 39, "copy from inside a symbol");
  number = -50;
  CUDA(cudaMemcpyToSymbol(hidden, &number, sizeof number));
  const float middle_coefficients[2] = {0.25f, 0.125f};
  CUDA(cudaMemcpyToSymbol(coefficients, middle_coefficients, sizeof middle_coefficients, sizeof(float)));
  const int new_lookup[8] = {1, 3, 5, 7, 9, 2, 4, 6};
  CUDA(cudaMemcpyToSymbolAsync(lookup, new_lookup, sizeof new_lookup, 0, cudaMemcpyHostToDevice, nullptr));
  void* address = nullptr;
  size_t size = 0;
  CUDA(cudaGetSymbolAddress(&address, table));
  CUDA(cudaGetSymbolSize(&size, table));
  const double replacement = -0.75;
  CUDA(cudaMemcpy(static_cast<double*>(address) + 1, &replacement, 8, cudaMemcpyHostToDevice));
  CUDA(cudaGetSymbolAddress(&address, zeroed));
  CUDA(cudaMemset(static_cast<unsigned*>(address) + 123, 0xab, 4));
  expect(size == 40, "size of a symbol");

  initial<<<1, 1>>>(out);
  LAUNCHED();
  got = out.download();
  show("changed values", got, 60);
  Buffer<int> indexed(64);
  indirect<<<1, 64>>>(indexed);
  LAUNCHED();
  show("indexed constants", indexed.download());
  expect(indexed.download()[0] == 13579246 + 100 + 7, "indexed constants");

  int* allocated = nullptr;
  CUDA(cudaMallocManaged(&allocated, 256 * sizeof(int)));
  for (int i = 0; i < 256; ++i) allocated[i] = i;
  indirect<<<1, 64>>>(allocated + 64);
  LAUNCHED();
  long long sum = 0;
  for (int i = 0; i < 256; ++i) sum += allocated[i];
  std::printf("managed allocation: %lld\n", sum);
  CUDA(cudaFree(allocated));
  return finish();
}
