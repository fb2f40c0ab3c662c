// gpu-tuned for the Weierstrass function: one search on the whole grid.
//
// Problem. Neighbour f is a point drawn in crown f around the solution, anew in each iteration (core/problems/weierstrass/crowns.hpp). Its
// value is the sum over its coordinates of 100 terms each, added up in the order of the coordinates, so that all implementations agree.
//
// Data layout. A block has a range of the crowns, and evaluates a tile of them at a time. Shared memory: the solution, and twice, in turns,
// the words drawn for a tile and the values of its coordinates. In device memory: tabu times, messages between blocks, the solutions.
//
// Phases of a tile: (1) a thread a coordinate of a neighbour moves it by the words drawn, and evaluates it; then a thread draws four words
// of the next tile, or of the next iteration; (2) the reduction warp, warp 0, adds up the coordinates of each neighbour, a lane a
// neighbour, and keeps the best, while the others begin the next tile. After the last tile the reduction warps of all blocks exchange
// their best, and each makes the move in its block's solution. Synchronisation: a block barrier a tile, and another and one exchange of
// messages an iteration. Cost: some 500 instructions a coordinate and neighbour, 416 of them in floating point, none in a loop; in double
// precision 530 on 64 bits, which are the limit there.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/util/math.hpp"
#include "kernels/cuda/collective/argmin.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/choice_key.cuh"
#include "kernels/lsm/device_searches.cuh"
#include "kernels/lsm/tuned/tuned.hpp"
#include "kernels/lsm/tuned/weierstrass/draws.cuh"

namespace vicinity::lsm {
namespace {

using local_search::SearchProgress;

constexpr std::int32_t most_dimensions = 64;

/// How crowns are split: block b has those from b * per_block on.
struct CrownsPolicy {
  static constexpr std::int32_t reduction_threads = 32;         ///< of the warp that adds up, chooses and exchanges messages
  static constexpr std::int32_t most_evaluation_threads = 768;  ///< of the other warps
  static constexpr std::int32_t least_items = 128;  ///< coordinates of neighbours that are worth another block: a warp a scheduler

  std::int32_t blocks, per_block;
  std::int32_t tile;  ///< neighbours at a time
  std::int32_t threads;

  [[nodiscard]] static CrownsPolicy of(std::int64_t moves, std::int32_t n, std::int32_t multiprocessors) {
    const auto evenly = static_cast<std::int32_t>(divide_up(moves, std::int64_t{multiprocessors}));
    const std::int32_t per_block = std::max(evenly, divide_up(least_items, n));
    const std::int32_t tile = divide_up(per_block, divide_up(per_block, most_evaluation_threads / n));
    return {static_cast<std::int32_t>(divide_up(moves, std::int64_t{per_block})), per_block, tile,
            reduction_threads + divide_up(tile * n, 32) * 32};
  }
  [[nodiscard]] Policy record() const {
    return {{"blocks", blocks}, {"threads", threads}, {"neighbors_a_block", per_block}, {"neighbors_at_a_time", tile}};
  }
  /// Words drawn for a neighbour: whole blocks of the generator.
  [[nodiscard]] static VICINITY_HD std::int32_t words(std::int32_t n) { return (2 + n + 3) / 4 * 4; }
  [[nodiscard]] std::size_t shared_bytes(std::int32_t n, std::size_t real_bytes) const {
    return 2 * static_cast<std::size_t>(tile) *
           (static_cast<std::size_t>(n) * real_bytes + static_cast<std::size_t>(words(n)) * sizeof(std::uint32_t));
  }
};

template <class Real>
struct CrownsSearch {
  CrownsPolicy policy;
  std::int32_t n;
  std::int64_t moves;
  Real width;
  std::uint64_t seed;
  local_search::Method method;
  std::int64_t limit, tenure;
  SearchProgress* progress;
  Real *current, *best;      ///< [n]
  std::int32_t* tabu_until;  ///< [crown]: tabu before this iteration
  cuda::GridMailbox<ChoiceKey> mailbox;

  /// How far coordinate k of the neighbour in crown f lies from the solution's in iteration t.
  [[nodiscard]] __device__ __forceinline__ Real displacement(std::int64_t t, std::int64_t f, std::int32_t k) const {
    const Philox4 head = draws(seed, t, f, 0);
    return weierstrass::displacement<Real>(k, word_of(draws(seed, t, f, (2 + k) / 4), 2 + k),
                                           weierstrass::radius<Real>(f, head.word[0], width), weierstrass::face(head.word[1], n));
  }
};

/// Mapping: warp 0 is the reduction warp, item k * tile + j of the other threads is coordinate k of neighbour j of a tile. All blocks must
/// be resident.
template <class Real>
__global__ void __launch_bounds__(CrownsPolicy::reduction_threads + CrownsPolicy::most_evaluation_threads, 1)
    crowns_kernel(const __grid_constant__ CrownsSearch<Real> search) {
  extern __shared__ uint4 dynamic_shared[];
  __shared__ Real x[most_dimensions];
  __shared__ alignas(SearchProgress) unsigned char progress_bytes[sizeof(SearchProgress)];
  __shared__ bool ended;
  SearchProgress& progress = *reinterpret_cast<SearchProgress*>(progress_bytes);
  const std::int32_t n = search.n, tile = search.policy.tile, items = tile * n, words = CrownsPolicy::words(n);
  Real* const values = reinterpret_cast<Real*>(dynamic_shared);                       // [2][coordinate][neighbour of a tile]
  std::uint32_t* const drawn = reinterpret_cast<std::uint32_t*>(values + 2 * items);  // [2][word][neighbour of a tile]
  const std::int32_t first = static_cast<std::int32_t>(blockIdx.x) * search.policy.per_block;
  const std::int32_t count = static_cast<std::int32_t>(min(std::int64_t{search.policy.per_block}, search.moves - first));
  const bool reduces = threadIdx.x < CrownsPolicy::reduction_threads, is_tabu_search = search.method == local_search::Method::tabu;
  const std::int32_t lane = static_cast<std::int32_t>(threadIdx.x % 32);
  const std::int32_t item = static_cast<std::int32_t>(threadIdx.x) - CrownsPolicy::reduction_threads;
  const std::int32_t k = item / tile, j = item % tile;  // of this thread

  if (search.progress->done(search.limit)) return;
  if (threadIdx.x == 0) {
    progress = *search.progress;
    ended = false;
  }
  for (std::int32_t d = static_cast<std::int32_t>(threadIdx.x); d < n; d += static_cast<std::int32_t>(blockDim.x)) x[d] = search.current[d];
  auto t = static_cast<std::int32_t>(search.progress->iterations);
  const auto draw = [&](std::int32_t of_iteration, std::int32_t begin, int buffer) {
    if (reduces || 4 * k >= words) return;
    const Philox4 block = draws(search.seed, of_iteration, first + begin + j, k);
#pragma unroll
    for (int w = 0; w < 4; ++w) drawn[(buffer * words + 4 * k + w) * tile + j] = block.word[w];
  };
  draw(t, 0, 0);
  __syncthreads();
  for (int buffer = 0; !ended; ++t) {
    ChoiceKey best;
    for (std::int32_t begin = 0; begin < count; begin += tile, buffer ^= 1) {
      Real* const of_tile = values + buffer * items;
      if (!reduces && item < items && begin + j < count) {
        const std::uint32_t* word = drawn + buffer * words * tile + j;
        const Real radius = weierstrass::radius<Real>(first + begin + j, word[0], search.width);
        of_tile[item] =
            weierstrass::of_coordinate(weierstrass::moved<Real>(x[k], k, word[(2 + k) * tile], radius, weierstrass::face(word[tile], n)));
      }
      if (begin + tile < count) draw(t, begin + tile, buffer ^ 1);
      __syncthreads();
      if (!reduces) continue;
      for (std::int32_t m = lane; m < min(tile, count - begin); m += 32) {
        const std::int32_t f = first + begin + m, tabu = is_tabu_search ? search.tabu_until[f] : 0;
        Real sum = 0;
        for (std::int32_t d = 0; d < n; ++d) sum = plus(sum, of_tile[d * tile + m]);
        const std::int64_t value = weierstrass::ordered(sum);
        cuda::lower(best, key_of({value, f, local_search::forbids(tabu, t, value, progress.best_value)}));
      }
    }
    SearchProgress next;
    if (reduces) {
      next = progress;
      best = cuda::warp_argmin(best);
      if (search.policy.blocks > 1) best = search.mailbox.argmin(best, static_cast<unsigned>(t + 1));
      const local_search::Choice choice = choice_of(best);
      const auto f = static_cast<std::int32_t>(choice.move);
      const SearchProgress::Step step = next.take(choice, search.method);
      if (step != SearchProgress::Step::ended) {
        for (std::int32_t d = lane; d < n; d += 32) {
          x[d] = weierstrass::displaced(x[d], search.displacement(t, f, d));
          if (blockIdx.x == 0 && step == SearchProgress::Step::improved) search.best[d] = x[d];
        }
        if (is_tabu_search && lane == 0 && f >= first && f < first + count)
          search.tabu_until[f] = static_cast<std::int32_t>(local_search::tabu_until(t, search.tenure));
      }
      if (lane == 0) ended = next.done(search.limit);
    }
    draw(t + 1, 0, buffer);
    __syncthreads();
    if (threadIdx.x == 0) progress = next;  // read again after the next barrier
  }
  if (blockIdx.x != 0) return;
  for (std::int32_t d = static_cast<std::int32_t>(threadIdx.x); d < n; d += static_cast<std::int32_t>(blockDim.x)) search.current[d] = x[d];
  if (threadIdx.x == 0) *search.progress = progress;
}

/// A SearchEngine (kernels/lsm/device_searches.cuh).
template <class Real>
class CrownsEngine {
 public:
  using Neighborhood = local_search::WeierstrassCrowns<Real>;
  using State = local_search::SearchState<Neighborhood>;

  CrownsEngine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream),
        policy_(CrownsPolicy::of(neighborhood.moves(), neighborhood.instance().dimension(), cuda::multiprocessors())),
        points_(2 * static_cast<std::size_t>(neighborhood.instance().dimension())),
        staged_(points_.size()),
        tabu_until_(static_cast<std::size_t>(neighborhood.moves())),
        messages_(2 * static_cast<std::size_t>(policy_.blocks)),
        shared_bytes_(policy_.shared_bytes(neighborhood.instance().dimension(), sizeof(Real))),
        search_{policy_,
                neighborhood.instance().dimension(),
                neighborhood.moves(),
                neighborhood.width(),
                0,
                task.method,
                0,
                local_search::tenure_of(task, neighborhood.moves()),
                nullptr,
                points_.data(),
                points_.data() + neighborhood.instance().dimension(),
                tabu_until_.data(),
                {messages_.data(), policy_.blocks}} {}

  [[nodiscard]] static std::int64_t batch_size() { return 1; }
  void begin(const std::vector<State>& states) {
    const State& state = states.front();
    search_.seed = state.seed();
    for (std::size_t half = 0; half < 2; ++half)
      std::copy(state.solution().begin(), state.solution().end(), staged_.data() + half * state.solution().size());
    copy(points_.data(), staged_.data(), cudaMemcpyHostToDevice);
    tabu_until_.fill(0, stream_);
    messages_.fill(0, stream_);
  }
  void launch(SearchProgress* all_progress, std::int64_t limit) {
    search_.progress = all_progress;
    search_.limit = limit;
    const cuda::Shape shape{.blocks = policy_.blocks, .threads = policy_.threads, .shared_bytes = shared_bytes_, .cooperative = true};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream_, crowns_kernel<Real>, search_));
  }
  void finish(std::vector<typename State::Result>& results) {
    copy(staged_.data(), points_.data(), cudaMemcpyDeviceToHost);
    stream_.synchronize();
    auto& result = results.front();
    const auto n = result.current.size();
    std::copy_n(staged_.data(), n, result.current.begin());
    std::copy_n(staged_.data() + n, n, result.best.begin());
  }
  void poison() {
    points_.fill(0xA5, stream_);
    tabu_until_.fill(0xA5, stream_);
    messages_.fill(0xA5, stream_);
  }
  [[nodiscard]] static Ceiling synchronization() { return Ceiling::grid_barrier; }
  [[nodiscard]] Policy policy() const { return policy_.record(); }

 private:
  void copy(Real* to, const Real* from, cudaMemcpyKind kind) {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, points_.bytes(), kind, stream_.get()));
  }

  const cuda::Stream& stream_;
  CrownsPolicy policy_;
  cuda::DeviceBuffer<Real> points_;  ///< current, best
  cuda::HostBuffer<Real> staged_;
  cuda::DeviceBuffer<std::int32_t> tabu_until_;
  cuda::DeviceBuffer<cuda::KeyMessage<ChoiceKey>> messages_;
  std::size_t shared_bytes_;
  CrownsSearch<Real> search_;  ///< but for seed, limit and progress
};

}  // namespace

std::unique_ptr<Run> tuned_run(const local_search::WeierstrassCrowns<float>& neighborhood, const local_search::Task& task) {
  return std::make_unique<DeviceRun<CrownsEngine<float>>>(neighborhood, task);
}
std::unique_ptr<Run> tuned_run(const local_search::WeierstrassCrowns<double>& neighborhood, const local_search::Task& task) {
  return std::make_unique<DeviceRun<CrownsEngine<double>>>(neighborhood, task);
}

}  // namespace vicinity::lsm
