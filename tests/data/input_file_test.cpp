#include "data/input_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/util/error.hpp"
#include "data/formats/qaplib.hpp"
#include "data/sha256.hpp"
#include "tests/support/complaint.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

std::string refusal(const fs::path& file, std::uintmax_t most = largest_file) {
  return complaint<InputError>([&] { static_cast<void>(read_input_file(file, most)); });
}

TEST(InputFile, IsRegularAndOfBoundedSize) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("a", "text"), pipe = folder / "pipe", large = folder.write("large", "");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::resize_file(large, (std::uintmax_t{1} << 30) + 1);  // a hole: takes no space
  EXPECT_EQ(read_input_file(file), "text");
  EXPECT_EQ(refusal(pipe), pipe.string() + ": cannot be read: not a regular file");  // nobody waits for a writer
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: cannot be read: not a regular file");
  EXPECT_EQ(refusal(folder.path()), folder.path().string() + ": cannot be read: Is a directory");
  EXPECT_EQ(refusal(folder / "none"), (folder / "none").string() + ": cannot be read: No such file or directory");
  EXPECT_EQ(refusal(large), large.string() + ": larger than 1024 MiB");
  EXPECT_EQ(refusal(file, 4), "");
  fs::create_symlink(file, folder / "link");
  EXPECT_EQ(read_input_file(folder / "link"), "text");
}

TEST(InputFile, ReadersRefuseDevicesAndPipes) {
  EXPECT_EQ(complaint<InputError>([] { static_cast<void>(read_qaplib(fs::path("/dev/zero"))); }),
            "/dev/zero: cannot be read: not a regular file");
  EXPECT_EQ(complaint<InputError>([] { static_cast<void>(sha256_of_file("/dev/zero")); }), "/dev/zero: cannot be read: not a regular file");
}

}  // namespace
}  // namespace vicinity
