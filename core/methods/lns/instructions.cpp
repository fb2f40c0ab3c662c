#include "core/methods/lns/instructions.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "core/problems/cp/operations.hpp"

namespace vicinity::lns {
namespace {

/// Sums with more terms are kept, where 62 bits hold them.
constexpr std::size_t most_terms_anew = 8;
/// Where there are more instructions, programs of subsets are not made: a bit for each would not fit shared memory.
constexpr std::size_t most_with_programs = std::size_t{1} << 20;

struct Interval {
  std::int64_t low = cp::least_value, high = cp::greatest_value;

  [[nodiscard]] Interval with(const Interval& other) const { return {std::min(low, other.low), std::max(high, other.high)}; }
  [[nodiscard]] bool within(std::int64_t least, std::int64_t greatest) const { return least <= low && high <= greatest; }
  [[nodiscard]] std::int64_t magnitude() const { return std::max(std::abs(low), std::abs(high)); }
};

bool is_sum(cp::Operation operation) { return operation <= cp::Operation::sum_ne; }

}  // namespace

class InstructionsMaker {
 public:
  InstructionsMaker(const cp::Problem& problem, bool permuted, std::size_t most_own, Instructions& made)
      : problem_(problem), from_(problem.evaluation().view()), made_(made), permuted_(permuted), most_own_(most_own) {}

  void make() {
    copy_operations();
    find_intervals();
    drop_domains();
    choose_kept();
    join_distances();
    number_slots();
    store_terms();
    emit();
    collect_programs();
  }

 private:
  /// A sum of one or two terms, in the slots of the evaluation.
  struct Linear {
    std::int64_t a, b, c;
    std::int32_t x, y;
  };

  [[nodiscard]] std::size_t operations() const { return static_cast<std::size_t>(from_.operations); }
  [[nodiscard]] std::span<const std::int32_t> arguments(std::size_t k) const {
    return {from_.arguments + from_.argument_begin[k], from_.arguments + from_.argument_begin[k + 1]};
  }
  [[nodiscard]] std::span<const std::int64_t> data(std::size_t k) const {
    return {from_.data + from_.data_begin[k], from_.data + from_.data_begin[k + 1]};
  }
  [[nodiscard]] bool defines(std::size_t k) const { return from_.use[k] == cp::Use::define; }
  [[nodiscard]] const Interval& interval(std::int32_t slot) const { return intervals_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] bool is_variable(std::int32_t slot) const { return static_cast<std::size_t>(slot) < problem_.model().variables.size(); }
  [[nodiscard]] bool must_be_one(std::size_t k) const {
    const std::int32_t slot = from_.result[k];
    return from_.use[k] == cp::Use::agree && !is_variable(slot) && interval(slot).within(1, 1);
  }

  void copy_operations() {
    const std::size_t n = operations();
    made_.operation_.assign(from_.operation, from_.operation + n);
    made_.use_.assign(from_.use, from_.use + n);
    made_.result_.assign(n, 0);
    made_.argument_begin_.assign(from_.argument_begin, from_.argument_begin + n + 1);
    made_.arguments_.assign(from_.argument_begin[n], 0);
    made_.data_begin_.assign(from_.data_begin, from_.data_begin + n + 1);
    made_.data_.assign(from_.data, from_.data + from_.data_begin[n]);
    const cp::Model& model = problem_.model();
    const bool variable = model.goal != cp::Goal::satisfy && model.objective.is(cp::Expression::Kind::variable);
    objective_ = variable ? static_cast<std::int32_t>(model.objective.value) : -1;
    made_.constant_ = model.goal == cp::Goal::satisfy ? 0 : model.objective.value;
    made_.sense_ = problem_.sense();
  }

  /// What nothing defines has values of its domain; a solution has them, and so have random values and those of propagation.
  void find_intervals() {
    const std::vector<std::int32_t> constants = problem_.evaluation().slots();
    const cp::Model& model = problem_.model();
    intervals_.resize(constants.size());
    for (std::size_t s = 0; s < constants.size(); ++s) {
      const auto domain = s < model.variables.size() ? model.elements(model.variables[s].domain) : std::span<const cp::Expression>();
      if (s >= model.variables.size())
        intervals_[s] = {constants[s], constants[s]};
      else if (!domain.empty())
        intervals_[s] = {std::max<std::int64_t>(domain.front().value, cp::least_value),
                         std::min<std::int64_t>(domain.back().value, cp::greatest_value)};
    }
    if (permuted_) share_intervals();
    can_fail_.assign(operations(), true);
    for (std::size_t k = 0; k < operations(); ++k) {
      if (!defines(k)) continue;
      bool fails = false;
      Interval found = value_of(k, fails);
      fails = fails || !found.within(cp::least_value, cp::greatest_value);
      if (fails) {
        constexpr std::int64_t least = cp::least_value, greatest = cp::greatest_value;
        found = Interval{std::clamp(found.low, least, greatest), std::clamp(found.high, least, greatest)}.with({0, 0});
      }
      can_fail_[k] = fails;
      intervals_[static_cast<std::size_t>(from_.result[k])] = found;
    }
  }
  void share_intervals() {
    const cp::FreeVariablesView free = problem_.free_variables();
    if (free.count == 0) return;
    Interval all = interval(free.variables[0].slot);
    for (std::int32_t k = 1; k < free.count; ++k) all = all.with(interval(free.variables[k].slot));
    for (std::int32_t k = 0; k < free.count; ++k) intervals_[static_cast<std::size_t>(free.variables[k].slot)] = all;
  }
  /// Of a definition; `fails` where it may have no value.
  [[nodiscard]] Interval value_of(std::size_t k, bool& fails) const {
    const auto x = arguments(k);
    switch (from_.operation[k]) {
      case cp::Operation::sum:
        return sum_of(k);
      case cp::Operation::times: {
        const Interval &p = interval(x[0]), &q = interval(x[1]);
        const auto [low, high] = std::minmax({p.low * q.low, p.low * q.high, p.high * q.low, p.high * q.high});
        return {low, high};
      }
      case cp::Operation::absolute: {
        const Interval& p = interval(x[0]);
        return {p.low > 0 ? p.low : p.high < 0 ? -p.high : 0, p.magnitude()};
      }
      case cp::Operation::maximum:
      case cp::Operation::minimum: {
        const bool most = from_.operation[k] == cp::Operation::maximum;
        Interval all = interval(x[0]);
        for (const std::int32_t s : x) {
          const Interval& p = interval(s);
          all = most ? Interval{std::max(all.low, p.low), std::max(all.high, p.high)}
                     : Interval{std::min(all.low, p.low), std::min(all.high, p.high)};
        }
        return all;
      }
      case cp::Operation::element: {
        fails = x.size() < 2 || !interval(x[0]).within(1, static_cast<std::int64_t>(x.size()) - 1);
        Interval all = x.size() < 2 ? Interval{0, 0} : interval(x[1]);
        for (std::size_t j = 2; j < x.size(); ++j) all = all.with(interval(x[j]));
        return all;
      }
      case cp::Operation::divide:
      case cp::Operation::modulo: {
        fails = true;
        const std::int64_t most = interval(x[0]).magnitude();
        return {-most, most};
      }
      case cp::Operation::power:
        fails = true;
        return {};
      case cp::Operation::odd:
        return {-1, 1};
      default:
        return {0, 1};  // truths
    }
  }
  /// With its constant; bounded, so that sums of it do not overflow.
  [[nodiscard]] Interval sum_of(std::size_t k) const {
    constexpr std::int64_t most = std::int64_t{1} << 60;
    cp::Wide low = from_.operation[k] == cp::Operation::sum ? data(k)[0] : -cp::Wide{data(k)[0]}, high = low;
    for (std::size_t j = 0; j < arguments(k).size(); ++j) {
      const cp::Wide a = data(k)[j + 1];
      const Interval& x = interval(arguments(k)[j]);
      low += a * (a < 0 ? x.high : x.low);
      high += a * (a < 0 ? x.low : x.high);
    }
    return {static_cast<std::int64_t>(std::clamp<cp::Wide>(low, -most, most)),
            static_cast<std::int64_t>(std::clamp<cp::Wide>(high, -most, most))};
  }

  void drop_domains() {
    left_out_.assign(operations(), false);
    for (std::size_t k = 0; k < operations(); ++k) {
      if (from_.operation[k] != cp::Operation::member || !must_be_one(k)) continue;
      for (std::size_t j = 0; j + 1 < data(k).size(); j += 2)
        if (interval(arguments(k)[0]).within(data(k)[j], data(k)[j + 1])) left_out_[k] = true;
    }
  }
  /// Does an instruction hold operation k's slots and coefficients?
  [[nodiscard]] std::optional<Linear> linear(std::size_t k) const {
    const auto x = arguments(k);
    if (!is_sum(from_.operation[k]) || x.empty() || x.size() > 2 || from_.use[k] == cp::Use::implied) return {};
    if (intervals_.size() > std::size_t{1} << 16 || (from_.operation[k] == cp::Operation::sum && !defines(k))) return {};
    if (!sum_of(k).within(cp::least_value, cp::greatest_value)) return {};
    const std::int64_t c = data(k)[0];
    const Linear made{data(k)[1], x.size() == 2 ? data(k)[2] : 0, from_.operation[k] == cp::Operation::sum ? c : -c, x[0], x.back()};
    for (const std::int64_t number : {made.a, made.b, made.c})
      if (number < std::numeric_limits<std::int8_t>::min() || number > std::numeric_limits<std::int8_t>::max()) return {};
    return made;
  }
  /// |s| whose s nothing else reads.
  void join_distances() {
    std::vector<std::int32_t> readers(intervals_.size(), 0), definer(intervals_.size(), -1);
    for (std::size_t k = 0; k < operations(); ++k) {
      if (left_out_[k]) continue;
      for (const std::int32_t s : arguments(k)) ++readers[static_cast<std::size_t>(s)];
      if (defines(k))
        definer[static_cast<std::size_t>(from_.result[k])] = static_cast<std::int32_t>(k);
      else
        ++readers[static_cast<std::size_t>(from_.result[k])];
    }
    if (objective_ >= 0) ++readers[static_cast<std::size_t>(objective_)];
    distance_of_.assign(operations(), -1);
    for (std::size_t k = 0; k < operations(); ++k) {
      if (from_.operation[k] != cp::Operation::absolute || !defines(k)) continue;
      const auto s = static_cast<std::size_t>(arguments(k)[0]);
      const std::int32_t sum = definer[s];
      if (readers[s] != 1 || sum < 0 || from_.operation[sum] != cp::Operation::sum || !linear(static_cast<std::size_t>(sum))) continue;
      if (!coefficient(from_.result[k])) continue;
      distance_of_[k] = sum;
      left_out_[static_cast<std::size_t>(sum)] = true;
    }
  }
  /// That with the most terms is number 0.
  void choose_kept() {
    for (std::size_t k = 0; k < operations(); ++k) {
      if (left_out_[k] || !is_sum(from_.operation[k]) || arguments(k).size() <= most_terms_anew) continue;
      double most = std::abs(static_cast<double>(data(k)[0]));
      for (std::size_t j = 1; j < data(k).size(); ++j) most += std::abs(static_cast<double>(data(k)[j])) * 0x1p31;
      if (most < 0x1p62) made_.kept_.push_back(static_cast<std::int32_t>(k));
    }
    std::stable_sort(made_.kept_.begin(), made_.kept_.end(), [this](std::int32_t k, std::int32_t j) {
      return arguments(static_cast<std::size_t>(k)).size() > arguments(static_cast<std::size_t>(j)).size();
    });
    kept_number_.assign(operations(), -1);
    terms_.resize(intervals_.size());
    for (std::size_t w = 0; w < made_.kept_.size(); ++w) {
      const auto k = static_cast<std::size_t>(made_.kept_[w]);
      kept_number_[k] = static_cast<std::int32_t>(w);
      for (std::size_t j = 0; j < arguments(k).size(); ++j)
        terms_[static_cast<std::size_t>(arguments(k)[j])].push_back({static_cast<std::int32_t>(w), data(k)[j + 1]});
    }
  }
  /// Of a slot in kept sum 0, if it is a term of no other one.
  [[nodiscard]] std::optional<std::int32_t> coefficient(std::int32_t slot_of_evaluation) const {
    const auto& terms = terms_[static_cast<std::size_t>(slot_of_evaluation)];
    if (terms.empty()) return 0;
    if (terms.size() > 1 || terms[0].sum != 0 || std::abs(static_cast<double>(terms[0].coefficient)) >= 0x1p30) return {};
    return static_cast<std::int32_t>(terms[0].coefficient);
  }

  [[nodiscard]] std::int32_t slot(std::int32_t of_evaluation) {
    std::int32_t& number = made_.slot_of_[static_cast<std::size_t>(of_evaluation)];
    if (number < 0) number = made_.slots_++;
    return number;
  }
  void number_slots() {
    made_.slot_of_.assign(intervals_.size(), -1);
    const cp::FreeVariablesView free = problem_.free_variables();
    made_.free_ = free.count;
    for (std::int32_t k = 0; k < free.count; ++k) static_cast<void>(slot(free.variables[k].slot));
    if (objective_ >= 0) made_.objective_ = slot(objective_);
    for (std::size_t k = 0; k < operations(); ++k) {
      if (left_out_[k]) continue;
      const std::size_t read = distance_of_[k] < 0 ? k : static_cast<std::size_t>(distance_of_[k]);
      for (auto a = from_.argument_begin[read]; a < from_.argument_begin[read + 1]; ++a) made_.arguments_[a] = slot(from_.arguments[a]);
      made_.result_[k] = slot(from_.result[k]);
    }
  }
  void store_terms() {
    std::vector<const std::vector<Term>*> of(static_cast<std::size_t>(made_.slots_));
    for (std::size_t s = 0; s < terms_.size(); ++s)
      if (made_.slot_of_[s] >= 0) of[static_cast<std::size_t>(made_.slot_of_[s])] = &terms_[s];
    made_.term_begin_.assign(1, 0);
    for (const auto* terms : of) {
      made_.terms_.insert(made_.terms_.end(), terms->begin(), terms->end());
      made_.term_begin_.push_back(static_cast<std::uint32_t>(made_.terms_.size()));
    }
  }

  void emit() {
    const auto level_begin = problem_.evaluation().level_begin();
    for (std::size_t level = 0; level + 1 < level_begin.size(); ++level) {
      const std::size_t before = made_.all_.size();
      for (auto k = static_cast<std::size_t>(level_begin[level]); k < static_cast<std::size_t>(level_begin[level + 1]); ++k) {
        if (left_out_[k]) continue;
        if (kept_number_[k] == 0) made_.first_sum_level_ = static_cast<std::int32_t>(made_.level_end_.size());
        add(k);
      }
      if (made_.all_.size() > before) made_.level_end_.push_back(static_cast<std::uint32_t>(made_.all_.size()));
    }
  }
  void add(std::size_t k) {
    const bool distance = distance_of_[k] >= 0;
    if (kept_number_[k] >= 0) return add_operation(Code::kept_sum, k, kept_number_[k]);
    if (const auto sum = linear(distance ? static_cast<std::size_t>(distance_of_[k]) : k); sum) {
      const std::optional<std::int32_t> term = defines(k) ? coefficient(from_.result[k]) : 0;
      if (term) return add_linear(k, *sum, *term);
    }
    if (from_.operation[k] != cp::Operation::different || !must_be_one(k)) return add_operation(Code::operation, k, 0);
    for (std::size_t j = 1; j < arguments(k).size(); ++j) add_operation(Code::distinct, k, static_cast<std::int32_t>(j));
  }
  void add_operation(Code code, std::size_t k, std::int32_t result) {
    Instruction one{code, 0, 0, 0, static_cast<std::uint16_t>(k), static_cast<std::uint16_t>(k >> 16), result, Instruction::cannot_fail};
    if (can_fail_[k]) one.extra = made_.bytes_++;
    made_.all_.push_back(one);
  }
  void add_linear(std::size_t k, const Linear& sum, std::int32_t coefficient) {
    made_.all_.push_back({code_of(from_.operation[k], defines(k), distance_of_[k] >= 0), static_cast<std::int8_t>(sum.a),
                          static_cast<std::int8_t>(sum.b), static_cast<std::int8_t>(sum.c), static_cast<std::uint16_t>(slot(sum.x)),
                          static_cast<std::uint16_t>(slot(sum.y)), made_.result_[k], defines(k) ? coefficient : made_.bytes_++});
  }
  [[nodiscard]] static Code code_of(cp::Operation operation, bool defines, bool distance) {
    switch (operation) {
      case cp::Operation::sum_le:
        return defines ? Code::is_le : Code::check_le;
      case cp::Operation::sum_eq:
        return defines ? Code::is_eq : Code::check_eq;
      case cp::Operation::sum_ne:
        return defines ? Code::is_ne : Code::check_ne;
      default:
        return distance ? Code::distance : Code::linear;
    }
  }

  /// The instructions that read each slot, then for each free variable all that follow from it.
  void collect_programs() {
    std::vector<std::vector<std::int32_t>> readers(static_cast<std::size_t>(made_.slots_));
    std::vector<std::int32_t> writes;
    for (std::size_t i = 0; i < made_.all_.size(); ++i) writes.push_back(read_by(i, readers));
    made_.own_begin_.assign(1, 0);
    std::vector<std::int32_t> seen(made_.all_.size(), -1), found;
    const std::size_t levels = made_.level_end_.size();
    for (std::int32_t k = 0; k < made_.free_; ++k) {
      found.clear();
      const auto add = [&](std::int32_t read) {
        for (const std::int32_t i : readers[static_cast<std::size_t>(read)])
          if (std::exchange(seen[static_cast<std::size_t>(i)], k) != k) found.push_back(i);
      };
      add(k);
      for (std::size_t at = 0; at < found.size(); ++at)
        if (const std::int32_t written = writes[static_cast<std::size_t>(found[at])]; written >= 0) add(written);
      if (made_.all_.size() > most_with_programs || made_.own_.size() + found.size() + made_.own_end_.size() + levels > most_own_)
        return give_up_programs();
      std::sort(found.begin(), found.end());
      append(found);
    }
    std::sort(made_.own_sizes_.rbegin(), made_.own_sizes_.rend());
  }
  /// Which slot does it write? -1: none.
  [[nodiscard]] std::int32_t read_by(std::size_t i, std::vector<std::vector<std::int32_t>>& readers) const {
    const Instruction& one = made_.all_[i];
    const auto read = [&](std::int32_t slot) {
      auto& list = readers[static_cast<std::size_t>(slot)];
      if (list.empty() || list.back() != static_cast<std::int32_t>(i)) list.push_back(static_cast<std::int32_t>(i));
    };
    if (one.code < Code::distinct) {
      read(one.x);
      read(one.y);
      if (one.code <= Code::is_ne) return one.result;
      read(one.result);
      return -1;
    }
    const auto k = static_cast<std::size_t>(one.operation());
    const std::uint32_t begin = made_.argument_begin_[k];
    const std::uint32_t end =
        one.code == Code::distinct ? begin + static_cast<std::uint32_t>(one.result) + 1 : made_.argument_begin_[k + 1];
    for (std::uint32_t a = begin; a < end; ++a) read(made_.arguments_[a]);
    if (one.code != Code::distinct && made_.use_[k] == cp::Use::define) return made_.result_[k];
    if (one.code != Code::distinct) read(made_.result_[k]);
    return -1;
  }
  void append(std::span<const std::int32_t> numbers) {
    for (const std::int32_t i : numbers) made_.own_.push_back(made_.all_[static_cast<std::size_t>(i)]);
    made_.own_numbers_.insert(made_.own_numbers_.end(), numbers.begin(), numbers.end());
    for (const std::uint32_t end : made_.level_end_)
      made_.own_end_.push_back(
          static_cast<std::uint32_t>(std::lower_bound(numbers.begin(), numbers.end(), static_cast<std::int32_t>(end)) - numbers.begin()));
    made_.own_begin_.push_back(static_cast<std::uint32_t>(made_.own_.size()));
    made_.own_sizes_.push_back(numbers.size());
  }
  void give_up_programs() {
    made_.has_own_ = false;
    made_.own_.clear();
    made_.own_numbers_.clear();
    made_.own_end_.clear();
    made_.own_sizes_.clear();
    made_.own_begin_.clear();
  }

  const cp::Problem& problem_;
  cp::EvaluationView from_;
  Instructions& made_;
  bool permuted_;
  std::size_t most_own_;
  std::int32_t objective_ = -1;           ///< its slot of the evaluation
  std::vector<Interval> intervals_;       ///< [slot of the evaluation]
  std::vector<std::vector<Term>> terms_;  ///< [slot of the evaluation]
  std::vector<bool> can_fail_, left_out_;
  std::vector<std::int32_t> distance_of_, kept_number_;  ///< [operation] -1: neither
};

Instructions::Instructions(const cp::Problem& problem, bool permuted, std::size_t most_own) {
  InstructionsMaker(problem, permuted, most_own, *this).make();
}

InstructionsView Instructions::view() const noexcept {
  const cp::EvaluationView evaluation{operation_.data(), use_.data(),
                                      result_.data(),    argument_begin_.data(),
                                      arguments_.data(), data_begin_.data(),
                                      data_.data(),      nullptr,
                                      nullptr,           static_cast<std::int32_t>(operation_.size())};
  return {evaluation,
          {all_.data(), level_end_.data()},
          term_begin_.data(),
          terms_.data(),
          has_own_ ? own_.data() : nullptr,
          own_numbers_.data(),
          own_begin_.data(),
          own_end_.data(),
          static_cast<std::int32_t>(all_.size()),
          static_cast<std::int32_t>(level_end_.size()),
          free_,
          slots_,
          static_cast<std::int32_t>(kept_.size()),
          bytes_,
          first_sum_level_,
          objective_,
          constant_,
          sense_};
}

std::size_t Instructions::longest(std::int64_t released) const {
  if (!has_own_) return all_.size();
  const auto count = static_cast<std::ptrdiff_t>(std::min(static_cast<std::size_t>(released), own_sizes_.size()));
  return std::min(all_.size(), std::accumulate(own_sizes_.begin(), own_sizes_.begin() + count, std::size_t{0}));
}

std::vector<std::uint64_t> Instructions::state_of(std::span<const std::int32_t> values) const {
  std::vector<std::int32_t> slots(static_cast<std::size_t>(slots_));
  for (std::size_t s = 0; s < slot_of_.size(); ++s)
    if (slot_of_[s] >= 0) slots[static_cast<std::size_t>(slot_of_[s])] = values[s];
  std::vector<std::uint64_t> state(sizes().total() / 8, 0);
  for (std::size_t s = 0; s < slots.size(); ++s)
    for (auto t = term_begin_[s]; t < term_begin_[s + 1]; ++t)
      state[static_cast<std::size_t>(terms_[t].sum)] +=
          static_cast<std::uint64_t>(terms_[t].coefficient) * static_cast<std::uint64_t>(std::int64_t{slots[s]});
  std::memcpy(state.data() + kept_.size(), slots.data(), 4 * slots.size());
  return state;
}

}  // namespace vicinity::lns
