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

TEST(FlatzincProtocol, AnnotationsOfTheGoalAreNamedByTheirLine) {
  for (const char* goal : {"solve :: int_search(x,first_fail,indomain_min,complete) satisfy;\n", "solve :: lns(1) minimize x;\n"}) {
    const std::string what = complaint<InputError>([&] { (void)solved(small + goal); });
    EXPECT_NE(what.find("m.fzn:3: "), what.npos) << what;
  }
}

TEST(FlatzincProtocol, LimitsThatNothingReaches) {
  for (const char* free : {"-i", "-f"}) {
    const FlatzincOptions options = parsed({free, "-t", "9223372036854775807", "-p", "9223372036854775807", "m.fzn"});
    EXPECT_EQ(options.milliseconds, std::int64_t{1} << 40);
    EXPECT_EQ(options.threads, 4096);
    EXPECT_TRUE(solved(small + "solve maximize x;\n", options).ends_with("x = 3;\n----------\n==========\n"));
  }
}

TEST(FlatzincProtocol, WhatFailsWithoutTheVariablesThatHaveNoBoundIsProved) {
  const std::string none = "=====UNSATISFIABLE=====\n", unknown = "=====UNKNOWN=====\n";
  const std::string xy = "var 1..2: x;\nvar 1..2: y;\n", apart = "constraint int_lt(x,y);\nconstraint int_lt(y,x);\n",
                    end = "solve satisfy;\n";
  FlatzincOptions free;
  free.free = true;
  for (const FlatzincOptions& options : {FlatzincOptions(), free})
    for (const auto& [model, answer] : std::vector<std::pair<std::string, std::string>>{
             {"var int: z;\n" + xy + apart + end, none},
             {"var int: z;\n" + xy + apart + "constraint int_lin_eq([1,1,-1],[x,y,z],0);\n" + end, none},
             {"var int: z;\n" + xy + apart + "solve maximize z;\n", none},
             {"var int: z;\n" + xy + "array [1..2] of var int: a = [x,z];\n" + apart + "constraint int_le(3000000000,z);\n" + end, none},
             {"var 0..3000000000: z;\n" + xy + apart + end, none},
             {"var int: z = 3000000000;\n" + xy + apart + end, none},
             {"var int: z;\n" + xy + "constraint int_lt(x,y);\nconstraint int_le(3000000000,z);\n" + end, unknown},
             {"var int: z;\n" + xy +
                  "array [1..2] of var int: a = [x,z];\nconstraint array_int_maximum(z,a);\nconstraint int_le(3000000000,z);\n" + end,
              unknown},
             {"var 2999999999..3000000000: z;\n" + xy + "constraint int_lt(x,y);\n" + end, unknown}})
      EXPECT_EQ(solved(model, options), answer) << model;
}

TEST(FlatzincProtocol, BeyondTheRangeOfVariablesNothingIsProved) {
  const std::string end = "solve satisfy;\n", x = "var int: x;\n";
  for (const char* constraint : {"int_eq(x,3000000000)", "int_eq(3000000000,x)", "int_le(3000000000,x)", "int_le(x,-3000000000)",
                                 "int_lin_eq([-1],[x],3000000000)", "int_le(x,-3000000000000000000)"})
    EXPECT_EQ(solved(x + "constraint " + constraint + ";\n" + end), "=====UNKNOWN=====\n") << constraint;
  EXPECT_EQ(solved("var int: x = 3000000000;\n" + end), "=====UNKNOWN=====\n");
  for (const char* constraint : {"int_eq(x,3000000000)", "int_le(3000000000,x)", "int_le(x,-3000000000)"})  // here none can be
    EXPECT_EQ(solved("var 0..9: x;\nconstraint " + std::string(constraint) + ";\n" + end), "=====UNSATISFIABLE=====\n") << constraint;
  EXPECT_EQ(solved(x + "constraint int_le(x,3000000000);\nconstraint int_eq(x,5);\nconstraint int_ne(x,5);\n" + end),
            "=====UNSATISFIABLE=====\n");
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

const std::string searched =
    "var 1..9: x :: output_var;\nvar 1..9: y :: output_var;\nvar 0..99: z :: is_defined_var;\n"
    "constraint int_lin_eq([3,-1,-1],[x,y,z],-9) :: defines_var(z);\nconstraint int_ne(x,y);\n"
    "solve :: lns(4,100,complete,9,5,1,60) :: int_search([x,y],input_order,indomain_min,complete) maximize z;\n";

TEST(FlatzincProtocol, LargeNeighborhoodSearchProvesNothing) {
  FlatzincOptions all, two, statistics;
  all.all = true;
  two.solutions = 2;
  statistics.statistics = true;
  EXPECT_EQ(solved(searched), "x = 9;\ny = 1;\n----------\n");
  EXPECT_EQ(solved(searched, all), "x = 1;\ny = 2;\n----------\nx = 9;\ny = 1;\n----------\n");
  EXPECT_EQ(solved(searched, two), solved(searched, all));
  EXPECT_NE(solved(searched, statistics).find("%%%mzn-stat: objective=35\n"), std::string::npos);
  EXPECT_NE(solved(searched, statistics).find("%%%mzn-stat: steps=10\n"), std::string::npos);
  FlatzincOptions free;
  free.free = true;  // whatever the model says
  EXPECT_EQ(solved(searched, free), "x = 9;\ny = 1;\n----------\n==========\n");
  EXPECT_EQ(solved(searched, {}, true), "=====UNKNOWN=====\n");
  EXPECT_EQ(solved("var 1..9: x;\nconstraint int_ne(x,x);\nsolve :: lns(1,9,rl(1),1,1,0,0) minimize x;\n"), "=====UNSATISFIABLE=====\n");
}

TEST(FlatzincProtocol, FreeSearchImprovesAndProves) {
  FlatzincOptions free, all;
  free.free = all.free = all.all = true;
  const std::string goal =
      "var 1..9: x :: output_var;\nvar 1..9: y :: output_var;\nvar 0..99: z :: is_defined_var;\n"
      "constraint int_lin_eq([3,-1,-1],[x,y,z],-9) :: defines_var(z);\nconstraint int_ne(x,y);\nsolve maximize z;\n";
  EXPECT_EQ(solved(goal, free), "x = 9;\ny = 1;\n----------\n==========\n");
  EXPECT_TRUE(solved(goal, all).ends_with("x = 9;\ny = 1;\n----------\n==========\n"));
  EXPECT_EQ(solved(goal, free, true), "=====UNKNOWN=====\n");
  EXPECT_EQ(solved(small + "solve satisfy;\n", free), "x = 1;\n----------\n");
  EXPECT_EQ(solved(small + "solve satisfy;\n", all), "x = 1;\n----------\nx = 3;\n----------\n==========\n");
  EXPECT_EQ(solved(small + "constraint int_eq(x,2);\nsolve minimize x;\n", free), "=====UNSATISFIABLE=====\n");
  EXPECT_EQ(solved("var 2147483640..9999999999: x :: output_var;\nsolve maximize x;\n", free).find("=========="), std::string::npos);
  EXPECT_EQ(solved("solve satisfy;\n", free), solved("solve satisfy;\n", {}));  // no variables, one solution
}

TEST(FlatzincProtocol, CountsOfAllValuesAddUp) {
  // 24 variables, each of 6 values 2, 3, 5 or 8 times: without the sum of the counts a search does not end.
  std::string model, x, counts;
  for (int k = 0; k < 24; ++k) model += "var 1..6: x" + std::to_string(k) + ";\n", x += (k == 0 ? "x" : ",x") + std::to_string(k);
  for (int v = 1; v <= 6; ++v) model += "var {2,3,5,8}: c" + std::to_string(v) + ";\n", counts += (v == 1 ? "c" : ",c") + std::to_string(v);
  model += "constraint fzn_global_cardinality([" + x + "],[1,2,3,4,5,6],[" + counts + "]);\n";
  FlatzincOptions options;
  options.milliseconds = 10'000;
  EXPECT_EQ(solved(model + "solve maximize c1;\n", options).find("==========") != std::string::npos, true);
  EXPECT_EQ(solved(model + "constraint int_lin_le([-1,-1,-1],[c1,c2,c3],-21);\nsolve satisfy;\n", options), "=====UNSATISFIABLE=====\n");
}

TEST(FlatzincProtocol, NothingIsProvedBeyondTheRangeOfValues) {
  EXPECT_EQ(solved("var 0..9999999999: x :: output_var;\nconstraint int_lin_le([-1],[x],-3000000000);\nsolve satisfy;\n"),
            "=====UNKNOWN=====\n");
}

TEST(FlatzincProtocol, NumbersBeyondThoseOfVariables) {
  FlatzincOptions free;
  free.free = true;
  const std::string x = "var 0..10: x :: output_var;\n", b = "var bool: b :: output_var;\n";
  for (const auto& [model, best] : std::vector<std::pair<std::string, std::string>>{
           {x + "constraint int_lin_le([576460752303423488],[x],4611686018427387904);\nsolve maximize x;\n", "x = 8;\n"},
           {x + "constraint int_lin_le([-576460752303423488],[x],-4611686018427387904);\nsolve minimize x;\n", "x = 8;\n"},
           {x + "constraint int_lin_eq([576460752303423488],[x],4611686018427387904);\nsolve minimize x;\n", "x = 8;\n"},
           {x + "constraint int_le(x,3000000000);\nsolve maximize x;\n", "x = 10;\n"},
           {x + "constraint int_lt(-9223372036854775807,x);\nsolve minimize x;\n", "x = 0;\n"},
           {x + b + "constraint int_le_reif(x,-3000000000,b);\nsolve maximize x;\n", "x = 10;\nb = false;\n"},
           {x + "var 0..9: y :: output_var;\nconstraint array_int_element(x,[5,3000000000,7],y);\nsolve maximize y;\n",
            "x = 3;\ny = 7;\n"}}) {
    EXPECT_EQ(solved(model), best + "----------\n==========\n") << model;
    EXPECT_EQ(solved(model, free), best + "----------\n==========\n") << model;
  }
}

TEST(FlatzincProtocol, WhatNothingBoundsIsNotProved) {
  FlatzincOptions free;
  free.free = true;
  const std::string hundred = "var 0..100000: x;\nvar 0..100000: y;\nvar int: z :: output_var;\nconstraint int_times(x,y,z);\n";
  for (const auto& [model, best] : std::vector<std::pair<std::string, std::string>>{
           {"var int: z :: output_var;\nsolve minimize z;\n", "z = -2147483646;\n----------\n"},
           {hundred + "solve maximize z;\n", "z = 2147483646;\n----------\n"},
           {"var 1..3: x;\nvar int: y :: output_var;\nconstraint array_int_element(x,[5,3000000000,7],y);\nsolve maximize y;\n",
            "y = 7;\n----------\n"},
           {hundred + "constraint int_eq(x,100000);\nconstraint int_eq(y,100000);\nsolve minimize z;\n", "=====UNKNOWN=====\n"},
           {"var int: x;\nvar int: y;\nconstraint int_lin_le([-1,1],[x,y],-3000000000);\nconstraint int_le(0,y);\nsolve satisfy;\n",
            "=====UNKNOWN=====\n"},
           {"var int: x :: output_var;\nconstraint int_le(10,x);\nsolve minimize x;\n", "x = 10;\n----------\n==========\n"},
           {"var int: x :: output_var;\nconstraint int_le(10,x);\nsolve maximize x;\n", "x = 2147483646;\n----------\n"},
           {"var 0..9: x;\nvar 0..9: y;\nvar int: z :: output_var;\nconstraint int_times(x,y,z);\nsolve maximize z;\n",
            "z = 81;\n----------\n==========\n"}}) {
    EXPECT_EQ(solved(model), best) << model;
    if (!best.ends_with("----------\n")) {
      EXPECT_EQ(solved(model, free), best) << model;  // others go on for good
    }
  }
}

TEST(FlatzincProtocol, WhatTheEndsOfVariablesWithoutABoundCutOffIsNotProved) {
  // b = 1000000000 and x = 3000000000; no other b lets p, q and r differ.
  const std::string model =
                        "var int: x;\nvar {1,2,1000000000}: b :: output_var;\nvar bool: d;\nvar 1..2: p;\nvar 1..2: q;\nvar 1..2: r;\n"
                        "constraint int_lin_eq([1,-3],[x,b],0);\nconstraint int_le_reif(b,2,d);\n",
                    differ = "constraint int_ne_imp(p,q,d);\nconstraint int_ne_imp(q,r,d);\nconstraint int_ne_imp(p,r,d);\n";
  FlatzincOptions free;
  free.free = true;
  for (const FlatzincOptions& options : {FlatzincOptions(), free}) {
    for (const char* goal : {"satisfy", "minimize p", "minimize x", "maximize x"})
      EXPECT_EQ(solved(model + differ + "solve " + goal + ";\n", options), "=====UNKNOWN=====\n") << goal;
    // A reified comparison beyond the ends, and a value that is missing at one of them.
    EXPECT_EQ(solved("var int: x;\nvar bool: b;\nconstraint int_le_reif(x,3000000000,b);\nconstraint int_le_imp(x,10,b);\n"
                     "constraint int_le(0,x);\nconstraint int_ne(x,2147483646);\nconstraint int_le(11,x);\nsolve satisfy;\n",
                     options),
              "=====UNKNOWN=====\n");
  }
  EXPECT_EQ(solved(model + "solve maximize b;\n"), "b = 2;\n----------\n");
  EXPECT_EQ(solved("var 1..2: x :: output_var;\nvar int: y;\nconstraint fzn_table_int([x,y],[1,5,2,3000000000]);\nsolve maximize x;\n"),
            "x = 1;\n----------\n");
}

TEST(FlatzincProtocol, FunctionsOfBoundedVariablesKeepProofs) {
  FlatzincOptions free;
  free.free = true;
  const std::string xy = "var 0..9: x :: output_var;\nvar -5..9: y :: output_var;\nvar int: a;\nvar int: b;\nvar int: c;\nvar int: d;\n",
                    chain =
                        "constraint int_lin_eq([2,1,-1],[x,y,a],0);\nconstraint int_times(a,y,b);\nconstraint int_abs(b,c);\n"
                        "constraint int_max(c,x,d);\n";
  const std::vector<std::string> models{
      xy + chain + "constraint int_lin_le([1],[d],14);\n",
      // The same, read from its end; and with a remainder, a quotient, and elements.
      xy + "constraint int_max(c,x,d);\nconstraint int_abs(b,c);\nconstraint int_times(a,y,b);\nconstraint "
           "int_lin_eq([2,1,-1],[x,y,a],0);\n",
      xy + "constraint int_div(x,7,a);\nconstraint int_mod(y,4,b);\nconstraint int_min(a,b,c);\nconstraint int_plus(a,c,d);\n",
      xy + "var 1..2: i;\nconstraint array_int_element(i,[7,-3],a);\nconstraint array_var_int_element(i,[a,x],b);\n"
           "constraint int_pow(x,2,c);\nconstraint array_int_maximum(d,[a,b,c]);\n",
      // Bounds of two sides from two constraints, and squares that a sum bounds.
      xy + "constraint int_le(a,x);\nconstraint int_le(y,a);\nconstraint int_lin_le([1,1],[b,x],3);\nconstraint "
           "int_lin_le([-1,-2],[b,y],5);\n"
           "constraint int_times(c,c,d);\nconstraint int_lin_le([1,1],[d,x],50);\n"};
  for (const std::string& model : models)
    for (const FlatzincOptions& options : {FlatzincOptions(), free}) {
      EXPECT_TRUE(solved(model + "solve maximize x;\n", options).ends_with("==========\n")) << model;
      EXPECT_EQ(solved(model + "constraint int_lt(x,y);\nconstraint int_lt(y,x);\nsolve satisfy;\n", options), "=====UNSATISFIABLE=====\n")
          << model;
    }
  // Starts that only the end bounds, which is to be least.
  const std::string starts =
      "var int: s;\nvar int: t;\nvar int: end :: output_var;\narray [1..2] of var int: both = [s,t];\nconstraint int_le(0,s);\n"
      "constraint int_le(0,t);\nconstraint int_lin_le([1,-1],[s,end],-3);\nconstraint int_lin_le([1,-1],[t,end],-4);\n"
      "constraint fzn_cumulative(both,[3,4],[1,1],1);\nsolve minimize end;\n";
  EXPECT_EQ(solved(starts), "end = 7;\n----------\n==========\n");
}

TEST(FlatzincProtocol, ProofsAmongVariablesWithoutABound) {
  FlatzincOptions all, free;
  all.all = true;
  free.free = true;
  const std::string xyz = "var int: x;\nvar int: y;\nvar int: z :: output_var;\n";
  const std::string proof = "----------\n==========\n", none = "=====UNSATISFIABLE=====\n", unknown = "=====UNKNOWN=====\n";
  // Several of a function are open: all its solutions lie within, or none exists.
  EXPECT_EQ(solved("var int: x :: output_var;\nvar int: y :: output_var;\nconstraint int_times(x,y,-1);\nsolve satisfy;\n", all).size(),
            std::string("x = 1;\ny = -1;\n----------\nx = -1;\ny = 1;\n----------\n==========\n").size());
  for (const char* constraints :
       {"constraint int_mod(x,7,y);\nconstraint int_times(y,2,z);\nconstraint int_eq(z,26);\n",
        "constraint int_mod(7,x,z);\nconstraint int_le(8,z);\n", "constraint int_div(100,x,z);\nconstraint int_le(101,z);\n",
        "constraint int_times(x,y,11);\nconstraint int_le(2,x);\nconstraint int_le(2,y);\n"})
    for (const FlatzincOptions& options : {FlatzincOptions(), free})
      EXPECT_EQ(solved(xyz + constraints + "solve satisfy;\n", options), none) << constraints;
  // One stays open, but the objective is as good as it can be; or is not.
  for (const FlatzincOptions& options : {FlatzincOptions(), free}) {
    EXPECT_EQ(solved(xyz + "constraint int_mod(x,7,z);\nsolve maximize z;\n", options), "z = 6;\n" + proof);
    EXPECT_EQ(solved("var 1..100: x;\nvar int: y;\nvar int: z :: output_var;\nconstraint int_div(x,y,z);\nsolve minimize z;\n", options),
              "z = -100;\n" + proof);
    EXPECT_EQ(solved("var 1..5: z :: output_var;\nvar 1..5: y;\nvar int: x;\nconstraint int_lin_le([1,1,-1],[z,y,x],0);\n"
                     "constraint int_ne(y,z);\nsolve minimize z;\n",
                     options),
              "z = 1;\n" + proof);
  }
  EXPECT_EQ(solved("var 1..3: z :: output_var;\nvar int: x;\nconstraint int_lin_eq([1,-1000000000],[x,z],0);\nsolve maximize z;\n"),
            "z = 2;\n----------\n");
  // Beyond the values of variables there is a solution.
  EXPECT_EQ(solved("var 100000..100001: a;\nvar int: x;\nvar int: y;\nconstraint int_times(a,a,x);\nconstraint int_div(x,2,y);\n"
                   "solve satisfy;\n"),
            unknown);
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
