#pragma once
// Columns side by side: GCC's vectors, as wide as the processor's.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

#include "core/util/hd.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // everything here is inlined: no vector crosses a call

namespace vicinity::lsm {

#if defined(__AVX512BW__)
inline constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr std::size_t vector_bytes = 32;
#else
inline constexpr std::size_t vector_bytes = 16;
#endif

using Columns = std::int32_t __attribute__((vector_size(vector_bytes)));
inline constexpr std::size_t columns_a_vector = vector_bytes / 4;
/// Four times as many columns.
using Bytes = std::uint8_t __attribute__((vector_size(vector_bytes)));

VICINITY_HD Columns load_columns(const std::int32_t* from) {
  Columns value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Adds the bits of `value` to the columns whose bit in `which` is set.
VICINITY_HD void or_where(std::uint64_t which, std::int32_t value, Columns& word) {
#if defined(__AVX512BW__)
  const auto before = reinterpret_cast<__m512i>(word);
  word = reinterpret_cast<Columns>(_mm512_mask_or_epi32(before, static_cast<__mmask16>(which), before, _mm512_set1_epi32(value)));
#else
  const auto bits = []<std::size_t... I>(std::index_sequence<I...>) { return Columns{(1 << I)...}; }
  (std::make_index_sequence<columns_a_vector>{});
  word |= (((Columns{} + static_cast<std::int32_t>(which)) & bits) != 0) & value;
#endif
}

/// Adds 1 to the columns whose bit in `which` is set.
VICINITY_HD void add_where(std::uint64_t which, Bytes& counts) {
#if defined(__AVX512BW__)
  const auto before = reinterpret_cast<__m512i>(counts);
  counts = reinterpret_cast<Bytes>(_mm512_mask_sub_epi8(before, which, before, _mm512_set1_epi8(-1)));
#else
  using Words = std::uint64_t __attribute__((vector_size(vector_bytes)));
  const auto words = reinterpret_cast<Bytes>(Words{} + which);
  counts -= [&]<std::size_t... I>(std::index_sequence<I...>) {  // every byte takes the one with its bit, from its own 128 bits
    const Bytes own = __builtin_shufflevector(words, words, (I / 16 * 16 + I / 8 % 8)...), bits{static_cast<std::uint8_t>(1 << I % 8)...};
    return reinterpret_cast<Bytes>((own & bits) != 0);
  }
  (std::make_index_sequence<vector_bytes>{});
#endif
}

/// Ones of each column's bits.
VICINITY_HD Columns ones_of(const Columns& bits) {
#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512BW__)
  return reinterpret_cast<Columns>(_mm512_popcnt_epi32(reinterpret_cast<__m512i>(bits)));
#else
  using Words = std::uint32_t __attribute__((vector_size(vector_bytes)));
  auto word = reinterpret_cast<Words>(bits);
  word -= word >> 1 & 0x55555555u;
  word = (word & 0x33333333u) + (word >> 2 & 0x33333333u);
  word = (word + (word >> 4)) & 0x0F0F0F0Fu;
  word += word >> 8;
  return reinterpret_cast<Columns>((word + (word >> 16)) & 0x3Fu);
#endif
}

}  // namespace vicinity::lsm
