#pragma once
// Scanning one row of the pairs, (i, i+1) ... (i, n-1), for the first accepted swap.
#include <array>
#include <bit>
#include <cstdint>

#include "core/methods/sa/annealing.hpp"
#include "cpu_ref/sa/inner_products.hpp"
#include "cpu_ref/sa/thresholds.hpp"
#include "cpu_ref/sa/vector.hpp"

namespace vicinity::sa {

/// One thread's view of a row. Rows of InnerProducts that no other thread touches meanwhile are brought up to date on the way.
template <class Arithmetic>
class RowScan {
 public:
  using Products = InnerProducts<Arithmetic>;
  using Lane = typename Products::Lane;
  using Sum = typename Products::Sum;

  explicit RowScan(Products& products)
      : products_(&products),
        thresholds_(products.size()),
        coefficients_(products.coefficients()),
        column_coefficients_(products.coefficients()) {}

  /// `mine`: this row and as many after it, less one, may be brought up to date on the way, since no other thread touches them.
  /// `hot`: of H[.][p[i]] no more than is looked at is made, from scratch, and not kept: for when the next swap is near.
  void open(std::uint64_t seed, std::int64_t sweep, std::int32_t row, std::int32_t mine, bool hot) {
    row_ = row;
    hot_ = hot;
    thresholds_.begin(seed, sweep, row);
    std::array<std::int32_t, Products::block> rows{};
    for (std::int32_t q = 0; q < Products::block; ++q) rows[static_cast<std::size_t>(q)] = q < mine ? row + q : -1;
    products_->refresh(Products::facility, rows.data(), coefficients_.data());
    sums_ = products_->row(Products::facility, row);
    for (std::int32_t& i : rows)
      if (i >= 0) i = products_->locations()[i];
    open_column(rows.data());
  }

  struct Hit {
    std::int32_t column;  ///< -1: none
    Sum delta;
  };
  /// The first accepted of columns from .. to - 1.
  [[nodiscard]] Hit first_accepted(std::int32_t from, std::int32_t to, const annealing::RowTemperature& temperature) {
    constexpr Vector<std::int32_t> iota{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const Vector<float> base = broadcast(temperature.base), step = broadcast(temperature.step);
    for (std::int32_t chunk = from / lanes; chunk * lanes < to; ++chunk) {
      const std::int32_t first = chunk * lanes;
      const Vector<Sum> deltas = deltas_of(chunk);
      const Vector<float> position = __builtin_convertvector(iota + (first - row_ - 1), Vector<float>);
      const Vector<float> test = __builtin_convertvector(deltas, Vector<float>) * (base + step * position);
      std::uint32_t asked = 0xFFFFu;
      if (from > first) asked &= 0xFFFFu << (from - first);
      if (to < first + lanes) asked &= 0xFFFFu >> (first + lanes - to);
      const std::uint32_t accepted = thresholds_.accepted(chunk, test, asked);
      if (accepted == 0) continue;
      const int lane = std::countr_zero(accepted);
      return {first + lane, deltas[lane]};
    }
    return {-1, 0};
  }

  /// Accepts the swap with column s, which first_accepted() just returned.
  void accept(std::int32_t s) {
    products_->swap(row_, s, column_sums(s / lanes)[s % lanes]);
    const std::int32_t rows[]{products_->locations()[row_], -1};
    open_column(rows);
  }

 private:
  [[nodiscard]] VICINITY_HD Vector<Sum> deltas_of(std::int32_t chunk) {
    const std::int32_t first = chunk * lanes, here = products_->locations()[row_];
    const std::int32_t* const locations = products_->locations() + first;
    const Vector<Sum> own = gather(sums_, locations) - broadcast(products_->diagonal()[row_]);
    const Vector<Sum> others = column_sums(chunk) - load(products_->diagonal() + first);
    const Vector<Sum> corrections =
        load(products_->factor(Products::facility, row_) + first) * gather(products_->factor(Products::location, here), locations);
    return (own + others) * broadcast(products_->scale()) + corrections;
  }
  /// H[j][p[i]] of sixteen columns j.
  [[nodiscard]] VICINITY_HD Vector<Sum> column_sums(std::int32_t chunk) {
    if (!hot_) return load(column_ + chunk * lanes);
    if (chunk != column_chunk_) {
      column_chunk_ = chunk;
      column_sums_ = products_->fresh(Products::location, chunk, column_coefficients_.data());
    }
    return column_sums_;
  }
  /// `rows`: the location here, and others that may be brought up to date with it.
  void open_column(const std::int32_t* rows) {
    column_chunk_ = -1;
    if (hot_)
      products_->coefficients_of(Products::location, rows[0], column_coefficients_.data());
    else
      products_->refresh(Products::location, rows, coefficients_.data());
    column_ = products_->row(Products::location, rows[0]);
  }

  Products* products_;
  std::int32_t row_ = 0;
  bool hot_ = false;
  RowLevels thresholds_;
  Aligned<Lane> coefficients_, column_coefficients_;
  const Sum* sums_ = nullptr;
  const Sum* column_ = nullptr;
  std::int32_t column_chunk_ = -1;
  Vector<Sum> column_sums_{};
};

}  // namespace vicinity::sa
