#include "data/formats/cvrplib.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
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
using text::words_of;

constexpr double most_whole = std::numeric_limits<std::int32_t>::max();

/// "Service time" and "SERVICE_TIME" are one keyword.
std::string keyword(std::string_view text) {
  std::string key(trimmed(text));
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char c) { return c == ' ' || c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
  return key == "VEHICLES_MAX_DURATION" ? "DISTANCE" : key;  // PyVRP's word
}

const std::set<std::string> keywords{"NAME",
                                     "COMMENT",
                                     "TYPE",
                                     "DIMENSION",
                                     "CAPACITY",
                                     "DISTANCE",
                                     "SERVICE_TIME",
                                     "VEHICLES",
                                     "EDGE_WEIGHT_TYPE",
                                     "EDGE_WEIGHT_FORMAT",
                                     "NODE_COORD_TYPE",
                                     "DISPLAY_DATA_TYPE"};

/// "KEYWORD : value", also without the colon, or with a keyword of several words.
std::pair<std::string, std::string_view> key_and_value(std::string_view text) {
  auto end = std::min(text.find_first_of(": \t"), text.size());
  if (!keywords.contains(keyword(text.substr(0, end)))) end = std::min(text.find(':'), text.size());
  std::string_view value = trimmed(text.substr(end));
  if (value.starts_with(':')) value = trimmed(value.substr(1));
  return {keyword(text.substr(0, end)), value};
}

double finite(const Lines& lines, std::string_view word, const char* expected) {
  const auto value = lines.number<double>(word, expected);
  if (!std::isfinite(value)) lines.fail(fmt::format("expected {}, found '{}'", expected, shown(word)));
  return value;
}

/// A whole number, which files may also write as 10.0.
std::int32_t whole(const Lines& lines, std::string_view word, const char* expected, double low) {
  const double value = finite(lines, word, expected);
  if (value != std::floor(value) || value < low || value > most_whole)
    lines.fail(fmt::format("expected {}, a whole number from {} to {}, found '{}'", expected, low, most_whole, shown(word)));
  return static_cast<std::int32_t>(value);
}

/// One value a node: the lines they stand in (0: not yet), in the order of the file's numbers.
struct NodeValues {
  std::vector<double> first, second;
  std::vector<int> line;
};

/// A .vrp file being read.
class VrpReader {
 public:
  VrpReader(std::istream& in, const std::string& file, vrp::Rounding euclidean) : lines_(in, file), file_(file), euclidean_(euclidean) {}

  vrp::Vrp read() {
    while (lines_.next() && keyword(lines_.text()) != "EOF") {
      const auto [key, value] = key_and_value(lines_.text());
      if (key.ends_with("_SECTION")) {
        read_section(key);
      } else {
        read_keyword(key, value);
      }
    }
    if (!lines_.ended() && lines_.next()) lines_.fail(fmt::format("unexpected '{}' after EOF", shown(lines_.text())));
    return finished();
  }

 private:
  void read_keyword(const std::string& key, std::string_view value) {
    if (!keywords.contains(key)) lines_.fail(fmt::format("unknown keyword '{}'", shown(lines_.text())));
    if (key == "COMMENT" || key == "NAME" || key == "DISPLAY_DATA_TYPE") return;
    if (value.empty()) lines_.fail(fmt::format("expected '{} : value'", key));
    if (!line_of_.emplace(key, lines_.line()).second) lines_.fail(fmt::format("{} twice", key));
    const std::string word(words_of(value).front());
    if (key == "TYPE") {
      only(key, word, {"CVRP", "DCVRP"});
    } else if (key == "NODE_COORD_TYPE") {
      only(key, word, {"TWOD_COORDS", "NO_COORDS"});
    } else if (key == "EDGE_WEIGHT_TYPE") {
      type_ = only(key, word, {"EUC_2D", "CEIL_2D", "EXPLICIT"});
    } else if (key == "EDGE_WEIGHT_FORMAT") {
      format_ = only(key, word,
                     {"FUNCTION", "FULL_MATRIX", "LOWER_ROW", "LOWER_DIAG_ROW", "UPPER_ROW", "UPPER_DIAG_ROW", "LOWER_COL",
                      "LOWER_DIAG_COL", "UPPER_COL", "UPPER_DIAG_COL"});
    } else if (key == "DIMENSION") {
      const double n = finite(lines_, value, "DIMENSION");
      if (n != std::floor(n) || n < 2 || n > vrp::most_customers + 1)
        lines_.fail(fmt::format("DIMENSION '{}' is not a whole number from 2 to {}", shown(value), vrp::most_customers + 1));
      nodes_ = static_cast<std::size_t>(n);
    } else if (key == "CAPACITY") {
      data_.capacity = whole(lines_, value, "CAPACITY", 1);
    } else if (key == "VEHICLES") {
      data_.vehicles = whole(lines_, value, "VEHICLES", 1);
    } else if (key == "DISTANCE") {
      data_.limit = finite(lines_, value, "DISTANCE");
      if (!(*data_.limit > 0)) lines_.fail(fmt::format("DISTANCE '{}' is not above 0", shown(value)));
    } else if (key == "SERVICE_TIME") {
      service_time_ = finite(lines_, value, "SERVICE_TIME");
      if (service_time_ < 0) lines_.fail(fmt::format("SERVICE_TIME '{}' is negative", shown(value)));
    }
  }

  /// The value, which must be one of these.
  std::string only(const std::string& key, const std::string& value, const std::vector<std::string>& allowed) const {
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
      lines_.fail(fmt::format("{} {} is not supported; supported: {}", key, shown(value), fmt::join(allowed, ", ")));
    return value;
  }

  void read_section(const std::string& section) {
    if (nodes_ == 0) lines_.fail("DIMENSION is missing before this section");
    if (!line_of_.emplace(section, lines_.line()).second) lines_.fail(fmt::format("{} twice", section));
    if (section == "NODE_COORD_SECTION" || section == "DISPLAY_DATA_SECTION") {
      read_nodes(section, places_, "a coordinate", true);
    } else if (section == "DEMAND_SECTION") {
      read_nodes(section, demands_, "a demand", false);
    } else if (section == "SERVICE_TIME_SECTION") {
      read_nodes(section, services_, "a service time", false);
    } else if (section == "EDGE_WEIGHT_SECTION") {
      read_weights();
    } else if (section == "DEPOT_SECTION") {
      read_depot();
    } else {
      lines_.fail(fmt::format("section {} is not supported", shown(section)));
    }
  }

  /// A line "node value" or "node x y" for each node, in any order.
  void read_nodes(const std::string& section, NodeValues& values, const char* expected, bool pairs) {
    if (!values.line.empty()) lines_.fail("a second section with coordinates");
    values = {std::vector<double>(nodes_), std::vector<double>(nodes_), std::vector<int>(nodes_)};
    for (std::size_t read = 0; read < nodes_; ++read) {
      const bool more = lines_.next();
      if (!more || std::isalpha(static_cast<unsigned char>(lines_.text().front())) != 0) {
        const auto missing = std::find(values.line.begin(), values.line.end(), 0) - values.line.begin() + 1;
        lines_.fail(fmt::format("{} ends after {} of {} nodes; node {} is missing", section, read, nodes_, missing));
      }
      const auto words = words_of(lines_.text());
      if (words.size() != (pairs ? 3 : 2))
        lines_.fail(fmt::format("expected '{}', found '{}'", pairs ? "node x y" : "node value", shown(lines_.text())));
      const std::size_t node = node_at(words[0]);
      if (values.line[node] != 0) lines_.fail(fmt::format("node {} twice; it was in line {}", node + 1, values.line[node]));
      values.line[node] = lines_.line();
      if (pairs) {
        values.first[node] = finite(lines_, words[1], expected);
        values.second[node] = finite(lines_, words[2], expected);
      } else if (&values == &demands_) {
        values.first[node] = whole(lines_, words[1], expected, 0);
      } else {
        values.first[node] = finite(lines_, words[1], expected);
        if (values.first[node] < 0) lines_.fail(fmt::format("the service time {} is negative", shown(words[1])));
      }
    }
  }

  /// From 0.
  [[nodiscard]] std::size_t node_at(std::string_view word) const {
    const auto node = lines_.number<std::int64_t>(word, "the number of a node");
    if (node < 1 || node > static_cast<std::int64_t>(nodes_)) lines_.fail(fmt::format("node {} is outside 1..{}", node, nodes_));
    return static_cast<std::size_t>(node - 1);
  }

  /// Columns of one triangle are rows of the other, as distances are symmetric.
  void read_weights() {
    if (type_ != "EXPLICIT") lines_.fail("EDGE_WEIGHT_SECTION needs EDGE_WEIGHT_TYPE EXPLICIT before it");
    if (format_.empty() || format_ == "FUNCTION") lines_.fail("EDGE_WEIGHT_SECTION needs its EDGE_WEIGHT_FORMAT before it");
    data_.matrix.assign(nodes_ * nodes_, 0);
    const int section = lines_.line();
    text::read_weights(lines_, format_, nodes_, [&](std::size_t i, std::size_t j, std::string_view word) {
      const double weight = finite(lines_, word, "a distance");
      if (weight < 0) lines_.fail(fmt::format("the distance {} is negative", shown(word)));
      data_.matrix[i * nodes_ + j] = weight;
      if (format_ != "FULL_MATRIX") data_.matrix[j * nodes_ + i] = weight;
    });
    for (std::size_t i = 0; i < nodes_; ++i)  // here, as nodes have other numbers once the depot is the first
      for (std::size_t j = 0; j < i; ++j)
        if (const double there = data_.matrix[j * nodes_ + i], back = data_.matrix[i * nodes_ + j]; there != back)
          lines_.fail(section, fmt::format("the distance from node {} to node {} is {}, back it is {}: it must be symmetric", j + 1, i + 1,
                                           there, back));
  }

  void read_depot() {
    std::vector<std::size_t> depots;
    for (bool more = true; more;) {
      if (!lines_.next() || std::isalpha(static_cast<unsigned char>(lines_.text().front())) != 0)
        lines_.fail("DEPOT_SECTION ends without -1");
      for (const std::string_view word : words_of(lines_.text())) {
        if (!more) lines_.fail(fmt::format("unexpected '{}' after -1", shown(word)));
        more = word != "-1";
        if (more) depots.push_back(node_at(word));
        if (depots.size() > 1) lines_.fail(fmt::format("a second depot, node {}: several depots are not supported", depots[1] + 1));
      }
    }
    if (depots.empty()) lines_.fail("DEPOT_SECTION names no depot");
    depot_ = depots[0];
  }

  vrp::Vrp finished() {
    std::vector<std::string> needed{"TYPE", "EDGE_WEIGHT_TYPE", "DIMENSION", "CAPACITY", "DEMAND_SECTION", "DEPOT_SECTION"};
    needed.push_back(type_ == "EXPLICIT" ? "EDGE_WEIGHT_SECTION" : "NODE_COORD_SECTION");
    for (const std::string& key : needed)
      if (!line_of_.contains(key)) lines_.fail(fmt::format("the file has no {}", key));
    if (line_of_.contains("SERVICE_TIME") && line_of_.contains("SERVICE_TIME_SECTION"))
      lines_.fail(line_of_["SERVICE_TIME_SECTION"], fmt::format("SERVICE_TIME is given already, in line {}", line_of_["SERVICE_TIME"]));
    for (const auto& [values, what] : {std::pair{&demands_, "demand"}, std::pair{&services_, "service time"}})
      if (!values->line.empty() && values->first[depot_] != 0)
        lines_.fail(values->line[depot_], fmt::format("the depot has the {} {}; it must be 0", what, values->first[depot_]));
    data_.name = std::filesystem::path(file_).stem().string();
    data_.rounding = type_ == "EUC_2D" ? euclidean_ : type_ == "CEIL_2D" ? vrp::Rounding::up : vrp::Rounding::none;
    depot_first();
    try {
      return vrp::Vrp(std::move(data_));
    } catch (const InputError& error) {
      lines_.fail(line_of_[needed.back()], error.what());
    }
  }

  /// Everything in the order of the instance: the depot, then the other nodes as the file numbers them.
  void depot_first() {
    std::vector<std::size_t> nodes{depot_};
    for (std::size_t node = 0; node < nodes_; ++node)
      if (node != depot_) nodes.push_back(node);
    for (const std::size_t node : nodes) {
      data_.demand.push_back(static_cast<std::int32_t>(demands_.first[node]));
      if (!places_.line.empty()) {
        data_.x.push_back(places_.first[node]);
        data_.y.push_back(places_.second[node]);
      }
      if (!services_.line.empty())
        data_.service.push_back(services_.first[node]);
      else if (service_time_ > 0)
        data_.service.push_back(node == depot_ ? 0 : service_time_);
    }
    if (data_.matrix.empty() || depot_ == 0) return;
    const std::vector<double> read = std::move(data_.matrix);
    data_.matrix.clear();
    for (const std::size_t i : nodes)
      for (const std::size_t j : nodes) data_.matrix.push_back(read[i * nodes_ + j]);
  }

  Lines lines_;
  const std::string& file_;
  vrp::Rounding euclidean_;
  std::map<std::string, int> line_of_;  ///< of keywords and sections
  std::string type_, format_;
  std::size_t nodes_ = 0, depot_ = 0;
  double service_time_ = 0;
  NodeValues places_, demands_, services_;
  vrp::Data data_;
};

/// " 3.5" or " 3.5000".
void add_number(std::string& text, double number, std::optional<int> decimals = {}) {
  if (decimals) {
    fmt::format_to(std::back_inserter(text), " {:.{}f}", number, *decimals);
  } else {
    fmt::format_to(std::back_inserter(text), " {}", number);
  }
}

void add_service_section(std::string& text, const std::vector<double>& service) {
  text += "SERVICE_TIME_SECTION\n";
  for (std::size_t i = 0; i < service.size(); ++i) text += fmt::format("{} {}\n", i + 1, service[i]);
}

}  // namespace

vrp::Vrp read_cvrplib(std::istream& in, const std::string& file, vrp::Rounding euclidean) { return VrpReader(in, file, euclidean).read(); }

vrp::Vrp read_cvrplib(const std::filesystem::path& file, vrp::Rounding euclidean) {
  auto in = open_input_file(file);
  return read_cvrplib(in, file.string(), euclidean);
}

CvrplibSolution read_cvrplib_solution(std::istream& in, const std::string& file, const vrp::Vrp& vrp) {
  Lines lines(in, file);
  std::vector<vrp::Route> routes;
  std::vector<int> line_of(static_cast<std::size_t>(vrp.size()) + 1);
  std::optional<double> cost;
  while (lines.next()) {
    const std::string_view text = lines.text();
    const std::string key = keyword(text.substr(0, 5));
    if (const auto colon = text.find(':'); key == "ROUTE" && colon != std::string_view::npos) {
      routes.emplace_back();
      for (const std::string_view word : words_of(text.substr(colon + 1))) {
        const auto customer = lines.number<std::int64_t>(word, "the number of a customer");
        if (customer < 1 || customer > vrp.size()) lines.fail(fmt::format("customer {} is outside 1..{}", customer, vrp.size()));
        if (const int before = std::exchange(line_of[static_cast<std::size_t>(customer)], lines.line()); before != 0)
          lines.fail(fmt::format("customer {} twice; it was in line {}", customer, before));
        routes.back().push_back(static_cast<std::int32_t>(customer));
      }
    } else if (key.starts_with("COST")) {
      if (cost) lines.fail("a second cost");
      const auto value = text.find_first_not_of(": \t", 4);
      cost = finite(lines, value == std::string_view::npos ? std::string_view() : text.substr(value), "the cost");
    } else {
      lines.fail(fmt::format("expected 'Route #k: customers' or 'Cost value', found '{}'", shown(text)));
    }
  }
  if (const auto missing = std::find(line_of.begin() + 1, line_of.end(), 0); missing != line_of.end())
    lines.fail(fmt::format("customer {} is in no route", missing - line_of.begin()));
  return {vrp::encoded(std::move(routes)), cost};
}

CvrplibSolution read_cvrplib_solution(const std::filesystem::path& file, const vrp::Vrp& vrp) {
  auto in = open_input_file(file);
  return read_cvrplib_solution(in, file.string(), vrp);
}

std::string cvrplib_solution_text(const vrp::Vrp& vrp, std::span<const std::int32_t> solution) {
  std::string text;
  std::size_t number = 0;
  for (const vrp::Route& route : vrp::routes_of(solution)) text += fmt::format("Route #{}: {}\n", ++number, fmt::join(route, " "));
  return text + fmt::format("Cost {:.{}f}\n", vrp::length(vrp, solution), vrp.scale() == 1 ? 0 : 5);
}

std::string cvrplib_text(const vrp::Vrp& vrp, const std::string& comment, std::optional<int> decimals) {
  const vrp::Data& data = vrp.data();
  const std::size_t nodes = data.demand.size();
  const auto same_service = [&] {
    return std::adjacent_find(data.service.begin() + 1, data.service.end(), std::not_equal_to<>()) == data.service.end();
  };
  const bool services = !data.service.empty();
  std::string text = fmt::format("NAME : {}\n{}TYPE : CVRP\nDIMENSION : {}\n", data.name,
                                 comment.empty() ? "" : fmt::format("COMMENT : {}\n", comment), nodes);
  text += !data.matrix.empty()                 ? "EDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : FULL_MATRIX\n"
          : data.rounding == vrp::Rounding::up ? "EDGE_WEIGHT_TYPE : CEIL_2D\n"
                                               : "EDGE_WEIGHT_TYPE : EUC_2D\n";
  text += fmt::format("CAPACITY : {}\n", data.capacity);
  if (data.limit) text += fmt::format("DISTANCE : {}\n", *data.limit);
  if (services && same_service()) text += fmt::format("SERVICE_TIME : {}\n", data.service[1]);
  if (data.vehicles) text += fmt::format("VEHICLES : {}\n", *data.vehicles);
  for (std::size_t i = 0; i < data.matrix.size(); ++i) {
    if (i == 0) text += "EDGE_WEIGHT_SECTION";
    if (i % nodes == 0) text += '\n';
    add_number(text, data.matrix[i]);
  }
  if (!data.matrix.empty()) text += '\n';
  if (!data.x.empty()) text += data.matrix.empty() ? "NODE_COORD_SECTION\n" : "DISPLAY_DATA_SECTION\n";
  for (std::size_t i = 0; i < data.x.size(); ++i) {
    text += fmt::format("{}", i + 1);
    add_number(text, data.x[i], decimals);
    add_number(text, data.y[i], decimals);
    text += '\n';
  }
  text += "DEMAND_SECTION\n";
  for (std::size_t i = 0; i < nodes; ++i) text += fmt::format("{} {}\n", i + 1, data.demand[i]);
  if (services && !same_service()) add_service_section(text, data.service);
  return text + "DEPOT_SECTION\n1\n-1\nEOF\n";
}

std::string vrp_content(const vrp::Vrp& vrp) {
  const vrp::Data& data = vrp.data();
  const char* kind = !data.matrix.empty() ? "matrix" : data.rounding == vrp::Rounding::up ? "ceiling" : "plane";
  std::string text = fmt::format("{} {} {} {} {}\n", kind, vrp.size(), data.capacity, data.limit ? fmt::format("{}", *data.limit) : "-",
                                 data.vehicles ? fmt::format("{}", *data.vehicles) : "-");
  for (std::int32_t i = 0; i <= vrp.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    fmt::format_to(std::back_inserter(text), "{} {}", data.demand[at], vrp.service(i));
    if (data.matrix.empty()) {
      add_number(text, data.x[at] + 0.0);
      add_number(text, data.y[at] + 0.0);
    } else {
      for (std::int32_t j = 0; j < i; ++j) add_number(text, vrp.distance(i, j));
    }
    text += '\n';
  }
  return text;
}

}  // namespace vicinity
