#include "data/formats/qaplib.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/util/error.hpp"
#include "data/formats/lines.hpp"
#include "data/input_file.hpp"

namespace vicinity {
namespace {

using text::shown;

/// The numbers of a text, one after the other; every complaint carries file and line.
class Numbers {
 public:
  Numbers(const std::string& file, std::string text, std::string_view separators)
      : file_(file),
        text_(std::move(text)),
        separators_(separators),
        at_(text_.starts_with(byte_order_mark) ? byte_order_mark.size() : 0) {}

  /// Line of the number read last.
  [[nodiscard]] int line() const noexcept { return line_; }
  /// No text has more numbers.
  [[nodiscard]] std::size_t most() const noexcept { return text_.size() / 2 + 1; }

  /// The next number, of at most `bits` bits; `missing` says what is wrong when there is none.
  template <class Missing>
  [[nodiscard]] std::int64_t next(Missing missing, int bits) {
    const std::string_view word = next_word();
    if (word.empty()) fail(missing());
    std::int64_t value = 0;
    const std::string_view digits = text::without_plus(word);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (end != word.data() + word.size()) fail(fmt::format("expected a whole number, found '{}'", shown(word)));
    const bool wide = bits == 32 && (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max());
    if (error != std::errc() || wide) fail(fmt::format("{} does not fit {} bits", shown(word), bits));
    return value;
  }

  /// Words after the number read last: in its line, in the next one that has any, and in all lines after its own.
  struct Ahead {
    std::size_t line = 0, next_line = 0, below = 0;
  };
  [[nodiscard]] Ahead ahead() const {
    Ahead ahead;
    std::size_t breaks = 0, first_below = 0;
    for (std::size_t at = at_; at < text_.size();) {
      if (separators_.find(text_[at]) != std::string_view::npos) {
        breaks += text_[at++] == '\n' ? 1 : 0;
        continue;
      }
      at = std::min(text_.find_first_of(separators_, at), text_.size());
      if (breaks == 0) {
        ++ahead.line;
        continue;
      }
      if (ahead.below++ == 0) first_below = breaks;
      if (breaks == first_below) ++ahead.next_line;
    }
    return ahead;
  }

  /// Nothing may follow `what`.
  void must_end(const std::string& what) {
    if (const std::string_view word = next_word(); !word.empty()) fail(fmt::format("unexpected '{}' after {}", shown(word), what));
  }

  [[noreturn]] void fail(const std::string& what) const { fail(line_, what); }
  [[noreturn]] void fail(int line, const std::string& what) const { throw InputError(fmt::format("{}:{}: {}", file_, line, what)); }

 private:
  std::string_view next_word() {
    for (; at_ < text_.size() && separators_.find(text_[at_]) != std::string_view::npos; ++at_) pending_ += text_[at_] == '\n' ? 1 : 0;
    const std::size_t end = std::min(text_.find_first_of(separators_, at_), text_.size());
    const std::string_view word = std::string_view(text_).substr(at_, end - at_);
    if (!word.empty()) line_ += std::exchange(pending_, 0);
    at_ = end;
    return word;
  }

  const std::string& file_;
  std::string text_;
  std::string_view separators_;
  std::size_t at_;
  int line_ = 1, pending_ = 0;
};

constexpr std::string_view white_space = " \t\r\n\f\v", white_space_or_comma = " \t\r\n\f\v,";

std::string all_of(std::istream& in, const std::string& file) {
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) throw InputError(file + ": cannot be read");
  return std::move(text).str();
}

/// An entry that stands for its matrix in complaints: the largest in magnitude.
struct Largest {
  std::int64_t magnitude = -1;
  int line = 1;
};

std::vector<std::int32_t> read_matrix(Numbers& numbers, std::int64_t n, char name, Largest& largest) {
  const auto entries = static_cast<std::size_t>(n * n);
  std::vector<std::int32_t> matrix;
  matrix.reserve(std::min(entries, numbers.most()));
  while (matrix.size() < entries) {
    const auto missing = [&] { return fmt::format("the file ends after {} of the {} x {} entries of {}", matrix.size(), n, n, name); };
    const std::int64_t value = numbers.next(missing, 32);
    if (std::abs(value) > largest.magnitude) largest = {std::abs(value), numbers.line()};
    matrix.push_back(static_cast<std::int32_t>(value));
  }
  return matrix;
}

/// How many costs stand behind n in its line: the best one known (Taillard's format), or a bound and that one (files called .qap). They
/// are no entries where the lines below have all of these, or where the next one has a whole row.
std::size_t stated_costs(const Numbers& numbers, std::int64_t n) {
  const auto [line, next_line, below] = numbers.ahead();
  const auto size = static_cast<std::size_t>(n);
  const bool whole_row = next_line == size && size > line + 1;
  return (line == 1 || line == 2) && (below >= 2 * size * size || whole_row) ? line : 0;
}

/// p with p[out[i]] = i.
qap::Permutation inverse(const qap::Permutation& p) {
  qap::Permutation out(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) out[static_cast<std::size_t>(p[i])] = static_cast<std::int32_t>(i);
  return out;
}

/// A permutation as the file has it, but counted from 0; `base` becomes what the file counts from.
qap::Permutation read_permutation(Numbers& numbers, std::int32_t n, int& base) {
  std::vector<std::pair<std::int64_t, int>> values;  // with their lines
  while (values.size() < static_cast<std::size_t>(n)) {
    const auto missing = [&] { return fmt::format("the file ends after {} of {} locations", values.size(), n); };
    const std::int64_t value = numbers.next(missing, 32);
    values.emplace_back(value, numbers.line());
  }
  numbers.must_end("the permutation");
  base = std::any_of(values.begin(), values.end(), [](const auto& v) { return v.first == 0; }) ? 0 : 1;
  qap::Permutation permutation;
  std::vector<char> taken(values.size());
  for (const auto& [value, line] : values) {
    const std::int64_t location = value - base;
    if (location < 0 || location >= n) numbers.fail(line, fmt::format("location {} is outside {}..{}", value, base, n - 1 + base));
    if (std::exchange(taken[static_cast<std::size_t>(location)], 1) != 0) numbers.fail(line, fmt::format("location {} twice", value));
    permutation.push_back(static_cast<std::int32_t>(location));
  }
  return permutation;
}

void add_rows(std::string& text, const std::int32_t* matrix, std::int32_t n) {
  text += '\n';
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j) fmt::format_to(std::back_inserter(text), "{}{}", *matrix++, j + 1 < n ? ' ' : '\n');
  }
}

}  // namespace

qap::Qap read_qaplib(std::istream& in, const std::string& file) {
  Numbers numbers(file, all_of(in, file), white_space);
  const std::int64_t n = numbers.next([] { return std::string("the file is empty; expected the size"); }, 64);
  if (n < 2 || n > 46340) numbers.fail(fmt::format("size {} is outside 2..46340", n));
  for (std::size_t costs = stated_costs(numbers, n); costs > 0; --costs)
    static_cast<void>(numbers.next([] { return std::string("the file ends before the cost"); }, 64));
  Largest largest_a, largest_b;
  auto a = read_matrix(numbers, n, 'A', largest_a);
  auto b = read_matrix(numbers, n, 'B', largest_b);
  numbers.must_end("the last entry of B");
  try {
    return {std::filesystem::path(file).stem().string(), static_cast<std::int32_t>(n), std::move(a), std::move(b)};
  } catch (const InputError& error) {
    numbers.fail((largest_a.magnitude > largest_b.magnitude ? largest_a : largest_b).line, error.what());
  }
}

qap::Qap read_qaplib(const std::filesystem::path& file) {
  auto in = open_input_file(file);
  return read_qaplib(in, file.string());
}

QaplibSolution read_qaplib_solution(std::istream& in, const std::string& file, const qap::Qap& qap) {
  Numbers numbers(file, all_of(in, file), white_space_or_comma);
  const std::int64_t n = numbers.next([] { return std::string("the file is empty; expected the size and the cost"); }, 64);
  if (n != qap.size()) numbers.fail(fmt::format("a solution of size {}, but {} has size {}", n, qap.name(), qap.size()));
  QaplibSolution solution;
  solution.objective = numbers.next([] { return std::string("the file ends before the cost"); }, 64);
  const int line = numbers.line();
  int base = 1;
  solution.permutation = read_permutation(numbers, qap.size(), base);
  solution.convention = fmt::format("{}-based", base);
  const std::int64_t direct = cost(qap, solution.permutation);
  if (direct == solution.objective) return solution;
  // sum A[i][j] B[p[i]][p[j]] = sum A[q[k]][q[l]] B[k][l] with q inverse to p: covers files that exchange A and B, too.
  solution.permutation = inverse(solution.permutation);
  solution.convention += ", inverse";
  const std::int64_t inverted = cost(qap, solution.permutation);
  if (inverted == solution.objective) return solution;
  numbers.fail(line, fmt::format("the stated cost is {}, but the permutation costs {} in {}, its inverse {}", solution.objective, direct,
                                 qap.name(), inverted));
}

QaplibSolution read_qaplib_solution(const std::filesystem::path& file, const qap::Qap& qap) {
  auto in = open_input_file(file);
  return read_qaplib_solution(in, file.string(), qap);
}

std::string qaplib_solution_text(const qap::Qap& qap, std::span<const std::int32_t> permutation) {
  constexpr std::size_t a_line = 20;
  std::string text = fmt::format("{} {}\n", qap.size(), cost(qap, permutation));
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    const bool last = i + 1 == permutation.size() || (i + 1) % a_line == 0;
    fmt::format_to(std::back_inserter(text), "{}{}", permutation[i] + 1, last ? '\n' : ' ');
  }
  return text;
}

std::string qaplib_text(const qap::Qap& qap) {
  std::string text = fmt::format("{}\n", qap.size());
  add_rows(text, qap.view().a, qap.size());
  add_rows(text, qap.view().b, qap.size());
  return text;
}

}  // namespace vicinity
