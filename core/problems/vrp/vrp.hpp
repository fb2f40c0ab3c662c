#pragma once
// The capacitated vehicle routing problem with route limits (DCVRP; Bach, Hasle and Schulz, section 1): like vehicles, of limited or
// unlimited number, serve n customers with given demands from one depot. Each customer is served once; a route starts and ends at the
// depot, carries at most the capacity, and lasts at most the route limit. The sum of the distances is least. Service times count towards
// the duration of a route, not towards the cost. The depot is 0, customers are 1..n.
//
// Costs are whole numbers in fixed point, so that they sum up to the same in any order: a length times scale(), rounded half up. The scale
// is 1 where all distances and service times are whole, else 1000, or so many powers of ten more, up to 10^6, that the customer farthest
// from the depot is 1000 units away, or 10^6 where finest; or, where that is too much, the largest power of ten below it for which
//   (bound on the cost of any solution) + (all service times) < 2^31 - 1,                                                       (1)
// where a solution is any partition of the customers into ordered routes, feasible or not. With it every cost, duration, part of either and
// new edge of a delta fits 32 bits. The bound: every customer has one edge to its successor, and every route one from the depot. With a
// matrix they cost at most the sum over customers i of max_j d(i,j) + d(0,i). In the plane d(i,j) <= d(i,0) + d(0,j), and rounding (half up
// or up) adds at most 1 to that, in fixed point or, where distances are whole, of length: a solution costs at most 2 sum_i d(0,i) + n times
// as much.
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/api/outcome.hpp"
#include "core/api/run.hpp"
#include "core/util/hd.hpp"

namespace vicinity::vrp {

/// The customers of a route in order.
using Route = std::vector<std::int32_t>;

inline constexpr std::int32_t most_customers = 10'000;
/// What a unit of load too much costs at most, in fixed point.
inline constexpr std::int64_t dearest_load = std::int64_t{1} << 22;
/// The route limit of an instance without one.
inline constexpr std::int32_t no_limit = std::numeric_limits<std::int32_t>::max();

/// What becomes of distances in the plane: nothing, the nearest whole number (TSPLIB's EUC_2D), the next one (CEIL_2D).
enum class Rounding : std::uint8_t { none, nearest, up };

/// An instance as it is given. Vectors begin with the depot and have n + 1 elements.
struct Data {
  std::string name;
  std::vector<double> x, y;    ///< empty: there are no coordinates, only a matrix
  std::vector<double> matrix;  ///< symmetric distances, row-major; empty: those of the plane
  Rounding rounding = Rounding::none;
  std::vector<std::int32_t> demand;  ///< that of the depot is 0
  std::int32_t capacity = 0;
  std::optional<double> limit;           ///< of distance and service times of a route
  std::vector<double> service;           ///< 0 at the depot; empty: there are none
  std::optional<std::int32_t> vehicles;  ///< how many routes at most; empty: as many as are wanted
  bool finest = false;                   ///< fixed point as fine as it may be
};

/// For kernels: lengths in fixed point, see (1). Demands and capacity are the instance's times a whole number, 1 unless routes are so long
/// that a route more could cost more than a unit of load too much at the greatest penalty.
struct View {
  const std::int32_t* distance;  ///< [a * (n + 1) + b]
  const std::int32_t* demand;    ///< [customer]
  const std::int32_t* service;   ///< [customer]
  std::int32_t n;                ///< customers
  std::int32_t capacity;
  std::int32_t limit;     ///< of a route's duration; or no_limit
  std::int32_t vehicles;  ///< most routes, n where the fleet is unlimited

  VICINITY_HD std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return distance[static_cast<std::size_t>(a) * static_cast<std::size_t>(n + 1) + static_cast<std::size_t>(b)];
  }
};

/// An instance: immutable.
class Vrp final : public Instance {
 public:
  /// Throws InputError (without a file's name) for no or more than most_customers customers, vectors of the wrong length, coordinates,
  /// distances or service times that are not finite, negative demands, distances or service times, what the depot may not have, a capacity,
  /// limit or fleet below 1 (limit: not above 0), an asymmetric matrix, demands whose sum leaves 32 bits, and distances for which no scale
  /// satisfies (1).
  explicit Vrp(Data data);

  [[nodiscard]] std::uint64_t hash() const override;
  [[nodiscard]] View view() const noexcept;
  [[nodiscard]] const Data& data() const noexcept { return data_; }
  [[nodiscard]] const std::string& name() const noexcept { return data_.name; }
  /// Customers.
  [[nodiscard]] std::int32_t size() const noexcept { return static_cast<std::int32_t>(data_.demand.size()) - 1; }
  /// Units of fixed point in a unit of length.
  [[nodiscard]] std::int32_t scale() const noexcept { return scale_; }
  /// No solution, feasible or not, costs more.
  [[nodiscard]] std::int64_t largest_cost() const noexcept { return largest_cost_; }
  /// As it is given: rounded as the instance says, but not to fixed point.
  [[nodiscard]] double distance(std::int32_t a, std::int32_t b) const;
  [[nodiscard]] double service(std::int32_t customer) const;

 private:
  Data data_;
  std::int32_t scale_ = 1, limit_ = no_limit, capacity_ = 0;
  std::int64_t largest_cost_ = 0;
  std::vector<std::int32_t> distance_, demand_, service_;
};

/// A length in units of 1 / scale, rounded half up.
[[nodiscard]] double fixed_point(double length, std::int32_t scale);

/// Routes as a Solution: customers route after route, 0 between two routes. This is the canonical form, the same for all that differ in the
/// direction or order of routes or have empty ones: a route's first customer is not above its last, routes ascend by their first customer.
[[nodiscard]] Solution encoded(std::vector<Route> routes);
/// The routes that are not empty, as they stand.
[[nodiscard]] std::vector<Route> routes_of(std::span<const std::int32_t> solution);

// --- the oracle: from coordinates (or the given matrix) and from scratch; shares no code with deltas.

/// The cost in fixed point. Throws InputError unless each customer is visited exactly once; whether routes are feasible, complaint() says.
[[nodiscard]] std::int64_t cost(const Vrp& vrp, std::span<const std::int32_t> solution);
/// The cost in double precision: within (n + routes) / 2 units of fixed point of cost().
[[nodiscard]] double length(const Vrp& vrp, std::span<const std::int32_t> solution);
/// What keeps `solution` from being feasible, in one line with route and customer; empty when nothing does. Routes count from 1 as they
/// stand, empty ones do not count. Durations are compared in fixed point: that of a route with k customers is within (k + 1) / 2 units of
/// what double precision gives, plus half a unit for each service time that is no multiple of one.
[[nodiscard]] std::string complaint(const Vrp& vrp, std::span<const std::int32_t> solution);

/// What keeps the instance from having any feasible solution, as far as one customer or the fleet's whole capacity shows it, in one line;
/// empty when nothing does.
[[nodiscard]] std::string unservable(const Vrp& vrp);

}  // namespace vicinity::vrp
