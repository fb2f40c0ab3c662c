#include "core/problems/qap/inner_products.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/problems/moves.hpp"
#include "core/problems/qap/qap.hpp"
#include "tests/core/problems/qap/random_instances.hpp"

namespace vicinity::qap {
namespace {

/// A, B' and F by their definitions.
class Definition {
 public:
  Definition(const Qap& qap, const Permutation& p) : qap_(qap.view()), p_(p), n_(qap.size()) {
    for (std::int32_t x = 0; x < n_; ++x)
      for (std::int32_t y = 0; y < n_; ++y) {
        std::int64_t sum = 0;
        for (std::int32_t k = 0; k < n_; ++k) sum += a(x, k) * b(y, k) + a(k, x) * b(k, y);
        f_.push_back(sum);
      }
  }

  [[nodiscard]] std::int32_t at(std::int32_t x) const { return p_[static_cast<std::size_t>(x)]; }
  [[nodiscard]] std::int64_t a(std::int32_t x, std::int32_t y) const { return qap_.a_at(x, y); }
  [[nodiscard]] std::int64_t b(std::int32_t x, std::int32_t y) const { return qap_.b_at(at(x), at(y)); }
  [[nodiscard]] std::int64_t f(std::int32_t x, std::int32_t y) const { return f_[static_cast<std::size_t>(x * n_ + y)]; }
  [[nodiscard]] std::int64_t delta(std::int32_t i, std::int32_t j) const {
    return swap_delta(f(i, j), f(j, i), f(i, i), f(j, j),
                      pair_factor(a(i, i), a(j, j), a(i, j), a(j, i)) * pair_factor(b(i, i), b(j, j), b(i, j), b(j, i)));
  }
  /// What the swap of r and s, which has led here, means for facility x.
  template <int Sides>
  [[nodiscard]] SwapDifference<std::int64_t, Sides> difference(std::int32_t r, std::int32_t s, std::int32_t x) const {
    const auto entry_a = [&](int side, std::int32_t row, std::int32_t column) {
      return side == 0 ? qap_.a_at(row, column) : qap_.a_at(column, row);
    };
    const auto entry_b = [&](int side, std::int32_t row, std::int32_t column) {
      return side == 0 ? qap_.b_at(row, column) : qap_.b_at(column, row);
    };
    return swap_difference<std::int64_t, Sides>(entry_a, entry_b, r, s, at(r), at(s), x, at(x));
  }

 private:
  View<std::int32_t> qap_;
  Permutation p_;
  std::int32_t n_;
  std::vector<std::int64_t> f_;
};

TEST(QapInnerProducts, DeltaLaw) {
  for_random_instances([](const Qap& qap, const Permutation& p) {
    const Definition now(qap, p);
    const std::int64_t before = cost(qap, p);
    for (std::int32_t i = 0; i < qap.size(); ++i)
      for (std::int32_t j = 0; j < qap.size(); ++j) {
        if (i == j) continue;
        ASSERT_EQ(now.delta(i, j), delta(qap.view(), p, i, j)) << i << " " << j;
        ASSERT_EQ(now.delta(i, j), cost(qap, swapped(p, i, j)) - before) << i << " " << j;
      }
  });
}

/// Facility move.at[t] goes to the location of the next, the last to that of the first.
template <int K>
void expect_exchange_law() {
  for_random_instances([](const Qap& qap, const Permutation& p) {
    const Definition now(qap, p);
    const std::int64_t before = cost(qap, p);
    for (std::int64_t number = 0; number < moves::count<K>(qap.size()); ++number) {
      const auto move = moves::at<K>(qap.size(), number);
      std::int64_t sum = 0;
      for (int m = 0; m < K; ++m) {
        const std::int32_t t = move.at[m], to = move.at[(m + 1) % K];
        sum += now.f(t, to) - now.f(t, t);
        for (int l = 0; l < K; ++l) {
          const std::int32_t u = move.at[l], u_to = move.at[(l + 1) % K];
          sum += now.a(t, u) * (now.b(to, u_to) - now.b(to, u) - now.b(t, u_to) + now.b(t, u));
        }
      }
      Permutation after = p;
      moves::exchange(after, move);
      ASSERT_EQ(sum, cost(qap, after) - before) << K << " " << number;
    }
  });
}
TEST(QapInnerProducts, ExchangeLaw) {
  expect_exchange_law<2>();
  expect_exchange_law<3>();
}

template <int Sides>
void expect_update_law(const Qap& qap, const Permutation& p) {
  const Definition before(qap, p);
  for (std::int32_t r = 0; r < qap.size(); ++r)
    for (std::int32_t s = 0; s < qap.size(); ++s) {
      if (r == s) continue;
      const Definition after(qap, swapped(p, r, s));
      for (std::int32_t x = 0; x < qap.size(); ++x)
        for (std::int32_t y = 0; y < qap.size(); ++y) {
          const auto of_x = after.difference<Sides>(r, s, x), of_y = after.difference<Sides>(r, s, y);
          ASSERT_EQ(after.f(x, y), before.f(x, y == r ? s : y == s ? r : y) + product(of_x, of_y)) << r << s << x << y;
          ASSERT_EQ(delta_change(of_x, of_y), product(of_x, of_y) + product(of_y, of_x) - product(of_x, of_x) - product(of_y, of_y));
          if (x == y || x == r || x == s || y == r || y == s) continue;
          ASSERT_EQ(after.delta(x, y), before.delta(x, y) + delta_change(of_x, of_y)) << r << s << x << y;
        }
    }
}
TEST(QapInnerProducts, UpdateLaw) {
  for_random_instances([](const Qap& qap, const Permutation& p) {
    expect_update_law<2>(qap, p);
    if (qap.symmetric()) expect_update_law<1>(qap, p);
  });
}

}  // namespace
}  // namespace vicinity::qap
