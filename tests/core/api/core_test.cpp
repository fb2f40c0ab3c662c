#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/api/case.hpp"
#include "core/util/digest.hpp"
#include "core/util/error.hpp"
#include "core/util/math.hpp"
#include "tests/support/complaint.hpp"

namespace vicinity {
namespace {

std::uint64_t digest_of(const std::vector<int>& words) {
  Digest digest;
  digest.add(words);
  return digest.value();
}

TEST(Digest, DependsOnOrderLengthAndValue) {
  EXPECT_EQ(digest_of({1, 2}), digest_of({1, 2}));
  EXPECT_NE(digest_of({1, 2}), digest_of({2, 1}));
  EXPECT_NE(digest_of({0}), digest_of({0, 0}));
  EXPECT_NE(digest_of({}), digest_of({0}));
}

TEST(Halves, SurviveNegativeNumbers) {
  for (const Pair pair : {Pair{0, 0}, Pair{-1, 1}, Pair{32767, -32768}, Pair{-157, -157}}) {
    const Pair back = add_halves({10, -20}, pack_halves(pair));
    EXPECT_EQ(back.x, pair.x + 10);
    EXPECT_EQ(back.y, pair.y - 20);
  }
}

TEST(Math, Basics) {
  EXPECT_EQ(abs_difference_plus(3, 10, 5), 12);
  EXPECT_EQ(abs_difference_plus(10, 3, 5), 12);
  EXPECT_EQ(divide_up(33u, 32), 2u);
  EXPECT_EQ(divide_up(32u, 32), 1u);
}

TEST(Case, KeyIsCanonicalAndLimitsAreChecked) {
  const Case c{"grid-path", "", {{"states", std::int64_t{16}}, {"load", std::int64_t{1}}, {"order", std::string("fixed")}}};
  EXPECT_EQ(c.key(), "problem=grid-path;load=1;order=fixed;states=16");
  EXPECT_EQ(c.integer("states", 1, 16), 16);
  EXPECT_EQ(c.integer_or("absent", 7, 1, 9), 7);
  EXPECT_THROW(static_cast<void>(c.integer("states", 1, 15)), InputError);
  EXPECT_THROW(static_cast<void>(c.integer("absent", 1, 15)), InputError);
  EXPECT_THROW(static_cast<void>(c.integer("order", 1, 15)), InputError);
}

TEST(Case, RealNumbersMayBeWhole) {
  const Case c{"qap", "", {{"t0", 2.5}, {"tf", std::int64_t{2}}, {"none", std::nan("")}, {"matrix", std::string("2.5")}}};
  EXPECT_EQ(c.real("t0", 0), 2.5);
  EXPECT_EQ(c.real("tf", 1.5), 2);
  EXPECT_EQ(complaint<InputError>([&] { (void)c.real("t0", 2.5); }), "qap: t0 = 2.5 is not a number above 2.5");
  EXPECT_EQ(complaint<InputError>([&] { (void)c.real("none", 0); }), "qap: none = nan is not a number above 0");
  EXPECT_EQ(complaint<InputError>([&] { (void)c.real("matrix", 0); }), "qap: matrix = 2.5 is not a number above 0");
  EXPECT_EQ(complaint<InputError>([&] { (void)c.real("absent", 0); }), "qap: axis 'absent' is missing");
}

TEST(Case, NamesAreThoseAllowed) {
  const Case c{"qap", "", {{"matrix", std::string("asymmetric")}, {"order", std::int64_t{3}}}};
  const auto read = [&](const char* axis) { return c.name_or(axis, "symmetric", {"symmetric", "asymmetric"}); };
  EXPECT_EQ(read("matrix"), "asymmetric");
  EXPECT_EQ(read("absent"), "symmetric");
  EXPECT_EQ(complaint<InputError>([&] { (void)read("order"); }), "qap: order = 3 is none of symmetric, asymmetric");
}

}  // namespace
}  // namespace vicinity
