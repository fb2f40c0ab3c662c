#include "harness/record/recorder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/complaint.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

/// A record of a case that was skipped.
std::string line(int n) {
  return fmt::format(R"({{"schema":1,"experiment":"a/b","case":{{}},"case_key":"n={}","implementation":"cpu","status":"skipped"}})", n);
}

TEST(Recorder, AppendsWholeLinesAndReadsThemBack) {
  const TemporaryFolder folder;
  const auto path = folder / "a/b/c.jsonl";
  {
    Recorder recorder(path);
    recorder.append(Json::parse(line(1)));
    recorder.append(Json::parse(line(2)));
  }
  EXPECT_EQ(contents(path), line(1) + "\n" + line(2) + "\n");
  const Recorder again(path);
  ASSERT_EQ(again.existing().size(), 2U);
  EXPECT_EQ(again.existing()[1]["case_key"], "n=2");
  EXPECT_TRUE(again.damaged().empty());
}

TEST(Recorder, DropsATornLastLine) {
  const TemporaryFolder folder;
  const std::string path = folder.write("r.jsonl", line(1) + "\n" + line(2).substr(0, 30));
  Recorder recorder(path);
  EXPECT_EQ(recorder.existing().size(), 1U);
  EXPECT_TRUE(recorder.damaged().empty());
  recorder.append(Json::parse(line(3)));
  EXPECT_EQ(contents(path), line(1) + "\n" + line(3) + "\n");
}

TEST(Recorder, KeepsRecordsThatRanTogetherWhereTheLastLineLacksItsEnd) {
  const TemporaryFolder folder;
  const std::string text = line(1) + "\n" + line(2) + line(3), path = folder.write("r.jsonl", text);
  const Recorder recorder(path);
  EXPECT_EQ(recorder.existing().size(), 1U);
  EXPECT_EQ(recorder.damaged().size(), 1U);
  EXPECT_EQ(contents(path), text + "\n");
}

TEST(Recorder, KeepsAWholeLineThatOnlyLacksItsEnd) {
  const TemporaryFolder folder;
  const std::string path = folder.write("r.jsonl", line(1) + "\n" + line(2));
  Recorder recorder(path);
  EXPECT_EQ(recorder.existing().size(), 2U);
  recorder.append(Json::parse(line(3)));
  EXPECT_EQ(contents(path), line(1) + "\n" + line(2) + "\n" + line(3) + "\n");
}

TEST(Recorder, ADamagedLineStaysAndCostsItself) {
  const TemporaryFolder folder;
  const std::string text = line(1) + "\nnot json\n\n \t\r\n" + R"({"schema":"1"})" + "\n" + line(2) + "\n{\"schema\":2}";
  const std::string path = folder.write("r.jsonl", text);
  const Recorder recorder(path);
  EXPECT_EQ(recorder.existing().size(), 2U);
  EXPECT_EQ(recorder.damaged(), (std::vector<std::string>{path + ":2: not JSON: at character 2", path + ":5: experiment: is missing",
                                                          path + ":7: experiment: is missing"}));
  EXPECT_EQ(contents(path), text + "\n");
}

TEST(Recorder, OneWriterAFile) {
  const TemporaryFolder folder;
  const auto path = folder / "r.jsonl";
  const Recorder first(path);
  EXPECT_THROW(Recorder second(path), EnvironmentError);
}

/// It would be read for ever.
TEST(Recorder, ADeviceIsNoFileOfRecords) {
  const TemporaryFolder folder;
  fs::create_symlink("/dev/full", folder / "r.jsonl");
  const auto refusal = [](const fs::path& path) { return complaint<EnvironmentError>([&] { const Recorder recorder(path); }); };
  EXPECT_EQ(refusal(folder / "r.jsonl"), (folder / "r.jsonl").string() + ": not an ordinary file");
  EXPECT_EQ(refusal(folder / "r.shard-1-of-2.jsonl"), (folder / "r.jsonl").string() + ": not an ordinary file");
}

TEST(Recorder, FolderThatIsAFile) {
  const TemporaryFolder folder;
  folder.write("results", "");
  EXPECT_THROW(Recorder(folder / "results/r.jsonl"), EnvironmentError);
  EXPECT_THROW(Recorder(folder / "results/deeper/r.jsonl"), EnvironmentError);
}

TEST(Recorder, FullDiskLeavesWholeLines) {
  const TemporaryFolder folder;
  const auto path = folder / "r.jsonl";
  Recorder recorder(path);
  recorder.append({{"n", 1}});
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 20, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(recorder.append({{"text", std::string(100, 'x')}}), EnvironmentError);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(contents(path), "{\"n\":1}\n");
  recorder.append({{"n", 2}});
  EXPECT_EQ(contents(path), "{\"n\":1}\n{\"n\":2}\n");
}

TEST(WriteAtomically, ReplacesOrLeavesAlone) {
  const TemporaryFolder folder;
  const auto path = folder / "new/environment.json";
  write_atomically(path, "one");
  write_atomically(path, "two");
  EXPECT_EQ(contents(path), "two");
  EXPECT_THROW(write_atomically(folder / "new/environment.json/x", "three"), EnvironmentError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "new"), {}), 1);
}

TEST(Outputs, APlantedTemporaryIsNotFollowed) {
  const TemporaryFolder folder;
  const fs::path other = folder.write("other", "precious"), path = folder / "out";
  fs::create_symlink(other, fmt::format("{}.{}.tmp", path.string(), getpid()));
  write_atomically(path, "text");
  EXPECT_EQ(contents(path), "text");
  EXPECT_EQ(contents(other), "precious");
}

TEST(Outputs, DevicesAndLinksStayWhatTheyAre) {
  const TemporaryFolder folder;
  const fs::path target = folder.write("target", "old");
  fs::create_symlink(target, folder / "link");
  write_output(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(contents(target), "new");
  write_output("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(write_output("/dev/full", "text"), EnvironmentError);
  EXPECT_THROW(write_output(folder / ".", "text"), EnvironmentError);
  fs::create_symlink(folder / "nowhere", folder / "dangling");
  EXPECT_THROW(write_output(folder / "dangling", "text"), EnvironmentError);
  EXPECT_FALSE(fs::exists(folder / "nowhere"));
}

TEST(Outputs, APipeIsWrittenTo) {
  const TemporaryFolder folder;
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = contents(pipe); });
  write_output(pipe, "text");
  reader.join();
  EXPECT_EQ(got, "text");
  EXPECT_TRUE(fs::is_fifo(pipe));
}

}  // namespace
}  // namespace vicinity
