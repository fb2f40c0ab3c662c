#include "core/methods/alns/array_tour.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "core/methods/alns/giant_tour.hpp"
#include "core/util/rng.hpp"

namespace vicinity::alns {
namespace {

template <class List>
struct Rows {
  Rows(std::int32_t n, std::int32_t m) : elements(List::elements(n, m)), list(List::at(elements.data(), n, m)) { list.clear(); }

  std::vector<std::int16_t> elements;
  List list;
};

/// The array has the list's nodes in the list's order, whatever was removed since its entries were last closed up.
TEST(AlnsArrayTour, IsTheListInARow) {
  for (const auto& [n, m] : {std::pair{1, 1}, {4, 4}, {9, 3}, {30, 7}}) {
    Rows<GiantTour<std::int16_t>> listed(n, m);
    Rows<ArrayTour<std::int16_t>> rows(n, m);
    const auto list = listed.list;
    const auto array = rows.list;
    std::uint32_t draw = 0;
    const auto below = [&](std::int32_t bound) {
      return static_cast<std::int32_t>(scale_to(random_bits(5, 1, 0, draw++), static_cast<std::uint64_t>(bound)));
    };
    const auto expect_same = [&] {
      for (std::int32_t node = 1; node <= n + m; ++node) {
        ASSERT_EQ(array.contains(node), list.contains(node)) << node;
        if (!list.contains(node)) continue;
        ASSERT_EQ(array.after(node), list.after(node)) << node;
        ASSERT_EQ(array.tour[node], list.tour[node]) << node;
        if (node <= n) {
          ASSERT_EQ(array.before(node), list.before(node)) << node;
        } else {
          ASSERT_EQ(array.empty(node - n - 1), list.empty(node - n - 1)) << node;
        }
      }
    };
    for (int round = 0; round < 200; ++round) {
      ASSERT_EQ(array.open_tour(), list.open_tour());
      expect_same();
      array.compact();
      for (std::int32_t wanted = below(n + 1); wanted > 0; --wanted) {
        const std::int32_t request = 1 + below(n), position = 1 + below(n + m);
        if (list.contains(request) || !list.contains(position)) continue;
        list.insert_after(position, request);
        array.insert_after(position, request);
      }
      expect_same();
      for (std::int32_t wanted = below(n + 1); wanted > 0; --wanted) {
        const std::int32_t request = 1 + below(n);
        if (!list.contains(request)) continue;
        list.remove(request);
        array.remove(request);
        list.set_slot(request, wanted);
        array.set_slot(request, wanted);
        ASSERT_EQ(array.slot(request), wanted);
        ASSERT_EQ(list.slot(request), wanted);
      }
      for (std::int32_t t = 0; t < m; ++t) {
        if (!list.contains(list.start_of(t)) || !list.empty(t)) continue;
        list.close_tour(t);
        array.close_tour(t);
      }
      expect_same();
    }
  }
}

}  // namespace
}  // namespace vicinity::alns
