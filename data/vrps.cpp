#include "data/vrps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <regex>

#include "core/util/error.hpp"
#include "core/util/rng.hpp"
#include "data/formats/cvrplib.hpp"
#include "data/generators/li.hpp"

namespace vicinity {
namespace {

using vrp::Rounding;

std::optional<Rounding> rounding_named(const std::string& name) {
  return name == "none" ? std::optional(Rounding::none) : name == "nearest" ? std::optional(Rounding::nearest) : std::nullopt;
}

/// Li 21 to 32, and instances like BHS.
vrp::Data generated(const CatalogueEntry& entry) {
  const std::string& name = entry.generator->name;
  const Generator& generator = generator_of(entry, name == "li-merged" ? "li-merged" : "li-rings");
  const int capacity = generator.parameter("capacity"), limit = generator.parameter("limit");
  if (name == "li-rings") return li_rings(entry.name, generator.parameter("per_ring"), generator.parameter("rings"), capacity, limit);
  return li_merged(entry.name, generator.parameter("customers"), static_cast<std::uint64_t>(generator.parameter("seed")), capacity, limit);
}

/// The entry with this content.
const CatalogueEntry* entry_of(const vrp::Vrp& vrp) {
  return entry_of_content("cvrplib", "customers", vrp.size(), [&] { return vrp_content(vrp); });
}

/// By how CVRPLIB's sets name their files: costs of "E-n51-k5" are of rounded distances, also where the same customers are in another set,
/// those of "tai75a" are not.
std::optional<Rounding> rounding_of_set(const std::string& name) {
  static const std::regex rounded("[A-Z]-n[0-9]+-k[0-9]+"), exact("tai[0-9]+[a-d]");
  return std::regex_match(name, rounded) ? std::optional(Rounding::nearest)
         : std::regex_match(name, exact) ? std::optional(Rounding::none)
                                         : std::nullopt;
}

/// What a case says of a random instance.
struct RandomVrp {
  std::int64_t size, number, sites, extent, detours, demand_range, route_size, limit_percent, service, vehicles;

  explicit RandomVrp(const Case& c)
      : size(c.integer("size", 1, vrp::most_customers)),
        number(c.integer_or("instance_seed", 1, 0, std::int64_t{1} << 40)),
        sites(c.integer_or("sites", size, 1, size)),
        extent(c.integer_or("extent", 1000, 0, 100'000)),
        detours(c.integer_or("detours", 0, 0, 100)),
        demand_range(c.integer_or("demand_range", 100, 1, 100'000)),
        route_size(c.integer_or("route_size", 10, 1, vrp::most_customers)),
        limit_percent(c.integer_or("limit_percent", 0, 0, 100'000)),
        service(c.integer_or("service", 0, 0, 100'000)),
        vehicles(c.integer_or("vehicles", 0, 0, vrp::most_customers)) {}

  /// A whole number of [0, bound), the same for the same address.
  [[nodiscard]] std::int64_t draw(std::int64_t index, std::uint32_t what, std::int64_t bound) const {
    return static_cast<std::int64_t>(scale_to(random_bits(static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(index), what, 0),
                                              static_cast<std::uint64_t>(bound)));
  }

  [[nodiscard]] vrp::Data data() const {
    vrp::Data data;
    data.name = fmt::format("random{}-{}", size, number);
    for (std::int64_t i = 0; i <= size; ++i) {
      data.x.push_back(static_cast<double>(draw(site(i), 0, extent + 1)));
      data.y.push_back(static_cast<double>(draw(site(i), 1, extent + 1)));
      data.demand.push_back(i == 0 ? 0 : static_cast<std::int32_t>(1 + draw(i, 2, demand_range)));
    }
    if (detours > 0) measure(data);
    if (service > 0) data.service.assign(data.demand.size(), static_cast<double>(service)), data.service[0] = 0;
    const std::int64_t total = std::accumulate(data.demand.begin(), data.demand.end(), std::int64_t{0});
    const std::int64_t wanted = (total * std::min(route_size, size) + size - 1) / size;
    data.capacity = std::max(static_cast<std::int32_t>(wanted), *std::max_element(data.demand.begin(), data.demand.end()));
    if (vehicles > 0) data.vehicles = static_cast<std::int32_t>(vehicles);
    if (limit_percent > 0) data.limit = std::max(1.0, std::ceil(farthest(data) * static_cast<double>(limit_percent) / 100));
    return data;
  }

 private:
  /// Of a customer, from 1; that of the depot is 0.
  [[nodiscard]] std::int64_t site(std::int64_t i) const { return i == 0 ? 0 : 1 + (i - 1) % sites; }
  [[nodiscard]] static double straight(const vrp::Data& data, std::size_t i, std::size_t j) {
    return std::hypot(data.x[i] - data.x[j], data.y[i] - data.y[j]);
  }
  /// A matrix in place of the coordinates, some of its distances drawn.
  void measure(vrp::Data& data) const {
    const std::size_t places = data.x.size();
    data.matrix.assign(places * places, 0);
    for (std::size_t i = 0; i < places; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const auto [low, high] = std::minmax({site(static_cast<std::int64_t>(i)), site(static_cast<std::int64_t>(j))});
        const std::int64_t pair = high * (size + 1) + low;
        const bool drawn = low != high && draw(pair, 3, 100) < detours;
        data.matrix[i * places + j] = data.matrix[j * places + i] =
            drawn ? static_cast<double>(draw(pair, 4, extent + 1)) : straight(data, i, j);
      }
    data.x.clear();
    data.y.clear();
  }
  /// The longest trip to one customer and back, with service.
  [[nodiscard]] double farthest(const vrp::Data& data) const {
    double most = 0;
    for (std::size_t i = 1; i < data.demand.size(); ++i)
      most = std::max(most, 2 * std::ceil(data.matrix.empty() ? straight(data, i, 0) : data.matrix[i]) + static_cast<double>(service));
    return most;
  }
};

std::shared_ptr<const vrp::Vrp> random_instance(const Case& c) {
  vrp::Data data = RandomVrp(c).data();
  data.rounding = rounding_of(c).value_or(Rounding::none);
  if (data.rounding != Rounding::none && !data.matrix.empty()) throw InputError(fmt::format("{}: detours are not rounded", c.key()));
  try {
    return std::make_shared<vrp::Vrp>(std::move(data));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", c.key(), error.what()));
  }
}

}  // namespace

std::shared_ptr<const vrp::Vrp> load_vrp(const CatalogueEntry& entry, std::optional<Rounding> euclidean) {
  if (entry.format != "cvrplib")
    throw InputError(fmt::format("instance '{}' is no vehicle routing problem: its format is {}", entry.name, entry.format));
  if (!euclidean) euclidean = rounding_named(entry.rounding);
  if (!euclidean) throw InputError(fmt::format("the catalogue does not say how distances of family '{}' are rounded", entry.family));
  if (!entry.generator) return std::make_shared<vrp::Vrp>(read_cvrplib(instance_file(entry), *euclidean));
  vrp::Data data = generated(entry);
  data.rounding = *euclidean;
  auto instance = std::make_shared<vrp::Vrp>(std::move(data));
  check_generated(entry, vrp_content(*instance));
  return instance;
}

std::shared_ptr<const vrp::Vrp> load_vrp(const std::string& name, std::optional<Rounding> euclidean) {
  return load_vrp(catalogue().at(name), euclidean);
}

std::shared_ptr<const vrp::Vrp> read_vrp(const std::string& file, std::optional<Rounding> euclidean) {
  if (!euclidean) euclidean = rounding_of_set(std::filesystem::path(file).stem().string());
  auto instance = std::make_shared<vrp::Vrp>(read_cvrplib(std::filesystem::path(file), euclidean.value_or(Rounding::nearest)));
  const CatalogueEntry* known = euclidean ? nullptr : entry_of(*instance);
  if (known == nullptr || known->rounding != "none") return instance;
  vrp::Data data = instance->data();
  data.rounding = Rounding::none;
  return std::make_shared<vrp::Vrp>(std::move(data));
}

std::optional<Rounding> rounding_of(const Case& c) {
  if (!c.values.contains("rounding")) return std::nullopt;
  return rounding_named(c.name_or("rounding", "none", {"none", "nearest"}));
}

std::shared_ptr<const vrp::Vrp> make_vrp(const Case& c) {
  auto instance = c.instance.empty() ? random_instance(c) : load_vrp(c.instance, rounding_of(c));
  if (const std::string what = vrp::unservable(*instance); !what.empty()) throw InputError(fmt::format("{}: {}", c.key(), what));
  return instance;
}

std::vector<Axis> vrp_axes() {
  return {{"size", fmt::format("n, customers of a random instance at whole coordinates: 1 to {}", vrp::most_customers)},
          {"instance_seed", "number of the random instance (default 1)"},
          {"extent", "coordinates are from 0 to this: 0 to 100000 (default 1000)"},
          {"sites", "customers stand in turn at this many random places: 1 to size (default size)"},
          {"detours",
           "percent of the distances that are drawn from 0 to extent, so that a detour may be shorter than the way itself: 0 to 100 "
           "(default 0)"},
          {"demand_range", "demands are from 1 to this: 1 to 100000 (default 100)"},
          {"route_size", "the capacity is this many mean demands, but not below the largest demand (default 10)"},
          {"limit_percent",
           "the route limit in percent of the longest trip to one customer and back with service, 100 or more (default no limit)"},
          {"service", "service time of each customer, in units of length: 0 to 100000 (default 0)"},
          {"vehicles", "routes at most; 0: as many as are wanted (default 0)"},
          {"rounding",
           "of distances in the plane: none or nearest (default of a random instance none, else as the catalogue says of its family)"}};
}

std::string size_text(const vrp::Vrp& vrp) {
  const vrp::Data& data = vrp.data();
  std::string text = fmt::format("{} customer{}, capacity {}", vrp.size(), vrp.size() == 1 ? "" : "s", data.capacity);
  if (data.limit) text += fmt::format(", route limit {}", *data.limit);
  if (data.vehicles) text += fmt::format(", {} vehicle{}", *data.vehicles, *data.vehicles == 1 ? "" : "s");
  if (data.matrix.empty() && data.rounding != Rounding::none) text += ", whole distances";
  return text;
}

std::optional<std::int64_t> best_known_of(const vrp::Vrp& vrp) {
  const CatalogueEntry* entry = entry_of(vrp);
  const bool plane = vrp.data().matrix.empty() && vrp.data().rounding != Rounding::up;
  if (entry == nullptr || !entry->best_known || (plane && rounding_named(entry->rounding) != vrp.data().rounding)) return std::nullopt;
  return static_cast<std::int64_t>(vrp::fixed_point(entry->best_known->value, vrp.scale()));
}

}  // namespace vicinity
