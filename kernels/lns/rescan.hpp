#pragma once
// The evaluation of `gpu`: all operations again for every assignment, level by level.
//
// State: the values of all slots. Who writes what: a free variable's slot one thread, before the barrier with which cost() begins; a
// defined slot the thread that has its operation, and threads read it after the barrier behind its level.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/problems/cp/evaluation.hpp"
#include "kernels/lns/walker.hpp"

namespace vicinity::lns {

/// Operations with so many arguments that a team shares each of them.
struct WideOperations {
  std::vector<std::int32_t> flags;     ///< [operation]
  std::vector<std::int32_t> begin{0};  ///< [level + 1]
  std::vector<std::int32_t> all;       ///< level by level

  /// `is_wide(view, k)`: of sums whose terms fit 63 bits, and of `different`.
  template <class IsWide>
  WideOperations(const cp::Evaluation& evaluation, const IsWide& is_wide) {
    const cp::EvaluationView view = evaluation.view();
    const auto levels = evaluation.level_begin();
    for (std::size_t level = 0; level + 1 < levels.size(); ++level) {
      for (std::int32_t k = levels[level]; k < levels[level + 1]; ++k) {
        flags.push_back(is_wide(view, k) ? 1 : 0);
        if (flags.back() != 0) all.push_back(k);
      }
      begin.push_back(static_cast<std::int32_t>(all.size()));
    }
  }
};

struct RescanView {
  cp::EvaluationView evaluation;
  const std::int32_t* level_begin;                     ///< [levels + 1] the last level is that of the checks
  const std::int32_t *wide_flags, *wide_begin, *wide;  ///< WideOperations
  std::int32_t levels;
  cp::FreeVariablesView free;
  std::int32_t slots;      ///< values of all variables, then constants
  std::int32_t objective;  ///< its slot; -1: every consistent assignment costs `constant`
  std::int64_t constant;
  Sense sense;
};

template <Team T>
class Rescan {
 public:
  VICINITY_HD Rescan(const T& team, const RescanView& view, unsigned char* state)
      : team_(team), view_(view), slots_(reinterpret_cast<std::int32_t*>(state)) {}

  /// `slots`: of the first solution, constants in place; `incumbent`: [free variable].
  VICINITY_HD void load(const std::int32_t* slots, const std::int32_t* incumbent) const {
    for (std::int32_t s = team_.rank(); s < view_.slots; s += team_.size()) slots_[s] = slots[s];
    team_.sync();
    for (std::int32_t k = team_.rank(); k < view_.free.count; k += team_.size()) set(k, incumbent[k]);
    team_.sync();
  }
  VICINITY_HD void set(std::int32_t k, std::int32_t value) const { slots_[view_.free.variables[k].slot] = value; }
  VICINITY_HD void settle(std::int32_t) const {}
  /// A barrier before, one a level, one behind.
  [[nodiscard]] VICINITY_HD std::int64_t cost(std::int32_t) const {
    team_.sync();
    bool violated = false;
    for (std::int32_t level = 0; level < view_.levels; ++level) {
      const std::int32_t end = view_.level_begin[level + 1], wide_end = view_.wide_begin[level + 1];
      for (std::int32_t k = view_.level_begin[level] + team_.rank(); k < end; k += team_.size()) {
        if (view_.wide_flags[k] != 0) continue;
        bool valid = true;
        const std::int64_t value = cp::value_of(view_.evaluation, k, {slots_, static_cast<std::size_t>(view_.slots)}, valid);
        violated |= !keep(k, value, valid);
      }
      for (std::int32_t w = view_.wide_begin[level]; w < wide_end; ++w) {
        const std::int32_t k = view_.wide[w];
        violated |= view_.evaluation.operation[k] == cp::Operation::different ? !wide_different(k) : !wide_sum(k);
      }
      team_.sync();
    }
    const bool bad = team_.any(violated);
    return bad ? inconsistent : objective();
  }

 private:
  [[nodiscard]] VICINITY_HD std::int64_t objective() const {
    const std::int64_t value = view_.objective < 0 ? view_.constant : slots_[view_.objective];
    return view_.sense == Sense::maximise ? -value : value;
  }
  /// What becomes of an operation's value. Does it hold?
  [[nodiscard]] VICINITY_HD bool keep(std::int32_t k, std::int64_t value, bool valid) const {
    std::int32_t& result = slots_[view_.evaluation.result[k]];
    if (view_.evaluation.use[k] == cp::Use::define) {
      valid = valid && value >= cp::least_value && value <= cp::greatest_value;
      result = valid ? static_cast<std::int32_t>(value) : 0;
      return valid;
    }
    return valid && (view_.evaluation.use[k] == cp::Use::agree ? value == result : result == 0 || value == 1);
  }
  /// By the whole team; its terms fit 63 bits.
  [[nodiscard]] VICINITY_HD bool wide_sum(std::int32_t k) const {
    const cp::EvaluationView& e = view_.evaluation;
    const std::uint32_t begin = e.argument_begin[k], size = e.argument_begin[k + 1] - begin;
    const std::int64_t* const data = e.data + e.data_begin[k];
    std::int64_t part = 0;
    for (auto j = static_cast<std::uint32_t>(team_.rank()); j < size; j += static_cast<std::uint32_t>(team_.size()))
      part += data[j + 1] * slots_[e.arguments[begin + j]];
    const std::int64_t sum = team_.sum(part);
    bool valid = true;
    std::int64_t value = sum == data[0] ? 1 : 0;
    if (e.operation[k] == cp::Operation::sum) {
      value = sum + data[0];
      valid = value >= cp::least_value && value <= cp::greatest_value;
    } else if (e.operation[k] == cp::Operation::sum_le) {
      value = sum <= data[0] ? 1 : 0;
    } else if (e.operation[k] == cp::Operation::sum_ne) {
      value = sum != data[0] ? 1 : 0;
    }
    return team_.rank() != 0 || keep(k, value, valid);
  }

  /// By the whole team: each argument against those before it.
  [[nodiscard]] VICINITY_HD bool wide_different(std::int32_t k) const {
    const cp::EvaluationView& e = view_.evaluation;
    const std::int32_t* const arguments = e.arguments + e.argument_begin[k];
    const auto size = static_cast<std::int32_t>(e.argument_begin[k + 1] - e.argument_begin[k]);
    bool same = false;
    for (std::int32_t j = team_.rank(); j < size; j += team_.size()) {
      const std::int32_t mine = slots_[arguments[j]];
      for (std::int32_t i = 0; i < j; ++i) same |= slots_[arguments[i]] == mine;
    }
    const bool different = !team_.any(same);
    return team_.rank() != 0 || keep(k, different ? 1 : 0, true);
  }

  T team_;
  const RescanView& view_;
  std::int32_t* slots_;
};

}  // namespace vicinity::lns
