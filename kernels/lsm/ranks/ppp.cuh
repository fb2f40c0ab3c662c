#pragma once
// mpi-gpu for the permuted perceptron problem: gpu-tuned's evaluation (kernels/lsm/tuned/ppp/) of a part of the moves on each rank's GPU.
//
// Problem and data layout of a block: kernels/lsm/tuned/ppp/state.cuh and search.cuh. The grids of all ranks are one grid: its blocks have
// shares of the moves as those of one GPU do, and each block follows the whole search. Every rank has the instance, the tabu times that its
// own blocks write and read, and signs and progress of the search, which are the same on all of them.
//
// Phases of an iteration: (1) every block evaluates its moves, and its first warp gets the best of them; (2) the first warps exchange these
// with the blocks of all ranks (mailbox.cuh); meanwhile the others clear what the next evaluation adds to, and one thread a rank enters the
// move before into its progress; (3) every block flips the signs of the move, and the block that evaluated it writes its tabu time.
// Synchronisation: the evaluator's block barriers, two more, and one exchange an iteration. Cost: the evaluation by the blocks of all GPUs,
// and the latency of the exchange, which the link between two GPUs adds to.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/problems/ppp/flip.hpp"
#include "kernels/lsm/ranks/run.cuh"
#include "kernels/lsm/ranks/slices.hpp"
#include "kernels/lsm/tuned/ppp/search.cuh"

namespace vicinity::lsm::perceptron {

// --- kernel -------------------------------------------------------------------------------------------------------------------

/// Mapping: all blocks of this rank, which must all be resident, and those of the other ranks. `searches` is one, and its `blocks` those
/// that have moves of their own; `step` is the number of the first exchange.
template <Evaluator E>
__global__ void __launch_bounds__(E::threads, 1)
    rank_search_kernel(const __grid_constant__ Matrix matrix, const __grid_constant__ SharedLayout layout,
                       const __grid_constant__ Searches searches, const __grid_constant__ RankMailbox<MoveKey> mailbox,
                       const GridShare share, const Rules rules, unsigned step) {
  constexpr int K = E::flips;
  __shared__ Workspace<E::cost_terms> workspace;
  __shared__ bool given_up;
  const auto of_rank = static_cast<std::int32_t>(blockIdx.x), block = share.first + of_rank;
  local_search::SearchProgress& stored = *searches.all_progress;
  std::uint32_t* negative = shared_at<std::uint32_t>(layout.negative);

  auto t = static_cast<std::int32_t>(stored.iterations), z = static_cast<std::int32_t>(stored.value),
       best_z = static_cast<std::int32_t>(stored.best_value);
  bool ended = stored.at_optimum;
  for (std::int32_t word = static_cast<std::int32_t>(threadIdx.x); word < matrix.words_per_row; word += E::threads)
    negative[word] = searches.current[word];
  __syncthreads();
  const SortedRows<K> rows{matrix, layout, workspace.groups, searches.scratch + of_rank * layout.scratch_size};
  E evaluator{rows, searches, workspace, searches.tabu_until, block % searches.blocks};
  rows.init();
  evaluator.init();

  // One thread of the rank keeps its progress, one move late.
  const bool keeps_progress = of_rank == 0 && threadIdx.x == E::threads - 1;
  local_search::SearchProgress& progress = workspace.progress();
  if (keeps_progress) progress = stored;
  MoveKey taken = cuda::no_key<MoveKey>();
  moves::Move<K> move{};
  bool moved = false;
  const auto update_progress = [&] {
    if (keeps_progress) progress.take({z_of(taken), moves::index<K>(matrix.n, move), is_forbidden(taken)}, rules.method);
  };
  for (; !ended && t < rules.limit; ++step) {
    const MoveKey of_block = evaluator.evaluate(moved, move, t, z, best_z);
    if (warp() == 0) {
      MoveKey least;
      const bool there = mailbox.argmin(of_block, step, block, least);
      if (lane() == 0) {
        workspace.keys()[32] = least;
        workspace.is_mine = of_block.low == least.low;
        given_up = !there;
      }
    } else {
      evaluator.clear(32);
      if (moved) update_progress();
    }
    __syncthreads();
    if (given_up) return;  // the host ends the rank
    if constexpr (gives_bounds<E>) {
      if (is_bound(workspace.keys()[32])) {
        evaluator.raise_limit(workspace.keys()[32]);
        moved = false;
        continue;
      }
    }
    taken = workspace.keys()[32];
    move = move_of<K>(taken.low, matrix.n);
    moved = true;
    ended = rules.method == local_search::Method::hill && z_of(taken) >= z;
    if (ended) break;
    evaluator.prefetch(move);
    if (threadIdx.x == 0)
      for (const std::int32_t column : move.at) negative[column / 32] ^= 1u << column % 32;
    if (threadIdx.x == 64 && rules.method == local_search::Method::tabu && workspace.is_mine)
      searches.tabu_until[evaluator.tabu_index(taken.low)] = static_cast<std::int32_t>(local_search::tabu_until(t, rules.tenure));
    if (threadIdx.x == 32) rows.reset_groups();
    __syncthreads();
    z = z_of(taken);
    ++t;
    if (z >= best_z) continue;
    best_z = z;
    if (of_rank == 0)
      for (std::int32_t word = static_cast<std::int32_t>(threadIdx.x); word < matrix.words_per_row; word += E::threads)
        searches.best[word] = negative[word];
  }
  if (moved) update_progress();
  __syncthreads();
  if (of_rank != 0) return;
  if (keeps_progress) stored = progress;
  for (std::int32_t word = static_cast<std::int32_t>(threadIdx.x); word < matrix.words_per_row; word += E::threads)
    searches.current[word] = negative[word];
}

// --- host -----------------------------------------------------------------------------------------------------------------------

/// A RankEngine (run.cuh).
template <Evaluator E>
class SliceEngine {
 public:
  using Neighborhood = local_search::PppFlip<E::flips>;
  using State = local_search::SearchState<Neighborhood>;

  SliceEngine(const Neighborhood& neighborhood, const local_search::Task& task, const MappedMailbox& mailbox, const cuda::Stream& stream)
      : task_(task),
        stream_(stream),
        matrix_(neighborhood.instance()),
        share_(mailbox.share(E::shares(view().n))),
        layout_(E::layout(view().m, view().n)),
        tenure_(static_cast<std::int32_t>(local_search::tenure_of(task, neighborhood.moves()))),
        mailbox_(mailbox.view<MoveKey>(share_.all)),
        current_(words()),
        best_(words()),
        tabu_until_(E::tabu_entries(view().n)),
        scratch_(static_cast<std::size_t>(share_.count) * layout_.scratch_size),
        staged_(2 * words()) {
    cuda::allow_shared(&rank_search_kernel<E>, layout_.bytes);
  }

  void begin(const State& state) {
    std::fill_n(staged_.data(), words(), 0u);
    const ppp::Signs& signs = state.solution();
    for (std::size_t c = 0; c < signs.size(); ++c) staged_[c / 32] |= static_cast<std::uint32_t>(signs[c] < 0) << c % 32;
    for (std::uint32_t* to : {current_.data(), best_.data()})
      VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, staged_.data(), current_.bytes(), cudaMemcpyHostToDevice, stream_.get()));
    tabu_until_.fill(0, stream_);
  }
  void launch(local_search::SearchProgress* progress, std::int64_t limit, unsigned step) {
    const cuda::Shape shape{.blocks = share_.count, .threads = E::threads, .shared_bytes = layout_.bytes, .cooperative = true};
    const Searches searches{progress,           current_.data(), best_.data(), tabu_until_.data(), nullptr, scratch_.data(),
                            tabu_until_.size(), share_.working,  false};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream_, &rank_search_kernel<E>, view(), layout_, searches, mailbox_, share_,
                                     Rules{task_.method, tenure_, static_cast<std::int32_t>(limit)}, step));
  }
  void finish(typename State::Result& result) {
    const auto fetch = [&](std::uint32_t* to, const cuda::DeviceBuffer<std::uint32_t>& from) {
      VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from.data(), from.bytes(), cudaMemcpyDeviceToHost, stream_.get()));
    };
    fetch(staged_.data(), current_);
    fetch(staged_.data() + words(), best_);
    stream_.synchronize();
    unpack(staged_.data(), result.current);
    unpack(staged_.data() + words(), result.best);
  }
  void poison() {
    for (cuda::DeviceBuffer<std::uint32_t>* buffer : {&current_, &best_, &scratch_}) buffer->fill(0xA5, stream_);
    tabu_until_.fill(0xA5, stream_);
  }
  [[nodiscard]] Policy policy() const {
    Policy policy{{"block", E::threads}, {"blocks", share_.count}, {"blocks_of_all", share_.all}, {"shared_bytes", layout_.bytes}};
    policy.merge(E::record(layout_));
    return policy;
  }

 private:
  [[nodiscard]] const Matrix& view() const { return matrix_.view(); }
  /// Of the signs of a solution.
  [[nodiscard]] std::size_t words() const { return static_cast<std::size_t>(view().words_per_row); }
  static void unpack(const std::uint32_t* from, ppp::Signs& signs) {
    for (std::size_t c = 0; c < signs.size(); ++c) signs[c] = (from[c / 32] >> c % 32 & 1) != 0 ? std::int8_t{-1} : std::int8_t{1};
  }

  const local_search::Task& task_;
  const cuda::Stream& stream_;
  DeviceMatrix matrix_;
  GridShare share_;
  SharedLayout layout_;
  std::int32_t tenure_;
  RankMailbox<MoveKey> mailbox_;
  cuda::DeviceBuffer<std::uint32_t> current_, best_;  ///< [word of columns]
  cuda::DeviceBuffer<std::int32_t> tabu_until_;       ///< as the evaluator orders them
  cuda::DeviceBuffer<std::uint32_t> scratch_;         ///< [block][SharedLayout::scratch_size]
  cuda::HostBuffer<std::uint32_t> staged_;
};

// --- the evaluators of gpu-tuned ------------------------------------------------------------------------------------------------

/// A search that ranks share. What chooses an evaluator in kernels/lsm/tuned/ppp/ passes it on as a Task.
struct RankTask : local_search::Task {
  Ranks ranks;
};

namespace of_ranks {

/// Stands before perceptron::make_run() for what is included into this namespace (singles.cu, pairs.cu, triples.cu). `task` is a RankTask.
template <Evaluator E>
[[nodiscard]] std::unique_ptr<Run> make_run(const local_search::PppFlip<E::flips>& neighborhood, const local_search::Task& task) {
  return std::make_unique<RankRun<SliceEngine<E>>>(neighborhood, task, static_cast<const RankTask&>(task).ranks);
}

}  // namespace of_ranks
}  // namespace vicinity::lsm::perceptron
