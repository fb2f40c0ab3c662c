#pragma once
// Successor generation as a library: a domain of one's own, in one file outside this tree, on the CPU. vicinity/fang.cuh has the twin for
// GPUs. (Koester, Gross, Krueger, "FANG: Fast and Efficient Successor-State Generation for Heuristic Optimization on GPUs", section 3.)
//
// A domain is a struct that satisfies StateDomain: variable types, words of a state, and a local heuristic for each type (LocalHeuristic,
// core/problems/fang_domains/heuristic.hpp: possibilities, rating, aggregator, weight, assignment). A call generates targets from sources:
// it clones a parent into each target, draws the target's successor value, and assigns the active variables one after the other, each a
// possibility with probability weight / sum of weights (sections 3.1 and 3.3).
//
// Shared with the system `fang`: the contract of heuristics, the buffers (States), successor values, decision values and the assignment
// order. So a call without masks generates what `cpu-serial` does. The loops here are the library's own.
//
// Numbers: whole ones, or floating point by core/util/unfused.hpp; else the twins may round differently.
#include <omp.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/problems/fang_domains/states.hpp"
#include "core/util/digest.hpp"
#include "core/util/error.hpp"
#include "core/util/hd.hpp"
#include "core/util/math.hpp"
#include "core/util/rng.hpp"

namespace vicinity::fang {

// --- what a user writes ------------------------------------------------------------------------------------------------

/// A domain. types(): the variable types in the order in which they are assigned. state_words(): 32-bit words of a state.
/// heuristics(place): a tuple of LocalHeuristics, one a type, with every array passed through `place` (std::span -> pointer), which leaves
/// it where it is on the host and copies it to a device. Arrays stay as they are while the domain is in use.
template <class D>
concept StateDomain = requires(const D domain) {
  { domain.types() } -> std::same_as<std::span<const VariableType>>;
  { domain.state_words() } -> std::same_as<std::uint32_t>;
  domain.heuristics(OnHost{});
};

/// A domain with a cost function: cost(place) is trivially copyable, and callable on host and device with the words of a state; less is
/// better.
template <class D>
concept CostDomain = StateDomain<D> && requires(const D domain, const std::int32_t* state) {
  { domain.cost(OnHost{})(state) } -> std::same_as<std::int64_t>;
};

/// One call: which targets come from which sources, and what takes part. A bit set has the bit of item i in word i / 32 at i % 32
/// (bit_set()); a span may be empty, and then stands for all.
struct Generation {
  std::uint64_t seed = 0;                          ///< of the successor values; another in each generation
  Order order = Order::fixed;                      ///< of the assignment (section 3.5)
  std::span<const std::uint32_t> parents{};        ///< [targets] source of each; empty: as many successors of each source, in order;
                                                   ///< the targets are a multiple of the sources then
  std::span<const std::uint32_t> states{};         ///< bits of the targets; one left out stays a clone of its parent
  std::span<const std::uint32_t> variables{};      ///< active ones: bit sets of the types one after the other, [active words] for all
                                                   ///< targets, or [targets][active words]
  std::span<const std::uint32_t> possibilities{};  ///< bit set of each variable, types in order: [variables][bit_words(possibilities)].
                                                   ///< What is left out is neither rated nor aggregated
};

/// The bit set of the i in [0, count) for which `contains` holds.
template <class Contains>
[[nodiscard]] std::vector<std::uint32_t> bit_set(std::uint32_t count, Contains contains) {
  std::vector<std::uint32_t> bits(bit_words(count));
  for (std::uint32_t i = 0; i < count; ++i) bits[i / 32] |= static_cast<std::uint32_t>(contains(i) ? 1 : 0) << (i % 32);
  return bits;
}
VICINITY_HD bool is_set(const std::uint32_t* bits, std::uint32_t i) { return (bits[i / 32] >> (i % 32) & 1u) != 0; }

/// Words of a state's active variables: a bit set a type.
[[nodiscard]] inline std::uint32_t active_words(std::span<const VariableType> types) {
  std::uint32_t words = 0;
  for (const VariableType& type : types) words += bit_words(type.variables);
  return words;
}

/// `count` states of the domain, all words 0.
template <StateDomain D>
[[nodiscard]] States make_states(const D& domain, std::uint32_t count) {
  return {count, domain.state_words(), active_words(domain.types())};
}

// --- random numbers ----------------------------------------------------------------------------------------------------

/// XorShift1024*, the paper's other generator (section 3.8; Vigna, "An experimental exploration of Marsaglia's xorshift generators,
/// scrambled", ACM TOMS 42, 2016): 1024 bits, never all zero.
struct XorShift1024Star {
  std::uint64_t word[16];
  std::uint32_t position;

  /// What next() returns.
  VICINITY_HD std::uint64_t peek() const { return stepped() * 1181783497276652981ull; }
  VICINITY_HD std::uint64_t next() {
    const std::uint64_t value = stepped();
    position = (position + 1) % 16;
    word[position] = value;
    return value * 1181783497276652981ull;
  }

 private:
  VICINITY_HD std::uint64_t stepped() const {
    const std::uint64_t oldest = word[(position + 1) % 16], mixed = oldest ^ oldest << 31, newest = word[position];
    return mixed ^ newest ^ mixed >> 11 ^ newest >> 30;
  }
};

/// The generators that make a state's decisions, from its successor value on. XorShift64Star is what the system `fang` has.
template <class G>
concept Generator = std::same_as<G, XorShift64Star> || std::same_as<G, XorShift1024Star>;

/// The generator of a state when a variable type begins: the successor value is its state, or XorShift64* fills it from that.
template <Generator G>
VICINITY_HD G seeded(std::uint64_t successor) {
  XorShift64Star source{successor};
  if constexpr (std::same_as<G, XorShift64Star>) {
    return source;
  } else {
    G generator{};
    for (std::uint64_t& word : generator.word) word = source.next();
    return generator;
  }
}
/// The successor value that a state keeps when its type is done; never zero.
VICINITY_HD std::uint64_t kept(const XorShift64Star& generator) { return generator.state; }
VICINITY_HD std::uint64_t kept(const XorShift1024Star& generator) {
  const std::uint64_t value = generator.peek();
  return value == 0 ? 1 : value;
}

// --- what the twins share ----------------------------------------------------------------------------------------------

/// A heuristic of which a call allows some possibilities only: p counts these, in their order.
template <LocalHeuristic H>
struct Masked {
  using Rating = typename H::Rating;
  using Aggregate = typename H::Aggregate;

  struct Context {
    typename H::Context inner;
    const std::uint32_t* allowed;
    std::uint32_t count;
  };

  H inner;
  const std::uint32_t* first;    ///< [variables of the type + 1] into `allowed`
  const std::uint32_t* allowed;  ///< possibilities, ascending within a variable

  VICINITY_HD std::uint64_t max_weight() const { return inner.max_weight(); }
  VICINITY_HD Context context(const std::int32_t* state, std::uint32_t variable) const {
    const auto context = inner.context(state, variable);
    const std::uint32_t all = inner.possibilities(context), begin = first[variable];
    std::uint32_t low = begin, high = first[variable + 1];  // a state may have fewer than the type's largest |R|
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (allowed[middle] < all)
        low = middle + 1;
      else
        high = middle;
    }
    return {context, allowed + begin, low - begin};
  }
  VICINITY_HD std::uint32_t possibilities(const Context& c) const { return c.count; }
  VICINITY_HD Rating rate(const Context& c, std::uint32_t p) const { return inner.rate(c.inner, c.allowed[p]); }
  VICINITY_HD Aggregate create() const { return inner.create(); }
  VICINITY_HD Aggregate aggregate(Aggregate a, Rating r) const { return inner.aggregate(a, r); }
  VICINITY_HD Aggregate combine(Aggregate a, Aggregate b) const { return inner.combine(a, b); }
  VICINITY_HD auto weight(Rating r, Aggregate a) const { return inner.weight(r, a); }
  VICINITY_HD void assign(std::int32_t* state, std::uint32_t variable, std::uint32_t p) const {
    inner.assign(state, variable, allowed[first[variable] + p]);
  }
  VICINITY_HD void could_not_assign(std::int32_t* state, std::uint32_t variable) const { inner.could_not_assign(state, variable); }
};

/// What both twins read of a call, checked and made once from its masks.
struct CallTables {
  std::vector<std::uint32_t> offsets;    ///< [types + 1] of each type's bit set in a state's active words
  std::vector<std::uint32_t> variables;  ///< [types + 1] of each type's variables among all
  std::vector<std::uint32_t> active;     ///< [active words] for all targets, or [targets][active words]
  std::vector<std::uint32_t> first;      ///< [variables of all types + 1] into `allowed`; empty: no mask
  std::vector<std::uint32_t> allowed;    ///< possibilities
  std::uint32_t successors;              ///< of each source, where the call names no parents
};

inline void require(bool holds, const std::string& what) {
  if (!holds) throw InputError(what);
}
inline void require_size(std::size_t size, std::size_t needed, const char* what) {
  require(size == 0 || size == needed,
          std::string(what) + ": " + std::to_string(size) + " words, needed are none or " + std::to_string(needed));
}

/// Throws InputError, one line, for sizes out of range, spans of the wrong size, parents that are no source, and targets that without
/// parents cannot be as many of each source.
[[nodiscard]] inline CallTables call_tables(std::span<const VariableType> types, std::uint32_t sources, std::uint32_t targets,
                                            const Generation& call) {
  require(sources > 0 && targets > 0, "a generation needs a source and a target");
  CallTables tables{{0}, {0}, {}, {}, {}, targets / sources};
  std::size_t possibility_words = 0;
  for (const VariableType& type : types) {
    require(type.variables > 0, "a variable type without variables");
    require(type.possibilities <= max_possibilities,
            std::to_string(type.possibilities) + " possibilities, at most " + std::to_string(max_possibilities));
    tables.offsets.push_back(tables.offsets.back() + bit_words(type.variables));
    tables.variables.push_back(tables.variables.back() + type.variables);
    possibility_words += std::size_t{type.variables} * bit_words(type.possibilities);
  }
  const std::size_t active_words = tables.offsets.back();
  require_size(call.parents.size(), targets, "parents");
  require(!call.parents.empty() || targets % sources == 0,
          std::to_string(targets) + " targets are no multiple of " + std::to_string(sources) + " sources: name their parents");
  for (const std::uint32_t parent : call.parents)
    require(parent < sources, "parent " + std::to_string(parent) + " of " + std::to_string(sources) + " sources");
  require_size(call.states.size(), bit_words(targets), "mask of states");
  require_size(call.possibilities.size(), possibility_words, "mask of possibilities");
  if (call.variables.size() != active_words) require_size(call.variables.size(), targets * active_words, "mask of variables");

  // Whole bit sets, without bits that stand for no variable.
  std::vector<std::uint32_t> all;
  for (const VariableType& type : types) {
    const auto bits = bit_set(type.variables, [](std::uint32_t) { return true; });
    all.insert(all.end(), bits.begin(), bits.end());
  }
  tables.active.assign(call.variables.begin(), call.variables.end());
  if (tables.active.empty()) tables.active = all;
  for (std::size_t w = 0; w < tables.active.size(); ++w) tables.active[w] &= all[w % active_words];

  if (call.possibilities.empty()) return tables;
  tables.first.push_back(0);
  const std::uint32_t* bits = call.possibilities.data();
  for (const VariableType& type : types)
    for (std::uint32_t v = 0; v < type.variables; ++v, bits += bit_words(type.possibilities)) {
      for (std::uint32_t p = 0; p < type.possibilities; ++p)
        if (is_set(bits, p)) tables.allowed.push_back(p);
      tables.first.push_back(static_cast<std::uint32_t>(tables.allowed.size()));
    }
  return tables;
}

template <class... H>
void check_weights(const std::tuple<H...>& heuristics) {
  const bool fit = std::apply([](const H&... h) { return ((h.max_weight() < std::uint64_t{1} << 47) && ...); }, heuristics);
  require(fit, "a heuristic's max_weight() is 2^47 or more");
}

/// Calls visit(heuristic, type) for each type, with the call's possibilities where these are masked; `first` and `allowed` are the tables'
/// arrays, where they are read.
template <class... H, class Visit>
void for_each_type(const std::tuple<H...>& heuristics, const CallTables& tables, const std::uint32_t* first, const std::uint32_t* allowed,
                   Visit visit) {
  std::uint32_t type = 0;
  const auto one = [&]<LocalHeuristic Any>(const Any& h) {
    if (tables.first.empty())
      visit(h, type);
    else
      visit(Masked<Any>{h, first + tables.variables[type], allowed}, type);
    ++type;
  };
  std::apply([&](const H&... h) { (one(h), ...); }, heuristics);
}

/// Digest of words and successor values: equal states give equal digests.
[[nodiscard]] inline std::uint64_t digest_of(const States& states) {
  Digest digest;
  digest.add(states.words);
  digest.add(states.successors);
  return digest.value();
}

/// Where two buffers differ first, as "state 3, word 7: 12 and 13"; empty where they are equal.
[[nodiscard]] inline std::string first_difference(const States& a, const States& b) {
  if (a.count != b.count || a.state_words != b.state_words || a.active_words != b.active_words) return "the buffers have different sizes";
  const auto differ = [](std::uint32_t state, const std::string& what, auto x, auto y) {
    return "state " + std::to_string(state) + ", " + what + ": " + std::to_string(x) + " and " + std::to_string(y);
  };
  for (std::uint32_t s = 0; s < a.count; ++s) {
    for (std::uint32_t w = 0; w < a.state_words; ++w)
      if (a.state(s)[w] != b.state(s)[w]) return differ(s, "word " + std::to_string(w), a.state(s)[w], b.state(s)[w]);
    for (std::size_t w = 0, i = std::size_t{s} * a.active_words; w < a.active_words; ++w, ++i)
      if (a.active[i] != b.active[i]) return differ(s, "active variables, word " + std::to_string(w), a.active[i], b.active[i]);
    if (a.successors[s] != b.successors[s]) return differ(s, "successor value", a.successors[s], b.successors[s]);
  }
  return {};
}

// --- the method on the CPU ---------------------------------------------------------------------------------------------

/// Possibilities whose weights are summed together: the one drawn is searched in one such tile.
inline constexpr std::uint32_t cpu_tile = 512;

/// Assigns one variable. `ratings` has room for all possibilities. Three passes over them: rate (vectorised), aggregate, sum the weights
/// (vectorised); Sum holds the weights of a tile.
template <class Sum, Generator G, LocalHeuristic H>
void assign_variable_cpu(const H& h, std::int32_t* state, std::uint32_t variable, G& generator, typename H::Rating* __restrict ratings) {
  const auto context = h.context(state, variable);
  const std::uint32_t count = h.possibilities(context);
#pragma omp simd
  for (std::uint32_t p = 0; p < count; ++p) ratings[p] = h.rate(context, p);
  auto aggregate = h.create();
  for (std::uint32_t p = 0; p < count; ++p) aggregate = h.aggregate(aggregate, ratings[p]);
  std::uint64_t sums[divide_up(max_possibilities, cpu_tile)], total = 0;
  for (std::uint32_t begin = 0; begin < count; begin += cpu_tile) {
    const std::uint32_t end = std::min(begin + cpu_tile, count);
    Sum sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::uint32_t p = begin; p < end; ++p) sum += static_cast<Sum>(h.weight(ratings[p], aggregate));
    total += sums[begin / cpu_tile] = sum;
  }
  if (total == 0) return h.could_not_assign(state, variable);
  std::uint64_t v = scale_to(generator.next(), total);
  std::uint32_t tile = 0;
  while (v >= sums[tile]) v -= sums[tile++];
  std::uint32_t p = tile * cpu_tile;
  for (std::uint64_t weight; v >= (weight = h.weight(ratings[p], aggregate)); ++p) v -= weight;
  h.assign(state, variable, p);
}

/// Assigns the active variables of one type in all targets. Mapping: states over threads. Synchronisation: one parallel region.
template <Generator G, LocalHeuristic H>
void assign_type_cpu(const H& h, const VariableType& type, std::uint32_t offset, Order order, const StatesView& targets, int threads) {
  const bool narrow = h.max_weight() * cpu_tile < std::uint64_t{1} << 32;
#pragma omp parallel num_threads(threads)
  {
    const auto ratings = std::make_unique<typename H::Rating[]>(type.possibilities);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> queue;  // key and variable; of equal keys the lower variable goes first
#pragma omp for schedule(dynamic)
    for (std::uint32_t t = 0; t < targets.count; ++t) {
      std::int32_t* state = targets.words + std::size_t{t} * targets.state_words;
      std::uint32_t* active = targets.active + std::size_t{t} * targets.active_words + offset;
      const std::uint64_t successor = targets.successors[t];
      queue.clear();
      for (std::uint32_t v = 0; v < type.variables; ++v)
        if (is_set(active, v)) queue.emplace_back(order == Order::permuted ? order_key(successor, v) : v, v);
      std::sort(queue.begin(), queue.end());
      G generator = seeded<G>(successor);
      for (const auto& [key, variable] : queue)
        narrow ? assign_variable_cpu<std::uint32_t>(h, state, variable, generator, ratings.get())
               : assign_variable_cpu<std::uint64_t>(h, state, variable, generator, ratings.get());
      std::fill_n(active, bit_words(type.variables), 0u);
      targets.successors[t] = kept(generator);
    }
  }
}

/// Generates `targets` from `sources` on the CPU (section 3.3, Algorithms 1 to 4). Both are of make_states(domain, count); source states
/// are set by the caller, their active sets and successor values are not read. Everything in `targets` is written. `threads`: 0 for as many
/// as OpenMP would take; a result does not depend on them. Errors: InputError, one line, before anything is written.
template <Generator G = XorShift64Star, StateDomain D>
void assign_cpu(const D& domain, const States& sources, States& targets, const Generation& call, int threads = 0) {
  require(&sources != &targets, "sources and targets are one buffer");
  const CallTables tables = call_tables(domain.types(), sources.count, targets.count, call);
  for (const States* states : std::initializer_list<const States*>{&sources, &targets})
    require(states->state_words == domain.state_words() && states->active_words == tables.offsets.back(),
            "states of another domain: make_states() gives the sizes");
  const auto heuristics = domain.heuristics(OnHost{});
  check_weights(heuristics);
  if (threads <= 0) threads = omp_get_max_threads();
  const std::size_t words = targets.state_words, active = targets.active_words;
  const bool each = tables.active.size() > active;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::uint32_t t = 0; t < targets.count; ++t) {
    const std::uint32_t parent = call.parents.empty() ? t / tables.successors : call.parents[t];
    std::copy_n(&sources.words[parent * words], words, &targets.words[t * words]);
    const bool takes_part = call.states.empty() || is_set(call.states.data(), t);
    for (std::size_t w = 0; w < active; ++w) targets.active[t * active + w] = takes_part ? tables.active[(each ? t * active : 0) + w] : 0;
    targets.successors[t] = successor_value(call.seed, t);
  }
  for_each_type(heuristics, tables, tables.first.data(), tables.allowed.data(), [&](const auto& h, std::uint32_t type) {
    assign_type_cpu<G>(h, domain.types()[type], tables.offsets[type], call.order, targets.view(), threads);
  });
}

/// The cost of each state.
template <CostDomain D>
[[nodiscard]] std::vector<std::int64_t> costs_cpu(const D& domain, const States& states) {
  const auto cost = domain.cost(OnHost{});
  std::vector<std::int64_t> costs(states.count);
#pragma omp parallel for schedule(static)
  for (std::uint32_t s = 0; s < states.count; ++s) costs[s] = cost(states.words.data() + std::size_t{s} * states.state_words);
  return costs;
}

}  // namespace vicinity::fang
