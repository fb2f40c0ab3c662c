#include "core/util/memory.hpp"

#include <gtest/gtest.h>

#include "core/util/error.hpp"

namespace vicinity {
namespace {

TEST(Memory, IsRefusedBeforeItIsTaken) {
  EXPECT_GT(available_memory(), 0);
  EXPECT_NO_THROW(require_memory(1e6, "little"));
  try {
    require_memory(1e18, "everything");
    FAIL();
  } catch (const DoesNotFit& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("everything takes 1000000000.0 GB of memory, ")) << error.what();
  }
}

}  // namespace
}  // namespace vicinity
