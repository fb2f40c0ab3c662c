#pragma once
// The restarts of a case that its ranks share (core/api/team.hpp): rank after rank has consecutive ones, and rank 0 judges all of them.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/api/team.hpp"
#include "core/methods/lsm/result.hpp"

namespace vicinity::local_search {

/// judge(), of the searches of all ranks; of this one alone where there is no team. By all ranks, for rank 0. `task` and `whole` are this
/// rank's: its restarts alone.
template <SearchNeighborhood Neighborhood>
[[nodiscard]] Outcome judge(Team* team, const Neighborhood& neighborhood, const Task& task,
                            const std::vector<SearchResult<typename Neighborhood::Solution>>& searches, bool whole) {
  if (team == nullptr) return judge(neighborhood, task, searches, whole);
  using Result = SearchResult<typename Neighborhood::Solution>;
  static_assert(std::is_trivially_copyable_v<SearchProgress> && sizeof(SearchProgress) % sizeof(std::int64_t) == 0);
  constexpr std::size_t words_of_progress = sizeof(SearchProgress) / sizeof(std::int64_t);
  std::vector<std::int64_t> mine{whole ? 1 : 0, task.restarts};
  for (const Result& search : searches) {
    const std::size_t at = mine.size();
    mine.resize(at + words_of_progress);
    const SearchProgress& progress = search;
    std::memcpy(&mine[at], &progress, sizeof progress);
    for (const auto* solution : {&search.current, &search.best}) {
      const vicinity::Solution words = neighborhood.encoded(*solution);
      mine.push_back(static_cast<std::int64_t>(words.size()));
      mine.insert(mine.end(), words.begin(), words.end());
    }
  }
  const std::vector<std::vector<std::int64_t>> of_ranks = team->gathered(mine);
  if (team->rank() != 0) return {};
  Task of_all = task;
  of_all.restarts = 0;
  std::vector<Result> all;
  for (const std::vector<std::int64_t>& of_rank : of_ranks) {
    if (of_rank.empty()) continue;  // it has no restart
    whole = whole && of_rank[0] != 0;
    of_all.restarts += of_rank[1];
    for (auto word = of_rank.begin() + 2; word != of_rank.end();) {
      SearchProgress progress;
      std::memcpy(static_cast<void*>(&progress), &*word, sizeof progress);
      Result search{progress, {}, {}};
      word += words_of_progress;
      for (auto* solution : {&search.current, &search.best}) {
        const auto count = static_cast<std::ptrdiff_t>(*word++);
        *solution = neighborhood.decoded(vicinity::Solution(word, word + count));
        word += count;
      }
      all.push_back(std::move(search));
    }
  }
  return judge(neighborhood, of_all, all, whole);
}

}  // namespace vicinity::local_search
