#pragma once
// The choice of an iteration as a key of the collectives (kernels/cuda/collective/key.cuh).
#include <cstdint>

#include "core/methods/lsm/search.hpp"
#include "kernels/cuda/collective/key.cuh"

namespace vicinity::lsm {

/// A number of 96 bits, whose order is that of local_search::better(): 1 bit forbidden, 64 bits value with the sign turned, 31 bits move.
using ChoiceKey = cuda::Key<std::uint64_t, std::uint32_t>;

[[nodiscard]] VICINITY_HD ChoiceKey key_of(const local_search::Choice& choice) {
  const auto ordered = static_cast<std::uint64_t>(choice.value) ^ std::uint64_t{1} << 63;
  return {static_cast<std::uint64_t>(choice.forbidden) << 63 | ordered >> 1,
          static_cast<std::uint32_t>(ordered) << 31 | static_cast<std::uint32_t>(choice.move)};
}
[[nodiscard]] VICINITY_HD local_search::Choice choice_of(const ChoiceKey& key) {
  return {static_cast<std::int64_t>((key.high << 1 | key.low >> 31) ^ std::uint64_t{1} << 63),
          static_cast<std::int64_t>(key.low & 0x7FFFFFFFu), key.high >> 63 != 0};
}

/// The same in 57 bits, which take a message of one word, for values of 32 bits and less than 2^24 moves: 1 bit forbidden, 32 bits value
/// with the sign turned, 24 bits move.
using ShortChoiceKey = cuda::Key<std::uint32_t, std::uint32_t, 32, 25>;

[[nodiscard]] VICINITY_HD ShortChoiceKey short_key_of(const local_search::Choice& choice) {
  const auto ordered = static_cast<std::uint32_t>(choice.value) ^ 0x80000000u;
  return {static_cast<std::uint32_t>(choice.forbidden) << 31 | ordered >> 1, (ordered & 1) << 24 | static_cast<std::uint32_t>(choice.move)};
}
[[nodiscard]] VICINITY_HD local_search::Choice choice_of(const ShortChoiceKey& key) {
  return {static_cast<std::int32_t>((key.high << 1 | key.low >> 24) ^ 0x80000000u), static_cast<std::int64_t>(key.low & 0xFFFFFFu),
          key.high >> 31 != 0};
}

}  // namespace vicinity::lsm
