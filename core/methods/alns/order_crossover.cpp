#include "core/methods/alns/order_crossover.hpp"

#include <cstddef>

namespace vicinity::alns {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::vector<std::int32_t> order_crossover(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b, std::int32_t from,
                                          std::int32_t to) {
  const auto n = static_cast<std::int32_t>(a.size());
  std::vector<char> taken(a.size() + 1, 0);
  std::vector<std::int32_t> child(a.size());
  std::int32_t i = from;
  for (;; i = (i + 1) % n) {
    child[at(i)] = a[at(i)];
    taken[at(a[at(i)])] = 1;
    if (i == to) break;
  }
  std::int32_t next = (to + 1) % n;
  for (std::int32_t j = 0; j < n; ++j) {
    const std::int32_t c = b[at((to + 1 + j) % n)];
    if (taken[at(c)] != 0) continue;
    child[at(next)] = c;
    next = (next + 1) % n;
  }
  return child;
}

}  // namespace vicinity::alns
