#pragma once
// Routes as a picture.
#include <string>

#include "core/problems/vrp/vrp.hpp"

namespace vicinity {

/// An SVG image of the routes of `solution` in the plane: a colour a route, the depot as a square, and a line of text with name, length and
/// number of routes; route, load and length of each under the pointer. Of an empty solution the customers alone. Throws InputError where
/// the instance has no coordinates.
[[nodiscard]] std::string drawing_of_routes(const vrp::Vrp& instance, const Solution& solution);

}  // namespace vicinity
