// Device memory for a timeline.
#pragma once

#include <cuda_runtime_api.h>

#include "common/harness/timeline/file.h"

namespace ladder {

class TimelineBuffer {
 public:
  TimelineBuffer();  // throws Failure(Exit::cannot_run) when the memory is exhausted
  ~TimelineBuffer();
  TimelineBuffer(const TimelineBuffer&) = delete;
  TimelineBuffer& operator=(const TimelineBuffer&) = delete;

  const Timeline& view() const { return view_; }
  cudaError_t begin(cudaStream_t stream) const;  // forgets what was noted
  Recording read() const;                        // after the launch has ended

 private:
  Timeline view_{};
};

}  // namespace ladder
