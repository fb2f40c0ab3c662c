#pragma once
// A child by mutation: steps of string removal and greedy insertion with blinks, accepted as by annealing.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/methods/alns/hybrid/granular.hpp"
#include "core/methods/alns/hybrid/hybrid.hpp"
#include "cpu_ref/alns/hybrid/local_search.hpp"
#include "cpu_ref/run/interruption.hpp"

namespace vicinity::alns::hybrid {

class StringRemoval {
 public:
  StringRemoval(const vrp::View& vrp, const Granular& granular);

  /// Takes `current` through `steps` steps, the temperature falling from `hot` by the factor `cooling` each, under `penalties`, which it
  /// adapts at the end. What is feasible and better than `best_distance` becomes `best`.
  void anneal(Routes& current, Routes& best, std::int64_t& best_distance, Penalties& penalties, Stream& stream, std::int64_t steps,
              double hot, double cooling, const Interruption& interruption = Interruption());

  /// Insertions of a customer at a position that were considered.
  [[nodiscard]] std::int64_t evaluations() const noexcept { return evaluations_; }

 private:
  struct Node {
    std::int32_t next, prev, route, place, to_next;  ///< place: in the distance matrix; to_next: the length of the edge behind it
  };
  struct Route {
    std::int32_t customers, load, duration;
    std::int64_t penalty;
  };
  struct Done {  ///< for taking back
    std::int32_t customer, before;
    bool inserted;
  };
  struct Ranked {
    std::int32_t rank, customer;
  };

  void load(const Routes& routes);
  void store(Routes& routes) const;
  void ruin(Stream& stream);
  void remove_string(std::int32_t c, std::int32_t longest, Stream& stream);
  void recreate(Stream& stream);
  /// The node behind which `c` goes.
  [[nodiscard]] std::int32_t position_for(std::int32_t c, std::uint32_t blink);
  void take_back();

  void remove(std::int32_t c);
  void insert(std::int32_t c, std::int32_t before);
  void change(std::int32_t r, std::int32_t customers, std::int32_t load, std::int32_t distance, std::int32_t service);
  [[nodiscard]] std::int32_t start_of(std::int32_t r) const { return vrp_.n + 1 + r; }
  [[nodiscard]] bool is_start(std::int32_t node) const { return node > vrp_.n; }
  void update_empty(std::int32_t r);

  vrp::View vrp_;
  const Granular* granular_;
  Penalties penalties_{};
  std::vector<Node> nodes_;  ///< a ring a route, with its start
  std::vector<Route> routes_;
  std::vector<std::int64_t> ruined_;  ///< [r] step in which it last lost a string
  std::int64_t step_ = 0;
  std::int32_t used_ = 0, empty_ = -1;      ///< routes with customers; the empty one of least number
  std::int64_t cost_ = 0;                   ///< distance and penalties
  std::int32_t overloaded_ = 0, late_ = 0;  ///< routes beyond the capacity, and the limit
  std::vector<Ranked> removed_;
  std::vector<Done> done_;
  std::vector<std::int32_t> string_;
  std::int64_t evaluations_ = 0;
};

}  // namespace vicinity::alns::hybrid
