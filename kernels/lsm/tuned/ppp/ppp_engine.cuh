#pragma once
// The device side of a run of searches of the permuted perceptron problem: memory, launches.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/problems/ppp/flip.hpp"
#include "core/util/error.hpp"
#include "core/util/math.hpp"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/tuned/ppp/ppp_kernel.cuh"
#include "kernels/lsm/device_searches.cuh"

namespace vicinity::lsm::perceptron {

/// What the GPU offers.
struct Machine {
  std::int32_t multiprocessors = 0;
  std::uint32_t shared = 0;  ///< bytes a block may have

  [[nodiscard]] static Machine present() { return {cuda::multiprocessors(), static_cast<std::uint32_t>(cuda::most_shared())}; }
};

/// The matrix in device memory.
class DeviceMatrix {
 public:
  explicit DeviceMatrix(const ppp::Ppp& ppp) {
    const ppp::View host = ppp.view();
    const std::int32_t units = divide_up(host.n, 32), row_words = divide_up(host.m, 32), column_pitch = divide_up(host.m, 128) * 4;
    const auto m = static_cast<std::size_t>(host.m);
    std::vector<std::uint32_t> rows(static_cast<std::size_t>(units) * m),
        columns(static_cast<std::size_t>(host.n) * static_cast<std::size_t>(column_pitch));
    for (std::int32_t c = 0; c < host.n; ++c)
      for (std::int32_t r = 0; r < host.m; ++r) {
        const std::uint32_t bit = host.at(r, c) > 0 ? 1 : 0;
        rows[static_cast<std::size_t>(c / 32) * m + static_cast<std::size_t>(r)] |= bit << c % 32;
        columns[static_cast<std::size_t>(c * column_pitch + r / 32)] |= bit << r % 32;
      }
    by_row_ = cuda::DeviceBuffer<std::uint32_t>(std::span<const std::uint32_t>(rows));
    by_column_ = cuda::DeviceBuffer<std::uint32_t>(std::span<const std::uint32_t>(columns));
    target_ = cuda::DeviceBuffer<std::int32_t>(std::span<const std::int32_t>(host.target, static_cast<std::size_t>(host.n) + 1));
    std::int32_t whole_target = 0;
    for (std::int32_t v = 1; v <= host.n; ++v) whole_target += host.target[v];
    view_ = {by_row_.data(), by_column_.data(), target_.data(), host.m, host.n, units, row_words, column_pitch, whole_target};
  }
  [[nodiscard]] const Matrix& view() const noexcept { return view_; }

 private:
  cuda::DeviceBuffer<std::uint32_t> by_row_, by_column_;
  cuda::DeviceBuffer<std::int32_t> target_;
  Matrix view_{};
};

/// Words that hold m rows in so many groups, whatever their sizes.
[[nodiscard]] inline std::int32_t most_words(std::int32_t m, std::int32_t groups) { return (m + 31 * groups) / 32; }
/// Slots that any products may need: groups of -3 and more, and slot 0.
[[nodiscard]] inline std::int32_t most_slots(std::int32_t m, std::int32_t n) { return 1 + 2 * most_words(m, std::min(m, n / 2 + 3)); }
/// Places from the least product to the greatest as long as they lie within six times their deviation, the root of n; of few places all.
[[nodiscard]] inline std::int32_t usual_spread(std::int32_t n) {
  return std::min(n + 1, std::max(256, static_cast<std::int32_t>(6 * std::sqrt(static_cast<double>(n)))));
}
/// Slots that may be read after the last.
inline constexpr std::int32_t spare_slots = 8;

/// The shared memory of a block; bits and slots are there when they fit. Throws DoesNotFit when the rest does not.
template <int K, class Shape>
[[nodiscard]] Room make_room(std::int32_t m, std::int32_t n, std::uint32_t most_bytes) {
  constexpr std::uint32_t reserve = 4096;  // what the kernel declares itself
  constexpr std::int32_t fewest_slots = 32;
  Room room{};
  const auto take = [&](std::int64_t count, std::int64_t size) {
    const std::uint32_t at = room.bytes;
    room.bytes = static_cast<std::uint32_t>(divide_up(at + count * size, std::int64_t{16}) * 16);
    return at;
  };
  const std::int32_t places = n + 2 * margin + 1;
  room.histogram = take(places, 4);
  room.target = take(places, 2);
  room.base = take(m, 2);
  room.key = K == 3 ? take(m, 2) : room.base;
  room.rank = take(m, 2);
  room.order = take(m + 32, 2);
  room.negative = take(divide_up(n, 32), 4);
  if constexpr (K > 1) {
    room.spread = usual_spread(n);
    room.far_place_count = std::min(3 * std::min(m, n / 2 + 3), n / 2 + 1);
    room.place_count = std::min(room.far_place_count, room.spread + 4);
    room.words = take(most_words(m, std::min(m, room.spread)), sizeof(Word));
    room.places = take(room.place_count, sizeof(Place));
  }
  const std::uint32_t limit = most_bytes - reserve;
  if (room.bytes > limit)
    throw DoesNotFit("size " + std::to_string(m) + " x " + std::to_string(n) + " is too large for the shared memory of this GPU; use gpu");
  if constexpr (K == 1) {
    room.mask_pitch = Masks<Shape>::pitch_of(m);
    const std::int64_t spare = Masks<Shape>::spare_words(room.mask_pitch), wanted = Masks<Shape>::rows_of(usual_spread(n));
    const std::int64_t fit = ((std::int64_t{limit} - room.bytes) / 4 - spare) / (2 * room.mask_pitch);
    if (2 * fit >= wanted) {
      room.mask_rows = static_cast<std::int32_t>(std::min(fit, wanted));
      room.masks = take(std::int64_t{2 * room.mask_rows} * room.mask_pitch + spare, 4);
    }
    const Room masked = room;
    room.bits = take(m, 4);
    room.capacity = 1;
    return room.bytes <= limit ? room : masked;
  } else {
    const std::int32_t most = most_slots(m, n);
    room.far_words = static_cast<std::size_t>(most + spare_slots) * Shape::pitch;
    room.far_places = room.far_words + static_cast<std::size_t>(most_words(m, std::min(m, n + 1))) * sizeof(Word) / 4;
    room.scratch_size = room.far_places + static_cast<std::size_t>(room.far_place_count) * sizeof(Place) / 4;
    const Room without = room;
    room.bits = take(std::int64_t{Shape::units} * m, 4);
    room.slots = room.bytes;
    const std::int64_t fit = (std::int64_t{limit} - room.bytes) / (4 * Shape::pitch) - spare_slots;
    if (fit < fewest_slots) return without;
    room.capacity = static_cast<std::int32_t>(std::min<std::int64_t>(fit, most));
    take(std::int64_t{room.capacity + spare_slots} * Shape::pitch, 4);
    if (room.capacity == most && room.spread == n + 1) room.scratch_size = 0;
    return room;
  }
}

/// Engine of DeviceRun (kernels/lsm/device_searches.cuh).
template <int K, class S>
class Engine {
 public:
  using Neighborhood = local_search::PppFlip<K>;
  using State = local_search::SearchState<Neighborhood>;

  Engine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : task_(task),
        stream_(stream),
        matrix_(neighborhood.instance()),
        machine_(Machine::present()),
        room_(make_room<K, S>(view().m, view().n, machine_.shared)),
        blocks_(static_cast<std::int32_t>(std::min<std::int64_t>(items(view().n), machine_.multiprocessors))),
        until_size_(K == 2 ? pairs_of_tiles(view().units) : static_cast<std::size_t>(neighborhood.moves())),
        batch_size_(std::clamp<std::int64_t>(machine_.multiprocessors / blocks_, 1, task.restarts)),
        tenure_(static_cast<std::int32_t>(local_search::tenure_of(task, neighborhood.moves()))),
        negative_(searches() * units()),
        best_(searches() * units()),
        until_(searches() * until_size_),
        boards_(searches() * 2 * static_cast<std::size_t>(blocks_)),
        scratch_(searches() * static_cast<std::size_t>(blocks_) * room_.scratch_size),
        signs_(2 * searches() * units()) {
    cuda::allow_shared(kernel(), room_.bytes);
  }

  [[nodiscard]] std::int64_t batch_size() const { return batch_size_; }
  void begin(const std::vector<State>& states) {
    under_way_ = states.size();
    std::uint32_t* to = signs_.data();
    for (const State& state : states) to = pack(state.solution(), to);
    const std::size_t bytes = under_way_ * units() * sizeof(std::uint32_t);
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(negative_.data(), signs_.data(), bytes, cudaMemcpyHostToDevice, stream_.get()));
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(best_.data(), signs_.data(), bytes, cudaMemcpyHostToDevice, stream_.get()));
    until_.fill(0, stream_);
  }
  void launch(local_search::SearchProgress* all_progress, std::int64_t limit) {
    boards_.fill(0, stream_);
    const cuda::Shape shape{
        .blocks = static_cast<std::int64_t>(under_way_) * blocks_, .threads = S::threads, .shared_bytes = room_.bytes, .cooperative = true};
    const Searches all{all_progress, negative_.data(), best_.data(), until_.data(), boards_.data(), scratch_.data(), until_size_, blocks_};
    VICINITY_CUDA_CHECK(
        cuda::launch(shape, stream_, kernel(), view(), room_, all, Rules{task_.method, tenure_, static_cast<std::int32_t>(limit)}));
  }
  template <class Search>
  void finish(std::vector<Search>& found) {
    const std::size_t words = under_way_ * units();
    const auto fetch = [&](std::uint32_t* to, const std::uint32_t* from) {
      VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, words * sizeof(std::uint32_t), cudaMemcpyDeviceToHost, stream_.get()));
    };
    fetch(signs_.data(), negative_.data());
    fetch(signs_.data() + words, best_.data());
    stream_.synchronize();
    for (std::size_t k = 0; k < found.size(); ++k) {
      unpack(signs_.data() + k * units(), found[k].current);
      unpack(signs_.data() + words + k * units(), found[k].best);
    }
  }
  void poison() {
    negative_.fill(0xA5, stream_);
    best_.fill(0xA5, stream_);
    until_.fill(0xA5, stream_);
    boards_.fill(0xA5, stream_);
    scratch_.fill(0xA5, stream_);
  }
  [[nodiscard]] const char* synchronization() const { return blocks_ == 1 ? "block_barrier" : "grid_barrier"; }
  [[nodiscard]] Policy policy() const {
    Policy policy{{"block", S::threads}, {"blocks", blocks_}, {"together", batch_size_}, {"shared_bytes", room_.bytes}};
    if constexpr (K == 1) policy["mask_rows"] = room_.mask_rows;
    if constexpr (K > 1) {
      policy["tile_rows"] = 32 * S::p_units;
      policy["tile_columns"] = 32 * S::q_units;
      policy["slots"] = room_.capacity;
    }
    return policy;
  }

 private:
  /// Pieces of a neighbourhood that blocks take.
  [[nodiscard]] static std::int64_t items(std::int32_t n) {
    if constexpr (K == 1)
      return divide_up(n, S::columns);
    else
      return std::int64_t{tiles_of<S>(divide_up(n, 32))} * (K == 3 ? n : 1);
  }
  [[nodiscard]] static std::size_t pairs_of_tiles(std::int32_t units) {
    if constexpr (K == 1)
      return 0;
    else
      return static_cast<std::size_t>(tiles_of<S>(units)) * S::threads * S::per_thread;
  }
  [[nodiscard]] static auto kernel() { return &search_kernel<K, S>; }
  [[nodiscard]] const Matrix& view() const { return matrix_.view(); }
  [[nodiscard]] std::size_t searches() const { return static_cast<std::size_t>(batch_size_); }
  [[nodiscard]] std::size_t units() const { return static_cast<std::size_t>(view().units); }

  std::uint32_t* pack(const ppp::Signs& signs, std::uint32_t* to) const {
    std::fill_n(to, units(), 0u);
    for (std::size_t c = 0; c < signs.size(); ++c) to[c / 32] |= static_cast<std::uint32_t>(signs[c] < 0) << c % 32;
    return to + units();
  }
  static void unpack(const std::uint32_t* from, ppp::Signs& signs) {
    for (std::size_t c = 0; c < signs.size(); ++c) signs[c] = (from[c / 32] >> c % 32 & 1) != 0 ? std::int8_t{-1} : std::int8_t{1};
  }

  const local_search::Task task_;
  const cuda::Stream& stream_;
  DeviceMatrix matrix_;
  Machine machine_;
  Room room_;
  std::int32_t blocks_;  ///< of a search
  std::size_t until_size_;
  std::int64_t batch_size_;
  std::int32_t tenure_;
  cuda::DeviceBuffer<std::uint32_t> negative_, best_;  ///< [search][unit]
  cuda::DeviceBuffer<std::int32_t> until_;
  cuda::DeviceBuffer<Board::Message> boards_;
  cuda::DeviceBuffer<std::uint32_t> scratch_;
  cuda::HostBuffer<std::uint32_t> signs_;
  std::size_t under_way_ = 0;
};

}  // namespace vicinity::lsm::perceptron
