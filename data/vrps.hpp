#pragma once
// Vehicle routing problems of the catalogue, of users' files, and random ones.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/system.hpp"
#include "core/problems/vrp/vrp.hpp"
#include "data/catalogue.hpp"

namespace vicinity {

/// The instance called `name` in the catalogue: generated where the catalogue knows how, else from its file. Checks the checksum. EUC_2D is
/// rounded as the catalogue says of the family, or as `euclidean` says. Throws InputError; MissingInput, which says how to get the file,
/// when it is not on the search path.
[[nodiscard]] std::shared_ptr<const vrp::Vrp> load_vrp(const std::string& name, std::optional<vrp::Rounding> euclidean = {});
[[nodiscard]] std::shared_ptr<const vrp::Vrp> load_vrp(const CatalogueEntry& entry, std::optional<vrp::Rounding> euclidean = {});

/// A user's .vrp file. What `euclidean` leaves open, the catalogue decides by the file's content; what it does not know is rounded to
/// nearest, as TSPLIB defines EUC_2D. Throws InputError.
[[nodiscard]] std::shared_ptr<const vrp::Vrp> read_vrp(const std::string& file, std::optional<vrp::Rounding> euclidean = {});

/// "none", "nearest": a value of the axis `rounding`; empty where it says nothing. Throws InputError.
[[nodiscard]] std::optional<vrp::Rounding> rounding_of(const Case& c);

/// The instance of a case: from the catalogue by name, or random as its axes say. Throws InputError, also where some customer cannot be
/// served.
[[nodiscard]] std::shared_ptr<const vrp::Vrp> make_vrp(const Case& c);
/// The axes of instances; all but `rounding` are those of a random one.
[[nodiscard]] std::vector<Axis> vrp_axes();

/// "199 customers, capacity 200, route limit 200".
[[nodiscard]] std::string size_text(const vrp::Vrp& vrp);

/// The best cost the catalogue knows for an instance with this very content and rounding, in its fixed point.
[[nodiscard]] std::optional<std::int64_t> best_known_of(const vrp::Vrp& vrp);

}  // namespace vicinity
