#pragma once
// A walker on the device (core/methods/lns/lns.hpp): its starting point, its local search, the evaluation of assignments. `Team` is who
// walks: the threads of a block, or on the host one thread that does everything, so that tests need no device. All of a team call the same
// functions.
//
// Memory of a walker: values of all slots; of its subset the assignment, the best one and a scratch copy; with CP starting points domains,
// and a bit a constraint that is to be propagated.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/methods/lns/lns.hpp"
#include "core/problems/cp/operations.hpp"
#include "core/problems/cp/rules.hpp"

namespace vicinity::lns {

/// What threads that walk together can do.
template <class T>
concept Team = requires(const T& team, std::int64_t number, bool flag) {
  { team.rank() } -> std::convertible_to<std::int32_t>;
  { team.size() } -> std::convertible_to<std::int32_t>;
  team.sync();
  { team.any(flag) } -> std::same_as<bool>;            // of all; a barrier
  { team.sum(number) } -> std::same_as<std::int64_t>;  // of all, for all; barriers
};

/// A problem as walkers see it.
struct ProblemView {
  cp::EvaluationView evaluation;
  const std::int32_t* level_begin;  ///< [levels + 1] the last level is that of the checks
  const std::int32_t* wide;         ///< [k] 1: a sum with so many terms that the team shares them
  std::int32_t levels;
  cp::FreeVariablesView free;
  const std::int32_t* network_variable;  ///< [free variable]
  cp::NetworkView network;               ///< upper bounds and masks at the fixpoint of the root; bit 0 is `lower` all the same
  const std::int32_t* root_lower;        ///< [variable of the network] lower bounds at that fixpoint
  std::int32_t slots;                    ///< values of all variables, then constants
  std::int32_t objective;                ///< its slot; -1: every consistent assignment costs `constant`
  std::int64_t constant;
  Sense sense;
};

/// A task's numbers.
struct WalkView {
  LocalSearch search;
  StartingPoint start;
  std::int64_t repetitions, starts;
  std::int32_t released;
};

/// Where a walker's memory lies.
struct WalkerMemory {
  std::int32_t* slots;                     ///< [slot]
  std::int32_t *current, *best, *scratch;  ///< [released]
  std::int32_t *lower, *upper;             ///< [variable of the network]; null without CP starting points
  std::uint64_t* mask;
  std::uint32_t* waits;  ///< a bit a constraint

  /// Parts one after the other, 8 bytes aligned; from null: only counts.
  struct Sizes {
    std::size_t slots, released, variables, words, constraints;  ///< the last three 0 without CP starting points

    [[nodiscard]] VICINITY_HD static std::size_t rounded(std::size_t ints) { return (ints + 1) / 2 * 2; }
    [[nodiscard]] VICINITY_HD std::size_t bytes() const {
      return 4 * (rounded(slots) + 3 * rounded(released) + 2 * rounded(variables) + rounded((constraints + 31) / 32)) + 8 * words;
    }
  };
  VICINITY_HD WalkerMemory(unsigned char* memory, const Sizes& sizes) {
    mask = reinterpret_cast<std::uint64_t*>(memory);
    auto* at = reinterpret_cast<std::int32_t*>(mask + sizes.words);
    const auto take = [&at](std::size_t ints) {
      std::int32_t* const part = at;
      at += Sizes::rounded(ints);
      return part;
    };
    slots = take(sizes.slots);
    current = take(sizes.released);
    best = take(sizes.released);
    scratch = take(sizes.released);
    lower = take(sizes.variables);
    upper = take(sizes.variables);
    waits = reinterpret_cast<std::uint32_t*>(take((sizes.constraints + 31) / 32));
  }
};

/// Domains of a walker, for one thread: as cp::Store, without a trail. What changes wakes the constraints that watch it.
class WalkerDomains {
 public:
  VICINITY_HD WalkerDomains(const cp::NetworkView& network, const WalkerMemory& memory) : network_(network), memory_(memory) {}

  [[nodiscard]] VICINITY_HD std::int64_t lower(cp::Var x) const { return memory_.lower[x]; }
  [[nodiscard]] VICINITY_HD std::int64_t upper(cp::Var x) const { return memory_.upper[x]; }
  [[nodiscard]] VICINITY_HD bool masked(cp::Var x) const { return network_.mask_begin[x] >= 0; }
  [[nodiscard]] VICINITY_HD bool contains(cp::Var x, std::int64_t v) const {
    if (v < lower(x) || v > upper(x)) return false;
    return !masked(x) || bit(x, v);
  }
  [[nodiscard]] VICINITY_HD std::int64_t next(cp::Var x, std::int64_t v) const {
    if (masked(x))
      while (!bit(x, v)) ++v;
    return v;
  }
  [[nodiscard]] VICINITY_HD std::int64_t size(cp::Var x) const {
    if (!masked(x)) return upper(x) - lower(x) + 1;
    std::int64_t count = 0;
    for (std::int64_t v = lower(x); v <= upper(x); ++v) count += bit(x, v) ? 1 : 0;
    return count;
  }
  [[nodiscard]] VICINITY_HD bool raise(cp::Var x, std::int64_t v) {
    if (v <= lower(x)) return true;
    if (v > upper(x)) return false;
    memory_.lower[x] = static_cast<std::int32_t>(next(x, v));
    wake(x, cp::raised);
    return true;
  }
  [[nodiscard]] VICINITY_HD bool cut(cp::Var x, std::int64_t v) {
    if (v >= upper(x)) return true;
    if (v < lower(x)) return false;
    if (masked(x))
      while (!bit(x, v)) --v;
    memory_.upper[x] = static_cast<std::int32_t>(v);
    wake(x, cp::Event::cut);
    return true;
  }
  [[nodiscard]] VICINITY_HD bool assign(cp::Var x, std::int64_t v) {
    if (!contains(x, v)) return false;
    const int events = (v > lower(x) ? cp::raised : 0) | (v < upper(x) ? cp::Event::cut : 0);
    memory_.lower[x] = memory_.upper[x] = static_cast<std::int32_t>(v);
    if (events != 0) wake(x, events);
    return true;
  }
  [[nodiscard]] VICINITY_HD bool remove(cp::Var x, std::int64_t v) {
    if (v < lower(x) || v > upper(x)) return true;
    if (lower(x) == upper(x)) return false;
    if (v == lower(x)) return raise(x, v + 1);
    if (v == upper(x)) return cut(x, v - 1);
    if (!masked(x) || !bit(x, v)) return true;
    word(x, v) &= ~(std::uint64_t{1} << (offset(x, v) % 64));
    wake(x, cp::hole);
    return true;
  }

 private:
  [[nodiscard]] VICINITY_HD std::uint64_t offset(cp::Var x, std::int64_t v) const {
    return static_cast<std::uint64_t>(v - network_.lower[x]);
  }
  [[nodiscard]] VICINITY_HD std::uint64_t& word(cp::Var x, std::int64_t v) const {
    return memory_.mask[static_cast<std::uint64_t>(network_.mask_begin[x]) + offset(x, v) / 64];
  }
  [[nodiscard]] VICINITY_HD bool bit(cp::Var x, std::int64_t v) const { return (word(x, v) >> (offset(x, v) % 64) & 1) != 0; }
  VICINITY_HD void wake(cp::Var x, int events) {
    if (lower(x) == upper(x)) events |= cp::fixed;
    for (auto w = network_.watch_begin[x]; w < network_.watch_begin[x + 1]; ++w)
      if ((network_.watches[w] & static_cast<unsigned>(events)) != 0) {
        const std::uint32_t c = network_.watches[w] >> 4;
        memory_.waits[c / 32] |= 1u << (c % 32);
      }
  }

  cp::NetworkView network_;
  WalkerMemory memory_;
};

/// What a walker found.
struct WalkerResult {
  std::int64_t cost = inconsistent;  ///< of `best` in its memory
  std::int64_t evaluations = 0;
  bool started = false;
};

template <Team T>
class DeviceWalker {
 public:
  VICINITY_HD DeviceWalker(const T& team, const ProblemView& problem, const WalkView& task, const WalkerMemory& memory)
      : team_(team), problem_(problem), task_(task), memory_(memory), n_(task.released) {}

  /// `slots`: of the first solution, constants in place; `incumbent`: [free variable]; `subset`: [released].
  VICINITY_HD WalkerResult walk(const Draws& draws, const std::int32_t* slots, const std::int32_t* incumbent, const std::int32_t* subset) {
    draws_ = draws;
    incumbent_ = incumbent;
    subset_ = subset;
    for (std::int32_t s = team_.rank(); s < problem_.slots; s += team_.size()) memory_.slots[s] = slots[s];
    team_.sync();
    for (std::int32_t k = team_.rank(); k < problem_.free.count; k += team_.size())
      memory_.slots[problem_.free.variables[k].slot] = incumbent[k];
    team_.sync();
    if (task_.search == LocalSearch::complete) {
      enumerate();
    } else if (start()) {
      result_.started = result_.cost != inconsistent;
      search();
    }
    return result_;
  }

 private:
  [[nodiscard]] VICINITY_HD const cp::FreeVariable& variable(std::int32_t k) const { return problem_.free.variables[subset_[k]]; }
  [[nodiscard]] VICINITY_HD std::int32_t random_value(std::int32_t k, std::uint64_t draw) const {
    return problem_.free.value(subset_[k], draws_.below(draw, variable(k).size));
  }
  /// visit(k) for each of the subset's variables, dealt to the team.
  template <class Visit>
  VICINITY_HD void for_own(const Visit& visit) const {
    for (std::int32_t k = team_.rank(); k < n_; k += team_.size()) visit(k);
  }
  VICINITY_HD void set(std::int32_t k, std::int32_t value) const {
    memory_.current[k] = value;
    memory_.slots[variable(k).slot] = value;
  }
  /// By one thread, for all.
  VICINITY_HD void set_one(std::int32_t k, std::int32_t value) const {
    if (team_.rank() == 0) set(k, value);
  }

  /// Evaluates the assignment, level by level, and keeps it where it is the best so far. A barrier before, one a level, some behind.
  VICINITY_HD std::int64_t cost() {
    team_.sync();
    ++result_.evaluations;
    bool violated = false;
    for (std::int32_t level = 0; level < problem_.levels; ++level) {
      const std::int32_t begin = problem_.level_begin[level], end = problem_.level_begin[level + 1];
      bool any_wide = false;
      for (std::int32_t k = begin + team_.rank(); k < end; k += team_.size()) {
        if (problem_.wide[k] != 0) {
          any_wide = true;
          continue;
        }
        bool valid = true;
        const std::int64_t value = cp::value_of(problem_.evaluation, k, {memory_.slots, static_cast<std::size_t>(problem_.slots)}, valid);
        violated |= !settle(k, value, valid);
      }
      if (team_.any(any_wide)) {
        for (std::int32_t k = begin; k < end; ++k)
          if (problem_.wide[k] != 0) violated |= !wide_sum(k);
        team_.sync();
      }
    }
    const bool bad = team_.any(violated);
    const std::int64_t found = bad ? inconsistent : objective();
    if (found < result_.cost) {
      result_.cost = found;
      for_own([&](std::int32_t k) { memory_.best[k] = memory_.current[k]; });
    }
    team_.sync();
    return found;
  }
  [[nodiscard]] VICINITY_HD std::int64_t objective() const {
    const std::int64_t value = problem_.objective < 0 ? problem_.constant : memory_.slots[problem_.objective];
    return problem_.sense == Sense::maximise ? -value : value;
  }
  /// What becomes of an operation's value. Does it hold?
  [[nodiscard]] VICINITY_HD bool settle(std::int32_t k, std::int64_t value, bool valid) const {
    std::int32_t& result = memory_.slots[problem_.evaluation.result[k]];
    if (problem_.evaluation.use[k] == cp::Use::define) {
      valid = valid && value >= cp::least_value && value <= cp::greatest_value;
      result = valid ? static_cast<std::int32_t>(value) : 0;
      return valid;
    }
    return valid && (problem_.evaluation.use[k] == cp::Use::agree ? value == result : result == 0 || value == 1);
  }
  /// By the whole team; its terms fit 63 bits.
  [[nodiscard]] VICINITY_HD bool wide_sum(std::int32_t k) const {
    const cp::EvaluationView& e = problem_.evaluation;
    const std::uint32_t begin = e.argument_begin[k], size = e.argument_begin[k + 1] - begin;
    const std::int64_t* const data = e.data + e.data_begin[k];
    std::int64_t part = 0;
    for (auto j = static_cast<std::uint32_t>(team_.rank()); j < size; j += static_cast<std::uint32_t>(team_.size()))
      part += data[j + 1] * memory_.slots[e.arguments[begin + j]];
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
    return team_.rank() != 0 || settle(k, value, valid);
  }

  /// False: the walker has no starting point.
  [[nodiscard]] VICINITY_HD bool start() {
    const bool by_cp = task_.start == StartingPoint::cp;
    for (std::uint32_t a = 0; a < (by_cp ? start_attempts : 1); ++a) {
      if (by_cp) {
        load_domains();
        bool failed = false;
        if (team_.rank() == 0) failed = !attempt(a);
        if (team_.any(failed)) continue;
      }
      for_own([&](std::int32_t k) {
        const bool random = task_.start == StartingPoint::random;
        set(k, by_cp ? memory_.current[k] : random ? random_value(k, static_cast<std::uint64_t>(k)) : incumbent_[subset_[k]]);
      });
      cost_ = cost();
      if (cost_ != inconsistent || !by_cp) return true;
    }
    return false;
  }
  VICINITY_HD void load_domains() const {
    team_.sync();
    const cp::NetworkView& network = problem_.network;
    for (std::int32_t x = team_.rank(); x < network.variables; x += team_.size()) {
      memory_.lower[x] = problem_.root_lower[x];
      memory_.upper[x] = network.upper[x];
    }
    for (std::int64_t w = team_.rank(); w < network.mask_words; w += team_.size()) memory_.mask[w] = network.mask[w];
    for (std::int32_t c = team_.rank(); c < (network.constraints + 31) / 32; c += team_.size()) memory_.waits[c] = 0;
    team_.sync();
  }
  /// By one thread: fixes what is not released, then draws values, each propagated. False: it fails.
  [[nodiscard]] VICINITY_HD bool attempt(std::uint32_t a) const {
    WalkerDomains domains(problem_.network, memory_);
    for (std::int32_t k = 0; k < n_; ++k) memory_.scratch[k] = subset_[k];
    sort(memory_.scratch, n_);
    for (std::int32_t k = -1; k < n_; ++k) {
      if (k < 0 ? !fix_others(domains) : !draw(domains, a, k)) return false;
      if (!propagate(domains)) return false;
    }
    return true;
  }
  [[nodiscard]] VICINITY_HD bool fix_others(WalkerDomains& domains) const {
    for (std::int32_t k = 0, released = 0; k < problem_.free.count; ++k) {
      if (released < n_ && memory_.scratch[released] == k)
        ++released;
      else if (!domains.assign(problem_.network_variable[k], incumbent_[k]))
        return false;
    }
    return true;
  }
  [[nodiscard]] VICINITY_HD bool draw(WalkerDomains& domains, std::uint32_t a, std::int32_t k) const {
    const cp::Var x = problem_.network_variable[subset_[k]];
    const std::uint64_t number = std::uint64_t{a} * static_cast<std::uint64_t>(n_) + static_cast<std::uint64_t>(k);
    std::int64_t value = domains.lower(x), left = draws_.below(number, domains.size(x));
    if (domains.masked(x)) {
      for (; left > 0; --left) value = domains.next(x, value + 1);
    }
    memory_.current[k] = static_cast<std::int32_t>(value + left);
    return domains.assign(x, value + left);
  }
  VICINITY_HD static void sort(std::int32_t* values, std::int32_t n) {
    for (std::int32_t k = 1; k < n; ++k) {
      const std::int32_t value = values[k];
      std::int32_t at = k;
      for (; at > 0 && values[at - 1] > value; --at) values[at] = values[at - 1];
      values[at] = value;
    }
  }
  /// To the fixpoint, which is unique (core/problems/cp/network.hpp): constraints in the order of their numbers, again and again.
  [[nodiscard]] VICINITY_HD bool propagate(WalkerDomains& domains) const {
    const cp::NetworkView& network = problem_.network;
    const std::int32_t words = (network.constraints + 31) / 32;
    for (bool again = true; again;) {
      again = false;
      for (std::int32_t w = 0; w < words; ++w)
        while (memory_.waits[w] != 0) {
          again = true;
          std::int32_t bit = 0;
          while ((memory_.waits[w] >> bit & 1) == 0) ++bit;
          memory_.waits[w] &= ~(1u << bit);
          const std::int32_t c = 32 * w + bit;
          if (!cp::rules::propagate_simple(network.kind[c], cp::scope_of(network, c), domains)) return false;
        }
    }
    return true;
  }

  VICINITY_HD void search() {
    switch (task_.search) {
      case LocalSearch::gibbs:
        return sample();
      case LocalSearch::conditional_mode:
        return improve();
      case LocalSearch::two_exchange:
        return repeat(draws_.walker % task_.starts, pairs_of(n_), pairs_of(n_));
      default:
        return repeat(0, task_.repetitions, 1);
    }
  }
  /// Assignments first, first + stride, ... before `end`, each evaluated.
  VICINITY_HD void repeat(std::int64_t first, std::int64_t end, std::int64_t stride) {
    for (std::int64_t r = first; r < end; r += stride) {
      if (task_.search == LocalSearch::random_labeling)
        for_own([&](std::int32_t k) { set(k, random_value(k, search_draw(n_, r, n_, k))); });
      else if (task_.search == LocalSearch::random_permutation)
        permute(r);
      else if (team_.rank() == 0)
        task_.search == LocalSearch::two_exchange ? exchange(r) : combine(r);
      cost();
    }
  }
  VICINITY_HD void permute(std::int64_t r) const {
    if (team_.rank() == 0) {
      for (std::int32_t k = 0; k < n_; ++k) memory_.scratch[k] = memory_.current[k];
      for (std::int32_t k = n_ - 1; k > 0; --k) {
        const auto other = static_cast<std::int32_t>(draws_.below(search_draw(n_, r, n_, k), k + 1));
        const std::int32_t value = memory_.scratch[k];
        memory_.scratch[k] = memory_.scratch[other];
        memory_.scratch[other] = value;
      }
    }
    team_.sync();
    for_own([&](std::int32_t k) { set(k, memory_.scratch[k]); });
  }
  /// By one thread.
  VICINITY_HD void exchange(std::int64_t pair) const {
    const Pair at = pair_of(n_, pair);
    const auto first = static_cast<std::int32_t>(at.first), second = static_cast<std::int32_t>(at.second);
    const std::int32_t value = memory_.current[first];
    set(first, memory_.current[second]);
    set(second, value);
  }
  /// By one thread.
  VICINITY_HD void combine(std::int64_t c) const {
    for (std::int32_t k = 0; k < n_; c /= variable(k).size, ++k) set(k, problem_.free.value(subset_[k], c % variable(k).size));
  }
  VICINITY_HD void sample() {
    for (std::int64_t r = 0; r < task_.repetitions; ++r)
      for (std::int32_t k = 0; k < n_; ++k) {
        const std::int32_t old = memory_.current[k];
        const std::uint64_t draw = search_draw(n_, r, 2 * std::int64_t{n_}, 2 * k);
        const std::int64_t other = draws_.below(draw, variable(k).size - 1);
        const std::int64_t number = other + (other >= problem_.free.number_of(subset_[k], old) ? 1 : 0);
        team_.sync();  // all have read the old value
        set_one(k, problem_.free.value(subset_[k], number));
        const std::int64_t found = cost();
        if (accepts(cost_, found, problem_.sense, draws_.bits(draw + 1)))
          cost_ = found;
        else
          set_one(k, old);
        team_.sync();
      }
  }
  VICINITY_HD void improve() {
    for (std::int64_t r = 0; r < task_.repetitions; ++r)
      for (std::int32_t k = 0; k < n_; ++k) {
        std::int32_t chosen = memory_.current[k];
        std::int64_t least = inconsistent;
        team_.sync();  // all have read the old value
        for (std::int64_t j = 0; j < variable(k).size; ++j) {
          const std::int32_t value = problem_.free.value(subset_[k], j);
          set_one(k, value);
          if (const std::int64_t found = cost(); found < least) {
            least = found;
            chosen = value;
          }
        }
        set_one(k, chosen);
        team_.sync();
      }
  }
  VICINITY_HD void enumerate() {
    std::int64_t combinations = 1;
    for (std::int32_t k = 0; k < n_; ++k) combinations *= variable(k).size;
    repeat(draws_.walker % task_.starts, combinations, task_.starts);
    result_.started = result_.cost != inconsistent;
  }

  T team_;
  const ProblemView& problem_;
  WalkView task_;
  WalkerMemory memory_;
  std::int32_t n_;
  Draws draws_{};
  const std::int32_t *incumbent_ = nullptr, *subset_ = nullptr;
  std::int64_t cost_ = inconsistent;
  WalkerResult result_;
};

}  // namespace vicinity::lns
