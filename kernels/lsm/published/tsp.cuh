#pragma once
// Neighbours of the travelling salesman problem: the swap of two positions of the tour. A thread evaluates a neighbour in O(1): at most
// eight distances, from a matrix, as in the paper, while it fits 1 GiB, else from the coordinates.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/lsm/published/neighbors.cuh"
#include "kernels/lsm/tsp_distances.cuh"

namespace vicinity::lsm {

template <class Matrix, class Coordinates, class Tour, class M>
struct TspView {
  Matrix matrix;
  Coordinates at;
  Tour tour;
  M moves;
  std::int64_t current;
  std::int32_t n;
  bool in_matrix;  ///< distances from the matrix, else from the coordinates; the other array is empty

  __host__ __device__ std::int64_t base() const { return current; }
  __device__ void stage() const {
    matrix.stage();
    at.stage();
    tour.stage();
  }
  __device__ std::int32_t value(std::int64_t f) const {
    const auto move = moves[f];
    return tsp::swap_delta(n, tour, move.at[0], move.at[1], [this](std::int32_t a, std::int32_t b) -> std::int32_t {
      if (in_matrix) return matrix[std::int64_t{a} * n + b];
      return distance(at[a], at[b]);
    });
  }
};

template <MemoryPath Path>
class Neighbors<local_search::TspSwap, Path> : public StatelessNeighbors<local_search::TspSwap> {
 public:
  using Neighborhood = local_search::TspSwap;

  Neighbors(const Neighborhood& neighborhood, const cuda::Stream& stream)
      : Neighbors(coordinates(neighborhood.instance().view()), stream) {}

  void generate(const SearchState<Neighborhood>& state) {
    const tsp::Tour& tour = state.solution();
    moves_.generate(tour, [&tour](const moves::Move<2>& move, int t) { return tour[static_cast<std::size_t>(move.at[1 - t])]; });
  }
  [[nodiscard]] auto upload(const SearchState<Neighborhood>& state, const cuda::Stream& stream) {
    auto tour = tour_.send(state.solution(), stream);
    auto moves = moves_.send(tour, stream);
    return TspView{matrix_.reader(), at_.reader(), tour, moves, state.value(), n_, matrix_.data().size() > 0};
  }
  [[nodiscard]] std::size_t shared_bytes(std::int64_t) const noexcept { return shared_bytes_; }

 private:
  Neighbors(const std::vector<double2>& at, const cuda::Stream& stream)
      : n_(static_cast<std::int32_t>(at.size())),
        matrix_(distance_entries(at.size()), shared_bytes_),
        at_(matrix_.data().size() > 0 ? std::span<const double2>() : at, shared_bytes_),
        tour_(at.size(), shared_bytes_),
        moves_(n_) {
    if (matrix_.data().size() == 0) return;
    const cuda::DeviceBuffer<double2> device(at);
    fill_distances(device.data(), at.size(), matrix_.data().data(), stream);
    stream.synchronize();
  }

  std::int32_t n_;
  std::size_t shared_bytes_ = 0;
  Array<typename Path::template Inputs<std::int32_t>> matrix_;  ///< [a][b]
  Array<typename Path::template Inputs<double2>> at_;
  Copied<typename Path::template Solution<std::int32_t>> tour_;
  Moves<2, std::int32_t, Path::solutions_by_host> moves_;
};

}  // namespace vicinity::lsm
