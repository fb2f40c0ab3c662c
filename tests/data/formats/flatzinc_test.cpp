#include "data/formats/flatzinc.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/problems/cp/compile.hpp"
#include "core/util/error.hpp"
#include "core/util/rng.hpp"
#include "tests/support/complaint.hpp"

namespace vicinity {
namespace {

using cp::Expression;
using Kind = Expression::Kind;

const std::string plain =
    "% a model\n"
    "predicate mine(array [int] of var int: x, var bool: b);\n"
    "array [1..3] of int: weights = [2,-0x1F,0o17];\n"
    "bool: yes = true;\n"
    "set of int: small = {3,1,2,3};\n"
    "array [1..2] of set of int: sets = [1..4,{}];\n"
    "int: three = 3;\n"
    "1..5: four = 4;\n"
    "var 1..9: x :: output_var;\n"
    "var {5,1,3}: y :: var_is_introduced :: is_defined_var;\n"
    "var bool: b = true;\n"
    "var int: z :: output_var = x;\n"
    "array [1..3] of var int: all :: output_array([1..3]) = [x,three,z];\n"
    "array [1..2] of var bool: both :: output_array([0..0,{2,7}]) = [b,false];\n"
    "constraint int_lin_le(weights,all,-5) :: bounds :: defines_var(y);\n"
    "constraint set_in(x,small);\n"
    "constraint int_eq(x,all[2]);\n"
    "solve :: seq_search([int_search(all,first_fail,indomain_min,complete),note(\"a \\\"b\\\"\",1.5e3,x)]) minimize x;\n";

cp::Model parse(const std::string& text) { return read_flatzinc(text, "m.fzn"); }

std::string rejection(const std::string& text) {
  return complaint<InputError>([&] { (void)parse(text); });
}

std::vector<std::int64_t> values_of(const cp::Model& model, const Expression& array) {
  std::vector<std::int64_t> values;
  for (const Expression& element : model.elements(array)) values.push_back(element.value);
  return values;
}

TEST(Flatzinc, ReadsAModel) {
  const cp::Model model = parse(plain);
  ASSERT_EQ(model.variables.size(), 4u);
  EXPECT_EQ(model.name_of(model.variables[1]), "y");
  EXPECT_TRUE(model.variables[1].introduced && model.variables[1].defined);
  EXPECT_FALSE(model.variables[0].introduced || model.variables[0].assigned);
  EXPECT_EQ(values_of(model, model.variables[0].domain), (std::vector<std::int64_t>{1, 9}));
  EXPECT_TRUE(model.variables[1].domain.is(Kind::set));
  EXPECT_EQ(values_of(model, model.variables[1].domain), (std::vector<std::int64_t>{1, 3, 5}));
  EXPECT_TRUE(model.variables[2].boolean && model.variables[2].assigned);
  EXPECT_EQ(model.variables[2].value.value, 1);
  EXPECT_TRUE(model.variables[3].value.is(Kind::variable));
  EXPECT_EQ(values_of(model, model.variables[3].domain), (std::vector<std::int64_t>{cp::least_value, cp::greatest_value}));

  ASSERT_EQ(model.constraints.size(), 3u);
  EXPECT_EQ(model.text(model.constraints[0].predicate), "int_lin_le");
  EXPECT_EQ(model.constraints[0].line, 15u);
  const auto arguments = model.elements(model.constraints[0].arguments);
  EXPECT_EQ(values_of(model, arguments[0]), (std::vector<std::int64_t>{2, -31, 15}));
  EXPECT_EQ(values_of(model, arguments[1]), (std::vector<std::int64_t>{0, 3, 3}));  // variables 0 and 3, and a number
  EXPECT_TRUE(model.elements(arguments[1])[1].is(Kind::integer));
  EXPECT_EQ(arguments[2].value, -5);
  EXPECT_EQ(model.constraints[0].annotations.size, 2u);
  EXPECT_EQ(values_of(model, model.elements(model.constraints[1].arguments)[1]), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(model.elements(model.constraints[2].arguments)[1].value, 3);  // all[2]

  EXPECT_EQ(model.goal, cp::Goal::minimise);
  EXPECT_TRUE(model.objective.is(Kind::variable));
  ASSERT_EQ(model.search.size, 1u);
  const auto call = model.elements(model.elements(model.search)[0]);
  EXPECT_EQ(model.text(static_cast<cp::Name>(call[0].value)), "seq_search");
  const auto searches = model.elements(call[1]);
  ASSERT_EQ(searches.size(), 2u);
  EXPECT_EQ(model.elements(model.elements(searches[0])[1]).size(), 3u);
  EXPECT_TRUE(model.elements(searches[1])[1].is(Kind::text));
  EXPECT_TRUE(model.elements(searches[1])[2].is(Kind::real));
}

TEST(Flatzinc, TakesAByteOrderMarkBeforeTheText) {
  const std::string mark = "\xef\xbb\xbf", solve = "solve satisfy;\n";
  EXPECT_TRUE(parse(mark + "var bool: b;\n" + solve).variables.at(0).boolean);
  EXPECT_EQ(rejection(mark + mark + solve), "m.fzn:1: unexpected '?'");
  EXPECT_EQ(rejection("var bool: b;\n" + mark + solve), "m.fzn:2: unexpected '?'");
  EXPECT_EQ(rejection(mark), "m.fzn:1: the model has no solve item");
}

TEST(Flatzinc, WritesSolutions) {
  EXPECT_EQ(flatzinc_solution_text(parse(plain), std::vector<std::int32_t>{4, 5, 1, 7}),
            "x = 4;\nz = 7;\nall = array1d(1..3,[4,3,7]);\nboth = array2d(0..0,{2,7},[true,false]);\n----------\n");
  EXPECT_EQ(flatzinc_solution_text(parse("array [1..0] of var int: a :: output_array([1..0]) = [];solve satisfy;"), {}),
            "a = array1d(1..0,[]);\n----------\n");
  EXPECT_EQ(flatzinc_solution_text(parse("array [1..0] of var int: a :: output_array([1..2,1..0,3..4]) = [];solve satisfy;"), {}),
            "a = array3d(1..2,1..0,3..4,[]);\n----------\n");
  EXPECT_EQ(flatzinc_solution_text(parse("array [1..0] of var set of int: a :: output_array([1..0]) = [];solve satisfy;"), {}),
            "a = array1d(1..0,[]);\n----------\n");
}

TEST(Flatzinc, SaysWhatIsWrong) {
  std::string nested;  // deeper than the stack
  for (int k = 0; k < 1'000'000; ++k) nested += "set of ";
  const std::vector<std::pair<std::string, std::string>> files{
      {"", "1: the model has no solve item"},
      {"var int: x", "1: expected ';', found the end of the file"},
      {"\n\nvar float: f;", "3: float 'f': floats are not supported"},
      {"var -1.5..2.5: g;", "1: float 'g': floats are not supported"},
      {"float: pi = 3.14;", "1: float 'pi': floats are not supported"},
      {"var set of 1..3: s;", "1: set variable 's': set variables are not supported"},
      {"array [1..1] of var set of 1..3: s = [t];", "1: set variable 's': set variables are not supported"},
      {"set of set of int: s = 1..2;", "1: a set has int elements"},
      {"var set of var int: s;", "1: a set has int elements"},
      {nested, "1: a set has int elements"},
      {"var int: x;\nvar int: x;", "2: 'x' is declared twice"},
      {"constraint int_le(x,3);", "1: 'x' is not declared"},
      {"constraint int_le(3 4);", "1: expected ',' or ')', found '4'"},
      {"constraint int_le(3,1.5);", "1: float: floats are not supported"},
      {"constraint int_le(3,\"a\");", "1: expected a value, found a string"},
      {"constraint f(99999999999999999999);", "1: '99999999999999999999' leaves 64 bits"},
      {"constraint f(0x);", "1: '0x' is no number"},
      {"constraint f(0o8);", "1: '0o8' is no number"},
      {"array [1..2] of int: a = [1];", "1: array 'a' has the indices 1..2 and 1 elements"},
      {"array [0..1] of int: a = [1,2];", "1: array 'a' has the indices 0..1 and 2 elements"},
      {"array [-9223372036854775807..9223372036854775807] of int: a = [];",
       "1: array 'a' has the indices -9223372036854775807..9223372036854775807 and 0 elements"},
      {"array [1..1] of int: a = [true];", "1: an element of 'a' is not of its type"},
      {"array [1..1] of var int: a;", "1: expected '='; an array has a value, found ';'"},
      {"array [1..1] of var int: a :: output_array([1..2]) = [3];", "1: the index sets of 'a' do not have 1 elements"},
      {"array [1..0] of var int: a :: output_array([1..2]) = [];", "1: the index sets of 'a' do not have 0 elements"},
      {"array [1..1] of var int: a :: output_array([1..2,1..0]) = [3];", "1: the index sets of 'a' do not have 1 elements"},
      {"array [1..1] of var int: a :: output_array([0..4294967295,0..4294967295,1..1]) = [3];",
       "1: the index sets of 'a' do not have 1 elements"},
      {"array [1..1] of var int: a :: output_array(3) = [3];", "1: output_array expects an array of index sets"},
      {"array [1..1] of int: a = [1];constraint f(a[2]);", "1: a[2] is outside 1..1"},
      {"bool: b = 3;", "1: the value is not of its type"},
      {"var bool: b;solve minimize b;", "1: the objective is no int variable"},
      {"solve minimise x;", "1: expected satisfy, minimize or maximize, found 'minimise'"},
      {"solve satisfy;\nvar int: x;", "2: unexpected 'var' after the solve item"},
      {"var {1,true}: x;", "1: a set has int elements"},
      {"var 3: x;", "1: expected a set as domain"},
      {"solve :: f(\"a\n\") satisfy;", "1: a string does not end on its line"},
      {"var int: x # 3;", "1: unexpected '#'"},
      {std::string("var int\0: x;", 12), "1: unexpected '?'"},
      {"hello world;", "1: expected predicate, var, array, constraint, solve or a type, found 'hello'"},
      {"solve :: " + std::string(1000, '[') + " satisfy;", "1: expected an annotation, found '['"},
      {"solve :: f(" + std::string(1000, '[') + " satisfy;", "1: expressions are nested too deeply"}};
  for (const auto& [text, what] : files) EXPECT_EQ(rejection(text), "m.fzn:" + what) << text;
  EXPECT_EQ(complaint<InputError>([] { (void)read_flatzinc(std::filesystem::path("/nowhere/m.fzn")); }),
            "/nowhere/m.fzn: cannot be read: No such file or directory");
}

TEST(Flatzinc, SaysWhatTheCompilerCannotUse) {
  const auto refused = [](const std::string& text) { return complaint<InputError>([&] { (void)cp::compile(parse(text)); }); };
  EXPECT_EQ(refused("var int: x;\nconstraint mine(x);solve satisfy;"), "m.fzn:2: predicate 'mine' is not supported");
  EXPECT_EQ(refused("constraint float_le(1,2);solve satisfy;"),
            "m.fzn:1: predicate 'float_le' is not supported: neither floats nor set variables are");
  EXPECT_EQ(refused("constraint int_le(1);solve satisfy;"), "m.fzn:1: int_le has 1 arguments, expected 2");
  EXPECT_EQ(refused("constraint int_le(1,2..3);solve satisfy;"), "m.fzn:1: argument 2 of int_le is no int");
  EXPECT_EQ(refused("constraint int_lin_eq([1],[2,3],4);solve satisfy;"), "m.fzn:1: int_lin_eq has 1 coefficients and 2 variables");
  EXPECT_EQ(refused("constraint int_times(3000000000,2,6);solve satisfy;"),
            "m.fzn:1: 3000000000 is outside -2147483646..2147483646, the range of variables");
  EXPECT_EQ(refused("var int: x;var int: y;constraint int_lin_le([4000000000000,3],[x,y],4);solve satisfy;"),
            "m.fzn: a linear sum could leave 62 bits");
  EXPECT_EQ(refused("var 0..9: x;var 0..9: y;constraint int_lin_le([576460752303423488,576460752303423489],[x,y],4611686018427387904);"
                    "solve satisfy;"),
            "m.fzn:1: a constant is too large");
  EXPECT_EQ(refused("var 1..3: x;constraint vicinity_circuit(9223372036854775807,[x,2]);solve satisfy;"),
            "m.fzn:1: 9223372036854775807 is outside -2147483646..2147483646, the range of variables");
}

TEST(Flatzinc, NoMutationCrashes) {
  constexpr std::string_view pieces[] = {"1..", "::", "[",   "]", "(",    ")",  "{", "}",   ";", "var ", "array [1..2] of ",
                                         "x",   "-9", "0x7", ",", "true", "\"", "%", "1.5", "=", "all",  "int_lin_eq"};
  std::int64_t read = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    std::uint32_t draw = 0;
    const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(scale_to(random_bits(seed, 7, 0, draw++), bound)); };
    std::string text = plain;
    for (std::size_t k = 1 + below(4); k > 0; --k) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text.erase(at, 1 + below(12));
          break;
        case 1:
          text.insert(at, pieces[below(std::size(pieces))]);
          break;
        case 2:
          text[at] = static_cast<char>(below(256));
          break;
        default:
          text.insert(at, text.substr(below(text.size()), below(30)));
          break;
      }
    }
    try {
      (void)cp::compile(parse(text));
      ++read;
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("m.fzn:")) << error.what();
    }
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace vicinity
