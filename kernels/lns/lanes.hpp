#pragma once
// Assignments side by side: a program (core/methods/lns/instructions.hpp) for one of them a lane, that is, a thread. All threads of a warp
// read the same instruction, each has its own values, and nobody waits for another.
//
// Translation: an instruction of a program is made one of 16 bytes again, of which a team makes as many at a time as it has threads. What
// the program does not change is folded into its constant; slots are numbered anew: what is free in the program first, then those defined
// slots of the model that instructions or the objective read. A term of kept sum 0 is added where it is computed, and has no slot unless
// something reads it. The sum begins with what the program does not change.
// Segments: instructions of the same code follow each other, so that each has a loop of its own, without a branch an instruction.
// Data layout: [slot][thread] of 32 bits, so that a warp reads neighbouring words.
// Limits: `LaneSlots::fits`. Other models are evaluated by incremental.hpp.
// Cost: an instruction is one read of 16 bytes that a warp shares, one or two of its operands, about twenty operations.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/lns/incremental.hpp"

namespace vicinity::lns {

/// Whose threads find the least of what they have.
template <class T>
concept LaneTeam = Team<T> && requires(const T& team, std::int64_t number) {
  { team.least(number) } -> std::same_as<std::int64_t>;  // of all, for all; barriers
};

/// As Instruction, of the same codes up to check_ne and kept_sum; s is c + a x + b y, modulo 2^32.
struct alignas(16) LaneInstruction {
  static constexpr std::uint32_t none = 1023;  ///< instead of a slot

  Code code;
  std::int8_t a, b;
  bool fails;           ///< kept_sum: it can fail
  std::int32_t c;       ///< kept_sum: its operation
  std::int32_t extra;   ///< what is added to the sum: this times the result; of a check without a slot, what its result slot has
  std::uint32_t slots;  ///< x, y and the result, 10 bits each

  [[nodiscard]] VICINITY_HD std::uint32_t x() const { return slots & 1023; }
  [[nodiscard]] VICINITY_HD std::uint32_t y() const { return slots >> 10 & 1023; }
  [[nodiscard]] VICINITY_HD std::uint32_t result() const { return slots >> 20; }
};
static_assert(sizeof(LaneInstruction) == 16);

/// Instructions of the model that follow each other.
struct Segment {
  std::uint32_t end;  ///< before which instruction of the model it ends
  Code code;
  bool plain;  ///< no result of it has a slot of a lane
};

/// For kernels.
struct LaneSlotsView {
  const std::int32_t* definer;       ///< [slot] number of the instruction that writes it; -1: none
  const std::int32_t* stored;        ///< [slot] its number among those that are defined and read; -1: none
  const std::int64_t* coefficients;  ///< [free variable] in kept sum 0
  const Segment* segments;
  std::int32_t count;  ///< defined and read
  std::int32_t segment_count;
};

/// What lanes need to know of a model beside its instructions.
class LaneSlots {
 public:
  static constexpr std::int32_t most_instructions = 1 << 15, most_free = 1 << 12, most_segments = 256;

  /// `view`: in the host's memory.
  explicit LaneSlots(const InstructionsView& view)
      : definer_(static_cast<std::size_t>(view.slots), -1),
        stored_(definer_.size(), -1),
        coefficients_(static_cast<std::size_t>(view.free)) {
    suits_ = view.own != nullptr && view.free > 0 && view.free <= most_free && view.count <= most_instructions && view.sums <= 1;
    for (std::int32_t i = 0; i < view.count && suits_; ++i) number(view, i);
    if (!suits_) return;
    if (view.objective >= 0) read(view.objective);
    for (std::size_t s = 0; s < stored_.size(); ++s)
      if (stored_[s] == 0) stored_[s] = definer_[s] < 0 ? -1 : count_++;
    for (std::size_t k = 0; k < coefficients_.size(); ++k)
      for (auto t = view.term_begin[k]; t < view.term_begin[k + 1]; ++t) coefficients_[k] += view.terms[t].coefficient;
    for (std::int32_t i = 0; i < view.count; ++i) append(view, i);
    suits_ = segments_.size() <= most_segments;
  }
  /// Of programs of so many free variables.
  [[nodiscard]] bool fits(std::int64_t released) const noexcept { return suits_ && slots(released) <= LaneInstruction::none; }
  /// Of a lane.
  [[nodiscard]] std::int64_t slots(std::int64_t released) const noexcept { return released + count_; }
  [[nodiscard]] LaneSlotsView view() const noexcept {
    return {definer_.data(), stored_.data(), coefficients_.data(), segments_.data(), count_, static_cast<std::int32_t>(segments_.size())};
  }

 private:
  void read(std::int32_t slot) { stored_[static_cast<std::size_t>(slot)] = 0; }
  void number(const InstructionsView& view, std::int32_t i) {
    const Instruction& one = view.all.instructions[i];
    suits_ = one.code <= Code::check_ne || one.code == Code::kept_sum;
    if (!suits_) return;
    if (one.code != Code::kept_sum) {
      read(one.x);
      read(one.y);
    }
    if (defines(view, one))
      definer_[static_cast<std::size_t>(result(view, one))] = i;
    else
      read(result(view, one));
  }
  void append(const InstructionsView& view, std::int32_t i) {
    const Instruction& one = view.all.instructions[i];
    const std::int32_t slot = result(view, one);
    const bool plain = stored_[static_cast<std::size_t>(slot)] < 0 && slot >= view.free;
    if (segments_.empty() || segments_.back().code != one.code || segments_.back().plain != plain)
      segments_.push_back({0, one.code, plain});
    segments_.back().end = static_cast<std::uint32_t>(i) + 1;
  }
  [[nodiscard]] static std::int32_t result(const InstructionsView& view, const Instruction& one) {
    return one.code == Code::kept_sum ? view.evaluation.result[one.operation()] : one.result;
  }
  [[nodiscard]] static bool defines(const InstructionsView& view, const Instruction& one) {
    return one.code == Code::kept_sum ? view.evaluation.use[one.operation()] == cp::Use::define : one.code <= Code::is_ne;
  }

  std::vector<std::int32_t> definer_, stored_;
  std::vector<std::int64_t> coefficients_;
  std::vector<Segment> segments_;
  std::int32_t count_ = 0;
  bool suits_ = false;
};

/// A program for lanes.
struct LaneProgram {
  const LaneInstruction* instructions;
  const std::uint32_t* ends;  ///< [segment of the model] before which instruction it ends
  std::uint64_t sum;          ///< kept sum 0 without what the program changes
  std::int32_t objective;     ///< its slot; -1: it is `constant`
  std::int64_t constant;
};

/// Translates. `Lane`: a slot of the model -> that of a lane, -1 where the program does not change it. `slots`: values of an assignment.
template <class Lane>
class LaneTranslator {
 public:
  VICINITY_HD LaneTranslator(const InstructionsView& view, const std::int32_t* slots, const Lane& lane)
      : view_(view), slots_(slots), lane_(lane) {}

  /// `taken`: grows by what the old result is of kept sum 0.
  [[nodiscard]] VICINITY_HD LaneInstruction translated(const Instruction& one, std::uint64_t& taken) const {
    if (one.code == Code::kept_sum) {
      const std::int32_t k = one.operation(), slot = view_.evaluation.result[k];
      const bool defines = view_.evaluation.use[k] == cp::Use::define;
      return {one.code, 0, 0, one.extra != Instruction::cannot_fail, k, defines ? 0 : slots_[slot], packed(0, 0, number(slot))};
    }
    LaneInstruction made{one.code, one.a, one.b, false, one.c, one.extra, 0};
    std::int32_t x = lane_(one.x), y = lane_(one.y);
    if (x < 0) x = fold(made.c, made.a, one.x);
    if (y < 0) y = fold(made.c, made.b, one.y);
    if (made.a == 0) {
      made.a = made.b;
      made.b = 0;
      x = y;
    }
    if (one.code <= Code::is_ne)
      taken += static_cast<std::uint64_t>(std::int64_t{one.extra}) * static_cast<std::uint64_t>(std::int64_t{slots_[one.result]});
    else
      made.extra = slots_[one.result];
    made.slots = packed(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), number(one.result));
    return made;
  }
  /// Its program begins with `sum`.
  [[nodiscard]] VICINITY_HD LaneProgram program(const LaneInstruction* instructions, const std::uint32_t* ends, std::uint64_t sum) const {
    const std::int32_t objective = view_.objective < 0 ? -1 : lane_(view_.objective);
    return {instructions, ends, sum, objective, view_.objective < 0 ? view_.constant : slots_[view_.objective]};
  }

 private:
  /// A slot that does not change is part of the constant; instead of it there is slot 0, times 0.
  VICINITY_HD std::int32_t fold(std::int32_t& c, std::int8_t& coefficient, std::int32_t slot) const {
    c = static_cast<std::int32_t>(static_cast<std::uint32_t>(c) +
                                  static_cast<std::uint32_t>(std::int32_t{coefficient}) * static_cast<std::uint32_t>(slots_[slot]));
    coefficient = 0;
    return 0;
  }
  [[nodiscard]] VICINITY_HD std::uint32_t number(std::int32_t slot) const {
    const std::int32_t lane = lane_(slot);
    return lane < 0 ? LaneInstruction::none : static_cast<std::uint32_t>(lane);
  }
  [[nodiscard]] VICINITY_HD static std::uint32_t packed(std::uint32_t x, std::uint32_t y, std::uint32_t result) {
    return x | y << 10 | result << 20;
  }

  const InstructionsView& view_;
  const std::int32_t* slots_;
  const Lane& lane_;
};

/// One assignment, by one thread. `mine`: its slot 0, followed by slot 1 `stride` words on.
class LaneEvaluation {
 public:
  VICINITY_HD LaneEvaluation(const InstructionsView& view, const LaneSlotsView& lanes, std::int32_t* mine, std::int32_t stride)
      : view_(view), lanes_(lanes), mine_(reinterpret_cast<unsigned char*>(mine)), stride_(4 * static_cast<std::uint32_t>(stride)) {}

  VICINITY_HD void set(std::int32_t slot, std::int32_t value) const { at(static_cast<std::uint32_t>(slot)) = value; }
  /// `sum`: that of the program, and what free variables add. `fetch`: reads an instruction.
  template <class Fetch>
  [[nodiscard]] VICINITY_HD std::int64_t cost(const LaneProgram& program, std::uint64_t sum, const Fetch& fetch) {
    sum_ = sum;
    failed_ = 0;
    const LaneInstruction* from = program.instructions;
    for (std::int32_t s = 0; s < lanes_.segment_count; ++s) {
      const LaneInstruction* const end = program.instructions + program.ends[s];
      if (from != end) run(lanes_.segments[s], from, end, fetch);
      from = end;
    }
    if (failed_ != 0) return inconsistent;
    const std::int64_t value = program.objective < 0 ? program.constant : at(static_cast<std::uint32_t>(program.objective));
    return view_.sense == Sense::maximise ? -value : value;
  }

 private:
  [[nodiscard]] VICINITY_HD std::int32_t& at(std::uint32_t slot) const { return *reinterpret_cast<std::int32_t*>(mine_ + slot * stride_); }
  template <class Fetch>
  VICINITY_HD void run(const Segment& segment, const LaneInstruction* from, const LaneInstruction* end, const Fetch& fetch) {
    switch (segment.code) {
      case Code::linear:
        return run_as<Code::linear>(segment.plain, from, end, fetch);
      case Code::distance:
        return run_as<Code::distance>(segment.plain, from, end, fetch);
      case Code::is_le:
        return run_as<Code::is_le>(segment.plain, from, end, fetch);
      case Code::is_eq:
        return run_as<Code::is_eq>(segment.plain, from, end, fetch);
      case Code::is_ne:
        return run_as<Code::is_ne>(segment.plain, from, end, fetch);
      case Code::check_le:
        return run_as<Code::check_le>(segment.plain, from, end, fetch);
      case Code::check_eq:
        return run_as<Code::check_eq>(segment.plain, from, end, fetch);
      case Code::check_ne:
        return run_as<Code::check_ne>(segment.plain, from, end, fetch);
      default:
        for (; from != end; ++from) finish(fetch(from));
    }
  }
  /// Where no slot is written, several instructions are under way at a time.
  template <Code code, class Fetch>
  VICINITY_HD void run_as(bool plain, const LaneInstruction* from, const LaneInstruction* end, const Fetch& fetch) {
    if (plain) {
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
      for (; from != end; ++from) execute<code, true>(fetch(from));
    } else {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
      for (; from != end; ++from) execute<code, false>(fetch(from));
    }
  }
  template <Code code, bool plain>
  VICINITY_HD void execute(const LaneInstruction& one) {
    std::uint32_t sum = static_cast<std::uint32_t>(one.c) + term(one.a, one.x());
    if (one.b != 0) sum += term(one.b, one.y());
    const auto s = static_cast<std::int32_t>(sum);
    if constexpr (code == Code::linear)
      define<plain>(one, s);
    else if constexpr (code == Code::distance)
      define<plain>(one, s < 0 ? -s : s);
    else if constexpr (code == Code::is_le)
      define<plain>(one, s <= 0 ? 1 : 0);
    else if constexpr (code == Code::is_eq)
      define<plain>(one, s == 0 ? 1 : 0);
    else if constexpr (code == Code::is_ne)
      define<plain>(one, s != 0 ? 1 : 0);
    else
      check<plain>(one, code == Code::check_le ? s <= 0 : code == Code::check_eq ? s == 0 : s != 0);
  }
  [[nodiscard]] VICINITY_HD std::uint32_t term(std::int8_t a, std::uint32_t slot) const {
    return static_cast<std::uint32_t>(std::int32_t{a}) * static_cast<std::uint32_t>(at(slot));
  }
  template <bool plain>
  VICINITY_HD void define(const LaneInstruction& one, std::int32_t value) {
    sum_ += static_cast<std::uint64_t>(std::int64_t{one.extra} * value);
    if constexpr (!plain)
      if (one.result() != LaneInstruction::none) at(one.result()) = value;
  }
  template <bool plain>
  VICINITY_HD void check(const LaneInstruction& one, bool holds) {
    failed_ |= static_cast<std::uint32_t>((holds ? 1 : 0) ^ result_of<plain>(one));
  }
  template <bool plain>
  [[nodiscard]] VICINITY_HD std::int32_t result_of(const LaneInstruction& one) const {
    if constexpr (!plain)
      if (one.result() != LaneInstruction::none) return at(one.result());
    return one.extra;
  }
  VICINITY_HD void finish(const LaneInstruction& one) {
    const std::int64_t value = kept_sum(view_.evaluation, one.c, static_cast<std::int64_t>(sum_));
    bool valid = true;
    if (view_.evaluation.use[one.c] == cp::Use::define) {
      valid = value >= cp::least_value && value <= cp::greatest_value;
      if (one.result() != LaneInstruction::none) at(one.result()) = valid ? static_cast<std::int32_t>(value) : 0;
    } else {
      const std::int32_t result = result_of<false>(one);
      valid = view_.evaluation.use[one.c] == cp::Use::agree ? value == result : result == 0 || value == 1;
    }
    failed_ |= one.fails && !valid ? 1 : 0;
  }

  const InstructionsView& view_;
  const LaneSlotsView& lanes_;
  unsigned char* mine_;
  std::uint32_t stride_;  ///< bytes
  std::uint64_t sum_ = 0;
  std::uint32_t failed_ = 0;  ///< 0: nothing
};

/// Makes the program of a subset for lanes. Barriers: one after memory is cleared, one after the bits are set, one after those of each word
/// are counted, and those of a sum. Cost: the programs' lengths, and all instructions of the model once.
template <Team T>
class LaneProgramMaker {
 public:
  /// Words of `memory`: bits, instructions in the words before, and of each free variable its place in the subset.
  [[nodiscard]] VICINITY_HD static std::size_t words_of(const InstructionsView& view) {
    return 2 * std::size_t{ProgramMaker<T>::words_of(view)} + static_cast<std::size_t>(view.free);
  }
  VICINITY_HD LaneProgramMaker(const T& team, const InstructionsView& view, const LaneSlotsView& lanes, std::uint32_t* memory,
                               std::uint32_t* counts)
      : team_(team),
        view_(view),
        lanes_(lanes),
        maker_(team, view, memory, counts),
        bits_(memory),
        before_(memory + ProgramMaker<T>::words_of(view)),
        places_(reinterpret_cast<std::int32_t*>(before_ + ProgramMaker<T>::words_of(view))) {}

  /// `base`: the state of the incumbent. All threads get the program.
  [[nodiscard]] VICINITY_HD LaneProgram make(const std::int32_t* subset, std::int32_t released, const std::uint64_t* base,
                                             LaneInstruction* instructions, std::uint32_t* ends) const {
    for (std::int32_t k = team_.rank(); k < view_.free; k += team_.size()) places_[k] = -1;
    maker_.mark(subset, released);  // its barriers
    for (std::int32_t k = team_.rank(); k < released; k += team_.size()) places_[subset[k]] = k;
    maker_.count(before_);
    for (std::int32_t s = team_.rank(); s < lanes_.segment_count; s += team_.size()) ends[s] = place(lanes_.segments[s].end);
    const auto* const slots = reinterpret_cast<const std::int32_t*>(base + view_.sums);
    const auto lane = [&](std::int32_t slot) {
      if (slot < view_.free) return places_[slot];
      const std::int32_t definer = lanes_.definer[slot];
      return definer >= 0 && is_marked(static_cast<std::uint32_t>(definer)) ? stored(slot, released) : -1;
    };
    const LaneTranslator translator(view_, slots, lane);
    std::uint64_t taken = 0;
    for (std::int32_t k = team_.rank(); k < released; k += team_.size())
      taken += static_cast<std::uint64_t>(lanes_.coefficients[subset[k]]) * static_cast<std::uint64_t>(std::int64_t{slots[subset[k]]});
    for (auto i = static_cast<std::uint32_t>(team_.rank()); i < static_cast<std::uint32_t>(view_.count);
         i += static_cast<std::uint32_t>(team_.size()))
      if (is_marked(i)) instructions[place(i)] = translator.translated(view_.all.instructions[i], taken);
    const auto changes = static_cast<std::uint64_t>(team_.sum(static_cast<std::int64_t>(taken)));
    return translator.program(instructions, ends, view_.sums == 0 ? 0 : base[0] - changes);
  }

 private:
  [[nodiscard]] VICINITY_HD bool is_marked(std::uint32_t i) const { return (bits_[i / 32] >> (i % 32) & 1) != 0; }
  /// Instructions of the program before number i of the model.
  [[nodiscard]] VICINITY_HD std::uint32_t place(std::uint32_t i) const {
    return before_[i / 32] + maker_.ones(bits_[i / 32] & ((1u << (i % 32)) - 1));
  }
  /// A slot that nothing reads has none.
  [[nodiscard]] VICINITY_HD std::int32_t stored(std::int32_t slot, std::int32_t released) const {
    return lanes_.stored[slot] < 0 ? -1 : released + lanes_.stored[slot];
  }

  T team_;
  const InstructionsView& view_;
  const LaneSlotsView& lanes_;
  ProgramMaker<T> maker_;
  std::uint32_t *bits_, *before_;
  std::int32_t* places_;
};

/// What walkers have found.
struct Found {
  std::int64_t *costs, *evaluations;  ///< [walker]; evaluations times two, and one more where it has a consistent starting point
  std::int32_t* assignments;          ///< [walker][released]
};

/// Assignments of walkers of one subset whose draws do not depend on each other: RL and CE. Thread r of the team has walker r % count, and
/// of its assignments, in their order, number r / count and those that follow at equal distance. Barriers: one, behind which the first
/// threads choose the least (cost, number) for a walker each, and draw that assignment again.
template <Team T>
class LaneWalkers {
 public:
  [[nodiscard]] VICINITY_HD static constexpr bool walks(LocalSearch search, StartingPoint start) {
    return search == LocalSearch::complete || (search == LocalSearch::random_labeling && start != StartingPoint::cp);
  }
  /// Bytes that a thread needs, of a multiple of 2 threads.
  [[nodiscard]] VICINITY_HD static std::size_t bytes(std::int64_t slots) { return 16 + 4 * static_cast<std::size_t>(slots); }

  /// `memory`: of all threads.
  VICINITY_HD LaneWalkers(const T& team, const ProblemView& problem, const WalkView& task, const InstructionsView& view,
                          const LaneSlotsView& lanes, std::uint64_t* memory)
      : team_(team),
        problem_(problem),
        task_(task),
        lanes_(lanes),
        costs_(reinterpret_cast<std::int64_t*>(memory)),
        numbers_(costs_ + team.size()),
        evaluation_(view, lanes, reinterpret_cast<std::int32_t*>(numbers_ + team.size()) + team.rank(), team.size()) {}

  /// Walkers draws.walker .. draws.walker + count - 1, at most as many as there are threads.
  template <class Fetch>
  VICINITY_HD void walk(Draws draws, std::int32_t count, const std::int32_t* incumbent, const std::int32_t* subset,
                        const LaneProgram& program, StopWord& stop, const Found& found, const Fetch& fetch) {
    const std::int32_t row = team_.rank() / count, rows = team_.size() / count;
    draws.walker += team_.rank() % count;
    const std::int64_t end = assignments(draws, subset);
    std::int64_t best = inconsistent, number = end, first = inconsistent, seen = 0;
    if (row < rows && !stop.is_set())
      for (std::int64_t r = row; r < end; r += rows) {
        const std::int64_t cost = cost_of(draws, r, incumbent, subset, program, fetch);
        if (r == 0) first = cost;
        if (cost < best) best = cost, number = r;
        if (++seen % 16 == 0 && stop.is_set()) break;
      }
    costs_[team_.rank()] = best;
    numbers_[team_.rank()] = number;
    team_.sync();
    if (row == 0) {
      choose(count, rows, best, number);
      keep(draws, best, number, end, task_.search == LocalSearch::complete ? best : first, incumbent, subset, found);
    }
  }

 private:
  /// How many a walker evaluates.
  [[nodiscard]] VICINITY_HD std::int64_t assignments(const Draws& draws, const std::int32_t* subset) const {
    if (task_.search != LocalSearch::complete) return task_.repetitions + 1;
    std::int64_t combinations = 1;
    for (std::int32_t k = 0; k < task_.released; ++k) combinations *= problem_.free.variables[subset[k]].size;
    const std::int64_t first = draws.walker % task_.starts;
    return first < combinations ? (combinations - first - 1) / task_.starts + 1 : 0;
  }
  /// visit(k, value) for each free variable of the subset, in assignment number r.
  template <class Visit>
  VICINITY_HD void for_values(const Draws& draws, std::int64_t r, const std::int32_t* incumbent, const std::int32_t* subset,
                              const Visit& visit) const {
    const std::int32_t n = task_.released;
    std::int64_t combination = draws.walker % task_.starts + r * task_.starts;
    for (std::int32_t k = 0; k < n; ++k) {
      const std::int64_t size = problem_.free.variables[subset[k]].size;
      if (task_.search == LocalSearch::complete) {
        visit(k, problem_.free.value(subset[k], combination % size));
        combination /= size;
      } else if (r == 0 && task_.start == StartingPoint::current) {
        visit(k, incumbent[subset[k]]);
      } else {
        const std::uint64_t draw = r == 0 ? static_cast<std::uint64_t>(k) : search_draw(n, r - 1, n, k);
        visit(k, problem_.free.value(subset[k], draws.below(draw, size)));
      }
    }
  }
  template <class Fetch>
  [[nodiscard]] VICINITY_HD std::int64_t cost_of(const Draws& draws, std::int64_t r, const std::int32_t* incumbent,
                                                 const std::int32_t* subset, const LaneProgram& program, const Fetch& fetch) {
    std::uint64_t sum = program.sum;
    for_values(draws, r, incumbent, subset, [&](std::int32_t k, std::int32_t value) {
      evaluation_.set(k, value);
      sum += static_cast<std::uint64_t>(lanes_.coefficients[subset[k]]) * static_cast<std::uint64_t>(std::int64_t{value});
    });
    return evaluation_.cost(program, sum, fetch);
  }
  /// Of all threads that have the walker.
  VICINITY_HD void choose(std::int32_t count, std::int32_t rows, std::int64_t& best, std::int64_t& number) const {
    for (std::int32_t row = 1; row < rows; ++row) {
      const std::int32_t other = team_.rank() + row * count;
      if (costs_[other] > best || (costs_[other] == best && numbers_[other] >= number)) continue;
      best = costs_[other];
      number = numbers_[other];
    }
  }
  VICINITY_HD void keep(const Draws& draws, std::int64_t best, std::int64_t number, std::int64_t evaluated, std::int64_t first,
                        const std::int32_t* incumbent, const std::int32_t* subset, const Found& found) const {
    found.costs[draws.walker] = best;
    found.evaluations[draws.walker] = 2 * evaluated + (first != inconsistent ? 1 : 0);
    if (best == inconsistent) return;
    std::int32_t* const to = found.assignments + draws.walker * task_.released;
    for_values(draws, number, incumbent, subset, [&](std::int32_t k, std::int32_t value) { to[k] = value; });
  }

  T team_;
  const ProblemView& problem_;
  WalkView task_;
  const LaneSlotsView& lanes_;
  std::int64_t *costs_, *numbers_;  ///< [thread]
  LaneEvaluation evaluation_;
};

/// Values of one free variable side by side, by its own program; the assignment is that of an engine.
template <Team T>
class LaneValues {
 public:
  /// Bytes that lanes of `threads` need: a program as long as that of any free variable, ends of segments, and their slots.
  [[nodiscard]] VICINITY_HD static std::size_t bytes(std::size_t longest, const LaneSlotsView& lanes, std::int32_t threads) {
    return sizeof(LaneInstruction) * longest +
           Parts::rounded(4 * static_cast<std::size_t>((1 + lanes.count) * threads + lanes.segment_count));
  }
  /// `memory`: 16 bytes aligned.
  VICINITY_HD LaneValues(const T& team, const InstructionsView& view, const LaneSlotsView& lanes, unsigned char* memory,
                         std::size_t longest)
      : team_(team),
        view_(view),
        lanes_(lanes),
        program_(reinterpret_cast<LaneInstruction*>(memory)),
        ends_(reinterpret_cast<std::uint32_t*>(program_ + longest)),
        evaluation_(view, lanes, reinterpret_cast<std::int32_t*>(ends_ + lanes.segment_count) + team.rank(), team.size()) {}

  /// By all: free variable k is the one that changes next. Barriers about it.
  VICINITY_HD void vary(const typename ProgramEngine<T>::State& state, std::int32_t k) {
    const std::int32_t* const numbers = view_.own_numbers + view_.own_begin[k];
    const ProgramView own = view_.program(k);
    const auto count = static_cast<std::int32_t>(view_.own_begin[k + 1] - view_.own_begin[k]);
    const auto lane = [&](std::int32_t slot) {
      if (slot < view_.free) return slot == k ? 0 : -1;
      if (lanes_.stored[slot] < 0) return -1;
      const std::int32_t definer = lanes_.definer[slot], at = below(numbers, count, definer);
      return at < count && numbers[at] == definer ? 1 + lanes_.stored[slot] : -1;
    };
    const LaneTranslator translator(view_, state.slots, lane);
    std::uint64_t taken = 0;
    std::int64_t failing = 0;
    team_.sync();
    for (std::int32_t i = team_.rank(); i < count; i += team_.size()) {
      const Instruction one = own.instructions[i];
      program_[i] = translator.translated(one, taken);
      if (one.code > Code::is_ne && one.extra != Instruction::cannot_fail) failing += state.bytes[one.extra];
    }
    for (std::int32_t s = team_.rank(); s < lanes_.segment_count; s += team_.size())
      ends_[s] = static_cast<std::uint32_t>(below(numbers, count, static_cast<std::int32_t>(lanes_.segments[s].end)));
    const auto changes = static_cast<std::uint64_t>(team_.sum(static_cast<std::int64_t>(taken)));
    others_fail_ = state.violated > team_.sum(failing);
    coefficient_ = static_cast<std::uint64_t>(lanes_.coefficients[k]);
    const std::uint64_t old = coefficient_ * static_cast<std::uint64_t>(std::int64_t{state.slots[k]});
    made_ = translator.program(program_, ends_, view_.sums == 0 ? 0 : state.sums[0] - changes - old);
    team_.sync();
  }
  /// By each thread for itself: the cost with that value of it.
  [[nodiscard]] VICINITY_HD std::int64_t cost_with(std::int32_t value) {
    if (others_fail_) return inconsistent;
    evaluation_.set(0, value);
    return evaluation_.cost(made_, made_.sum + coefficient_ * static_cast<std::uint64_t>(std::int64_t{value}),
                            [](const LaneInstruction* from) { return *from; });
  }

 private:
  /// How many of the ascending numbers are below that one.
  [[nodiscard]] VICINITY_HD static std::int32_t below(const std::int32_t* numbers, std::int32_t count, std::int32_t number) {
    std::int32_t low = 0, high = count;
    while (low < high) {
      const std::int32_t middle = (low + high) / 2;
      if (numbers[middle] < number)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  T team_;
  const InstructionsView& view_;
  const LaneSlotsView& lanes_;
  LaneInstruction* program_;
  std::uint32_t* ends_;
  LaneEvaluation evaluation_;
  LaneProgram made_{};
  std::uint64_t coefficient_ = 0;
  bool others_fail_ = false;
};

/// A walker of ICM whose starting point needs no propagation: as DeviceWalker, but a thread a value. Barriers: those of the engine and of
/// the values, and one a variable.
template <LaneTeam T>
class LaneImprover {
 public:
  [[nodiscard]] VICINITY_HD static constexpr bool walks(LocalSearch search, StartingPoint start) {
    return search == LocalSearch::conditional_mode && start != StartingPoint::cp;
  }
  VICINITY_HD LaneImprover(const T& team, const ProblemView& problem, const WalkView& task, const WalkerMemory& memory,
                           ProgramEngine<T>& engine, LaneValues<T>& values, StopWord& stop)
      : team_(team), problem_(problem), task_(task), memory_(memory), engine_(engine), values_(values), stop_(stop) {}

  VICINITY_HD WalkerResult walk(const Draws& draws, const std::int32_t* incumbent, const std::int32_t* subset) {
    subset_ = subset;
    look();
    if (stopped_) return result_;
    start(draws, incumbent);
    for (std::int64_t r = 0; r < task_.repetitions; ++r)
      for (std::int32_t k = 0; k < task_.released && !stopped_; ++k) improve(k);
    return result_;
  }

 private:
  /// Of the subset's variables.
  [[nodiscard]] VICINITY_HD std::int32_t value(std::int32_t k, std::int64_t number) const {
    return problem_.free.value(subset_[k], number);
  }
  [[nodiscard]] VICINITY_HD std::int64_t size(std::int32_t k) const { return problem_.free.variables[subset_[k]].size; }
  template <class Visit>
  VICINITY_HD void for_own(const Visit& visit) const {
    for (std::int32_t k = team_.rank(); k < task_.released; k += team_.size()) visit(k);
  }
  VICINITY_HD void look() { stopped_ = team_.any(team_.rank() == 0 && stop_.is_set()); }
  VICINITY_HD void start(const Draws& draws, const std::int32_t* incumbent) {
    for_own([&](std::int32_t k) {
      const bool random = task_.start == StartingPoint::random;
      memory_.current[k] = random ? value(k, draws.below(static_cast<std::uint64_t>(k), size(k))) : incumbent[subset_[k]];
      engine_.set(subset_[k], memory_.current[k]);
    });
    result_.cost = engine_.cost(any_released);
    result_.evaluations = 1;
    result_.started = result_.cost != inconsistent;
    for_own([&](std::int32_t k) { memory_.best[k] = memory_.current[k]; });
    team_.sync();
  }
  /// The first of the best values; where none is consistent, that which it has. Who has a variable alone reads and writes its values.
  VICINITY_HD void improve(std::int32_t k) {
    values_.vary(engine_.state(), subset_[k]);
    std::int64_t mine = inconsistent, number = size(k);
    for (std::int64_t j = team_.rank(); j < size(k); j += team_.size())
      if (const std::int64_t cost = values_.cost_with(value(k, j)); cost < mine) {
        mine = cost;
        number = j;
      }
    const std::int64_t least = team_.least(mine);
    number = team_.least(mine == least ? number : size(k));
    result_.evaluations += size(k);
    look();
    if (least == inconsistent) return;
    for_own([&](std::int32_t j) {
      if (j == k) {
        memory_.current[k] = value(k, number);
        engine_.set(subset_[k], memory_.current[k]);
      }
      if (least < result_.cost) memory_.best[j] = memory_.current[j];
    });
    if (least < result_.cost) result_.cost = least;
    engine_.settle(subset_[k]);
    team_.sync();
  }

  T team_;
  const ProblemView& problem_;
  WalkView task_;
  WalkerMemory memory_;
  ProgramEngine<T>& engine_;
  LaneValues<T>& values_;
  StopWord& stop_;
  const std::int32_t* subset_ = nullptr;
  bool stopped_ = false;
  WalkerResult result_;
};

}  // namespace vicinity::lns
