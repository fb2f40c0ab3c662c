#include "harness/cli/text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <utility>

namespace vicinity {
namespace {

/// Edits that make one of the other: a character put in, left out or replaced, or two neighbours exchanged (Damerau 1964), each at most
/// once at a place (optimal string alignment). Three rows of the table.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_above, above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_above = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return row[b.size()];
}

/// To the three significant digits that are shown.
double rounded(double value) { return std::strtod(fmt::format("{:.3g}", value).c_str(), nullptr); }

}  // namespace

std::string join(const std::vector<std::string>& names) { return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")); }

std::optional<std::string> nearest(std::string_view unknown, const std::vector<std::string>& allowed) {
  std::optional<std::string> found;
  std::size_t best = std::max<std::size_t>(1, (unknown.size() + 1) / 3) + 1;  // farther is another word
  for (const std::string& name : allowed) {
    const std::size_t distance = edit_distance(unknown, name);
    if (distance < best) {
      best = distance;
      found = name;
    }
  }
  return found;
}

std::optional<std::string> nearest_file(const std::filesystem::path& missing) {
  std::vector<std::string> names;
  std::error_code error;
  const std::filesystem::path folder = missing.parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, error))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  const auto meant = nearest(missing.filename().string(), names);
  return meant ? std::optional((folder / *meant).string()) : std::nullopt;
}

std::string hint(std::string_view unknown, const std::vector<std::string>& allowed) {
  const auto meant = nearest(unknown, allowed);
  const std::string list = "allowed: " + join(allowed);
  return meant ? fmt::format("did you mean '{}'? {}", *meant, list) : list;
}

std::string printable(std::string_view text) {
  std::string result;
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0; };
  for (std::size_t at = 0; at < text.size();) {
    const unsigned first = byte(at), second = byte(at + 1), third = byte(at + 2);
    if (text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
      result += text[at] == '\n' ? "\\n" : text[at] == '\t' ? "\\t" : "\\r";
      ++at;
    } else if (first < 0x20 || first == 0x7F) {
      result += fmt::format("\\x{:02x}", first);
      ++at;
    } else if (first == 0xC2 && second >= 0x80 && second < 0xA0) {
      result += fmt::format("\\x{:02x}", second);
      at += 2;
    } else if (first == 0xE2 &&
               ((second == 0x80 && third >= 0xA8 && third <= 0xAE) || (second == 0x81 && third >= 0xA6 && third <= 0xA9))) {
      result += fmt::format("\\u{:04x}", 0x2000 + (second - 0x80) * 64 + (third - 0x80));  // line ends, directions of writing
      at += 3;
    } else {
      result += text[at++];
    }
  }
  return result;
}

std::string hex16(std::uint64_t value) { return fmt::format("{:016x}", value); }

std::string human_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  const double shown = rounded(seconds);
  if (shown < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (shown < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (shown < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return shown < 1000 ? fmt::format("{:.3g} s", seconds) : fmt::format("{:.0f} s", seconds);
}

std::string human_count(double count) {
  if (!std::isfinite(count)) return "-";
  for (const auto& [unit, name] : {std::pair{1e12, " T"}, std::pair{1e9, " G"}, std::pair{1e6, " M"}, std::pair{1e3, " k"}}) {
    if (rounded(count) < unit) continue;
    return rounded(count / unit) < 1000 ? fmt::format("{:.3g}{}", count / unit, name) : fmt::format("{:.0f}{}", count / unit, name);
  }
  return fmt::format("{:.3g}", count);
}

std::string objective_text(std::int64_t value, std::int32_t scale) {
  if (scale == 1) return fmt::format("{}", value);
  return fmt::format("{:.{}f}", static_cast<double>(value) / scale, static_cast<int>(std::ceil(std::log10(scale))));
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::max(0.0, seconds) + 0.5);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::string slug(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 && byte < 128) {
      result += static_cast<char>(std::tolower(byte));
    } else if (!result.empty() && result.back() != '-') {
      result += '-';
    }
  }
  while (!result.empty() && result.back() == '-') result.pop_back();
  return result.empty() ? "unknown" : result;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace vicinity
