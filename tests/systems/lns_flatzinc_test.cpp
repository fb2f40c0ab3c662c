#include "systems/lns_flatzinc.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/util/error.hpp"
#include "tests/support/complaint.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity::lns {
namespace {

FlatzincOptions parsed(const std::vector<const char*>& words) { return flatzinc_options(words); }

std::string solved(const std::string& model, FlatzincOptions options = {}, bool stopped = false) {
  const TemporaryFolder folder;
  options.file = (folder / "m.fzn").string();
  std::ofstream(options.file) << model;
  std::ostringstream out, err;
  const std::atomic<bool> stop = stopped;
  solve_flatzinc(options, out, err, stop);
  return out.str();
}

const std::string small = "var 1..3: x :: output_var;\nconstraint int_ne(x,2);\n";

TEST(FlatzincProtocol, Options) {
  const FlatzincOptions options = parsed({"-a", "-s", "-t", "5000", "-p", "2", "-r", "-7", "-f", "-v", "-i", "-n", "3", "m.fzn"});
  EXPECT_TRUE(options.all && options.intermediate && options.statistics && options.free && options.verbose);
  EXPECT_EQ(options.milliseconds, 5000);
  EXPECT_EQ(options.threads, 2);
  EXPECT_EQ(options.solutions, 3);
  EXPECT_EQ(options.seed, static_cast<std::uint64_t>(-7));
  EXPECT_EQ(options.file, "m.fzn");
  for (const auto& [words, what] : std::vector<std::pair<std::vector<const char*>, std::string>>{
           {{}, "no model; usage: fzn-vicinity [options] model.fzn"},
           {{"--fast", "m.fzn"}, "unknown option --fast"},
           {{"m.fzn", "n.fzn"}, "a second model, n.fzn"},
           {{"m.fzn", "-t"}, "-t expects a value"},
           {{"-p", "0", "m.fzn"}, "-p expects a whole number from 1 on, found '0'"},
           {{"-n", "x", "m.fzn"}, "-n expects a whole number from 0 on, found 'x'"}})
    EXPECT_EQ(complaint<InputError>([&words = words] { (void)parsed(words); }), what);
}

TEST(FlatzincProtocol, Solutions) {
  FlatzincOptions all, two, both;
  all.all = true;
  two.solutions = 2;
  EXPECT_EQ(solved(small + "solve satisfy;\n"), "x = 1;\n----------\n");
  EXPECT_EQ(solved(small + "solve satisfy;\n", all), "x = 1;\n----------\nx = 3;\n----------\n==========\n");
  EXPECT_EQ(solved(small + "solve satisfy;\n", two), "x = 1;\n----------\nx = 3;\n----------\n");
  EXPECT_EQ(solved(small + "solve maximize x;\n"), "x = 3;\n----------\n==========\n");
  EXPECT_EQ(solved(small + "solve :: int_search([x],input_order,indomain_min,complete) maximize x;\n", all),
            "x = 1;\n----------\nx = 3;\n----------\n==========\n");
  EXPECT_EQ(solved(small + "constraint int_eq(x,2);\nsolve satisfy;\n"), "=====UNSATISFIABLE=====\n");
  EXPECT_EQ(solved(small + "solve satisfy;\n", {}, true), "=====UNKNOWN=====\n");
}

TEST(FlatzincProtocol, NothingIsProvedBeyondTheRangeOfValues) {
  EXPECT_EQ(solved("var 0..9999999999: x :: output_var;\nconstraint int_lin_le([-1],[x],-3000000000);\nsolve satisfy;\n"),
            "=====UNKNOWN=====\n");
}

TEST(FlatzincProtocol, TheTimeLimitHoldsAmidPropagation) {
  FlatzincOptions options;
  options.milliseconds = 300;
  EXPECT_EQ(solved("var int: x;\nvar int: y;\nconstraint int_lt(x,y);\nconstraint int_lt(y,x);\nsolve satisfy;\n", options),
            "=====UNKNOWN=====\n");
}

TEST(FlatzincProtocol, Statistics) {
  FlatzincOptions options;
  options.statistics = true;
  const std::string text = solved(small + "solve minimize x;\n", options);
  EXPECT_TRUE(text.find("%%%mzn-stat: objective=1\n") != text.npos && text.find("%%%mzn-stat: nodes=") != text.npos);
  EXPECT_TRUE(text.ends_with("%%%mzn-stat-end\n"));
}

}  // namespace
}  // namespace vicinity::lns
