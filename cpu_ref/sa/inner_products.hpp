#pragma once
// What all deltas are made of, and how it follows accepted swaps.
//
// With p the permutation and A, B the matrices, let H[x][l] = sum over k of A[k][x] B[p[k]][l] + A[x][k] B[l][p[k]], for facility x and
// location l. Expanding the definition of a delta, sums over all k and what that adds for k = i and k = j, gives in O(1)
//   delta(i, j) = H[i][p[j]] - H[i][p[i]] + H[j][p[i]] - H[j][p[j]] + C[i][j],
//   C[i][j] = (A[i][j] + A[j][i] - A[i][i] - A[j][j]) (B[pi][pj] + B[pj][pi] - B[pi][pi] - B[pj][pj]).
// Swapping r and s changes H by -u[x] w[l], u = A[r] - A[s], w = B[p[r]] - B[p[s]], and by the same of the transposed matrices: no row or
// column is a special case, and nothing is permuted. For symmetric instances both parts of H are equal and only one is kept.
//
// Rows are lazy. H and its transpose are kept, since scanning row i of the pairs needs H[i][.] and H[.][p[i]]; accepted swaps append (u, w)
// to a list, and a row follows the list only when it is looked at, in one pass over memory and two swaps an instruction.
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/problems/qap.hpp"
#include "cpu_ref/sa/vector.hpp"

namespace vicinity::sa {

template <class Arithmetic>
class InnerProducts {
 public:
  using Lane = typename Arithmetic::Lane;
  using Sum = typename Arithmetic::Sum;
  /// Whose rows: facilities' (H) or locations' (H transposed).
  enum Side : std::uint8_t { facility, location };
  static constexpr Side other(Side side) { return side == facility ? location : facility; }

  /// `pending`: accepted swaps the list holds, at least 2.
  InnerProducts(const qap::Qap& qap, std::int64_t pending)
      : n_(qap.size()),
        chunks_((n_ + lanes - 1) / lanes),
        kinds_(qap.symmetric() ? 1 : 2),
        room_(pending * kinds_ / Arithmetic::depth + 1) {
    const auto view = qap.view();
    fill(sides_[facility], view.a);
    fill(sides_[location], view.b);
    for (auto& kind : differences_)
      for (auto& difference : kind) difference.resize(width());
    diagonal_.resize(width());
  }

  /// Starts at `p`, with no row known.
  void begin(const qap::Permutation& p) {
    for (Side_& side : sides_) {
      side.stamps.assign(static_cast<std::size_t>(n_), -1);
      side.place.assign(width(), 0);
    }
    std::copy(p.begin(), p.end(), sides_[location].place.begin());
    for (std::int32_t x = 0; x < n_; ++x) sides_[facility].place[static_cast<std::size_t>(p[static_cast<std::size_t>(x)])] = x;
    base_ = terms_ = 0;
    for (std::int32_t x = 0; x < n_; ++x) {
      Sum sum = 0;
      for (std::int32_t kind = 0; kind < kinds_; ++kind) {
        const Lane *a = table(facility, kinds_ - 1 - kind, x), *b = table(location, kinds_ - 1 - kind, p[static_cast<std::size_t>(x)]);
        for (std::int32_t k = 0; k < n_; ++k) sum += static_cast<Sum>(a[k]) * b[p[static_cast<std::size_t>(k)]];
      }
      diagonal_[static_cast<std::size_t>(x)] = sum;
    }
  }

  [[nodiscard]] std::int32_t size() const noexcept { return n_; }
  [[nodiscard]] std::int32_t chunks() const noexcept { return chunks_; }
  [[nodiscard]] std::size_t width() const noexcept { return static_cast<std::size_t>(chunks_) * lanes; }
  /// Factor of the inner products in a delta.
  [[nodiscard]] Sum scale() const noexcept { return kinds_ == 1 ? 2 : 1; }
  [[nodiscard]] const std::int32_t* locations() const noexcept { return sides_[location].place.data(); }
  /// H[x][p[x]].
  [[nodiscard]] const Sum* diagonal() const noexcept { return diagonal_.data(); }
  /// Row i of the first or of the second factor of C.
  [[nodiscard]] const Sum* factor(Side side, std::int32_t i) const noexcept { return sides_[side].factors.data() + start(i); }
  [[nodiscard]] Sum* row(Side side, std::int32_t i) noexcept { return sides_[side].rows.data() + start(i); }
  /// Lanes of coefficients that row() and whole() need as scratch space.
  [[nodiscard]] std::size_t coefficients() const noexcept { return static_cast<std::size_t>(std::max(room_, whole())); }
  /// Lanes of a row made from scratch.
  [[nodiscard]] std::int64_t whole() const noexcept { return std::int64_t{kinds_} * half_up(n_); }
  /// Does the list have room for one more swap?
  [[nodiscard]] bool room() const noexcept { return (terms_ - base_ + kinds_ + Arithmetic::depth - 1) / Arithmetic::depth <= room_; }
  [[nodiscard]] bool listed() const noexcept { return terms_ > base_; }

  /// The coefficients of a row made from scratch.
  void coefficients_of(Side side, std::int32_t i, Lane* out) const {
    const std::int32_t* const place = sides_[side].place.data();
    for (std::int32_t kind = 0; kind < kinds_; ++kind) {
      const Lane* const from = table(side, kinds_ - 1 - kind, i);
      for (std::int32_t k = 0; k < n_; k += Arithmetic::depth, ++out) {
        *out = Arithmetic::put(Lane{}, 0, from[place[k]]);
        if constexpr (Arithmetic::depth == 2) *out = Arithmetic::put(*out, 1, from[place[k + 1]]);
      }
    }
  }
  /// Sixteen elements of a row made from scratch.
  [[nodiscard]] Vector<Sum> fresh(Side side, std::int32_t chunk, const Lane* coefficients) const {
    return products(Vector<Sum>{}, coefficients, sides_[other(side)].whole.data() + chunk * whole() * lanes, whole());
  }

  /// Brings a row up to date: by the swaps it missed, or from scratch where these are no longer listed or `scratch` allows it and it is
  /// less work.
  void refresh(Side side, std::int32_t i, Lane* coefficients, bool scratch) {
    Side_& own = sides_[side];
    std::int64_t& stamp = own.stamps[static_cast<std::size_t>(i)];
    if (stamp == terms_) return;
    Sum* const sums = row(side, i);
    const std::int64_t first = (stamp - base_) / Arithmetic::depth, last = (terms_ - base_ + Arithmetic::depth - 1) / Arithmetic::depth;
    if (stamp < base_ || (scratch && last - first > whole())) {
      coefficients_of(side, i, coefficients);
      for (std::int32_t chunk = 0; chunk < chunks_; ++chunk) store(sums + chunk * lanes, fresh(side, chunk, coefficients));
    } else {
      const Lane* from = own.list.data() + (i / lanes * room_ + first) * lanes + i % lanes;
      for (std::int64_t m = 0; m < last - first; ++m, from += lanes) coefficients[m] = *from;
      if ((stamp - base_) % Arithmetic::depth != 0) coefficients[0] = Arithmetic::put(Lane{}, 1, static_cast<Lane>(coefficients[0] >> 16));
      const Lane* vectors = sides_[other(side)].list.data() + first * lanes;
      for (std::int32_t chunk = 0; chunk < chunks_; ++chunk, vectors += room_ * lanes)
        store(sums + chunk * lanes, products(load(sums + chunk * lanes), coefficients, vectors, last - first));
    }
    stamp = terms_;
  }
  /// Brings all rows that the list still covers up to date, of those in [from, to) of both sides.
  void refresh_all(std::int32_t from, std::int32_t to, Lane* coefficients) {
    for (const Side side : {facility, location})
      for (std::int32_t i = from; i < to; ++i)
        if (sides_[side].stamps[static_cast<std::size_t>(i)] >= base_) refresh(side, i, coefficients, false);
  }
  /// Empties the list; rows that are not up to date will be made from scratch.
  void forget() noexcept { base_ = terms_; }

  /// Swaps r and s. `sums` is row r of H, up to date; `cross` is H[s][p[r]]. `sums` follows, and is the stored row if `stored`.
  void swap(std::int32_t r, std::int32_t s, Sum* sums, Sum cross, bool stored) {
    std::int32_t* const p = sides_[location].place.data();
    const std::int32_t pr = p[r], ps = p[s];
    diagonal_[static_cast<std::size_t>(r)] = sums[ps];
    diagonal_[static_cast<std::size_t>(s)] = cross;
    for (std::int32_t kind = 0; kind < kinds_; ++kind) {
      const Lane* const u = difference(facility, kind, s, r);
      const Lane* const w = difference(location, kind, pr, ps);
      const Sum diagonal_r = diagonal_[static_cast<std::size_t>(r)], diagonal_s = diagonal_[static_cast<std::size_t>(s)];
      for (std::int32_t x = 0; x < n_; x += lanes)
        store(diagonal_.data() + x, load(diagonal_.data() + x) + widen(load(u + x)) * widen(gather(w, p + x)));
      diagonal_[static_cast<std::size_t>(r)] = diagonal_r + static_cast<Sum>(u[r]) * w[ps];
      diagonal_[static_cast<std::size_t>(s)] = diagonal_s + static_cast<Sum>(u[s]) * w[pr];
      const Vector<Sum> ur = broadcast(static_cast<Sum>(u[r]));
      for (std::int32_t l = 0; l < n_; l += lanes) store(sums + l, load(sums + l) + ur * widen(load(w + l)));
      append(facility, u);
      append(location, w);
      ++terms_;
    }
    if (stored) sides_[facility].stamps[static_cast<std::size_t>(r)] = terms_;
    std::swap(p[r], p[s]);
    std::swap(sides_[facility].place[static_cast<std::size_t>(pr)], sides_[facility].place[static_cast<std::size_t>(ps)]);
  }

 private:
  struct Side_ {
    std::array<Aligned<Lane>, 2> tables;  ///< the matrix, and its transpose when they differ; rows padded with zeros
    Aligned<Sum> factors;                 ///< of C
    Aligned<Lane> whole;                  ///< the tables' rows as lanes: by chunk of 16 columns, then by row
    Aligned<Lane> list;                   ///< u (negative) or w of the swaps since base_: by chunk, then by swap
    Aligned<Sum> rows;                    ///< of H or its transpose
    std::vector<std::int64_t> stamps;     ///< terms a row has followed; below base_: unknown
    std::vector<std::int32_t> place;      ///< of facilities: the facility at a location; of locations: p. Padded with 0
  };

  [[nodiscard]] static std::int64_t half_up(std::int64_t count) { return (count + Arithmetic::depth - 1) / Arithmetic::depth; }
  [[nodiscard]] static Vector<Sum> widen(const Vector<Lane>& lane) { return __builtin_convertvector(lane, Vector<Sum>); }
  [[nodiscard]] std::ptrdiff_t start(std::int32_t row) const noexcept { return static_cast<std::ptrdiff_t>(row) * chunks_ * lanes; }
  [[nodiscard]] const Lane* table(Side side, std::int32_t kind, std::int32_t row) const {
    return sides_[side].tables[static_cast<std::size_t>(kind)].data() + start(row);
  }

  /// sum + coefficients[0] * vectors[0..15] + coefficients[1] * vectors[16..31] + ..., in four sums to hide the latency.
  [[nodiscard]] static Vector<Sum> products(const Vector<Sum>& sum, const Lane* coefficients, const Lane* vectors, std::int64_t count) {
    Vector<Sum> part0 = sum, part1{}, part2{}, part3{};
    const auto add = [&](Vector<Sum>& part, std::int64_t m) {
      part = Arithmetic::multiply_add(part, broadcast(coefficients[m]), load(vectors + m * lanes));
    };
    std::int64_t m = 0;
    for (; m + 4 <= count; m += 4) {
      add(part0, m);
      add(part1, m + 1);
      add(part2, m + 2);
      add(part3, m + 3);
    }
    for (; m < count; ++m) add(part0, m);
    return (part0 + part1) + (part2 + part3);
  }

  const Lane* difference(Side side, std::int32_t kind, std::int32_t i, std::int32_t j) {
    Lane* const out = differences_[side][static_cast<std::size_t>(kind)].data();
    const Lane *x = table(side, kind, i), *y = table(side, kind, j);
    for (std::int32_t k = 0; k < n_; k += lanes) store(out + k, load(x + k) - load(y + k));
    return out;
  }
  void append(Side side, const Lane* values) {
    const std::int64_t term = terms_ - base_;
    const auto half = static_cast<std::int32_t>(term % Arithmetic::depth);
    Lane* to = sides_[side].list.data() + term / Arithmetic::depth * lanes;
    for (std::int32_t k = 0; k < n_; k += lanes, to += room_ * lanes) store(to, Arithmetic::put(load(to), half, load(values + k)));
  }

  void fill(Side_& side, const std::int32_t* matrix) {
    const auto at = [&](std::int32_t i, std::int32_t j) { return static_cast<Sum>(matrix[static_cast<std::ptrdiff_t>(i) * n_ + j]); };
    const std::size_t size = static_cast<std::size_t>(n_) * width();
    side.rows.resize(size);
    side.factors.resize(size);
    side.list.resize(static_cast<std::size_t>(room_) * width());
    side.whole.resize(static_cast<std::size_t>(whole()) * width());
    for (std::int32_t kind = 0; kind < kinds_; ++kind) {
      Aligned<Lane>& table = side.tables[static_cast<std::size_t>(kind)];
      table.resize(size);
      for (std::int32_t i = 0; i < n_; ++i)
        for (std::int32_t j = 0; j < n_; ++j) {
          const auto value = static_cast<Lane>(kind == 0 ? at(i, j) : at(j, i));
          table[static_cast<std::size_t>(start(i) + j)] = value;
          Lane& lane =
              side.whole[static_cast<std::size_t>((j / lanes * whole() + kind * half_up(n_) + i / Arithmetic::depth) * lanes + j % lanes)];
          lane = Arithmetic::put(lane, i % Arithmetic::depth, value);
          side.factors[static_cast<std::size_t>(start(i) + j)] = at(i, j) + at(j, i) - at(i, i) - at(j, j);
        }
    }
  }

  std::int32_t n_, chunks_, kinds_;
  std::int64_t room_;  ///< lanes of the list
  std::array<Side_, 2> sides_;
  std::array<std::array<Aligned<Lane>, 2>, 2> differences_;
  Aligned<Sum> diagonal_;
  std::int64_t base_ = 0, terms_ = 0;
};

}  // namespace vicinity::sa
