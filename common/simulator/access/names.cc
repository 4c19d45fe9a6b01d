#include "common/simulator/access/names.h"

#include <cstdio>

#include "common/simulator/units/async_stores.h"

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

std::string name_of_store(const Warp& warp, const PendingCopies::Copy& found) {
  for (const auto& cta : warp.cta->cluster->ctas) {
    for (const AsyncStore& store : cta->state<AsyncStores>().pending) {
      if ((async_store_number | store.number) != found.number || store.warp->in_cluster != found.warp ||
          store.lane != found.lane)
        continue;
      return "the asynchronous store by " + name_of_thread(warp, found.warp, found.lane) + " at " +
             place_of(*cta, store.pc) + " (" + std::to_string(store.bytes) + " bytes)";
    }
  }
  return "an asynchronous store";
}

}  // namespace simulator
