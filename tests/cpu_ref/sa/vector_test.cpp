#include "cpu_ref/sa/vector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/util/rng.hpp"

namespace vicinity::sa {
namespace {

template <class T>
std::array<T, lanes> numbers(std::uint64_t seed) {
  std::array<T, lanes> out{};
  for (std::uint32_t lane = 0; lane < lanes; ++lane) out[lane] = static_cast<T>(random_bits(seed, 0, 0, lane) >> (64 - 8 * sizeof(T)));
  out[3] = std::numeric_limits<T>::max();
  out[5] = std::numeric_limits<T>::lowest();
  out[7] = 0;
  return out;
}
template <class T>
void expect(const Vector<T>& found, const auto& of_lane) {
  std::array<T, lanes> stored{};
  store(stored.data(), found);
  for (std::int32_t lane = 0; lane < lanes; ++lane) {
    EXPECT_EQ(found[lane], static_cast<T>(of_lane(static_cast<std::size_t>(lane)))) << lane;
    EXPECT_EQ(stored[static_cast<std::size_t>(lane)], found[lane]) << lane;
  }
}

template <class T>
class SaVector : public testing::Test {};
using Types = testing::Types<std::int32_t, std::uint32_t, std::int64_t, float>;
TYPED_TEST_SUITE(SaVector, Types);

TYPED_TEST(SaVector, LanesAreNumbers) {
  using T = TypeParam;
  using M = MaskOf<T>;
  const auto a = numbers<T>(1);
  auto b = numbers<T>(2);
  b[2] = a[2];
  const Vector<T> x = load(a.data()), y = load(b.data());
  expect(x, [&](std::size_t k) { return a[k]; });
  expect<M>(x < y, [&](std::size_t k) { return a[k] < b[k] ? -1 : 0; });
  expect<M>(x <= y, [&](std::size_t k) { return a[k] <= b[k] ? -1 : 0; });
  expect<M>(x > y, [&](std::size_t k) { return a[k] > b[k] ? -1 : 0; });
  expect<M>(x >= y, [&](std::size_t k) { return a[k] >= b[k] ? -1 : 0; });
  expect(select(x < y, x, y), [&](std::size_t k) { return std::min(a[k], b[k]); });
  expect(Vector<T>(T{7}), [](std::size_t) { return 7; });
  if constexpr (std::is_unsigned_v<T>) {  // which do not overflow
    expect(x + y, [&](std::size_t k) { return a[k] + b[k]; });
    expect(x - y, [&](std::size_t k) { return a[k] - b[k]; });
    expect(x * y, [&](std::size_t k) { return a[k] * b[k]; });
  }
  if constexpr (std::is_integral_v<T>) {
    expect(x & y, [&](std::size_t k) { return a[k] & b[k]; });
    expect(x | y, [&](std::size_t k) { return a[k] | b[k]; });
    expect(x >> 3, [&](std::size_t k) { return a[k] >> 3; });
  }
  const std::array<std::int32_t, lanes> index{15, 0, 3, 3, 9, 1, 7, 2, 8, 14, 13, 5, 6, 10, 11, 4};
  expect(gather(a.data(), index.data()), [&](std::size_t k) { return a[static_cast<std::size_t>(index[k])]; });
}

TEST(SaVectors, NumbersOfOneTypeBecomeThoseOfAnother) {
  const auto small = numbers<std::int32_t>(3);
  expect(converted<std::int64_t>(load(small.data())), [&](std::size_t k) { return small[k]; });
  expect(converted<std::int16_t>(load(small.data())), [&](std::size_t k) { return small[k]; });
  expect(converted<float>(load(small.data())), [&](std::size_t k) { return static_cast<float>(small[k]); });
  const auto words = numbers<std::uint32_t>(4);
  expect(converted<float>(load(words.data())), [&](std::size_t k) { return static_cast<float>(words[k]); });
  const auto wide = numbers<std::int64_t>(5);
  expect(converted<std::int32_t>(load(wide.data())), [&](std::size_t k) { return wide[k]; });
  expect(lane_numbers(), [](std::size_t k) { return k; });
}

TEST(SaVectors, BitsSayWhichLanesAreAtMostTheBound) {
  const auto a = numbers<float>(6), b = numbers<float>(7);
  const std::uint32_t bits = at_most(load(a.data()), load(b.data()));
  for (std::size_t lane = 0; lane < lanes; ++lane) EXPECT_EQ(bits >> lane & 1, a[lane] <= b[lane] ? 1u : 0u) << lane;
  EXPECT_EQ(bits >> lanes, 0u);
}

TEST(SaVectors, ALaneAddsTheProductsOfBothItsFactors) {
  std::array<std::int32_t, lanes> x{}, y{}, sum{};
  std::array<std::int32_t, lanes> expected{};
  for (std::int32_t lane = 0; lane < lanes; ++lane) {
    const auto k = static_cast<std::size_t>(lane);
    const std::int32_t a = -32768 + 111 * lane, b = 32767 - 97 * lane, c = 300 * lane - 2000, d = 7 - lane;
    x[k] = Packed16::put(Packed16::put(0, 0, a), 1, b);
    y[k] = Packed16::put(Packed16::put(0, 0, c), 1, d);
    sum[k] = lane;
    expected[k] = lane + a * c + b * d;
  }
  expect(Packed16::multiply_add(load(sum.data()), load(x.data()), load(y.data())), [&](std::size_t k) { return expected[k]; });
}

}  // namespace
}  // namespace vicinity::sa
