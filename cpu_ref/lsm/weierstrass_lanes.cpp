#include "cpu_ref/lsm/weierstrass_lanes.hpp"

#include "core/problems/weierstrass/weierstrass.hpp"

namespace vicinity::lsm {
namespace {

template <class Real>
VICINITY_HD void add_each(const WeierstrassLanes<Real>& x, WeierstrassLanes<Real>& total) {
#pragma omp simd
  for (std::size_t lane = 0; lane < weierstrass_lanes; ++lane) total[lane] = plus(total[lane], weierstrass::of_coordinate(x[lane]));
}

}  // namespace

// Compiled for any x86-64, the program picks what its processor has: a fused operation is a call of the C library without the instruction.
#if defined(__x86_64__) && !defined(__FMA__)
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#endif
void add_coordinates(const WeierstrassLanes<float>& x, WeierstrassLanes<float>& total) {
  add_each(x, total);
}
#if defined(__x86_64__) && !defined(__FMA__)
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#endif
void add_coordinates(const WeierstrassLanes<double>& x, WeierstrassLanes<double>& total) {
  add_each(x, total);
}

}  // namespace vicinity::lsm
