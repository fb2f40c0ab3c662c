// cpu-serial, the reference: the paper's method on one core, step by step (Algorithms 1 to 4, with the errata of docs/errata.md): all
// ratings, their prefix sums, and a binary search for the random number, where the paper searches segments (Algorithm 4).
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "cpu_ref/fang/implementations.hpp"
#include "cpu_ref/fang/run.hpp"

namespace vicinity::fang {
namespace {

/// Active variables of one type in assignment order.
std::vector<std::uint32_t> active_variables(const std::uint32_t* bits, std::uint32_t variables, Order order, std::uint64_t seed) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t v = 0; v < variables; ++v)
    if ((bits[v / 32] >> (v % 32) & 1u) != 0) list.push_back(v);
  if (order == Order::permuted)
    std::stable_sort(list.begin(), list.end(),
                     [seed](std::uint32_t a, std::uint32_t b) { return order_key(seed, a) < order_key(seed, b); });
  return list;
}

class Serial {
 public:
  [[nodiscard]] static int threads() { return 1; }

  explicit Serial(const Case&) {}

  static void clone(const States& sources, States& targets, std::uint32_t successors, std::uint64_t seed) {
    for (std::uint32_t t = 0; t < targets.count; ++t) {
      const std::size_t source = t / successors;
      std::copy_n(&sources.words[source * sources.state_words], sources.state_words, &targets.words[std::size_t{t} * sources.state_words]);
      std::copy_n(&sources.active[source * sources.active_words], sources.active_words,
                  &targets.active[std::size_t{t} * sources.active_words]);
      targets.successors[t] = successor_value(seed, t);
    }
  }

  template <LocalHeuristic H>
  void assign(const H& h, const StatesView& targets, std::uint32_t active_offset, const VariableType& type, Order order) {
    std::vector<typename H::Rating> ratings(type.possibilities);
    prefix_sums_.resize(type.possibilities);
    for (std::uint32_t t = 0; t < targets.count; ++t) {
      std::int32_t* state = targets.words + std::size_t{t} * targets.state_words;
      std::uint32_t* bits = targets.active + std::size_t{t} * targets.active_words + active_offset;
      std::uint64_t& successor = targets.successors[t];
      for (const std::uint32_t variable : active_variables(bits, type.variables, order, successor)) {
        assign_variable(h, state, variable, successor, ratings);
        bits[variable / 32] &= ~(1u << (variable % 32));
      }
    }
  }

  [[nodiscard]] static Policy policy() { return {{"threads", 1}}; }
  [[nodiscard]] static double lane_share() { return 1; }

 private:
  template <LocalHeuristic H>
  void assign_variable(const H& h, std::int32_t* state, std::uint32_t variable, std::uint64_t& successor,
                       std::vector<typename H::Rating>& ratings) {
    const auto context = h.context(state, variable);
    const std::uint32_t count = h.possibilities(context);
    auto aggregate = h.create();
    for (std::uint32_t p = 0; p < count; ++p) {
      ratings[p] = h.rate(context, p);
      aggregate = h.aggregate(aggregate, ratings[p]);
    }
    std::uint64_t total = 0;
    for (std::uint32_t p = 0; p < count; ++p) {
      total += h.weight(ratings[p], aggregate);
      prefix_sums_[p] = total;
    }
    if (total == 0) return h.could_not_assign(state, variable);
    const std::uint64_t v = decide(successor, total);
    const auto chosen = std::upper_bound(prefix_sums_.begin(), prefix_sums_.begin() + count, v);
    h.assign(state, variable, static_cast<std::uint32_t>(chosen - prefix_sums_.begin()));
  }

  std::vector<std::uint64_t> prefix_sums_;
};

}  // namespace

std::unique_ptr<Run> prepare_serial(const Case& c, const Instance& instance) { return prepare_cpu<Serial>(c, instance); }

}  // namespace vicinity::fang
