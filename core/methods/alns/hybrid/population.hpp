#pragma once
// What an island keeps between generations: cycles of annealing, which solutions stay, which are parents, penalties. On the host, the same
// for all twins.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/methods/alns/hybrid/granular.hpp"
#include "core/methods/alns/hybrid/hybrid.hpp"
#include "core/methods/alns/hybrid/moves.hpp"
#include "core/problems/vrp/vrp.hpp"

namespace vicinity::alns::hybrid {

/// Route r's customers in order; as many as Granular::routes, empty ones included.
using Routes = std::vector<vrp::Route>;

/// Steps of string removal an annealing line makes in a generation; `removals`: in percent of the customers.
[[nodiscard]] constexpr std::int64_t steps_of(std::int32_t n, std::int32_t removals) {
  const std::int64_t steps = std::int64_t{n} * removals / 100;
  return steps < 1 ? 1 : steps;
}
/// Temperatures at the beginning and the end of a cycle, in Granular::spread: of the first one, and of those that begin with what others
/// found.
inline constexpr double hottest = 0.2, reheated = 0.055, coldest = 0.002;

/// base^(part / whole), 0 <= part < whole, from square roots: the same on every machine.
[[nodiscard]] double power(double base, std::int64_t part, std::int64_t whole);

/// How a search goes ahead. Few lines mean few cores, and many customers few generations: steps of string removal then take about as long
/// as children, and cycles end sooner. Of many lines each waits for the longest of a generation, which steps are not to be.
struct Pace {
  static constexpr std::int32_t few_lines = 15, few_customers = 400;

  /// `wanted`: removals; 0: as it chooses.
  constexpr Pace(std::int32_t n, std::int32_t lines, std::int32_t wanted)
      : hastens(lines <= few_lines && n > few_customers),
        removals(wanted > 0 ? wanted
                 : hastens  ? std::min(20 + n - few_customers, 2000)
                            : 20),
        first_steps(hastens ? std::max(80'000 / n, 20) : 200) {}

  bool hastens;              ///< annealing lines begin with Granular::first, and of four drawn orders one is around the depot
  std::int32_t removals;     ///< of steps_of()
  std::int64_t first_steps;  ///< of the first cycle, for each customer
};

/// A cycle: the annealing lines begin anew, anneal, and hand over what they found. Lengths, in generations, double every second cycle.
class Schedule {
 public:
  Schedule(std::int32_t n, const Pace& pace)
      : steps_(steps_of(n, pace.removals)), first_(std::max<std::int64_t>(1, pace.first_steps * n / steps_)), length_(first_) {}

  [[nodiscard]] std::int64_t steps() const noexcept { return steps_; }  ///< of a generation

  /// Generation g of the run begins; they come in order.
  void next();
  [[nodiscard]] std::int64_t cycle() const noexcept { return cycle_; }
  [[nodiscard]] bool begins() const noexcept { return position_ == 0; }
  [[nodiscard]] bool ends() const noexcept { return position_ + 1 == length_; }
  /// Generations until the end of the cycle under way, or, after its end, of the next one.
  [[nodiscard]] std::int64_t left() const noexcept { return ends() ? length_of(cycle_ + 1) : length_ - 1 - position_; }
  /// The temperature of the generation's first step, and the factor of each step after it, in a cycle that begins at `hot`.
  [[nodiscard]] double temperature(double hot, std::int32_t spread) const;
  [[nodiscard]] double cooling(double hot) const;

 private:
  [[nodiscard]] std::int64_t length_of(std::int64_t cycle) const { return first_ << std::min<std::int64_t>(cycle / 2, 20); }

  std::int64_t steps_, first_, length_, cycle_ = 0, position_ = -1;  ///< first_: generations of the first cycle
};

/// A solution that is kept: a local optimum.
struct Individual {
  Routes routes;
  std::int64_t distance = 0;
  std::int64_t excess_load = 0, excess_duration = 0;
  std::vector<std::int16_t> next, prev;  ///< [customer] 0: the depot; for the distance between solutions

  [[nodiscard]] bool feasible() const noexcept { return excess_load == 0 && excess_duration == 0; }
};

/// Edges of a that b lacks: of each customer the one behind it, and the one from the depot.
[[nodiscard]] std::int32_t broken_pairs(const Individual& a, const Individual& b);
static_assert(vrp::most_customers <= std::numeric_limits<std::int16_t>::max());

/// Images of solutions under the symmetries of an instance, compared with a reference.
class Images {
 public:
  Images(const vrp::View& vrp, std::span<const Symmetry> symmetries) : vrp_(vrp), symmetries_(symmetries.begin(), symmetries.end()) {}

  [[nodiscard]] bool any() const noexcept { return !symmetries_.empty(); }
  /// Cost: n a symmetry, as it would look from where each symmetry leads.
  void compare_with(const Individual& reference);
  /// The image of `individual` that has most edges between customers in common with the reference, of equals the first; none: itself.
  /// Images that rounding makes infeasible, or feasible, do not count.
  [[nodiscard]] std::optional<Individual> closest(const Individual& individual) const;

 private:
  vrp::View vrp_;
  std::vector<Symmetry> symmetries_;
  std::vector<std::int16_t> next_, prev_;  ///< [identity, symmetries][customer] of the reference's image under the inverse
};

inline constexpr std::size_t least_kept = 25, most_new = 40, elites = 4, closest = 5;

/// Feasible and infeasible solutions, ranked by cost and by distance from others (Vidal, Crainic, Gendreau, Lahrichi, Rei 2012; Vidal
/// 2022).
class Population {
 public:
  Population(const vrp::Vrp& vrp, const Granular& granular);

  /// Takes a solution in, aligned with the cheapest feasible one, or the cheapest; when more than least_kept + most_new of its kind are
  /// there, those of the worst biased fitness leave. Before parents are drawn again, rank() is to be called.
  void add(Individual individual);

  /// One of many that are taken in together.
  struct Arrival {
    Individual individual;
    std::optional<Individual> image = {};        ///< that takes its place
    std::vector<std::int32_t> to_members = {};   ///< distances to those of its kind that were there at expect()
    std::vector<std::int32_t> to_arrivals = {};  ///< to those before it, of its kind
    bool renewed = false;                        ///< has another image than before

    [[nodiscard]] const Individual& kept() const { return image ? *image : individual; }
  };
  using Arrivals = std::span<std::optional<Arrival>>;
  /// To the same result as add() of one after the other, but most of it may be done by several threads. expect(); arrival() of each; when
  /// all are there, measure() of each; then in turn add() of each, but before that, if leader_changes(), renew() of it and all that
  /// follow, and when that is done, measure_anew() of them.
  void expect();
  [[nodiscard]] Arrival arrival(Individual individual) const;
  void measure(Arrivals arrivals, std::size_t i) const;
  [[nodiscard]] bool leader_changes() { return look_at_leader(); }
  void renew(Arrival& arrival) const;
  /// `from`: the first that was renewed.
  void measure_anew(Arrivals arrivals, std::size_t from, std::size_t i) const;
  void add(Arrivals arrivals, std::size_t i);

  /// Biased fitness of all.
  void rank();
  /// After a generation: penalties follow the share of first local optima that were feasible. As after add().
  void adapt(std::int64_t children, std::int64_t load_feasible, std::int64_t duration_feasible);

  [[nodiscard]] bool empty() const noexcept { return kept_[0].empty() && kept_[1].empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return kept_[0].size() + kept_[1].size(); }
  /// The winner of a tournament of two: draws two numbers.
  [[nodiscard]] const Individual& parent(Stream& stream) const;
  [[nodiscard]] const Penalties& penalties() const noexcept { return penalties_; }
  /// The cheapest feasible one there is.
  [[nodiscard]] std::optional<Individual> cheapest() const;
  /// Calls f(individual) for all, infeasible ones too.
  template <class F>
  void for_each(const F& f) const {
    for (const Members& members : kept_)
      for (const Member& member : members) f(member.individual);
  }
  /// All leave; penalties stay.
  void clear();

 private:
  struct Member {
    Individual individual;
    std::vector<std::int32_t> distances;     ///< to all of its kind
    std::array<std::int32_t, closest> near;  ///< the least of them, ascending
    std::int64_t number;
    std::int32_t before;       ///< its place when others were expected; -1 - i: it is arrival i
    std::int64_t fitness = 0;  ///< biased: less is better
  };
  using Members = std::vector<Member>;
  using Order = std::vector<std::pair<std::int64_t, std::size_t>>;  ///< (value, member), ascending

  [[nodiscard]] std::int64_t cost(const Individual& individual) const;
  /// The cheapest feasible one, or, where there is none, the cheapest; null: there is none.
  [[nodiscard]] const Member* leader() const;
  bool look_at_leader();
  [[nodiscard]] std::optional<Individual> image_of(const Individual& individual) const;
  [[nodiscard]] static std::int32_t& place_of(Arrival& arrival, const Member& member);
  /// `to(individual, member)`: the distance.
  template <class To>
  void keep(Individual individual, std::int32_t before, const To& to);
  void rank(Members& members) const;
  [[nodiscard]] Order by_cost(const Members& members) const;
  [[nodiscard]] static Order by_distance(const Members& members, const std::vector<std::size_t>& some);
  static void rank(Members& members, const Order& by_cost, const Order& by_distance);
  void remove_worst(Members& members) const;

  vrp::View vrp_;
  Images images_;
  std::int64_t reference_ = -1;  ///< number of whom images are compared with
  Penalties penalties_, least_;
  Members kept_[2];  ///< feasible ones, infeasible ones; each in the order of arrival
  std::int64_t added_ = 0;
};

/// The least penalties are these parts of the first ones. Where all members are much the same, children are as feasible as these whatever
/// the penalties, which would fall until a route without limits serves all.
inline constexpr std::int64_t least_load_part = 1000, least_duration_part = 4;

/// Made complete: sums and neighbours from the routes.
[[nodiscard]] Individual individual_of(const vrp::View& vrp, Routes routes);

}  // namespace vicinity::alns::hybrid
