// What one tcgen05.mma computes.
//
// All terms of an instruction are added at once, as by wgmma (tensor_core.h), with 25 bits below the largest
// exponent, also those of 8 bits and fewer; the scale factors of .kind::mxf8f6f4 add to the exponents. Of
// .kind::mxf4 and .kind::mxf4nvf4 quarters of K are summed without loss, scaled, and these four sums are
// added with 35 bits. Measured by others (Xie, Wang, Yang, Yang, "MMA-Sim", 2025), not by us.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/simulator/instructions/tcgen05/mma.h"
#include "common/simulator/instructions/tcgen05/pipeline.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/tensor_core/tcgen05_numbers.h"
#include "common/simulator/tensor_core/tensor_core.h"
#include "common/simulator/units/tcgen05_memory.h"

namespace simulator {
namespace {

constexpr uint32_t tile = 16;        // rows or columns
constexpr uint32_t most_rows = 128;  // of a CTA
constexpr int fraction = 25, scaled_fraction = 35;
// Scale factors with larger exponents are applied by themselves: an f32 cannot hold what they scale.
constexpr int most_scaling = 100;

class Product {
 public:
  explicit Product(const Tcgen05Mma& of)
      : of_(of),
        is_(of.is),
        columns_((of.is.n / of.ctas + of.shift + tile - 1) / tile),
        width_(of.is.n / of.layout.parts),
        integers_(of.is.result == Tcgen05Result::s32),
        pairs_(of.is.element[0] == Tcgen05Element::e2m1_pair) {}

  void run() {
    load_b();
    for (uint32_t r = 0; r < of_.ctas; ++r) {
      for (uint32_t part = 0; part < of_.layout.parts; ++part) {
        load_a(r, part);
        if (of_.use->scale_vector) load_scales(r, part);
        if (integers_) {
          each_column(r, part, &Product::integers);
        } else if (scaled_alone_) {
          each_column(r, part, pairs_ ? &Product::quarters : &Product::products);
        } else {
          floats(r, part);
        }
      }
    }
  }

 private:
  struct Place {  // of a column of B
    const Factors<tile>* tile_of;
    uint32_t at;
  };

  [[noreturn]] void fail(std::string what) const {
    simulator::fail(of_, FindingKind::illegal_instruction, std::move(what));
  }

  uint32_t* tensor(uint32_t r, uint32_t address, uint32_t column) const {
    return tcgen05_memory(*of_.cta[r]).column(tcgen05_column(address) + column);
  }

  void load_b() {
    const uint32_t own = is_.n / of_.ctas + of_.shift, per = elements_per_chunk(is_.element[1]);
    b_.resize(size_t{of_.ctas} * columns_ * halves());
    for (uint32_t r = 0; r < of_.ctas; ++r) {
      for (uint32_t t = 0; t < columns_; ++t) {
        const uint32_t count = std::min(tile, own - t * tile);
        load(use_of(is_.element[1]).in_shared, 1, r, t * tile, count, is_.k, per,
             &b_[(r * columns_ + t) * halves()]);
      }
    }
  }

  // K beyond what Factors hold goes to a second one.
  uint32_t halves() const { return is_.k > most_deep ? 2 : 1; }

  // Rows or columns of a matrix in shared memory.
  void load(Widen widen, uint32_t matrix, uint32_t r, uint32_t first, uint32_t count, uint32_t k,
            uint32_t per, Factors<tile>* to) const {
    const std::byte* shared = of_.cta[r]->shared.data();
    const uint32_t* chunks = of_.chunks[matrix].data();
    const bool mn_major = is_.mn_major[matrix];
    for (uint32_t begin = 0; begin < k; begin += most_deep, ++to) {
      const uint32_t deep = std::min<uint32_t>(k - begin, most_deep);
      if (mn_major) {
        load_factors(widen, per, true, count, deep, shared, chunks + first / per * k, *to);
      } else if (k == deep) {
        load_factors(widen, per, false, count, deep, shared, chunks + first * (k / per), *to);
      } else {
        load_part(widen, per, count, begin, deep, k, shared, chunks + first * (k / per), *to);
      }
      finish(matrix, deep, *to);
    }
  }
  static void load_part(Widen widen, uint32_t per, uint32_t count, uint32_t begin, uint32_t deep, uint32_t k,
                        const std::byte* shared, const uint32_t* chunks, Factors<tile>& to) {
    std::vector<uint32_t> own;
    for (uint32_t row = 0; row < count; ++row) {
      for (uint32_t at = begin; at < begin + deep; at += per)
        own.push_back(chunks[row * (k / per) + at / per]);
    }
    load_factors(widen, per, false, count, deep, shared, own.data(), to);
  }
  void finish(uint32_t matrix, uint32_t k, Factors<tile>& factors) const {
    if (is_.negated[matrix]) negate(factors, k);
    measure(factors, static_cast<int>(k), use_of(is_.element[matrix]).lowest);
  }

  // A lane's part of a row of A, or of its metadata.
  void load_from_tensor_memory(uint32_t r, uint32_t row, uint32_t part, uint32_t k, Factors<tile>& to) const {
    const uint32_t per = elements_per_chunk(is_.element[0]);
    float values[32];
    for (uint32_t i = 0; i < tile; ++i) {
      const uint32_t from = of_.use->shifts_a ? std::min(row + i + 1, of_.layout.rows - 1) : row + i;
      const uint32_t lane = tcgen05_lane(of_.a) + of_.layout.lane(from, part);
      for (uint32_t first = 0; first < k; first += per) {
        std::byte chunk[16];
        for (uint32_t w = 0; w < 4; ++w)
          std::memcpy(chunk + 4 * w, tensor(r, of_.a, first / per * 4 + w) + lane, 4);
        use_of(is_.element[0]).in_tensor_memory(chunk, values);
        for (uint32_t j = 0; j < per; ++j) to.value[first + j][i] = values[j];
      }
    }
    finish(0, k, to);
  }

  void load_a(uint32_t r, uint32_t part) {
    const uint32_t stored = of_.use->sparse ? is_.k / 2 : is_.k;
    for (uint32_t block = 0; block < of_.layout.rows / tile; ++block) {
      Factors<tile>* const to = a_ + block * 2;
      if (of_.use->a_in_tensor_memory) {
        load_from_tensor_memory(r, block * tile, part, stored, *to);
      } else {
        load(use_of(is_.element[0]).in_shared, 0, r, block * tile, tile, stored,
             elements_per_chunk(is_.element[0]), to);
      }
      if (of_.use->sparse) place(r, block * tile, part, to);
    }
  }

  // The four bits of metadata of the row's group (CUTLASS's layouts). Types of 8 bits and fewer: a row has 64
  // bits in its lane. Others: 32 bits, half of them in each of two lanes, 8 apart, that hold those of two
  // rows, 8 apart, in their lower and upper bits.
  uint32_t metadata(uint32_t r, uint32_t row, uint32_t part, uint32_t group, uint32_t groups) const {
    const uint32_t first = tcgen05_lane(of_.metadata);
    if (elements_per_chunk(is_.element[0]) >= 16) {
      const uint32_t lane = first + of_.layout.lane(row, part);
      return tensor(r, of_.metadata, group / 8)[lane] >> group % 8 * 4 & 15;
    }
    const uint32_t half = group / (groups / 2),
                   lane = first + of_.layout.lane(row / 16 * 16, part) + row % 8 + 8 * half;
    return tensor(r, of_.metadata, 0)[lane] >> (row / 8 % 2 * 16 + group % (groups / 2) * 4) & 15;
  }

  void place(uint32_t r, uint32_t row, uint32_t part, Factors<tile>* to) const {
    const Factors<tile> packed = *to;
    const Tcgen05Sparsity sparsity(is_.element[0]);
    for (uint32_t k = 0; k < is_.k; ++k) {
      std::fill_n(to[k / most_deep].value[k % most_deep], tile, 0.0f);
      std::fill_n(to[k / most_deep].exponent[k % most_deep], tile, of_absent);
    }
    const uint32_t groups = is_.k / sparsity.group;
    for (uint32_t i = 0; i < tile; ++i) {
      for (uint32_t g = 0; g < groups; ++g) {
        const uint32_t code = metadata(r, row + i, part, g, groups);
        const bool valid = sparsity.valid(code);
        for (uint32_t j = 0; j < sparsity.kept; ++j) {
          const uint32_t from = g * sparsity.kept + j, at = g * sparsity.group + sparsity.place(code, j);
          // CUTLASS's compressor leaves the metadata 0 where a group is zeros.
          if (!valid && packed.value[from][i] != 0)
            fail("the metadata of row " + std::to_string(row + i) +
                 " of A have an index that means nothing: " + std::to_string(code));
          to[at / most_deep].value[at % most_deep][i] = packed.value[from][i];
          to[at / most_deep].exponent[at % most_deep][i] = packed.exponent[from][i];
        }
      }
    }
  }

  // ---- Scale factors: number i of row or column x of the matrix, as the lanes of this part have it.
  Tcgen05Scale scale(uint32_t matrix, uint32_t r, uint32_t part, uint32_t x, uint32_t i) const {
    const uint32_t parts = matrix ? of_.layout.parts : 1, copies = 4 / parts,
                   begin = matrix ? part * copies : 0;
    const uint32_t* const column = tensor(r, of_.scale[matrix], x / 32);
    const uint32_t shift = 8 * (is_.scale_id[matrix] + i);
    const uint32_t code = column[begin * 32 + x % 32] >> shift & 0xff;
    for (uint32_t copy = begin + 1; copy < begin + copies; ++copy) {
      if ((column[copy * 32 + x % 32] >> shift & 0xff) == code) continue;
      fail(std::string("the scale factors of ") + (matrix ? "column " : "row ") + std::to_string(x) + " of " +
           (matrix ? "B" : "A") + " differ between lanes " + std::to_string(begin * 32 + x % 32) + " and " +
           std::to_string(copy * 32 + x % 32) +
           ": they \"need to be duplicated to all 32 lane partitions of tensor memory\" (PTX ISA "
           "9.7.16.10.7)");
    }
    return tcgen05_scale(code, is_.ue4m3);
  }

  void load_scales(uint32_t r, uint32_t part) {
    const uint32_t each = of_.use->scale_vector;
    scaled_alone_ = pairs_;
    const auto fill = [&](uint32_t matrix, uint32_t count, Tcgen05Scale(*to)[4]) {
      for (uint32_t x = 0; x < count; ++x) {
        for (uint32_t i = 0; i < each; ++i) {
          Tcgen05Scale& made = to[x][i] = scale(matrix, r, part, x, i);
          if (pairs_ || (std::abs(made.exponent) <= most_scaling && !std::isnan(made.significand))) continue;
          // Zeros, as outside of a matrix, may have any scale factor.
          const Place place = matrix ? place_of(part, x) : Place{&a_[x / tile * 2], x % tile};
          const bool zeros = !std::isnan(made.significand) && all_zeros(place);
          if (zeros) made.exponent = 0;
          scaled_alone_ |= !zeros;
        }
      }
    };
    fill(0, of_.layout.rows, scale_a_);
    fill(1, width_, scale_b_);
  }

  bool all_zeros(const Place& place) const {
    for (uint32_t k = 0; k < is_.k; ++k) {
      if (place.tile_of->value[k][place.at] != 0) return false;
    }
    return true;
  }

  // By a power of two.
  template <int across>
  static void scale_one(Factors<across>& factors, uint32_t k, uint32_t at, int by) {
    if (by == 0) return;
    for (uint32_t i = 0; i < k; ++i) {
      float& value = factors.value[i][at];
      if (value == 0 || !std::isfinite(value)) continue;
      value = std::ldexp(value, by);
      factors.exponent[i][at] = static_cast<int16_t>(factors.exponent[i][at] + by);
    }
  }

  // ---- D

  // Column n of this part: N is counted over the parts, and B's columns over the CTAs.
  Place place_of(uint32_t part, uint32_t n) const {
    const uint32_t own = is_.n / of_.ctas, column = part * width_ + n, at = column % own + of_.shift;
    return {&b_[(column / own * columns_ + at / tile) * halves()], at % tile};
  }
  bool is_zero(uint32_t part, uint32_t n) const { return of_.zero[part * width_ + n]; }
  uint32_t* words(uint32_t r, uint32_t part, uint32_t row, uint32_t n) const {
    return tensor(r, of_.d, n) + tcgen05_lane(of_.d) + of_.layout.lane(row, part);
  }
  // Which of 16 rows keep their D.
  uint32_t kept(uint32_t r, uint32_t part, uint32_t row) const {
    const uint32_t lane = tcgen05_lane(of_.d) + of_.layout.lane(row, part);
    return of_.disabled[4 * r + lane / 32] >> lane % 32 & 0xffff;
  }

  float start(uint32_t word) const {
    if (!of_.accumulate) return 0;
    const float value =
        is_.result == Tcgen05Result::f16 ? from_f16(static_cast<uint16_t>(word)) : std::bit_cast<float>(word);
    return of_.use->scale_d ? std::ldexp(value, -static_cast<int>(of_.use->scale_d)) : value;
  }
  void put(uint32_t* to, const uint32_t* from, uint32_t kept) const {
    if (kept == 0) {
      std::memcpy(to, from, tile * 4);
      return;
    }
    for (uint32_t i = 0; i < tile; ++i) {
      if (!(kept >> i & 1)) to[i] = from[i];
    }
  }

  void floats(uint32_t r, uint32_t part) {
    const bool half = is_.result == Tcgen05Result::f16, as_is = of_.accumulate && !half && !of_.use->scale_d;
    const uint32_t blocks = of_.layout.rows / tile, k = is_.k;
    for (uint32_t block = 0; block < blocks; ++block) {
      Factors<tile>& a = a_[2 * block];
      if (of_.use->scale_vector) {
        for (uint32_t i = 0; i < tile; ++i) scale_one(a, k, i, scale_a_[block * tile + i][0].exponent);
      }
      RowsByLane& to = rows_[block / 4];
      const uint32_t upper = block / 2 % 2, at = block % 2 * tile;
      for (uint32_t i = 0; i < k; ++i) {
        std::memcpy(to.value[i][upper] + at, a.value[i], sizeof a.value[i]);
        std::memcpy(to.exponent[i][upper] + at, a.exponent[i], sizeof a.exponent[i]);
      }
    }
    for (uint32_t n = 0; n < width_; n += 2) {
      for (uint32_t odd = 0; odd < 2; ++odd) broadcast(part, n + odd, odd);
      for (uint32_t set = 0; set * 4 < blocks; ++set) {
        const uint32_t here = std::min(4u, blocks - 4 * set);
        Accumulators c;
        for (uint32_t odd = 0; odd < 2; ++odd) {
          for (uint32_t b = 0; b < 4; ++b) {
            float* const to = c.value[b / 2 * 2 + odd] + b % 2 * tile;
            const uint32_t* const from = b < here ? words(r, part, (4 * set + b) * tile, n + odd) : nullptr;
            if (from && as_is) {
              std::memcpy(to, from, tile * 4);
            } else {
              for (uint32_t i = 0; i < tile; ++i) to[i] = from ? start(from[i]) : 0;
            }
          }
        }
        multiply_add(rows_[set], both_, static_cast<int>(k), static_cast<int>(k), fraction, half, c);
        for (uint32_t odd = 0; odd < 2; ++odd) {
          for (uint32_t b = 0; b < here; ++b) {
            const uint32_t row = (4 * set + b) * tile;
            uint32_t out[tile];
            const float* const from = c.value[b / 2 * 2 + odd] + b % 2 * tile;
            if (half) {
              for (uint32_t i = 0; i < tile; ++i) out[i] = to_f16(from[i]);
            } else {
              std::memcpy(out, from, sizeof out);
            }
            put(words(r, part, row, n + odd), out, kept(r, part, row));
          }
        }
      }
    }
  }

  // The same column for all rows.
  void broadcast(uint32_t part, uint32_t n, uint32_t odd) {
    const Place place = place_of(part, n);
    const bool zero = is_zero(part, n);
    const int by = of_.use->scale_vector ? scale_b_[n][0].exponent : 0;
    for (uint32_t i = 0; i < is_.k; ++i) {
      float value = zero ? 0 : place.tile_of->value[i][place.at];
      int16_t exponent = zero ? of_absent : place.tile_of->exponent[i][place.at];
      if (by && value != 0 && std::isfinite(value)) {
        value = std::ldexp(value, by);
        exponent = static_cast<int16_t>(exponent + by);
      }
      std::fill_n(both_.value[i][odd], 16, value);
      std::fill_n(both_.exponent[i][odd], 32, exponent);
    }
  }

  // 16 rows at a time.
  void each_column(uint32_t r, uint32_t part,
                   void (Product::*compute)(uint32_t, uint32_t, uint32_t, uint32_t*)) {
    for (uint32_t n = 0; n < width_; ++n) {
      for (uint32_t row = 0; row < of_.layout.rows; row += tile) {
        uint32_t* const d = words(r, part, row, n);
        uint32_t out[tile];
        std::memcpy(out, d, sizeof out);
        (this->*compute)(part, row, n, out);
        put(d, out, kept(r, part, row));
      }
    }
  }

  void integers(uint32_t part, uint32_t row, uint32_t n, uint32_t* d) {
    const Factors<tile>& a = a_[row / tile * 2];
    const Place b = place_of(part, n);
    float sums[tile] = {};  // exact: below 2^24
    for (uint32_t i = 0; i < is_.k && !is_zero(part, n); ++i) {
      const float value = b.tile_of->value[i][b.at];
      for (uint32_t l = 0; l < tile; ++l) sums[l] += a.value[i][l] * value;
    }
    using Limits = std::numeric_limits<int32_t>;
    for (uint32_t l = 0; l < tile; ++l) {
      const int64_t before = of_.accumulate ? std::bit_cast<int32_t>(d[l]) : 0;
      const int64_t sum = before + static_cast<int64_t>(sums[l]);
      d[l] =
          static_cast<uint32_t>(is_.saturate ? std::clamp<int64_t>(sum, Limits::min(), Limits::max()) : sum);
    }
  }

  // Quarters of K, exact: elements of 4 bits.
  void quarters(uint32_t part, uint32_t row, uint32_t n, uint32_t* d) {
    const Factors<tile>* const a = a_ + row / tile * 2;
    const Place b = place_of(part, n);
    const uint32_t each = of_.use->scale_vector;
    float sums[4][tile] = {};
    for (uint32_t k = 0; k < is_.k; ++k) {
      float* const sum = sums[k * 4 / is_.k];
      const float* const x = a[k / most_deep].value[k % most_deep];
      const float y = b.tile_of[k / most_deep].value[k % most_deep][b.at];
      for (uint32_t l = 0; l < tile; ++l) sum[l] += x[l] * y;
    }
    for (uint32_t l = 0; l < tile; ++l) {
      Tcgen05Sum sum(start(d[l]));
      for (uint32_t q = 0; q < 4; ++q) {
        const Tcgen05Scale &one = scale_a_[row + l][q * each / 4], &other = scale_b_[n][q * each / 4];
        sum.add(static_cast<double>(sums[q][l]) * one.significand * other.significand,
                one.exponent + other.exponent);
      }
      d[l] = std::bit_cast<uint32_t>(sum.result(scaled_fraction));
    }
  }

  // Each product by itself.
  void products(uint32_t part, uint32_t row, uint32_t n, uint32_t* d) {
    const Factors<tile>& a = a_[row / tile * 2];
    const Place b = place_of(part, n);
    for (uint32_t l = 0; l < tile; ++l) {
      const Tcgen05Scale &one = scale_a_[row + l][0], &other = scale_b_[n][0];
      Tcgen05Sum sum(start(d[l]));
      for (uint32_t k = 0; k < is_.k; ++k) {
        const float x = a.value[k][l], y = b.tile_of->value[k][b.at];
        if (a.exponent[k][l] == of_absent || ((x == 0 || y == 0) && std::isfinite(x) && std::isfinite(y)))
          continue;
        double product =
            static_cast<double>(x) * static_cast<double>(y) * one.significand * other.significand;
        int exponent = 0;
        if (std::isfinite(product)) {
          exponent = a.exponent[k][l] + b.tile_of->exponent[k][b.at];
          product = std::ldexp(product, -exponent);
        }
        sum.add(product, exponent + one.exponent + other.exponent);
      }
      d[l] = std::bit_cast<uint32_t>(sum.result(fraction));
    }
  }

  const Tcgen05Mma& of_;
  const InstructionDescriptor& is_;
  const uint32_t columns_;  // tiles of B, of one CTA
  const uint32_t width_;    // N of a part
  const bool integers_, pairs_;
  bool scaled_alone_ = false;  // by quarters() or products()
  std::vector<Factors<tile>> b_;
  Factors<tile> a_[2 * most_rows / tile];  // two for each 16 rows
  Tcgen05Scale scale_a_[most_rows][4], scale_b_[most_columns][4];
  RowsByLane rows_[2] = {};
  ColumnsByLane both_;
};

}  // namespace

void Tcgen05Mma::land() {
  const auto product = std::make_unique<Product>(*this);
  product->run();
}

}  // namespace simulator
