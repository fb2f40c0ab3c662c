// The library on the CPU: what it generates is what cpu-serial does, and, with masks, what a plain loop does that shares no code with it.
#include "vicinity/fang.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "tests/support/complaint.hpp"
#include "tests/support/fang_library.hpp"
#include "tests/support/fang_twins.hpp"

namespace vicinity::fang {
namespace {

/// xorshift1024* as its author publishes it (Vigna 2016), seeded with sixteen numbers of xorshift64*.
struct PublishedGenerator {
  std::uint64_t s[16];
  int p = 0;

  explicit PublishedGenerator(std::uint64_t x) {
    for (auto& word : s) {
      x ^= x >> 12;
      x ^= x << 25;
      x ^= x >> 27;
      word = x * 2685821657736338717ull;
    }
  }
  std::uint64_t next() {
    const std::uint64_t s0 = s[p];
    std::uint64_t s1 = s[p = (p + 1) & 15];
    s1 ^= s1 << 31;
    s[p] = s1 ^ s0 ^ (s1 >> 11) ^ (s0 >> 30);
    return s[p] * 1181783497276652981ull;
  }
};

TEST(FangLibrary, XorShift1024StarIsThePublishedOne) {
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{0xDEADBEEF}, ~std::uint64_t{0}}) {
    PublishedGenerator expected(seed);
    auto generator = seeded<XorShift1024Star>(seed);
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t number = expected.next();
      EXPECT_EQ(generator.peek(), number);
      EXPECT_EQ(generator.next(), number);
    }
    EXPECT_EQ(kept(generator), expected.next());
  }
}

TEST(FangLibrary, GeneratesWhatTheReferenceOfTheSystemDoes) {
  auto cases = random_cases(100);
  for (const Case& c : edge_cases()) cases.push_back(c);
  for (const Case& c : cases) {
    const auto instance = make_instance(c);
    const std::uint64_t expected = outcome_of(cpu_implementations().front(), c, 11).digest;
    std::visit(
        [&](const auto& domain) {
          const States sources = make_sources(domain, *instance, 11);
          States targets = make_states(domain, instance->states);
          std::vector<std::uint32_t> parents, variables;
          for (std::uint32_t t = 0; t < targets.count; ++t) {
            parents.push_back(t / instance->successors);
            const auto row = sources.active.begin() + std::size_t{parents.back()} * sources.active_words;
            variables.insert(variables.end(), row, row + sources.active_words);
          }
          assign_cpu(domain, sources, targets, {11, instance->order, parents, {}, variables, {}}, 2);
          EXPECT_EQ(judge(domain, *instance, sources, targets).digest, expected) << c.key();
        },
        instance->domain);
  }
}

/// A generation, one step after the other.
States plain_generation(const Slots& domain, const States& sources, std::uint32_t count, const MaskedCall& masks, std::uint64_t seed,
                        bool permuted, bool long_generator) {
  States targets = make_states(domain, count);
  const auto heuristics = domain.heuristics(OnHost{});
  const SlotHeuristic slots[] = {std::get<0>(heuristics), std::get<1>(heuristics)};
  const auto bit = [](const std::vector<std::uint32_t>& bits, std::size_t base, std::uint32_t i) {
    return bits.empty() || (bits[base + i / 32] >> i % 32 & 1) != 0;
  };
  for (std::uint32_t t = 0; t < count; ++t) {
    const std::uint32_t parent = masks.parents.empty() ? t / (count / sources.count) : masks.parents[t];
    std::int32_t* state = &targets.words[t * targets.state_words];
    for (std::uint32_t w = 0; w < targets.state_words; ++w) state[w] = sources.words[parent * targets.state_words + w];
    std::uint64_t successor = successor_value(seed, t);
    std::size_t active_base = masks.variables.size() > targets.active_words ? t * targets.active_words : 0, possibility_base = 0;
    for (int type = 0; type < 2; ++type) {
      const SlotHeuristic& h = slots[type];
      const VariableType size = domain.types()[type];
      std::multimap<std::uint64_t, std::uint32_t> order;
      for (std::uint32_t v = 0; v < size.variables; ++v)
        if (bit(masks.states, 0, t) && bit(masks.variables, active_base, v)) order.emplace(permuted ? order_key(successor, v) : v, v);
      PublishedGenerator generator(successor);
      for (const auto& [key, v] : order) {
        const std::size_t row = possibility_base + v * ((size.possibilities + 31) / 32);
        const auto context = h.context(state, v);
        auto aggregate = h.create();
        for (std::uint32_t p = 0; p < h.possibilities(context); ++p)
          if (bit(masks.possibilities, row, p)) aggregate = h.aggregate(aggregate, h.rate(context, p));
        std::map<std::uint64_t, std::uint32_t> ends;  // sum of the weights through a possibility
        std::uint64_t total = 0;
        for (std::uint32_t p = 0; p < h.possibilities(context); ++p) {
          if (!bit(masks.possibilities, row, p)) continue;
          total += h.weight(h.rate(context, p), aggregate);
          ends.emplace(total, p);
        }
        if (total == 0) {
          h.could_not_assign(state, v);
          continue;
        }
        const std::uint64_t random = long_generator ? generator.next() : XorShift64Star{successor}.next();
        if (!long_generator) {
          XorShift64Star step{successor};
          step.next();
          successor = step.state;
        }
        const std::uint64_t decided = multiply_high(random, total);
        // The first possibility whose sum exceeds it; of equal sums the map keeps the first, and those after it have weight 0.
        h.assign(state, v, ends.upper_bound(decided)->second);
      }
      if (long_generator) successor = generator.next();
      active_base += (size.variables + 31) / 32;
      possibility_base += std::size_t{size.variables} * ((size.possibilities + 31) / 32);
    }
    targets.successors[t] = successor;
  }
  return targets;
}

TEST(FangLibrary, MasksOrdersAndGeneratorsAreThoseOfAPlainLoop) {
  for (const Slots& domain : slot_domains())
    for (const MaskedCall& masks : masked_calls(domain, 5, 35)) {
      States sources = domain.empty_states(5), next = make_states(domain, 5), targets = make_states(domain, 35);
      assign_cpu(domain, sources, next, {3});  // states with assignments
      for (const bool permuted : {false, true}) {
        const Generation call = masks.call(9, permuted ? Order::permuted : Order::fixed);
        assign_cpu(domain, next, targets, call, 1);
        EXPECT_EQ(first_difference(targets, plain_generation(domain, next, 35, masks, 9, permuted, false)), "") << masks.name;
        States again = make_states(domain, 35);
        assign_cpu(domain, next, again, call, 3);
        EXPECT_EQ(digest_of(again), digest_of(targets)) << "threads";
        assign_cpu<XorShift1024Star>(domain, next, targets, call);
        EXPECT_EQ(first_difference(targets, plain_generation(domain, next, 35, masks, 9, permuted, true)), "") << masks.name;
        EXPECT_NE(digest_of(again), digest_of(targets));
      }
    }
}

TEST(FangLibrary, AStateLeftOutStaysItsParent) {
  const Slots domain(33, 7, 70, 2, 1);
  const States sources = domain.empty_states(1);
  States targets = make_states(domain, 4);
  const std::vector<std::uint32_t> last = bit_set(4, [](std::uint32_t s) { return s == 3; });
  assign_cpu(domain, sources, targets, {1, Order::fixed, {}, last, {}, {}});
  for (std::uint32_t s = 0; s < 4; ++s)
    EXPECT_EQ(std::equal(targets.state(s).begin(), targets.state(s).end(), sources.state(0).begin()), s < 3) << s;
  const auto costs = costs_cpu(domain, targets);
  EXPECT_EQ(costs[0], -40);
  EXPECT_GT(costs[3], 0);
}

TEST(FangLibrary, TheFirstDifferenceIsSaid) {
  const Slots domain(3, 2, 4, 2, 1);
  const States a = domain.empty_states(3);
  States b = a;
  EXPECT_EQ(first_difference(a, b), "");
  b.successors[2] = 7;
  EXPECT_EQ(first_difference(a, b), "state 2, successor value: 0 and 7");
  b.words[b.state_words + 1] = 12;
  EXPECT_EQ(first_difference(a, b), "state 1, word 1: -1 and 12");
  EXPECT_EQ(first_difference(a, domain.empty_states(2)), "the buffers have different sizes");
}

TEST(FangLibrary, WhatIsWrongWithACallIsSaid) {
  const Slots domain(3, 2, 40, 2, 1);
  States sources = domain.empty_states(2), targets = make_states(domain, 8);
  const std::vector<std::uint32_t> words(9, 2u);
  const std::span<const std::uint32_t> some(words);
  const auto told = [&](const Generation& call) { return complaint<InputError>([&] { assign_cpu(domain, sources, targets, call); }); };
  EXPECT_EQ(told({0, Order::fixed, some, {}, {}, {}}), "parents: 9 words, needed are none or 8");
  EXPECT_EQ(told({0, Order::fixed, some.first(8), {}, {}, {}}), "parent 2 of 2 sources");
  EXPECT_EQ(told({0, Order::fixed, {}, some, {}, {}}), "mask of states: 9 words, needed are none or 1");
  EXPECT_EQ(told({0, Order::fixed, {}, {}, some, {}}), "mask of variables: 9 words, needed are none or 16");
  EXPECT_EQ(told({0, Order::fixed, {}, {}, {}, some}), "mask of possibilities: 9 words, needed are none or 10");
  EXPECT_EQ(complaint<InputError>([&] { assign_cpu(domain, domain.empty_states(3), targets, {}); }),
            "8 targets are no multiple of 3 sources: name their parents");
  EXPECT_EQ(complaint<InputError>([&] { assign_cpu(domain, targets, sources, {}); }),
            "2 targets are no multiple of 8 sources: name their parents");
  EXPECT_EQ(complaint<InputError>([&] { assign_cpu(domain, targets, targets, {}); }), "sources and targets are one buffer");
  EXPECT_EQ(complaint<InputError>([&] { assign_cpu(Slots(4, 2, 40, 2, 1), sources, targets, {}); }),
            "states of another domain: make_states() gives the sizes");
  EXPECT_EQ(complaint<InputError>([&] {
              const Slots large(1, 1, 98305, 1, 1);
              assign_cpu(large, large.empty_states(1), targets, {});
            }),
            "98305 possibilities, at most 98304");
  EXPECT_EQ(complaint<InputError>([&] { assign_cpu(Slots(3, 2, 40, 2, std::uint64_t{1} << 40), sources, targets, {}); }),
            "a heuristic's max_weight() is 2^47 or more");
}

}  // namespace
}  // namespace vicinity::fang
