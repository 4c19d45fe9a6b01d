// The arguments of a kernel, as the driver takes them.
#pragma once

#include <cstddef>
#include <vector>

#include "common/simulator/driver/call.h"

namespace simulator {

// The parameters of a launch: pointers to each, or all of them in one buffer
// (CU_LAUNCH_PARAM_BUFFER_POINTER).
class Parameters {
 public:
  Parameters(CUfunction function, void** each, void** extra) : each_(each) {
    if (extra == nullptr) return;
    std::byte* buffer = nullptr;
    size_t bytes = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
      if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<std::byte*>(extra[1]);
      if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<size_t*>(extra[1]);
    }
    size_t offset = 0, size = 0;
    const Unseen unseen;
    while (cudaFuncGetParamInfo(function, found_.size(), &offset, &size) == cudaSuccess) {
      valid_ = valid_ && buffer != nullptr && offset + size <= bytes;
      found_.push_back(buffer + offset);
    }
    valid_ = valid_ && each == nullptr;
    each_ = found_.data();
  }
  Parameters(const Parameters&) = delete;

  bool valid() const { return valid_; }
  void** each() { return each_; }

 private:
  void** each_;
  std::vector<void*> found_;
  bool valid_ = true;
};

}  // namespace simulator
