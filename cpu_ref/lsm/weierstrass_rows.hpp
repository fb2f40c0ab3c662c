#pragma once
// cpu-openmp on the Weierstrass function: `lanes` neighbours side by side, with the operations of the contract (crowns.hpp) on vectors.
// Nothing is kept, since every iteration draws all neighbours anew. A row of moves is one vector of neighbours.
// Cost: a coordinate's sum (weierstrass_lanes.hpp) a coordinate and neighbour, and a Philox block for every four of them.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/problems/weierstrass/crowns.hpp"
#include "core/util/math.hpp"
#include "cpu_ref/lsm/run.hpp"
#include "cpu_ref/lsm/weierstrass_lanes.hpp"

namespace vicinity::lsm {

template <class Real>
class WeierstrassRows {
 public:
  using Neighborhood = local_search::WeierstrassCrowns<Real>;
  using Key = decltype(weierstrass::ordered(Real{}));
  static constexpr std::int32_t lanes = weierstrass_lanes;
  struct Scratch {
    explicit Scratch(const WeierstrassRows&) {}
    alignas(64) WeierstrassLanes<Real> x, total, radius;
    alignas(64) WeierstrassLanes<std::int32_t> axis, sign;             ///< of the face
    alignas(64) std::array<WeierstrassLanes<std::uint32_t>, 4> draws;  ///< [word of a block]
    alignas(64) WeierstrassLanes<Key> keys;
  };

  explicit WeierstrassRows(const Neighborhood& neighborhood)
      : moves_(neighborhood.moves()), dimension_(neighborhood.instance().dimension()), width_(neighborhood.width()) {}

  [[nodiscard]] std::int64_t rows() const { return divide_up(moves_, lanes); }
  [[nodiscard]] static std::int64_t first(std::int64_t row) { return row * lanes; }
  [[nodiscard]] std::int32_t length(std::int64_t row) const {
    return static_cast<std::int32_t>(std::min<std::int64_t>(lanes, moves_ - row * lanes));
  }
  [[nodiscard]] static std::int64_t block() { return 1; }
  [[nodiscard]] double operations() const { return static_cast<double>(moves_) * dimension_ * weierstrass::terms * sizeof(Real) / 4; }
  [[nodiscard]] static std::int64_t bits() { return 8 * sizeof(Real); }
  [[nodiscard]] static std::int64_t base(const SearchState<Neighborhood>&) { return 0; }

  static void begin(const SearchState<Neighborhood>&, const Interruption&) {}
  static void moved(const SearchState<Neighborhood>&, const local_search::Choice&) {}

  template <class Visit>
  void scan(const SearchState<Neighborhood>& state, std::int64_t first_row, std::int64_t last, Scratch& s, const Visit& visit) const {
    for (std::int64_t row = first_row; row < last; ++row) {
      evaluate(state, first(row), s);
      visit(row, s.keys.data());
    }
  }

 private:
  /// Lanes beyond the last move are evaluated like the others, and their keys are not read.
  void evaluate(const SearchState<Neighborhood>& state, std::int64_t first, Scratch& s) const {
    s.total.fill(0);
    for (std::int32_t word = 0; word < dimension_ + 2; ++word) {
      if (word % 4 == 0) draw(state, first, word / 4, s);
      const WeierstrassLanes<std::uint32_t>& drawn = s.draws[static_cast<std::size_t>(word % 4)];
      if (word == 0) {
        for (std::size_t lane = 0; lane < lanes; ++lane)
          s.radius[lane] = weierstrass::radius<Real>(first + static_cast<std::int64_t>(lane), drawn[lane], width_);
      } else if (word == 1) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          const weierstrass::Face face = weierstrass::face(drawn[lane], dimension_);
          s.axis[lane] = face.axis;
          s.sign[lane] = face.sign;
        }
      } else {
        const Real from = state.solution()[static_cast<std::size_t>(word - 2)];
#pragma omp simd
        for (std::size_t lane = 0; lane < lanes; ++lane)
          s.x[lane] = weierstrass::moved<Real>(from, word - 2, drawn[lane], s.radius[lane], {s.axis[lane], s.sign[lane]});
        add_coordinates(s.x, s.total);
      }
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) s.keys[lane] = weierstrass::ordered(s.total[lane]);
  }
  static void draw(const SearchState<Neighborhood>& state, std::int64_t first, std::int32_t block, Scratch& s) {
    const auto t = static_cast<std::uint32_t>(state.iteration()), f = static_cast<std::uint32_t>(first);
    const std::uint64_t seed = state.seed();
#pragma omp simd
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const Philox4 words = philox({{t, 0, f + lane, static_cast<std::uint32_t>(block)}}, seed);
      s.draws[0][lane] = words.word[0];  // one by one, or g++ 12 takes no vectors
      s.draws[1][lane] = words.word[1];
      s.draws[2][lane] = words.word[2];
      s.draws[3][lane] = words.word[3];
    }
  }

  std::int64_t moves_;
  std::int32_t dimension_;
  Real width_;
};

}  // namespace vicinity::lsm
