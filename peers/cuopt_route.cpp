// Solves a vehicle routing problem with NVIDIA cuOpt's C++ library, for peers/cuopt.py (built by peers/build_cuopt):
//
//   cuopt_route SECONDS SEED [fixed-costs] < problem
//
// The problem is binary: int32 nodes, of which the depot is 0, vehicles, fewest vehicles, capacity; float32 limit of a
// route's cost, 0 for none; int32 demands[nodes]; float32 costs[nodes][nodes]. A line "ready" says that all is read and
// on the GPU, "solved" or "none" that the search is over; a line "route 1 2 3" for each route follows. "failed WHY"
// where cuOpt refuses.
//
// cuOpt first looks for as few vehicles as it can, and keeps their number. With fixed-costs each vehicle has a fixed
// cost, 0: then cuOpt weighs vehicles by cost, and their number may grow again.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cuopt/routing/solve.hpp>
#include <cuopt/version_config.hpp>
#include <exception>
#include <iostream>
#include <map>
#include <raft/core/handle.hpp>
#include <rmm/device_uvector.hpp>
#include <rmm/mr/cuda_async_memory_resource.hpp>
#include <rmm/mr/per_device_resource.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace routing = cuopt::routing;

template <typename T>
std::vector<T> read(std::size_t count) {
  std::vector<T> values(count);
  std::cin.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
  if (!std::cin) throw std::runtime_error("the problem ends early");
  return values;
}

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename T>
rmm::device_uvector<T> on_device(const std::vector<T>& values, const raft::handle_t& handle) {
  rmm::device_uvector<T> copy(values.size(), handle.get_stream());
  handle.sync_stream();
  check(cudaMemcpy(copy.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return copy;
}

void solve(float seconds, int seed, bool fixed_costs) {
  const auto header = read<std::int32_t>(4);
  const std::size_t nodes = header[0], vehicles = header[1];
  const float limit = read<float>(1)[0];
  const auto demands = read<std::int32_t>(nodes);
  const auto costs = read<float>(nodes * nodes);

  check(cudaFree(nullptr));  // says why where there is no GPU
  rmm::mr::set_current_device_resource(rmm::mr::cuda_async_memory_resource{});
  raft::handle_t handle;
  const auto device_demands = on_device(demands, handle);
  const auto device_costs = on_device(costs, handle);
  const auto capacities = on_device(std::vector<std::int32_t>(vehicles, header[3]), handle);
  const auto limits = on_device(std::vector<float>(vehicles, limit), handle);
  const auto nothing = on_device(std::vector<float>(vehicles, 0), handle);

  routing::data_model_view_t<int, float> model(&handle, header[0], header[1]);
  model.add_cost_matrix(device_costs.data());
  model.add_capacity_dimension("demand", device_demands.data(), capacities.data());
  model.set_min_vehicles(header[2]);
  if (limit > 0) model.set_vehicle_max_costs(limits.data());
  if (fixed_costs) model.set_vehicle_fixed_costs(nothing.data());
  routing::solver_settings_t<int, float> settings;
  settings.set_time_limit(seconds);
  settings.set_seed(seed);
  std::cout << "ready" << std::endl;

  const auto found = routing::solve(model, settings);
  const auto status = found.get_status();
  if (const std::string error = found.get_error_status().what(); status == routing::solution_status_t::ERROR)
    throw std::runtime_error(error);
  const bool solved = status == routing::solution_status_t::SUCCESS;
  std::cout << (solved ? "solved" : "none") << std::endl;
  if (!solved) return;
  const routing::host_assignment_t<int> stops(found);
  std::map<int, std::vector<int>> routes;  // of each vehicle
  for (std::size_t k = 0; k < stops.route.size(); ++k)
    if (stops.route[k] != 0) routes[stops.truck_id[k]].push_back(stops.route[k]);
  for (const auto& [vehicle, route] : routes) {
    std::cout << "route";
    for (const int customer : route) std::cout << ' ' << customer;
    std::cout << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words == std::vector<std::string>{"--version"}) {
    std::cout << CUOPT_VERSION << '\n';
    return 0;
  }
  const bool fixed_costs = words.size() == 3 && words[2] == "fixed-costs";
  if (words.size() != (fixed_costs ? 3U : 2U)) {
    std::cerr << "usage: cuopt_route SECONDS SEED [fixed-costs] < problem, or --version\n";
    return 2;
  }
  try {
    solve(std::stof(words[0]), std::stoi(words[1]), fixed_costs);
  } catch (const std::exception& error) {
    std::cout << "failed " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
