#pragma once
// What readers of text files share: words, lines with their numbers, complaints "file:line: what is wrong".
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/utf8.hpp"

namespace vicinity::text {

inline constexpr std::string_view white_space = " \t\r\f\v";

/// What a message may show of a word of the file: printable, and not a page of it.
[[nodiscard]] inline std::string shown(std::string_view word) {
  std::string text(word.substr(0, 24));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  return text + (word.size() > 24 ? "..." : "");
}

[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(white_space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(white_space) - first + 1);
}

[[nodiscard]] inline std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = trimmed(text); !text.empty();) {
    const auto end = std::min(text.find_first_of(white_space), text.size());
    words.push_back(text.substr(0, end));
    text = trimmed(text.substr(end));
  }
  return words;
}

/// "+1" as std::from_chars takes it.
[[nodiscard]] inline std::string_view without_plus(std::string_view word) {
  return word.substr(word.size() > 1 && word[0] == '+' && word[1] != '-' ? 1 : 0);
}

/// A file of keywords and sections, line by line; every complaint carries file and line.
class Lines {
 public:
  Lines(std::istream& in, const std::string& file) : in_(in), file_(file) {}

  /// The next line that is not empty, trimmed; false at the end.
  bool next() {
    while (std::getline(in_, text_)) {
      if (++line_ == 1 && text_.starts_with(byte_order_mark)) text_.erase(0, byte_order_mark.size());
      if (!trimmed(text_).empty()) return true;
    }
    if (in_.bad()) throw InputError(file_ + ": cannot be read");
    ended_ = true;
    return false;
  }
  [[nodiscard]] std::string_view text() const { return trimmed(text_); }
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  [[nodiscard]] int line() const noexcept { return line_; }

  template <class T>
  [[nodiscard]] T number(std::string_view word, const char* expected) const {
    T value{};
    const std::string_view digits = without_plus(word);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) fail(fmt::format("expected {}, found '{}'", expected, shown(word)));
    return value;
  }

  [[noreturn]] void fail(const std::string& what) const { fail(line_, what); }
  [[noreturn]] void fail(int line, const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", file_, std::max(line, 1), what));
  }

 private:
  std::istream& in_;
  const std::string& file_;
  std::string text_;
  int line_ = 0;
  bool ended_ = false;
};

}  // namespace vicinity::text
