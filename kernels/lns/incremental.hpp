#pragma once
// The evaluation of `gpu-tuned`: instructions that depend on what has changed (core/methods/lns/instructions.hpp), and how a subset's
// program is made.
//
// State: kept sums, values of all slots, a byte for each instruction that can fail. It is a function of the assignment alone, so that the
// next walker of a subset begins where the last one ended.
// Who writes what, who reads it, and the barrier between:
//   a free variable's slot: one thread, by set(); all threads, in run() behind its first barrier;
//   a defined slot: the thread that has its instruction; all threads at higher levels, behind the barrier of its level; the objective's
//   also
//     behind the last one, and no thread writes before the barrier with which the walker ends its cost();
//   kept sum 0: each thread adds up what its changes make in a register; at the level of its instruction the team adds these up, one thread
//     writes, and a barrier follows;
//   other kept sums: atomic adds by those who change terms, at lower levels; the thread that has its instruction reads it;
//   a byte: the thread that has its instruction, at one level of a run. Which thread that is differs between programs; between two runs
//     lies a barrier.
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/methods/lns/instructions.hpp"
#include "kernels/lns/walker.hpp"

namespace vicinity::lns {

/// Of an operation whose sum is kept, from that sum.
[[nodiscard]] VICINITY_HD std::int64_t kept_sum(const cp::EvaluationView& evaluation, std::int32_t k, std::int64_t sum) {
  const std::int64_t constant = evaluation.data[evaluation.data_begin[k]];
  switch (evaluation.operation[k]) {
    case cp::Operation::sum_le:
      return sum <= constant ? 1 : 0;
    case cp::Operation::sum_eq:
      return sum == constant ? 1 : 0;
    case cp::Operation::sum_ne:
      return sum != constant ? 1 : 0;
    default:
      return sum + constant;
  }
}

template <Team T>
class ProgramEngine {
 public:
  VICINITY_HD ProgramEngine(const T& team, const InstructionsView& view, unsigned char* state)
      : team_(team),
        view_(view),
        sums_(reinterpret_cast<std::uint64_t*>(state)),
        slots_(reinterpret_cast<std::int32_t*>(sums_ + view.sums)),
        bytes_(reinterpret_cast<std::uint8_t*>(slots_ + view.slots)) {}

  /// The state of a consistent assignment; `words` of 8 bytes. Barriers about it.
  VICINITY_HD void load(const std::uint64_t* from, std::size_t words) {
    team_.sync();
    for (auto w = static_cast<std::size_t>(team_.rank()); w < words; w += static_cast<std::size_t>(team_.size())) sums_[w] = from[w];
    violated_ = 0;
    team_.sync();
  }
  /// The program of the subset.
  VICINITY_HD void use(const ProgramView& program) { released_ = program; }
  /// Makes the state that of another assignment: [free variable]. Barriers about it.
  VICINITY_HD void follow(const std::int32_t* assignment) {
    bool changed = false;
    for (std::int32_t k = team_.rank(); k < view_.free; k += team_.size()) {
      changed |= slots_[k] != assignment[k];
      set(k, assignment[k]);
    }
    if (team_.any(changed)) run_apart(view_.all);
  }
  VICINITY_HD void set(std::int32_t k, std::int32_t value) { change(k, value); }
  VICINITY_HD void settle(std::int32_t k) { run_apart(k == any_released ? released_ : view_.program(k)); }
  [[nodiscard]] VICINITY_HD std::int64_t cost(std::int32_t k) {
    settle(k);
    if (violated_ > 0) return inconsistent;
    const std::int64_t value = view_.objective < 0 ? view_.constant : slots_[view_.objective];
    return view_.sense == Sense::maximise ? -value : value;
  }

  /// The state, in which slots, sums and bytes of an assignment that was evaluated agree.
  struct State {
    const std::uint64_t* sums;
    const std::int32_t* slots;
    const std::uint8_t* bytes;
    std::int64_t violated;
  };
  [[nodiscard]] VICINITY_HD State state() const { return {sums_, slots_, bytes_, violated_}; }

 private:
  /// On a copy, which registers hold.
  VICINITY_HD_CALLED void run_apart(const ProgramView& program) {
    ProgramEngine copy = *this;
    copy.run(program);
    first_ = copy.first_;
    violated_ = copy.violated_;
  }
  /// A barrier before, one a level that has instructions, two more where it has that of kept sum 0, and those of a sum.
  VICINITY_HD void run(const ProgramView& program) {
    team_.sync();
    std::int32_t change = 0;
    std::uint32_t begin = 0;
    for (std::int32_t level = 0; level < view_.levels; ++level) {
      const std::uint32_t end = program.level_end[level];
      if (begin == end) continue;
      if (level == view_.first_sum_level) add_up();
      const auto size = static_cast<std::uint32_t>(team_.size());
      std::uint32_t i = begin + static_cast<std::uint32_t>(team_.rank());
      Instruction next = i < end ? fetched(program.instructions + i) : Instruction{};
      for (; i < end; i += size) {
        const Instruction one = next;
        if (end - i > size) next = fetched(program.instructions + i + size);  // on its way meanwhile
        change += execute(one);
      }
      team_.sync();
      begin = end;
    }
    violated_ += team_.sum(change);
  }
  /// At once: kernels before this one wrote it.
  [[nodiscard]] VICINITY_HD static Instruction fetched(const Instruction* from) {
#if defined(__CUDA_ARCH__)
    const int4 words = __ldg(reinterpret_cast<const int4*>(from));
    Instruction one;
    memcpy(&one, &words, sizeof one);
    return one;
#else
    return *from;
#endif
  }
  /// A program that changes terms of kept sum 0 has its instruction.
  VICINITY_HD void add_up() {
    const auto sum = static_cast<std::uint64_t>(team_.sum(static_cast<std::int64_t>(first_)));
    first_ = 0;
    if (team_.rank() == 0) sums_[0] += sum;
    team_.sync();
  }

  /// By how many more instructions fail than before: -1, 0 or 1.
  [[nodiscard]] VICINITY_HD std::int32_t execute(const Instruction& one) {
    switch (one.code) {
      case Code::linear:
        return define(one, linear(one));
      case Code::distance: {
        const std::int32_t s = linear(one);
        return define(one, s < 0 ? -s : s);
      }
      case Code::is_le:
        return define(one, linear(one) <= 0 ? 1 : 0);
      case Code::is_eq:
        return define(one, linear(one) == 0 ? 1 : 0);
      case Code::is_ne:
        return define(one, linear(one) != 0 ? 1 : 0);
      case Code::check_le:
        return mark(one.extra, (linear(one) <= 0 ? 1 : 0) == slots_[one.result]);
      case Code::check_eq:
        return mark(one.extra, (linear(one) == 0 ? 1 : 0) == slots_[one.result]);
      case Code::check_ne:
        return mark(one.extra, (linear(one) != 0 ? 1 : 0) == slots_[one.result]);
      case Code::distinct:
        return mark(one.extra, is_distinct(one.operation(), one.result));
      case Code::kept_sum:
        return finish(one, kept_sum(view_.evaluation, one.operation(), static_cast<std::int64_t>(sums_[one.result])), true);
      case Code::operation:
        break;
    }
    const Value found = value_of(view_.evaluation, one.operation(), slots_, view_.slots);
    return finish(one, found.value, found.valid);
  }
  struct Value {
    std::int64_t value;
    bool valid;
  };
  [[nodiscard]] VICINITY_HD_CALLED static Value value_of(const cp::EvaluationView& evaluation, std::int32_t k, const std::int32_t* slots,
                                                         std::int32_t count) {
    Value found{0, true};
    found.value = cp::value_of(evaluation, k, {slots, static_cast<std::size_t>(count)}, found.valid);
    return found;
  }
  /// It fits 32 bits, if not all of its parts do.
  [[nodiscard]] VICINITY_HD std::int32_t linear(const Instruction& one) const {
    const auto term = [this](std::int8_t a, std::uint16_t slot) {
      return static_cast<std::uint32_t>(std::int32_t{a}) * static_cast<std::uint32_t>(slots_[slot]);
    };
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(std::int32_t{one.c}) + term(one.a, one.x) + term(one.b, one.y));
  }
  [[nodiscard]] VICINITY_HD std::int32_t define(const Instruction& one, std::int32_t value) {
    const std::int32_t old = slots_[one.result];
    if (old == value) return 0;
    slots_[one.result] = value;
    first_ += product(one.extra, std::int64_t{value} - old);
    return 0;
  }
  [[nodiscard]] VICINITY_HD std::int32_t mark(std::int32_t byte, bool holds) const {
    const std::int32_t old = bytes_[byte], now = holds ? 0 : 1;
    if (old != now) bytes_[byte] = static_cast<std::uint8_t>(now);
    return now - old;
  }
  [[nodiscard]] VICINITY_HD bool is_distinct(std::int32_t k, std::int32_t argument) const {
    const std::int32_t* const x = view_.evaluation.arguments + view_.evaluation.argument_begin[k];
    const std::int32_t value = slots_[x[argument]];
    bool found = false;
    for (std::int32_t j = 0; j < argument; ++j) found |= slots_[x[j]] == value;
    return !found;
  }
  /// What becomes of an operation's value.
  [[nodiscard]] VICINITY_HD std::int32_t finish(const Instruction& one, std::int64_t value, bool valid) {
    const std::int32_t k = one.operation(), slot = view_.evaluation.result[k];
    if (view_.evaluation.use[k] == cp::Use::define) {
      valid = valid && value >= cp::least_value && value <= cp::greatest_value;
      change(slot, valid ? static_cast<std::int32_t>(value) : 0);
    } else {
      const std::int32_t result = slots_[slot];
      valid = valid && (view_.evaluation.use[k] == cp::Use::agree ? value == result : result == 0 || value == 1);
    }
    return one.extra == Instruction::cannot_fail ? 0 : mark(one.extra, valid);
  }
  /// A slot gets a value, and kept sums what that adds.
  VICINITY_HD void change(std::int32_t slot, std::int32_t value) {
    const std::int32_t old = slots_[slot];
    if (old == value) return;
    slots_[slot] = value;
    const std::int64_t by = std::int64_t{value} - old;
    for (std::uint32_t t = view_.term_begin[slot]; t < view_.term_begin[slot + 1]; ++t) {
      const Term& term = view_.terms[t];
      if (term.sum == 0)
        first_ += product(term.coefficient, by);
      else
        team_.add(sums_ + term.sum, product(term.coefficient, by));
    }
  }
  /// Modulo 2^64, as sums wrap around on their way.
  [[nodiscard]] VICINITY_HD static std::uint64_t product(std::int64_t a, std::int64_t b) {
    return static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b);
  }

  T team_;
  const InstructionsView& view_;
  std::uint64_t* sums_;
  std::int32_t* slots_;
  std::uint8_t* bytes_;
  ProgramView released_{};
  std::uint64_t first_ = 0;    ///< what this thread's changes add to kept sum 0
  std::int64_t violated_ = 0;  ///< instructions that fail; the same in all threads
};

/// Makes the program of a subset: a bit for each instruction that a program of its free variables has, then the instructions in their
/// order. `bits`: [words_of]; `counts`: [threads of the team + 1]. Barriers: one after the bits are cleared, one after they are set, one
/// after each thread has counted those of its words; then all only read. Cost: the programs' lengths, and the words.
template <Team T>
class ProgramMaker {
 public:
  [[nodiscard]] VICINITY_HD static std::uint32_t words_of(const InstructionsView& view) {
    return static_cast<std::uint32_t>(view.count) / 32 + 1;
  }
  VICINITY_HD ProgramMaker(const T& team, const InstructionsView& view, std::uint32_t* bits, std::uint32_t* counts)
      : team_(team), view_(view), bits_(bits), counts_(counts) {}

  VICINITY_HD void make(const std::int32_t* subset, std::int32_t released, Instruction* program, std::uint32_t* level_end) const {
    mark(subset, released);
    const Stretch mine = stretch();
    write(mine.first, mine.last, mine.at, program, level_end);
    team_.sync();
  }
  /// Sets the bits.
  VICINITY_HD void mark(const std::int32_t* subset, std::int32_t released) const {
    const auto rank = static_cast<std::uint32_t>(team_.rank()), size = static_cast<std::uint32_t>(team_.size());
    const std::uint32_t words = words_of(view_);
    for (std::uint32_t w = rank; w < words; w += size) bits_[w] = 0;
    team_.sync();
    for (std::int32_t k = 0; k < released; ++k)
      for (std::uint32_t i = view_.own_begin[subset[k]] + rank; i < view_.own_begin[subset[k] + 1]; i += size)
        team_.set_bits(bits_ + view_.own_numbers[i] / 32, 1u << (view_.own_numbers[i] % 32));
    team_.sync();
  }
  /// `before`: [word] gets the number of bits before it.
  VICINITY_HD void count(std::uint32_t* before) const {
    Stretch mine = stretch();
    for (std::uint32_t w = mine.first; w < mine.last; ++w) {
      before[w] = mine.at;
      mine.at += ones(bits_[w]);
    }
    team_.sync();
  }
  [[nodiscard]] VICINITY_HD static std::uint32_t ones(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
    return static_cast<std::uint32_t>(__popc(word));
#else
    return static_cast<std::uint32_t>(__builtin_popcount(word));
#endif
  }

 private:
  /// Words of a thread, and the bits before them.
  struct Stretch {
    std::uint32_t first, last, at;
  };
  [[nodiscard]] VICINITY_HD Stretch stretch() const {
    const auto rank = static_cast<std::uint32_t>(team_.rank()), size = static_cast<std::uint32_t>(team_.size());
    const std::uint32_t words = words_of(view_), each = (words + size - 1) / size;
    const std::uint32_t first = rank * each < words ? rank * each : words, last = first + each < words ? first + each : words;
    std::uint32_t at = 0;
    for (std::uint32_t w = first; w < last; ++w) at += ones(bits_[w]);
    counts_[rank] = at;
    team_.sync();
    at = 0;
    for (std::uint32_t r = 0; r < rank; ++r) at += counts_[r];
    return {first, last, at};
  }
  /// Of words first .. last - 1, whose first instruction is number `at` of the program; and ends of the levels that end in them.
  VICINITY_HD void write(std::uint32_t first, std::uint32_t last, std::uint32_t at, Instruction* program, std::uint32_t* level_end) const {
    std::int32_t level = 0;
    for (std::uint32_t w = first; w < last; ++w) {
      while (level < view_.levels && view_.all.level_end[level] < 32 * w) ++level;
      for (; level < view_.levels && view_.all.level_end[level] / 32 == w; ++level)
        level_end[level] = at + ones(bits_[w] & ((1u << (view_.all.level_end[level] % 32)) - 1));
      for (std::uint32_t bit = 0; bit < 32; ++bit)
        if ((bits_[w] >> bit & 1) != 0) program[at++] = view_.all.instructions[32 * w + bit];
    }
  }

  T team_;
  const InstructionsView& view_;
  std::uint32_t *bits_, *counts_;
};

}  // namespace vicinity::lns
