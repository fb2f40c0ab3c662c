#pragma once
// The delta of a swap from scratch, in the order of memory: rows of the matrices, and of their transposes where the instance is not
// symmetric. Where it is, both sums are equal: one product a facility is taken.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/problems/qap/inner_products.hpp"
#include "core/problems/qap/qap.hpp"

namespace vicinity::qap {

class FromScratch {
 public:
  /// Transposes an instance that is not symmetric, O(n^2). The caller keeps the instance alive.
  explicit FromScratch(const Qap& qap) : qap_(&qap) {
    if (qap.symmetric()) return;
    a_transposed_ = transposed(qap.view().a);
    b_transposed_ = transposed(qap.view().b);
  }

  /// Change of the cost when facilities r != s swap their locations, in O(n).
  [[nodiscard]] std::int64_t delta(const Permutation& p, std::int32_t r, std::int32_t s) const {
    if (qap_->narrow()) return static_cast<std::int32_t>(sum<std::uint32_t>(p, r, s));
    return static_cast<std::int64_t>(sum<std::uint64_t>(p, r, s));
  }

 private:
  [[nodiscard]] std::vector<std::int32_t> transposed(const std::int32_t* matrix) const {
    const auto n = static_cast<std::size_t>(qap_->size());
    std::vector<std::int32_t> entries(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) entries[j * n + i] = matrix[i * n + j];
    return entries;
  }

  /// The sum over all facilities, and what it has wrong at r and s: alpha[r][s] beta[r][s] (core/problems/qap/inner_products.hpp). Modulo
  /// the range of Word, into which the delta fits (Qap::delta_bound).
  template <class Word>
  [[nodiscard]] Word sum(const Permutation& p, std::int32_t r, std::int32_t s) const {
    const auto view = qap_->view();
    const std::int32_t pr = p[static_cast<std::size_t>(r)], ps = p[static_cast<std::size_t>(s)];
    const auto entry = [&](const std::int32_t* matrix, std::int32_t i, std::int32_t j) {
      return static_cast<Word>(matrix[static_cast<std::ptrdiff_t>(i) * view.n + j]);
    };
    const auto factor = [&](const std::int32_t* matrix, std::int32_t i, std::int32_t j) {
      return pair_factor(entry(matrix, i, i), entry(matrix, j, j), entry(matrix, i, j), entry(matrix, j, i));
    };
    const Word rows = products<Word>(view.a, view.b, p, r, s);
    const Word columns = qap_->symmetric() ? rows : products<Word>(a_transposed_.data(), b_transposed_.data(), p, r, s);
    return rows + columns + factor(view.a, r, s) * factor(view.b, pr, ps);
  }
  /// The sum over k of (a[r][k] - a[s][k]) (b[p[s]][p[k]] - b[p[r]][p[k]]).
  template <class Word>
  [[nodiscard]] static Word products(const std::int32_t* a, const std::int32_t* b, const Permutation& p, std::int32_t r, std::int32_t s) {
    const std::size_t n = p.size();
    const auto row = [n](const std::int32_t* matrix, std::int32_t i) { return matrix + static_cast<std::size_t>(i) * n; };
    const std::int32_t *a_r = row(a, r), *a_s = row(a, s);
    const std::int32_t *b_r = row(b, p[static_cast<std::size_t>(r)]), *b_s = row(b, p[static_cast<std::size_t>(s)]);
    Word total = 0;
    for (std::size_t k = 0; k < n; ++k)
      total += (static_cast<Word>(a_r[k]) - static_cast<Word>(a_s[k])) * (static_cast<Word>(b_s[p[k]]) - static_cast<Word>(b_r[p[k]]));
    return total;
  }

  const Qap* qap_;
  std::vector<std::int32_t> a_transposed_, b_transposed_;
};

}  // namespace vicinity::qap
