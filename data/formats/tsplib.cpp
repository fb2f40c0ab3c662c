#include "data/formats/tsplib.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <istream>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "data/formats/lines.hpp"
#include "data/formats/weights.hpp"
#include "data/input_file.hpp"

namespace vicinity {
namespace {

using text::Lines;
using text::shown;
using text::trimmed;
using text::white_space;
using text::words_of;

struct Entry {
  std::string value;
  int line = 0;
};

/// A keyword that a header may have: the values supported (none: any), and whether it must be there.
struct Keyword {
  std::string name;
  std::vector<std::string> only = {};
  bool needed = false;
};

/// The "KEYWORD : value" lines up to the first section, one of `sections`. `known` keywords may occur once, COMMENT as often as it likes.
std::map<std::string, Entry> read_header(Lines& lines, const std::vector<std::string>& sections, const std::vector<Keyword>& known) {
  std::map<std::string, Entry> header;
  const std::string expected = fmt::format("{}", fmt::join(sections, " or "));
  while (lines.next()) {
    const std::string_view text = lines.text();
    const auto colon = text.find(':');
    const std::string key(trimmed(text.substr(0, colon)));
    if (std::find(sections.begin(), sections.end(), key) != sections.end()) {
      for (const Keyword& keyword : known) {
        if (keyword.needed && !header.contains(keyword.name)) lines.fail(fmt::format("{} is missing before this section", keyword.name));
      }
      return header;
    }
    if (key.ends_with("_SECTION")) lines.fail(fmt::format("section {} is not supported; expected {}", shown(key), expected));
    const auto keyword = std::find_if(known.begin(), known.end(), [&](const Keyword& k) { return k.name == key; });
    if (keyword == known.end()) lines.fail(fmt::format("unknown keyword '{}'", shown(key)));
    if (colon == std::string_view::npos) lines.fail(fmt::format("expected '{} : value'", key));
    if (key == "COMMENT") continue;
    const std::string_view value = trimmed(text.substr(colon + 1));
    // The first word counts: files of TSPLIB itself have "TYPE: TSP (M.~Hofmeister)".
    const auto& only = keyword->only;
    const std::string first(value.substr(0, value.find_first_of(white_space)));
    if (!only.empty() && std::find(only.begin(), only.end(), first) == only.end())
      lines.fail(
          fmt::format("{} {} is not supported; only {} {}", key, shown(value), fmt::join(only, ", "), only.size() > 1 ? "are" : "is"));
    if (!header.emplace(key, Entry{only.empty() ? std::string(value) : first, lines.line()}).second)
      lines.fail(fmt::format("{} twice", key));
  }
  lines.fail(fmt::format("the file ends before {}", expected));
}

std::int64_t dimension(const Lines& lines, const std::map<std::string, Entry>& header) {
  const auto& [text, line] = header.at("DIMENSION");
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 3 || n > tsp::most_cities)
    lines.fail(line, fmt::format("DIMENSION '{}' is not a whole number from 3 to {}", shown(text), tsp::most_cities));
  return n;
}

/// The entries of EDGE_WEIGHT_SECTION, and what may stand behind them: coordinates to draw the cities at.
tsp::Tsp read_matrix(Lines& lines, const std::string& format, const std::string& name, std::size_t n) {
  const int section = lines.line();
  if (n > static_cast<std::size_t>(tsp::most_cities_of_a_matrix))
    lines.fail(fmt::format("{} cities with a matrix; at most {} are possible", n, tsp::most_cities_of_a_matrix));
  struct Weight {
    std::int32_t i, j, value;
  };
  std::vector<Weight> weights;  // the matrix takes memory when the file has kept its promise
  text::read_weights(lines, format, n, [&](std::size_t i, std::size_t j, std::string_view word) {
    if (i == j) return;  // means nothing
    const double weight = lines.number<double>(word, "a distance");
    if (!(weight >= 0 && weight < 1 << 28) || weight != std::trunc(weight))
      lines.fail(fmt::format("the distance {} is not a whole number from 0 to 2^28 - 1", shown(word)));
    weights.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), static_cast<std::int32_t>(weight)});
  });
  if (lines.next() && trimmed(lines.text().substr(0, lines.text().find(':'))) == "DISPLAY_DATA_SECTION")
    while (lines.next() && lines.text() != "EOF") {
    }
  if (!lines.ended() && lines.text() != "EOF") lines.fail(fmt::format("unexpected '{}' after the distances", shown(lines.text())));
  if (!lines.ended() && lines.next()) lines.fail(fmt::format("unexpected '{}' after EOF", shown(lines.text())));
  std::vector<std::int32_t> matrix(n * n);
  for (const auto& [i, j, value] : weights) {
    matrix[static_cast<std::size_t>(i) * n + static_cast<std::size_t>(j)] = value;
    if (format != "FULL_MATRIX") matrix[static_cast<std::size_t>(j) * n + static_cast<std::size_t>(i)] = value;
  }
  try {
    return {name, static_cast<std::int32_t>(n), std::move(matrix)};
  } catch (const InputError& error) {
    lines.fail(section, error.what());
  }
}

/// Up to TOUR_SECTION.
std::map<std::string, Entry> read_tour_header(Lines& lines) {
  return read_header(lines, {"TOUR_SECTION"}, {{"NAME"}, {"TYPE", {"TOUR"}, true}, {"COMMENT"}, {"DIMENSION"}});
}

std::string lowered(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

tsp::Metric metric_of(const std::string& type) {
  for (const tsp::Metric metric : {tsp::Metric::ceil_2d, tsp::Metric::att, tsp::Metric::geo, tsp::Metric::matrix})
    if (type == tsp::name_of(metric)) return metric;
  return tsp::Metric::euc_2d;
}

}  // namespace

tsp::Tsp read_tsplib(std::istream& in, const std::string& file) {
  Lines lines(in, file);
  std::vector<std::string> formats = text::weight_formats;
  formats.insert(formats.begin(), "FUNCTION");
  const auto header = read_header(lines, {"NODE_COORD_SECTION", "EDGE_WEIGHT_SECTION"},
                                  {{"NAME"},
                                   {"TYPE", {"TSP"}, true},
                                   {"COMMENT"},
                                   {"DIMENSION", {}, true},
                                   {"EDGE_WEIGHT_TYPE", {"EUC_2D", "CEIL_2D", "ATT", "GEO", "EXPLICIT"}, true},
                                   {"EDGE_WEIGHT_FORMAT", formats},
                                   {"NODE_COORD_TYPE", {"TWOD_COORDS", "NO_COORDS"}},
                                   {"DISPLAY_DATA_TYPE"}});
  const auto n = static_cast<std::size_t>(dimension(lines, header));
  const int section = lines.line();
  const std::string name = std::filesystem::path(file).stem().string();
  const tsp::Metric metric = metric_of(header.at("EDGE_WEIGHT_TYPE").value);
  if (const bool weights = lines.text().starts_with("EDGE_WEIGHT_SECTION"); weights || metric == tsp::Metric::matrix) {
    if (metric != tsp::Metric::matrix) lines.fail("EDGE_WEIGHT_SECTION needs EDGE_WEIGHT_TYPE EXPLICIT");
    if (!weights) lines.fail("EDGE_WEIGHT_TYPE EXPLICIT needs EDGE_WEIGHT_SECTION");
    const auto format = header.find("EDGE_WEIGHT_FORMAT");
    if (format == header.end() || format->second.value == "FUNCTION")
      lines.fail("EDGE_WEIGHT_SECTION needs its EDGE_WEIGHT_FORMAT before it");
    return read_matrix(lines, format->second.value, name, n);
  }
  std::vector<double> x(n), y(n);
  std::vector<int> line_of(n);
  std::size_t read = 0;
  for (; lines.next() && lines.text() != "EOF"; ++read) {
    const auto words = words_of(lines.text());
    if (read == n) lines.fail(fmt::format("unexpected '{}' after the {} nodes of DIMENSION", shown(lines.text()), n));
    if (words.size() != 3) lines.fail(fmt::format("expected 'node x y', found '{}'", shown(lines.text())));
    const auto node = lines.number<std::int64_t>(words[0], "the number of a node");
    if (node < 1 || node > static_cast<std::int64_t>(n)) lines.fail(fmt::format("node {} is outside 1..{}", node, n));
    const auto city = static_cast<std::size_t>(node - 1);
    if (line_of[city] != 0) lines.fail(fmt::format("node {} twice; it was in line {}", node, line_of[city]));
    line_of[city] = lines.line();
    x[city] = lines.number<double>(words[1], "a coordinate");
    y[city] = lines.number<double>(words[2], "a coordinate");
    if (!std::isfinite(x[city]) || !std::isfinite(y[city])) lines.fail("a coordinate is not a finite number");
  }
  if (read < n) {
    const auto missing = std::find(line_of.begin(), line_of.end(), 0) - line_of.begin() + 1;
    lines.fail(fmt::format("the section ends after {} of {} nodes; node {} is missing", read, n, missing));
  }
  if (!lines.ended() && lines.next()) lines.fail(fmt::format("unexpected '{}' after EOF", shown(lines.text())));
  try {
    return {name, std::move(x), std::move(y), metric};
  } catch (const InputError& error) {
    lines.fail(section, error.what());
  }
}

tsp::Tsp read_tsplib(const std::filesystem::path& file) {
  auto in = open_input_file(file);
  return read_tsplib(in, file.string());
}

tsp::Tour read_tsplib_tour(std::istream& in, const std::string& file, const tsp::Tsp& tsp) {
  Lines lines(in, file);
  const auto header = read_tour_header(lines);
  if (header.contains("DIMENSION"))
    if (const auto n = dimension(lines, header); n != tsp.size())
      lines.fail(header.at("DIMENSION").line, fmt::format("a tour of {} nodes, but {} has {}", n, tsp.name(), tsp.size()));
  tsp::Tour tour;
  std::vector<char> visited(static_cast<std::size_t>(tsp.size()));
  for (bool more = true; more;) {
    if (!lines.next() || lines.text() == "EOF") {
      if (tour.size() == visited.size()) return tour;
      lines.fail(fmt::format("the tour ends after {} of {} nodes, without -1", tour.size(), tsp.size()));
    }
    for (const std::string_view word : words_of(lines.text())) {
      if (!more) lines.fail(fmt::format("unexpected '{}' after -1", shown(word)));
      const auto node = lines.number<std::int64_t>(word, "the number of a node");
      if (node == -1) {
        more = false;
        continue;
      }
      if (node < 1 || node > tsp.size()) lines.fail(fmt::format("node {} is outside 1..{}", node, tsp.size()));
      if (std::exchange(visited[static_cast<std::size_t>(node - 1)], 1) != 0) lines.fail(fmt::format("node {} twice", node));
      tour.push_back(static_cast<std::int32_t>(node - 1));
    }
  }
  if (tour.size() < visited.size()) {
    const auto missing = std::find(visited.begin(), visited.end(), 0) - visited.begin() + 1;
    lines.fail(fmt::format("the tour has {} of {} nodes; node {} is missing", tour.size(), tsp.size(), missing));
  }
  return tour;
}

tsp::Tour read_tsplib_tour(const std::filesystem::path& file, const tsp::Tsp& tsp) {
  auto in = open_input_file(file);
  return read_tsplib_tour(in, file.string(), tsp);
}

std::string tsplib_tour_of_another(const std::filesystem::path& file, const tsp::Tsp& tsp) {
  auto in = open_input_file(file);
  const std::string path = file.string();
  Lines lines(in, path);
  const auto header = read_tour_header(lines);
  const auto name = header.find("NAME");
  if (name == header.end()) return "";
  const std::string& whole = name->second.value;
  const std::string named = lowered(whole.substr(whole.find_last_of("/\\") + 1)), own = lowered(tsp.name());
  if (named.empty() || named == own || named.starts_with(own + ".")) return "";
  return fmt::format("{}:{}: a tour of {}, not of {}", path, name->second.line, shown(whole), tsp.name());
}

std::string tsplib_tour_text(const tsp::Tsp& tsp, std::span<const std::int32_t> tour) {
  std::string text = fmt::format("NAME : {}\nCOMMENT : length {}\nTYPE : TOUR\nDIMENSION : {}\nTOUR_SECTION\n", tsp.name(),
                                 tsp::length(tsp, tour), tsp.size());
  for (const std::int32_t city : tour) fmt::format_to(std::back_inserter(text), "{}\n", city + 1);
  return text + "-1\nEOF\n";
}

std::string tsplib_text(const tsp::Tsp& tsp) {
  std::string text =
      fmt::format("NAME : {}\nTYPE : TSP\nDIMENSION : {}\nEDGE_WEIGHT_TYPE : {}\n", tsp.name(), tsp.size(), tsp::name_of(tsp.metric()));
  if (tsp.metric() == tsp::Metric::matrix) {
    text += "EDGE_WEIGHT_FORMAT : FULL_MATRIX\nEDGE_WEIGHT_SECTION\n";
    const auto n = static_cast<std::size_t>(tsp.size());
    for (std::size_t i = 0; i < n; ++i) text += fmt::format("{}\n", fmt::join(tsp.matrix().subspan(i * n, n), " "));
    return text + "EOF\n";
  }
  text += "NODE_COORD_SECTION\n";
  const tsp::View view = tsp.view();
  for (std::int32_t i = 0; i < view.n; ++i) fmt::format_to(std::back_inserter(text), "{} {} {}\n", i + 1, view.x[i], view.y[i]);
  return text + "EOF\n";
}

std::string tsp_content(const tsp::Tsp& tsp) {
  if (tsp.metric() == tsp::Metric::matrix) return fmt::format("{}\n{}\n", tsp.size(), fmt::join(tsp.matrix(), "\n"));
  std::string text = fmt::format("{}\n", tsp.size());
  if (tsp.metric() != tsp::Metric::euc_2d) text += fmt::format("{}\n", tsp::name_of(tsp.metric()));
  const tsp::View view = tsp.view();
  for (std::int32_t i = 0; i < view.n; ++i) fmt::format_to(std::back_inserter(text), "{} {}\n", view.x[i] + 0.0, view.y[i] + 0.0);
  return text;
}

}  // namespace vicinity
