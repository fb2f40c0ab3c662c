#pragma once
// mpi-gpu for any neighbourhood: neighbours one by one, by the evaluators of kernels/lsm/tuned/generic/search.cuh, a part of them on each
// rank's GPU. gpu-tuned evaluates the exchange of three like this; where it keeps deltas of all moves instead, these would have to follow
// every move on every rank, and a slice of them saves little.
//
// Data layout: each rank has the solution, a copy a block, the tabu times that its own blocks write and read, and the progress; as in
// generic/search.cuh. Phases of an iteration: evaluate a slice and reduce to the best move, exchange it with the blocks of all ranks
// (mailbox.cuh), count it, apply it, store the solution if it is the best. Synchronisation: three block barriers and one exchange an
// iteration. Cost: an evaluation and a read of 4 bytes a neighbour of the slice, and the latency of the exchange.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/util/math.hpp"
#include "kernels/lsm/ranks/run.cuh"
#include "kernels/lsm/ranks/slices.hpp"
#include "kernels/lsm/tuned/generic/search.cuh"

namespace vicinity::lsm {

// --- kernel -------------------------------------------------------------------------------------------------------------------------

/// The search goes on until it is done, or has taken `limit` moves. Mapping: the blocks of this rank, all resident, and those of the
/// others; neighbours in turns, threads_a_neighbor threads one at a time. Tabu times are written and read by one block alone. `step` is the
/// number of the first exchange.
template <BlockEvaluator Evaluator>
__global__ void __launch_bounds__(Evaluator::most_threads, 1)
    rank_generic_kernel(const __grid_constant__ GenericSearches<Evaluator> search, const __grid_constant__ RankMailbox<ChoiceKey> mailbox,
                        const GridShare share, unsigned exchange) {
  extern __shared__ uint4 shared[];
  __shared__ ChoiceKey keys[32];
  __shared__ alignas(local_search::SearchProgress) unsigned char progress_bytes[sizeof(local_search::SearchProgress)];
  __shared__ std::int64_t move;
  __shared__ local_search::SearchProgress::Step step;
  __shared__ bool given_up;
  local_search::SearchProgress& progress = *reinterpret_cast<local_search::SearchProgress*>(progress_bytes);
  const auto of_rank = static_cast<std::int32_t>(blockIdx.x), block = share.first + of_rank;
  const bool first_thread = threadIdx.x == 0, is_writer = of_rank == 0, is_tabu_search = search.method == local_search::Method::tabu;
  const std::int32_t workers = static_cast<std::int32_t>(blockDim.x) / Evaluator::threads_a_neighbor;  // of this block
  const std::int64_t all_workers = std::int64_t{workers} * share.all;
  const std::int64_t worker = static_cast<std::int64_t>(threadIdx.x) / Evaluator::threads_a_neighbor + std::int64_t{workers} * block;

  if (search.all_progress->done(search.limit)) return;
  if (first_thread) progress = *search.all_progress;
  Evaluator evaluator = search.evaluator;
  evaluator.load(search.current, search.elements, *search.seeds, shared);
  __syncthreads();
  for (; !progress.done(search.limit); ++exchange) {
    const std::int64_t t = progress.iterations, value = progress.value, best_value = progress.best_value;
    ChoiceKey mine;
    for (std::int64_t f = worker; f < search.moves; f += all_workers) {
      const std::int32_t tabu = is_tabu_search ? search.until[f] : 0;
      const std::int64_t reached = evaluator.value(f, t, value);
      cuda::lower(mine, key_of({reached, f, local_search::forbids(tabu, t, reached, best_value)}));
    }
    const ChoiceKey of_block = cuda::block_argmin(mine, keys);
    if (threadIdx.x < 32) {
      ChoiceKey least;
      const bool there = mailbox.argmin(of_block, exchange, block, least);
      if (first_thread) {
        given_up = !there;
        const local_search::Choice choice = choice_of(least);
        move = choice.move;
        if (there) step = progress.take(choice, search.method);
      }
    }
    __syncthreads();
    if (given_up) return;  // the host ends the rank
    if (step == local_search::SearchProgress::Step::ended) break;
    evaluator.apply(t, move);
    if (is_tabu_search && first_thread && move % all_workers / workers == block)
      search.until[move] = static_cast<std::int32_t>(local_search::tabu_until(t, search.tenure));
    __syncthreads();
    if (is_writer && step == local_search::SearchProgress::Step::improved) evaluator.store(search.best, search.elements);
  }
  if (!is_writer) return;
  evaluator.store(search.current, search.elements);
  if (first_thread) *search.all_progress = progress;
}

// --- host -----------------------------------------------------------------------------------------------------------------------------

/// How a neighbourhood lies on the grids of all ranks.
struct GenericSlicePolicy {
  std::int32_t threads, threads_a_neighbor;
  GridShare share;
  std::size_t shared_bytes;

  template <EvaluatorStorage Storage>
  [[nodiscard]] static GenericSlicePolicy of(const typename Storage::Neighborhood& neighborhood, const MappedMailbox& mailbox) {
    constexpr std::int32_t width = Storage::Evaluator::threads_a_neighbor;
    const std::int64_t grids = std::int64_t{mailbox.multiprocessors()} * mailbox.ranks();
    const std::int64_t all = neighborhood.moves() * width;  // threads, for one move each
    const std::int64_t most =
        std::min<std::int64_t>(Storage::Evaluator::most_threads, Storage::most_threads(neighborhood, GenericPolicy::most_shared()));
    const std::int64_t of_block = divide_up(all, grids);
    const auto threads = static_cast<std::int32_t>(divide_up(divide_up(of_block, divide_up(of_block, most)), 32) * 32);
    return {threads, width, mailbox.share(divide_up(all, std::int64_t{threads})), Storage::shared_bytes(neighborhood, threads)};
  }
  [[nodiscard]] Policy record() const {
    return {{"threads", threads},
            {"threads_a_neighbor", threads_a_neighbor},
            {"blocks", share.count},
            {"blocks_of_all", share.all},
            {"shared_bytes", static_cast<std::int64_t>(shared_bytes)}};
  }
};

/// A RankEngine (run.cuh).
template <EvaluatorStorage Storage>
class GenericSlice {
 public:
  using Neighborhood = typename Storage::Neighborhood;
  using Evaluator = typename Storage::Evaluator;
  using Element = typename Evaluator::Element;
  using State = local_search::SearchState<Neighborhood>;

  GenericSlice(const Neighborhood& neighborhood, const local_search::Task& task, const MappedMailbox& mailbox, const cuda::Stream& stream)
      : stream_(stream),
        elements_(Storage::elements(neighborhood)),
        policy_(GenericSlicePolicy::of<Storage>(neighborhood, mailbox)),
        storage_(neighborhood, policy_.share.count, stream),
        current_(elements_),
        best_(elements_),
        until_(task.method == local_search::Method::tabu ? static_cast<std::size_t>(neighborhood.moves()) : 0),
        seed_(1),
        staged_(2 * elements_),
        staged_seed_(1),
        mailbox_(mailbox.view<ChoiceKey>(policy_.share.all)),
        arguments_{storage_.evaluator(),
                   neighborhood.moves(),
                   0,
                   local_search::tenure_of(task, neighborhood.moves()),
                   task.method,
                   static_cast<std::int32_t>(elements_),
                   nullptr,
                   seed_.data(),
                   current_.data(),
                   best_.data(),
                   until_.data(),
                   {}} {
    cuda::allow_shared(kernel, policy_.shared_bytes);
  }

  void begin(const State& state) {
    std::copy(state.solution().begin(), state.solution().end(), staged_.data());
    staged_seed_[0] = state.seed();
    copy(current_.data(), staged_.data(), cudaMemcpyHostToDevice);
    copy(best_.data(), staged_.data(), cudaMemcpyHostToDevice);
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(seed_.data(), staged_seed_.data(), seed_.bytes(), cudaMemcpyHostToDevice, stream_.get()));
    until_.fill(0, stream_);
  }
  void launch(local_search::SearchProgress* progress, std::int64_t limit, unsigned step) {
    arguments_.all_progress = progress;
    arguments_.limit = limit;
    const cuda::Shape shape{
        .blocks = policy_.share.count, .threads = policy_.threads, .shared_bytes = policy_.shared_bytes, .cooperative = true};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream_, kernel, arguments_, mailbox_, policy_.share, step));
  }
  void finish(typename State::Result& result) {
    copy(staged_.data(), current_.data(), cudaMemcpyDeviceToHost);
    copy(staged_.data() + elements_, best_.data(), cudaMemcpyDeviceToHost);
    stream_.synchronize();
    std::copy_n(staged_.data(), elements_, result.current.begin());
    std::copy_n(staged_.data() + elements_, elements_, result.best.begin());
  }
  void poison() {
    current_.fill(0xA5, stream_);
    best_.fill(0xA5, stream_);
    until_.fill(0xA5, stream_);
  }
  [[nodiscard]] Policy policy() const { return policy_.record(); }

 private:
  static constexpr auto kernel = rank_generic_kernel<Evaluator>;

  void copy(Element* to, const Element* from, cudaMemcpyKind kind) {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, elements_ * sizeof(Element), kind, stream_.get()));
  }

  const cuda::Stream& stream_;
  std::size_t elements_;
  GenericSlicePolicy policy_;
  Storage storage_;
  cuda::DeviceBuffer<Element> current_, best_;  ///< [element]
  cuda::DeviceBuffer<std::int32_t> until_;      ///< [move]
  cuda::DeviceBuffer<std::uint64_t> seed_;
  cuda::HostBuffer<Element> staged_;  ///< current, best
  cuda::HostBuffer<std::uint64_t> staged_seed_;
  RankMailbox<ChoiceKey> mailbox_;
  GenericSearches<Evaluator> arguments_;  ///< but for all_progress and limit
};

/// Of the first storage that fits.
template <class Neighborhood, EvaluatorStorage Storage, EvaluatorStorage... Others>
[[nodiscard]] std::unique_ptr<Run> generic_slice_run(const Neighborhood& neighborhood, const local_search::Task& task, const Ranks& ranks,
                                                     StorageList<Storage, Others...>) {
  if constexpr (sizeof...(Others) > 0)
    if (Storage::most_threads(neighborhood, GenericPolicy::most_shared()) == 0)
      return generic_slice_run(neighborhood, task, ranks, StorageList<Others...>{});
  return std::make_unique<RankRun<GenericSlice<Storage>>>(neighborhood, task, ranks);
}
template <class Neighborhood>
[[nodiscard]] std::unique_ptr<Run> generic_slice_run(const Neighborhood& neighborhood, const local_search::Task& task, const Ranks& ranks) {
  return generic_slice_run(neighborhood, task, ranks, typename Evaluators<Neighborhood>::Storages{});
}

}  // namespace vicinity::lsm
