// The device's solutions, on the host: what is kept beside list or array is what the tours are, at every size that 16 bits have to hold.
#include "kernels/alns/solution.hpp"

#include <cstdint>
#include <memory>
#include <set>
#include <type_traits>
#include <vector>

#include "core/util/rng.hpp"
#include "tests/support/alns_twins.hpp"

namespace vicinity::alns {
namespace {

/// Totals, loads and durations from scratch.
template <class Solution>
void expect_consistent(const vrp::Vrp& vrp, const Solution& solution, const std::set<std::int32_t>& out) {
  const vrp::View view = vrp.view();
  const Tours tours = tours_of(solution);
  std::int32_t used = 0, open = -1, seen = 0;
  std::int64_t cost = 0;
  for (std::size_t t = 0; t < static_cast<std::size_t>(view.vehicles); ++t) {
    const std::vector<std::int32_t> tour = t < tours.size() ? tours[t] : std::vector<std::int32_t>{};
    std::int32_t load = 0, duration = 0, before = 0;
    for (const std::int32_t request : tour) {
      ASSERT_FALSE(out.contains(request));
      ASSERT_EQ(solution.list.tour[request], static_cast<std::int32_t>(t));
      load += view.demand[request];
      duration += view(before, request) + view.service[request];
      cost += view(before, request);
      before = request;
      ++seen;
    }
    cost += view(before, 0);
    ASSERT_EQ(solution.load[t], load);
    ASSERT_EQ(solution.duration[t], duration + view(before, 0));
    used += static_cast<std::int32_t>(!tour.empty());
    if (tour.empty() && open < 0) open = static_cast<std::int32_t>(t);
    const bool listed = solution.list.contains(solution.list.start_of(static_cast<std::int32_t>(t)));
    ASSERT_EQ(listed, !tour.empty() || open == static_cast<std::int32_t>(t)) << "only the empty tour of least number is in the list";
    ASSERT_TRUE(!listed || static_cast<std::int32_t>(t) < solution.totals->bound);
  }
  ASSERT_EQ(seen + static_cast<std::int32_t>(out.size()), view.n);
  ASSERT_EQ(solution.totals->cost, cost);
  ASSERT_EQ(solution.totals->used, used);
  ASSERT_EQ(solution.totals->open, open);
  ASSERT_EQ(solution.positions(static_cast<std::int32_t>(out.size())), seen + used + static_cast<std::int64_t>(open >= 0));
}

/// Removes up to `most` requests at random, inserts them anywhere, again and again.
template <class Solution>
void shake(const vrp::Vrp& vrp, const Tours& tours, int rounds, std::int32_t most) {
  const vrp::View view = vrp.view();
  std::vector<std::int32_t> words = words_of<Solution>(view, tours);
  const Solution solution(words.data(), view.n, view.vehicles);
  expect_consistent(vrp, solution, {});
  std::uint32_t draw = 0;
  const auto below = [&](std::int32_t bound) {
    return static_cast<std::int32_t>(scale_to(random_bits(1, 5, 0, draw++), static_cast<std::uint64_t>(bound)));
  };
  for (int round = 0; round < rounds; ++round) {
    std::set<std::int32_t> out;
    for (std::int32_t wanted = 1 + below(most); wanted > 0; --wanted) {
      const std::int32_t request = 1 + below(view.n);
      if (!out.insert(request).second) continue;
      solution.remove(request, solution.saving(view, request), view.demand[request], view.service[request]);
    }
    const std::vector<std::int32_t> removed(out.begin(), out.end());
    solution.keep_one_empty([&](std::int32_t j) { return removed[static_cast<std::size_t>(j)]; },
                            static_cast<std::int32_t>(removed.size()));
    expect_consistent(vrp, solution, out);
    if constexpr (std::is_same_v<Solution, ArraySolution>) {
      solution.list.compact();
      expect_consistent(vrp, solution, out);
    }
    for (const std::int32_t request : removed) {
      std::int32_t position = 0;
      while (position == 0 || !solution.list.contains(position)) position = 1 + below(view.n + solution.totals->bound);
      const auto& list = solution.list;
      const std::int32_t delta = vrp::insertion_delta(view, list.place(position), request, list.place(list.after(position)));
      solution.insert(position, request, delta, view.demand[request], view.service[request]);
    }
    expect_consistent(vrp, solution, {});
    if (testing::Test::HasFatalFailure()) return;
  }
}

template <class Solution>
class AlnsSolution : public testing::Test {};
using Solutions = testing::Types<ListedSolution, ArraySolution>;
TYPED_TEST_SUITE(AlnsSolution, Solutions);

TYPED_TEST(AlnsSolution, KeepsWhatTheToursAre) {
  for (const Kind kind : {Kind::plain, Kind::full, Kind::one_vehicle, Kind::bound})
    for (const std::int32_t n : {1, 2, 7, 60}) {
      const Trial one = trial(static_cast<std::uint64_t>(n), n, kind, 1, 1);
      const auto& vrp = dynamic_cast<const vrp::Vrp&>(*one.instance);
      Tours tours(1);
      for (std::int32_t r = 1; r <= n; ++r) {
        if (kind != Kind::one_vehicle && r % 3 == 1 && r > 1) tours.emplace_back();
        tours.back().push_back(r);
      }
      shake<TypeParam>(vrp, tours, 50, n);
    }
}

TYPED_TEST(AlnsSolution, HasRoomForTheMostCustomers) {
  vrp::Data data;
  const std::int32_t n = vrp::most_customers;
  for (std::int32_t i = 0; i <= n; ++i) {
    data.x.push_back(i % 100);
    data.y.push_back(i / 100);
    data.demand.push_back(i == 0 ? 0 : 1);
  }
  data.capacity = 1;
  Tours tours;
  for (std::int32_t r = 1; r <= n; ++r) tours.push_back({r});
  shake<TypeParam>(vrp::Vrp(data), tours, 2, 60);
}

}  // namespace
}  // namespace vicinity::alns
