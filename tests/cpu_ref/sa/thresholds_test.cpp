#include "cpu_ref/sa/thresholds.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace vicinity::sa {
namespace {

TEST(SaThresholds, SixteenBlocksAreThePhiloxBlocks) {
  for (const std::uint64_t seed : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x123456789ABCDEF0}})
    for (const std::int64_t sweep : {std::int64_t{0}, std::int64_t{5}, (std::int64_t{1} << 39) + 7})
      for (const std::uint32_t first : {0u, 16u, 11568u}) {
        std::uint32_t found[group];
        sixteen_blocks(seed, sweep, 46338, first, found);
        for (std::uint32_t c = 0; c < 16; ++c)
          for (std::uint32_t w = 0; w < 4; ++w)
            ASSERT_EQ(found[16 * w + c], annealing::words(seed, sweep, 46338, first + c).word[w])
                << seed << " " << sweep << " " << first + c;
      }
}

/// Both ends, both sides of every power of two, and many between.
std::vector<std::uint32_t> probes() {
  std::vector<std::uint32_t> words;
  for (std::uint32_t w = 0; w < 64; ++w) words.insert(words.end(), {w, ~w});
  for (int bit = 1; bit < 32; ++bit)
    for (std::uint32_t near = 0; near < 64; ++near) words.push_back((1u << bit) - 32 + near);
  for (std::uint64_t w = 0; w < (std::uint64_t{1} << 32); w += 65521) words.push_back(static_cast<std::uint32_t>(w));
  words.resize(words.size() / lanes * lanes);
  return words;
}

TEST(SaThresholds, SixteenThresholdsAreTheContractsAndBelowTheirBounds) {
  const std::vector<std::uint32_t> words = probes();
  for (std::size_t at = 0; at < words.size(); at += lanes) {
    const Vector<float> thresholds = thresholds_of(words.data() + at), bounds = threshold_bounds(words.data() + at);
    for (std::size_t c = 0; c < lanes; ++c) {
      ASSERT_EQ(thresholds[c], annealing::threshold(words[at + c])) << words[at + c];
      ASSERT_LE(thresholds[c], bounds[c]) << words[at + c];
      ASSERT_LT(bounds[c] - thresholds[c], 0.7f) << words[at + c];
    }
  }
}

TEST(SaThresholds, ARowAcceptsAsTheContractSays) {
  for (const std::int32_t n : {2, 17, 64, 65, 130}) {
    RowThresholds row(n);
    for (std::int64_t sweep = 0; sweep < 20; ++sweep) {
      row.begin(9, sweep, 0);
      for (std::int32_t chunk = 0; chunk * lanes < n; ++chunk)
        for (const float test : {-1.0f, 0.0f, 0.5f, 1.0f, 3.0f, 22.9f, 23.0f}) {
          const std::uint32_t accepted = row.accepted(chunk, test, 0x7FFFu);
          for (std::int32_t c = 0; c < lanes; ++c)
            ASSERT_EQ((accepted >> c & 1) != 0, c != 15 && test <= annealing::threshold_at(9, sweep, 0, chunk * lanes + c))
                << n << " " << chunk << " " << c;
        }
    }
  }
}

}  // namespace
}  // namespace vicinity::sa
