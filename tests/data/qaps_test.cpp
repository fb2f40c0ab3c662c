// QAP instances of the catalogue: generated, from files, missing, damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/util/error.hpp"
#include "data/formats/qaplib.hpp"
#include "data/qaps.hpp"
#include "data/search_path.hpp"
#include "data/sha256.hpp"
#include "tests/support/complaint.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

std::vector<CatalogueEntry> qaps(const std::function<bool(const CatalogueEntry&)>& wanted) {
  std::vector<CatalogueEntry> found;
  for (const CatalogueEntry& entry : catalogue().entries()) {
    if (entry.format == "qaplib" && wanted(entry)) found.push_back(entry);
  }
  return found;
}

std::vector<CatalogueEntry> all() {
  return qaps([](const auto&) { return true; });
}

/// The file when it is on the search path of this machine.
std::optional<std::filesystem::path> file_of(const CatalogueEntry& entry) {
  try {
    return instance_file(entry);
  } catch (const MissingInput&) {
    return std::nullopt;
  }
}

TEST(Qaps, CatalogueHasThoseOfTheExperiments) {
  EXPECT_EQ(all().size(), 134u);
  for (const std::string name : {"tai10a", "tai30a", "tai100a", "nug30", "sko100a", "tho150", "esc32a", "esc64a", "chr15a"}) {
    const CatalogueEntry& entry = catalogue().at(name);
    EXPECT_EQ(entry.file, "qaplib/" + name + ".dat");
    EXPECT_TRUE(entry.best_known && entry.best_known->of == "cost") << name;
    EXPECT_EQ(entry.content_sha256.size(), 64u) << name;
    EXPECT_FALSE(entry.origin->addresses.empty());
  }
  EXPECT_EQ(catalogue().at("tai100a").best_known->value, 21044752);
}

TEST(Qaps, TaillardsInstancesAreGeneratedWithoutFiles) {
  const TemporaryFolder empty;
  const ScopedEnvironment nowhere("VICINITY_INSTANCES", empty.path().string());
  const auto generated = qaps([](const auto& entry) { return entry.generator.has_value(); });
  EXPECT_EQ(generated.size(), 13u);
  for (const CatalogueEntry& entry : generated) {
    const auto qap = load_qap(entry.name);  // throws unless the content has the catalogue's checksum
    EXPECT_EQ(qap->name(), entry.name);
    EXPECT_EQ(qap->size(), entry.size.at("facilities"));
    EXPECT_TRUE(qap->symmetric() && qap->bytes());
  }
}

TEST(Qaps, GeneratedInstancesAreTheRealFilesEntryByEntry) {
  int compared = 0;
  for (const CatalogueEntry& entry : qaps([](const auto& e) { return e.generator.has_value(); })) {
    const auto file = file_of(entry);
    if (!file) continue;
    const qap::Qap real = read_qaplib(*file);
    const auto made = load_qap(entry);
    const auto entries = static_cast<std::size_t>(real.size()) * static_cast<std::size_t>(real.size());
    ASSERT_EQ(real.size(), made->size());
    EXPECT_TRUE(std::equal(real.view().a, real.view().a + entries, made->view().a)) << entry.name;
    EXPECT_TRUE(std::equal(real.view().b, real.view().b + entries, made->view().b)) << entry.name;
    ++compared;
  }
  if (compared == 0) GTEST_SKIP() << "no QAPLIB file is on the search path; set VICINITY_INSTANCES";
}

TEST(Qaps, RealFilesHaveTheContentAndTheBestCostOfTheCatalogue) {
  int read = 0;
  for (const CatalogueEntry& entry : all()) {
    const auto file = file_of(entry);
    if (!file) continue;
    const qap::Qap qap = read_qaplib(*file);
    EXPECT_EQ(sha256(qaplib_text(qap)), entry.content_sha256) << entry.name;
    EXPECT_EQ(qap.size(), entry.size.at("facilities"));
    EXPECT_EQ(best_known_of(qap), static_cast<std::int64_t>(entry.best_known->value)) << entry.name;
    ++read;
  }
  if (read == 0) GTEST_SKIP() << "no QAPLIB file is on the search path; set VICINITY_INSTANCES";
}

TEST(Qaps, SolutionFilesBesideThemCostWhatTheCatalogueSays) {
  int read = 0;
  const std::set<std::string> inverses{"esc128", "kra30a", "kra30b", "ste36c", "tai60a", "tai80a", "tho30", "tho150"};
  for (const CatalogueEntry& entry : all()) {
    auto file = file_of(entry);
    if (!file || !std::filesystem::is_regular_file(file->replace_extension(".sln"))) continue;
    const QaplibSolution solution = read_qaplib_solution(*file, *load_qap(entry));
    // Nobody published the permutation of tai100a's record.
    EXPECT_EQ(solution.objective, entry.name == "tai100a" ? 21052466 : static_cast<std::int64_t>(entry.best_known->value)) << entry.name;
    EXPECT_EQ(solution.convention, inverses.contains(entry.name) ? "1-based, inverse"
                                   : entry.name == "tai40a"      ? "0-based"
                                                                 : "1-based")
        << entry.name;
    ++read;
  }
  if (read == 0) GTEST_SKIP() << "no QAPLIB solution is on the search path; set VICINITY_INSTANCES";
}

TEST(Qaps, FromAFileOfTheRightChecksumOnly) {
  const TemporaryFolder folder;
  const std::string text = "2\n0 1 1 0\n0 3 3 0\n";
  CatalogueEntry entry = catalogue().at("nug12");
  entry.file = "qaplib/own.dat";
  entry.sha256 = sha256(text);
  const ScopedEnvironment set("VICINITY_INSTANCES", folder.path().string());
  const auto file = folder.write("deep/down/own.dat", text);
  const auto qap = load_qap(entry);
  EXPECT_EQ(qap->name(), "own");
  folder.write("deep/down/own.dat", text + "\n");
  EXPECT_EQ(complaint<InputError>([&] { (void)load_qap(entry); }),
            file.string() + ": SHA-256 is " + sha256(text + "\n") + ", the catalogue has " + entry.sha256);
}

TEST(Qaps, MissingFileSaysHowToGetIt) {
  const TemporaryFolder folder;
  CatalogueEntry entry = catalogue().at("nug12");
  entry.file = "qaplib/nobody-has-this.dat";
  entry.source = "its author";
  entry.origin->debian_folder = "/nonexistent/debian";
  const ScopedEnvironment set("VICINITY_INSTANCES", folder.path().string());
  EXPECT_EQ(complaint<MissingInput>([&] { (void)load_qap(entry); }),
            "instance file qaplib/nobody-has-this.dat not found in " + folder.path().string() + ", " +
                (data_folder() / "instances").string() + ", " + (data_folder() / "models").string() +
                ", /nonexistent/debian; get it with 'make fetch', 'apt-get install r-cran-qap', or from its author and put it into "
                "data/instances/qaplib, or set VICINITY_INSTANCES to the folder that holds it");
}

TEST(Qaps, DebianPackagesFolderIsSearchedLast) {
  const TemporaryFolder debian, own;
  const std::string text = "2\n0 1 1 0\n0 3 3 0\n";
  CatalogueEntry entry = catalogue().at("nug12");
  entry.file = "qaplib/own.dat";
  entry.sha256 = sha256(text);
  entry.origin->debian_folder = debian.path();
  const ScopedEnvironment set("VICINITY_INSTANCES", own.path().string());
  const auto packaged = debian.write("own.dat", text);
  EXPECT_EQ(instance_file(entry), packaged);
  const auto mine = own.write("own.dat", text);
  EXPECT_EQ(instance_file(entry), mine);
}

TEST(Qaps, WhatIsNoQapAndWhatTheGeneratorDoesNotReproduceIsRefused) {
  EXPECT_NE(complaint<InputError>([] { (void)load_qap("1-Insertions_4"); }).find("is no QAP: its format is dimacs-col"), std::string::npos);
  CatalogueEntry entry = catalogue().at("tai12a");
  entry.generator->parameters["seed_b"] = 1;
  EXPECT_NE(complaint<InputError>([&] { (void)load_qap(entry); }).find("content_sha256"), std::string::npos);
  entry.generator->parameters.erase("seed_a");
  EXPECT_NE(complaint<InputError>([&] { (void)load_qap(entry); }).find("'seed_a' is missing"), std::string::npos);
  entry.generator->name = "dice";
  EXPECT_NE(complaint<InputError>([&] { (void)load_qap(entry); }).find("unknown generator 'dice' of format qaplib"), std::string::npos);
}

TEST(Qaps, BestKnownGoesByContentNotByName) {
  const auto qap = load_qap("tai12a");
  const auto view = qap->view();
  std::vector<std::int32_t> a(view.a, view.a + 144), b(view.b, view.b + 144);
  EXPECT_EQ(best_known_of(qap::Qap("mine", 12, a, b)), 224416);
  ++a[1];
  EXPECT_EQ(best_known_of(qap::Qap("tai12a", 12, a, b)), std::nullopt);
}

Case random_case(std::map<std::string, Value> more) {
  more["size"] = std::int64_t{5};
  return {"qap", "", std::move(more)};
}

TEST(MakeQap, IsSymmetricOrAsymmetric) {
  EXPECT_TRUE(make_qap(random_case({}))->symmetric());
  EXPECT_FALSE(make_qap(random_case({{"matrix", std::string("asymmetric")}}))->symmetric());
  EXPECT_EQ(complaint<InputError>([] {
              (void)make_qap(random_case({{"matrix", std::string("lower")}}));
            }),
            "qap: matrix = lower is none of symmetric, asymmetric");
}

}  // namespace
}  // namespace vicinity
