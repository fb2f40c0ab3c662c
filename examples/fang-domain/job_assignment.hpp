#pragma once
// The generalised assignment problem as a domain: every job goes to one agent, takes of that agent's capacity what it needs there, and
// costs what it costs there (Martello and Toth, "Knapsack problems", 1990, chapter 7). A variable is a job, its possibilities are the
// agents.
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include <vicinity/fang.hpp>

/// A state is agent[jobs], -1 for none, and free[agents], the capacity that is left.
struct JobHeuristic {
  using Rating = std::int32_t;     // cost; -1 where the job does not fit
  using Aggregate = std::int32_t;  // least cost of the agents where it fits

  struct Context {
    const std::int32_t *free, *cost, *need;
    std::int32_t own;
  };

  const std::int32_t *cost, *need;  // [jobs][agents]
  std::uint32_t jobs, agents;

  VICINITY_HD std::uint64_t max_weight() const { return 1u << 20; }
  VICINITY_HD Context context(const std::int32_t* state, std::uint32_t job) const {
    return {state + jobs, cost + job * agents, need + job * agents, state[job]};
  }
  VICINITY_HD std::uint32_t possibilities(const Context&) const { return agents; }
  // The job's own agent has what the job takes there.
  VICINITY_HD Rating rate(const Context& c, std::uint32_t agent) const {
    const bool fits = (c.need[agent] <= c.free[agent]) | (static_cast<std::int32_t>(agent) == c.own);
    return fits ? c.cost[agent] : -1;
  }
  VICINITY_HD Aggregate create() const { return 1 << 30; }
  VICINITY_HD Aggregate aggregate(Aggregate least, Rating r) const { return r >= 0 && r < least ? r : least; }
  VICINITY_HD Aggregate combine(Aggregate a, Aggregate b) const { return a < b ? a : b; }
  // Half for every unit above the least cost.
  VICINITY_HD std::uint32_t weight(Rating r, Aggregate least) const { return r < 0 || r - least > 20 ? 0u : 1u << (20 - (r - least)); }
  VICINITY_HD void release(std::int32_t* state, std::uint32_t job) const {
    const std::int32_t old = state[job];
    if (old >= 0) state[jobs + static_cast<std::uint32_t>(old)] += need[job * agents + static_cast<std::uint32_t>(old)];
    state[job] = -1;
  }
  VICINITY_HD void assign(std::int32_t* state, std::uint32_t job, std::uint32_t agent) const {
    release(state, job);
    state[job] = static_cast<std::int32_t>(agent);
    state[jobs + agent] -= need[job * agents + agent];
  }
  VICINITY_HD void could_not_assign(std::int32_t* state, std::uint32_t job) const { release(state, job); }
};

/// Sum of the costs; a job without an agent costs 1000.
struct JobCost {
  const std::int32_t* cost;
  std::uint32_t jobs, agents;

  VICINITY_HD std::int64_t operator()(const std::int32_t* state) const {
    std::int64_t sum = 0;
    for (std::uint32_t job = 0; job < jobs; ++job)
      sum += state[job] < 0 ? 1000 : cost[job * agents + static_cast<std::uint32_t>(state[job])];
    return sum;
  }
};

class JobAssignment {
 public:
  /// A random instance of type C (Chu and Beasley, "A genetic algorithm for the generalised assignment problem", 1997): needs 5 to 25,
  /// costs 10 to 50, and each agent's capacity is 0.8 times the sum of its needs over the number of agents.
  JobAssignment(std::uint32_t jobs, std::uint32_t agents, std::uint64_t seed)
      : jobs_(jobs), agents_(agents), types_{{{jobs, agents}}}, cost_(jobs * agents), need_(jobs * agents), capacity_(agents) {
    const auto draw = [seed](std::uint32_t table, std::uint32_t i, std::uint32_t low, std::uint32_t high) {
      return static_cast<std::int32_t>(low + vicinity::scale_to(vicinity::random_bits(seed, 1, table, i), high - low + 1));
    };
    for (std::uint32_t i = 0; i < jobs * agents; ++i) {
      need_[i] = draw(0, i, 5, 25);
      cost_[i] = draw(1, i, 10, 50);
      capacity_[i % agents] += need_[i];
    }
    for (std::int32_t& capacity : capacity_) capacity = capacity * 8 / (10 * static_cast<std::int32_t>(agents));
  }

  [[nodiscard]] std::span<const vicinity::fang::VariableType> types() const { return types_; }
  [[nodiscard]] std::uint32_t state_words() const { return jobs_ + agents_; }
  template <class Place>
  [[nodiscard]] auto heuristics(Place place) const {
    return std::tuple{JobHeuristic{place(std::span(cost_)), place(std::span(need_)), jobs_, agents_}};
  }
  template <class Place>
  [[nodiscard]] JobCost cost(Place place) const {
    return {place(std::span(cost_)), jobs_, agents_};
  }

  /// The state without any job assigned.
  void clear(std::span<std::int32_t> state) const {
    for (std::uint32_t word = 0; word < state.size(); ++word) state[word] = word < jobs_ ? -1 : capacity_[word - jobs_];
  }

 private:
  std::uint32_t jobs_, agents_;
  std::array<vicinity::fang::VariableType, 1> types_;
  std::vector<std::int32_t> cost_, need_, capacity_;
};
