#pragma once
// Text of the user interface: hints for mistyped names, units, times of day.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vicinity {

/// "a, b, c"; "none" when empty.
[[nodiscard]] std::string join(const std::vector<std::string>& names);

/// The allowed name that was probably meant; empty when none is near.
[[nodiscard]] std::optional<std::string> nearest(std::string_view unknown, const std::vector<std::string>& allowed);

/// The file or folder beside a path that does not exist, that was probably meant; empty when none is near.
[[nodiscard]] std::optional<std::string> nearest_file(const std::filesystem::path& missing);

/// What to say after an unknown name: "did you mean 'states'? allowed: load, states", or only the second half.
[[nodiscard]] std::string hint(std::string_view unknown, const std::vector<std::string>& allowed);

/// In one line, with control characters as their escapes: a text from outside must not act on a terminal.
[[nodiscard]] std::string printable(std::string_view text);

/// To the standard error. What cannot be written there (a terminal closed, a full disk) is left out: no search ends for it.
template <class... Arguments>
void print_stderr(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  std::fputs(fmt::format(format, std::forward<Arguments>(arguments)...).c_str(), stderr);
}

/// 16 hexadecimal digits.
[[nodiscard]] std::string hex16(std::uint64_t value);

/// Seconds with a unit a person reads: "1.23 ms". Three significant digits.
[[nodiscard]] std::string human_seconds(double seconds);

/// A count a person reads: "812", "4.81 k", "48.1 M", "3.2 G". Three significant digits.
[[nodiscard]] std::string human_count(double count);

/// An objective in units of the problem's files: 12345 at scale 1000 is "12.345", at scale 1 "12345".
[[nodiscard]] std::string objective_text(std::int64_t value, std::int32_t scale);

/// "0:07", "12:34", "1:02:03".
[[nodiscard]] std::string clock_text(double seconds);

/// Now, UTC, "2026-11-21T10:00:00Z".
[[nodiscard]] std::string utc_now();

/// Lower case, everything but letters and digits becomes one '-': "NVIDIA H100 80GB HBM3" -> "nvidia-h100-80gb-hbm3".
[[nodiscard]] std::string slug(std::string_view name);

/// Median of at least one value.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace vicinity
