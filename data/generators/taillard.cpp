#include "data/generators/taillard.hpp"

#include <string>

#include "core/util/error.hpp"

namespace vicinity {
namespace {

constexpr std::int64_t modulus = 2147483647;

std::size_t at(std::int32_t n, std::int32_t i, std::int32_t j) {
  return static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j);
}

}  // namespace

TaillardStream::TaillardStream(std::int64_t seed) : state_(seed) {
  if (seed < 1 || seed >= modulus) throw InputError("generator seed " + std::to_string(seed) + " is outside 1..2147483646");
}

std::int32_t TaillardStream::draw(std::int64_t range) {
  state_ = 16807 * state_ % modulus;
  return static_cast<std::int32_t>(range * state_ / modulus);
}

std::vector<std::int32_t> TaillardStream::symmetric(std::int32_t n, std::int64_t range) {
  std::vector<std::int32_t> matrix(at(n, n, 0));
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = i + 1; j < n; ++j) matrix[at(n, i, j)] = matrix[at(n, j, i)] = draw(range);
  return matrix;
}

std::vector<std::int32_t> TaillardStream::asymmetric(std::int32_t n, std::int64_t range) {
  std::vector<std::int32_t> matrix(at(n, n, 0));
  for (std::int32_t& entry : matrix) entry = draw(range);
  return matrix;
}

}  // namespace vicinity
