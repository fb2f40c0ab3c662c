// How ranks with a GPU each exchange moves, and how they divide a search: on the host alone, no device needed.
#include "kernels/lsm/ranks/exchange.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace vicinity::lsm {
namespace {

std::vector<RankDevice> devices(std::int32_t count) {
  std::vector<RankDevice> all;
  for (std::int64_t r = 0; r < count; ++r) all.push_back({{7, r}, 132, 232448, 90, 1});
  return all;
}

TEST(LsmExchange, OfLikeDevicesIsByPolledWords) {
  for (const std::int32_t ranks : {1, 2, 3, 4, 7, 32}) EXPECT_EQ(exchange_of(devices(ranks)), Exchange::polled_words) << ranks;
}

TEST(LsmExchange, ElseTheReasonIsSaid) {
  EXPECT_EQ(exchange_of(devices(33)), Exchange::too_many_ranks);
  auto some = devices(4);
  some[3].is_exported = 0;
  EXPECT_EQ(exchange_of(some), Exchange::no_mapping);
  some = devices(4);
  some[2].multiprocessors = 114;
  EXPECT_EQ(exchange_of(some), Exchange::unlike_devices);
  some = devices(4);
  some[1].shared_bytes = 101376;
  EXPECT_EQ(exchange_of(some), Exchange::unlike_devices);
  some = devices(4);
  some[3] = some[1];
  some[3].is_exported = 0;
  EXPECT_EQ(exchange_of(some), Exchange::shared_device) << "before that its memory is not exported";
}

TEST(LsmExchange, EachHasANameOfItsOwn) {
  std::set<std::string> names;
  for (const Exchange one : {Exchange::polled_words, Exchange::several_hosts, Exchange::too_many_ranks, Exchange::shared_device,
                             Exchange::unlike_devices, Exchange::no_mapping})
    names.insert(name_of(one));
  EXPECT_EQ(names.size(), 6u);
  EXPECT_STREQ(name_of(Exchange::polled_words), "polled_words");
  EXPECT_STREQ(name_of(Exchange::no_mapping), "no_peer_access");
}

/// Every share has a block, every rank at least one and no more than it has multiprocessors, and the blocks of the ranks follow each other.
TEST(LsmExchange, BlocksAreDealtToAllRanks) {
  for (const std::int32_t ranks : {1, 2, 3, 4, 7, 32})
    for (const std::int32_t multiprocessors : {1, 2, 46, 132})
      for (const std::int64_t shares : {1LL, 2LL, 3LL, 6LL, 7LL, 45LL, 131LL, 132LL, 133LL, 263LL, 264LL, 1000LL, 1LL << 40}) {
        std::int32_t next = 0;
        const GridShare first = GridShare::of(shares, 0, ranks, multiprocessors);
        std::set<std::int32_t> worked;
        for (std::int32_t r = 0; r < ranks; ++r) {
          const GridShare share = GridShare::of(shares, r, ranks, multiprocessors);
          ASSERT_EQ(share.first, next);
          ASSERT_GE(share.count, 1);
          ASSERT_LE(share.count, multiprocessors);
          ASSERT_EQ(share.all, first.all);
          ASSERT_EQ(share.working, first.working);
          next += share.count;
          std::set<std::int32_t> of_rank;
          for (std::int32_t b = 0; b < share.count; ++b) of_rank.insert((share.first + b) % share.working);
          ASSERT_EQ(of_rank.size(), static_cast<std::size_t>(share.count)) << "two blocks of a rank evaluate the same";
          worked.merge(of_rank);
        }
        ASSERT_EQ(next, first.all);
        ASSERT_LE(first.working, shares);
        ASSERT_EQ(worked.size(), static_cast<std::size_t>(first.working)) << shares << " shares, " << ranks << " ranks";
      }
}

}  // namespace
}  // namespace vicinity::lsm
