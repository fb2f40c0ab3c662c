#pragma once
// A model's evaluation (core/problems/cp/evaluation.hpp) as instructions of 16 bytes, and for each free variable its program: the
// instructions that depend on it, in the order of levels. Where free variables change, their programs alone have to be run.
//
// What values can be is known: intervals follow from the domains of the variables that nothing defines (where values are permuted, of all
// free variables together), level by level. A domain that always holds has no instruction; a difference that only its absolute value needs
// has none of its own. Sums of many terms are kept, and get what their changed terms add; all else is computed anew. Values lie in slots of
// their own numbering: free variables first, in their order, then what instructions read or write.
//
// State: the values of all slots, the kept sums, a byte for each instruction that can fail: 1 where it does not hold.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/problems/cp/evaluation.hpp"
#include "core/problems/cp/problem.hpp"
#include "core/util/hd.hpp"

namespace vicinity::lns {

/// What an instruction does. s is c + a x + b y; 32 bits hold it.
enum class Code : std::uint8_t {
  linear,     ///< result = s
  distance,   ///< result = |s|
  is_le,      ///< result = (s <= 0)
  is_eq,      ///< result = (s = 0)
  is_ne,      ///< result = (s != 0)
  check_le,   ///< the result slot has (s <= 0)
  check_eq,   ///< the result slot has (s = 0)
  check_ne,   ///< the result slot has (s != 0)
  distinct,   ///< argument number `result` of an operation is another than those before it
  kept_sum,   ///< an operation whose sum is kept: number `result`
  operation,  ///< an operation, by cp::value_of
};

struct alignas(16) Instruction {
  static constexpr std::int32_t cannot_fail = -1;

  Code code;
  std::int8_t a, b, c;
  std::uint16_t x, y;  ///< slots; from `distinct` on the low and the high half of the operation's number
  std::int32_t result;
  std::int32_t extra;  ///< up to is_ne the result's coefficient in kept sum 0, else the byte that says whether it holds, or cannot_fail

  [[nodiscard]] VICINITY_HD std::int32_t operation() const { return static_cast<std::int32_t>(x | std::uint32_t{y} << 16); }
};
static_assert(sizeof(Instruction) == 16);

/// A term of a kept sum.
struct Term {
  std::int32_t sum;
  std::int64_t coefficient;
};

/// Instructions by level: those of level l end before number level_end[l].
struct ProgramView {
  const Instruction* instructions;
  const std::uint32_t* level_end;
};

/// For kernels.
struct InstructionsView {
  cp::EvaluationView evaluation;    ///< slots are those of this file; without users
  ProgramView all;                  ///< every instruction
  const std::uint32_t* term_begin;  ///< [slot + 1]
  const Term* terms;                ///< of the slot
  const Instruction* own;           ///< programs of the free variables, one after the other; null: each of them is `all`
  const std::int32_t* own_numbers;  ///< [instruction of `own`] its number in `all`
  const std::uint32_t* own_begin;   ///< [free variable + 1]
  const std::uint32_t* own_end;     ///< [free variable][level]
  std::int32_t count, levels, free, slots, sums, bytes;
  std::int32_t first_sum_level;  ///< of the instruction that reads kept sum 0; -1: there is none
  std::int32_t objective;        ///< its slot; -1: it is `constant`
  std::int64_t constant;
  Sense sense;

  /// Of a free variable.
  [[nodiscard]] VICINITY_HD ProgramView program(std::int32_t k) const {
    if (own == nullptr) return all;
    return {own + own_begin[k], own_end + static_cast<std::int64_t>(k) * levels};
  }
};

class Instructions {
 public:
  /// `permuted`: free variables get values of each other, which their own domains may not have. `most_own`: instructions that all programs
  /// of free variables may have together; where they have more, each is `all`.
  Instructions(const cp::Problem& problem, bool permuted, std::size_t most_own = std::size_t{1} << 23);

  [[nodiscard]] InstructionsView view() const noexcept;
  [[nodiscard]] std::size_t arguments() const noexcept { return arguments_.size(); }
  /// Instructions of the longest program of `released` free variables, at most.
  [[nodiscard]] std::size_t longest(std::int64_t released) const;

  /// Parts of a state one after the other: sums, slots, bytes; its size is a multiple of 16.
  struct StateSizes {
    std::size_t slots, sums, bytes;
    [[nodiscard]] VICINITY_HD std::size_t total() const { return (8 * sums + 4 * slots + bytes + 15) / 16 * 16; }
  };
  [[nodiscard]] StateSizes sizes() const noexcept {
    return {static_cast<std::size_t>(slots_), kept_.size(), static_cast<std::size_t>(bytes_)};
  }
  /// Of a consistent assignment: `values` of all slots of the evaluation.
  [[nodiscard]] std::vector<std::uint64_t> state_of(std::span<const std::int32_t> values) const;

 private:
  friend class InstructionsMaker;

  std::vector<cp::Operation> operation_;
  std::vector<cp::Use> use_;
  std::vector<std::int32_t> result_, arguments_;
  std::vector<std::uint32_t> argument_begin_;
  std::vector<std::uint64_t> data_begin_;
  std::vector<std::int64_t> data_;
  std::vector<std::int32_t> slot_of_;  ///< [slot of the evaluation]; -1: nothing here needs it
  std::vector<Instruction> all_, own_;
  std::vector<std::uint32_t> level_end_, term_begin_, own_begin_, own_end_;
  std::vector<Term> terms_;
  std::vector<std::int32_t> own_numbers_, kept_;  ///< kept_: operations
  std::vector<std::size_t> own_sizes_;            ///< descending
  bool has_own_ = true;
  std::int32_t free_ = 0, slots_ = 0, bytes_ = 0, first_sum_level_ = -1, objective_ = -1;
  std::int64_t constant_ = 0;
  Sense sense_ = Sense::minimise;
};

}  // namespace vicinity::lns
