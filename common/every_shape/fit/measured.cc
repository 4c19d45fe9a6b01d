#include "common/every_shape/fit/measured.h"

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace ladder::every_shape {

void write(std::ostream& to, const MeasuredShape& shape) {
  for (const Way& way : shape.ways)
    to << shape.p.m << ' ' << shape.p.n << ' ' << shape.p.k << ' ' << all_candidates()[way.kernel].name << ' '
       << way.how.cluster.n << ' ' << way.how.cluster.m << ' ' << way.how.parts << ' ' << way.us << '\n';
}

void read(const std::string& file, std::vector<MeasuredShape>& shapes, bool to_be_measured) {
  std::map<std::string, int> numbers;
  for (std::size_t i = 0; i < all_candidates().size(); ++i) numbers[all_candidates()[i].name] = int(i);
  std::ifstream from(file);
  if (!from) throw std::runtime_error(file + " cannot be read");
  std::string line;
  for (int number = 1; std::getline(from, line); ++number) {
    Gemm p{};
    std::string name;
    Way way{};
    std::istringstream words(line);
    words >> p.m >> p.n >> p.k >> name >> way.how.cluster.n >> way.how.cluster.m >> way.how.parts >> way.us;
    if (!words || (way.us <= 0 && !to_be_measured))
      throw std::runtime_error(file + ", line " + std::to_string(number) + ": no measured time");
    const auto found = numbers.find(name);
    if (found == numbers.end()) continue;
    way.kernel = found->second;
    if (!layout(p, all_candidates()[way.kernel], way.how, measured_sms).possible) continue;
    if (shapes.empty() || shapes.back().p.m != p.m || shapes.back().p.n != p.n || shapes.back().p.k != p.k)
      shapes.push_back({p, {}});
    shapes.back().ways.push_back(way);
  }
}

}  // namespace ladder::every_shape
