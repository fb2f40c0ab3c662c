#pragma once
// FlatZinc models that a few parameters, a graph or a QAP define. Each says what its variables are and how it is to be searched first.
#include <cstdint>
#include <string>
#include <vector>

#include "core/problems/qap/qap.hpp"
#include "data/graph.hpp"

namespace vicinity {

/// Random disequalities between `variables` variables with values 1..domain: `constraints` different pairs (Campeotto et al., Table 1).
/// Throws InputError where there are not so many pairs.
[[nodiscard]] std::string random_csp(std::int64_t variables, std::int64_t constraints, std::int64_t domain, std::uint64_t seed);

/// The modified colouring problem (Table 2): a colour 1..colours a vertex, adjacent ones different; the sum of the differences of colours
/// over all pairs of vertices is maximised. Searched in the order of ascending degree, last vertices first, least colour first.
[[nodiscard]] std::string colouring_model(const Graph& graph, std::int64_t colours);
/// Its permutation model (Table 2, footnote 3): vertices get different numbers from 1; the sum over the edges is maximised.
[[nodiscard]] std::string numbering_model(const Graph& graph);

/// Locations of facilities, all different, costs by element constraints (Table 4).
[[nodiscard]] std::string qap_model(const qap::Qap& qap);

/// A knapsack problem after D. Pisinger's generator: weights from 1 to `range`; profits without a correlation from 1 to `range`, with a
/// weak one the weight give or take range / 10, with a strong one the weight and range / 10; half of all weight fits.
struct Knapsack {
  std::vector<std::int64_t> weight, profit;
  std::int64_t capacity = 0;
};
enum class Correlation { none, weak, strong };
[[nodiscard]] Knapsack random_knapsack(std::int64_t items, std::int64_t range, Correlation correlation, std::uint64_t seed);
/// Taken or not, the profit is maximised (Table 3).
[[nodiscard]] std::string knapsack_model(const Knapsack& knapsack);
/// By dynamic programming: O(items capacity).
[[nodiscard]] std::int64_t knapsack_optimum(const Knapsack& knapsack);

/// A random optimisation model with a solution: linear, products, elements, absolute values, reified comparisons, all-different;
/// definitions and checks; domains with and without holes.
[[nodiscard]] std::string random_model(std::int64_t variables, std::int64_t constraints, std::int64_t domain, std::uint64_t seed);

}  // namespace vicinity
