#pragma once
// How cpu-serial evaluates a neighbourhood: the paper's incremental evaluation of one neighbour after the other, each from the solution
// alone, so that an iteration costs M evaluations. Of one iteration nothing serves the next but the solution, and what is a copy of it in
// another order. What a compiler needs to make good code of that is done:
//   - inputs lie in the order of the solution, so that inner loops run along rows of memory; a move exchanges rows and columns of the copy;
//   - numbers are as narrow as the instance proves possible;
//   - what neighbours of one row share is computed once a row.
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/problems/moves.hpp"
#include "core/problems/ppp/flip.hpp"
#include "core/problems/qap/exchange.hpp"
#include "core/problems/tsp/swap.hpp"
#include "core/problems/weierstrass/crowns.hpp"
#include "core/util/math.hpp"
#include "cpu_ref/lsm/run.hpp"
#include "cpu_ref/lsm/weierstrass_lanes.hpp"
#include "cpu_ref/run/aligned.hpp"

namespace vicinity::lsm {

/// Evaluates all moves in rows of consecutive ones. begin(state, interruption): a search begins; moved(state, move): the solution took it.
/// each_row(state, visit) calls visit(keys, length) for one row after the other, in the order of the moves, or for parts of long rows, so
/// that no call is long in coming; the value of a neighbour is base(state) + key.
template <class E>
concept EvaluatesNeighbors = requires(E evaluator, const SearchState<typename E::Neighborhood>& state, std::int64_t move,
                                      void (*visit)(const typename E::Key*, std::int32_t), const Interruption& interruption) {
  requires std::constructible_from<E, const typename E::Neighborhood&>;
  { E::base(state) } -> std::same_as<std::int64_t>;
  evaluator.begin(state, interruption);
  evaluator.moved(state, move);
  evaluator.each_row(state, visit);
};

/// Neighbours of O(n) that are visited together.
inline constexpr std::size_t most_of_a_row = 1024;

/// A square matrix of `n` rows and columns, rows on cache lines of their own, zero beyond the last column.
template <class T>
class RowMatrix {
 public:
  RowMatrix(std::size_t n, std::size_t columns) : n_(n), pitch_(divide_up(columns * sizeof(T), std::size_t{64}) * 64 / sizeof(T)) {
    data_.resize(n_ * pitch_);
  }

  [[nodiscard]] T* row(std::size_t i) { return &data_[i * pitch_]; }
  [[nodiscard]] const T* row(std::size_t i) const { return &data_[i * pitch_]; }
  [[nodiscard]] std::size_t pitch() const { return pitch_; }
  void exchange(std::size_t r, std::size_t s) {
    std::swap_ranges(row(r), row(r) + n_, row(s));
    for (std::size_t i = 0; i < n_; ++i) std::swap(row(i)[r], row(i)[s]);
  }

 private:
  std::size_t n_, pitch_;
  Aligned<T> data_;
};

// --- QAP ---------------------------------------------------------------------------------------------------------------

/// O(n) a neighbour. Facility at[t] takes the location of at[t + 1], the last that of the first. With B'[x][y] = B[p[x]][p[y]], rows
/// a_t = A[at[t]] and b_t = B'[at[t]], and l the last of them, the cost changes by
///   sum over k, t < l of (a_t[k] - a_l[k]) (b_(t+1)[k] - b_t[k]), the same of the transposes,
///   and sum over t, u < l of A(x_t, x_u) B'(y_t, y_u), x_t = e_t - e_l and y_t = e_(t+1) - e_t being differences of unit vectors.
/// `Element` holds differences of entries, `Delta` deltas; sums wrap around.
template <int K, class Element, class Delta>
class QapEvaluator {
 public:
  using Neighborhood = local_search::QapExchange<K>;
  using Key = Delta;

  explicit QapEvaluator(const Neighborhood& neighborhood)
      : qap_(neighborhood.instance()),
        n_(static_cast<std::size_t>(qap_.size())),
        a_(n_, n_),
        b_(n_, n_),
        at_(sides(), sides()),
        bt_(sides(), sides()),
        keys_(n_) {
    const auto entry = [&](std::size_t x, std::size_t y) { return static_cast<Element>(qap_.view().a[x * n_ + y]); };
    fill(a_, at_, entry);
  }

  [[nodiscard]] static std::int64_t base(const SearchState<Neighborhood>& state) { return state.value(); }
  void begin(const SearchState<Neighborhood>& state, const Interruption& interruption) {
    const qap::Permutation& p = state.solution();
    fill(b_, bt_, [&](std::size_t x, std::size_t y) {
      if (y == 0) interruption.check();
      return static_cast<Element>(qap_.view().b[static_cast<std::size_t>(p[x]) * n_ + static_cast<std::size_t>(p[y])]);
    });
  }
  void moved(const SearchState<Neighborhood>&, std::int64_t move) {
    const auto rotation = moves::at<K>(qap_.size(), move);
    for (int t = 0; t + 1 < K; ++t) {
      const auto r = static_cast<std::size_t>(rotation.at[t]), s = static_cast<std::size_t>(rotation.at[t + 1]);
      b_.exchange(r, s);
      if (!qap_.symmetric()) bt_.exchange(r, s);
    }
  }
  template <class Visit>
  void each_row(const SearchState<Neighborhood>&, const Visit& visit) {
    std::array<std::size_t, K> at{};
    for (at[0] = 0; at[0] + K <= n_; ++at[0]) {
      if constexpr (K == 2) evaluate(at, visit);
      if constexpr (K == 3)
        for (at[1] = at[0] + 1; at[1] + 1 < n_; ++at[1]) evaluate(at, visit);
    }
  }

 private:
  using U = std::make_unsigned_t<Delta>;
  using Rows = std::array<const Element*, K>;

  [[nodiscard]] std::size_t sides() const { return qap_.symmetric() ? 0 : n_; }
  template <class Entry>
  void fill(RowMatrix<Element>& m, RowMatrix<Element>& transpose, const Entry& entry) const {
    for (std::size_t x = 0; x < n_; ++x)
      for (std::size_t y = 0; y < n_; ++y) {
        m.row(x)[y] = entry(x, y);
        if (!qap_.symmetric()) transpose.row(y)[x] = m.row(x)[y];
      }
  }
  [[nodiscard]] static Rows rows(const RowMatrix<Element>& m, const std::array<std::size_t, K>& at) {
    Rows found;
    for (std::size_t t = 0; t < K; ++t) found[t] = m.row(at[t]);
    return found;
  }
  /// All moves whose first K - 1 facilities are those of `at`.
  template <class Visit>
  void evaluate(std::array<std::size_t, K> at, const Visit& visit) {
    for (at[K - 1] = at[K - 2] + 1; at[K - 1] < n_;) {
      const std::size_t part = at[K - 1], end = std::min(n_, part + most_of_a_row);
      for (; at[K - 1] < end; ++at[K - 1]) {
        const Rows a = rows(a_, at), b = rows(b_, at);
        U sum = products(a, b);
        if (qap_.symmetric()) {
          sum *= 2;
        } else {
          const Rows a_transposed = rows(at_, at), b_transposed = rows(bt_, at);
          sum += products(a_transposed, b_transposed);
        }
        keys_[at[K - 1] - part] = static_cast<Delta>(sum + pairs(a, b, at));
      }
      visit(keys_.data(), static_cast<std::int32_t>(end - part));
    }
  }
  [[nodiscard]] U products(const Rows& a, const Rows& b) const {
    U sum = 0;
    for (std::size_t k = 0; k < n_; ++k)
      for (std::size_t t = 0; t + 1 < K; ++t) {
        const auto x = static_cast<Element>(a[t][k] - a[K - 1][k]), y = static_cast<Element>(b[t + 1][k] - b[t][k]);
        sum += static_cast<U>(Delta{x} * Delta{y});
      }
    return sum;
  }
  [[nodiscard]] static U pairs(const Rows& a, const Rows& b, const std::array<std::size_t, K>& at) {
    U sum = 0;
    for (std::size_t t = 0; t + 1 < K; ++t)
      for (std::size_t u = 0; u + 1 < K; ++u)
        sum += static_cast<U>(Delta{a[t][at[u]]} - a[t][at[K - 1]] - a[K - 1][at[u]] + a[K - 1][at[K - 1]]) *
               static_cast<U>(Delta{b[t + 1][at[u + 1]]} - b[t + 1][at[u]] - b[t][at[u + 1]] + b[t][at[u]]);
    return sum;
  }

  const qap::Qap& qap_;
  std::size_t n_;
  RowMatrix<Element> a_, b_;    ///< A, B'
  RowMatrix<Element> at_, bt_;  ///< their transposes; empty where they are symmetric
  std::vector<Delta> keys_;
};

// --- PPP ---------------------------------------------------------------------------------------------------------------

/// O(m + n) a neighbour, and O(m) for what neighbours with the same first K - 1 columns share. Kept are h = (S + n) / 2, how many entries
/// of a row agree with the signs, and of each entry whether it does: flipping a sign takes +-1 off h. A neighbour counts its rows by h and
/// makes z of the counts.
template <int K>
class PppEvaluator {
 public:
  using Neighborhood = local_search::PppFlip<K>;
  using Key = std::int32_t;

  explicit PppEvaluator(const Neighborhood& neighborhood)
      : ppp_(neighborhood.instance()),
        m_(static_cast<std::size_t>(ppp_.rows())),
        n_(static_cast<std::size_t>(ppp_.columns())),
        agreements_(m_),
        steps_(n_ * m_),
        bins_(m_),
        keys_(n_) {
    for (auto& shared : shared_) shared.resize(m_);
  }

  [[nodiscard]] static std::int64_t base(const SearchState<Neighborhood>&) { return 0; }
  void begin(const SearchState<Neighborhood>& state, const Interruption&) {
    std::fill(agreements_.begin(), agreements_.end(), std::int16_t{0});
    for (std::size_t c = 0; c < n_; ++c)
      for (std::size_t r = 0; r < m_; ++r) {
        steps_[c * m_ + r] = static_cast<std::int16_t>(ppp_.view().a[c * m_ + r] * state.solution()[c]);
        agreements_[r] = static_cast<std::int16_t>(agreements_[r] + (steps_[c * m_ + r] > 0 ? 1 : 0));
      }
    set_bins();
  }
  void moved(const SearchState<Neighborhood>&, std::int64_t move) {
    const auto flips = moves::at<K>(ppp_.columns(), move);
    for (const std::int32_t c : flips.at) {
      std::int16_t* step = &steps_[static_cast<std::size_t>(c) * m_];
      for (std::size_t r = 0; r < m_; ++r) {
        agreements_[r] = static_cast<std::int16_t>(agreements_[r] - step[r]);
        step[r] = static_cast<std::int16_t>(-step[r]);
      }
    }
    set_bins();
  }
  template <class Visit>
  void each_row(const SearchState<Neighborhood>&, const Visit& visit) {
    for (std::size_t r = 0; r < m_; ++r) shared_[0][r] = static_cast<std::int16_t>(agreements_[r] - least_);
    if constexpr (K == 1) {
      evaluate(0, visit);
    } else {
      for (std::size_t i = 0; i + K <= n_; ++i) {
        flip(shared_[0], i, shared_[1]);
        if constexpr (K == 2) evaluate(i + 1, visit);
        if constexpr (K == 3)
          for (std::size_t j = i + 1; j + 1 < n_; ++j) {
            flip(shared_[1], j, shared_[2]);
            evaluate(j + 1, visit);
          }
      }
    }
  }

 private:
  /// The bins that products of neighbours can have, and what they add to z.
  void set_bins() {
    const auto [low, high] = std::minmax_element(agreements_.begin(), agreements_.end());
    least_ = *low - K;
    const auto bins = static_cast<std::size_t>(*high + K - least_ + 1);
    counts_.resize(bins);
    weights_.clear();
    targets_.clear();
    constant_ = 0;
    for (std::int32_t v = 1; v <= ppp_.columns(); ++v) constant_ += ppp_.view().target[v];
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const std::int32_t product = 2 * (least_ + static_cast<std::int32_t>(bin)) - ppp_.columns();
      if (product < 1) {
        weights_.push_back(ppp::sign_cost(product));
      } else {
        targets_.push_back(product <= ppp_.columns() ? ppp_.view().target[product] : 0);
        constant_ -= targets_.back();
      }
    }
  }
  void flip(const std::vector<std::int16_t>& from, std::size_t column, std::vector<std::int16_t>& to) const {
    const std::int16_t *before = from.data(), *step = &steps_[column * m_];
    std::int16_t* __restrict after = to.data();
    for (std::size_t r = 0; r < m_; ++r) after[r] = static_cast<std::int16_t>(before[r] - step[r]);
  }
  /// All moves whose first K - 1 columns are flipped in shared_[K - 1], and whose last is `first` or a later one.
  template <class Visit>
  void evaluate(std::size_t first, const Visit& visit) {
    for (std::size_t column = first; column < n_;) {
      const std::size_t part = column, end = std::min(n_, part + most_of_a_row);
      for (; column < end; ++column) {
        flip(shared_[K - 1], column, bins_);
        keys_[column - part] = cost_of_bins();
      }
      visit(keys_.data(), static_cast<std::int32_t>(end - part));
    }
  }
  [[nodiscard]] std::int32_t cost_of_bins() {
    std::int32_t* counts = counts_.data();
    std::fill(counts_.begin(), counts_.end(), 0);
    for (const std::int16_t bin : bins_) ++counts[bin];
    std::int32_t cost = constant_;
    for (std::size_t bin = 0; bin < weights_.size(); ++bin) cost += counts[bin] * weights_[bin];
    counts += weights_.size();
    for (std::size_t bin = 0; bin < targets_.size(); ++bin) cost += std::abs(counts[bin] - targets_[bin]);
    return cost;
  }

  const ppp::Ppp& ppp_;
  std::size_t m_, n_;
  std::vector<std::int16_t> agreements_;             ///< [row]: h
  std::vector<std::int16_t> steps_;                  ///< [column][row]: entry times sign
  std::array<std::vector<std::int16_t>, K> shared_;  ///< [flips made][row]: h - least_
  std::vector<std::int16_t> bins_;                   ///< [row]: of a neighbour
  std::vector<std::int32_t> counts_;                 ///< [bin]
  std::vector<std::int32_t> weights_, targets_;      ///< of the bins with products below 1, and of the others
  std::int32_t least_ = 0, constant_ = 0;
  std::vector<std::int32_t> keys_;
};

// --- TSP ---------------------------------------------------------------------------------------------------------------

/// O(1) a neighbour: four new distances, from the rows of the positions i - 1, i and i + 1, and four edges. The matrix is in the order of
/// the tour while it fits; beyond, a row is made of the coordinates when its turn comes. `Element` holds distances.
template <class Element>
class TspEvaluator {
 public:
  using Neighborhood = local_search::TspSwap;
  using Key = std::int32_t;

  /// `most_bytes` of matrix; beyond, rows are made of the coordinates.
  explicit TspEvaluator(const Neighborhood& neighborhood, std::size_t most_bytes = std::size_t{1} << 30)
      : tsp_(neighborhood.instance()),
        n_(static_cast<std::size_t>(tsp_.size())),
        whole_(n_ * n_ * sizeof(Element) <= most_bytes),
        distances_(whole_ ? n_ : 3, n_ + 1),
        x_(n_),
        y_(n_),
        edges_(n_),
        around_(n_),
        keys_(n_) {}

  [[nodiscard]] static std::int64_t base(const SearchState<Neighborhood>& state) { return state.value(); }
  void begin(const SearchState<Neighborhood>& state, const Interruption& interruption) {
    for (std::size_t k = 0; k < n_; ++k) {
      const auto city = static_cast<std::size_t>(state.solution()[k]);
      x_[k] = tsp_.view().x[city];
      y_[k] = tsp_.view().y[city];
    }
    for (std::size_t i = 0; whole_ && i < n_; ++i) {
      interruption.check();
      set_row(i, distances_.row(i));
    }
    for (std::size_t k = 0; k < n_; ++k) set_edge(k);
    set_around();
  }
  void moved(const SearchState<Neighborhood>&, std::int64_t move) {
    const auto swap = moves::at<2>(tsp_.size(), move);
    const auto r = static_cast<std::size_t>(swap.at[0]), s = static_cast<std::size_t>(swap.at[1]);
    std::swap(x_[r], x_[s]);
    std::swap(y_[r], y_[s]);
    if (whole_) {
      distances_.exchange(r, s);
      for (std::size_t i = 0; i < n_; ++i) distances_.row(i)[n_] = distances_.row(i)[0];
    }
    for (const std::size_t k : {r + n_ - 1, r, s + n_ - 1, s}) set_edge(k % n_);
    set_around();
  }
  template <class Visit>
  void each_row(const SearchState<Neighborhood>&, const Visit& visit) {
    const Element *before = row(n_ - 1, 2), *own = row(0, 0);
    for (std::size_t i = 0; i + 1 < n_; ++i) {
      const Element* after = row(i + 1, (i + 1) % 3);
      evaluate(before, own, after, i);
      visit(keys_.data(), static_cast<std::int32_t>(n_ - 1 - i));
      before = own;
      own = after;
    }
  }

 private:
  /// Distances of position i to all; [n] is that to the first.
  void set_row(std::size_t i, Element* row) const {
    const double *x = x_.data(), *y = y_.data(), own_x = x[i], own_y = y[i];
    for (std::size_t k = 0; k < n_; ++k) row[k] = static_cast<Element>(tsp::distance(plus(own_x, -x[k]), plus(own_y, -y[k])));
    row[n_] = row[0];
  }
  [[nodiscard]] const Element* row(std::size_t i, std::size_t slot) {
    if (whole_) return distances_.row(i);
    set_row(i, distances_.row(slot));
    return distances_.row(slot);
  }
  /// The edge from position k to the next.
  void set_edge(std::size_t k) {
    const std::size_t next = k + 1 == n_ ? 0 : k + 1;
    edges_[k] = tsp::distance(plus(x_[k], -x_[next]), plus(y_[k], -y_[next]));
  }
  void set_around() {
    for (std::size_t k = 0; k < n_; ++k) around_[k] = edges_[k == 0 ? n_ - 1 : k - 1] + edges_[k];
  }
  /// Swaps of position i with the later ones, from the rows of i - 1, i and i + 1.
  void evaluate(const Element* before, const Element* own, const Element* after, std::size_t i) {
    const std::int32_t *around = around_.data(), own_edges = around[i];
    std::int32_t* __restrict keys = keys_.data();
    for (std::size_t j = i + 1; j < n_; ++j)
      keys[j - i - 1] = std::int32_t{own[j - 1]} + own[j + 1] + before[j] + after[j] - around[j] - own_edges;
    keys[0] += 2 * edges_[i];  // neighbours share an edge, which stays
    if (i == 0) keys[n_ - 2] += 2 * edges_[n_ - 1];
  }

  const tsp::Tsp& tsp_;
  std::size_t n_;
  bool whole_;                        ///< all rows are kept
  RowMatrix<Element> distances_;      ///< [position][position], or three rows of it
  std::vector<double> x_, y_;         ///< [position]
  std::vector<std::int32_t> edges_;   ///< [position]: length to the next
  std::vector<std::int32_t> around_;  ///< [position]: of both edges
  std::vector<std::int32_t> keys_;
};

// --- Weierstrass function ------------------------------------------------------------------------------------------------

/// O(terms n) a neighbour; `lanes` neighbours side by side.
template <class Real>
class WeierstrassEvaluator {
 public:
  using Neighborhood = local_search::WeierstrassCrowns<Real>;
  using Key = decltype(weierstrass::ordered(Real{}));

  explicit WeierstrassEvaluator(const Neighborhood& neighborhood)
      : moves_(neighborhood.moves()),
        n_(neighborhood.instance().dimension()),
        width_(neighborhood.width()),
        points_(static_cast<std::size_t>(n_)) {}

  [[nodiscard]] static std::int64_t base(const SearchState<Neighborhood>&) { return 0; }
  static void begin(const SearchState<Neighborhood>&, const Interruption&) {}
  static void moved(const SearchState<Neighborhood>&, std::int64_t) {}
  template <class Visit>
  void each_row(const SearchState<Neighborhood>& state, const Visit& visit) {
    for (std::int64_t first = 0; first < moves_; first += lanes) {
      for (std::int64_t lane = 0; lane < lanes; ++lane) draw(state, first + lane, static_cast<std::size_t>(lane));
      WeierstrassLanes<Real> total{};
      for (const WeierstrassLanes<Real>& x : points_) add_coordinates(x, total);
      for (std::size_t lane = 0; lane < lanes; ++lane) keys_[lane] = weierstrass::ordered(total[lane]);
      visit(keys_.data(), static_cast<std::int32_t>(std::min<std::int64_t>(lanes, moves_ - first)));
    }
  }

 private:
  static constexpr std::int64_t lanes = weierstrass_lanes;

  /// The point of move f; a block of random bits has four words of it.
  void draw(const SearchState<Neighborhood>& state, std::int64_t f, std::size_t lane) {
    Philox4 block{};
    Real radius = 0;
    weierstrass::Face face{};
    for (std::int32_t word = 0; word < n_ + 2; ++word) {
      if (word % 4 == 0)
        block = philox(
            {{static_cast<std::uint32_t>(state.iteration()), 0, static_cast<std::uint32_t>(f), static_cast<std::uint32_t>(word / 4)}},
            state.seed());
      const std::uint32_t bits = block.word[word % 4];
      if (word == 0)
        radius = weierstrass::radius<Real>(f, bits, width_);
      else if (word == 1)
        face = weierstrass::face(bits, n_);
      else
        points_[static_cast<std::size_t>(word - 2)][lane] =
            weierstrass::moved<Real>(state.solution()[static_cast<std::size_t>(word - 2)], word - 2, bits, radius, face);
    }
  }

  std::int64_t moves_;
  std::int32_t n_;
  Real width_;
  std::vector<WeierstrassLanes<Real>> points_;  ///< [coordinate]
  WeierstrassLanes<Key> keys_;
};

}  // namespace vicinity::lsm
