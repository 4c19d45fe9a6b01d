// Buffers of any size on the simulator, for a launch of which a few CTAs run.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>
#include <functional>
#include <span>

namespace simulator {
struct Allocation;
}

namespace ladder {

// Takes this machine's memory only where it is written. Only on the simulator, as device.h has it.
class PartlyBacked {
 public:
  // With a pattern, of whole pages, an input: it holds these elements, over and over, and a kernel that
  // writes to it faults. Without one an output: nothing has written it. Throws Failure(Exit::cannot_run)
  // where the device has no room for it.
  PartlyBacked(const char* name, std::uint64_t count, std::span<const __nv_bfloat16> pattern = {});
  ~PartlyBacked();
  PartlyBacked(const PartlyBacked&) = delete;
  PartlyBacked& operator=(const PartlyBacked&) = delete;

  __nv_bfloat16* data() const;
  std::uint64_t count() const { return count_; }
  // Of an output: calls see(first, elements) for each run of elements that have been written, in order.
  using See = std::function<void(std::uint64_t first, std::span<const __nv_bfloat16> elements)>;
  void for_each_written(const See& see) const;

 private:
  std::uint64_t count_;
  const simulator::Allocation* allocation_;
};

}  // namespace ladder
