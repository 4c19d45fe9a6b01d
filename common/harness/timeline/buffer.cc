#include "common/harness/timeline/buffer.h"

#include <algorithm>

#include "common/harness/base/failure.h"

namespace ladder {
namespace {

// As many CTAs and spans as a file of a few MB has room for; of a warp, all that rung 04 notes at 4096^3.
constexpr unsigned most_ctas = 16, most_warps = most_ctas * 8, capacity = 1280;

template <class T>
void allocate(T*& array, std::size_t count) {
  check(cudaMalloc(reinterpret_cast<void**>(&array), count * sizeof(T)), "allocating the timeline");
}
template <class T>
void copy(std::vector<T>& to, const T* from) {
  check(cudaMemcpy(to.data(), from, to.size() * sizeof(T), cudaMemcpyDeviceToHost),
        "copying the timeline back");
}

}  // namespace

TimelineBuffer::TimelineBuffer() {
  view_.most_warps = most_warps;
  view_.capacity = capacity;
  view_.ctas = most_ctas;
  allocate(view_.used, 1);
  allocate(view_.warps, most_warps);
  allocate(view_.spans, std::size_t{most_warps} * capacity);
}
TimelineBuffer::~TimelineBuffer() {
  cudaFree(view_.used);
  cudaFree(view_.warps);
  cudaFree(view_.spans);
}

cudaError_t TimelineBuffer::begin(cudaStream_t stream) const {
  return cudaMemsetAsync(view_.used, 0, sizeof *view_.used, stream);
}

Recording TimelineBuffer::read() const {
  std::vector<unsigned> used(1);
  copy(used, view_.used);
  Recording recording;
  std::vector<TimelineWarp> warps(std::min(used[0], most_warps));
  recording.lost_warps = used[0] - warps.size();
  copy(warps, view_.warps);
  for (std::size_t i = 0; i < warps.size(); ++i) {
    std::vector<TimelineSpan> spans(std::min(warps[i].spans, capacity));
    recording.lost_spans += warps[i].spans - spans.size();
    copy(spans, view_.spans + i * capacity);
    recording.warps.push_back({warps[i], std::move(spans)});
  }
  std::sort(recording.warps.begin(), recording.warps.end(), [](const RecordedWarp& a, const RecordedWarp& b) {
    return a.info.cta != b.info.cta ? a.info.cta < b.info.cta : a.info.warp < b.info.warp;
  });
  return recording;
}

}  // namespace ladder
