#include "data/formats/qaplib.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "core/util/error.hpp"
#include "tests/support/complaint.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

qap::Qap parse(const std::string& text) {
  std::istringstream in(text);
  return read_qaplib(in, "folder/q.dat");
}

std::string rejection(const std::string& text) {
  return complaint<InputError>([&] { (void)parse(text); });
}

QaplibSolution solution(const std::string& text, const qap::Qap& qap) {
  std::istringstream in(text);
  return read_qaplib_solution(in, "q.sln", qap);
}

std::string solution_rejection(const std::string& text, const qap::Qap& qap) {
  return complaint<InputError>([&] { (void)solution(text, qap); });
}

/// Asymmetric, so that a permutation and its inverse differ in cost.
qap::Qap three() { return parse("3\n0 1 2\n4 0 8\n16 32 0\n\n0 1 3\n9 0 27\n81 243 0\n"); }

qap::Qap random_qap(std::mt19937& random) {
  const auto n = static_cast<std::int32_t>(2 + random() % 30);
  const auto matrix = [&] {
    std::vector<std::int32_t> entries(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
    for (auto& entry : entries) entry = static_cast<std::int32_t>(random() % 2001) - 1000;
    return entries;
  };
  return {"random", n, matrix(), matrix()};
}

qap::Permutation random_permutation(std::mt19937& random, std::int32_t n) {
  qap::Permutation p(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = static_cast<std::int32_t>(i);
  std::shuffle(p.begin(), p.end(), random);
  return p;
}

TEST(Qaplib, ReadsNumbersWhereverTheLinesBreak) {
  const qap::Qap qap = parse("\xef\xbb\xbf\n 2\r\n0 -1\t+2\n\n3\n4 5 6 2147483647");
  EXPECT_EQ(qap.name(), "q");
  EXPECT_EQ(qap.size(), 2);
  const auto view = qap.view();
  EXPECT_EQ(std::vector<std::int32_t>(view.a, view.a + 4), (std::vector<std::int32_t>{0, -1, 2, 3}));
  EXPECT_EQ(std::vector<std::int32_t>(view.b, view.b + 4), (std::vector<std::int32_t>{4, 5, 6, 2147483647}));
}

TEST(Qaplib, TheFirstLineMayStateTheBestCostKnown) {
  const std::string entries = "0 1 2\n4 0 8\n16 32 0\n\n0 1 3\n9 0 27\n81 243 0\n";
  for (const char* first : {"3 7", "  3\t7  ", "\n3 7\r", "3 -5 7", "3 99999999999 99999999999"})
    EXPECT_EQ(parse(first + ("\n" + entries)).hash(), three().hash()) << first;
  EXPECT_EQ(parse("3 7\n0 1 2 4 0 8 16 32 0 0 1 3 9\n0 27 81 243 0").hash(), three().hash());
  EXPECT_EQ(parse("2 7\n0 1\n2 3\n4 5\n6 7\n").hash(), parse("2 0 1 2 3 4 5 6 7").hash());
}

TEST(Qaplib, EntriesBesideTheSizeStayEntries) {
  for (const char* text : {"3 0 1 2\n4 0 8\n16 32 0\n0 1 3\n9 0 27\n81 243 0\n", "3 0\n1 2\n4 0\n8 16\n32 0\n0 1\n3 9\n0 27\n81 243 0",
                           "3 0 1\n2 4 0 8\n16 32 0 0 1\n3 9 0 27 81 243 0\n"})
    EXPECT_EQ(parse(text).hash(), three().hash()) << text;
  EXPECT_EQ(parse("2 0\n1 2\n3 4\n5 6\n7").hash(), parse("2 0 1 2 3 4 5 6 7").hash());
}

TEST(Qaplib, BadFilesThatStateACostAreRejectedWithFileAndLine) {
  const std::string a = "0 1 2\n4 0 8\n16 32 0\n", b = "0 1 3\n9 0 27\n81 243 0\n";
  EXPECT_EQ(rejection("3 7\n" + a + b + "\n5\n"), "folder/q.dat:9: unexpected '5' after the last entry of B");
  EXPECT_EQ(rejection("3 7\n" + a + b + "x\n"), "folder/q.dat:8: unexpected 'x' after the last entry of B");
  EXPECT_EQ(rejection("3 7\n" + a + "0 1 3\n9 0 27\n81 243\n"), "folder/q.dat:7: the file ends after 8 of the 3 x 3 entries of B");
  EXPECT_EQ(rejection("3 7.5\n" + a + b), "folder/q.dat:1: expected a whole number, found '7.5'");
  EXPECT_EQ(rejection("3 99999999999999999999\n" + a + b), "folder/q.dat:1: 99999999999999999999 does not fit 64 bits");
  EXPECT_EQ(rejection("3 5 7 9\n" + a + b), "folder/q.dat:7: unexpected '81' after the last entry of B");
}

TEST(Qaplib, TextOfARandomInstanceReadsBackEqual) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    const qap::Qap qap = random_qap(random);
    EXPECT_EQ(parse(qaplib_text(qap)).hash(), qap.hash());
  }
  EXPECT_EQ(qaplib_text(parse("2 0 1 2 3 4 5 6 7")), "2\n\n0 1\n2 3\n\n4 5\n6 7\n");
}

TEST(Qaplib, BadFilesAreRejectedWithFileAndLine) {
  EXPECT_EQ(rejection(""), "folder/q.dat:1: the file is empty; expected the size");
  EXPECT_EQ(rejection("\n\n"), "folder/q.dat:1: the file is empty; expected the size");
  EXPECT_EQ(rejection("\nsize\n"), "folder/q.dat:2: expected a whole number, found 'size'");
  EXPECT_EQ(rejection("1\n0 0\n"), "folder/q.dat:1: size 1 is outside 2..46340");
  EXPECT_EQ(rejection("-3\n"), "folder/q.dat:1: size -3 is outside 2..46340");
  EXPECT_EQ(rejection("46341\n"), "folder/q.dat:1: size 46341 is outside 2..46340");
  EXPECT_EQ(rejection("99999999999999999999\n"), "folder/q.dat:1: 99999999999999999999 does not fit 64 bits");
  EXPECT_EQ(rejection("2\n0 1\n1 x\n"), "folder/q.dat:3: expected a whole number, found 'x'");
  for (const char* word : {"+-1", "++1", "+"})
    EXPECT_EQ(rejection("2\n0 " + std::string(word)), "folder/q.dat:2: expected a whole number, found '" + std::string(word) + "'");
  EXPECT_EQ(rejection("2\n0 1.5 1 0\n"), "folder/q.dat:2: expected a whole number, found '1.5'");
  EXPECT_EQ(rejection("2\n0,1,1,0\n"), "folder/q.dat:2: expected a whole number, found '0,1,1,0'");
  EXPECT_EQ(rejection("2\n0 1\n3000000000 0\n"), "folder/q.dat:3: 3000000000 does not fit 32 bits");
  EXPECT_EQ(rejection("2\n0 1\n-2147483649 0\n"), "folder/q.dat:3: -2147483649 does not fit 32 bits");
  EXPECT_EQ(rejection("2\n0 1\n1\n"), "folder/q.dat:3: the file ends after 3 of the 2 x 2 entries of A");
  EXPECT_EQ(rejection("2\n0 1 1 0\n0 2\n\n"), "folder/q.dat:3: the file ends after 2 of the 2 x 2 entries of B");
  EXPECT_EQ(rejection("46340\n1\n"), "folder/q.dat:2: the file ends after 1 of the 46340 x 46340 entries of A");
  EXPECT_EQ(rejection("2\n0 1 1 0\n0 2 2 0\n\n7\n"), "folder/q.dat:5: unexpected '7' after the last entry of B");
}

TEST(Qaplib, WhatIsNoTextIsShownPrintableAndShort) {
  EXPECT_EQ(rejection(std::string("2\n\x01\0\xff", 5)), "folder/q.dat:2: expected a whole number, found '" + std::string(3, '?') + "'");
  EXPECT_EQ(rejection("2\n\xef\xbb\xbf" + std::string("0\n")),
            "folder/q.dat:2: expected a whole number, found '" + std::string(3, '?') + "0'");
  EXPECT_EQ(rejection("2\n" + std::string(5000, 'y')), "folder/q.dat:2: expected a whole number, found '" + std::string(24, 'y') + "...'");
}

TEST(Qaplib, CostsBeyond64BitsAreRejectedAtTheLargestEntry) {
  std::string text = "60\n";  // 60 * 60 * (2^31)^2 > 2^61
  for (int entry = 0; entry < 2 * 60 * 60; ++entry) text += entry == 100 ? "\n-2147483648\n" : "2147483647 ";
  EXPECT_EQ(rejection(text), "folder/q.dat:3: entries are so large that costs could leave 64 bits");
}

TEST(Qaplib, MissingFileAndFolderAreBadInput) {
  const TemporaryFolder folder;
  EXPECT_THROW((void)read_qaplib(folder.path() / "none.dat"), InputError);
  EXPECT_THROW((void)read_qaplib(folder.path()), InputError);
  EXPECT_THROW((void)read_qaplib_solution(folder.path(), three()), InputError);
  EXPECT_EQ(read_qaplib(folder.write("mine.dat", qaplib_text(three()))).name(), "mine");
}

TEST(QaplibSolution, EveryConventionGivesTheSamePermutation) {
  const qap::Qap qap = three();
  const qap::Permutation p{1, 2, 0}, inverse{2, 0, 1};
  const std::int64_t objective = qap::cost(qap, p);
  ASSERT_NE(objective, qap::cost(qap, inverse));
  const std::string head = "3 " + std::to_string(objective) + "\n";
  const std::vector<std::pair<std::string, std::string>> forms{
      {"+2 3 1", "1-based"}, {"1 2 0", "0-based"}, {"3,1,\n2", "1-based, inverse"}, {"2, 0, 1", "0-based, inverse"}};
  for (const auto& [text, convention] : forms) {
    const QaplibSolution read = solution(head + text, qap);
    EXPECT_EQ(read.permutation, p) << convention;
    EXPECT_EQ(read.convention, convention);
    EXPECT_EQ(read.objective, objective);
  }
}

TEST(QaplibSolution, RolesOfTheMatricesExchanged) {
  const qap::Qap qap = three();
  const auto view = qap.view();
  const qap::Qap exchanged("exchanged", 3, {view.b, view.b + 9}, {view.a, view.a + 9});
  const qap::Permutation p{1, 2, 0};
  const QaplibSolution read = solution(qaplib_solution_text(exchanged, p), qap);
  EXPECT_EQ(read.convention, "1-based, inverse");
  EXPECT_EQ(qap::cost(qap, read.permutation), qap::cost(exchanged, p));
}

TEST(QaplibSolution, WrittenSolutionReadsBackEqual) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    const qap::Qap qap = random_qap(random);
    const qap::Permutation p = random_permutation(random, qap.size());
    const QaplibSolution read = solution(qaplib_solution_text(qap, p), qap);
    EXPECT_EQ(read.permutation, p);
    EXPECT_EQ(read.convention, "1-based");
  }
  EXPECT_EQ(qaplib_solution_text(three(), std::vector<std::int32_t>{1, 2, 0}),
            "3 " + std::to_string(qap::cost(three(), std::vector<std::int32_t>{1, 2, 0})) + "\n2 3 1\n");
  EXPECT_THROW((void)qaplib_solution_text(three(), std::vector<std::int32_t>{1, 1, 0}), InputError);
}

TEST(QaplibSolution, BadFilesAreRejectedWithFileAndLine) {
  const qap::Qap qap = three();
  EXPECT_EQ(solution_rejection("", qap), "q.sln:1: the file is empty; expected the size and the cost");
  EXPECT_EQ(solution_rejection("4 7\n1 2 3 4\n", qap), "q.sln:1: a solution of size 4, but q has size 3");
  EXPECT_EQ(solution_rejection("3\n", qap), "q.sln:1: the file ends before the cost");
  EXPECT_EQ(solution_rejection("3 (OPT)\n", qap), "q.sln:1: expected a whole number, found '(OPT)'");
  EXPECT_EQ(solution_rejection("3 7\n1 2\n", qap), "q.sln:2: the file ends after 2 of 3 locations");
  EXPECT_EQ(solution_rejection("3 7\n1 2\n4\n", qap), "q.sln:3: location 4 is outside 1..3");
  EXPECT_EQ(solution_rejection("3 7\n0 1 3\n", qap), "q.sln:2: location 3 is outside 0..2");
  EXPECT_EQ(solution_rejection("3 7\n1 -2 3\n", qap), "q.sln:2: location -2 is outside 1..3");
  EXPECT_EQ(solution_rejection("3 7\n1\n2\n2\n", qap), "q.sln:4: location 2 twice");
  EXPECT_EQ(solution_rejection("3 7\n1 2 3\n1\n", qap), "q.sln:3: unexpected '1' after the permutation");
  EXPECT_EQ(solution_rejection("3 7\n1 2 9999999999\n", qap), "q.sln:2: 9999999999 does not fit 32 bits");
}

TEST(QaplibSolution, CostThatNoReadingHasIsRejectedWithTheCosts) {
  const qap::Qap qap = three();
  const auto cost = [&](const qap::Permutation& p) { return std::to_string(qap::cost(qap, p)); };
  EXPECT_EQ(solution_rejection("3\n7\n2 3 1\n", qap),
            "q.sln:2: the stated cost is 7, but the permutation costs " + cost({1, 2, 0}) + " in q, its inverse " + cost({2, 0, 1}));
}

}  // namespace
}  // namespace vicinity
