#pragma once
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>

#include "core/problems/vrp/vrp.hpp"

namespace vicinity {

/// Reads CVRPLIB's .vrp format (TSPLIB's TYPE CVRP, with DISTANCE, SERVICE_TIME and VEHICLES as LKH-3 has them): keywords and sections as
/// data/README.md lists them. `euclidean` says what EUC_2D means, Rounding::none or nearest: CVRPLIB's files do not. Customer i is the i-th
/// node that is not the depot; the instance is named after the file. A customer that no vehicle can serve is no error here
/// (vrp::unservable). Throws InputError "file:line: ..." for anything else.
[[nodiscard]] vrp::Vrp read_cvrplib(std::istream& in, const std::string& file, vrp::Rounding euclidean);
[[nodiscard]] vrp::Vrp read_cvrplib(const std::filesystem::path& file, vrp::Rounding euclidean);

/// A .sol file.
struct CvrplibSolution {
  Solution routes;             ///< vrp::encoded
  std::optional<double> cost;  ///< as the file states it
};

/// Reads CVRPLIB's .sol format: lines "Route #k: customers", and one "Cost value" or none. Throws InputError "file:line: ..." for anything
/// else and unless each customer of `vrp` is in exactly one route. Whether routes are feasible, and cost what is stated, is the oracle's to
/// say.
[[nodiscard]] CvrplibSolution read_cvrplib_solution(std::istream& in, const std::string& file, const vrp::Vrp& vrp);
[[nodiscard]] CvrplibSolution read_cvrplib_solution(const std::filesystem::path& file, const vrp::Vrp& vrp);

/// The solution in that format, its cost in double precision with five decimals, or whole where distances are.
[[nodiscard]] std::string cvrplib_solution_text(const vrp::Vrp& vrp, std::span<const std::int32_t> solution);

/// The instance in the .vrp format, coordinates with so many decimals; without a number, as the shortest decimals that stand for them.
[[nodiscard]] std::string cvrplib_text(const vrp::Vrp& vrp, const std::string& comment = "", std::optional<int> decimals = {});
/// The canonical text that `content_sha256` in the catalogue covers (data/README.md). It does not tell whether EUC_2D is rounded.
[[nodiscard]] std::string vrp_content(const vrp::Vrp& vrp);

}  // namespace vicinity
