#pragma once
// Quadratic assignment problems of the catalogue, and random ones.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/system.hpp"
#include "core/problems/qap/qap.hpp"
#include "data/catalogue.hpp"

namespace vicinity {

/// The instance called `name` in the catalogue: generated where the catalogue knows how, else from its file. Checks
/// the checksum. Throws InputError; MissingInput, which says how to get the file, when it is not on the search path.
[[nodiscard]] std::shared_ptr<const qap::Qap> load_qap(const std::string& name);
[[nodiscard]] std::shared_ptr<const qap::Qap> load_qap(const CatalogueEntry& entry);

/// The instance of a case: from the catalogue by name, or random as its axes say, with Taillard's generator. Throws InputError.
[[nodiscard]] std::shared_ptr<const qap::Qap> make_qap(const Case& c);
/// The axes of a random instance.
[[nodiscard]] std::vector<Axis> qap_axes();

/// "100 facilities, symmetric".
[[nodiscard]] std::string size_text(const qap::Qap& qap);

/// The best objective the catalogue knows for an instance with this very content.
[[nodiscard]] std::optional<std::int64_t> best_known_of(const qap::Qap& qap);

}  // namespace vicinity
