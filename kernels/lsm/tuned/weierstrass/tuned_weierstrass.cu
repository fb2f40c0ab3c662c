// Implementation `gpu-tuned` of the Weierstrass function: one persistent grid, whose blocks speak to each other once an iteration.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/util/math.hpp"
#include "kernels/cuda/collective/argmin.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/choice_key.cuh"
#include "kernels/lsm/tuned/tuned.hpp"
#include "kernels/lsm/tuned/weierstrass/weierstrass_terms.cuh"
#include "kernels/lsm/device_searches.cuh"

namespace vicinity::lsm {
namespace {

using local_search::SearchProgress;

constexpr std::int32_t most_dimensions = 64;

/// How the crowns are dealt: block b has those from b * a_block on, and evaluates `tile` of them at a time, a thread a coordinate.
struct CrownsPolicy {
  static constexpr std::int32_t clerk = 32;          ///< threads of the warp that adds up, chooses and speaks with other blocks
  static constexpr std::int32_t most_workers = 768;  ///< threads that evaluate
  static constexpr std::int32_t least_items = 128;   ///< coordinates of neighbours that are worth another block: a warp a scheduler

  std::int32_t blocks, a_block, tile, threads;

  /// Words drawn for a neighbour, in whole blocks.
  [[nodiscard]] static VICINITY_HD std::int32_t words(std::int32_t n) { return (2 + n + 3) / 4 * 4; }

  CrownsPolicy(std::int64_t moves, std::int32_t n, std::int32_t multiprocessors) {
    const auto evenly = static_cast<std::int32_t>(divide_up(moves, std::int64_t{multiprocessors}));
    a_block = std::max(evenly, divide_up(least_items, n));
    blocks = static_cast<std::int32_t>(divide_up(moves, std::int64_t{a_block}));
    tile = divide_up(a_block, divide_up(a_block, most_workers / n));
    threads = clerk + divide_up(tile * n, 32) * 32;
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
  Real *current, *best;  ///< [n]
  std::int32_t* until;   ///< [crown]: tabu before this iteration
  cuda::GridMailbox<ChoiceKey> mailbox;

  /// How far coordinate k of the neighbour in crown f lies from the solution's in iteration t.
  [[nodiscard]] __device__ __forceinline__ Real displacement(std::int64_t t, std::int64_t f, std::int32_t k) const {
    const Philox4 head = draws(seed, t, f, 0);
    return weierstrass::displacement<Real>(k, word_of(draws(seed, t, f, (2 + k) / 4), 2 + k),
                                           weierstrass::radius<Real>(f, head.word[0], width), weierstrass::face(head.word[1], n));
  }
};

/// The whole search. Mapping: warp 0 of each block is its clerk, the others' threads evaluate a coordinate of a neighbour each; what the
/// coordinates are worth goes through shared memory to the clerk, which adds them up in their order while the others evaluate the next
/// tile, or draw the points of the next iteration, four words a thread. Clerks agree on the move, and each makes it. Synchronisation: a
/// block barrier a tile, another and a message between all blocks an iteration. Cost: 100 terms a coordinate and neighbour
/// (weierstrass_terms.cuh).
template <class Real>
__global__ void __launch_bounds__(CrownsPolicy::clerk + CrownsPolicy::most_workers, 1)
    crowns_kernel(const __grid_constant__ CrownsSearch<Real> search) {
  extern __shared__ uint4 room[];
  __shared__ Real x[most_dimensions];
  __shared__ alignas(SearchProgress) unsigned char progress_bytes[sizeof(SearchProgress)];
  __shared__ bool over;
  SearchProgress& progress = *reinterpret_cast<SearchProgress*>(progress_bytes);
  const std::int32_t n = search.n, tile = search.policy.tile, items = tile * n, words = CrownsPolicy::words(n);
  Real* const values = reinterpret_cast<Real*>(room);                                 // [2][coordinate][neighbour of a tile]
  std::uint32_t* const drawn = reinterpret_cast<std::uint32_t*>(values + 2 * items);  // [2][word][neighbour of a tile]
  const std::int32_t first = static_cast<std::int32_t>(blockIdx.x) * search.policy.a_block;
  const std::int32_t count = static_cast<std::int32_t>(min(std::int64_t{search.policy.a_block}, search.moves - first));
  const bool clerk = threadIdx.x < CrownsPolicy::clerk, remembers = search.method == local_search::Method::tabu;
  const std::int32_t lane = static_cast<std::int32_t>(threadIdx.x % 32);
  const std::int32_t item = static_cast<std::int32_t>(threadIdx.x) - CrownsPolicy::clerk;
  const std::int32_t k = item / tile, j = item % tile;  // this worker's coordinate and neighbour of a tile

  if (search.progress->done(search.limit)) return;
  if (threadIdx.x == 0) {
    progress = *search.progress;
    over = false;
  }
  for (std::int32_t d = static_cast<std::int32_t>(threadIdx.x); d < n; d += static_cast<std::int32_t>(blockDim.x)) x[d] = search.current[d];
  auto t = static_cast<std::int32_t>(search.progress->iterations);
  const auto draw = [&](std::int32_t of_iteration, std::int32_t begin, int buffer) {
    if (clerk || 4 * k >= words) return;
    const Philox4 block = draws(search.seed, of_iteration, first + begin + j, k);
#pragma unroll
    for (int w = 0; w < 4; ++w) drawn[(buffer * words + 4 * k + w) * tile + j] = block.word[w];
  };
  draw(t, 0, 0);
  __syncthreads();
  for (int buffer = 0; !over; ++t) {
    ChoiceKey best;
    for (std::int32_t begin = 0; begin < count; begin += tile, buffer ^= 1) {
      Real* const of_tile = values + buffer * items;
      if (!clerk && item < items && begin + j < count) {
        const std::uint32_t* word = drawn + buffer * words * tile + j;
        const Real radius = weierstrass::radius<Real>(first + begin + j, word[0], search.width);
        of_tile[item] =
            value_of_coordinate(weierstrass::moved<Real>(x[k], k, word[(2 + k) * tile], radius, weierstrass::face(word[tile], n)));
      }
      if (begin + tile < count) draw(t, begin + tile, buffer ^ 1);
      __syncthreads();
      if (!clerk) continue;
      for (std::int32_t m = lane; m < min(tile, count - begin); m += 32) {
        const std::int32_t f = first + begin + m, until = remembers ? search.until[f] : 0;
        Real sum = 0;
        for (std::int32_t d = 0; d < n; ++d) sum = plus(sum, of_tile[d * tile + m]);
        const std::int64_t value = weierstrass::ordered(sum);
        cuda::lower(best, key_of({value, f, local_search::forbids(until, t, value, progress.best_value)}));
      }
    }
    SearchProgress after;
    if (clerk) {
      after = progress;
      best = cuda::warp_argmin(best);
      if (search.policy.blocks > 1) best = search.mailbox.argmin(best, static_cast<unsigned>(t + 1));
      const local_search::Choice choice = choice_of(best);
      const auto f = static_cast<std::int32_t>(choice.move);
      const SearchProgress::Step step = after.take(choice, search.method);
      if (step != SearchProgress::Step::ended) {
        for (std::int32_t d = lane; d < n; d += 32) {
          x[d] = weierstrass::displaced(x[d], search.displacement(t, f, d));
          if (blockIdx.x == 0 && step == SearchProgress::Step::improved) search.best[d] = x[d];
        }
        if (remembers && lane == 0 && f >= first && f < first + count)
          search.until[f] = static_cast<std::int32_t>(local_search::tabu_until(t, search.tenure));
      }
      if (lane == 0) over = after.done(search.limit);
    }
    draw(t + 1, 0, buffer);
    __syncthreads();
    if (threadIdx.x == 0) progress = after;  // nobody reads it before the next barrier
  }
  if (blockIdx.x != 0) return;
  for (std::int32_t d = static_cast<std::int32_t>(threadIdx.x); d < n; d += static_cast<std::int32_t>(blockDim.x)) search.current[d] = x[d];
  if (threadIdx.x == 0) *search.progress = progress;
}

/// Engine of DeviceRun (kernels/lsm/device_searches.cuh).
template <class Real>
class TunedCrowns {
 public:
  using Neighborhood = local_search::WeierstrassCrowns<Real>;
  using State = local_search::SearchState<Neighborhood>;

  TunedCrowns(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream),
        policy_(neighborhood.moves(), neighborhood.instance().dimension(), cuda::multiprocessors()),
        points_(2 * static_cast<std::size_t>(neighborhood.instance().dimension())),
        staged_(points_.size()),
        until_(static_cast<std::size_t>(neighborhood.moves())),
        messages_(2 * static_cast<std::size_t>(policy_.blocks)),
        shared_(2 * static_cast<std::size_t>(policy_.tile) *
                (static_cast<std::size_t>(neighborhood.instance().dimension()) * sizeof(Real) +
                 static_cast<std::size_t>(CrownsPolicy::words(neighborhood.instance().dimension())) * sizeof(std::uint32_t))),
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
                until_.data(),
                {messages_.data(), policy_.blocks}} {}

  [[nodiscard]] static std::int64_t batch_size() { return 1; }
  void begin(const std::vector<State>& states) {
    const State& state = states.front();
    search_.seed = state.seed();
    for (std::size_t half = 0; half < 2; ++half)
      std::copy(state.solution().begin(), state.solution().end(), staged_.data() + half * state.solution().size());
    copy(points_.data(), staged_.data(), cudaMemcpyHostToDevice);
    until_.fill(0, stream_);
    messages_.fill(0, stream_);
  }
  void launch(SearchProgress* all_progress, std::int64_t limit) {
    search_.progress = all_progress;
    search_.limit = limit;
    const cuda::Shape shape{.blocks = policy_.blocks, .threads = policy_.threads, .shared_bytes = shared_, .cooperative = true};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream_, crowns_kernel<Real>, search_));
  }
  void finish(std::vector<typename State::Result>& searches) {
    copy(staged_.data(), points_.data(), cudaMemcpyDeviceToHost);
    stream_.synchronize();
    auto& search = searches.front();
    const auto n = search.current.size();
    std::copy_n(staged_.data(), n, search.current.begin());
    std::copy_n(staged_.data() + n, n, search.best.begin());
  }
  void poison() {
    points_.fill(0xA5, stream_);
    until_.fill(0xA5, stream_);
    messages_.fill(0xA5, stream_);
  }
  [[nodiscard]] static const char* synchronization() { return "grid_barrier"; }
  [[nodiscard]] Policy policy() const {
    return {{"blocks", policy_.blocks},
            {"threads", policy_.threads},
            {"neighbors_a_block", policy_.a_block},
            {"neighbors_at_a_time", policy_.tile}};
  }

 private:
  void copy(Real* to, const Real* from, cudaMemcpyKind kind) {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, points_.bytes(), kind, stream_.get()));
  }

  const cuda::Stream& stream_;
  CrownsPolicy policy_;
  cuda::DeviceBuffer<Real> points_;  ///< current, best
  cuda::HostBuffer<Real> staged_;
  cuda::DeviceBuffer<std::int32_t> until_;
  cuda::DeviceBuffer<cuda::KeyMessage<ChoiceKey>> messages_;
  std::size_t shared_;
  CrownsSearch<Real> search_;  ///< but for seed, limit and progress
};

}  // namespace

std::unique_ptr<Run> tuned_run(const local_search::WeierstrassCrowns<float>& neighborhood, const local_search::Task& task) {
  return std::make_unique<DeviceRun<TunedCrowns<float>>>(neighborhood, task);
}
std::unique_ptr<Run> tuned_run(const local_search::WeierstrassCrowns<double>& neighborhood, const local_search::Task& task) {
  return std::make_unique<DeviceRun<TunedCrowns<double>>>(neighborhood, task);
}

}  // namespace vicinity::lsm
