#pragma once
// CP search of a neighbourhood by a team (contract: core/methods/lns/repair.hpp): the same nodes, failures and solutions as CpSearch.
// `Team` is who searches: the threads of a block, or on the host one thread or a few, so that tests need no device. All of a team call the
// same functions and decide the same, each from what lies in memory; barriers lie between what is read and what is changed.
//
// Propagation: constraints that wait are a queue and a bit each; in a pass threads take those of the queue in turns, on one store, and what
// changes wakes constraints for the next pass. The store only ever gets smaller: the bounds of a variable are one word, changed by compare
// and swap, so that they are never empty and never torn; mask words lose bits; who changes a variable looks at its ends again, so that they
// are elements whoever else changed it. What rules conclude from such a store holds in the fixpoint (rules.hpp), and a constraint that saw
// something old has been woken again; so the end is the unique fixpoint. Global constraints and long sums wait until no other does: then
// one thread propagates the former, and all the latter.
//
// Decisions: threads take the variables of a phase in turns, a reduction finds the first by (criterion, position). Backtracking: a trail of
// old values, in no order: of several of one variable in a level the largest domain is what the level began with, and join() makes it so.
//
// Memory: near (shared, where it fits): the domains at 8 bytes a variable and their masks, a bit a constraint; far: queues, trail,
// decisions, weights, the best solution, a workspace of global constraints. A trail or a list of decisions that is full ends the search
// undone: then the host makes it.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/methods/lns/repair.hpp"
#include "core/problems/cp/global_rules.hpp"
#include "core/util/rng.hpp"
#include "kernels/lns/walker.hpp"

namespace vicinity::lns::repair {

// --- words that threads of a team change at the same time

template <class W>
[[nodiscard]] VICINITY_HD W load(const W* at) {
#if defined(__CUDA_ARCH__)
  return *static_cast<const volatile W*>(at);
#else
  return __atomic_load_n(at, __ATOMIC_SEQ_CST);
#endif
}
template <class W>
VICINITY_HD void store(W* at, W value) {
#if defined(__CUDA_ARCH__)
  *static_cast<volatile W*>(at) = value;
#else
  __atomic_store_n(at, value, __ATOMIC_SEQ_CST);
#endif
}
/// What was there; it is `to` now where that was `from`.
VICINITY_HD std::uint64_t compare_and_swap(std::uint64_t* at, std::uint64_t from, std::uint64_t to) {
#if defined(__CUDA_ARCH__)
  return atomicCAS(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(from), static_cast<unsigned long long>(to));
#else
  __atomic_compare_exchange_n(at, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return from;
#endif
}
VICINITY_HD std::uint64_t fetch_and(std::uint64_t* at, std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return atomicAnd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(bits));
#else
  return __atomic_fetch_and(at, bits, __ATOMIC_SEQ_CST);
#endif
}
VICINITY_HD void add_bits(std::uint64_t* at, std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  atomicOr(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(bits));
#else
  __atomic_fetch_or(at, bits, __ATOMIC_SEQ_CST);
#endif
}
VICINITY_HD std::uint32_t fetch_or(std::uint32_t* at, std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return atomicOr(at, bits);
#else
  return __atomic_fetch_or(at, bits, __ATOMIC_SEQ_CST);
#endif
}
VICINITY_HD void keep_bits(std::uint32_t* at, std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  atomicAnd(at, bits);
#else
  __atomic_fetch_and(at, bits, __ATOMIC_SEQ_CST);
#endif
}
VICINITY_HD std::uint32_t fetch_add(std::uint32_t* at, std::uint32_t number) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(at, number);
#else
  return __atomic_fetch_add(at, number, __ATOMIC_SEQ_CST);
#endif
}
VICINITY_HD void lessen(std::uint32_t* at, std::uint32_t number) {
#if defined(__CUDA_ARCH__)
  atomicMin(at, number);
#else
  for (std::uint32_t old = load(at);
       number < old && !__atomic_compare_exchange_n(at, &old, number, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);) {
  }
#endif
}
/// What this thread wrote others see before what it reads next.
VICINITY_HD void fence() {
#if defined(__CUDA_ARCH__)
  __threadfence_block();
#endif
}
[[nodiscard]] VICINITY_HD std::int32_t lowest_bit(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  return __ffsll(static_cast<long long>(word)) - 1;
#else
  return __builtin_ctzll(word);
#endif
}
[[nodiscard]] VICINITY_HD std::int32_t highest_bit(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  return 63 - __clzll(static_cast<long long>(word));
#else
  return 63 - __builtin_clzll(word);
#endif
}
[[nodiscard]] VICINITY_HD std::int32_t bits_of(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  return __popcll(word);
#else
  return __builtin_popcountll(word);
#endif
}

// --- what is searched

/// The bounds of a variable as one word.
struct Bounds {
  std::int32_t lower, upper;

  [[nodiscard]] VICINITY_HD static Bounds of(std::uint64_t word) {
    return {static_cast<std::int32_t>(static_cast<std::uint32_t>(word)), static_cast<std::int32_t>(static_cast<std::uint32_t>(word >> 32))};
  }
  [[nodiscard]] VICINITY_HD std::uint64_t word() const {
    return std::uint64_t{static_cast<std::uint32_t>(upper)} << 32 | static_cast<std::uint32_t>(lower);
  }
};

/// Sums with more arguments are propagated by all threads.
inline constexpr std::size_t long_sum = 64;
[[nodiscard]] inline bool is_costly(cp::Kind kind, std::size_t arguments) {
  return kind > cp::Kind::element_var || ((kind == cp::Kind::linear_le || kind == cp::Kind::linear_eq) && arguments > long_sum);
}

struct PhasesView {
  const std::int32_t* begin;  ///< [phase + 1]
  const cp::Var* variables;
  const VariableChoice* variable;  ///< [phase]
  const ValueChoice* value;        ///< [phase]
  std::int32_t count;
};

/// A model as teams see it.
struct ModelView {
  cp::NetworkView network;      ///< upper bounds and masks at the fixpoint of the root; bit 0 is `lower` all the same
  const std::uint64_t* bounds;  ///< [variable] at that fixpoint
  const std::int32_t* degree;   ///< [variable]
  const std::uint32_t* costly;  ///< a bit a constraint: it waits until no other does
  const std::int32_t* list;     ///< of these constraints
  std::uint32_t costlies;
  PhasesView phases;
  cp::Var objective;
  bool maximise;
  std::int64_t most_nodes, most_failures;
};

/// A neighbourhood.
struct Job {
  const cp::Var* kept;
  std::int32_t count;  ///< of kept
  std::int64_t bound;  ///< the worst objective that is acceptable
  std::uint64_t seed;
  RepairValues values;
  bool guided, one;
};

struct JobResult {
  std::int64_t nodes, failures;
  bool found;  ///< `best` in the team's memory is a solution
  bool exhausted;
  bool done;  ///< false: stopped, or the memory is full; nothing else counts
};

/// The arrays of a view, in the host's memory.
struct ModelArrays {
  ModelArrays(const cp::Model& model, const cp::CompiledModel& compiled) : network(*compiled.network), root(cp::root_domains(network)) {
    const cp::NetworkView host = network.view();
    if (root.failed) return;  // then nothing is searched
    for (std::size_t x = 0; x < root.lower.size(); ++x) {
      bounds.push_back(Bounds{root.lower[x], root.upper[x]}.word());
      degree.push_back(network.degree(static_cast<cp::Var>(x)));
    }
    costly.assign((static_cast<std::size_t>(host.constraints) + 31) / 32, 0);
    for (std::int32_t c = 0; c < host.constraints; ++c)
      if (is_costly(host.kind[c], cp::scope_of(host, c).arguments.size())) {
        costly[static_cast<std::size_t>(c) / 32] |= 1u << (c % 32);
        list.push_back(c);
      }
    for (const Phase& phase : strategy_of(model, compiled).phases) {
      variables.insert(variables.end(), phase.variables.begin(), phase.variables.end());
      begin.push_back(static_cast<std::int32_t>(variables.size()));
      variable.push_back(phase.variable);
      value.push_back(phase.value);
    }
    view.network = host;
    view.network.upper = root.upper.data();
    view.network.mask = root.mask.data();
    view.bounds = bounds.data();
    view.degree = degree.data();
    view.costly = costly.data();
    view.list = list.data();
    view.costlies = static_cast<std::uint32_t>(list.size());
    view.phases = {begin.data(), variables.data(), variable.data(), value.data(), static_cast<std::int32_t>(variable.size())};
    view.objective = compiled.objective;
    view.maximise = model.goal == cp::Goal::maximise;
    view.most_nodes = most_nodes;
    view.most_failures = most_failures;
  }
  ModelArrays(const ModelArrays&) = delete;
  ModelArrays& operator=(const ModelArrays&) = delete;

  const cp::Network& network;
  cp::RootDomains root;
  std::vector<std::uint64_t> bounds;
  std::vector<std::int32_t> degree, list, begin{0};
  std::vector<std::uint32_t> costly;
  std::vector<cp::Var> variables;
  std::vector<VariableChoice> variable;
  std::vector<ValueChoice> value;
  ModelView view{};
};

// --- memory of a team

struct TrailEntry {
  std::uint64_t old;
  std::uint64_t slot;  ///< a variable, or beyond them a word
};
struct DecisionNode {
  std::int64_t value;
  std::uint32_t trail;
  cp::Var variable;
  Decision::Kind kind;
  std::int32_t phase, first;
};
/// Of a variable that might be decided next.
struct Candidate {
  std::int64_t a, b;
  std::int32_t position;  ///< -1: none
};
/// What all threads see.
struct Board {
  std::uint32_t queued[2];  ///< constraints in each queue
  std::uint32_t trail;      ///< entries; more than there is memory for: full
  std::uint32_t costly;     ///< some of these wait
  std::uint32_t first, fixed, stop;
};

struct TeamMemory {
  // Near.
  Board* board;
  Candidate* slots;  ///< [thread]
  std::uint64_t *bounds, *mask;
  std::uint32_t* waits;  ///< a bit a constraint
  // Far.
  std::int32_t* queue[2];  ///< [constraint]
  TrailEntry* trail;
  DecisionNode* nodes;
  std::int32_t *weights, *best;  ///< [variable]
  cp::rules::Workspace work;

  struct Sizes {
    std::size_t threads, variables, words, constraints, trail, nodes;
    cp::rules::WorkspaceSizes work;

    Sizes() = default;
    Sizes(const cp::NetworkView& network, std::size_t of_threads)
        : threads(of_threads),
          variables(static_cast<std::size_t>(network.variables)),
          words(static_cast<std::size_t>(network.mask_words)),
          constraints(static_cast<std::size_t>(network.constraints)),
          trail(8 * variables + 2 * words + 4096),
          nodes(std::min<std::size_t>(4 * variables + 256, 1 << 15)),
          work(network) {}

    [[nodiscard]] VICINITY_HD std::size_t near_bytes() const {
      return Parts::rounded(sizeof(Board)) + threads * sizeof(Candidate) + 8 * variables + 8 * words +
             Parts::rounded((constraints + 31) / 32 * 4);
    }
    [[nodiscard]] VICINITY_HD std::size_t far_bytes() const {
      return 2 * Parts::rounded(4 * constraints) + trail * sizeof(TrailEntry) + nodes * sizeof(DecisionNode) +
             2 * Parts::rounded(4 * variables) + 8 * work.values + Parts::rounded(4 * work.order) + Parts::rounded(4 * work.links) +
             8 * work.words;
    }
  };
  VICINITY_HD TeamMemory(unsigned char* near, unsigned char* far, const Sizes& sizes) {
    Parts parts(near);
    board = parts.take<Board>(1);
    slots = parts.take<Candidate>(sizes.threads);
    bounds = parts.take<std::uint64_t>(sizes.variables);
    mask = parts.take<std::uint64_t>(sizes.words);
    waits = parts.take<std::uint32_t>((sizes.constraints + 31) / 32);
    Parts more(far);
    queue[0] = more.take<std::int32_t>(sizes.constraints);
    queue[1] = more.take<std::int32_t>(sizes.constraints);
    trail = more.take<TrailEntry>(sizes.trail);
    nodes = more.take<DecisionNode>(sizes.nodes);
    weights = more.take<std::int32_t>(sizes.variables);
    best = more.take<std::int32_t>(sizes.variables);
    work.values = more.take<std::int64_t>(sizes.work.values);
    work.order = more.take<std::int32_t>(sizes.work.order);
    work.links = more.take<std::int32_t>(sizes.work.links);
    work.words = more.take<std::uint64_t>(sizes.work.words);
  }
};
static_assert(sizeof(Candidate) % 8 == 0 && sizeof(TrailEntry) % 8 == 0 && sizeof(DecisionNode) % 8 == 0);

// --- domains

/// The domains of a team as one thread sees them: as cp::Store, but that others change them, too. What changes wakes constraints.
class TeamDomains {
 public:
  VICINITY_HD TeamDomains(const ModelView& model, const TeamMemory& memory, std::uint32_t most_trail)
      : network_(model.network), memory_(memory), costly_(model.costly), most_trail_(most_trail) {}

  /// Those that are woken from here on are put into that queue.
  VICINITY_HD void wake_into(std::int32_t turn) { turn_ = turn; }

  [[nodiscard]] VICINITY_HD std::int64_t lower(cp::Var x) const { return bounds(x).lower; }
  [[nodiscard]] VICINITY_HD std::int64_t upper(cp::Var x) const { return bounds(x).upper; }
  [[nodiscard]] VICINITY_HD bool is_fixed(cp::Var x) const {
    const Bounds b = bounds(x);
    return b.lower == b.upper;
  }
  [[nodiscard]] VICINITY_HD bool masked(cp::Var x) const { return network_.mask_begin[x] >= 0; }
  [[nodiscard]] VICINITY_HD bool contains(cp::Var x, std::int64_t v) const {
    const Bounds b = bounds(x);
    if (v < b.lower || v > b.upper) return false;
    return !masked(x) || (load(word_of(x, v)) >> (offset(x, v) % 64) & 1) != 0;
  }
  /// The least element from v on; where there is none, the upper bound of the root.
  [[nodiscard]] VICINITY_HD_CALLED std::int64_t next(cp::Var x, std::int64_t v) const {
    if (!masked(x)) return v;
    const std::int64_t last = network_.upper[x];
    std::uint64_t word = load(word_of(x, v)) >> (offset(x, v) % 64);
    if (word == 0) {
      v -= static_cast<std::int64_t>(offset(x, v) % 64);
      while (word == 0) {
        v += 64;
        if (v > last) return last;
        word = load(word_of(x, v));
      }
    }
    v += lowest_bit(word);
    return v < last ? v : last;
  }
  /// The greatest element up to v; where there is none, the lower bound of the mask.
  [[nodiscard]] VICINITY_HD_CALLED std::int64_t previous(cp::Var x, std::int64_t v) const {
    if (!masked(x)) return v;
    const std::int64_t first = network_.lower[x];
    std::uint64_t word = load(word_of(x, v)) << (63 - offset(x, v) % 64);
    if (word != 0) return v - (63 - highest_bit(word));
    v -= static_cast<std::int64_t>(offset(x, v) % 64) + 1;
    for (; v >= first; v -= 64)
      if (word = load(word_of(x, v)); word != 0) return v - (63 - highest_bit(word));
    return first;
  }
  /// How many elements.
  [[nodiscard]] VICINITY_HD_CALLED std::int64_t size(cp::Var x) const {
    const Bounds b = bounds(x);
    if (!masked(x) || b.lower == b.upper) return std::int64_t{b.upper} - b.lower + 1;
    const std::uint64_t first = offset(x, b.lower), last = offset(x, b.upper);
    std::int64_t count = 0;
    for (std::uint64_t w = first / 64; w <= last / 64; ++w) {
      std::uint64_t word = load(memory_.mask + network_.mask_begin[x] + w);
      if (w == first / 64) word &= ~std::uint64_t{0} << (first % 64);
      if (w == last / 64) word &= ~std::uint64_t{0} >> (63 - last % 64);
      count += bits_of(word);
    }
    return count;
  }

  [[nodiscard]] VICINITY_HD_CALLED bool raise(cp::Var x, std::int64_t v) {
    for (;;) {
      const std::uint64_t old = load(memory_.bounds + x);
      const Bounds b = Bounds::of(old);
      if (v <= b.lower) return true;
      if (v > b.upper) return false;
      const std::int64_t to = next(x, v);
      if (to > b.upper) return false;
      if (swap(x, old, {static_cast<std::int32_t>(to), b.upper})) return settle(x);
    }
  }
  [[nodiscard]] VICINITY_HD_CALLED bool cut(cp::Var x, std::int64_t v) {
    for (;;) {
      const std::uint64_t old = load(memory_.bounds + x);
      const Bounds b = Bounds::of(old);
      if (v >= b.upper) return true;
      if (v < b.lower) return false;
      const std::int64_t to = previous(x, v);
      if (to < b.lower) return false;
      if (swap(x, old, {b.lower, static_cast<std::int32_t>(to)})) return settle(x);
    }
  }
  [[nodiscard]] VICINITY_HD_CALLED bool assign(cp::Var x, std::int64_t v) {
    for (;;) {
      const std::uint64_t old = load(memory_.bounds + x);
      const Bounds b = Bounds::of(old);
      if (!contains(x, v)) return false;
      if (b.lower == b.upper) return true;
      const auto to = static_cast<std::int32_t>(v);
      if (swap(x, old, {to, to})) return settle(x);
    }
  }
  [[nodiscard]] VICINITY_HD_CALLED bool remove(cp::Var x, std::int64_t v) {
    const Bounds b = bounds(x);
    if (v < b.lower || v > b.upper) return true;
    if (b.lower == b.upper) return false;
    if (v == b.lower) return raise(x, v + 1);
    if (v == b.upper) return cut(x, v - 1);
    if (!masked(x)) return true;
    std::uint64_t* const word = word_of(x, v);
    const std::uint64_t one = std::uint64_t{1} << (offset(x, v) % 64), old = fetch_and(word, ~one);
    if ((old & one) == 0) return true;
    note(static_cast<std::uint64_t>(network_.variables) + static_cast<std::uint64_t>(word - memory_.mask), old);
    wake(x, cp::hole);
    return settle(x);
  }

  /// Takes a change back, in any order with others.
  VICINITY_HD void restore(const TrailEntry& entry) {
    if (entry.slot >= static_cast<std::uint64_t>(network_.variables)) {
      add_bits(memory_.mask + (entry.slot - static_cast<std::uint64_t>(network_.variables)), entry.old);
      return;
    }
    std::uint64_t* const at = memory_.bounds + entry.slot;
    const Bounds old = Bounds::of(entry.old);
    for (;;) {
      const std::uint64_t now = load(at);
      const Bounds b = Bounds::of(now);
      const Bounds joined{b.lower < old.lower ? b.lower : old.lower, b.upper > old.upper ? b.upper : old.upper};
      if (joined.word() == now || compare_and_swap(at, now, joined.word()) == now) return;
    }
  }

 private:
  [[nodiscard]] VICINITY_HD Bounds bounds(cp::Var x) const { return Bounds::of(load(memory_.bounds + x)); }
  [[nodiscard]] VICINITY_HD std::uint64_t offset(cp::Var x, std::int64_t v) const {
    return static_cast<std::uint64_t>(v - network_.lower[x]);
  }
  [[nodiscard]] VICINITY_HD std::uint64_t* word_of(cp::Var x, std::int64_t v) const {
    return memory_.mask + (static_cast<std::uint64_t>(network_.mask_begin[x]) + offset(x, v) / 64);
  }
  /// False: another thread was faster.
  [[nodiscard]] VICINITY_HD bool swap(cp::Var x, std::uint64_t old, const Bounds& to) {
    if (compare_and_swap(memory_.bounds + x, old, to.word()) != old) return false;
    note(static_cast<std::uint64_t>(x), old);
    const Bounds b = Bounds::of(old);
    wake(x, (to.lower > b.lower ? cp::raised : 0) | (to.upper < b.upper ? cp::Event::cut : 0) | (to.lower == to.upper ? cp::fixed : 0));
    return true;
  }
  /// Are bounds elements? Of two threads, one of which moves an end to a value while the other takes that away, the last to look here sees
  /// both. False: no element is left.
  [[nodiscard]] VICINITY_HD bool settle(cp::Var x) {
    if (!masked(x)) return true;
    fence();
    for (;;) {
      const std::uint64_t old = load(memory_.bounds + x);
      const Bounds b = Bounds::of(old);
      const bool at_lower = (load(word_of(x, b.lower)) >> (offset(x, b.lower) % 64) & 1) != 0;
      const bool at_upper = (load(word_of(x, b.upper)) >> (offset(x, b.upper) % 64) & 1) != 0;
      if (at_lower && at_upper) return true;
      const std::int64_t low = next(x, b.lower), high = previous(x, b.upper);
      if (low > high) return false;
      if (swap(x, old, {static_cast<std::int32_t>(low), static_cast<std::int32_t>(high)})) fence();
    }
  }
  VICINITY_HD void note(std::uint64_t slot, std::uint64_t old) {
    const std::uint32_t at = fetch_add(&memory_.board->trail, 1);
    if (at < most_trail_) memory_.trail[at] = {old, slot};
  }
  VICINITY_HD_CALLED void wake(cp::Var x, int events) {
    for (auto w = network_.watch_begin[x]; w < network_.watch_begin[x + 1]; ++w) {
      if ((network_.watches[w] & static_cast<unsigned>(events)) == 0) continue;
      const std::uint32_t c = network_.watches[w] >> 4, bit = 1u << (c % 32);
      if ((load(memory_.waits + c / 32) & bit) != 0 || (fetch_or(memory_.waits + c / 32, bit) & bit) != 0) continue;
      if ((costly_[c / 32] & bit) != 0)
        store(&memory_.board->costly, 1u);
      else
        memory_.queue[turn_][fetch_add(&memory_.board->queued[turn_], 1)] = static_cast<std::int32_t>(c);
    }
  }

  cp::NetworkView network_;  // copies: one step less to what they point to
  TeamMemory memory_;
  const std::uint32_t* costly_;
  std::uint32_t most_trail_;
  std::int32_t turn_ = 0;
};

// --- the search

template <Team T>
class TeamSearch {
 public:
  VICINITY_HD TeamSearch(const T& team, const ModelView& model, const TeamMemory& memory, const TeamMemory::Sizes& sizes, StopWord& stop)
      : team_(team),
        model_(model),
        network_(model.network),
        memory_(memory),
        most_trail_(static_cast<std::uint32_t>(sizes.trail)),
        most_depth_(static_cast<std::int32_t>(sizes.nodes)),
        stop_(stop),
        domains_(model, memory, most_trail_) {}
  TeamSearch(const TeamSearch&) = delete;
  TeamSearch& operator=(const TeamSearch&) = delete;

  /// `incumbent`: [variable].
  VICINITY_HD JobResult search(const Job& job, const std::int32_t* incumbent) {
    job_ = job;
    bound_ = job.bound;
    begin(incumbent);
    bool open = apply_bound() && propagate();
    commit();
    if (open) fix();
    while (open && !ended_) {
      if (nodes_ >= model_.most_nodes || failures_ >= model_.most_failures) break;
      Decision decision;
      if (choose(decision)) {
        open = descend(decision) || backtrack();
        continue;
      }
      if (ended_) break;
      note_solution();
      if (job_.one) break;
      open = backtrack();
    }
    team_.sync();
    return {nodes_, failures_, found_, !open, !ended_};
  }

 private:
  [[nodiscard]] VICINITY_HD bool leads() const { return team_.rank() == 0; }
  /// visit(k) for [0, count), dealt to the team.
  template <class Visit>
  VICINITY_HD void for_own(std::int64_t count, const Visit& visit) const {
    for (std::int64_t k = team_.rank(); k < count; k += team_.size()) visit(k);
  }

  VICINITY_HD void begin(const std::int32_t* incumbent) {
    nodes_ = failures_ = 0;
    depth_ = phase_ = first_ = 0;
    turn_ = 0;
    domains_.wake_into(turn_);
    draws_ = 0;
    found_ = ended_ = false;
    decided_ = 0;
    team_.sync();
    for_own(network_.variables, [&](std::int64_t x) {
      memory_.bounds[x] = model_.bounds[x];
      memory_.weights[x] = model_.degree[x];
      memory_.best[x] = incumbent[x];
    });
    for_own(network_.mask_words, [&](std::int64_t w) { memory_.mask[w] = network_.mask[w]; });
    for_own((network_.constraints + 31) / 32, [&](std::int64_t w) { memory_.waits[w] = 0; });
    if (leads()) *memory_.board = {{0, 0}, 0, 0, ~0u, 0, 0};
    team_.sync();
  }

  // --- propagation

  /// To the fixpoint. False: it fails, or the search has ended.
  [[nodiscard]] VICINITY_HD_CALLED bool propagate() {
    Board& board = *memory_.board;
    team_.sync();
    for (;;) {
      const std::uint32_t count = load(&board.queued[turn_]), costly = load(&board.costly);
      const std::int32_t* const queue = memory_.queue[turn_];
      for_own(count, [&](std::int64_t k) { keep_bits(memory_.waits + queue[k] / 32, ~(1u << (queue[k] % 32))); });
      team_.sync();
      if (count == 0 && costly == 0) return true;
      if (count > 0) {
        if (leads()) store(&board.queued[turn_], 0u);
        turn_ = 1 - turn_;
        domains_.wake_into(turn_);
      }
      if (++passes_ % 16 == 0 && leads() && stop_.is_set()) store(&board.stop, 1u);
      const bool failed = count > 0 ? pass_fails(queue, count) : costly_fails();
      const bool any_failed = team_.any(failed);
      ended_ = load(&board.stop) != 0 || load(&board.trail) > most_trail_;
      if (any_failed || ended_) {
        forget();
        return false;
      }
    }
  }
  [[nodiscard]] VICINITY_HD bool pass_fails(const std::int32_t* queue, std::uint32_t count) {
    bool failed = false;
    for (auto k = static_cast<std::uint32_t>(team_.rank()); k < count && !failed; k += static_cast<std::uint32_t>(team_.size()))
      failed = !propagate_simple(queue[k]);
    return failed;
  }
  [[nodiscard]] VICINITY_HD_CALLED bool propagate_simple(std::int32_t c) {
    return cp::rules::propagate_simple(network_.kind[c], cp::scope_of(network_, c), domains_);
  }
  [[nodiscard]] VICINITY_HD_CALLED bool propagate_global(std::int32_t c) {
    return cp::rules::propagate_global(network_.kind[c], cp::scope_of(network_, c), domains_, memory_.work);
  }
  /// The first of those that wait for all others.
  [[nodiscard]] VICINITY_HD bool costly_fails() {
    Board& board = *memory_.board;
    for (auto k = static_cast<std::uint32_t>(team_.rank()); k < model_.costlies; k += static_cast<std::uint32_t>(team_.size()))
      if (const std::int32_t c = model_.list[k]; (load(memory_.waits + c / 32) >> (c % 32) & 1) != 0) {
        lessen(&board.first, k);
        break;
      }
    team_.sync();
    const std::uint32_t first = load(&board.first);
    team_.sync();
    const bool none = first == ~0u;
    const std::int32_t c = none ? 0 : model_.list[first];
    if (leads()) {
      store(&board.first, ~0u);
      if (none)
        store(&board.costly, 0u);
      else
        keep_bits(memory_.waits + c / 32, ~(1u << (c % 32)));
    }
    if (none) return false;
    team_.sync();
    const cp::Kind kind = network_.kind[c];
    if (kind == cp::Kind::linear_le || kind == cp::Kind::linear_eq)
      return sum_fails(cp::scope_of(network_, c), kind == cp::Kind::linear_eq);
    if (kind == cp::Kind::all_different) return different_fails(cp::scope_of(network_, c).arguments);
    return leads() && !propagate_global(c);
  }
  /// As rules::linear_le and linear_eq, by all.
  [[nodiscard]] VICINITY_HD_CALLED bool sum_fails(const cp::Scope& scope, bool equal) {
    const cp::Literal r = scope.arguments[0];
    const bool holds = cp::is_true(domains_, r);
    if (cp::is_false(domains_, r)) return false;
    const std::int64_t c = scope.data[0];
    cp::rules::Sums sums = sums_of(scope);
    if (sums.low > c || (equal && sums.high < c)) return leads() && !cp::set_false(domains_, r);
    if (!holds) return false;
    bool failed = false;
    const auto x = scope.arguments.subspan(1);
    const auto a = scope.data.subspan(1);
    const std::int64_t slack = c - sums.low;
    for_own(static_cast<std::int64_t>(x.size()), [&](std::int64_t k) {
      const auto at = static_cast<std::size_t>(k);
      if (!cp::rules::cut_terms(x.subspan(at, 1), a.subspan(at, 1), slack, domains_)) failed = true;
    });
    if (!equal) return failed;
    sums = sums_of(scope);
    if (sums.high < c) return true;
    const std::int64_t fall = sums.high - c;
    for_own(static_cast<std::int64_t>(x.size()), [&](std::int64_t k) {
      const auto at = static_cast<std::size_t>(k);
      if (!cp::rules::raise_terms(x.subspan(at, 1), a.subspan(at, 1), fall, domains_)) failed = true;
    });
    return failed;
  }
  [[nodiscard]] VICINITY_HD cp::rules::Sums sums_of(const cp::Scope& scope) const {
    std::int64_t low = 0, high = 0;
    team_.sync();
    for_own(static_cast<std::int64_t>(scope.arguments.size()) - 1, [&](std::int64_t k) {
      const auto at = static_cast<std::size_t>(k) + 1;
      const cp::rules::Sums one = cp::rules::sums_of(scope.arguments.subspan(at, 1), scope.data.subspan(at, 1), domains_);
      low += one.low;
      high += one.high;
    });
    return {team_.sum(low), team_.sum(high), 0};
  }
  /// As rules::all_different, by all: each variable loses the values of all others that are fixed. What that fixes wakes it again.
  [[nodiscard]] VICINITY_HD_CALLED bool different_fails(std::span<const std::int32_t> x) {
    if (leads()) store(&memory_.board->fixed, 0u);
    team_.sync();
    const auto n = static_cast<std::int64_t>(x.size());
    for_own(n, [&](std::int64_t k) {
      if (!domains_.is_fixed(x[static_cast<std::size_t>(k)])) return;
      const std::uint32_t at = fetch_add(&memory_.board->fixed, 1);
      memory_.work.order[at] = static_cast<std::int32_t>(k);
      memory_.work.values[at] = domains_.lower(x[static_cast<std::size_t>(k)]);
    });
    team_.sync();
    const std::uint32_t count = load(&memory_.board->fixed);
    bool failed = false;
    for_own(n, [&](std::int64_t k) {
      for (std::uint32_t other = 0; other < count && !failed; ++other)
        if (memory_.work.order[other] != k) failed = !domains_.remove(x[static_cast<std::size_t>(k)], memory_.work.values[other]);
    });
    return failed;
  }
  /// Nothing waits any more.
  VICINITY_HD void forget() {
    team_.sync();
    for_own((network_.constraints + 31) / 32, [&](std::int64_t w) { memory_.waits[w] = 0; });
    if (leads()) {
      Board& board = *memory_.board;
      board.queued[0] = board.queued[1] = board.costly = 0;
      board.first = ~0u;
    }
    team_.sync();
  }
  /// As propagate(), in the tree.
  [[nodiscard]] VICINITY_HD bool go_down() {
    if (propagate()) return true;
    if (ended_) return false;
    ++failures_;
    if (leads()) ++memory_.weights[decided_];
    return false;
  }

  // --- the trail

  [[nodiscard]] VICINITY_HD std::uint32_t mark() const {
    team_.sync();
    return load(&memory_.board->trail);
  }
  /// Nothing that has happened is taken back any more.
  VICINITY_HD void commit() {
    team_.sync();
    if (leads()) store(&memory_.board->trail, 0u);
    team_.sync();
  }
  VICINITY_HD_CALLED void undo(std::uint32_t mark) {
    team_.sync();
    const std::uint32_t end = load(&memory_.board->trail) < most_trail_ ? load(&memory_.board->trail) : most_trail_;
    for (std::uint32_t k = mark + static_cast<std::uint32_t>(team_.rank()); k < end; k += static_cast<std::uint32_t>(team_.size()))
      domains_.restore(memory_.trail[k]);
    team_.sync();
    if (leads()) store(&memory_.board->trail, mark);
    team_.sync();
  }

  // --- decisions

  [[nodiscard]] VICINITY_HD bool bounded() {
    return model_.maximise ? domains_.raise(model_.objective, bound_) : domains_.cut(model_.objective, bound_);
  }
  /// By one thread. False: it cannot hold.
  template <class Change>
  [[nodiscard]] VICINITY_HD bool applied(const Change& change) {
    team_.sync();
    const bool failed = team_.any(leads() && !change());
    if (failed) forget();
    return !failed;
  }
  [[nodiscard]] VICINITY_HD bool apply_bound() {
    return applied([&] { return bounded(); });
  }

  /// As many at once as can be; what fails is halved until one alone does.
  VICINITY_HD void fix() {
    std::int32_t count = job_.count;
    for (std::int32_t first = 0; first < job_.count && !ended_;) {
      count = count < job_.count - first ? count : job_.count - first;
      bool failed = false;
      for_own(count, [&](std::int64_t k) {
        const cp::Var x = job_.kept[first + k];
        if (!domains_.assign(x, memory_.best[x])) failed = true;
      });
      if (team_.any(failed)) {
        forget();
      } else if (propagate()) {
        commit();
        first += count;
        count *= 2;
        continue;
      }
      undo(0);
      if (count == 1) ++first;
      count = (count + 1) / 2;
    }
  }

  [[nodiscard]] VICINITY_HD bool descend(const Decision& decision) {
    ++nodes_;
    decided_ = decision.variable;
    if (depth_ == most_depth_) {
      ended_ = true;
      return false;
    }
    const std::uint32_t at = mark();
    if (leads()) memory_.nodes[depth_] = {decision.value, at, decision.variable, decision.kind, phase_, first_};
    ++depth_;
    return applied([&] { return decision.apply(domains_); }) && go_down();
  }
  /// Takes decisions back until the opposite of one can hold.
  [[nodiscard]] VICINITY_HD bool backtrack() {
    while (depth_ > 0 && !ended_) {
      const DecisionNode& node = memory_.nodes[--depth_];
      undo(node.trail);
      phase_ = node.phase;
      first_ = node.first;
      decided_ = node.variable;
      const Decision opposite = Decision{node.kind, node.variable, node.value}.opposite();
      if (applied([&] { return opposite.apply(domains_) && bounded(); }) && go_down()) return true;
    }
    return false;
  }

  /// False: all variables are fixed, or the search has ended.
  [[nodiscard]] VICINITY_HD bool choose(Decision& decision) {
    for (; phase_ < model_.phases.count; ++phase_, first_ = 0) {
      const cp::Var x = select();
      if (x < 0) continue;
      if (job_.values == RepairValues::impact) {
        const bool decided = decide_by_impact(x, decision);
        if (decided || ended_) return decided;
      }
      const ValueChoice own = model_.phases.value[phase_];
      const std::int64_t saved = memory_.best[x];
      ValueChoice choice = own;
      if (job_.values == RepairValues::random) choice = ValueChoice::random;
      if (job_.values == RepairValues::incumbent) choice = ValueChoice::saved;
      if (choice == ValueChoice::saved && !domains_.contains(x, saved)) choice = own;
      const bool draws = choice == ValueChoice::random || choice == ValueChoice::split_random;
      decision = decision_on(domains_, x, choice, draws ? random_bits(job_.seed, draws_++, 0, 0) : 0, saved);
      return true;
    }
    phase_ = model_.phases.count - 1;
    return false;
  }
  /// Each value is tried: one node each. False: the domain is too large, or no value is left.
  [[nodiscard]] VICINITY_HD bool decide_by_impact(cp::Var x, Decision& decision) {
    const std::int64_t last = domains_.upper(x);
    if (domains_.size(x) > most_tried) return false;
    bool any = false;
    std::int64_t best = 0, value = 0;
    for (std::int64_t v = domains_.lower(x); v <= last; ++v) {
      v = domains_.next(x, v);
      ++nodes_;
      const std::uint32_t at = mark();
      if (applied([&] { return domains_.assign(x, v); }) && propagate()) {
        const std::int64_t bound = model_.maximise ? -domains_.upper(model_.objective) : domains_.lower(model_.objective);
        if (!any || bound < best) {
          best = bound;
          value = v;
        }
        any = true;
      }
      if (ended_) return false;
      undo(at);
    }
    if (any) decision = decision_on(domains_, x, ValueChoice::saved, 0, value);
    return any;
  }

  /// The next variable of the phase; -1: all are fixed.
  [[nodiscard]] VICINITY_HD_CALLED cp::Var select() {
    const VariableChoice choice = job_.guided ? VariableChoice::dom_w_deg : model_.phases.variable[phase_];
    const cp::Var* const variables = model_.phases.variables + model_.phases.begin[phase_];
    const std::int32_t n = model_.phases.begin[phase_ + 1] - model_.phases.begin[phase_];
    const bool in_order = choice == VariableChoice::input_order;
    Candidate best{0, 0, -1};
    for (std::int32_t k = (in_order ? first_ : 0) + team_.rank(); k < n; k += team_.size()) {
      const cp::Var x = variables[k];
      if (domains_.is_fixed(x)) continue;
      const Candidate one = candidate(choice, x, k);
      if (best.position < 0 || before(choice, one, best)) best = one;
      if (in_order) break;
    }
    memory_.slots[team_.rank()] = best;
    team_.sync();
    for (std::int32_t step = 1; step < team_.size(); step *= 2) {
      const std::int32_t mine = team_.rank();
      if (mine % (2 * step) == 0 && mine + step < team_.size()) {
        const Candidate& other = memory_.slots[mine + step];
        if (other.position >= 0 && (memory_.slots[mine].position < 0 || before(choice, other, memory_.slots[mine])))
          memory_.slots[mine] = other;
      }
      team_.sync();
    }
    const std::int32_t position = memory_.slots[0].position;
    team_.sync();
    if (position < 0) return -1;
    if (in_order) first_ = position;
    return variables[position];
  }
  [[nodiscard]] VICINITY_HD Candidate candidate(VariableChoice choice, cp::Var x, std::int32_t position) const {
    switch (choice) {
      case VariableChoice::input_order:
        break;
      case VariableChoice::first_fail:
      case VariableChoice::anti_first_fail:
        return {domains_.size(x), 0, position};
      case VariableChoice::smallest:
        return {domains_.lower(x), 0, position};
      case VariableChoice::largest:
        return {domains_.upper(x), 0, position};
      case VariableChoice::occurrence:
        return {model_.degree[x], 0, position};
      case VariableChoice::most_constrained:
        return {domains_.size(x), model_.degree[x], position};
      case VariableChoice::max_regret:
        return {domains_.next(x, domains_.lower(x) + 1) - domains_.lower(x), 0, position};
      case VariableChoice::dom_w_deg:
        return {domains_.size(x), memory_.weights[x], position};
    }
    return {0, 0, position};
  }
  /// Does p come before q?
  [[nodiscard]] VICINITY_HD static bool before(VariableChoice choice, const Candidate& p, const Candidate& q) {
    const bool first = p.position < q.position;
    switch (choice) {
      case VariableChoice::input_order:
        break;
      case VariableChoice::first_fail:
      case VariableChoice::smallest:
        return p.a != q.a ? p.a < q.a : first;
      case VariableChoice::anti_first_fail:
      case VariableChoice::largest:
      case VariableChoice::occurrence:
      case VariableChoice::max_regret:
        return p.a != q.a ? p.a > q.a : first;
      case VariableChoice::most_constrained:
        return p.a != q.a ? p.a < q.a : p.b != q.b ? p.b > q.b : first;
      case VariableChoice::dom_w_deg: {  // a size below 2^33, a weight below 2^31
        const std::uint64_t mine = static_cast<std::uint64_t>(p.a) * static_cast<std::uint64_t>(q.b);
        const std::uint64_t other = static_cast<std::uint64_t>(q.a) * static_cast<std::uint64_t>(p.b);
        return mine != other ? mine < other : first;
      }
    }
    return first;
  }

  VICINITY_HD void note_solution() {
    found_ = true;
    team_.sync();
    for_own(network_.variables,
            [&](std::int64_t x) { memory_.best[x] = static_cast<std::int32_t>(domains_.lower(static_cast<cp::Var>(x))); });
    bound_ = domains_.lower(model_.objective) + (model_.maximise ? 1 : -1);
    team_.sync();
  }

  T team_;
  const ModelView& model_;
  const cp::NetworkView& network_;
  const TeamMemory& memory_;
  std::uint32_t most_trail_;
  std::int32_t most_depth_;
  StopWord& stop_;
  TeamDomains domains_;
  Job job_{};
  std::int64_t bound_ = 0, nodes_ = 0, failures_ = 0;
  std::uint64_t draws_ = 0;
  std::uint32_t passes_ = 0;
  std::int32_t depth_ = 0, phase_ = 0, first_ = 0, turn_ = 0;
  cp::Var decided_ = 0;
  bool found_ = false;
  bool ended_ = false;  ///< stopped, or the memory is full
};

}  // namespace vicinity::lns::repair
