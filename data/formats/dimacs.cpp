#include "data/formats/dimacs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/util/error.hpp"
#include "data/input_file.hpp"

namespace vicinity {
namespace {

constexpr long long max_vertices = 1LL << 24, max_edges = 1LL << 28;

/// State of one file being read; every complaint carries file and line.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  void take(const std::string& text) {
    ++line_;
    std::istringstream words(text);
    std::string kind;
    if (!(words >> kind) || kind == "c") return;
    if (kind == "p") {
      take_problem(words);
    } else if (kind == "e") {
      take_edge(words);
    } else {
      fail(fmt::format("expected a line that starts with c, p or e, found '{}'", kind));
    }
  }

  Graph finish() {
    if (!seen_problem_) fail("no 'p edge VERTICES EDGES' line");
    if (edge_lines_ != announced_) fail(fmt::format("{} edges announced, {} found", announced_, edge_lines_));
    std::sort(graph_.edges.begin(), graph_.edges.end());
    graph_.edges.erase(std::unique(graph_.edges.begin(), graph_.edges.end()), graph_.edges.end());
    return std::move(graph_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(fmt::format("{}:{}: {}", file_, line_, what)); }

  void must_end(std::istringstream& words) const {
    if (std::string rest; words >> rest) fail(fmt::format("unexpected '{}' at the end of the line", rest));
  }

  void take_problem(std::istringstream& words) {
    if (seen_problem_) fail("a second 'p' line");
    std::string format;
    long long vertices = 0;
    if (!(words >> format >> vertices >> announced_) || (format != "edge" && format != "col")) fail("expected 'p edge VERTICES EDGES'");
    must_end(words);
    if (vertices < 0 || vertices > max_vertices || announced_ < 0 || announced_ > max_edges)
      fail("number of vertices or edges out of range");
    graph_.vertices = static_cast<int>(vertices);
    seen_problem_ = true;
  }

  void take_edge(std::istringstream& words) {
    if (!seen_problem_) fail("an edge before the 'p' line");
    long long u = 0, v = 0;
    if (!(words >> u >> v)) fail("expected 'e VERTEX VERTEX'");
    must_end(words);
    if (std::min(u, v) < 1 || std::max(u, v) > graph_.vertices) fail(fmt::format("vertex outside 1..{}", graph_.vertices));
    if (u == v) fail(fmt::format("edge from vertex {} to itself", u));
    if (++edge_lines_ > announced_) fail(fmt::format("more than the {} edges announced", announced_));
    graph_.edges.emplace_back(static_cast<int>(std::min(u, v)) - 1, static_cast<int>(std::max(u, v)) - 1);
  }

  std::string file_;
  Graph graph_;
  bool seen_problem_ = false;
  long long announced_ = 0, edge_lines_ = 0;
  int line_ = 0;
};

}  // namespace

Graph read_dimacs(std::istream& in, const std::string& file) {
  Reader reader(file);
  for (std::string text; std::getline(in, text);) reader.take(text);
  if (in.bad()) throw InputError(file + ": cannot be read");
  return reader.finish();
}

Graph read_dimacs(const std::filesystem::path& file) {
  std::ifstream in = open_input_file(file);
  return read_dimacs(in, file.string());
}

std::string dimacs_text(const Graph& graph, const std::vector<std::string>& comments) {
  std::string text;
  for (const std::string& comment : comments) text += "c " + comment + "\n";
  text += fmt::format("p edge {} {}\n", graph.vertices, graph.edges.size());
  for (const auto& [u, v] : graph.edges) text += fmt::format("e {} {}\n", u + 1, v + 1);
  return text;
}

}  // namespace vicinity
