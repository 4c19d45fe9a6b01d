#include "common/simulator/access/names.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace simulator {

std::string attempt(AccessKind kind, uint32_t bytes) {
  static constexpr const char* doing[] = {"load", "store", "atomic operation"};
  return doing[static_cast<int>(kind)] + (" of " + std::to_string(bytes)) + (bytes == 1 ? " byte" : " bytes");
}

std::string attempt(AccessKind kind, uint32_t bytes, uint64_t address) {
  char text[32];
  std::snprintf(text, sizeof text, " at 0x%llx", static_cast<unsigned long long>(address));
  return attempt(kind, bytes) + text;
}

std::string name_of_cta(const Cta& cta) {
  return "CTA (" + std::to_string(cta.id[0]) + "," + std::to_string(cta.id[1]) + "," +
         std::to_string(cta.id[2]) + ")";
}

std::string name_of_thread(const Warp& warp, uint32_t warp_in_cluster, uint32_t lane) {
  const Warp& other = warp_of_cluster(*warp.cta->cluster, warp_in_cluster);
  const std::string name = "thread " + thread_name(*other.cta, thread_index(other, lane));
  return other.cta == warp.cta ? name : name + " of " + name_of_cta(*other.cta);
}

std::string name_of_warp(const Warp& warp, uint32_t warp_in_cluster) {
  const Warp& other = warp_of_cluster(*warp.cta->cluster, warp_in_cluster);
  const std::string name = "warp " + std::to_string(other.index);
  return other.cta == warp.cta ? name : name + " of " + name_of_cta(*other.cta);
}

std::string place_in_shared(const Warp& warp, uint32_t shadow_offset) {
  const uint32_t each = shadow_bytes(*warp.cta->grid);
  const Cta& holder = *warp.cta->cluster->ctas[shadow_offset / each];
  char text[64];
  std::snprintf(text, sizeof text, " at 0x%x of shared memory", shadow_offset % each + shared_reserved);
  return &holder == warp.cta ? text : text + (" of " + name_of_cta(holder));
}

std::string attempt_in_shared(const Warp& warp, AccessKind kind, uint32_t bytes, uint32_t shadow_offset) {
  return attempt(kind, bytes) + place_in_shared(warp, shadow_offset);
}

std::string nearest_bytes(const Warp& warp, uint32_t shadow_offset, uint32_t step,
                          const std::function<bool(uint32_t)>& complete) {
  const uint32_t each = shadow_bytes(*warp.cta->grid);
  const uint32_t at = shadow_offset / step * step, begin = at / each * each, end = begin + each;
  for (uint32_t away = step; at >= begin + away || at + away < end; away += step) {
    if (at >= begin + away && complete(at - away)) {
      const uint32_t distance = shadow_offset - (at - away + step);
      return distance == 0 ? "end right before this address"
                           : "end " + std::to_string(distance) + " bytes before this address";
    }
    if (at + away < end && complete(at + away))
      return "begin " + std::to_string(at + away - shadow_offset) + " bytes after this address";
  }
  return {};
}

std::string parts_by_place(const Cta& cta, const std::vector<BarrierPart>& parts) {
  std::vector<std::pair<std::string, uint32_t>> places;  // with a bit per warp
  for (const BarrierPart& part : parts) {
    const std::string place = place_of(cta, part.pc);
    const auto same = [&](const auto& known) { return known.first == place; };
    auto found = std::find_if(places.begin(), places.end(), same);
    if (found == places.end()) found = places.insert(found, {place, 0});
    found->second |= 1u << part.warp;
  }
  std::string text;
  for (const auto& [place, warps] : places)
    text += (text.empty() ? "" : ", ") + warps_text(warps) + " at " + place;
  return text;
}

std::string mixed_barrier(const Warp& warp, uint32_t warp_in_cluster) {
  const Warp& other = warp_of_cluster(*warp.cta->cluster, warp_in_cluster);
  const Cta& cta = *warp.cta;
  if (other.cta != &cta || other.index == warp.index) return {};
  for (size_t number = 0; number < cta.barriers.size(); ++number) {
    const std::vector<BarrierPart>& parts = cta.barriers[number].mixed;
    const auto part_of = [&](const Warp& each) {
      return std::find_if(parts.begin(), parts.end(),
                          [&](const BarrierPart& part) { return part.warp == each.index && part.waits; });
    };
    const auto mine = part_of(warp), its = part_of(other);
    if (mine == parts.end() || its == parts.end()) continue;
    if (place_of(cta, mine->pc) == place_of(cta, its->pc)) continue;
    return "warps met at different lines of barrier " + std::to_string(number) + ": " +
           parts_by_place(cta, parts);
  }
  return {};
}

}  // namespace simulator
