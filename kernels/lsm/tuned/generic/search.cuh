#pragma once
// A search of any neighbourhood that stays on the device, and evaluates all neighbours one by one: `gpu-chains`, and `gpu-tuned` where
// nothing better is known. A search has a block to itself, many of them side by side, or the whole grid. An evaluator, the only part that
// knows the problem (kernels/lsm/tuned/<problem>/evaluator.cuh), keeps a block's copy of the solution, and what makes evaluations cheap.
//
// Data layout: solutions, tabu times a move and progress lie in device memory between launches; evaluators have device memory for each
// block, or shared memory. Phases of an iteration: evaluate and reduce to the best move, count it, apply it, store the solution if it is
// the best. Synchronisation: three block barriers an iteration, and for a grid one exchange of messages between all blocks, each of which
// has a copy of the solution and applies every move. Cost: an evaluation and a read of 4 bytes a neighbour.
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/util/math.hpp"
#include "kernels/cuda/collective/argmin.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/choice_key.cuh"
#include "kernels/lsm/device_searches.cuh"

namespace vicinity::lsm {

// --- what a problem has to say ------------------------------------------------------------------------------------------------------

/// A block's solution, and how it evaluates neighbours. The kernel has block barriers before and after each call but value().
template <class E>
concept BlockEvaluator = std::is_trivially_copyable_v<E> &&
    requires(E evaluator, const E& constant, const typename E::Element* from, typename E::Element* to, std::int32_t n, std::uint64_t seed,
             uint4* shared, std::int64_t f, std::int64_t t, std::int64_t current) {
  requires E::threads_a_neighbor == 1 || E::threads_a_neighbor == 32;  // they evaluate together, and all get the value
  requires E::most_threads <= 1024;                                    // of a block
  evaluator.load(from, n, seed, shared);                               // a solution of n elements, of the search with this seed
  { constant.value(f, t, current) } -> std::same_as<std::int64_t>;     // of the solution that move f of iteration t leads to
  evaluator.apply(t, f);                                               // the block makes the move
  constant.store(to, n);                                               // the solution
};

/// Owns the device memory of the evaluators of all blocks.
template <class S>
concept EvaluatorStorage = BlockEvaluator<typename S::Evaluator> &&
    requires(const S& storage, const typename S::Neighborhood& neighborhood, std::int32_t threads, std::size_t shared_bytes) {
  requires std::constructible_from<S, const typename S::Neighborhood&, std::int32_t, const cuda::Stream&>;  // for so many blocks
  { storage.evaluator() } -> std::same_as<typename S::Evaluator>;
  { S::most_threads(neighborhood, shared_bytes) } -> std::same_as<std::int64_t>;  // of a block with so much shared memory; 0: it needs more
  { S::shared_bytes(neighborhood, threads) } -> std::same_as<std::size_t>;        // of a block of so many threads
  { S::bytes_a_block(neighborhood) } -> std::same_as<std::size_t>;                // of device memory
  { S::elements(neighborhood) } -> std::same_as<std::size_t>;                     // of a solution
};

/// Specialised by problem: `Storages`, a StorageList of which the first that fits is taken.
template <class Neighborhood>
struct Evaluators;
template <EvaluatorStorage... Storages>
struct StorageList {};

/// Copies n elements, a thread of the block one at a time.
template <class To, class From>
__device__ __forceinline__ void copy_by_block(To* to, const From* from, std::int32_t n) {
  for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x); i < n; i += static_cast<std::int32_t>(blockDim.x))
    to[i] = static_cast<To>(from[i]);
}

/// Base of evaluators whose solution lies in device memory.
template <class E>
struct DeviceSolution {
  using Element = E;
  static constexpr int threads_a_neighbor = 1, most_threads = 1024;

  Element* solution;  ///< [block][element], and of this block once loaded

  __device__ __forceinline__ void load(const Element* from, std::int32_t n, std::uint64_t, uint4*) {
    solution += std::int64_t{blockIdx.x} * n;
    copy_by_block(solution, from, n);
  }
  __device__ __forceinline__ void store(Element* to, std::int32_t n) const { copy_by_block(to, solution, n); }
};

/// Base of storages that take no shared memory.
struct DeviceMemoryOnly {
  template <class Neighborhood>
  [[nodiscard]] static std::int64_t most_threads(const Neighborhood&, std::size_t) {
    return std::numeric_limits<std::int64_t>::max();
  }
  template <class Neighborhood>
  [[nodiscard]] static std::size_t shared_bytes(const Neighborhood&, std::int32_t) {
    return 0;
  }
};

// --- the search ---------------------------------------------------------------------------------------------------------------------

/// Who works on a search.
enum class Group { block, grid };

template <BlockEvaluator Evaluator>
struct GenericSearches {
  using Element = typename Evaluator::Element;

  Evaluator evaluator;
  std::int64_t moves, limit, tenure;
  local_search::Method method;
  std::int32_t elements;  ///< of a solution
  local_search::SearchProgress* all_progress;
  const std::uint64_t* seeds;            ///< [search]
  Element *current, *best;               ///< [search][element]
  std::int32_t* until;                   ///< [search][move]: tabu before this iteration; nothing for hill climbings
  cuda::GridMailbox<ChoiceKey> mailbox;  ///< Group::grid
};

/// Searches from where they are until they are done, or have taken `limit` moves. Mapping: a block a search, or the grid one search;
/// neighbours in turns, threads_a_neighbor threads one at a time. Tabu times are written and read by one block alone.
template <BlockEvaluator Evaluator, Group group>
__global__ void __launch_bounds__(Evaluator::most_threads, 1)
    generic_search_kernel(const __grid_constant__ GenericSearches<Evaluator> searches) {
  extern __shared__ uint4 shared[];
  __shared__ ChoiceKey keys[32];
  __shared__ alignas(local_search::SearchProgress) unsigned char progress_bytes[sizeof(local_search::SearchProgress)];
  __shared__ std::int64_t move;
  __shared__ local_search::SearchProgress::Step step;
  local_search::SearchProgress& progress = *reinterpret_cast<local_search::SearchProgress*>(progress_bytes);
  constexpr bool one_block = group == Group::block;
  const std::int32_t search = one_block ? static_cast<std::int32_t>(blockIdx.x) : 0;
  const bool first_thread = threadIdx.x == 0, is_writer = one_block || blockIdx.x == 0,
             is_tabu_search = searches.method == local_search::Method::tabu;
  const std::int32_t workers = static_cast<std::int32_t>(blockDim.x) / Evaluator::threads_a_neighbor;  // of this block
  const std::int32_t all_workers = one_block ? workers : workers * static_cast<std::int32_t>(gridDim.x);
  const std::int32_t worker = static_cast<std::int32_t>(threadIdx.x) / Evaluator::threads_a_neighbor +
                              (one_block ? 0 : workers * static_cast<std::int32_t>(blockIdx.x));
  typename Evaluator::Element* const current = searches.current + std::int64_t{search} * searches.elements;
  typename Evaluator::Element* const best = searches.best + std::int64_t{search} * searches.elements;
  std::int32_t* const until = searches.until + search * searches.moves;

  if (searches.all_progress[search].done(searches.limit)) return;
  if (first_thread) progress = searches.all_progress[search];
  Evaluator evaluator = searches.evaluator;
  evaluator.load(current, searches.elements, searches.seeds[search], shared);
  __syncthreads();
  while (!progress.done(searches.limit)) {
    const std::int64_t t = progress.iterations, value = progress.value, best_value = progress.best_value;
    ChoiceKey mine;
    for (std::int64_t f = worker; f < searches.moves; f += all_workers) {
      const std::int32_t tabu = is_tabu_search ? until[f] : 0;
      const std::int64_t reached = evaluator.value(f, t, value);
      cuda::lower(mine, key_of({reached, f, local_search::forbids(tabu, t, reached, best_value)}));
    }
    ChoiceKey least = cuda::block_argmin(mine, keys);
    if (threadIdx.x < 32) {
      if (!one_block) least = searches.mailbox.argmin(least, static_cast<unsigned>(t + 1));
      if (first_thread) {
        const local_search::Choice choice = choice_of(least);
        move = choice.move;
        step = progress.take(choice, searches.method);
      }
    }
    __syncthreads();
    if (step == local_search::SearchProgress::Step::ended) break;
    evaluator.apply(t, move);
    if (is_tabu_search && first_thread && (one_block || move % all_workers / workers == blockIdx.x))
      until[move] = static_cast<std::int32_t>(local_search::tabu_until(t, searches.tenure));
    __syncthreads();
    if (is_writer && step == local_search::SearchProgress::Step::improved) evaluator.store(best, searches.elements);
  }
  if (!is_writer) return;
  evaluator.store(current, searches.elements);
  if (first_thread) searches.all_progress[search] = progress;
}

/// How many searches run at the same time, in how many blocks of how many threads.
struct GenericPolicy {
  std::int64_t batch_size;
  std::int32_t blocks, threads, threads_a_neighbor;
  std::size_t shared_bytes;

  template <EvaluatorStorage Storage>
  [[nodiscard]] static GenericPolicy of(const typename Storage::Neighborhood& neighborhood, Group group, const local_search::Task& task) {
    constexpr std::int32_t width = Storage::Evaluator::threads_a_neighbor;
    const std::int64_t searches = group == Group::grid ? 1 : batch_in_memory<Storage>(neighborhood, task);
    const auto multiprocessors = std::int64_t{cuda::multiprocessors()};
    const std::int64_t all = neighborhood.moves() * width;  // threads, for one move each
    std::int64_t most = std::min<std::int64_t>(Storage::Evaluator::most_threads, Storage::most_threads(neighborhood, most_shared()));
    if (group == Group::block)  // several blocks share a multiprocessor
      for (std::int64_t blocks = multiprocessors; 2 * blocks <= searches && most > 256; blocks *= 2) most = divide_up(most / 2, 32) * 32;
    const std::int64_t share = group == Group::block ? all : divide_up(all, multiprocessors);
    const auto threads = static_cast<std::int32_t>(divide_up(divide_up(share, divide_up(share, most)), 32) * 32);
    const std::int64_t blocks = group == Group::block ? searches : std::min(multiprocessors, divide_up(all, std::int64_t{threads}));
    return {searches, static_cast<std::int32_t>(blocks), threads, width, Storage::shared_bytes(neighborhood, threads)};
  }
  /// Bytes of shared memory that a block may ask for, beside what the kernel declares itself.
  [[nodiscard]] static std::size_t most_shared() {
    constexpr std::size_t reserve = 2048;
    return cuda::most_shared() - reserve;
  }
  [[nodiscard]] Policy record() const {
    return {{"blocks", blocks},
            {"threads", threads},
            {"threads_a_neighbor", threads_a_neighbor},
            {"shared_bytes", static_cast<std::int64_t>(shared_bytes)},
            {"restarts_at_a_time", batch_size}};
  }

 private:
  /// As many searches as nine tenths of the free memory hold.
  template <EvaluatorStorage Storage>
  [[nodiscard]] static std::int64_t batch_in_memory(const typename Storage::Neighborhood& neighborhood, const local_search::Task& task) {
    std::size_t free = 0, total = 0;
    VICINITY_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    const std::size_t until =
        task.method == local_search::Method::tabu ? sizeof(std::int32_t) * static_cast<std::size_t>(neighborhood.moves()) : 0;
    const std::size_t each =
        until + 2 * sizeof(typename Storage::Evaluator::Element) * Storage::elements(neighborhood) + Storage::bytes_a_block(neighborhood);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(free / 10 * 9 / each), 1, task.restarts);
  }
};

/// SearchEngine of the driver (kernels/lsm/device_searches.cuh).
template <EvaluatorStorage Storage, Group group>
class GenericSearch {
 public:
  using Neighborhood = typename Storage::Neighborhood;
  using Evaluator = typename Storage::Evaluator;
  using Element = typename Evaluator::Element;
  using State = local_search::SearchState<Neighborhood>;

  GenericSearch(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream),
        elements_(Storage::elements(neighborhood)),
        policy_(GenericPolicy::of<Storage>(neighborhood, group, task)),
        storage_(neighborhood, policy_.blocks, stream),
        current_(searches() * elements_),
        best_(searches() * elements_),
        until_(task.method == local_search::Method::tabu ? searches() * static_cast<std::size_t>(neighborhood.moves()) : 0),
        seeds_(searches()),
        messages_(group == Group::grid ? 2 * static_cast<std::size_t>(policy_.blocks) : 0),
        staged_current_(current_.size()),
        staged_best_(best_.size()),
        staged_seeds_(searches()),
        arguments_{storage_.evaluator(),
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

  [[nodiscard]] std::int64_t batch_size() const { return policy_.batch_size; }
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
  [[nodiscard]] static Ceiling synchronization() { return group == Group::grid ? Ceiling::grid_barrier : Ceiling::block_barrier; }
  [[nodiscard]] Policy policy() const { return policy_.record(); }

 private:
  static constexpr auto kernel = generic_search_kernel<Evaluator, group>;

  [[nodiscard]] std::size_t searches() const { return static_cast<std::size_t>(policy_.batch_size); }
  template <class T>
  void copy(T* to, const T* from, std::size_t count, cudaMemcpyKind kind) {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(T), kind, stream_.get()));
  }

  const cuda::Stream& stream_;
  std::size_t elements_;
  GenericPolicy policy_;
  Storage storage_;
  cuda::DeviceBuffer<Element> current_, best_;  ///< [search][element]
  cuda::DeviceBuffer<std::int32_t> until_;      ///< [search][move]
  cuda::DeviceBuffer<std::uint64_t> seeds_;
  cuda::DeviceBuffer<cuda::KeyMessage<ChoiceKey>> messages_;
  cuda::HostBuffer<Element> staged_current_, staged_best_;
  cuda::HostBuffer<std::uint64_t> staged_seeds_;
  GenericSearches<Evaluator> arguments_;  ///< but for all_progress and limit
  std::size_t count_ = 0;                 ///< searches under way
};

/// A run of the first storage that fits. `team`: of DeviceRestarts.
template <Group group, class Neighborhood, EvaluatorStorage Storage, EvaluatorStorage... Others>
[[nodiscard]] std::unique_ptr<Run> generic_run(const Neighborhood& neighborhood, const local_search::Task& task, Team* team,
                                               StorageList<Storage, Others...>) {
  if constexpr (sizeof...(Others) > 0)
    if (Storage::most_threads(neighborhood, GenericPolicy::most_shared()) == 0)
      return generic_run<group>(neighborhood, task, team, StorageList<Others...>{});
  return std::make_unique<DeviceRun<GenericSearch<Storage, group>>>(neighborhood, task, team);
}
template <Group group, class Neighborhood>
[[nodiscard]] std::unique_ptr<Run> generic_run(const Neighborhood& neighborhood, const local_search::Task& task, Team* team = nullptr) {
  return generic_run<group>(neighborhood, task, team, typename Evaluators<Neighborhood>::Storages{});
}

}  // namespace vicinity::lsm
