#include "core/methods/lns/exchanges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/methods/lns/incremental.hpp"
#include "core/methods/lns/pair_costs.hpp"
#include "core/util/metropolis.hpp"
#include "core/util/rng.hpp"

namespace vicinity::lns {
namespace {

/// Exchanges of the first leg and of the longest, where they are evaluated; a leg has stages of one temperature each, a power of two.
constexpr std::int64_t shortest = 1'000, longest = 500'000, stages = 64;
/// The probe: exchanges by which the first temperature is measured, and of each stage; the temperature over that of the stage before; a leg
/// begins at a third of the temperature at which the first share of exchanges is accepted though it is worse, and ends at the last.
constexpr std::int64_t samples = 64, probe_stage = 250;
constexpr double probe_factor = 0.84, first_share = 0.2, last_share = 0.002;
/// Exchanges by lookups in the time of one that evaluates so many operations, as of 32 facilities (esc32a).
constexpr std::int64_t pairs_pace = 32, usual_operations = 50;

/// [group] free variables, by number, that one constraint wants to be different; each is in one group.
std::vector<std::vector<std::int32_t>> groups_of(const cp::Problem& problem) {
  const cp::FreeVariablesView free = problem.free_variables();
  const cp::EvaluationView view = problem.evaluation().view();
  std::vector<std::int32_t> number(problem.evaluation().slots().size(), -1);
  for (std::int32_t d = 0; d < free.count; ++d) number[static_cast<std::size_t>(free.variables[d].slot)] = d;
  std::vector<std::vector<std::int32_t>> groups;
  for (std::int32_t k = 0; k < view.operations; ++k) {
    if (view.operation[k] != cp::Operation::different || view.use[k] == cp::Use::define) continue;
    std::vector<std::int32_t> group;
    for (auto a = view.argument_begin[k]; a < view.argument_begin[k + 1]; ++a)
      if (std::int32_t& d = number[static_cast<std::size_t>(view.arguments[a])]; d >= 0) group.push_back(std::exchange(d, -1));
    if (group.size() > 1) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

class Exchanges::Search {
 public:
  Search(const cp::Problem& problem, std::uint64_t seed)
      : free_(problem.free_variables()),
        model_(&problem.model()),
        seed_(seed),
        engine_(problem),
        groups_(groups_of(problem)),
        pairs_(PairCosts::of(problem, groups_)) {
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (std::size_t k = 0; k < groups_[g].size(); ++k)
        if (!pairs_ || pairs_->matters(groups_[g][k])) members_.push_back({g, k});
  }

  [[nodiscard]] std::vector<std::int32_t> search(std::int64_t exchanges, std::span<const std::int32_t> best,
                                                 const Interruption& interruption) {
    best_ = std::min(best_, cost_of(*model_, best));
    std::vector<std::int32_t> found;  // of the free variables, where the costs are those of pairs
    for (; exchanges > 0 && !members_.empty(); --exchanges) {
      if (exchanges % 256 == 0) interruption.check();
      if (left_-- == 0) next_stage(best);
      exchange();
      if (cost_ >= best_) continue;
      best_ = cost_;
      found = pairs_ ? pairs_->values() : engine_.values();
    }
    return pairs_ && !found.empty() ? evaluated(found) : found;
  }
  [[nodiscard]] std::int64_t as_long_as(std::int64_t usual) const {
    if (pairs_) return usual * pairs_pace;
    const auto made = static_cast<std::int64_t>(exchanges_);
    if (made < probe_stage) return usual;
    const std::int64_t operations = std::max<std::int64_t>(1, engine_.evaluated() / made);
    return std::max<std::int64_t>(1, usual * usual_operations / operations);
  }
  [[nodiscard]] bool fruitful() const { return 8 * consistent_ >= exchanges_; }

 private:
  void load(std::span<const std::int32_t> values) {
    engine_.load(values);
    cost_ = engine_.cost();
    engine_.remember();
    if (pairs_) pairs_->load(values, cost_);
  }
  void next_stage(std::span<const std::int32_t> best) {
    if (temperatures_.empty() && !probe(best)) return;
    if (++stage_ == temperatures_.size()) {
      stage_ = 0;
      const std::int64_t pace = pairs_ ? pairs_pace : 1;
      length_ = length_ == 0 ? shortest * pace : std::min(longest * pace, 2 * length_);
      if (++legs_ % 2 == 0) load(best);
    }
    set(temperatures_[stage_], length_ / stages);
  }
  void set(double temperature, std::int64_t exchanges) {
    inverse_ = static_cast<float>(1 / temperature);
    left_ = exchanges - 1;
  }

  /// The next stage of the probe; true: the temperatures are known.
  [[nodiscard]] bool probe(std::span<const std::int32_t> best) {
    if (temperature_ == 0) {
      load(best);
      temperature_ = mean_uphill();
      if (temperature_ == 0) temperature_ = warm_ = 1;
    } else {
      const double share = uphill_ / static_cast<double>(probe_stage);
      if (warm_ == 0 && share < first_share) warm_ = temperature_;
      if (share < last_share) {
        note_temperatures(std::max(warm_ / 3, temperature_), temperature_);
        return true;
      }
      temperature_ *= probe_factor;
    }
    uphill_ = 0;
    set(temperature_, probe_stage);
    return false;
  }
  [[nodiscard]] double mean_uphill() {
    double sum = 0, count = 0;
    for (std::int64_t k = 0; k < samples; ++k) {
      const auto [x, y] = draw();
      const std::optional<std::int64_t> cost = cost_after(x, y);
      if (!cost) continue;
      if (*cost != inconsistent && *cost > cost_) {
        sum += static_cast<double>(*cost - cost_);
        ++count;
      }
      take_back();
    }
    return count == 0 ? 0 : sum / count;
  }
  /// By roots alone, which are the same on every machine.
  void note_temperatures(double hot, double cold) {
    double factor = cold / hot;
    for (std::int64_t k = stages; k > 1; k /= 2) factor = std::sqrt(factor);
    for (double t = hot; temperatures_.size() < stages; t *= factor) temperatures_.push_back(t);
    stage_ = temperatures_.size() - 1;
  }

  void exchange() {
    const auto [x, y] = draw();
    const std::optional<std::int64_t> cost = cost_after(x, y);
    if (!cost) return;
    if (*cost != inconsistent) ++consistent_;
    if (accepted(*cost)) {
      cost_ = *cost;
      keep(x, y);
    } else {
      take_back();
    }
  }
  [[nodiscard]] bool accepted(std::int64_t cost) {
    if (cost <= cost_) return true;
    if (cost == inconsistent) return false;
    const float uphill = times(static_cast<float>(cost - cost_), inverse_);
    if (temperatures_.empty()) uphill_ += chance(uphill);
    return uphill < threshold(static_cast<std::uint32_t>(random_bits(seed_, exchanges_, start_stream + 1, 1)));
  }
  /// exp(-x), nearly.
  [[nodiscard]] static double chance(double x) {
    double power = std::max(0.0, 1 - x / 1024);
    for (int k = 0; k < 10; ++k) power *= power;
    return power;
  }
  /// Two of a group, the first of them one that matters.
  [[nodiscard]] std::pair<std::int32_t, std::int32_t> draw() {
    const std::uint64_t bits = random_bits(seed_, ++exchanges_, start_stream + 1, 0);
    const auto [g, k] = members_[below(static_cast<std::uint32_t>(bits), members_.size())];
    const std::size_t other = below(static_cast<std::uint32_t>(bits >> 32), groups_[g].size() - 1);
    return {groups_[g][k], groups_[g][other + (other >= k ? 1 : 0)]};
  }
  [[nodiscard]] static std::size_t below(std::uint32_t random, std::size_t bound) {
    return static_cast<std::size_t>(scale_to(std::uint64_t{random} << 32, bound));
  }
  /// After x and y exchange their values; none: a domain lacks the other's. Then comes keep() or take_back().
  [[nodiscard]] std::optional<std::int64_t> cost_after(std::int32_t x, std::int32_t y) {
    if (pairs_) return pairs_->possible(x, y) ? std::optional(pairs_->cost_after(x, y)) : std::nullopt;
    return swap(x, y) ? std::optional(engine_.cost()) : std::nullopt;
  }
  void keep(std::int32_t x, std::int32_t y) {
    if (pairs_)
      pairs_->exchange(x, y, cost_);
    else
      engine_.remember();
  }
  void take_back() {
    if (!pairs_) engine_.restore();
  }
  /// Values of all variables of the model, given those of the free ones.
  [[nodiscard]] std::vector<std::int32_t> evaluated(std::span<const std::int32_t> free) {
    for (std::int32_t d = 0; d < free_.count; ++d) engine_.set(free_.variables[d].slot, free[static_cast<std::size_t>(d)]);
    engine_.settle();
    engine_.remember();
    return engine_.values();
  }
  /// False: a domain lacks the other's value.
  [[nodiscard]] bool swap(std::int32_t x, std::int32_t y) {
    const std::int32_t a = engine_.get(free_.variables[x].slot), b = engine_.get(free_.variables[y].slot);
    if (!has(x, b) || !has(y, a)) return false;
    engine_.set(free_.variables[x].slot, b);
    engine_.set(free_.variables[y].slot, a);
    return true;
  }
  [[nodiscard]] bool has(std::int32_t d, std::int32_t value) const {
    const std::int64_t number = free_.number_of(d, value);
    return number >= 0 && number < free_.variables[d].size && free_.value(d, number) == value;
  }

  cp::FreeVariablesView free_;
  const cp::Model* model_;
  std::uint64_t seed_, exchanges_ = 0, consistent_ = 0;
  Incremental<Violations> engine_;
  std::vector<std::vector<std::int32_t>> groups_;
  std::optional<PairCosts> pairs_;                            ///< takes the engine's place in models of its form
  std::vector<std::pair<std::size_t, std::size_t>> members_;  ///< group, number in it: what an exchange begins with
  std::vector<double> temperatures_;                          ///< [stage]; empty: the probe goes on
  double temperature_ = 0, warm_ = 0, uphill_ = 0;            ///< of the probe; what is accepted of a stage though it is worse
  float inverse_ = 1;                                         ///< of the temperature
  std::size_t stage_ = 0;
  std::int64_t length_ = 0, left_ = 0, legs_ = 0;                 ///< exchanges of a leg; left of its stage
  std::int64_t cost_ = inconsistent;                              ///< now
  std::int64_t best_ = std::numeric_limits<std::int64_t>::max();  ///< of all
};

Exchanges::Exchanges(const cp::Problem& problem, std::uint64_t seed) : search_(std::make_unique<Search>(problem, seed)) {}
Exchanges::~Exchanges() = default;

std::int64_t Exchanges::as_long_as(std::int64_t usual) const { return search_->as_long_as(usual); }
bool Exchanges::fruitful() const { return search_->fruitful(); }
bool Exchanges::possible(const cp::Problem& problem) { return !groups_of(problem).empty(); }

std::vector<std::int32_t> Exchanges::search(std::int64_t exchanges, std::span<const std::int32_t> best, const Interruption& interruption) {
  return search_->search(exchanges, best, interruption);
}

}  // namespace vicinity::lns
