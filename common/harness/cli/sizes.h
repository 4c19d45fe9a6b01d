// The sizes as typed, before it is known which problem they belong to.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/harness/problems/registry.h"

namespace ladder {

// The name of a size, and how many problems have it.
struct SizeName {
  std::string name;
  int problems;
  bool set_by_size;
};
const std::vector<SizeName>& size_names();  // "m", "n", "k", "rows", …: in the order of the problems

class Sizes {
 public:
  std::optional<int> all;  // --size

  void set(const std::string& name, int size);
  std::optional<int> get(const std::string& name) const;
  bool any(const std::vector<std::string>& names) const;

  // Given, and one of the problem's own.
  template <class Problem>
  bool any_of() const {
    return any(names_of<Problem>());
  }
  // What other problems have and this one does not; those that only one problem has are left out.
  template <class Problem>
  static std::vector<std::string> foreign() {
    const std::vector<std::string> own = names_of<Problem>();
    std::vector<std::string> others;
    for (const SizeName& each : size_names())
      if (each.problems > 1 && std::find(own.begin(), own.end(), each.name) == own.end())
        others.push_back(each.name);
    return others;
  }
  template <class Problem>
  static std::vector<std::string> names_of() {
    std::vector<std::string> names;
    for (const auto& d : ProblemInfo<Problem>::dimensions()) names.push_back(d.name);
    return names;
  }

  // `p` with the sizes that were given.
  template <class Problem>
  Problem complete(Problem p) const {
    for (const auto& d : ProblemInfo<Problem>::dimensions()) {
      int& size = p.*d.size;
      size = get(d.name).value_or(size);
      if (d.set_by_size) size = all.value_or(size);
    }
    return p;
  }

 private:
  std::vector<std::pair<std::string, int>> given_;
};

// "--m, --n or --k": with the last two joined by `last`.
std::string options_text(const std::vector<std::string>& names, const std::string& last);

}  // namespace ladder
