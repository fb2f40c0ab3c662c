#include "core/util/utf8.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace vicinity {
namespace {

TEST(Utf8, CharactersHaveOneToFourBytes) {
  EXPECT_EQ(character_length("ab"), 1U);
  EXPECT_EQ(character_length(std::string_view("\0", 1)), 1U);
  EXPECT_EQ(character_length("\xC3\xA9x"), 2U);
  EXPECT_EQ(character_length(byte_order_mark), 3U);
  EXPECT_EQ(character_length("\xF4\x8F\xBF\xBF"), 4U);
}

TEST(Utf8, WhatIsNoneHasNone) {
  for (const std::string_view text : {"", "\x80", "\xC0\x80", "\xC3", "\xC3x", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                                      "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE2\x82"})
    EXPECT_EQ(character_length(text), 0U) << text;
}

}  // namespace
}  // namespace vicinity
