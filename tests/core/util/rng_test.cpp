#include "core/util/rng.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace vicinity {
namespace {

// Known-answer vectors of Random123 (kat_vectors, philox 4x32, 10 rounds).
struct KnownAnswer {
  Philox4 counter;
  std::uint64_t key;
  Philox4 expected;
};

TEST(Philox, KnownAnswers) {
  const KnownAnswer vectors[] = {
      {{{0, 0, 0, 0}}, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
      {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, 0xffffffffffffffff, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822, {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
  };
  for (const KnownAnswer& v : vectors)
    for (int w = 0; w < 4; ++w) EXPECT_EQ(philox(v.counter, v.key).word[w], v.expected.word[w]);
}

TEST(Philox, EveryAddressPartMatters) {
  const std::uint64_t base = random_bits(1, 2, 3, 4);
  EXPECT_NE(base, random_bits(2, 2, 3, 4));
  EXPECT_NE(base, random_bits(1, 3, 3, 4));
  EXPECT_NE(base, random_bits(1, 2 + (1ull << 32), 3, 4));
  EXPECT_NE(base, random_bits(1, 2, 4, 4));
  EXPECT_NE(base, random_bits(1, 2, 3, 5));
}

TEST(XorShift64Star, KnownAnswer) {
  XorShift64Star generator{1};
  EXPECT_EQ(generator.next(), 0x47E4CE4B896CDD1Dull);
  EXPECT_EQ(generator.state, 0x2000001u);
}

TEST(ScaleTo, CoversTheRangeAndNothingElse) {
  EXPECT_EQ(scale_to(0, 10), 0u);
  EXPECT_EQ(scale_to(~0ull, 10), 9u);
  EXPECT_EQ(scale_to(~0ull, 1), 0u);
  EXPECT_EQ(scale_to(~0ull, 0), 0u);
  EXPECT_EQ(scale_to(1ull << 63, 1ull << 63), 1ull << 62);
}

}  // namespace
}  // namespace vicinity
