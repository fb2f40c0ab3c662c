#pragma once
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/problems/tsp/tsp.hpp"
#include "data/catalogue.hpp"

namespace vicinity {

/// Reads TSPLIB's .tsp format: lines "KEYWORD : value", then NODE_COORD_SECTION with DIMENSION lines "node x y", nodes 1..n in any order,
/// each once (EDGE_WEIGHT_TYPE EUC_2D, CEIL_2D, ATT, GEO), or EDGE_WEIGHT_SECTION with a symmetric matrix of whole numbers in any
/// EDGE_WEIGHT_FORMAT (EXPLICIT), then EOF or the end of the file. Throws InputError "file:line: ..." for anything else; other edge weight
/// types, problem types and sections are rejected by name. City i is node i + 1; the instance is named after the file.
[[nodiscard]] tsp::Tsp read_tsplib(std::istream& in, const std::string& file);
[[nodiscard]] tsp::Tsp read_tsplib(const std::filesystem::path& file);

/// Reads TSPLIB's .tour format: "KEYWORD : value" lines, DIMENSION or not, TOUR_SECTION, the nodes in the order of the tour, then -1, EOF
/// or the end of the file. Throws InputError "file:line: ..." unless it is a tour of `tsp`.
[[nodiscard]] tsp::Tour read_tsplib_tour(std::istream& in, const std::string& file, const tsp::Tsp& tsp);
[[nodiscard]] tsp::Tour read_tsplib_tour(const std::filesystem::path& file, const tsp::Tsp& tsp);

/// Where the file's NAME says that it is a tour of another instance, that in one line, "file:line: ..."; else empty. "eil51",
/// "eil51.opt.tour" and "eil51.426.tour" name eil51. The file is a tour of `tsp` by its nodes.
[[nodiscard]] std::string tsplib_tour_of_another(const std::filesystem::path& file, const tsp::Tsp& tsp);

/// The tour in TSPLIB's .tour format, its length in the COMMENT.
[[nodiscard]] std::string tsplib_tour_text(const tsp::Tsp& tsp, std::span<const std::int32_t> tour);
/// The instance in TSPLIB's .tsp format, coordinates as the shortest decimals that stand for them, a matrix whole.
[[nodiscard]] std::string tsplib_text(const tsp::Tsp& tsp);
/// The canonical text that `content_sha256` in the catalogue covers: n, the metric unless it is EUC_2D, then "x y" a city; of a matrix n
/// and its entries.
[[nodiscard]] std::string tsp_content(const tsp::Tsp& tsp);

/// The instance called `name` in the catalogue: generated where the catalogue knows how, else from its file. Checks the checksum.
/// Throws InputError; MissingInput, which says how to get the file, when it is not on the search path.
[[nodiscard]] std::shared_ptr<const tsp::Tsp> load_tsp(const std::string& name);
[[nodiscard]] std::shared_ptr<const tsp::Tsp> load_tsp(const CatalogueEntry& entry);

/// The best length the catalogue knows for an instance with this very content.
[[nodiscard]] std::optional<std::int64_t> best_known_of(const tsp::Tsp& tsp);

}  // namespace vicinity
