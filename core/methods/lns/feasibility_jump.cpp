#include "core/methods/lns/feasibility_jump.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

#include "core/methods/lns/incremental.hpp"
#include "core/methods/lns/softening.hpp"
#include "core/util/rng.hpp"

namespace vicinity::lns {
namespace {

/// Candidates of a jump: so many walks back to a free variable; of larger domains so many values.
constexpr int candidates = 8;
constexpr std::uint64_t noise = 4;  ///< where weights grow, one in so many jumps is made nevertheless: a sum alone may have no other way
constexpr std::int64_t all_values = 32, some_values = 8;

/// Violations with weights, and a list of what is violated.
class WeightedViolations {
 public:
  void resize(std::size_t operations) {
    violation_.assign(operations, 0);
    weight_.assign(operations, 1);
    position_.assign(operations, 0);
  }
  [[nodiscard]] bool any() const { return !violated_.empty(); }
  [[nodiscard]] std::span<const std::int32_t> violated() const { return violated_; }
  [[nodiscard]] std::int64_t total() const { return total_; }
  [[nodiscard]] std::size_t count() const { return violated_.size(); }
  /// Operations so far, again each time.
  [[nodiscard]] std::int64_t evaluated() const { return evaluated_; }

  /// How far an operation that does not hold is from holding: in sixteenths of the logarithm, so that sums of any size weigh alike.
  [[nodiscard]] static std::int64_t measure(const cp::EvaluationView& view, std::int32_t k, std::span<const std::int32_t> slots, Wide sum) {
    const Wide far = distance(view, k, slots, sum);
    const auto v = static_cast<std::uint64_t>(std::clamp<Wide>(far, 1, Wide{1} << 40));
    const int bits = std::bit_width(v);
    return 16 * (bits - 1) + 1 + static_cast<std::int64_t>((bits > 4 ? v >> (bits - 5) : v << (5 - bits)) & 15);
  }
  [[nodiscard]] std::int64_t get(std::int32_t k) const { return violation_[static_cast<std::size_t>(k)]; }
  void set(std::int32_t k, std::int64_t violation) {
    ++evaluated_;
    std::int64_t& old = violation_[static_cast<std::size_t>(k)];
    if (old == violation) return;
    total_ += weight_[static_cast<std::size_t>(k)] * (violation - old);
    if (old == 0) {
      position_[static_cast<std::size_t>(k)] = violated_.size();
      violated_.push_back(k);
    } else if (violation == 0) {
      const std::size_t hole = position_[static_cast<std::size_t>(k)];
      violated_[hole] = violated_.back();
      position_[static_cast<std::size_t>(violated_[hole])] = hole;
      violated_.pop_back();
    }
    old = violation;
  }
  void grow() {
    for (const std::int32_t k : violated_) {
      ++weight_[static_cast<std::size_t>(k)];
      total_ += violation_[static_cast<std::size_t>(k)];
    }
  }

 private:
  [[nodiscard]] static Wide distance(const cp::EvaluationView& view, std::int32_t k, std::span<const std::int32_t> slots, Wide sum) {
    const std::int64_t* data = view.data + view.data_begin[k];
    const auto value = [&](std::size_t argument) {
      return std::int64_t{slots[static_cast<std::size_t>(view.arguments[view.argument_begin[k] + argument])]};
    };
    const std::size_t arguments = view.argument_begin[k + 1] - view.argument_begin[k];
    const bool wanted = view.use[k] != cp::Use::define && slots[static_cast<std::size_t>(view.result[k])] != 0;
    const Wide difference = sum - data[0];
    switch (view.operation[k]) {
      case cp::Operation::sum_le:
        return wanted ? difference : 1 - difference;
      case cp::Operation::sum_eq:
        return wanted ? (difference < 0 ? -difference : difference) : 1;
      case cp::Operation::member: {
        if (!wanted) return 1;
        Wide least = std::numeric_limits<std::int64_t>::max();
        for (const std::int64_t* interval = data; interval < view.data + view.data_begin[k + 1]; interval += 2)
          least = std::min(least, std::max(Wide{interval[0]} - value(0), Wide{value(0)} - interval[1]));
        return least;
      }
      case cp::Operation::different: {
        std::vector<std::int64_t> values;
        for (std::size_t a = 0; a < arguments; ++a) values.push_back(value(a));
        std::sort(values.begin(), values.end());
        return values.end() - std::unique(values.begin(), values.end());
      }
      default:
        return 1;
    }
  }

  std::vector<std::int64_t> violation_, weight_;  ///< [operation]
  std::vector<std::size_t> position_;             ///< among the violated
  std::vector<std::int32_t> violated_;
  std::int64_t total_ = 0, evaluated_ = 0;
};

class Jumps {
 public:
  Jumps(const cp::Problem& problem, std::uint64_t seed)
      : free_(problem.free_variables()),
        view_(problem.evaluation().view()),
        seed_(seed),
        engine_(problem),
        definition_(problem.evaluation().slots().size(), -1),
        number_(definition_.size(), -1) {
    std::vector<std::int32_t> start;
    const cp::CompiledModel& compiled = problem.compiled();
    const cp::NetworkView network = compiled.network->view();
    for (const cp::Var x : compiled.variable_of)  // next to zero
      start.push_back(std::clamp(0, network.lower[x], network.upper[x]));
    for (std::int32_t k = 0; k < view_.operations; ++k)
      if (view_.use[k] == cp::Use::define) definition_[static_cast<std::size_t>(view_.result[k])] = k;
    for (std::int32_t d = 0; d < free_.count; ++d) {
      const std::int32_t slot = free_.variables[d].slot;
      number_[static_cast<std::size_t>(slot)] = d;
      start[static_cast<std::size_t>(slot)] = free_.value(d, free_.number_of(d, start[static_cast<std::size_t>(slot)]));
    }
    engine_.load(start);
  }

  [[nodiscard]] bool jump() {
    draw_ = 0;
    if (!penalties().any()) return true;
    const std::int32_t violated = penalties().violated()[below(penalties().violated().size())];
    const std::int64_t before = penalties().total();
    best_ = std::numeric_limits<std::int64_t>::max();
    for (int k = 0; k < candidates; ++k)
      if (const std::int32_t d = walk_back(violated); d >= 0) probe(d, violated);
    ++jumps_;
    const bool better = best_ < before || (best_ == before && (bits() & 1) != 0);
    if (!better) penalties().grow();
    const bool any = best_ < std::numeric_limits<std::int64_t>::max();
    if (better || (any && below(noise) == 0)) {
      engine_.set(free_.variables[chosen_].slot, value_);
      engine_.settle();
    }
    return !penalties().any();
  }
  /// Operations that do not hold.
  [[nodiscard]] std::size_t violations() { return penalties().count(); }
  [[nodiscard]] std::int64_t evaluated() { return penalties().evaluated(); }
  [[nodiscard]] std::vector<std::int32_t> values() const { return engine_.values(); }

 private:
  [[nodiscard]] WeightedViolations& penalties() { return engine_.penalties(); }
  [[nodiscard]] std::uint64_t bits() { return random_bits(seed_, jumps_, start_stream, draw_++); }
  [[nodiscard]] std::size_t below(std::size_t bound) { return static_cast<std::size_t>(scale_to(bits(), bound)); }

  /// A free variable on which the operation depends; -1: the walk ends at a constant.
  [[nodiscard]] std::int32_t walk_back(std::int32_t operation) {
    for (;;) {
      const std::size_t arguments = view_.argument_begin[operation + 1] - view_.argument_begin[operation];
      const bool checks = view_.use[operation] != cp::Use::define;
      const std::size_t k = below(arguments + (checks ? 1 : 0));
      const std::int32_t slot = k < arguments ? view_.arguments[view_.argument_begin[operation] + k] : view_.result[operation];
      if (number_[static_cast<std::size_t>(slot)] >= 0) return number_[static_cast<std::size_t>(slot)];
      operation = definition_[static_cast<std::size_t>(slot)];
      if (operation < 0) return -1;
    }
  }
  void probe(std::int32_t d, std::int32_t violated) {
    const cp::FreeVariable& variable = free_.variables[d];
    const std::int32_t old = engine_.get(variable.slot);
    const auto number = [&](std::int64_t j) { attempt(d, free_.value(d, j), old); };
    if (variable.size <= all_values) {
      for (std::int64_t j = 0; j < variable.size; ++j) number(j);
    } else {
      const std::int64_t at = free_.number_of(d, old);
      for (const std::int64_t j : {std::int64_t{0}, at - 1, at + 1, variable.size - 1})
        if (j >= 0 && j < variable.size) number(j);
      if (const std::int64_t v = repairing(violated, variable.slot); v >= variable.least && v <= free_.value(d, variable.size - 1))
        number(free_.number_of(d, static_cast<std::int32_t>(v)));
      for (std::int64_t k = 0; k < some_values; ++k) number(static_cast<std::int64_t>(below(static_cast<std::size_t>(variable.size))));
    }
    engine_.set(variable.slot, old);
    engine_.settle();
  }
  void attempt(std::int32_t d, std::int32_t value, std::int32_t old) {
    if (value == old) return;
    engine_.set(free_.variables[d].slot, value);
    engine_.settle();
    if (penalties().total() >= best_) return;
    best_ = penalties().total();
    chosen_ = d;
    value_ = value;
  }
  /// With which value the sum would be its constant; out of range where it is none.
  [[nodiscard]] std::int64_t repairing(std::int32_t k, std::int32_t slot) const {
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    if (view_.operation[k] < cp::Operation::sum_le || view_.operation[k] > cp::Operation::sum_eq) return none;
    const std::int64_t* data = view_.data + view_.data_begin[k];
    Wide coefficient = 0;
    for (auto a = view_.argument_begin[k]; a < view_.argument_begin[k + 1]; ++a)
      if (view_.arguments[a] == slot) coefficient += data[1 + a - view_.argument_begin[k]];
    if (coefficient == 0) return none;
    const Wide missing = data[0] - engine_.sum(k);
    Wide change = missing / coefficient;
    if (missing % coefficient != 0 && missing < 0) change += coefficient > 0 ? -1 : 1;  // to the side where the sum is at most its constant
    const Wide value = engine_.get(slot) + change;
    return value < cp::least_value || value > cp::greatest_value ? none : static_cast<std::int64_t>(value);
  }

  cp::FreeVariablesView free_;
  cp::EvaluationView view_;
  std::uint64_t seed_, jumps_ = 0;
  std::uint32_t draw_ = 0;
  Incremental<WeightedViolations> engine_;
  std::vector<std::int32_t> definition_;  ///< [slot] the operation that defines it; -1: none
  std::vector<std::int32_t> number_;      ///< [slot] among the free variables; -1: it is none
  std::int64_t best_ = 0;                 ///< of the jump: the least sum, and how it comes about
  std::int32_t chosen_ = 0, value_ = 0;
};

/// Is a slice of something worth its time? The longer it comes no closer, the more calls it is left out of: after so many slices one, then
/// three, seven ... up to a number of doublings.
class Share {
 public:
  Share(std::int64_t slices, std::int64_t doublings) : patience_(slices), doublings_(doublings) {}
  [[nodiscard]] bool due() {
    if (rest_ == 0) return true;
    --rest_;
    return false;
  }
  void judge(bool closer) {
    idle_ = closer ? 0 : std::min(idle_ + 1, patience_ * doublings_);
    rest_ = (std::int64_t{1} << (idle_ / patience_)) - 1;
  }

 private:
  std::int64_t patience_, doublings_, idle_ = 0, rest_ = 0;
};

/// Slices of jumps alone until a softened model takes turns with them.
constexpr std::int64_t slices_before_softening = 3;
/// Operations evaluated in a slice: it is over sooner where each jump looks at many.
constexpr std::int64_t most_evaluated = 5'000'000;

}  // namespace

/// Jumps and, where they do not succeed soon, rounds of the softened model.
class FeasibilityJump::Search {
 public:
  Search(const cp::Problem& problem, std::uint64_t seed) : problem_(&problem), seed_(seed), jumps_(problem, seed) {}

  [[nodiscard]] std::vector<std::int32_t> search(std::int64_t jumps, const Interruption& interruption) {
    ++slices_;
    if (jumps_share_.due() && jump(jumps, interruption)) return jumps_.values();
    if (slices_ <= slices_before_softening) return {};
    if (!softening_) softening_ = std::make_unique<Softening>(problem_->model(), seed_);
    if (softening_->done() || !softening_share_.due()) return {};
    softening_share_.judge(softening_->step(interruption));
    return softening_->values();
  }

 private:
  [[nodiscard]] bool jump(std::int64_t jumps, const Interruption& interruption) {
    const std::size_t before = fewest_;
    const std::int64_t last = jumps_.evaluated() + most_evaluated;
    for (; jumps > 0 && jumps_.evaluated() < last; --jumps) {
      interruption.check();
      if (jumps_.jump()) return true;
      fewest_ = std::min(fewest_, jumps_.violations());
    }
    jumps_share_.judge(fewest_ < before);
    return false;
  }

  const cp::Problem* problem_;
  std::uint64_t seed_;
  Jumps jumps_;
  std::size_t fewest_ = std::numeric_limits<std::size_t>::max();  ///< violations so far
  std::unique_ptr<Softening> softening_;
  Share jumps_share_{4, 5}, softening_share_{16, 2};
  std::int64_t slices_ = 0;
};

FeasibilityJump::FeasibilityJump(const cp::Problem& problem, std::uint64_t seed) : search_(std::make_unique<Search>(problem, seed)) {}
FeasibilityJump::~FeasibilityJump() = default;

std::vector<std::int32_t> FeasibilityJump::search(std::int64_t jumps, const Interruption& interruption) {
  return search_->search(jumps, interruption);
}

}  // namespace vicinity::lns
