// Measures on a GPU what the accesses of wavefronts.h cost: each is one instruction of one warp in one
// launch. What it recorded is wavefronts.txt, made on an H200 by:
//
//     nvcc -std=c++20 -arch=sm_90 -o wavefronts wavefronts.cu
//     options="--csv --clock-control none --cache-control none"
//     ncu $options --metrics $(./wavefronts metrics) ./wavefronts > ncu.csv
//     ./wavefronts table < ncu.csv > wavefronts.txt
//
// In parts: `./wavefronts 400 100` launches 100 accesses from number 400 on, `./wavefronts table 400` reads
// what that gave.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "wavefronts.h"

struct Operands {
  uint32_t offset[32];
  uint32_t mask;
  bool global, store;
  uint32_t width;
  char* memory;
  uint32_t improbable;  // a value that no load gives: what is loaded has a use, or ptxas drops the load
};

__global__ void access(const __grid_constant__ Operands op) {
  extern __shared__ char buffer[];
  const uint32_t lane = threadIdx.x;
  if (!(op.mask >> lane & 1)) return;
  const uint32_t s = static_cast<uint32_t>(__cvta_generic_to_shared(buffer)) + op.offset[lane];
  const size_t g = __cvta_generic_to_global(op.memory + op.offset[lane]);
  uint32_t x = lane, y = 0, z = 0, w = 0;
  switch (op.width * 4 + op.global * 2 + op.store) {
    case 4:
      asm volatile("ld.shared.u8 %0, [%1];" : "=r"(x) : "r"(s));
      break;
    case 5:
      asm volatile("st.shared.u8 [%1], %0;" ::"r"(x), "r"(s));
      break;
    case 6:
      asm volatile("ld.global.u8 %0, [%1];" : "=r"(x) : "l"(g));
      break;
    case 7:
      asm volatile("st.global.u8 [%1], %0;" ::"r"(x), "l"(g));
      break;
    case 8:
      asm volatile("ld.shared.u16 %0, [%1];" : "=r"(x) : "r"(s));
      break;
    case 9:
      asm volatile("st.shared.b16 [%1], %0;" ::"h"(static_cast<uint16_t>(x)), "r"(s));
      break;
    case 16:
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(s));
      break;
    case 17:
      asm volatile("st.shared.u32 [%1], %0;" ::"r"(x), "r"(s));
      break;
    case 18:
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(g));
      break;
    case 19:
      asm volatile("st.global.u32 [%1], %0;" ::"r"(x), "l"(g));
      break;
    case 32:
      asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(s));
      break;
    case 33:
      asm volatile("st.shared.v2.u32 [%2], {%0, %1};" ::"r"(x), "r"(y), "r"(s));
      break;
    case 34:
      asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "l"(g));
      break;
    case 35:
      asm volatile("st.global.v2.u32 [%2], {%0, %1};" ::"r"(x), "r"(y), "l"(g));
      break;
    case 64:
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(s));
      break;
    case 65:
      asm volatile("st.shared.v4.u32 [%4], {%0, %1, %2, %3};" ::"r"(x), "r"(y), "r"(z), "r"(w), "r"(s));
      break;
    case 66:
      asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(g));
      break;
    case 67:
      asm volatile("st.global.v4.u32 [%4], {%0, %1, %2, %3};" ::"r"(x), "r"(y), "r"(z), "r"(w), "l"(g));
      break;
    default:
      __trap();
  }
  if (((x ^ y) ^ (z ^ w)) == op.improbable) *op.memory = 1;
}

struct Copies {
  uint32_t from[32], to[32];
  uint32_t mask;
  bool bypass;
  uint32_t width;
  char* memory;
};

__global__ void copy(const __grid_constant__ Copies op) {
  extern __shared__ char buffer[];
  const uint32_t lane = threadIdx.x;
  if (!(op.mask >> lane & 1)) return;
  const uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(buffer)) + op.to[lane];
  const size_t from = __cvta_generic_to_global(op.memory + op.from[lane]);
  switch (op.width * 2 + op.bypass) {
    case 8:
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from));
      break;
    case 16:
      asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from));
      break;
    case 32:
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
      break;
    case 33:
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
      break;
    default:
      __trap();
  }
  asm volatile("cp.async.wait_all;");
}

// What is recorded of an access: the sum over loads and stores, since only one of them happened. A copy is
// neither in shared memory (and a load in global memory).
const std::map<std::string, std::string> names = {
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "wavefronts of a copy"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefronts"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "wavefronts"},
    {"memory_l1_wavefronts_shared", "source"},
    {"memory_l1_wavefronts_shared_ideal", "ideal"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sectors"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sectors"},
};

std::vector<std::string> csv_cells(const std::string& line) {
  std::vector<std::string> cells;
  bool quoted = false;
  cells.emplace_back();
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != ',') {  // thousands
      cells.back() += c;
    }
  }
  return cells;
}

int table(size_t first) {
  std::map<size_t, std::map<std::string, uint64_t>> found;
  std::map<std::string, size_t> column;
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<std::string> cells = csv_cells(line);
    if (cells.front() == "ID") {
      for (size_t i = 0; i < cells.size(); ++i) column[cells[i]] = i;
    } else if (cells.size() > 1 && cells.size() == column.size()) {
      const auto name = names.find(cells[column["Metric Name"]]);
      if (name == names.end()) continue;
      found[first + std::stoul(cells[0])][name->second] += std::stoul(cells[column["Metric Value"]]);
    }
  }
  if (first == 0) {
    std::puts(
        "# Measured on an NVIDIA H200 by wavefronts.cu, which tells how.\n"
        "# instruction, bytes per lane, active lanes, l1tex__data_pipe_lsu_wavefronts_mem_shared, "
        "l1tex__t_sectors,\n# memory_l1_wavefronts_shared, memory_l1_wavefronts_shared_ideal, pattern of "
        "wavefronts.h");
  }
  const std::vector<wavefronts::Access> accesses = wavefronts::all();
  for (const auto& [number, values] : found) {
    const wavefronts::Access& access = accesses.at(number);
    auto value = [&](const char* name) {
      return static_cast<unsigned long long>(values.count(name) ? values.at(name) : 0);
    };
    std::printf("%s %u %08x %llu %llu %llu %llu %s\n", access.op.c_str(), access.width, access.mask,
                value(access.copies() ? "wavefronts of a copy" : "wavefronts"), value("sectors"),
                value("source"), value("ideal"), access.pattern.c_str());
  }
  return 0;
}

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "0";
  if (command == "metrics") {
    std::string list;
    for (const auto& [metric, name] : names) list += (list.empty() ? "" : ",") + metric;
    std::puts(list.c_str());
    return 0;
  }
  if (command == "table") return table(argc > 2 ? std::stoul(argv[2]) : 0);
  const std::vector<wavefronts::Access> accesses = wavefronts::all();
  const size_t first = std::stoul(command);
  const size_t count = argc > 2 ? std::stoul(argv[2]) : accesses.size();
  char* memory = nullptr;
  cudaMalloc(&memory, wavefronts::buffer_bytes);
  cudaMemset(memory, 0, wavefronts::buffer_bytes);
  for (size_t i = first; i < first + count && i < accesses.size(); ++i) {
    const wavefronts::Access& a = accesses[i];
    if (a.copies()) {
      Copies op{{}, {}, a.mask, a.op == "cpg", a.width, memory};
      std::copy_n(a.from.begin(), 32, op.from);
      std::copy_n(a.offset.begin(), 32, op.to);
      copy<<<1, 32, wavefronts::buffer_bytes>>>(op);
      continue;
    }
    Operands op{};
    std::copy_n(a.offset.begin(), 32, op.offset);
    op.mask = a.mask;
    op.global = a.global();
    op.store = a.op[0] == 's';
    op.width = a.width;
    op.memory = memory;
    op.improbable = 0x9c3a51e7;
    access<<<1, 32, wavefronts::buffer_bytes>>>(op);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::fprintf(stderr, "wavefronts: %s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
