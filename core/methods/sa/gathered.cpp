#include "core/methods/sa/gathered.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace vicinity::annealing {
namespace {

/// The numbers of a chain, in the order of its words.
template <class C>
auto numbers_of(C& chain) {
  return std::array{&chain.proposals, &chain.accepted, &chain.cost, &chain.best_cost, &chain.best_proposal, &chain.frozen_at};
}

}  // namespace

Outcome judge(Team* team, const qap::Qap& qap, const Task& task, const std::vector<Chain>& chains) {
  if (team == nullptr) return judge(qap, task, chains);
  std::vector<std::int64_t> mine{task.chains};
  for (const Chain& chain : chains) {
    for (const std::int64_t* number : numbers_of(chain)) mine.push_back(*number);
    mine.push_back(static_cast<std::int64_t>(chain.digest));
    for (const qap::Permutation* permutation : {&chain.current, &chain.best})
      mine.insert(mine.end(), permutation->begin(), permutation->end());
  }
  const std::vector<std::vector<std::int64_t>> of_ranks = team->gathered(mine);
  if (team->rank() != 0) return {};
  Task of_all = task;
  of_all.chains = 0;
  std::vector<Chain> all;
  for (const std::vector<std::int64_t>& of_rank : of_ranks) {
    if (of_rank.empty()) continue;  // it has no chain
    of_all.chains += of_rank.front();
    for (auto word = of_rank.begin() + 1; word != of_rank.end();) {
      Chain chain;
      for (std::int64_t* number : numbers_of(chain)) *number = *word++;
      chain.digest = static_cast<std::uint64_t>(*word++);
      for (qap::Permutation* permutation : {&chain.current, &chain.best}) {
        permutation->assign(word, word + qap.size());
        word += qap.size();
      }
      all.push_back(std::move(chain));
    }
  }
  return judge(qap, of_all, all);
}

}  // namespace vicinity::annealing
