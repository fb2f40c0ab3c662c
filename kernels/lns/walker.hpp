#pragma once
// A walker on the device (core/methods/lns/lns.hpp): its starting point and its local search. `Team` is who walks: the threads of a block,
// or on the host one thread that does everything, or a few, so that tests need no device. All of a team call the same functions. `Engine`
// evaluates assignments: rescan.hpp, incremental.hpp.
//
// Memory of a walker: the engine's state; of its subset the assignment, the best one and a scratch copy; with CP starting points domains,
// and a bit a constraint that is to be propagated. Assignment, best and scratch have an element a free variable of the subset, which one
// thread of the team writes and reads, but where a barrier is said to lie between.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/methods/lns/lns.hpp"
#include "core/problems/cp/operations.hpp"
#include "core/problems/cp/rules.hpp"
#include "core/util/hd.hpp"

namespace vicinity::lns {

/// What threads that walk together can do.
template <class T>
concept Team = requires(const T& team, std::int64_t number, bool flag, std::uint64_t* sum, std::uint32_t* word) {
  { team.rank() } -> std::convertible_to<std::int32_t>;
  { team.size() } -> std::convertible_to<std::int32_t>;
  team.sync();
  { team.any(flag) } -> std::same_as<bool>;            // of all; a barrier
  { team.sum(number) } -> std::same_as<std::int64_t>;  // of all, for all; barriers
  team.add(sum, *sum);                                 // atomically, as others do at the same time
  team.set_bits(word, *word);                          // the same
};

/// Evaluates assignments for a team.
template <class E>
concept Engine = requires(E& engine, std::int32_t k, std::int32_t value) {
  engine.set(k, value);                              // free variable k; by one thread
  { engine.cost(k) } -> std::same_as<std::int64_t>;  // by all, after free variable k, or any of the subset, got a value; barriers about it
  engine.settle(k);                                  // by all: free variable k got a value, whose cost nobody asks
};
inline constexpr std::int32_t any_released = -1;

/// A word that the host sets to end a walk before it is done. It is read ahead: nobody waits for it.
class StopWord {
 public:
  /// `asks`: this thread is the one that asks.
  VICINITY_HD StopWord(const volatile std::int32_t* word, bool asks) : word_(word), next_(asks ? *word : 0) {}
  [[nodiscard]] VICINITY_HD bool is_set() {
    const std::int32_t seen = next_;
    next_ = *word_;
    return seen != 0;
  }

 private:
  const volatile std::int32_t* word_;
  std::int32_t next_;
};

/// A problem as walkers see it.
struct ProblemView {
  cp::FreeVariablesView free;
  const std::int32_t* network_variable;  ///< [free variable]
  cp::NetworkView network;               ///< upper bounds and masks at the fixpoint of the root; bit 0 is `lower` all the same
  const std::int32_t* root_lower;        ///< [variable of the network] lower bounds at that fixpoint
  Sense sense;
};

/// A task's numbers.
struct WalkView {
  LocalSearch search;
  StartingPoint start;
  std::int64_t repetitions, starts;
  std::int32_t released;
};

/// Takes parts of a piece of memory one after the other, 8 bytes aligned.
class Parts {
 public:
  VICINITY_HD explicit Parts(unsigned char* memory) : at_(memory) {}
  template <class P>
  [[nodiscard]] VICINITY_HD P* take(std::size_t count) {
    P* const part = reinterpret_cast<P*>(at_);
    at_ += rounded(count * sizeof(P));
    return part;
  }
  [[nodiscard]] VICINITY_HD static std::size_t rounded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

 private:
  unsigned char* at_;
};

/// Where domains lie.
struct DomainMemory {
  std::uint64_t* mask;
  std::int32_t *lower, *upper;  ///< [variable of the network]
  std::uint32_t* waits;         ///< a bit a constraint

  struct Sizes {
    std::size_t variables, words, constraints;  ///< 0 without CP starting points

    [[nodiscard]] VICINITY_HD std::size_t bytes() const {
      return 8 * words + 2 * Parts::rounded(4 * variables) + Parts::rounded((constraints + 31) / 32 * 4);
    }
  };
  VICINITY_HD DomainMemory(Parts& parts, const Sizes& sizes)
      : mask(parts.take<std::uint64_t>(sizes.words)),
        lower(parts.take<std::int32_t>(sizes.variables)),
        upper(parts.take<std::int32_t>(sizes.variables)),
        waits(parts.take<std::uint32_t>((sizes.constraints + 31) / 32)) {}
};

/// Where a walker's memory lies.
struct WalkerMemory {
  unsigned char* state;                    ///< of the engine
  std::int32_t *current, *best, *scratch;  ///< [released]
  DomainMemory domains;

  struct Sizes {
    std::size_t state;  ///< bytes, a multiple of 8
    std::size_t released;
    DomainMemory::Sizes domains;

    [[nodiscard]] VICINITY_HD std::size_t bytes() const { return state + 3 * Parts::rounded(4 * released) + domains.bytes(); }
  };
  VICINITY_HD WalkerMemory(unsigned char* memory, const Sizes& sizes) : WalkerMemory(Parts(memory), sizes) {}

 private:
  VICINITY_HD WalkerMemory(Parts parts, const Sizes& sizes)
      : state(parts.take<unsigned char>(sizes.state)),
        current(parts.take<std::int32_t>(sizes.released)),
        best(parts.take<std::int32_t>(sizes.released)),
        scratch(parts.take<std::int32_t>(sizes.released)),
        domains(parts, sizes.domains) {}
};

/// Domains of a walker, for one thread: as cp::Store, without a trail. What changes wakes the constraints that watch it.
class WalkerDomains {
 public:
  VICINITY_HD WalkerDomains(const cp::NetworkView& network, const DomainMemory& memory) : network_(network), memory_(memory) {}

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
  DomainMemory memory_;
};

/// To the fixpoint, which is unique (core/problems/cp/network.hpp): constraints in the order of their numbers, again and again. By one
/// thread. False: it fails, or is to stop.
[[nodiscard]] VICINITY_HD_CALLED bool propagate(const cp::NetworkView& network, const DomainMemory& memory, WalkerDomains& domains,
                                                StopWord& stop) {
  const std::int32_t words = (network.constraints + 31) / 32;
  std::uint32_t propagated = 0;
  for (bool again = true; again;) {
    again = false;
    for (std::int32_t w = 0; w < words; ++w)
      while (memory.waits[w] != 0) {
        again = true;
        std::int32_t bit = 0;
        while ((memory.waits[w] >> bit & 1) == 0) ++bit;
        memory.waits[w] &= ~(1u << bit);
        const std::int32_t c = 32 * w + bit;
        if (!cp::rules::propagate_simple(network.kind[c], cp::scope_of(network, c), domains)) return false;
        if (++propagated % 256 == 0 && stop.is_set()) return false;
      }
  }
  return true;
}

/// Domains where starting points by CP begin: those of the root, or those that follow when all free variables outside the subset have the
/// incumbent's values.
struct Beginning {
  const std::int32_t *lower, *upper;  ///< [variable of the network]
  const std::uint64_t* mask;
  bool fixed;   ///< they are the latter
  bool failed;  ///< and there are none
};

/// Puts domains where they begin. By all.
template <Team T>
VICINITY_HD void load_domains(const T& team, const cp::NetworkView& network, const Beginning& from, const DomainMemory& to) {
  team.sync();
  for (std::int32_t x = team.rank(); x < network.variables; x += team.size()) {
    to.lower[x] = from.lower[x];
    to.upper[x] = from.upper[x];
  }
  for (std::int64_t w = team.rank(); w < network.mask_words; w += team.size()) to.mask[w] = from.mask[w];
  for (std::int32_t c = team.rank(); c < (network.constraints + 31) / 32; c += team.size()) to.waits[c] = 0;
  team.sync();
}
[[nodiscard]] VICINITY_HD Beginning root_of(const ProblemView& problem) {
  return {problem.root_lower, problem.network.upper, problem.network.mask, false, false};
}

/// Fixes all free variables outside the subset, which `sorted` gets, and propagates. By one thread. False: it fails, or is to stop.
[[nodiscard]] VICINITY_HD bool fix_others(const ProblemView& problem, const std::int32_t* incumbent, const std::int32_t* subset,
                                          std::int32_t n, std::int32_t* sorted, const DomainMemory& memory, StopWord& stop) {
  for (std::int32_t k = 0; k < n; ++k) {
    std::int32_t at = k;
    for (; at > 0 && sorted[at - 1] > subset[k]; --at) sorted[at] = sorted[at - 1];
    sorted[at] = subset[k];
  }
  WalkerDomains domains(problem.network, memory);
  for (std::int32_t k = 0, released = 0; k < problem.free.count; ++k) {
    if (released < n && sorted[released] == k)
      ++released;
    else if (!domains.assign(problem.network_variable[k], incumbent[k]))
      return false;
  }
  return propagate(problem.network, memory, domains, stop);
}

/// What a walker found; nothing that counts where it was stopped.
struct WalkerResult {
  std::int64_t cost = inconsistent;  ///< of `best` in its memory
  std::int64_t evaluations = 0;
  bool started = false;
};

template <Team T, Engine E>
class DeviceWalker {
 public:
  VICINITY_HD DeviceWalker(const T& team, const ProblemView& problem, const WalkView& task, const WalkerMemory& memory, E& engine,
                           StopWord& stop)
      : team_(team), problem_(problem), task_(task), memory_(memory), engine_(engine), stop_(stop), n_(task.released) {}

  /// `incumbent`: [free variable], which the engine may have in place; `subset`: [released].
  VICINITY_HD WalkerResult walk(const Draws& draws, const std::int32_t* incumbent, const std::int32_t* subset, const Beginning& beginning) {
    draws_ = draws;
    incumbent_ = incumbent;
    subset_ = subset;
    look();
    if (stopped_) return result_;
    if (task_.search == LocalSearch::complete) {
      enumerate();
    } else if (start(beginning)) {
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
    engine_.set(subset_[k], value);
  }
  /// By one thread, for all.
  VICINITY_HD void set_one(std::int32_t k, std::int32_t value) const {
    if (team_.rank() == 0) set(k, value);
  }

  /// Is the walk to end?
  VICINITY_HD void look() { stopped_ = team_.any(team_.rank() == 0 && stop_.is_set()); }
  /// Evaluates the assignment, in which free variable `of` of the problem has changed, and keeps it where it is the best so far.
  VICINITY_HD std::int64_t cost(std::int32_t of = any_released) {
    if (++result_.evaluations % 16 == 0) look();
    const std::int64_t found = engine_.cost(of);
    if (found < result_.cost) {
      result_.cost = found;
      for_own([&](std::int32_t k) { memory_.best[k] = memory_.current[k]; });
    }
    team_.sync();
    return found;
  }

  /// False: the walker has no starting point.
  [[nodiscard]] VICINITY_HD bool start(const Beginning& beginning) {
    const bool by_cp = task_.start == StartingPoint::cp;
    for (std::uint32_t a = 0; a < (by_cp ? start_attempts : 1) && !stopped_; ++a) {
      if (by_cp) {
        load_domains(team_, problem_.network, beginning, memory_.domains);
        bool failed = false;
        if (team_.rank() == 0) failed = !attempt(beginning, a);
        look();
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
  /// By one thread: fixes what is not released, then draws values, each propagated. False: it fails.
  [[nodiscard]] VICINITY_HD bool attempt(const Beginning& beginning, std::uint32_t a) const {
    if (beginning.fixed ? beginning.failed : !fix_others(problem_, incumbent_, subset_, n_, memory_.scratch, memory_.domains, stop_))
      return false;
    WalkerDomains domains(problem_.network, memory_.domains);
    for (std::int32_t k = 0; k < n_; ++k)
      if (!draw(domains, a, k) || !propagate(problem_.network, memory_.domains, domains, stop_)) return false;
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
    for (std::int64_t r = first; r < end && !stopped_; r += stride) {
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
      for (std::int32_t k = 0; k < n_ && !stopped_; ++k) {
        const std::int32_t old = memory_.current[k];
        const std::uint64_t draw = search_draw(n_, r, 2 * std::int64_t{n_}, 2 * k);
        const std::int64_t other = draws_.below(draw, variable(k).size - 1);
        const std::int64_t number = other + (other >= problem_.free.number_of(subset_[k], old) ? 1 : 0);
        team_.sync();  // all have read the old value
        set_one(k, problem_.free.value(subset_[k], number));
        const std::int64_t found = cost(subset_[k]);
        if (accepts(cost_, found, problem_.sense, draws_.bits(draw + 1))) {
          cost_ = found;
        } else {
          set_one(k, old);
          engine_.settle(subset_[k]);
        }
        team_.sync();
      }
  }
  VICINITY_HD void improve() {
    for (std::int64_t r = 0; r < task_.repetitions; ++r)
      for (std::int32_t k = 0; k < n_ && !stopped_; ++k) {
        std::int32_t chosen = memory_.current[k];
        std::int64_t least = inconsistent;
        team_.sync();  // all have read the old value
        for (std::int64_t j = 0; j < variable(k).size && !stopped_; ++j) {
          const std::int32_t value = problem_.free.value(subset_[k], j);
          set_one(k, value);
          if (const std::int64_t found = cost(subset_[k]); found < least) {
            least = found;
            chosen = value;
          }
        }
        set_one(k, chosen);
        engine_.settle(subset_[k]);
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
  E& engine_;
  StopWord& stop_;
  bool stopped_ = false;
  std::int32_t n_;
  Draws draws_{};
  const std::int32_t *incumbent_ = nullptr, *subset_ = nullptr;
  std::int64_t cost_ = inconsistent;
  WalkerResult result_;
};

}  // namespace vicinity::lns
