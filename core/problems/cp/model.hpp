#pragma once
// A constraint problem as a modelling language states it: variables with domains, constraints by name, what is to be printed, and how to
// search (FlatZinc, the MiniZinc handbook, part 4.3). Nothing is interpreted here: the network (network.hpp) gives constraints their
// propagators, the oracle (oracle.hpp) their meaning.
//
// All expressions of a model lie in one pool, 16 bytes each: a literal is its own value, a set, an array or a call is a stretch of the
// pool. An array that has a name is stored once; constraints that use it refer to the same stretch.
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vicinity::cp {

/// Values of int variables. `var int` without a domain gets these bounds.
inline constexpr std::int32_t least_value = -2147483646, greatest_value = 2147483646;

/// An identifier or a string, by its place among those of the model.
using Name = std::uint32_t;

struct Expression {
  enum class Kind : std::uint8_t {
    boolean,   ///< value: 0 or 1
    integer,   ///< value
    real,      ///< value: the bits of a double; only in annotations
    variable,  ///< value: its index
    interval,  ///< size 2: least and greatest element; empty when they are the wrong way round
    set,       ///< its elements ascending
    array,
    call,  ///< an annotation with arguments: its atom, then these
    atom,  ///< value: the Name of an identifier that stands for itself
    text,  ///< value: the Name of a string
  };

  Kind kind = Kind::integer;
  std::uint32_t size = 0;  ///< of the stretch
  std::int64_t value = 0;  ///< or where the stretch begins in the pool

  [[nodiscard]] static constexpr Expression boolean(bool value) { return {Kind::boolean, 0, value ? 1 : 0}; }
  [[nodiscard]] static constexpr Expression integer(std::int64_t value) { return {Kind::integer, 0, value}; }
  [[nodiscard]] static constexpr Expression variable(std::size_t index) { return {Kind::variable, 0, static_cast<std::int64_t>(index)}; }
  [[nodiscard]] constexpr bool is(Kind other) const noexcept { return kind == other; }
  [[nodiscard]] constexpr bool is_set() const noexcept { return kind == Kind::interval || kind == Kind::set; }
  [[nodiscard]] constexpr bool has_stretch() const noexcept { return is_set() || kind == Kind::array || kind == Kind::call; }
};

/// A stretch of the pool that belongs to no array: arguments, annotations.
struct Stretch {
  std::uint32_t begin = 0, size = 0;
};

struct Variable {
  Name name = 0;
  bool boolean = false;
  bool introduced = false;  ///< by the compiler of the model (var_is_introduced)
  bool defined = false;     ///< a constraint defines it (is_defined_var)
  bool assigned = false;    ///< `value` is what it equals
  bool unbounded = false;   ///< `var int` alone: its domain is what there is of values
  Expression domain;        ///< a set; of a bool 0..1
  Expression value;         ///< a literal or another variable
  Stretch annotations;
};

struct Constraint {
  Name predicate = 0;
  std::uint32_t line = 0;  ///< of the file it came from
  Stretch arguments;
  Stretch annotations;
};

/// What a solution prints: a variable, or an array with the index sets that its annotation states.
struct Output {
  Name name = 0;
  bool boolean = false;
  Expression value;                    ///< a variable, a literal or an array of these
  std::vector<Expression> dimensions;  ///< sets; empty: not an array
};

enum class Goal : std::uint8_t { satisfy, minimise, maximise };

struct Model {
  std::string file;  ///< for complaints
  std::vector<Variable> variables;
  std::vector<Constraint> constraints;
  std::vector<Output> outputs;
  Goal goal = Goal::satisfy;
  Expression objective;  ///< a variable or a literal
  Stretch search;        ///< annotations of the goal
  std::uint32_t search_line = 1;
  std::vector<Expression> pool;
  std::string characters;                ///< of all names, one after the other
  std::vector<std::uint64_t> name_ends;  ///< where each ends

  [[nodiscard]] std::string_view text(Name name) const {
    const std::uint64_t begin = name == 0 ? 0 : name_ends[name - 1];
    return std::string_view(characters).substr(begin, name_ends[name] - begin);
  }
  [[nodiscard]] std::span<const Expression> elements(const Expression& expression) const {
    return std::span(pool).subspan(static_cast<std::size_t>(expression.value), expression.size);
  }
  [[nodiscard]] std::span<const Expression> elements(Stretch stretch) const { return std::span(pool).subspan(stretch.begin, stretch.size); }
  [[nodiscard]] std::string_view name_of(const Variable& variable) const { return text(variable.name); }
};

}  // namespace vicinity::cp
