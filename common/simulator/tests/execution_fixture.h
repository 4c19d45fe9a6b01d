// Kernels written in PTX for the purpose, run on the executor.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "common/simulator/launch/launch.h"
#include "common/simulator/loading/module.h"
#include "common/simulator/program/kernel.h"
#include "common/simulator/settings/settings.h"

namespace simulator {

inline const std::string header = ".version 9.0\n.target sm_90a\n.address_size 64\n";

// Words of global memory that a kernel with one parameter, their address, writes.
class Execution : public testing::Test {
 protected:
  void SetUp() override {
    settings() = {};
    settings().threads = 2;
    settings().checks = Checks::fail;
  }

  struct Result {
    std::vector<uint32_t> words;
    std::optional<Finding> end;
  };
  Result run_ptx(const std::string& body, uint32_t words, uint32_t threads, uint32_t ctas = 1,
                 const std::string& before = "", size_t dynamic_shared = 0, uint32_t cluster = 1,
                 const std::string& directives = "", const std::string& target = header) {
    Module module(target + before + ".visible .entry k(.param .u64 out) " + directives + "\n{\n" + body +
                  "\nret;\n}\n");
    const Allocation* out = global_memory().allocate(words * 4, Allocation::Kind::device);
    std::memset(out->backing, 0, words * 4);
    global_memory().mark_written(out->base, words * 4);
    const uint64_t address = out->base;
    Launch launch;
    launch.grid = {ctas, 1, 1};
    launch.block = {threads, 1, 1};
    launch.cluster = {cluster, 1, 1};
    launch.dynamic_shared = dynamic_shared;
    Result result;
    const Kernel* kernel = module.kernel("k");
    sensitive_ = kernel->entry && kernel->entry->order_sensitive;
    result.end = run(*kernel, launch, reinterpret_cast<const std::byte*>(&address));
    result.words.resize(words);
    std::memcpy(result.words.data(), out->backing, words * 4);
    global_memory().free(out->base);
    return result;
  }
  bool sensitive_ = false;
};

// %rd1: out + 4 · thread; %r1: %tid.x.
inline const std::string start =
    ".reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .pred %p<10>; .reg .f32 %f<10>;\n"
    "ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd1, %rd0, %rd1;\n";

}  // namespace simulator
