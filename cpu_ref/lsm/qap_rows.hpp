#pragma once
// cpu-openmp on the QAP: all exchanges of K facilities, each in O(1) from the inner products F of core/problems/qap/inner_products.hpp.
//
// Data layout: A and B' with their transposes and pair factors, F and its transpose, so that a row of moves reads rows only. Rows of moves:
// K = 2 the first facility, K = 3 the first two.
//
// Phases: begin() makes F in O(n^3). moved() makes K - 1 swaps, each of which exchanges two columns of F and adds a product to each element
// (two, for matrices that are not symmetric). scan() evaluates.
//
// Cost: a swap takes four elements of F and a product, an exchange of three six elements and four products.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/problems/qap/exchange.hpp"
#include "core/problems/qap/inner_products.hpp"
#include "cpu_ref/lsm/run.hpp"
#include "cpu_ref/run/aligned.hpp"

namespace vicinity::lsm {

/// `T` holds the deltas; what they are made of may wrap around.
template <int K, class T>
class QapRows {
 public:
  using Neighborhood = local_search::QapExchange<K>;
  using Key = T;
  struct Scratch {
    explicit Scratch(const QapRows& rows) : keys(rows.n_) {}
    Aligned<T> keys;
  };

  explicit QapRows(const Neighborhood& neighborhood)
      : qap_(neighborhood.instance()), n_(static_cast<std::size_t>(qap_.size())), pitch_((n_ + 15) / 16 * 16) {
    for (Matrix* matrix : {&a_, &at_, &alpha_, &b_, &bt_, &beta_, &f_, &ft_}) matrix->resize(n_ * pitch_);
    diagonal_a_.resize(pitch_);
    diagonal_f_.resize(pitch_);
    for (std::size_t x = 0; x < n_; ++x)
      for (std::size_t y = 0; y < n_; ++y) a_[at(x, y)] = at_[at(y, x)] = static_cast<U>(qap_.view().a[x * n_ + y]);
    set_pair_factors(a_, alpha_);
    copy_diagonal(a_, diagonal_a_);
  }

  [[nodiscard]] std::int64_t rows() const { return K == 2 ? static_cast<std::int64_t>(n_) - 1 : moves::count<2>(size() - 1); }
  [[nodiscard]] std::int64_t first(std::int64_t row) const {
    if constexpr (K == 2) {
      const auto i = static_cast<std::int32_t>(row);
      return moves::index<2>(size(), {{i, i + 1}});
    } else {
      const auto pair = moves::at<2>(size() - 1, row);
      return moves::index<3>(size(), {{pair.at[0], pair.at[1], pair.at[1] + 1}});
    }
  }
  [[nodiscard]] std::int32_t length(std::int64_t row) const {
    return size() - 1 - (K == 2 ? static_cast<std::int32_t>(row) : moves::at<2>(size() - 1, row).at[1]);
  }
  [[nodiscard]] static std::int64_t block() { return K == 2 ? 16 : 64; }
  /// Few for K = 2, since one thread updates F, and the others must fetch it from its cache.
  [[nodiscard]] double operations() const { return static_cast<double>(moves::count<K>(size())) * (K == 2 ? 1.0 / 3 : 2.0); }
  [[nodiscard]] static std::int64_t bits() { return 8 * sizeof(T); }
  [[nodiscard]] static std::int64_t base(const SearchState<Neighborhood>& state) { return state.value(); }

  /// O(n^3).
  void begin(const SearchState<Neighborhood>& state, const Interruption& interruption) {
    const qap::Permutation& p = state.solution();
    for (std::size_t x = 0; x < n_; ++x) {
      interruption.check();
      for (std::size_t y = 0; y < n_; ++y)
        b_[at(x, y)] = bt_[at(y, x)] = static_cast<U>(qap_.view().b[static_cast<std::size_t>(p[x]) * n_ + static_cast<std::size_t>(p[y])]);
    }
    set_pair_factors(b_, beta_, interruption);
    std::fill(f_.begin(), f_.end(), 0);
    for (std::size_t x = 0; x < n_; ++x) {
      interruption.check();
      for (std::size_t k = 0; k < n_; ++k) {
        const U to = a_[at(x, k)], from = at_[at(x, k)];
#pragma omp simd
        for (std::size_t y = 0; y < pitch_; ++y) f_[at(x, y)] += to * bt_[at(k, y)] + from * b_[at(k, y)];
      }
    }
    for (std::size_t x = 0; x < n_; ++x)
      for (std::size_t y = 0; y < n_; ++y) ft_[at(y, x)] = f_[at(x, y)];
    copy_diagonal(f_, diagonal_f_);
  }

  void moved(const SearchState<Neighborhood>&, const local_search::Choice& choice) {
    const auto move = moves::at<K>(size(), choice.move);
    for (int t = 0; t + 1 < K; ++t) swap(static_cast<std::size_t>(move.at[t]), static_cast<std::size_t>(move.at[t + 1]));
    copy_diagonal(f_, diagonal_f_);
  }

  template <class Visit>
  void scan(const SearchState<Neighborhood>&, std::int64_t first, std::int64_t last, Scratch& scratch, const Visit& visit) const {
    T* keys = scratch.keys.data();
    if constexpr (K == 2) {
      for (std::int64_t row = first; row < last; ++row) {
        scan_pairs(static_cast<std::size_t>(row), keys);
        visit(row, keys);
      }
    } else {
      auto pair = moves::at<2>(size() - 1, first);
      for (std::int64_t row = first; row < last; ++row, pair = moves::next(size() - 1, pair)) {
        scan_triples(static_cast<std::size_t>(pair.at[0]), static_cast<std::size_t>(pair.at[1]), keys);
        visit(row, keys);
      }
    }
  }

 private:
  using U = std::make_unsigned_t<T>;
  using Matrix = Aligned<U>;

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(n_); }
  [[nodiscard]] std::size_t at(std::size_t row, std::size_t column) const { return row * pitch_ + column; }

  void set_pair_factors(const Matrix& m, Matrix& factors, const Interruption& interruption = Interruption()) const {
    for (std::size_t x = 0; x < n_; ++x) {
      interruption.check();
      for (std::size_t y = 0; y < n_; ++y) factors[at(x, y)] = qap::pair_factor(m[at(x, x)], m[at(y, y)], m[at(x, y)], m[at(y, x)]);
    }
  }
  void copy_diagonal(const Matrix& m, Aligned<U>& diagonal) const {
    for (std::size_t x = 0; x < n_; ++x) diagonal[x] = m[at(x, x)];
  }
  void swap_rows(Matrix& m, std::size_t r, std::size_t s) const { std::swap_ranges(&m[at(r, 0)], &m[at(r, 0)] + pitch_, &m[at(s, 0)]); }
  void swap_columns(Matrix& m, std::size_t r, std::size_t s) const {
    for (std::size_t x = 0; x < n_; ++x) std::swap(m[at(x, r)], m[at(x, s)]);
  }

  /// Facilities r and s swap their locations. O(n^2).
  void swap(std::size_t r, std::size_t s) {
    for (Matrix* m : {&b_, &bt_, &beta_}) {
      swap_rows(*m, r, s);
      swap_columns(*m, r, s);
    }
    swap_columns(f_, r, s);
    swap_rows(ft_, r, s);
    if (qap_.symmetric()) {
      add_products(f_, 2, a_, b_, r, s);
      add_products(ft_, 2, b_, a_, r, s);
    } else {
      for (const auto& [a, b] : {std::pair(&a_, &b_), std::pair(&at_, &bt_)}) {
        add_products(f_, 1, *a, *b, r, s);
        add_products(ft_, 1, *b, *a, r, s);
      }
    }
  }
  /// m[x][y] += factor (u[r][x] - u[s][x]) (v[r][y] - v[s][y])
  void add_products(Matrix& m, U factor, const Matrix& u, const Matrix& v, std::size_t r, std::size_t s) const {
    const U *ur = &u[at(r, 0)], *us = &u[at(s, 0)], *vr = &v[at(r, 0)], *vs = &v[at(s, 0)];
    for (std::size_t x = 0; x < n_; ++x) {
      const U scale = factor * (ur[x] - us[x]);
      U* row = &m[at(x, 0)];
#pragma omp simd
      for (std::size_t y = 0; y < pitch_; ++y) row[y] += scale * (vr[y] - vs[y]);
    }
  }

  /// qap::swap_delta, written out: by a call GCC 12 puts more before the loop, a hundredth of the time at n = 100.
  [[gnu::noinline]] void scan_pairs(std::size_t i, T* keys) const {
    const std::size_t start = at(i, i + 1), length = n_ - 1 - i;
    const U *f = &f_[start], *ft = &ft_[start], *alpha = &alpha_[start], *beta = &beta_[start], *diagonal = &diagonal_f_[i + 1];
    const U own = diagonal_f_[i];
#pragma omp simd
    for (std::size_t c = 0; c < length; ++c) keys[c] = static_cast<T>(f[c] + ft[c] - own - diagonal[c] + alpha[c] * beta[c]);
  }
  /// Of the facilities i < j < k, i goes to the location of j, j to that of k, k to that of i. With x1 = i - k, x2 = j - k and y1 = j - i,
  /// y2 = k - j as differences of unit vectors, the sum over t and u of the exchange is
  /// A(x1,x1) B'(y1,y1) + A(x2,x2) B'(y2,y2) + A(x1,x2) B'(y1,y2) + A(x2,x1) B'(y2,y1).
  [[gnu::noinline]] void scan_triples(std::size_t i, std::size_t j, T* keys) const {
    const std::size_t ik = at(i, j + 1), jk = at(j, j + 1), length = n_ - 1 - j;
    const U *fjk = &f_[jk], *fki = &ft_[ik], *diagonal = &diagonal_f_[j + 1], *akk = &diagonal_a_[j + 1];
    const U *alpha_ik = &alpha_[ik], *alpha_jk = &alpha_[jk], *beta_jk = &beta_[jk];
    const U *aik = &a_[ik], *aki = &at_[ik], *ajk = &a_[jk], *akj = &at_[jk];
    const U *bik = &b_[ik], *bki = &bt_[ik], *bjk = &b_[jk], *bkj = &bt_[jk];
    const U linear = f_[at(i, j)] - diagonal_f_[i] - diagonal_f_[j], beta_ij = beta_[at(i, j)];
    const U aij = a_[at(i, j)], aji = at_[at(i, j)], bij = b_[at(i, j)], bji = bt_[at(i, j)], bjj = b_[at(j, j)];
#pragma omp simd
    for (std::size_t c = 0; c < length; ++c) {
      const U a12 = aij - aik[c] - akj[c] + akk[c], a21 = aji - aki[c] - ajk[c] + akk[c];
      const U b12 = bjk[c] - bjj - bik[c] + bij, b21 = bkj[c] - bjj - bki[c] + bji;
      keys[c] =
          static_cast<T>(linear + fjk[c] + fki[c] - diagonal[c] + alpha_ik[c] * beta_ij + alpha_jk[c] * beta_jk[c] + a12 * b12 + a21 * b21);
    }
  }

  const qap::Qap& qap_;
  std::size_t n_, pitch_;
  Matrix a_, at_, alpha_;  ///< A, its transpose, its pair factors
  Matrix b_, bt_, beta_;   ///< B', its transpose, its pair factors
  Matrix f_, ft_;          ///< F and its transpose
  Aligned<U> diagonal_a_, diagonal_f_;
};

}  // namespace vicinity::lsm
