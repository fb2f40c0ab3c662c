#pragma once
// FANG's local heuristics (Koester, Gross, Krueger, "FANG: Fast and Efficient Successor-State Generation for Heuristic
// Optimization on GPUs", section 3): the contract between the method and a domain.
//
// A state is an array of 32-bit words that only its domain understands, one bit set of active variables per variable
// type, and a successor value: the xorshift64* state that makes the state's decisions. The method assigns the active
// variables one after the other, types in order. For each it asks the heuristic of that type for a rating of every
// possibility, aggregates the ratings, maps them to unsigned weights, draws a possibility with probability
// weight / sum of weights, and has it assigned.
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

#include "core/api/run.hpp"
#include "core/util/digest.hpp"
#include "core/util/hd.hpp"
#include "core/util/rng.hpp"

namespace vicinity::fang {

/// Most possibilities of a variable: 24 KB of 64-bit segments for warps of 32 (section 3.2).
inline constexpr std::uint32_t max_possibilities = 98304;

/// A local heuristic: how the variables of one type are rated and assigned. Trivially copyable; every function is
/// callable on host and device and depends on its arguments alone.
///
///   max_weight()                       no weight exceeds it; below 2^47, so that the sum over max_possibilities weights
///                                      fits 64 bits. A small bound lets an implementation sum in 32 bits
///   context(state, variable)           what rating needs, read once per variable
///   possibilities(context)             |R|, from 0 to the problem's maximum
///   rate(context, possibility)         rating of one possibility; reads the state, never writes it
///   create(), aggregate(a, rating),    aggregator over all ratings; combine is associative and commutative, and the
///   combine(a, b)                      result may not depend on the order
///   weight(rating, aggregate)          unsigned weight; 0 forbids the possibility
///   assign(state, variable, possibility), could_not_assign(state, variable)
///                                      update the state; one thread calls them
template <class H>
concept LocalHeuristic = std::is_trivially_copyable_v<H> && std::is_trivially_copyable_v<typename H::Rating> &&
    std::is_trivially_copyable_v<typename H::Aggregate> && std::is_trivially_copyable_v<typename H::Context> &&
    requires(const H h, const typename H::Context context, const typename H::Rating rating, const typename H::Aggregate aggregate,
             const std::int32_t* state, std::int32_t* target, std::uint32_t variable, std::uint32_t possibility) {
  { h.max_weight() } -> std::same_as<std::uint64_t>;
  { h.context(state, variable) } -> std::same_as<typename H::Context>;
  { h.possibilities(context) } -> std::same_as<std::uint32_t>;
  { h.rate(context, possibility) } -> std::same_as<typename H::Rating>;
  { h.create() } -> std::same_as<typename H::Aggregate>;
  { h.aggregate(aggregate, rating) } -> std::same_as<typename H::Aggregate>;
  { h.combine(aggregate, aggregate) } -> std::same_as<typename H::Aggregate>;
  { h.weight(rating, aggregate) } -> std::unsigned_integral;
  h.assign(target, variable, possibility);
  h.could_not_assign(target, variable);
};

/// A heuristic whose ratings fit 16 bits may have them made two at a time, in the halves of a word: that of an even possibility in the
/// lower half, that of the next in the upper one. An implementation may take this way or the other; they agree.
///
///   packs()                               does it, in this instance? Then 0xFFFF stands for what is forbidden whatever the aggregate,
///   other
///                                         ratings are their lower halves, and no weight exceeds 0xFFFF
///   allows_all(context)                   is no possibility forbidden so?
///   rate_two<all>(context, possibility)   two ratings; all: allows_all(context) is known to hold
///   create_two(), aggregate_two(a, two)   aggregator over the halves, in a word
///   aggregate_of(a)                       the aggregate of both
///   weights(two, aggregate)               weights of both in their halves
template <class H>
concept PackedHeuristic = LocalHeuristic<H> &&
    requires(const H h, const typename H::Context context, const typename H::Aggregate aggregate, std::uint32_t two) {
  { h.packs() } -> std::same_as<bool>;
  { h.allows_all(context) } -> std::same_as<bool>;
  { h.template rate_two<true>(context, two) } -> std::same_as<std::uint32_t>;
  { h.create_two() } -> std::same_as<std::uint32_t>;
  { h.aggregate_two(two, two) } -> std::same_as<std::uint32_t>;
  { h.aggregate_of(two) } -> std::same_as<typename H::Aggregate>;
  { h.weights(two, aggregate) } -> std::same_as<std::uint32_t>;
};
inline constexpr std::int32_t packed_forbidden = 0xFFFF;

/// Sizes of a variable type.
struct VariableType {
  std::uint32_t variables;      ///< at least 1
  std::uint32_t possibilities;  ///< the largest |R| of its variables
};

/// Leaves a domain's arrays where they are; a device has its own place functor that copies.
struct OnHost {
  template <class T>
  const T* operator()(std::span<const T> array) const {
    return array.data();
  }
};

/// Was variable (type, variable) active? Yes.
struct AllActive {
  bool operator()(std::uint32_t, std::uint32_t) const { return true; }
};

/// A domain: states, variable types with a heuristic each, source states and the oracle. `heuristics(place)` returns
/// the tuple of heuristics, one a type, with every array passed through `place` (span -> pointer), which leaves it where
/// it is on the host and copies it on the device.
template <class D>
concept Domain = requires(const D domain, std::span<std::int32_t> words, std::span<const std::int32_t> source, std::uint64_t seed) {
  { domain.types() } -> std::same_as<std::span<const VariableType>>;
  { domain.state_words() } -> std::same_as<std::uint32_t>;
  domain.heuristics(OnHost{});
  domain.fill_source(seed, std::uint32_t{}, words);
  domain.objective(source);
  domain.complaint(source, source, AllActive{});
  { domain.rating_work() } -> std::same_as<Work>;
  domain.hash();
};

template <class D>
using Heuristics = decltype(std::declval<const D&>().heuristics(OnHost{}));

/// Bit set words of `variables` bits.
VICINITY_HD constexpr std::uint32_t bit_words(std::uint32_t variables) { return (variables + 31) / 32; }

/// Rank of a variable in a randomly permuted assignment order (section 3.5): ascending key, ties by index. `seed` is
/// the state's successor value when the variables of the type start to be assigned.
VICINITY_HD constexpr std::uint64_t order_key(std::uint64_t seed, std::uint32_t variable) {
  return mix(seed + 0x9E3779B97F4A7C15ull * (variable + 1));
}

/// Successor value of successor `index` of a generation: an external generator's number, never zero (section 3.3).
VICINITY_HD std::uint64_t successor_value(std::uint64_t seed, std::uint32_t index) {
  const std::uint64_t bits = random_bits(seed, 0, index, 0);
  return bits == 0 ? 1 : bits;
}

/// Draws the decision value v in [0, total) from the state's successor value; total > 0.
VICINITY_HD std::uint64_t decide(std::uint64_t& successor, std::uint64_t total) {
  XorShift64Star generator{successor};
  const std::uint64_t v = scale_to(generator.next(), total);
  successor = generator.state;
  return v;
}

/// Streams of the generator that make instances and source states, apart from the successor values (iteration 0).
enum class Stream : std::uint64_t { source = 1, active = 2, instance = 3 };

VICINITY_HD std::uint32_t random_below(std::uint64_t seed, Stream stream, std::uint32_t walker, std::uint32_t draw, std::uint32_t bound) {
  return static_cast<std::uint32_t>(scale_to(random_bits(seed, static_cast<std::uint64_t>(stream), walker, draw), bound));
}

}  // namespace vicinity::fang
