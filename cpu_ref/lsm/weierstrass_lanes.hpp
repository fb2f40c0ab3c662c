#pragma once
// The Weierstrass function of many coordinates side by side, for both CPU evaluators: what weierstrass::of_coordinate() computes, bit for
// bit. Cost: some 700 vector instructions for as many coordinates as fit in a vector (double: 960), 416 (530) of them in floating point.
#include <array>
#include <cstddef>

namespace vicinity::lsm {

inline constexpr std::size_t weierstrass_lanes = 64;
template <class T>
using WeierstrassLanes = std::array<T, weierstrass_lanes>;

/// Adds of_coordinate(x[lane]) to total[lane].
void add_coordinates(const WeierstrassLanes<float>& x, WeierstrassLanes<float>& total);
void add_coordinates(const WeierstrassLanes<double>& x, WeierstrassLanes<double>& total);

}  // namespace vicinity::lsm
