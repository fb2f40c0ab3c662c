#pragma once
// A search of the permuted perceptron problem, whole on the device: the kernel, and the engine that starts it, for the evaluators of
// singles.cu and pairs.cu.
//
// Data layout. A few blocks a search, all resident, each with all signs and products in its shared memory (state.cuh) and a share of the
// moves. In device memory: the instance, signs, tabu times, messages between blocks, and what does not fit in shared memory.
//
// Phases of an iteration: (1) every block evaluates its moves, and its first warp gets the best of them; (2) the first warps exchange these
// by messages; meanwhile the others clear what the next evaluation adds to, and one thread enters the move before into the progress of the
// search; (3) every block flips the signs of the move, and the block that evaluated it writes its tabu time.
// Synchronisation: the evaluator's block barriers, two more, and one exchange of messages an iteration. Cost: the evaluation and the
// latency of the exchange.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/problems/ppp/flip.hpp"
#include "core/util/error.hpp"
#include "kernels/cuda/collective/argmin.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/device_searches.cuh"
#include "kernels/lsm/tuned/ppp/state.cuh"

namespace vicinity::lsm::perceptron {

// --- what a kernel is given ---------------------------------------------------------------------------------------------------

using Mailbox = cuda::GridMailbox<MoveKey, 8>;

/// The searches of a launch, each by `blocks` blocks that follow each other.
struct Searches {
  local_search::SearchProgress* all_progress;  ///< [search]
  std::uint32_t* current;                      ///< [search][word of columns]: the signs that are -1
  std::uint32_t* best;                         ///< [search][word of columns]: of the best solution
  std::int32_t* tabu_until;                    ///< [search][tabu_entries]: tabu before this iteration
  Mailbox::Message* messages;                  ///< [search][Mailbox::size(blocks)], zero
  std::uint32_t* scratch;                      ///< [block of the grid][SharedLayout::scratch_size]
  std::size_t tabu_entries;
  std::int32_t blocks;
  bool in_cluster;  ///< the blocks of a search are a cluster
};

struct Rules {
  local_search::Method method;
  std::int32_t tenure, limit;
};

/// What a block keeps in shared memory beside SharedLayout.
template <int CostTerms>
struct Workspace {
  Groups groups;
  alignas(8) std::int32_t cost_terms[CostTerms];  ///< of the evaluator: parts of z
  std::int32_t edges[8];                          ///< of Masks (masks.cuh)
  cuda::ClusterMailbox<MoveKey> mailbox;
  alignas(MoveKey) unsigned char key_bytes[33 * sizeof(MoveKey)];
  bool is_mine;  ///< the move taken was evaluated by this block
  alignas(local_search::SearchProgress) unsigned char progress_bytes[sizeof(local_search::SearchProgress)];

  /// [warp], and the move taken.
  [[nodiscard]] __device__ __forceinline__ MoveKey* keys() { return reinterpret_cast<MoveKey*>(key_bytes); }
  [[nodiscard]] __device__ __forceinline__ local_search::SearchProgress& progress() {
    return reinterpret_cast<local_search::SearchProgress&>(progress_bytes);
  }
};

/// Evaluates a block's share of the moves. Made by all threads of the block from (rows,
/// searches, workspace, tabu_until, block).
template <class E>
concept Evaluator = requires(E evaluator, bool moved, const moves::Move<E::flips>& move, std::int32_t number, unsigned code,
                             const SharedLayout& layout) {
  requires(E::flips >= 1 && E::flips <= 3 && E::threads % 32 == 0 && E::threads > 64 && E::cost_terms > 0);
  { E::layout(number, number) } -> std::same_as<SharedLayout>;  // for m and n on the present device
  { E::shares(number) } -> std::same_as<std::int64_t>;          // most blocks that have moves, for n
  { E::tabu_entries(number) } -> std::same_as<std::size_t>;     // for n
  { E::record(layout) } -> std::same_as<Policy>;
  evaluator.init();
  // the best of the block's moves, in all lanes of warp 0; `moved`: `move` was made since the last call. (.., iteration, z, best z)
  { evaluator.evaluate(moved, move, number, number, number) } -> std::same_as<MoveKey>;
  evaluator.clear(number);   // before the next evaluate(), by the threads from `number` on
  evaluator.prefetch(move);  // `move` is the next to be made
  { evaluator.tabu_index(code) } -> std::same_as<std::size_t>;
};
/// Its key may be a bound. If that is the least of all blocks, raise_limit() is told so, and evaluate() called again.
template <class E>
inline constexpr bool gives_bounds = requires(const E evaluator, const MoveKey& bound) {
  evaluator.raise_limit(bound);
};

// --- kernel -------------------------------------------------------------------------------------------------------------------

/// The move taken, in all threads, and whether this block evaluated it. The first warp makes the block's key that of all blocks by
/// exchange(key), and the others do `meanwhile`.
/// Synchronisation: one block barrier, and one exchange when the search has several blocks.
template <class Exchange, class Meanwhile>
[[nodiscard]] __device__ __forceinline__ MoveKey argmin_of_blocks(const MoveKey& of_block, MoveKey& shared, bool& is_mine,
                                                                  const Exchange& exchange, const Meanwhile& meanwhile) {
  if (warp() == 0) {
    const MoveKey least = exchange(of_block);
    if (lane() == 0) {
      shared = least;
      is_mine = of_block.low == least.low;
    }
  } else {
    meanwhile();
  }
  __syncthreads();
  return shared;
}

/// Mapping: `searches.blocks` blocks a search, which must all be resident.
template <Evaluator E>
__global__ void __launch_bounds__(E::threads, 1)
    search_kernel(const __grid_constant__ Matrix matrix, const __grid_constant__ SharedLayout layout,
                  const __grid_constant__ Searches searches, const Rules rules) {
  constexpr int K = E::flips;
  __shared__ Workspace<E::cost_terms> workspace;
  const auto search = static_cast<std::int32_t>(blockIdx.x) / searches.blocks,
             block = static_cast<std::int32_t>(blockIdx.x) % searches.blocks;
  const Mailbox grid_mailbox{searches.messages + static_cast<std::size_t>(search) * Mailbox::size(searches.blocks), searches.blocks};
  local_search::SearchProgress& all_progress = searches.all_progress[search];
  std::uint32_t* negative = shared_at<std::uint32_t>(layout.negative);
  std::uint32_t* current = searches.current + static_cast<std::size_t>(search) * matrix.words_per_row;
  std::uint32_t* best = searches.best + static_cast<std::size_t>(search) * matrix.words_per_row;
  std::int32_t* tabu_until = searches.tabu_until + static_cast<std::size_t>(search) * searches.tabu_entries;

  auto t = static_cast<std::int32_t>(all_progress.iterations), z = static_cast<std::int32_t>(all_progress.value),
       best_z = static_cast<std::int32_t>(all_progress.best_value);
  bool ended = all_progress.at_optimum;
  for (std::int32_t word = static_cast<std::int32_t>(threadIdx.x); word < matrix.words_per_row; word += E::threads)
    negative[word] = current[word];
  if (searches.in_cluster) {
    workspace.mailbox.clear();
    cuda::barrier_of_all<true>();
  }
  __syncthreads();
  const SortedRows<K> rows{matrix, layout, workspace.groups, searches.scratch + blockIdx.x * layout.scratch_size};
  E evaluator{rows, searches, workspace, tabu_until, block};
  rows.init();
  evaluator.init();

  // One thread of the search keeps its progress, one move late.
  const bool keeps_progress = block == 0 && threadIdx.x == E::threads - 1;
  local_search::SearchProgress& progress = workspace.progress();
  if (keeps_progress) progress = all_progress;
  MoveKey taken = cuda::no_key<MoveKey>();
  moves::Move<K> move{};
  bool moved = false;
  const auto update_progress = [&] {
    if (keeps_progress) progress.take({z_of(taken), moves::index<K>(matrix.n, move), is_forbidden(taken)}, rules.method);
  };
  for (unsigned step = 1; !ended && t < rules.limit; ++step) {
    const MoveKey of_block = evaluator.evaluate(moved, move, t, z, best_z);
    const auto exchange = [&](const MoveKey& key) {
      if (searches.blocks == 1) return key;
      return searches.in_cluster ? workspace.mailbox.argmin(key, step, searches.blocks, block) : grid_mailbox.argmin(key, step, block);
    };
    const MoveKey least = argmin_of_blocks(of_block, workspace.keys()[32], workspace.is_mine, exchange, [&] {
      evaluator.clear(32);
      if (moved) update_progress();
    });
    if constexpr (gives_bounds<E>) {
      if (is_bound(least)) {
        evaluator.raise_limit(least);
        moved = false;
        continue;
      }
    }
    taken = least;
    move = move_of<K>(taken.low, matrix.n);
    moved = true;
    ended = rules.method == local_search::Method::hill && z_of(taken) >= z;
    if (ended) break;
    evaluator.prefetch(move);
    if (threadIdx.x == 0)
      for (const std::int32_t column : move.at) negative[column / 32] ^= 1u << column % 32;
    if (threadIdx.x == 64 && rules.method == local_search::Method::tabu && workspace.is_mine)
      tabu_until[evaluator.tabu_index(taken.low)] = static_cast<std::int32_t>(local_search::tabu_until(t, rules.tenure));
    if (threadIdx.x == 32) rows.reset_groups();
    __syncthreads();
    z = z_of(taken);
    ++t;
    if (z >= best_z) continue;
    best_z = z;
    if (block == 0)
      for (std::int32_t word = static_cast<std::int32_t>(threadIdx.x); word < matrix.words_per_row; word += E::threads)
        best[word] = negative[word];
  }
  if (moved) update_progress();
  __syncthreads();
  if (searches.in_cluster) cuda::barrier_of_all<true>();  // all have read their messages
  if (block != 0) return;
  if (keeps_progress) all_progress = progress;
  for (std::int32_t word = static_cast<std::int32_t>(threadIdx.x); word < matrix.words_per_row; word += E::threads)
    current[word] = negative[word];
}

/// Where a search is after a step, in each warp by itself.
struct Course {
  std::int32_t t, z, best_z;
  bool ended;  ///< at an optimum, or a move of a climb that is not taken
  bool moved = false;
  MoveKey taken{};  ///< the last move
  std::int32_t column = 0;

  __device__ __forceinline__ explicit Course(const local_search::SearchProgress& progress)
      : t(static_cast<std::int32_t>(progress.iterations)),
        z(static_cast<std::int32_t>(progress.value)),
        best_z(static_cast<std::int32_t>(progress.best_value)),
        ended(progress.at_optimum) {}
  /// A move of one flip.
  __device__ __forceinline__ void take(const MoveKey& move, std::int32_t column_of_move, const Rules& rules) {
    taken = move;
    column = column_of_move;
    moved = true;
    ended = rules.method == local_search::Method::hill && z_of(taken) >= z;
    if (ended) return;
    z = z_of(taken);
    ++t;
  }
};

/// Keeps the progress of a search and its solutions, up to 64 words each, and does nothing else. By a whole warp of each block. wait(step)
/// takes the step's move, or returns false if there is none; after arrive() the others may write over what wait() reads. `end` comes after
/// the last step, before any result is written.
template <class Wait, class Arrive, class End>
__device__ __forceinline__ void keep_progress(local_search::SearchProgress& all_progress, std::uint32_t* current, std::uint32_t* best,
                                              std::int32_t words, std::int32_t block, const Rules& rules, Course& course, const Wait& wait,
                                              const Arrive& arrive, const End& end) {
  const auto goes_on = [&] { return !course.ended && course.t < rules.limit; };
  local_search::SearchProgress progress = all_progress;
  std::uint32_t negative[2];
#pragma unroll
  for (int k = 0; k < 2; ++k) negative[k] = lane() + 32 * k < words ? current[lane() + 32 * k] : 0;
  if (goes_on()) arrive();
  for (unsigned step = 1; goes_on(); ++step) {
    const bool taken = wait(step);
    if (goes_on()) arrive();
    if (block != 0 || !taken) continue;
    progress.take({z_of(course.taken), course.column, is_forbidden(course.taken)}, rules.method);
    if (course.ended) break;
#pragma unroll
    for (int k = 0; k < 2; ++k)
      if (lane() + 32 * k == course.column / 32) negative[k] ^= 1u << course.column % 32;
    if (course.z >= course.best_z) continue;
    course.best_z = course.z;
#pragma unroll
    for (int k = 0; k < 2; ++k)
      if (lane() + 32 * k < words) best[lane() + 32 * k] = negative[k];
  }
  end();
  if (block != 0) return;
  if (lane() == 0) all_progress = progress;
#pragma unroll
  for (int k = 0; k < 2; ++k)
    if (lane() + 32 * k < words) current[lane() + 32 * k] = negative[k];
}

// --- host -----------------------------------------------------------------------------------------------------------------------

/// The matrix in device memory.
class DeviceMatrix {
 public:
  explicit DeviceMatrix(const ppp::Ppp& ppp) {
    const ppp::View host = ppp.view();
    const std::int32_t words_per_row = divide_up(host.n, 32), words_per_column = divide_up(host.m, 32),
                       column_pitch = divide_up(host.m, 128) * 4, row_pitch = divide_up(host.n, 128) * 4 + 8;
    const auto m = static_cast<std::size_t>(host.m);
    std::vector<std::uint32_t> rows(static_cast<std::size_t>(words_per_row) * m),
        columns(static_cast<std::size_t>(host.n) * static_cast<std::size_t>(column_pitch));
    for (std::int32_t c = 0; c < host.n; ++c)
      for (std::int32_t r = 0; r < host.m; ++r) {
        const std::uint32_t bit = host.at(r, c) > 0 ? 1 : 0;
        rows[static_cast<std::size_t>(c / 32) * m + static_cast<std::size_t>(r)] |= bit << c % 32;
        columns[static_cast<std::size_t>(c * column_pitch + r / 32)] |= bit << r % 32;
      }
    std::vector<std::uint32_t> side_by_side(m * static_cast<std::size_t>(row_pitch));
    for (std::size_t k = 0; k < rows.size(); ++k) side_by_side[k % m * static_cast<std::size_t>(row_pitch) + k / m] = rows[k];
    rows_ = cuda::DeviceBuffer<std::uint32_t>(std::span<const std::uint32_t>(side_by_side));
    by_row_ = cuda::DeviceBuffer<std::uint32_t>(std::span<const std::uint32_t>(rows));
    by_column_ = cuda::DeviceBuffer<std::uint32_t>(std::span<const std::uint32_t>(columns));
    target_ = cuda::DeviceBuffer<std::int32_t>(std::span<const std::int32_t>(host.target, static_cast<std::size_t>(host.n) + 1));
    std::int32_t target_sum = 0;
    for (std::int32_t v = 1; v <= host.n; ++v) target_sum += host.target[v];
    view_ = {by_row_.data(), by_column_.data(), rows_.data(), target_.data(), host.m,    host.n,
             words_per_row,  words_per_column,  column_pitch, row_pitch,      target_sum};
  }
  [[nodiscard]] const Matrix& view() const noexcept { return view_; }

 private:
  cuda::DeviceBuffer<std::uint32_t> by_row_, by_column_, rows_;
  cuda::DeviceBuffer<std::int32_t> target_;
  Matrix view_{};
};

/// Bins from the least product to the greatest, as long as products lie within six times their deviation, the root of n; of few bins all.
[[nodiscard]] inline std::int32_t usual_spread(std::int32_t n) {
  return std::min(n + 1, std::max(256, static_cast<std::int32_t>(6 * std::sqrt(static_cast<double>(n)))));
}
/// Bytes that a block may have beside its Workspace.
[[nodiscard]] inline std::uint32_t layout_limit() { return static_cast<std::uint32_t>(cuda::most_shared()) - 4096; }

/// The arrays that a search of K flips needs.
template <int K>
[[nodiscard]] SharedLayout common_layout(std::int32_t m, std::int32_t n) {
  SharedLayout layout{};
  const std::int32_t bins = n + 2 * margin + 1;
  layout.histogram = layout.add(bins, 4);
  layout.target = layout.add(bins, 2);
  layout.positive = layout.add(m, 2);
  layout.key = K == 3 ? layout.add(m, 2) : layout.positive;
  layout.rank = layout.add(m, 2);
  layout.order = layout.add(m + 32, 2);
  layout.negative = layout.add(divide_up(n, 32), 4);
  return layout;
}
/// Throws DoesNotFit when even the arrays that a search needs are too large.
inline void require_fit(const SharedLayout& layout, std::int32_t m, std::int32_t n) {
  if (layout.bytes > layout_limit())
    throw DoesNotFit("size " + std::to_string(m) + " x " + std::to_string(n) + " is too large for the shared memory of this GPU; use gpu");
}

/// The kernel that searches with E.
template <class E>
inline constexpr auto kernel_of = &search_kernel<E>;

/// How searches lie on the device.
template <class E>
struct SearchPolicy {
  using Layout = decltype(E::layout(0, 0));

  std::int32_t threads;  ///< of a block
  std::int32_t blocks;   ///< of a search
  bool in_cluster;
  std::int64_t batch_size;
  Layout layout;

  /// In a cluster where the GPU has one of so many blocks.
  [[nodiscard]] static SearchPolicy of(const ppp::Ppp& instance, const local_search::Task& task) {
    const Layout layout = E::layout(instance.rows(), instance.columns());
    cuda::allow_shared(kernel_of<E>, layout.bytes);
    const auto blocks = static_cast<std::int32_t>(std::min<std::int64_t>(E::shares(instance.columns()), cuda::multiprocessors()));
    SearchPolicy policy{E::threads, blocks, false, 0, layout};
    const int clusters = blocks > 1 && blocks <= cuda::ClusterMailbox<MoveKey>::most_blocks
                             ? cuda::clusters_at_a_time(policy.shape(blocks, true), kernel_of<E>)
                             : 0;
    policy.in_cluster = clusters > 0;
    policy.batch_size = std::clamp<std::int64_t>(clusters > 0 ? clusters : cuda::multiprocessors() / blocks, 1, task.restarts);
    return policy;
  }
  [[nodiscard]] cuda::Shape shape(std::int64_t all_blocks, bool cluster) const {
    return {
        .blocks = all_blocks, .threads = threads, .shared_bytes = layout.bytes, .cluster = cluster ? blocks : 1, .cooperative = !cluster};
  }
  [[nodiscard]] Policy record() const {
    return {{"block", threads},
            {"blocks", blocks},
            {"cluster", in_cluster ? blocks : 1},
            {"together", batch_size},
            {"shared_bytes", layout.bytes}};
  }
};

/// A SearchEngine (kernels/lsm/device_searches.cuh).
template <class E>
class Engine {
 public:
  using Neighborhood = local_search::PppFlip<E::flips>;
  using State = local_search::SearchState<Neighborhood>;

  Engine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : task_(task),
        stream_(stream),
        matrix_(neighborhood.instance()),
        policy_(SearchPolicy<E>::of(neighborhood.instance(), task)),
        tabu_entries_(E::tabu_entries(view().n)),
        tenure_(static_cast<std::int32_t>(local_search::tenure_of(task, neighborhood.moves()))),
        current_(searches() * words()),
        best_(searches() * words()),
        tabu_until_(searches() * tabu_entries_),
        messages_(policy_.blocks > 1 && !policy_.in_cluster ? searches() * Mailbox::size(policy_.blocks) : 0),
        scratch_(searches() * static_cast<std::size_t>(policy_.blocks) * policy_.layout.scratch_size),
        staged_(2 * searches() * words()) {}

  [[nodiscard]] std::int64_t batch_size() const { return policy_.batch_size; }
  void begin(const std::vector<State>& states) {
    active_ = states.size();
    std::uint32_t* to = staged_.data();
    for (const State& state : states) to = pack(state.solution(), to);
    const std::size_t bytes = active_ * words() * sizeof(std::uint32_t);
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(current_.data(), staged_.data(), bytes, cudaMemcpyHostToDevice, stream_.get()));
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(best_.data(), staged_.data(), bytes, cudaMemcpyHostToDevice, stream_.get()));
    tabu_until_.fill(0, stream_);
  }
  void launch(local_search::SearchProgress* all_progress, std::int64_t limit) {
    messages_.fill(0, stream_);
    const Searches searches{all_progress,    current_.data(), best_.data(),   tabu_until_.data(), messages_.data(),
                            scratch_.data(), tabu_entries_,   policy_.blocks, policy_.in_cluster};
    VICINITY_CUDA_CHECK(cuda::launch(policy_.shape(static_cast<std::int64_t>(active_) * policy_.blocks, policy_.in_cluster), stream_,
                                     kernel_of<E>, view(), policy_.layout, searches,
                                     Rules{task_.method, tenure_, static_cast<std::int32_t>(limit)}));
  }
  template <class Result>
  void finish(std::vector<Result>& results) {
    const std::size_t total = active_ * words();
    const auto fetch = [&](std::uint32_t* to, const std::uint32_t* from) {
      VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, total * sizeof(std::uint32_t), cudaMemcpyDeviceToHost, stream_.get()));
    };
    fetch(staged_.data(), current_.data());
    fetch(staged_.data() + total, best_.data());
    stream_.synchronize();
    for (std::size_t k = 0; k < results.size(); ++k) {
      unpack(staged_.data() + k * words(), results[k].current);
      unpack(staged_.data() + total + k * words(), results[k].best);
    }
  }
  void poison() {
    current_.fill(0xA5, stream_);
    best_.fill(0xA5, stream_);
    tabu_until_.fill(0xA5, stream_);
    messages_.fill(0xA5, stream_);
    scratch_.fill(0xA5, stream_);
  }
  [[nodiscard]] Ceiling synchronization() const {
    return policy_.blocks == 1 ? Ceiling::block_barrier : policy_.in_cluster ? Ceiling::cluster_barrier : Ceiling::grid_barrier;
  }
  [[nodiscard]] Policy policy() const {
    Policy policy = policy_.record();
    policy.merge(E::record(policy_.layout));
    return policy;
  }

 private:
  [[nodiscard]] const Matrix& view() const { return matrix_.view(); }
  [[nodiscard]] std::size_t searches() const { return static_cast<std::size_t>(policy_.batch_size); }
  /// Of the signs of a solution.
  [[nodiscard]] std::size_t words() const { return static_cast<std::size_t>(view().words_per_row); }

  std::uint32_t* pack(const ppp::Signs& signs, std::uint32_t* to) const {
    std::fill_n(to, words(), 0u);
    for (std::size_t c = 0; c < signs.size(); ++c) to[c / 32] |= static_cast<std::uint32_t>(signs[c] < 0) << c % 32;
    return to + words();
  }
  static void unpack(const std::uint32_t* from, ppp::Signs& signs) {
    for (std::size_t c = 0; c < signs.size(); ++c) signs[c] = (from[c / 32] >> c % 32 & 1) != 0 ? std::int8_t{-1} : std::int8_t{1};
  }

  const local_search::Task task_;
  const cuda::Stream& stream_;
  DeviceMatrix matrix_;
  SearchPolicy<E> policy_;
  std::size_t tabu_entries_;
  std::int32_t tenure_;
  cuda::DeviceBuffer<std::uint32_t> current_, best_;  ///< [search][word of columns]
  cuda::DeviceBuffer<std::int32_t> tabu_until_;
  cuda::DeviceBuffer<Mailbox::Message> messages_;
  cuda::DeviceBuffer<std::uint32_t> scratch_;
  cuda::HostBuffer<std::uint32_t> staged_;
  std::size_t active_ = 0;  ///< searches
};

template <class E>
[[nodiscard]] std::unique_ptr<Run> make_run(const local_search::PppFlip<E::flips>& neighborhood, const local_search::Task& task) {
  return std::make_unique<DeviceRun<Engine<E>>>(neighborhood, task);
}

}  // namespace vicinity::lsm::perceptron
