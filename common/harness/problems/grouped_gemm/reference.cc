#include "common/harness/problems/grouped_gemm/reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ladder {

void GroupedReference::add(const Gemm& shape, const HostMatrix& a, const HostMatrix& b, bool whole_numbers) {
  groups_.emplace_back(shape, a, b, whole_numbers);
  begins_.push_back(end_);
  end_ += std::uint64_t(shape.m) * std::uint64_t(shape.n);
}

std::pair<const GemmReference*, std::uint64_t> GroupedReference::find(std::uint64_t index) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), index);
  const std::size_t group = after - begins_.begin() - 1;
  return {&groups_[group], index - begins_[group]};
}

double GroupedReference::exact(std::uint64_t index) const {
  const auto [group, at] = find(index);
  return group->exact(at);
}

std::vector<double> GroupedReference::all() const {
  std::vector<double> c;
  for (const GemmReference& group : groups_) {
    const std::vector<double> of_group = group.all();
    c.insert(c.end(), of_group.begin(), of_group.end());
  }
  return c;
}

Expected GroupedReference::expected(std::uint64_t index, double value, int accumulations) const {
  const auto [group, at] = find(index);
  return group->expected(at, value, accumulations);
}

}  // namespace ladder
