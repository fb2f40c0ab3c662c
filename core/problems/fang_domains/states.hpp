#pragma once
// State buffers of the successor generation (section 3.3), the instance that combines a domain with its source states,
// and the judgement of a result by the domain's oracle.
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "core/api/run.hpp"
#include "core/problems/fang_domains/all_different.hpp"
#include "core/problems/fang_domains/colouring.hpp"
#include "core/problems/fang_domains/grid_path.hpp"
#include "core/problems/fang_domains/signed_ratings.hpp"

namespace vicinity::fang {

/// `count` states, state after state; bit sets of the variable types follow each other within a state.
struct StatesView {
  std::int32_t* words;        ///< [count][state_words]
  std::uint32_t* active;      ///< [count][active_words]
  std::uint64_t* successors;  ///< [count]
  std::uint32_t count, state_words, active_words;
};

/// The same, owned by the host.
struct States {
  std::uint32_t count, state_words, active_words;
  std::vector<std::int32_t> words;
  std::vector<std::uint32_t> active;
  std::vector<std::uint64_t> successors;

  States(std::uint32_t states, std::uint32_t words_each, std::uint32_t active_each)
      : count(states),
        state_words(words_each),
        active_words(active_each),
        words(std::size_t{states} * words_each),
        active(std::size_t{states} * active_each),
        successors(states) {}

  [[nodiscard]] StatesView view() { return {words.data(), active.data(), successors.data(), count, state_words, active_words}; }
  [[nodiscard]] std::span<const std::int32_t> state(std::uint32_t s) const {
    return std::span(words).subspan(std::size_t{s} * state_words, state_words);
  }
};

/// In which order the active variables of a type are assigned (section 3.5).
enum class Order { fixed, permuted };

using AnyDomain = std::variant<GridPath<1>, GridPath<8>, GridPath<16>, GridPath<0>, SignedRatings, AllDifferent, Colouring>;

/// A domain and the successor generation asked for: `states` targets, `successors` of each source state.
class Successors final : public Instance {
 public:
  Successors(AnyDomain any, std::uint32_t target_states, std::uint32_t successors_each, std::uint32_t percent_active,
             Order assignment_order)
      : domain(std::move(any)),
        states(target_states),
        successors(successors_each),
        active_percent(percent_active),
        order(assignment_order) {}

  [[nodiscard]] std::uint64_t hash() const override {
    Digest digest;
    digest.add(std::visit([](const auto& d) { return d.hash(); }, domain));
    for (const std::uint64_t word :
         {std::uint64_t{states}, std::uint64_t{successors}, std::uint64_t{active_percent}, static_cast<std::uint64_t>(order)})
      digest.add(word);
    return digest.value();
  }

  AnyDomain domain;
  std::uint32_t states, successors, active_percent;
  Order order;
};

/// Offset of each type's bit set within a state's active words; the last entry is their number.
template <Domain D>
[[nodiscard]] std::vector<std::uint32_t> active_offsets(const D& domain) {
  std::vector<std::uint32_t> offsets{0};
  for (const VariableType& type : domain.types()) offsets.push_back(offsets.back() + bit_words(type.variables));
  return offsets;
}

/// Source states of a run: drawn from the seed alone.
template <Domain D>
[[nodiscard]] States make_sources(const D& domain, const Successors& instance, std::uint64_t seed) {
  const auto offsets = active_offsets(domain);
  States sources(divide_up(instance.states, instance.successors), domain.state_words(), offsets.back());
  for (std::uint32_t s = 0; s < sources.count; ++s) {
    domain.fill_source(seed, s, std::span(sources.words).subspan(std::size_t{s} * sources.state_words, sources.state_words));
    for (std::uint32_t t = 0; t + 1 < offsets.size(); ++t)
      for (std::uint32_t v = 0; v < domain.types()[t].variables; ++v)
        if (instance.active_percent == 100 || random_below(seed, Stream::active, s, t << 24 | v, 100) < instance.active_percent)
          sources.active[std::size_t{s} * sources.active_words + offsets[t] + v / 32] |= 1u << (v % 32);
  }
  return sources;
}

/// Ratings the work asks for: |R| of every active variable of every target (the largest |R| of a type where they differ).
template <Domain D>
[[nodiscard]] std::int64_t count_evaluations(const D& domain, const States& sources, const Successors& instance) {
  const auto offsets = active_offsets(domain);
  std::int64_t evaluations = 0;
  for (std::uint32_t target = 0; target < instance.states; ++target)
    for (std::uint32_t t = 0; t + 1 < offsets.size(); ++t)
      for (std::uint32_t w = offsets[t]; w < offsets[t + 1]; ++w)
        evaluations +=
            std::int64_t{__builtin_popcount(sources.active[std::size_t{target / instance.successors} * sources.active_words + w])} *
            domain.types()[t].possibilities;
  return evaluations;
}

/// Digest, objective (sum over the targets) and feasibility of the targets generated from the sources.
template <Domain D>
[[nodiscard]] Outcome judge(const D& domain, const Successors& instance, const States& sources, const States& targets) {
  Outcome outcome;
  const auto offsets = active_offsets(domain);
  Digest digest;
  digest.add(targets.words);
  digest.add(targets.active);
  digest.add(targets.successors);
  outcome.digest = digest.value();
  std::int64_t objective = 0;
  for (std::uint32_t s = 0; s < targets.count; ++s) {
    const std::uint32_t source = s / instance.successors;
    const auto active = [&](std::uint32_t type, std::uint32_t variable) {
      return (sources.active[std::size_t{source} * sources.active_words + offsets[type] + variable / 32] >> (variable % 32) & 1u) != 0;
    };
    objective += domain.objective(targets.state(s));
    if (outcome.complaint.empty()) {
      std::string complaint = domain.complaint(sources.state(source), targets.state(s), active);
      if (!complaint.empty()) outcome.complaint = "state " + std::to_string(s) + ": " + complaint;
    }
    for (std::uint32_t w = 0; w < targets.active_words && outcome.complaint.empty(); ++w)
      if (targets.active[std::size_t{s} * targets.active_words + w] != 0)
        outcome.complaint = "state " + std::to_string(s) + ": a variable is still active";
  }
  outcome.objective = objective;
  outcome.feasible = outcome.complaint.empty();
  outcome.iterations = targets.count;
  outcome.evaluations = count_evaluations(domain, sources, instance);
  return outcome;
}

}  // namespace vicinity::fang
