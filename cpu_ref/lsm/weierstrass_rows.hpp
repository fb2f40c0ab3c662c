#pragma once
// cpu-openmp on the Weierstrass function: `lanes` neighbours side by side, with the operations of the contract (crowns.hpp) on vectors.
// Nothing is kept, since every iteration draws all neighbours anew. A row of moves is one vector of neighbours.
// Cost: dimension * terms sines a neighbour, and a Philox block for every four coordinates.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/problems/weierstrass/crowns.hpp"
#include "core/util/math.hpp"
#include "cpu_ref/lsm/run.hpp"

namespace vicinity::lsm {

template <class Real>
class WeierstrassRows {
 public:
  using Neighborhood = local_search::WeierstrassCrowns<Real>;
  using Key = decltype(weierstrass::ordered(Real{}));
  using Word = std::remove_reference_t<decltype(weierstrass::Turn<Real>{}.word[0])>;
  static constexpr std::int32_t lanes = 64;
  static constexpr std::size_t words = sizeof(weierstrass::Turn<Real>) / sizeof(Word);
  struct Scratch {
    explicit Scratch(const WeierstrassRows&) {}
    alignas(64) std::array<Real, lanes> x, sum, total, radius;
    alignas(64) std::array<std::array<Word, lanes>, words> turn;
    std::array<weierstrass::Face, lanes> face;
    std::array<Philox4, lanes> draws;
    alignas(64) std::array<Key, lanes> keys;
  };

  explicit WeierstrassRows(const Neighborhood& neighborhood)
      : moves_(neighborhood.moves()), dimension_(neighborhood.instance().dimension()), width_(neighborhood.width()) {}

  [[nodiscard]] std::int64_t rows() const { return divide_up(moves_, lanes); }
  [[nodiscard]] static std::int64_t first(std::int64_t row) { return row * lanes; }
  [[nodiscard]] std::int32_t length(std::int64_t row) const {
    return static_cast<std::int32_t>(std::min<std::int64_t>(lanes, moves_ - row * lanes));
  }
  [[nodiscard]] static std::int64_t block() { return 1; }
  [[nodiscard]] double operations() const { return static_cast<double>(moves_) * dimension_ * weierstrass::terms * sizeof(Real) / 2; }
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
      if (word >= 2) {
        move(state.solution()[static_cast<std::size_t>(word - 2)], word, s);
        add_coordinate(s);
        continue;
      }
      for (std::int32_t lane = 0; lane < lanes; ++lane) {
        const std::uint32_t bits = s.draws[static_cast<std::size_t>(lane)].word[word];
        if (word == 0)
          s.radius[static_cast<std::size_t>(lane)] = weierstrass::radius<Real>(first + lane, bits, width_);
        else
          s.face[static_cast<std::size_t>(lane)] = weierstrass::face(bits, dimension_);
      }
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) s.keys[lane] = weierstrass::ordered(s.total[lane]);
  }
  static void draw(const SearchState<Neighborhood>& state, std::int64_t first, std::int32_t block, Scratch& s) {
    for (std::int32_t lane = 0; lane < lanes; ++lane)
      s.draws[static_cast<std::size_t>(lane)] = philox(
          {{static_cast<std::uint32_t>(state.iteration()), 0, static_cast<std::uint32_t>(first + lane), static_cast<std::uint32_t>(block)}},
          state.seed());
  }
  static void move(Real from, std::int32_t word, Scratch& s) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      s.x[lane] = weierstrass::moved<Real>(from, word - 2, s.draws[lane].word[word % 4], s.radius[lane], s.face[lane]);
      const weierstrass::Turn<Real> turn = weierstrass::turn_of(s.x[lane]);
      for (std::size_t w = 0; w < words; ++w) s.turn[w][lane] = turn.word[w];
    }
  }
  static void add_coordinate(Scratch& s) {
    constexpr int bits = 8 * sizeof(Word);
    s.sum.fill(0);
    for (int i = weierstrass::terms; i > 0; --i) {
      const Word *high = s.turn[static_cast<std::size_t>(i / bits)].data(), *low = s.turn[static_cast<std::size_t>(i / bits + 1)].data();
#pragma omp simd
      for (std::size_t lane = 0; lane < lanes; ++lane)
        s.sum[lane] = times(plus(s.sum[lane], weierstrass::sine(weierstrass::window(high[lane], low[lane], i))), weierstrass::ratio<Real>);
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) s.total[lane] = plus(s.total[lane], s.x[lane] < 0 ? -s.sum[lane] : s.sum[lane]);
  }

  std::int64_t moves_;
  std::int32_t dimension_;
  Real width_;
};

}  // namespace vicinity::lsm
