#include "common/harness/cli/sizes.h"

namespace ladder {

const std::vector<SizeName>& size_names() {
  static const std::vector<SizeName> all = [] {
    std::vector<SizeName> names;
    for_each_problem([&]<class Problem>() {
      for (const auto& d : ProblemInfo<Problem>::dimensions()) {
        const auto known =
            std::find_if(names.begin(), names.end(), [&](const SizeName& n) { return n.name == d.name; });
        if (known == names.end())
          names.push_back({d.name, 1, d.set_by_size});
        else
          ++known->problems;
      }
    });
    return names;
  }();
  return all;
}

void Sizes::set(const std::string& name, int size) {
  for (auto& [known, value] : given_)
    if (known == name) {
      value = size;
      return;
    }
  given_.push_back({name, size});
}

std::optional<int> Sizes::get(const std::string& name) const {
  for (const auto& [known, value] : given_)
    if (known == name) return value;
  return {};
}

bool Sizes::any(const std::vector<std::string>& names) const {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return get(name); });
}

std::string options_text(const std::vector<std::string>& names, const std::string& last) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? last : ", ";
    text += "--" + names[i];
  }
  return text;
}

}  // namespace ladder
