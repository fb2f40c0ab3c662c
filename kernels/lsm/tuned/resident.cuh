#pragma once
// An engine of DeviceRun (kernels/lsm/device_searches.cuh) for any neighbourhood: searches live on the device, and neighbours are evaluated
// one by one. A search has a block to itself, many of them side by side, or the whole grid. What is special about a neighbourhood is its
// Place (kernels/lsm/tuned/place.cuh).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/util/math.hpp"
#include "kernels/cuda/collective/argmin.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/choice_key.cuh"
#include "kernels/lsm/device_searches.cuh"
#include "kernels/lsm/tuned/place_crowns.cuh"
#include "kernels/lsm/tuned/place_ppp.cuh"
#include "kernels/lsm/tuned/place_qap.cuh"
#include "kernels/lsm/tuned/place_tsp.cuh"

namespace vicinity::lsm {

/// Who works on a search.
enum class Group { block, grid };

template <class Place>
struct ResidentSearches {
  using Element = typename Place::Element;

  Place place;
  std::int64_t moves, limit, tenure;
  local_search::Method method;
  std::int32_t elements;  ///< of a solution
  local_search::SearchProgress* all_progress;
  const std::uint64_t* seeds;            ///< [search]
  Element *current, *best;               ///< [search][element]
  std::int32_t* until;                   ///< [search][move]: tabu before this iteration; nothing for hill climbings
  cuda::GridMailbox<ChoiceKey> mailbox;  ///< Group::grid
};

/// Searches from where they are until they are done, or have taken `limit` moves. Mapping: a block a search, or the grid one search, whose
/// blocks each hold the solution and make every move; neighbours in turns, Place::width threads one at a time. Tabu times are written and
/// read by one block alone. Synchronisation: three block barriers an iteration, and a message between all blocks of a grid. Cost: an
/// evaluation and a read of 4 bytes a neighbour.
template <class Place, Group group>
__global__ void __launch_bounds__(Place::most_threads, 1) resident_kernel(const __grid_constant__ ResidentSearches<Place> searches) {
  extern __shared__ uint4 room[];
  __shared__ ChoiceKey keys[32];
  __shared__ alignas(local_search::SearchProgress) unsigned char progress_bytes[sizeof(local_search::SearchProgress)];
  __shared__ std::int64_t move;
  __shared__ local_search::SearchProgress::Step step;
  local_search::SearchProgress& progress = *reinterpret_cast<local_search::SearchProgress*>(progress_bytes);
  constexpr bool alone = group == Group::block;
  const std::int32_t search = alone ? static_cast<std::int32_t>(blockIdx.x) : 0;
  const bool first_thread = threadIdx.x == 0, speaks = alone || blockIdx.x == 0, remembers = searches.method == local_search::Method::tabu;
  const std::int32_t workers = static_cast<std::int32_t>(blockDim.x) / Place::width;  // of this block
  const std::int32_t all_workers = alone ? workers : workers * static_cast<std::int32_t>(gridDim.x);
  const std::int32_t worker =
      static_cast<std::int32_t>(threadIdx.x) / Place::width + (alone ? 0 : workers * static_cast<std::int32_t>(blockIdx.x));
  typename Place::Element* const current = searches.current + std::int64_t{search} * searches.elements;
  typename Place::Element* const best = searches.best + std::int64_t{search} * searches.elements;
  std::int32_t* const until = searches.until + search * searches.moves;

  if (searches.all_progress[search].done(searches.limit)) return;
  if (first_thread) progress = searches.all_progress[search];
  Place place = searches.place;
  place.enter(current, searches.elements, searches.seeds[search], room);
  __syncthreads();
  while (!progress.done(searches.limit)) {
    const std::int64_t t = progress.iterations, value = progress.value, best_value = progress.best_value;
    ChoiceKey mine;
    for (std::int64_t f = worker; f < searches.moves; f += all_workers) {
      const std::int32_t tabu = remembers ? until[f] : 0;
      const std::int64_t reached = place.value(f, t, value);
      cuda::lower(mine, key_of({reached, f, local_search::forbids(tabu, t, reached, best_value)}));
    }
    ChoiceKey least = cuda::block_argmin(mine, keys);
    if (threadIdx.x < 32) {
      if (!alone) least = searches.mailbox.argmin(least, static_cast<unsigned>(t + 1));
      if (first_thread) {
        const local_search::Choice choice = choice_of(least);
        move = choice.move;
        step = progress.take(choice, searches.method);
      }
    }
    __syncthreads();
    if (step == local_search::SearchProgress::Step::ended) break;
    place.apply(t, move);
    if (remembers && first_thread && (alone || move % all_workers / workers == blockIdx.x))
      until[move] = static_cast<std::int32_t>(local_search::tabu_until(t, searches.tenure));
    __syncthreads();
    if (speaks && step == local_search::SearchProgress::Step::improved) place.copy_to(best, searches.elements);
  }
  if (!speaks) return;
  place.copy_to(current, searches.elements);
  if (first_thread) searches.all_progress[search] = progress;
}

/// How many blocks of how many threads search.
struct ResidentPolicy {
  std::int32_t threads, blocks;
  std::size_t shared_bytes;

  /// `searches`: blocks of Group::block.
  template <class Residence, class Neighborhood>
  [[nodiscard]] static ResidentPolicy of(const Neighborhood& neighborhood, Group group, std::int64_t searches) {
    constexpr std::int32_t width = Residence::Place::width;
    const auto multiprocessors = std::int64_t{cuda::multiprocessors()};
    const std::int64_t all = neighborhood.moves() * width;  // threads, for one move each
    std::int64_t most = std::min<std::int64_t>(Residence::Place::most_threads, Residence::most_threads(neighborhood, most_shared()));
    if (group == Group::block)
      for (std::int64_t room = multiprocessors; 2 * room <= searches && most > 256; room *= 2) most = divide_up(most / 2, 32) * 32;
    const std::int64_t share = group == Group::block ? all : divide_up(all, multiprocessors);
    const auto threads = static_cast<std::int32_t>(divide_up(divide_up(share, divide_up(share, most)), 32) * 32);
    return {threads,
            static_cast<std::int32_t>(group == Group::block ? searches : std::min(multiprocessors, divide_up(all, std::int64_t{threads}))),
            Residence::shared_bytes(neighborhood, threads)};
  }
  /// Bytes of shared memory that a block may ask for, beside what the kernel declares itself.
  [[nodiscard]] static std::size_t most_shared() {
    constexpr std::size_t reserve = 2048;
    return cuda::most_shared() - reserve;
  }
};

/// Engine of DeviceRun. `Residence` (kernels/lsm/tuned/place.cuh) makes the Place.
template <class Residence, Group group>
class Resident {
 public:
  using Neighborhood = typename Residence::Neighborhood;
  using Place = typename Residence::Place;
  using Element = typename Place::Element;
  using State = local_search::SearchState<Neighborhood>;

  Resident(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream),
        elements_(Residence::elements(neighborhood)),
        batch_size_(group == Group::grid ? 1 : most_together(neighborhood, task)),
        policy_(ResidentPolicy::of<Residence>(neighborhood, group, batch_size_)),
        residence_(neighborhood, policy_.blocks, stream),
        current_(searches() * elements_),
        best_(searches() * elements_),
        until_(task.method == local_search::Method::tabu ? searches() * static_cast<std::size_t>(neighborhood.moves()) : 0),
        seeds_(searches()),
        messages_(group == Group::grid ? 2 * static_cast<std::size_t>(policy_.blocks) : 0),
        staged_current_(current_.size()),
        staged_best_(best_.size()),
        staged_seeds_(searches()),
        arguments_{residence_.place(),
                   neighborhood.moves(),
                   0,
                   local_search::tenure_of(task, neighborhood.moves()),
                   task.method,
                   static_cast<std::int32_t>(elements_),
                   nullptr,
                   seeds_.data(),
                   current_.data(),
                   best_.data(),
                   until_.data(),
                   {messages_.data(), policy_.blocks}} {
    cuda::allow_shared(kernel, policy_.shared_bytes);
  }

  [[nodiscard]] std::int64_t batch_size() const { return batch_size_; }
  void begin(const std::vector<State>& states) {
    count_ = states.size();
    for (std::size_t k = 0; k < count_; ++k) {
      std::copy(states[k].solution().begin(), states[k].solution().end(), staged_current_.data() + k * elements_);
      staged_seeds_[k] = states[k].seed();
    }
    copy(current_.data(), staged_current_.data(), count_ * elements_, cudaMemcpyHostToDevice);
    copy(best_.data(), staged_current_.data(), count_ * elements_, cudaMemcpyHostToDevice);
    copy(seeds_.data(), staged_seeds_.data(), count_, cudaMemcpyHostToDevice);
    until_.fill(0, stream_);
    messages_.fill(0, stream_);
  }
  void launch(local_search::SearchProgress* all_progress, std::int64_t limit) {
    arguments_.all_progress = all_progress;
    arguments_.limit = limit;
    const cuda::Shape shape{.blocks = group == Group::grid ? policy_.blocks : static_cast<std::int64_t>(count_),
                            .threads = policy_.threads,
                            .shared_bytes = policy_.shared_bytes,
                            .cooperative = group == Group::grid};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream_, kernel, arguments_));
  }
  void finish(std::vector<typename State::Result>& searches) {
    copy(staged_current_.data(), current_.data(), count_ * elements_, cudaMemcpyDeviceToHost);
    copy(staged_best_.data(), best_.data(), count_ * elements_, cudaMemcpyDeviceToHost);
    stream_.synchronize();
    for (std::size_t k = 0; k < count_; ++k) {
      std::copy_n(staged_current_.data() + k * elements_, elements_, searches[k].current.begin());
      std::copy_n(staged_best_.data() + k * elements_, elements_, searches[k].best.begin());
    }
  }
  void poison() {
    current_.fill(0xA5, stream_);
    best_.fill(0xA5, stream_);
    until_.fill(0xA5, stream_);
    messages_.fill(0xA5, stream_);
  }
  [[nodiscard]] static const char* synchronization() { return group == Group::grid ? "grid_barrier" : "block_barrier"; }
  [[nodiscard]] Policy policy() const {
    return {{"blocks", policy_.blocks},
            {"threads", policy_.threads},
            {"threads_a_neighbor", Place::width},
            {"shared_bytes", static_cast<std::int64_t>(policy_.shared_bytes)},
            {"restarts_at_a_time", batch_size_}};
  }

 private:
  static constexpr auto kernel = resident_kernel<Place, group>;

  [[nodiscard]] std::size_t searches() const { return static_cast<std::size_t>(batch_size_); }
  /// As many as nine tenths of the free memory hold.
  [[nodiscard]] static std::int64_t most_together(const Neighborhood& neighborhood, const local_search::Task& task) {
    std::size_t free = 0, total = 0;
    VICINITY_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    const std::size_t until =
        task.method == local_search::Method::tabu ? sizeof(std::int32_t) * static_cast<std::size_t>(neighborhood.moves()) : 0;
    const std::size_t each = until + 2 * sizeof(Element) * Residence::elements(neighborhood) + Residence::bytes_a_place(neighborhood);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(free / 10 * 9 / each), 1, task.restarts);
  }
  template <class T>
  void copy(T* to, const T* from, std::size_t count, cudaMemcpyKind kind) {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(T), kind, stream_.get()));
  }

  const cuda::Stream& stream_;
  std::size_t elements_;
  std::int64_t batch_size_;
  ResidentPolicy policy_;
  Residence residence_;
  cuda::DeviceBuffer<Element> current_, best_;  ///< [search][element]
  cuda::DeviceBuffer<std::int32_t> until_;      ///< [search][move]
  cuda::DeviceBuffer<std::uint64_t> seeds_;
  cuda::DeviceBuffer<cuda::KeyMessage<ChoiceKey>> messages_;
  cuda::HostBuffer<Element> staged_current_, staged_best_;
  cuda::HostBuffer<std::uint64_t> staged_seeds_;
  ResidentSearches<Place> arguments_;  ///< but for all_progress and limit
  std::size_t count_ = 0;              ///< searches under way
};

/// A run of `group` for any neighbourhood.
template <Group group, class Neighborhood>
[[nodiscard]] std::unique_ptr<Run> resident_run(const Neighborhood& neighborhood, const local_search::Task& task) {
  return with_residence(neighborhood, ResidentPolicy::most_shared(), [&]<class Residence>() -> std::unique_ptr<Run> {
    return std::make_unique<DeviceRun<Resident<Residence, group>>>(neighborhood, task);
  });
}

}  // namespace vicinity::lsm
