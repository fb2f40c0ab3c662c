#include "core/problems/weierstrass/weierstrass.hpp"

#include <cmath>
#include <string>

#include "core/util/digest.hpp"
#include "core/util/error.hpp"

namespace vicinity::weierstrass {

Weierstrass::Weierstrass(std::int32_t dimension, std::int64_t neighbors) : dimension_(dimension), neighbors_(neighbors) {
  if (dimension < 1 || dimension > 64) throw InputError("dimension " + std::to_string(dimension) + " is outside 1..64");
  if (neighbors < 1 || neighbors > 1 << 24) throw InputError(std::to_string(neighbors) + " neighbours are outside 1..2^24");
}

std::uint64_t Weierstrass::hash() const {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(dimension_));
  digest.add(static_cast<std::uint64_t>(neighbors_));
  return digest.value();
}

double value(std::span<const double> x) {
  double sum = 0;
  for (const double coordinate : x)
    for (int i = 1; i <= terms; ++i) sum += std::pow(2.0, -0.25 * i) * std::sin(std::ldexp(coordinate, i));
  return sum;
}

}  // namespace vicinity::weierstrass
