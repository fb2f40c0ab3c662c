#pragma once
// What the tests of every annealing implementation ask: twins over random and edge cases, whole and in slices.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/methods/sa/portfolio.hpp"
#include "core/methods/sa/task.hpp"
#include "core/util/rng.hpp"
#include "cpu_ref/sa/implementations.hpp"
#include "data/qaps.hpp"
#include "kernels/sa/implementations.hpp"
#include "systems/list.hpp"
#include "tests/core/problems/qap/random_instances.hpp"
#include "tests/support/runs.hpp"

namespace vicinity::sa {

inline Trial trial(std::int64_t size, std::int64_t iterations, std::map<std::string, Value> more = {}) {
  more["size"] = size;
  more["iterations"] = iterations;
  const Case c{"qap", "", std::move(more)};
  return {c, make_qap(c), c.key()};
}

/// Matrices of entries from `low` to `high`, each drawn by itself; mirrored when `symmetric`. Diagonals are drawn as well.
inline std::vector<std::int32_t> random_matrix(std::uint64_t seed, std::int32_t n, std::int64_t low, std::int64_t high, bool symmetric) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::int32_t> matrix(size * size);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j)
      matrix[i * size + j] =
          symmetric && j < i
              ? matrix[j * size + i]
              : static_cast<std::int32_t>(low + static_cast<std::int64_t>(scale_to(random_bits(seed, i, static_cast<std::uint32_t>(j), 0),
                                                                                   static_cast<std::uint64_t>(high - low + 1))));
  return matrix;
}

using qap::Entries;
using qap::entry_ranges;

inline std::shared_ptr<const qap::Qap> random_qap(std::uint64_t seed, std::int32_t n, const Entries& range, bool symmetric_a,
                                                  bool symmetric_b) {
  return std::make_shared<qap::Qap>("test", n, random_matrix(2 * seed, n, range.low_a, range.high_a, symmetric_a),
                                    random_matrix(2 * seed + 1, n, range.low_b, range.high_b, symmetric_b));
}
inline std::shared_ptr<const qap::Qap> random_qap(std::uint64_t seed, std::int32_t n, const Entries& range, bool symmetric) {
  return random_qap(seed, n, range, symmetric, symmetric);
}

/// The instance of a trial of this system.
inline const qap::Qap& qap_of(const Trial& trial) { return dynamic_cast<const qap::Qap&>(*trial.instance); }

/// Portfolios go on in whole rounds.
inline void expect_prefix_twins_in_rounds(const std::vector<Implementation>& implementations) {
  for (const std::int64_t size : {12, 40, 100}) {
    const std::int64_t searches = 5, round = searches * portfolio::steps_per_facility * size;
    expect_prefix_twins(implementations, {trial(size, 10 * round, {{"chains", searches}})}, round);
  }
}

/// Chains for several ranks, which have different numbers of them, or none.
inline std::vector<Trial> rank_trials() {
  std::vector<Trial> trials;
  for (const std::int64_t chains : {1, 3, 12})
    for (const std::int64_t threads : {1, 2})
      trials.push_back(trial(18 + chains, 4000, {{"chains", chains}, {"threads", threads}, {"instance_seed", threads}}));
  trials.push_back(trial(65, 30000, {{"chains", std::int64_t{5}}, {"t0", 0.5}, {"tf", 0.1}}));
  return trials;
}

/// The smallest sizes, one proposal, nothing but zeros, freezing at once and late, whole sweeps without a swap, nearly all swaps accepted,
/// sizes around vectors, several chains, reheats at every place, every kind of entries, one matrix symmetric.
inline std::vector<Trial> edge_trials() {
  std::vector<Trial> trials;
  const std::map<std::string, Value> cold{{"t0", 0.02}, {"tf", 0.01}}, hot{{"t0", 1e9}, {"tf", 1e8}};
  for (const std::int64_t size : {2, 3, 4})
    for (const std::int64_t iterations : {1, 2, 3, 4, 7, 200}) {
      trials.push_back(trial(size, iterations));
      trials.push_back(trial(size, iterations, cold));
      trials.push_back(trial(size, iterations, {{"matrix", std::string("asymmetric")}}));
    }
  for (const std::int64_t size : {2, 33, 70}) trials.push_back(trial(size, 3000, {{"range", std::int64_t{1}}}));
  for (const std::int64_t size : {15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129})
    for (const char* matrix : {"symmetric", "asymmetric"}) {
      trials.push_back(trial(size, 3000, {{"matrix", std::string(matrix)}}));
      trials.push_back(trial(size, 2000, {{"matrix", std::string(matrix)}, {"t0", 1e9}, {"tf", 1e8}}));
    }
  for (const std::int64_t size : {5, 20, 60}) trials.push_back(trial(size, 40 * size * size, cold));
  trials.push_back(trial(200, 150000, {{"t0", 3000.0}, {"tf", 1500.0}, {"threads", std::int64_t{3}}}));
  trials.push_back(trial(40, 20000, hot));
  for (const std::int64_t chains : {2, 7}) trials.push_back(trial(20, 5000, {{"chains", chains}, {"threads", std::int64_t{3}}}));
  const auto acceptance = [&](std::int64_t size, std::int64_t iterations, std::map<std::string, Value> more = {}) {
    more["schedule"] = std::string("acceptance");
    trials.push_back(trial(size, iterations, std::move(more)));
  };
  for (const std::int64_t size : {2, 3, 4})
    for (const std::int64_t iterations : {1, 3, 200}) {
      acceptance(size, iterations);
      acceptance(size, iterations, {{"leg", std::int64_t{1}}});
      acceptance(size, iterations, {{"leg", std::int64_t{2}}, {"t0", 50.0}, {"tf", 0.01}});
    }
  for (const std::int64_t size : {2, 33, 70}) acceptance(size, 3000, {{"range", std::int64_t{1}}});
  for (const std::int64_t size : {16, 33, 129}) acceptance(size, 5000, {{"matrix", std::string("asymmetric")}});
  for (const std::int64_t leg : {1, 48, 49, 50, 1224, 1225, 1226, 3000, 200000}) acceptance(50, 20000, {{"leg", leg}});
  // Whole sweeps without a swap, then warm amid one.
  for (const std::int64_t leg : {30000, 61250, 75001}) acceptance(50, 200000, {{"t0", 3000.0}, {"tf", 1.0}, {"leg", leg}});
  acceptance(200, 150000, {{"t0", 30000.0}, {"tf", 1500.0}, {"threads", std::int64_t{3}}, {"leg", std::int64_t{50000}}});
  acceptance(20, 5000, {{"chains", std::int64_t{5}}, {"threads", std::int64_t{3}}});
  for (const Entries& range : entry_ranges)
    for (const auto& [symmetric_a, symmetric_b] :
         {std::pair(true, true), std::pair(true, false), std::pair(false, true), std::pair(false, false)})
      for (const std::int32_t n : {5, 33}) {
        Trial one = trial(n, 4000);
        one.instance = random_qap(static_cast<std::uint64_t>(n), n, range, symmetric_a, symmetric_b);
        one.name += std::string(symmetric_a ? ";symmetric" : ";asymmetric") + " a=" + std::to_string(range.low_a) + ".." +
                    std::to_string(range.high_a) + (symmetric_b ? ";symmetric" : ";asymmetric") + " b=" + std::to_string(range.low_b) +
                    ".." + std::to_string(range.high_b);
        trials.push_back(std::move(one));
      }
  return trials;
}

inline std::vector<Trial> random_trials(int count) { return vicinity::random_trials(systems::sa(), count); }

}  // namespace vicinity::sa
