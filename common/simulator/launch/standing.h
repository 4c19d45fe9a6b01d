// Where every warp stands, and what it waits for.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "common/simulator/checks/finding.h"
#include "common/simulator/machine/machine.h"

namespace simulator {

struct Standing {
  // Of lanes that stand at one place for one reason, in one CTA.
  struct Place {
    int rank = 0;  // the lower, the nearer to the cause
    std::string cta, what;
    std::vector<std::string> details;  // on what they wait for
    uint32_t warps = 0;                // a bit for each
    Site site;                         // of one of them
  };
  std::vector<Place> places;  // those of the lowest rank first

  Site site() const { return places.empty() ? Site{} : places.front().site; }
  // By how many warps of all CTAs stand at a place for its reason.
  void most_warps_first();
  std::vector<std::string> lines(size_t most) const;  // "CTA (0,0,0) warps 0-3, lanes 0-31 wait …"
};

// running: what lanes do that wait for nothing: "spin".
Standing where_warps_stand(const std::vector<std::unique_ptr<Cluster>>& clusters, const std::string& running);

}  // namespace simulator
