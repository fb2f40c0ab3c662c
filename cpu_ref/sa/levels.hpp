#pragma once
// The levels of a row, sixteen at a time, made when they are first asked for.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/annealing.hpp"
#include "cpu_ref/sa/vector.hpp"

namespace vicinity::sa {

/// Columns that share sixteen Philox blocks.
inline constexpr std::int32_t group = 64;

/// words[16 w + c] = word w of block `first + c`, c = 0..15.
inline void sixteen_blocks(std::uint64_t seed, std::int64_t lap, std::int32_t row, std::uint32_t first, std::uint32_t* words) {
#if defined(__AVX512F__)
  // annealing::words() with eight blocks a register, each word in the low half of a 64-bit lane; what is left in the high half does no
  // harm.
  using Eight = std::uint64_t __attribute__((vector_size(64)));
  using EightWords = std::uint32_t __attribute__((vector_size(32)));
  const auto product = [](const Eight& x, std::uint64_t multiplier) {
    return reinterpret_cast<Eight>(
        _mm512_maskz_mul_epu32(0xFF, reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(multiplier - Eight{})));
  };
  const std::uint64_t low = static_cast<std::uint32_t>(lap), high = static_cast<std::uint64_t>(lap) >> 32;
  Eight block[2][4];
  for (std::uint32_t half = 0; half < 2; ++half) {
    block[half][0] = low - Eight{};
    block[half][1] = high - Eight{};
    block[half][2] = static_cast<std::uint64_t>(row) - Eight{};
    block[half][3] = Eight{0, 1, 2, 3, 4, 5, 6, 7} + std::uint64_t{first + 8 * half};
  }
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (Eight(&word)[4] : block) {
      const Eight product0 = product(word[0], 0xD2511F53u), product1 = product(word[2], 0xCD9E8D57u);
      word[0] = (product1 >> 32) ^ word[1] ^ std::uint64_t{key0};
      word[1] = product1;
      word[2] = (product0 >> 32) ^ word[3] ^ std::uint64_t{key1};
      word[3] = product0;
    }
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  for (int half = 0; half < 2; ++half)
    for (int w = 0; w < 4; ++w) {
      const EightWords narrow = __builtin_convertvector(block[half][w], EightWords);
      std::memcpy(words + 16 * w + 8 * half, &narrow, sizeof narrow);
    }
#else
  for (std::uint32_t c = 0; c < 16; ++c) {
    const Philox4 block = annealing::words(seed, lap, row, first + c);
    for (int w = 0; w < 4; ++w) words[16 * w + c] = block.word[w];
  }
#endif
}

/// Sixteen annealing::level()s.
VICINITY_HD void sixteen_levels(const std::uint32_t* words, float* levels) {
#pragma omp simd
  for (int c = 0; c < lanes; ++c) levels[c] = annealing::level(words[c]);
}

class RowLevels {
 public:
  explicit RowLevels(std::int32_t n) : levels_(static_cast<std::size_t>((n + group - 1) / group * group)), made_(levels_.size() / group) {}

  void begin(std::uint64_t seed, std::int64_t lap, std::int32_t row) {
    seed_ = seed;
    lap_ = lap;
    row_ = row;
    made_.assign(made_.size(), 0);
  }

  /// Of columns 16 chunk ... 16 chunk + 15.
  [[nodiscard]] Vector<float> at(std::int32_t chunk) {
    const std::int32_t which = chunk / 4;
    float* const levels = levels_.data() + static_cast<std::ptrdiff_t>(which) * group;
    if (made_[static_cast<std::size_t>(which)] == 0) {
      alignas(64) std::uint32_t words[group];
      sixteen_blocks(seed_, lap_, row_, static_cast<std::uint32_t>(which) * 16, words);
      for (int w = 0; w < 4; ++w) sixteen_levels(words + lanes * w, levels + lanes * w);
      made_[static_cast<std::size_t>(which)] = 1;
    }
    return load(levels + lanes * (chunk % 4));
  }

 private:
  std::uint64_t seed_ = 0;
  std::int64_t lap_ = 0;
  std::int32_t row_ = 0;
  Aligned<float> levels_;
  std::vector<char> made_;
};

}  // namespace vicinity::sa
