#pragma once
// An assignment that is evaluated from the variables on that have changed, along the levels of definitions; sums are kept and get what a
// change adds.
//
// Data: a value a slot; the sum and the penalty of each operation; a bit an operation that has to be looked at again. Operations stand in
// the order of their levels, so that one pass over the bits, ascending, finds all that follows. Cost: what depends on the changed
// variables, and a word for each 64 operations.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/methods/lns/task.hpp"
#include "core/problems/cp/operations.hpp"

namespace vicinity::lns {

using cp::Wide;

/// Which operations do not hold.
class Violations {
 public:
  void resize(std::size_t operations) { violated_.assign(operations, 0); }
  [[nodiscard]] bool any() const { return count_ > 0; }
  [[nodiscard]] static std::uint8_t measure(const cp::EvaluationView&, std::int32_t, std::span<const std::int32_t>, Wide) { return 1; }
  [[nodiscard]] std::uint8_t get(std::int32_t k) const { return violated_[static_cast<std::size_t>(k)]; }
  void set(std::int32_t k, std::uint8_t violated) {
    count_ += violated - violated_[static_cast<std::size_t>(k)];
    violated_[static_cast<std::size_t>(k)] = violated;
  }

 private:
  std::vector<std::uint8_t> violated_;  ///< [operation]
  std::int64_t count_ = 0;
};

template <class Penalties>
class Incremental {
 public:
  explicit Incremental(const cp::Problem& problem, Penalties penalties = {})
      : problem_(&problem),
        view_(problem.evaluation().view()),
        slots_(problem.evaluation().slots()),
        sums_(static_cast<std::size_t>(view_.operations)),
        penalties_(std::move(penalties)),
        dirty_((sums_.size() + 63) / 64, 0) {
    penalties_.resize(sums_.size());
    link();
  }

  void load(std::span<const std::int32_t> values) {
    for (std::size_t x = 0; x < values.size(); ++x) set(static_cast<std::int32_t>(x), values[x]);
    if (!std::exchange(begun_, true)) {
      std::fill(dirty_.begin(), dirty_.end(), 0);
      for (std::int32_t k = 0; k < view_.operations; ++k) mark(k);
    }
    static_cast<void>(cost());
  }
  void set(std::int32_t slot, std::int32_t value) {
    std::int32_t& old = slots_[static_cast<std::size_t>(slot)];
    if (old == value) return;
    const std::int64_t change = std::int64_t{value} - old;
    if (remembers_) old_values_.emplace_back(slot, old);
    old = value;
    const auto end = use_begin_[static_cast<std::size_t>(slot) + 1];
    for (auto u = use_begin_[static_cast<std::size_t>(slot)]; u < end; ++u) {
      mark(uses_[u].operation);
      sums_[static_cast<std::size_t>(uses_[u].operation)] += Wide{uses_[u].coefficient} * change;
    }
  }
  [[nodiscard]] std::int32_t get(std::int32_t slot) const { return slots_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] std::int64_t cost() {
    settle();
    return penalties_.any() ? inconsistent : cost_of(problem_->model(), slots_);
  }
  /// Evaluates what has changed.
  void settle() {
    for (std::size_t word = first_dirty_; word < dirty_.size(); ++word)
      while (dirty_[word] != 0) {
        const int bit = std::countr_zero(dirty_[word]);
        dirty_[word] &= dirty_[word] - 1;
        evaluate(static_cast<std::int32_t>(word * 64) + bit);
        ++evaluated_;
      }
    first_dirty_ = dirty_.size();
  }
  /// What is settled now is where restore() goes back to, without evaluating anything.
  void remember() {
    remembers_ = true;
    old_values_.clear();
    old_penalties_.clear();
  }
  void restore() {
    for (; !old_values_.empty(); old_values_.pop_back()) {
      const auto [slot, value] = old_values_.back();
      const std::int64_t change = std::int64_t{value} - std::exchange(slots_[static_cast<std::size_t>(slot)], value);
      const auto end = use_begin_[static_cast<std::size_t>(slot) + 1];
      for (auto u = use_begin_[static_cast<std::size_t>(slot)]; u < end; ++u)
        sums_[static_cast<std::size_t>(uses_[u].operation)] += Wide{uses_[u].coefficient} * change;
    }
    for (; !old_penalties_.empty(); old_penalties_.pop_back()) penalties_.set(old_penalties_.back().first, old_penalties_.back().second);
  }
  /// Operations evaluated so far.
  [[nodiscard]] std::int64_t evaluated() const { return evaluated_; }
  [[nodiscard]] Penalties& penalties() { return penalties_; }
  /// Of an operation that is a sum: without its constant.
  [[nodiscard]] Wide sum(std::int32_t k) const { return sums_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] std::vector<std::int32_t> values() const {
    return {slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(problem_->model().variables.size())};
  }

 private:
  struct Use {
    std::int32_t operation;
    std::int64_t coefficient;  ///< 0: the operation is no sum
  };

  [[nodiscard]] static bool is_sum(cp::Operation operation) { return operation <= cp::Operation::sum_ne; }
  /// Variable -> operations with an argument or a result of it; sums of constants.
  void link() {
    std::vector<std::vector<Use>> uses(slots_.size());
    for (std::int32_t k = 0; k < view_.operations; ++k) {
      const auto use = [&](std::int32_t slot, std::int64_t coefficient) {
        auto& list = uses[static_cast<std::size_t>(slot)];
        const Wide sum = list.empty() || list.back().operation != k ? Wide{1} << 64 : Wide{list.back().coefficient} + coefficient;
        if (sum != static_cast<std::int64_t>(sum))  // none, or too much for one
          list.push_back({k, coefficient});
        else
          list.back().coefficient = static_cast<std::int64_t>(sum);
      };
      const std::int64_t* data = view_.data + view_.data_begin[k];
      const bool sums = is_sum(view_.operation[k]);
      for (auto a = view_.argument_begin[k]; a < view_.argument_begin[k + 1]; ++a) {
        const std::int64_t coefficient = sums ? data[1 + a - view_.argument_begin[k]] : 0;
        use(view_.arguments[a], coefficient);
        sums_[static_cast<std::size_t>(k)] += Wide{coefficient} * get(view_.arguments[a]);
      }
      if (view_.use[k] != cp::Use::define) use(view_.result[k], 0);
    }
    for (const auto& list : uses) {
      uses_.insert(uses_.end(), list.begin(), list.end());
      use_begin_.push_back(uses_.size());
    }
  }
  void mark(std::int32_t operation) {
    const auto word = static_cast<std::size_t>(operation) / 64;
    dirty_[word] |= std::uint64_t{1} << (operation % 64);
    first_dirty_ = std::min(first_dirty_, word);
  }
  [[nodiscard]] std::int64_t value_of(std::int32_t k, bool& valid) {
    const cp::Operation operation = view_.operation[k];
    if (operation == cp::Operation::different) return different(k) ? 1 : 0;
    if (!is_sum(operation)) return cp::value_of(view_, k, slots_, valid);
    const Wide sum = sums_[static_cast<std::size_t>(k)];
    const std::int64_t constant = view_.data[view_.data_begin[k]];
    if (operation == cp::Operation::sum_le) return sum <= constant ? 1 : 0;
    if (operation == cp::Operation::sum_eq) return sum == constant ? 1 : 0;
    if (operation == cp::Operation::sum_ne) return sum != constant ? 1 : 0;
    const Wide total = sum + constant;
    valid = total >= cp::least_value && total <= cp::greatest_value;
    return static_cast<std::int64_t>(total);
  }
  /// One pass that marks the values, in a table that is as long as what lies between them where that is short.
  [[nodiscard]] bool different(std::int32_t k) {
    const std::span arguments(view_.arguments + view_.argument_begin[k], view_.arguments + view_.argument_begin[k + 1]);
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = std::numeric_limits<std::int64_t>::min();
    for (const std::int32_t slot : arguments) {
      low = std::min<std::int64_t>(low, get(slot));
      high = std::max<std::int64_t>(high, get(slot));
    }
    bool valid = true;
    const auto range = static_cast<std::uint64_t>(high - low);
    if (arguments.empty() || range > 64 * arguments.size()) return cp::value_of(view_, k, slots_, valid) != 0;
    if (seen_.size() <= range) seen_.resize(range + 1, 0);
    ++passes_;
    return std::all_of(arguments.begin(), arguments.end(), [&](std::int32_t slot) {
      return std::exchange(seen_[static_cast<std::size_t>(get(slot) - low)], passes_) != passes_;
    });
  }
  void evaluate(std::int32_t k) {
    bool valid = true;
    const std::int64_t value = value_of(k, valid);
    const std::int32_t result = slots_[static_cast<std::size_t>(view_.result[k])];
    if (view_.use[k] == cp::Use::define) {
      valid = valid && value >= cp::least_value && value <= cp::greatest_value;
      set(view_.result[k], valid ? static_cast<std::int32_t>(value) : 0);
    } else {
      valid = valid && (view_.use[k] == cp::Use::agree ? value == result : result == 0 || value == 1);
    }
    const auto penalty = valid ? 0 : penalties_.measure(view_, k, slots_, sums_[static_cast<std::size_t>(k)]);
    if (remembers_ && penalties_.get(k) != penalty) old_penalties_.emplace_back(k, penalties_.get(k));
    penalties_.set(k, static_cast<Penalty>(penalty));
  }

  using Penalty = std::decay_t<decltype(std::declval<const Penalties&>().get(0))>;

  const cp::Problem* problem_;
  cp::EvaluationView view_;
  std::vector<std::int32_t> slots_;
  std::vector<Wide> sums_;  ///< [operation] without its constant
  Penalties penalties_;
  std::vector<std::uint64_t> dirty_;
  std::size_t first_dirty_ = 0;  ///< no word before it has a bit
  bool begun_ = false, remembers_ = false;
  std::int64_t evaluated_ = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> old_values_;  ///< slot, value: since remember()
  std::vector<std::pair<std::int32_t, Penalty>> old_penalties_;    ///< operation, penalty
  std::vector<std::uint64_t> seen_;                                ///< [value less the least] the pass that has met it
  std::uint64_t passes_ = 0;
  std::vector<std::size_t> use_begin_{0};  ///< [slot + 1]
  std::vector<Use> uses_;
};

}  // namespace vicinity::lns
