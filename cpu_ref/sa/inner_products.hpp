#pragma once
// The inner products F of core/problems/qap/inner_products.hpp for a long sequence of swaps, of which most rows of F follow many at once.
//
// Data layout: F[x][l] by facility x and location l, so that a swap adds a product to each element and nothing changes places, and its
// transpose, since scanning row i of the pairs takes F[i][.] and F[.][p[i]]. Where the matrices are symmetric both terms of F are equal:
// one is kept, and scale() is 2. Where one matrix is, both terms are one, too (matrices.hpp).
//
// Phases: a swap appends its d and e to a list. A row follows the list when it is next needed, four rows in one pass and two swaps an
// instruction where factors fit 16 bits. Where the list no longer reaches back to its last update, the row is made from scratch.
//
// Synchronisation: threads may update different rows at the same time.
//
// Cost: a product an element and swap, or n products an element from scratch; twice that where neither matrix is symmetric.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/problems/qap/inner_products.hpp"
#include "core/problems/qap/qap.hpp"
#include "cpu_ref/run/aligned.hpp"
#include "cpu_ref/sa/matrices.hpp"
#include "cpu_ref/sa/vector.hpp"

namespace vicinity::sa {

template <Arithmetic A>
class InnerProducts {
 public:
  using Lane = typename A::Lane;
  using Sum = typename A::Sum;
  /// Whose rows: of facilities (F) or of locations (its transpose).
  enum Axis : std::uint8_t { facility, location };
  static constexpr Axis other(Axis axis) { return axis == facility ? location : facility; }

  /// `listed`: swaps that the list holds, at least 2.
  InnerProducts(const qap::Qap& qap, std::int64_t listed) : InnerProducts(qap, Matrices(qap), listed) {}
  InnerProducts(const qap::Qap& qap, const Matrices& matrices, std::int64_t listed)
      : n_(qap.size()),
        chunks_((n_ + lanes - 1) / lanes),
        sides_(matrices.sides()),
        scale_(matrices.scale()),
        list_lanes_(listed * sides_ / A::depth + 1) {
    fill(axes_[facility], matrices.a(), qap.view().a);
    fill(axes_[location], matrices.b(), qap.view().b);
    for (auto& side : differences_)
      for (auto& difference : side) difference.resize(width());
    diagonal_.resize(width());
  }

  /// Starts at `p`, with all rows outdated.
  void begin(const qap::Permutation& p) {
    for (AxisData& data : axes_) {
      data.updated_to.assign(static_cast<std::size_t>(n_), -1);
      data.order.assign(width(), 0);
    }
    std::copy(p.begin(), p.end(), axes_[location].order.begin());
    for (std::int32_t x = 0; x < n_; ++x) axes_[facility].order[static_cast<std::size_t>(p[static_cast<std::size_t>(x)])] = x;
    list_start_ = terms_ = 0;
    for (std::int32_t x = 0; x < n_; ++x) {
      Sum sum = 0;
      for (std::int32_t side = 0; side < sides_; ++side) {
        const Lane *a = table(facility, sides_ - 1 - side, x), *b = table(location, sides_ - 1 - side, p[static_cast<std::size_t>(x)]);
        for (std::int32_t k = 0; k < n_; ++k) sum += static_cast<Sum>(a[k]) * b[p[static_cast<std::size_t>(k)]];
      }
      diagonal_[static_cast<std::size_t>(x)] = sum;
    }
  }

  [[nodiscard]] std::int32_t size() const noexcept { return n_; }
  [[nodiscard]] std::size_t width() const noexcept { return static_cast<std::size_t>(chunks_) * lanes; }
  /// Factor of the inner products in a delta.
  [[nodiscard]] Sum scale() const noexcept { return scale_; }
  [[nodiscard]] const std::int32_t* locations() const noexcept { return axes_[location].order.data(); }
  /// F[x][p[x]].
  [[nodiscard]] const Sum* diagonal() const noexcept { return diagonal_.data(); }
  /// Row i of alpha or of beta, the latter by location.
  [[nodiscard]] const Sum* pair_factors(Axis axis, std::int32_t i) const noexcept { return axes_[axis].pair_factors.data() + start(i); }
  [[nodiscard]] Sum* row(Axis axis, std::int32_t i) noexcept { return axes_[axis].rows.data() + start(i); }
  /// Lanes of coefficients that the functions below need as scratch space.
  [[nodiscard]] std::size_t coefficients() const noexcept { return static_cast<std::size_t>(block * stride()); }
  /// Lanes of a row made from scratch.
  [[nodiscard]] std::int64_t scratch_lanes() const noexcept { return std::int64_t{sides_} * half_up(n_); }
  /// In the list, for one more swap?
  [[nodiscard]] bool has_room() const noexcept { return (terms_ - list_start_ + sides_ + A::depth - 1) / A::depth <= list_lanes_; }

  /// The coefficients of a row made from scratch.
  void coefficients_of(Axis axis, std::int32_t i, Lane* out) const {
    const std::int32_t* const order = axes_[axis].order.data();
    for (std::int32_t side = 0; side < sides_; ++side, out += half_up(n_)) {
      const Lane* const from = table(axis, sides_ - 1 - side, i);
      for (std::int32_t k = 0; k < n_; k += lanes) {
        const auto factors = converted<typename A::Factor>(gather(from, order + k));
        std::memcpy(out + k / A::depth, &factors, sizeof factors);
      }
    }
  }
  /// Sixteen elements of a row made from scratch.
  [[nodiscard]] VICINITY_HD Vector<Sum> sums_from_scratch(Axis axis, std::int32_t chunk, const Lane* coefficients) const {
    Vector<Sum> sum[1]{};
    products<1>(sum, coefficients, 0, axes_[other(axis)].packed.data() + chunk * scratch_lanes() * lanes, scratch_lanes());
    return sum[0];
  }

  /// Rows that are updated together, so that one load serves all of them.
  static constexpr std::int32_t block = 4;
  /// Updates rows[0], and the `block - 1` that follow it in `rows` if that is the same kind of work: by the swaps they missed, or
  /// from scratch where these are no longer listed. `rows` has `block` entries or ends with -1.
  void update(Axis axis, const std::int32_t* rows, Lane* coefficients) {
    if (updated_to(axis, rows[0]) == terms_) return;
    const bool from_scratch = is_outdated(axis, rows[0]);
    const auto joins = [&](std::int32_t i) { return i >= 0 && updated_to(axis, i) != terms_ && is_outdated(axis, i) == from_scratch; };
    std::int32_t count = 1;
    std::int64_t oldest = updated_to(axis, rows[0]);
    while (count < block && joins(rows[count])) oldest = std::min(oldest, updated_to(axis, rows[count++]));
    if (count < block) {
      count = 1;
      oldest = updated_to(axis, rows[0]);
    }
    const std::int64_t first = from_scratch ? 0 : (oldest - list_start_) / A::depth,
                       lanes_used = (from_scratch ? scratch_lanes() : used()) - first;
    for (std::int32_t q = 0; q < count; ++q) {
      Lane* const out = coefficients + q * stride();
      if (from_scratch)
        coefficients_of(axis, rows[q], out);
      else
        listed_coefficients_of(axis, rows[q], first, out);
    }
    const Lane* const vectors = from_scratch ? axes_[other(axis)].packed.data() : axes_[other(axis)].list.data() + first * lanes;
    const std::int64_t step = (from_scratch ? scratch_lanes() : list_lanes_) * lanes;
    if (count == block)
      add_products<block>(axis, rows, coefficients, vectors, step, lanes_used, from_scratch);
    else
      add_products<1>(axis, rows, coefficients, vectors, step, lanes_used, from_scratch);
  }
  /// Updates all rows that are not outdated, of those in [from, to) of both axes.
  void update_all(std::int32_t from, std::int32_t to, Lane* coefficients) {
    for (const Axis axis : {facility, location})
      for (std::int32_t i = from; i < to; ++i) {
        std::array<std::int32_t, block> rows{};
        for (std::int32_t q = 0; q < block; ++q) rows[static_cast<std::size_t>(q)] = i + q < to ? i + q : -1;
        if (updated_to(axis, i) >= list_start_) update(axis, rows.data(), coefficients);
      }
  }
  /// Empties the list; rows that are not up to date will be made from scratch.
  void clear_list() noexcept { list_start_ = terms_; }

  [[nodiscard]] std::int32_t sides() const noexcept { return sides_; }
  /// Of the last swap: d of qap::swap_difference by facility, or e by location; of side 1 d* and e*.
  [[nodiscard]] const Lane* difference(Axis axis, std::int32_t side) const noexcept {
    return differences_[axis][static_cast<std::size_t>(side)].data();
  }
  [[nodiscard]] VICINITY_HD static Vector<Sum> widen(const Vector<Lane>& lane) { return converted<Sum>(lane); }

  /// Swaps r and s. Row r of F is up to date, and stays so; `cross` is F[s][p[r]].
  void swap(std::int32_t r, std::int32_t s, Sum cross) {
    Sum* const sums = row(facility, r);
    std::int32_t* const p = axes_[location].order.data();
    const std::int32_t pr = p[r], ps = p[s];
    diagonal_[static_cast<std::size_t>(r)] = sums[ps];
    diagonal_[static_cast<std::size_t>(s)] = cross;
    for (std::int32_t side = 0; side < sides_; ++side) {
      const Lane* const d = difference(facility, side, r, s);
      const Lane* const e = difference(location, side, ps, pr);
      const Sum diagonal_r = diagonal_[static_cast<std::size_t>(r)], diagonal_s = diagonal_[static_cast<std::size_t>(s)];
      for (std::int32_t x = 0; x < n_; x += lanes)
        store(diagonal_.data() + x, load(diagonal_.data() + x) + widen(load(d + x)) * widen(gather(e, p + x)));
      diagonal_[static_cast<std::size_t>(r)] = diagonal_r + static_cast<Sum>(d[r]) * e[ps];
      diagonal_[static_cast<std::size_t>(s)] = diagonal_s + static_cast<Sum>(d[s]) * e[pr];
      const Vector<Sum> dr = static_cast<Sum>(d[r]);
      for (std::int32_t l = 0; l < n_; l += lanes) store(sums + l, load(sums + l) + dr * widen(load(e + l)));
      append(facility, d);
      append(location, e);
      ++terms_;
    }
    axes_[facility].updated_to[static_cast<std::size_t>(r)] = terms_;
    std::swap(p[r], p[s]);
    std::swap(axes_[facility].order[static_cast<std::size_t>(pr)], axes_[facility].order[static_cast<std::size_t>(ps)]);
  }

 private:
  struct AxisData {
    std::array<Aligned<Lane>, 2> tables;   ///< the matrix, and its transpose when they differ; rows padded with zeros
    Aligned<Sum> pair_factors;             ///< alpha, or beta by location
    Aligned<Lane> packed;                  ///< the tables' rows as lanes: by chunk of 16 columns, then by row
    Aligned<Lane> list;                    ///< d or e of the swaps since list_start_: by chunk, then by swap
    Aligned<Sum> rows;                     ///< of F or its transpose
    std::vector<std::int64_t> updated_to;  ///< [row]: terms it has followed; below list_start_: outdated
    std::vector<std::int32_t> order;       ///< of facilities: the inverse permutation; of locations: p. Padded with 0
  };

  /// Of the coefficients of one row; stores may go beyond the last by a vector.
  [[nodiscard]] std::int64_t stride() const noexcept { return std::max(list_lanes_, scratch_lanes()) + lanes; }
  [[nodiscard]] std::int64_t updated_to(Axis axis, std::int32_t i) const { return axes_[axis].updated_to[static_cast<std::size_t>(i)]; }
  /// Lanes of the list in use.
  [[nodiscard]] std::int64_t used() const noexcept { return half_up(terms_ - list_start_); }
  /// Are swaps that a row has not followed no longer listed?
  [[nodiscard]] bool is_outdated(Axis axis, std::int32_t i) const { return updated_to(axis, i) < list_start_; }
  /// What lanes `first` and on of the list add to a row; nothing where the row has followed already.
  void listed_coefficients_of(Axis axis, std::int32_t i, std::int64_t first, Lane* out) const {
    const Lane* from = axes_[axis].list.data() + (i / lanes * list_lanes_ + first) * lanes + i % lanes;
    const std::int64_t followed = updated_to(axis, i) - list_start_, own = followed / A::depth;
    for (std::int64_t m = first; m < used(); ++m, from += lanes) out[m - first] = m < own ? Lane{} : *from;
    if constexpr (A::depth == 2)
      if (followed % 2 != 0) out[own - first] = A::put(Lane{}, 1, out[own - first] >> 16);
  }
  /// row += coefficients * vectors, or = with `from_scratch`, for `Rows` rows.
  template <std::int32_t Rows>
  void add_products(Axis axis, const std::int32_t* rows, const Lane* coefficients, const Lane* vectors, std::int64_t step,
                    std::int64_t count, bool from_scratch) {
    Sum* sums[Rows];
    for (std::int32_t q = 0; q < Rows; ++q) {
      sums[q] = row(axis, rows[q]);
      axes_[axis].updated_to[static_cast<std::size_t>(rows[q])] = terms_;
    }
    for (std::int32_t chunk = 0; chunk < chunks_; ++chunk, vectors += step) {
      Vector<Sum> sum[Rows];
      for (std::int32_t q = 0; q < Rows; ++q) sum[q] = from_scratch ? Vector<Sum>{} : load(sums[q] + chunk * lanes);
      products<Rows>(sum, coefficients, stride(), vectors, count);
      for (std::int32_t q = 0; q < Rows; ++q) store(sums[q] + chunk * lanes, sum[q]);
    }
  }
  [[nodiscard]] static std::int64_t half_up(std::int64_t count) { return (count + A::depth - 1) / A::depth; }
  [[nodiscard]] std::ptrdiff_t start(std::int32_t row) const noexcept { return static_cast<std::ptrdiff_t>(row) * chunks_ * lanes; }
  [[nodiscard]] const Lane* table(Axis axis, std::int32_t side, std::int32_t row) const {
    return axes_[axis].tables[static_cast<std::size_t>(side)].data() + start(row);
  }

  /// sum[q] += coefficients[q][0] * vectors[0..15] + coefficients[q][1] * vectors[16..31] + ..., in several parts to hide the latency.
  template <std::int32_t Rows>
  static void products(Vector<Sum> (&sum)[Rows], const Lane* coefficients, std::int64_t stride, const Lane* vectors, std::int64_t count) {
    constexpr std::int32_t parts = Rows == 1 ? 4 : 2;
    Vector<Sum> part[parts][Rows]{};
    const auto add = [&](Vector<Sum>(&to)[Rows], std::int64_t m) {
      const Vector<Lane> vector = load(vectors + m * lanes);
      for (std::int32_t q = 0; q < Rows; ++q) to[q] = A::multiply_add(to[q], coefficients[q * stride + m], vector);
    };
    std::int64_t m = 0;
    for (; m + parts <= count; m += parts)
      for (std::int32_t i = 0; i < parts; ++i) add(part[i], m + i);
    for (; m < count; ++m) add(sum, m);
    for (std::int32_t i = 0; i < parts; ++i)
      for (std::int32_t q = 0; q < Rows; ++q) sum[q] += part[i][q];
  }

  const Lane* difference(Axis axis, std::int32_t side, std::int32_t i, std::int32_t j) {
    Lane* const out = differences_[axis][static_cast<std::size_t>(side)].data();
    const Lane *x = table(axis, side, i), *y = table(axis, side, j);
    for (std::int32_t k = 0; k < n_; k += lanes) store(out + k, load(x + k) - load(y + k));
    return out;
  }
  void append(Axis axis, const Lane* values) {
    const std::int64_t term = terms_ - list_start_;
    const auto half = static_cast<std::int32_t>(term % A::depth);
    Lane* to = axes_[axis].list.data() + term / A::depth * lanes;
    for (std::int32_t k = 0; k < n_; k += lanes, to += list_lanes_ * lanes) store(to, A::put(load(to), half, load(values + k)));
  }

  /// `own`: the instance's matrix.
  void fill(AxisData& data, const std::int32_t* matrix, const std::int32_t* own) {
    const auto entry = [&](const std::int32_t* of, std::int32_t i, std::int32_t j) {
      return static_cast<Sum>(of[static_cast<std::ptrdiff_t>(i) * n_ + j]);
    };
    const std::size_t size = static_cast<std::size_t>(n_) * width();
    data.rows.resize(size);
    data.pair_factors.resize(size);
    data.list.resize(static_cast<std::size_t>(list_lanes_) * width());
    data.packed.resize(static_cast<std::size_t>(scratch_lanes()) * width());
    for (std::int32_t side = 0; side < sides_; ++side) {
      Aligned<Lane>& table = data.tables[static_cast<std::size_t>(side)];
      table.resize(size);
      for (std::int32_t i = 0; i < n_; ++i)
        for (std::int32_t j = 0; j < n_; ++j) {
          const auto value = static_cast<Lane>(side == 0 ? entry(matrix, i, j) : entry(matrix, j, i));
          table[static_cast<std::size_t>(start(i) + j)] = value;
          Lane& lane =
              data.packed[static_cast<std::size_t>((j / lanes * scratch_lanes() + side * half_up(n_) + i / A::depth) * lanes + j % lanes)];
          lane = A::put(lane, i % A::depth, value);
          data.pair_factors[static_cast<std::size_t>(start(i) + j)] =
              qap::pair_factor(entry(own, i, i), entry(own, j, j), entry(own, i, j), entry(own, j, i));
        }
    }
  }

  std::int32_t n_, chunks_, sides_;
  Sum scale_;
  std::int64_t list_lanes_;  ///< of the list, for each column
  std::array<AxisData, 2> axes_;
  std::array<std::array<Aligned<Lane>, 2>, 2> differences_;  ///< [axis][side]
  Aligned<Sum> diagonal_;
  std::int64_t list_start_ = 0, terms_ = 0;  ///< products added to F since begin() before the list; in all
};

}  // namespace vicinity::sa
