#pragma once
// The random words of a row of pairs and which tests they accept, sixteen columns at a time. Words are made when they are first needed.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/methods/sa/annealing.hpp"
#include "cpu_ref/run/aligned.hpp"
#include "cpu_ref/sa/vector.hpp"

namespace vicinity::sa {

/// Columns that share sixteen Philox blocks.
inline constexpr std::int32_t group = 64;

/// words[16 w + c] = word w of block `first + c`, c = 0..15.
inline void sixteen_blocks(std::uint64_t seed, std::int64_t sweep, std::int32_t row, std::uint32_t first, std::uint32_t* words) {
  // annealing::words() with a block a 64-bit lane, two vectors at a time: each word in the low half of a lane. The high half is not read.
  constexpr std::int32_t blocks = lanes_a_part<std::uint64_t>;
  using Blocks = Vector<std::uint64_t>::Part;
  const auto product = [](const Blocks& x, std::uint64_t multiplier) {
    const Blocks y = multiplier - Blocks{};
#if defined(__AVX512BW__)
    return Blocks(_mm512_maskz_mul_epu32(0xFF, __m512i(x), __m512i(y)));
#elif defined(__AVX2__)
    return Blocks(_mm256_mul_epu32(__m256i(x), __m256i(y)));
#elif defined(__SSE2__)
    return Blocks(_mm_mul_epu32(__m128i(x), __m128i(y)));
#else
    return (x & 0xFFFFFFFFu) * y;
#endif
  };
  const std::uint64_t low = static_cast<std::uint32_t>(sweep), high = static_cast<std::uint64_t>(sweep) >> 32;
  for (std::int32_t c = 0; c < 16; c += 2 * blocks) {
    Blocks block[2][4];
    for (std::int32_t half = 0; half < 2; ++half) {
      block[half][0] = low - Blocks{};
      block[half][1] = high - Blocks{};
      block[half][2] = static_cast<std::uint64_t>(row) - Blocks{};
      for (std::int32_t k = 0; k < blocks; ++k) block[half][3][k] = first + static_cast<std::uint32_t>(c + half * blocks + k);
    }
    auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      for (Blocks(&word)[4] : block) {
        const Blocks product0 = product(word[0], 0xD2511F53u), product1 = product(word[2], 0xCD9E8D57u);
        word[0] = (product1 >> 32) ^ word[1] ^ std::uint64_t{key0};
        word[1] = product1;
        word[2] = (product0 >> 32) ^ word[3] ^ std::uint64_t{key1};
        word[3] = product0;
      }
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    for (std::int32_t half = 0; half < 2; ++half)
      for (std::int32_t w = 0; w < 4; ++w) {
        const auto narrow = __builtin_convertvector(block[half][w], typename PartOf<std::uint32_t, blocks>::Type);
        std::memcpy(words + 16 * w + c + half * blocks, &narrow, sizeof narrow);
      }
  }
}

/// Sixteen annealing::threshold()s.
VICINITY_HD Vector<float> thresholds_of(const std::uint32_t* words) {
  alignas(64) float thresholds[lanes];
#pragma omp simd
  for (int c = 0; c < lanes; ++c) thresholds[c] = annealing::threshold(words[c]);
  return load(thresholds);
}

/// No threshold of these words is higher. It takes the magnitude of the words alone, a third of the work of the threshold, and nearly
/// always suffices to reject.
VICINITY_HD Vector<float> threshold_bounds(const std::uint32_t* words) {
  const Vector<float> value = converted<float>(load(words)) + 0.5f;
  const Vector<std::int32_t> exponent = std::bit_cast<Vector<std::int32_t>>(value) >> 23;  // of 2^k: 127 + k
  return converted<float>(159 - exponent) * 0.693148f + 1e-6f;
}

class RowThresholds {
 public:
  explicit RowThresholds(std::int32_t n)
      : words_(static_cast<std::size_t>((n + group - 1) / group * group)), made_(words_.size() / group) {}

  void begin(std::uint64_t seed, std::int64_t sweep, std::int32_t row) {
    seed_ = seed;
    sweep_ = sweep;
    row_ = row;
    std::fill(made_.begin(), made_.end(), 0);
  }

  /// Which of columns 16 chunk ... 16 chunk + 15 have thresholds of at least `test`: bit c says column 16 chunk + c. `candidates` says
  /// which matter.
  [[nodiscard]] std::uint32_t accepted(std::int32_t chunk, const Vector<float>& test, std::uint32_t candidates) {
    candidates &= at_most(test, annealing::highest_threshold);
    if (candidates == 0) return 0;  // whatever the random numbers are
    const std::uint32_t* const words = words_of(chunk);
    candidates &= at_most(test, threshold_bounds(words));
    return candidates == 0 ? 0 : candidates & at_most(test, thresholds_of(words));
  }

 private:
  [[nodiscard]] const std::uint32_t* words_of(std::int32_t chunk) {
    const std::int32_t which = chunk / 4;
    std::uint32_t* const words = words_.data() + static_cast<std::ptrdiff_t>(which) * group;
    if (made_[static_cast<std::size_t>(which)] == 0) {
      sixteen_blocks(seed_, sweep_, row_, static_cast<std::uint32_t>(which) * 16, words);
      made_[static_cast<std::size_t>(which)] = 1;
    }
    return words + lanes * (chunk % 4);
  }

  std::uint64_t seed_ = 0;
  std::int64_t sweep_ = 0;
  std::int32_t row_ = 0;
  Aligned<std::uint32_t> words_;
  std::vector<char> made_;
};

}  // namespace vicinity::sa
