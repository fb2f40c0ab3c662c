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
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/problems/qap/qap.hpp"
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
  [[nodiscard]] std::size_t coefficients() const noexcept { return static_cast<std::size_t>(block * stride()); }
  /// Lanes of a row made from scratch.
  [[nodiscard]] std::int64_t whole() const noexcept { return std::int64_t{kinds_} * half_up(n_); }
  /// Does the list have room for one more swap?
  [[nodiscard]] bool room() const noexcept { return (terms_ - base_ + kinds_ + Arithmetic::depth - 1) / Arithmetic::depth <= room_; }

  /// The coefficients of a row made from scratch.
  void coefficients_of(Side side, std::int32_t i, Lane* out) const {
    const std::int32_t* const place = sides_[side].place.data();
    for (std::int32_t kind = 0; kind < kinds_; ++kind, out += half_up(n_)) {
      const Lane* const from = table(side, kinds_ - 1 - kind, i);
      for (std::int32_t k = 0; k < n_; k += lanes) {
        const auto factors = __builtin_convertvector(gather(from, place + k), Vector<typename Arithmetic::Factor>);
        std::memcpy(out + k / Arithmetic::depth, &factors, sizeof factors);
      }
    }
  }
  /// Sixteen elements of a row made from scratch.
  [[nodiscard]] VICINITY_HD Vector<Sum> fresh(Side side, std::int32_t chunk, const Lane* coefficients) const {
    Vector<Sum> sum[1]{};
    products<1>(sum, coefficients, 0, sides_[other(side)].whole.data() + chunk * whole() * lanes, whole());
    return sum[0];
  }

  /// Rows that are brought up to date together, so that one load serves all of them.
  static constexpr std::int32_t block = 4;
  /// Brings rows[0] up to date, and the `block - 1` that follow it in `rows` if that is the same kind of work: by the swaps they missed, or
  /// from scratch where these are no longer listed. `rows` has `block` entries or ends with -1.
  void refresh(Side side, const std::int32_t* rows, Lane* coefficients) {
    if (stamp(side, rows[0]) == terms_) return;
    const bool renew = far(side, rows[0]);
    const auto joins = [&](std::int32_t i) { return i >= 0 && stamp(side, i) != terms_ && far(side, i) == renew; };
    std::int32_t count = 1;
    std::int64_t oldest = stamp(side, rows[0]);
    while (count < block && joins(rows[count])) oldest = std::min(oldest, stamp(side, rows[count++]));
    if (count < block) {
      count = 1;
      oldest = stamp(side, rows[0]);
    }
    const std::int64_t first = renew ? 0 : (oldest - base_) / Arithmetic::depth, lanes_used = (renew ? whole() : used()) - first;
    for (std::int32_t q = 0; q < count; ++q) {
      Lane* const out = coefficients + q * stride();
      if (renew)
        coefficients_of(side, rows[q], out);
      else
        listed_coefficients_of(side, rows[q], first, out);
    }
    const Lane* const vectors = renew ? sides_[other(side)].whole.data() : sides_[other(side)].list.data() + first * lanes;
    const std::int64_t step = (renew ? whole() : room_) * lanes;
    if (count == block)
      follow<block>(side, rows, coefficients, vectors, step, lanes_used, renew);
    else
      follow<1>(side, rows, coefficients, vectors, step, lanes_used, renew);
  }
  /// Brings all rows that the list still covers up to date, of those in [from, to) of both sides.
  void refresh_all(std::int32_t from, std::int32_t to, Lane* coefficients) {
    for (const Side side : {facility, location})
      for (std::int32_t i = from; i < to; ++i) {
        std::array<std::int32_t, block> rows{};
        for (std::int32_t q = 0; q < block; ++q) rows[static_cast<std::size_t>(q)] = i + q < to ? i + q : -1;
        if (stamp(side, i) >= base_) refresh(side, rows.data(), coefficients);
      }
  }
  /// Empties the list; rows that are not up to date will be made from scratch.
  void forget() noexcept { base_ = terms_; }

  /// Swaps r and s. Row r of H is up to date, and stays so; `cross` is H[s][p[r]].
  void swap(std::int32_t r, std::int32_t s, Sum cross) {
    Sum* const sums = row(facility, r);
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
    sides_[facility].stamps[static_cast<std::size_t>(r)] = terms_;
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

  /// Of the coefficients of one row; stores may go beyond the last by a vector.
  [[nodiscard]] std::int64_t stride() const noexcept { return std::max(room_, whole()) + lanes; }
  [[nodiscard]] std::int64_t stamp(Side side, std::int32_t i) const { return sides_[side].stamps[static_cast<std::size_t>(i)]; }
  /// Lanes of the list in use.
  [[nodiscard]] std::int64_t used() const noexcept { return half_up(terms_ - base_); }
  /// Is a row to be made from scratch?
  [[nodiscard]] bool far(Side side, std::int32_t i) const { return stamp(side, i) < base_; }
  /// What lanes `first` and on of the list add to a row; nothing where the row has followed already.
  void listed_coefficients_of(Side side, std::int32_t i, std::int64_t first, Lane* out) const {
    const Lane* from = sides_[side].list.data() + (i / lanes * room_ + first) * lanes + i % lanes;
    const std::int64_t followed = stamp(side, i) - base_, mine = followed / Arithmetic::depth;
    for (std::int64_t m = first; m < used(); ++m, from += lanes) out[m - first] = m < mine ? Lane{} : *from;
    if constexpr (Arithmetic::depth == 2)
      if (followed % 2 != 0) out[mine - first] = Arithmetic::put(Lane{}, 1, out[mine - first] >> 16);
  }
  /// row += coefficients * vectors, or = with `renew`, for `Rows` rows.
  template <std::int32_t Rows>
  void follow(Side side, const std::int32_t* rows, const Lane* coefficients, const Lane* vectors, std::int64_t step, std::int64_t count,
              bool renew) {
    Sum* sums[Rows];
    for (std::int32_t q = 0; q < Rows; ++q) {
      sums[q] = row(side, rows[q]);
      sides_[side].stamps[static_cast<std::size_t>(rows[q])] = terms_;
    }
    for (std::int32_t chunk = 0; chunk < chunks_; ++chunk, vectors += step) {
      Vector<Sum> sum[Rows];
      for (std::int32_t q = 0; q < Rows; ++q) sum[q] = renew ? Vector<Sum>{} : load(sums[q] + chunk * lanes);
      products<Rows>(sum, coefficients, stride(), vectors, count);
      for (std::int32_t q = 0; q < Rows; ++q) store(sums[q] + chunk * lanes, sum[q]);
    }
  }
  [[nodiscard]] static std::int64_t half_up(std::int64_t count) { return (count + Arithmetic::depth - 1) / Arithmetic::depth; }
  [[nodiscard]] VICINITY_HD static Vector<Sum> widen(const Vector<Lane>& lane) { return __builtin_convertvector(lane, Vector<Sum>); }
  [[nodiscard]] std::ptrdiff_t start(std::int32_t row) const noexcept { return static_cast<std::ptrdiff_t>(row) * chunks_ * lanes; }
  [[nodiscard]] const Lane* table(Side side, std::int32_t kind, std::int32_t row) const {
    return sides_[side].tables[static_cast<std::size_t>(kind)].data() + start(row);
  }

  /// sum[q] += coefficients[q][0] * vectors[0..15] + coefficients[q][1] * vectors[16..31] + ..., in several parts to hide the latency.
  template <std::int32_t Rows>
  static void products(Vector<Sum> (&sum)[Rows], const Lane* coefficients, std::int64_t stride, const Lane* vectors, std::int64_t count) {
    constexpr std::int32_t parts = Rows == 1 ? 4 : 2;
    Vector<Sum> part[parts][Rows]{};
    const auto add = [&](Vector<Sum>(&to)[Rows], std::int64_t m) {
      const Vector<Lane> vector = load(vectors + m * lanes);
      for (std::int32_t q = 0; q < Rows; ++q) to[q] = Arithmetic::multiply_add(to[q], broadcast(coefficients[q * stride + m]), vector);
    };
    std::int64_t m = 0;
    for (; m + parts <= count; m += parts)
      for (std::int32_t i = 0; i < parts; ++i) add(part[i], m + i);
    for (; m < count; ++m) add(sum, m);
    for (std::int32_t i = 0; i < parts; ++i)
      for (std::int32_t q = 0; q < Rows; ++q) sum[q] += part[i][q];
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
