#include "core/methods/alns/giant_tour.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace vicinity::alns {
namespace {

template <class Index>
struct Columns {
  Columns(std::int32_t n, std::int32_t m) : columns(static_cast<std::size_t>(n + m + 1)), rows(3 * columns), n_(n), m_(m) {
    view().clear();
  }

  [[nodiscard]] GiantTour<Index> view() { return {rows.data(), rows.data() + columns, rows.data() + 2 * columns, n_, m_}; }
  /// Nodes from the first artificial depot on.
  [[nodiscard]] std::vector<std::int32_t> order() {
    std::vector<std::int32_t> nodes;
    for (std::int32_t node = view().prev[0]; node > 0; node = view().prev[node]) nodes.insert(nodes.begin(), node);
    return nodes;
  }
  [[nodiscard]] std::vector<std::int32_t> unused() {
    std::vector<std::int32_t> nodes;
    for (std::int32_t next = view().next[0]; next != GiantTour<Index>::end_of_unused; next = view().next[-next]) nodes.push_back(-next);
    return nodes;
  }

  std::size_t columns;
  std::vector<Index> rows;
  std::int32_t n_, m_;
};

template <class Index>
class GiantTours : public testing::Test {};
using Indices = testing::Types<std::int16_t, std::int32_t>;
TYPED_TEST_SUITE(GiantTours, Indices);

TYPED_TEST(GiantTours, IsFigure2) {
  Columns<TypeParam> columns(4, 4);
  const auto list = columns.view();
  for (int t = 0; t < 3; ++t) list.open_tour();
  list.close_tour(1);
  EXPECT_EQ(list.open_tour(), 6);  // behind 5 and 7, as the figure has it
  list.insert_after(7, 1);
  list.insert_after(6, 3);
  list.insert_after(6, 2);
  constexpr TypeParam end = GiantTour<TypeParam>::end_of_unused, undefined = 99;
  const std::array<TypeParam, 9> next{-8, 6, 3, 0, -1, 7, 2, 1, end}, prev{3, 7, 6, 2, undefined, -1, 1, 5, undefined},
      tour{-1, 2, 1, 1, undefined, 0, 1, 2, 3};
  for (std::size_t node = 0; node < 9; ++node) {
    EXPECT_EQ(list.next[node], next[node]) << node;
    if (prev[node] != undefined) {
      EXPECT_EQ(list.prev[node], prev[node]) << node;
    }
    if (tour[node] != undefined) {
      EXPECT_EQ(list.tour[node], tour[node]) << node;
    }
  }
  EXPECT_TRUE(list.empty(0));
  EXPECT_FALSE(list.empty(2));
  EXPECT_FALSE(list.contains(4));
  EXPECT_FALSE(list.contains(8));
}

TYPED_TEST(GiantTours, OpensTheLeastUnusedTour) {
  Columns<TypeParam> columns(3, 3);
  const auto list = columns.view();
  EXPECT_EQ(columns.unused(), (std::vector<std::int32_t>{4, 5, 6}));
  for (const std::int32_t start : {4, 5, 6, -1}) EXPECT_EQ(list.open_tour(), start);
  for (const std::int32_t t : {2, 0, 1}) list.close_tour(t);
  EXPECT_EQ(columns.unused(), (std::vector<std::int32_t>{4, 5, 6}));
  EXPECT_TRUE(columns.order().empty());
}

TYPED_TEST(GiantTours, InsertsAndRemovesAnywhere) {
  Columns<TypeParam> columns(3, 2);
  const auto list = columns.view();
  list.open_tour();
  list.open_tour();
  list.insert_after(4, 1);
  list.insert_after(1, 2);
  list.insert_after(5, 3);
  EXPECT_EQ(columns.order(), (std::vector<std::int32_t>{4, 1, 2, 5, 3}));
  list.remove(1);
  list.remove(3);
  EXPECT_EQ(columns.order(), (std::vector<std::int32_t>{4, 2, 5}));
  EXPECT_TRUE(list.empty(1));
  list.insert_after(2, 3);
  EXPECT_EQ(list.tour[3], 0);
  EXPECT_EQ(columns.order(), (std::vector<std::int32_t>{4, 2, 3, 5}));
}

}  // namespace
}  // namespace vicinity::alns
