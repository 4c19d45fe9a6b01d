#include "common/simulator/checks/async_accesses.h"

#include <algorithm>
#include <bit>

namespace simulator {

void AsyncAccesses::reset(uint32_t bytes, uint32_t warps) {
  chunks_ = (bytes + chunk_bytes - 1) / chunk_bytes;
  warps_ = warps;
  groups_ = (warps + group_warps - 1) / group_warps;
  if (!any_) return;
  any_ = false;
  entries_.clear();
  free_.clear();
  writes_.clear();
  reads_.clear();
}

AsyncAccesses::Id AsyncAccesses::begin(uint32_t warp, uint32_t lane, uint32_t pc, bool write) {
  if (!any_) {
    any_ = true;
    entries_.resize(1);
    writes_.assign(chunks_, 0);
    reads_.assign(size_t{chunks_} * groups_, 0);
  }
  uint32_t index = static_cast<uint32_t>(entries_.size());
  if (free_.empty()) {
    entries_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Entry& entry = entries_[index];
  entry.operation = {warp, lane, pc, write, {}};
  entry.ended = false;
  return uint64_t{entry.generation} << 32 | index;
}

const AsyncAccesses::Entry* AsyncAccesses::find(Id id) const {
  const uint32_t index = static_cast<uint32_t>(id);
  if (index == 0 || index >= entries_.size() || entries_[index].generation != id >> 32) return nullptr;
  return &entries_[index];
}

void AsyncAccesses::free_if_unused(uint32_t index) {
  Entry& entry = entries_[index];
  if (entry.chunks != 0 || !entry.ended) return;
  ++entry.generation;
  free_.push_back(index);
}

void AsyncAccesses::put(uint32_t& place, uint32_t index) {
  if (place == index) return;
  if (index) ++entries_[index].chunks;
  const uint32_t before = place;
  place = index;
  if (before && --entries_[before].chunks == 0) free_if_unused(before);
}

// Does the warp know that it has ended?
bool AsyncAccesses::over(const SharedShadow& shadow, uint32_t warp, uint32_t index) const {
  const Operation& operation = entries_[index].operation;
  if (!operation.seen.empty() && operation.life != shadow.life()) return true;
  return std::any_of(operation.seen.begin(), operation.seen.end(),
                     [&](const auto& who) { return shadow.knows(warp, who.first, who.second); });
}

AsyncAccesses::Problem AsyncAccesses::access(SharedShadow& shadow, Id id, uint32_t warp,
                                             const uint32_t* offset, uint32_t count, uint32_t bytes) {
  const uint32_t index = static_cast<uint32_t>(id), own = group_of(warp);
  const Operation& operation = entries_[index].operation;
  const bool write = operation.write;
  const SharedShadow::Problem with_threads =
      shadow.async_access(warp, operation.lane, offset, count, bytes, write);
  Problem problem;
  uint32_t passed = index;  // the operation that was found to be over last
  const auto check = [&](uint32_t other, uint32_t at) {
    if (other == 0 || other == passed || other == index) return;
    if (over(shadow, warp, other)) {
      passed = other;
    } else if (problem.kind == Problem::Kind::none) {
      problem = {Problem::Kind::operation, at, operation.lane & 31, {}, entries_[other].operation};
    }
  };
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t at = offset[i]; at < offset[i] + bytes; at += chunk_bytes) {
      const uint32_t chunk = at / chunk_bytes;
      check(writes_[chunk], at);
      if (!write) {
        put(readers_of(own)[chunk], index);
        continue;
      }
      for (uint32_t group = 0; group < groups_; ++group) {
        check(readers_of(group)[chunk], at);
        put(readers_of(group)[chunk], 0);
      }
      put(writes_[chunk], index);
      passed = index;  // that one may be gone
    }
  }
  if (problem.kind == Problem::Kind::none && with_threads.kind != SharedShadow::Problem::Kind::none) {
    problem = {static_cast<Problem::Kind>(with_threads.kind),
               with_threads.offset,
               with_threads.lane,
               with_threads.other,
               {}};
  }
  return problem;
}

void AsyncAccesses::seen(SharedShadow& shadow, Id id, uint32_t warp) {
  if (!find(id)) return;
  Entry* const entry = &entries_[static_cast<uint32_t>(id)];
  auto& seen = entry->operation.seen;
  if (std::none_of(seen.begin(), seen.end(), [&](const auto& who) { return who.first == warp; })) {
    seen.emplace_back(warp, shadow.clock_of_warp(warp));
    if (seen.size() == 1) entry->operation.life = shadow.life();
  }
  entry->ended = true;
  free_if_unused(static_cast<uint32_t>(id));
}

AsyncAccesses::Problem AsyncAccesses::meet(const SharedShadow& shadow, uint32_t warp,
                                           const uint32_t offset[32], uint32_t lanes, bool write) const {
  uint32_t passed = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(lanes));
    const uint32_t chunk = offset[lane] / chunk_bytes;
    const auto stands_in_the_way = [&](uint32_t other) {
      if (other == 0 || other == passed) return false;
      if (!over(shadow, warp, other)) return true;
      passed = other;
      return false;
    };
    uint32_t found = stands_in_the_way(writes_[chunk]) ? writes_[chunk] : 0;
    for (uint32_t group = 0; group < groups_ && write && !found; ++group) {
      const uint32_t other = reads_[size_t{group} * chunks_ + chunk];
      if (stands_in_the_way(other)) found = other;
    }
    if (found) return {Problem::Kind::operation, offset[lane], lane, {}, entries_[found].operation};
  }
  return {};
}

}  // namespace simulator
