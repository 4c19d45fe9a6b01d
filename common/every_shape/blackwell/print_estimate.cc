// Prints what the estimate says, for the page on shapes; nothing here is measured.
//
//   every_shape_blackwell_estimate            the choice for some shapes, beside rung 09's tile
//   every_shape_blackwell_estimate M N K      every tile at one shape
//   every_shape_blackwell_estimate serpentine bytes from DRAM in rung 09's order of tiles, and serpentine
#include <charconv>
#include <cstdio>
#include <cstring>
#include <list>
#include <map>
#include <tuple>

#include "common/every_shape/blackwell/estimate.h"

namespace ladder::every_shape {
namespace {

Gemm gemm_of(int m, int n, int k) {
  return {.m = m, .n = n, .k = k, .a = nullptr, .b = nullptr, .c = nullptr};
}

void print_line(const Gemm& p, const Estimate& e, double rung_cycles) {
  const double k_tile = e.formula.loop * e.formula.cycles / (e.at.waves * e.at.tiles_k);
  char shape[40], cycles[16];
  std::snprintf(shape, sizeof shape, "%dx%dx%d", p.m, p.n, p.k);
  std::snprintf(cycles, sizeof cycles, "%.0f%s", e.cycles, e.bound_by_dram ? " (DRAM)" : "");
  std::printf("%-17s %-18s %5d %5.0f %5.0f  %6.0f %6.0f  %-16s %7.1f  x%.2f\n", shape, tiles[e.tile].name,
              e.parts, e.at.clusters * tiles[e.tile].pair * e.parts, e.at.waves, k_tile * e.formula.busy[0],
              k_tile * e.formula.busy[1], cycles, e.cycles / B200::hertz * 1e6, rung_cycles / e.cycles);
}

void print_header() {
  std::printf("%-17s %-18s %5s %5s %5s  %6s %6s  %-16s %7s  %s\n", "shape", "tile", "parts", "CTAs", "waves",
              "tensor", "intake", "cycles", "us", "256x256 takes");
}

// The bytes that an L2 of `capacity` bytes fetches from DRAM, if it replaces the least recently used.
class Cache {
 public:
  explicit Cache(double capacity) : capacity_(capacity) {}
  void use(int matrix, int strip, int slice, double bytes) {
    const Block block{matrix, strip, slice};
    if (const auto found = at_.find(block); found != at_.end()) {
      blocks_.splice(blocks_.begin(), blocks_, found->second);
      return;
    }
    if (matrix != c) fetched += bytes;
    blocks_.emplace_front(block, bytes);
    at_[block] = blocks_.begin();
    for (used_ += bytes; used_ > capacity_; blocks_.pop_back()) {
      used_ -= blocks_.back().second;
      at_.erase(blocks_.back().first);
    }
  }
  static constexpr int a = 0, b = 1, c = 2;
  double fetched = 0;

 private:
  using Block = std::tuple<int, int, int>;
  double capacity_, used_ = 0;
  std::list<std::pair<Block, double>> blocks_;
  std::map<Block, std::list<std::pair<Block, double>>::iterator> at_;
};

// size³ in tiles of 256x256 by 74 pairs: those of a wave go through k in step, 512 at a time.
double from_dram(int size, bool serpentine, double capacity) {
  constexpr int at_once = B200::sms / 2, side = 256, slice = 512, group_m = 8;
  const int wide = size / side;
  Cache l2(capacity);
  for (int first = 0; first < wide * wide; first += at_once) {
    const int end = std::min(first + at_once, wide * wide);
    const auto for_tiles = [&](auto use) {
      for (int i = first; i < end; ++i) {
        const int group = i / (group_m * wide), in_group = i % (group_m * wide), col = in_group / group_m;
        use(group * group_m + in_group % group_m, serpentine && group % 2 == 1 ? wide - 1 - col : col);
      }
    };
    for (int k = 0; k < size / slice; ++k)
      for_tiles([&](int row, int col) {
        l2.use(Cache::a, row, k, 2.0 * side * slice);
        l2.use(Cache::b, col, k, 2.0 * side * slice);
      });
    for_tiles([&](int row, int col) { l2.use(Cache::c, row, col, 2.0 * side * side); });
  }
  return l2.fetched;
}

void print_serpentine() {
  std::printf("%-8s %9s  %12s %14s %14s  %s\n", "size", "L2, MiB", "A and B, GB", "rung, GB",
              "serpentine, GB", "MMAs, us; difference at 8 TB/s, us");
  for (const int size : {4096, 8192, 16384})
    for (const int mib : {126, 63}) {
      const double once = 4.0 * size * size, rung = from_dram(size, false, mib * 1048576.0),
                   back = from_dram(size, true, mib * 1048576.0);
      std::printf("%-8d %9d  %12.3f %14.3f %14.3f  %.0f; %.1f\n", size, mib, once * 1e-9, rung * 1e-9,
                  back * 1e-9, 2.0 * size * size * size / B200::flops * 1e6,
                  (rung - back) / B200::dram_bytes * 1e6);
    }
}

int print(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "serpentine") == 0) {
    print_serpentine();
    return 0;
  }
  if (count == 4) {
    int size[3]{};
    for (int i = 0; i < 3; ++i) {
      const char* const text = arguments[i + 1];
      const auto [end, error] = std::from_chars(text, text + std::strlen(text), size[i]);
      if (error != std::errc{} || *end || size[i] < 1 || size[i] > max_dimension) {
        std::fprintf(stderr, "every_shape_blackwell_estimate: %s is not a size\n", text);
        return 2;
      }
    }
    const Gemm p = gemm_of(size[0], size[1], size[2]);
    print_header();
    for (int tile = 0; tile < int(std::size(tiles)); ++tile)
      print_line(p, estimate(p, tile, B200::sms), estimate(p, 0, B200::sms).cycles);
    return 0;
  }
  if (count != 1) {
    std::fprintf(stderr, "usage: every_shape_blackwell_estimate [M N K | serpentine]\n");
    return 2;
  }
  print_header();
  constexpr int shapes[][3] = {{1, 8192, 8192},    {16, 4096, 4096},   {64, 8192, 8192},   {128, 8192, 8192},
                               {256, 256, 8192},   {512, 512, 512},    {512, 512, 4096},   {1024, 1024, 1024},
                               {1024, 1024, 4096}, {1536, 1536, 1536}, {2048, 2048, 2048}, {3072, 3072, 3072},
                               {4096, 4096, 4096}, {8192, 8192, 8192}};
  for (const auto& [m, n, k] : shapes) {
    const Gemm p = gemm_of(m, n, k);
    print_line(p, shortest(p, B200::sms), estimate(p, 0, B200::sms).cycles);
  }
  return 0;
}

}  // namespace
}  // namespace ladder::every_shape

int main(int count, char** arguments) {
  return ladder::every_shape::print(count, arguments);
}
