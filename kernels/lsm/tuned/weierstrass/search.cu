// gpu-tuned for the Weierstrass function: one search on the whole grid.
//
// Problem. Neighbour f is a point drawn in crown f around the solution, anew in each iteration (core/problems/weierstrass/crowns.hpp). Its
// value is the sum over its coordinates of 100 terms each, added up in the order of the coordinates, so that all implementations agree.
//
// Data layout. A block has a range of the crowns, and evaluates a tile of them at a time. Shared memory: the solution, the words drawn for
// a tile, and twice, in turns, the values of its coordinates. In registers: how far each coordinate of the next tile will be moved. In
// device memory: tabu times, messages between blocks, the solutions.
//
// Roles. The evaluation warps have a thread a coordinate of a neighbour. The reduction warp, warp 0, has four neighbours a lane.
// Phases of a tile: (1) each coordinate is moved and evaluated, while the reduction warp reads tabu times; (2) the reduction warp adds up
// the coordinates of each neighbour and keeps the best, while the others draw what they need in the next tile, or the next iteration. After
// the last tile (3) the reduction warps of all blocks exchange their best, and each makes the move in its block's solution; progress and
// tabu time follow while the others evaluate again. Synchronisation: a block barrier a tile and one of the evaluation warps, and another
// block barrier and one exchange of messages an iteration. Cost: some 500 instructions a coordinate and neighbour, 416 of them in floating
// point, none in a loop; in double precision 530 on 64 bits, which are the limit there. Where a block has few coordinates, the chain from
// its last value to the next iteration: the sums, four warp-wide minima, the message, ten rounds of the generator.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
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

/// Values as weierstrass::ordered() has them, and the keys of choices.
template <class Real>
using Order = decltype(weierstrass::ordered(Real{}));
template <class Real>
using CrownsKey = std::conditional_t<sizeof(Real) == 4, ShortChoiceKey, ChoiceKey>;
template <class Real>
[[nodiscard]] __device__ __forceinline__ CrownsKey<Real> crowns_key(const local_search::Choice& choice) {
  if constexpr (sizeof(Real) == 4)
    return short_key_of(choice);
  else
    return key_of(choice);
}
/// Copies of each message: some 16 blocks of a large GPU poll one.
template <class Real>
using CrownsMailbox = cuda::GridMailbox<CrownsKey<Real>, 8>;

/// How crowns are split: block b has those from b * per_block on.
struct CrownsPolicy {
  static constexpr std::int32_t reduction_threads = 32;         ///< of the warp that adds up, chooses and exchanges messages
  static constexpr std::int32_t most_evaluation_threads = 768;  ///< of the other warps
  static constexpr std::int32_t least_items = 128;  ///< coordinates of neighbours that are worth another block: a warp a scheduler

  static constexpr std::int32_t rows_at_once = 5;  ///< that the reduction warp loads

  std::int32_t blocks, per_block;
  std::int32_t tile;  ///< neighbours at a time
  std::int32_t threads;

  [[nodiscard]] static CrownsPolicy of(std::int64_t moves, std::int32_t n, std::int32_t multiprocessors) {
    const auto evenly = static_cast<std::int32_t>(divide_up(moves, std::int64_t{multiprocessors}));
    const std::int32_t per_block = std::max(evenly, divide_up(least_items, n));
    const std::int32_t most = most_evaluation_threads / std::max(n, 2);  // neighbours, whose values take less than 48 KB
    const std::int32_t tile = divide_up(per_block, divide_up(per_block, most));
    return {static_cast<std::int32_t>(divide_up(moves, std::int64_t{per_block})), per_block, tile,
            reduction_threads + divide_up(tile * n, 32) * 32};
  }
  [[nodiscard]] Policy record() const {
    return {{"blocks", blocks}, {"threads", threads}, {"neighbors_a_block", per_block}, {"neighbors_at_a_time", tile}};
  }
  /// Words drawn for a neighbour: whole blocks of the generator.
  [[nodiscard]] static VICINITY_HD constexpr std::int32_t words(std::int32_t n) { return (2 + n + 3) / 4 * 4; }
  /// Coordinates of the values in shared memory: those beyond the n-th hold -0, which changes no sum.
  [[nodiscard]] static VICINITY_HD std::int32_t rows(std::int32_t n) { return divide_up(n, rows_at_once) * rows_at_once; }
  /// From a coordinate's values to the next one's, in whole quads.
  [[nodiscard]] VICINITY_HD std::int32_t pitch() const { return divide_up(tile, 4) * 4; }
  /// A block has one tile of at most four neighbours a lane, and is not alone; a lane has one coordinate.
  [[nodiscard]] bool is_small(std::int32_t n) const { return blocks > 1 && per_block == tile && tile <= 4 * 32 && n <= 32; }
  [[nodiscard]] std::size_t shared_bytes(std::int32_t n, std::size_t real_bytes) const {
    return 2 * static_cast<std::size_t>(rows(n) * pitch()) * real_bytes + static_cast<std::size_t>(words(n) * tile) * sizeof(std::uint32_t);
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
  CrownsMailbox<Real> mailbox;
};

/// What the warps of a block share.
template <class Real>
struct CrownsBlock {
  const CrownsSearch<Real>& search;
  std::int32_t first, count;  ///< its crowns
  Real* x;                    ///< [n]: the solution
  Real* values;               ///< [2][row][pitch]: of the neighbours of a tile
  std::uint32_t* drawn;       ///< [word][neighbour of a tile]
  bool* ended;

  /// Of all threads, which come from different places.
  static __device__ __forceinline__ void barrier() { cuda::barrier_of_all<false>(); }
  static __device__ __forceinline__ void evaluation_barrier() {
    asm volatile("barrier.sync 1, %0;" ::"r"(blockDim.x - CrownsPolicy::reduction_threads) : "memory");
  }
};

// --- evaluation ----------------------------------------------------------------------------------------------------------------------

/// By the evaluation warps. Mapping: item k * tile + j is coordinate k of neighbour j of a tile.
template <class Real, bool Small>
__device__ __forceinline__ void evaluate(const CrownsBlock<Real>& block) {
  const CrownsSearch<Real>& search = block.search;
  const std::int32_t n = search.n, tile = search.policy.tile, pitch = search.policy.pitch(), items = tile * n, rows = search.policy.rows(n);
  const std::int32_t item = static_cast<std::int32_t>(threadIdx.x) - CrownsPolicy::reduction_threads, k = item / tile, j = item % tile;
  Real displacement = 0;  // of this thread's coordinate in the next tile
  const auto draw = [&](std::int32_t t, std::int32_t begin) {
    const std::int32_t f = block.first + begin + j;
    if (4 * k < CrownsPolicy::words(n)) {
      const Philox4 words = draws(search.seed, t, f, k);
#pragma unroll
      for (int w = 0; w < 4; ++w) block.drawn[(4 * k + w) * tile + j] = words.word[w];
    }
    block.evaluation_barrier();
    if (item >= items) return;
    const std::uint32_t* const word = block.drawn + j;
    displacement = weierstrass::displacement<Real>(k, word[(2 + k) * tile], weierstrass::radius<Real>(f, word[0], search.width),
                                                   weierstrass::face(word[tile], n));
  };
  auto t = static_cast<std::int32_t>(search.progress->iterations);
  draw(t, 0);
  for (int buffer = 0;; ++t) {
    const bool ended = *block.ended;
    for (std::int32_t begin = 0;; begin += tile) {
      if (item < items && begin + j < block.count)
        block.values[(buffer * rows + k) * pitch + j] = weierstrass::of_coordinate(weierstrass::displaced(block.x[k], displacement));
      if (ended) return;  // asked after the evaluation, which does not wait for it
      block.barrier();
      const bool is_last = Small || begin + tile >= block.count;
      draw(is_last ? t + 1 : t, is_last ? 0 : begin + tile);
      if constexpr (!Small) buffer ^= 1;
      if (is_last) break;
    }
    block.barrier();
  }
}

// --- reduction -----------------------------------------------------------------------------------------------------------------------

/// Values in the order of unsigned numbers; the greatest is none.
template <class Real>
using Unsigned = std::make_unsigned_t<Order<Real>>;
template <class Real>
inline constexpr Unsigned<Real> sign = Unsigned<Real>{1} << (8 * sizeof(Real) - 1);
template <class Real>
inline constexpr Unsigned<Real> none = ~Unsigned<Real>{0};

/// The best of a lane's moves, which come in order: of those that are not forbidden, and of all.
template <class Real>
struct LaneBest {
  Unsigned<Real> allowed = none<Real>, any = none<Real>;
  std::uint32_t allowed_move = ~0u, any_move = ~0u;

  __device__ __forceinline__ void lower(Unsigned<Real> value, std::uint32_t f, bool forbidden) {
    if (value < any) any_move = f;
    any = min(any, value);
    if (value < allowed && !forbidden) {
      allowed = value;
      allowed_move = f;
    }
  }
  /// Of the warp, in all lanes.
  [[nodiscard]] __device__ __forceinline__ local_search::Choice of_warp() const {
    Unsigned<Real> mine = allowed, least = cuda::warp_min(mine);
    std::uint32_t move = allowed_move;
    const bool forbidden = least == none<Real>;
    if (forbidden) [[unlikely]] {
      mine = any;
      least = cuda::warp_min(mine);
      move = any_move;
    }
    move = cuda::warp_min(mine == least ? move : ~0u);
    return {static_cast<Order<Real>>(least ^ sign<Real>), static_cast<std::int64_t>(move), forbidden};
  }
};

/// Four neighbours of a tile a lane of the reduction warp: those from 4 * lane on, of 128.
template <class Real>
struct Quads {
  static constexpr std::int32_t each = 4, all = 32 * each;
  struct alignas(16) Values {
    Real v[each];
  };

  std::int32_t begin, count;            ///< the lane's first in the tile; of the tile
  Unsigned<Real> missing[each];         ///< all bits where there is no such neighbour
  Unsigned<Real> forbidden_from[each];  ///< a value that is not below is forbidden (local_search::forbids())

  /// From neighbour `from` of the tile on. `tabu_until`: of the tile, or null.
  __device__ __forceinline__ Quads(const std::int32_t* tabu_until, std::int32_t from, std::int32_t of_tile, std::int32_t t,
                                   Order<Real> best_value)
      : begin(from + each * static_cast<std::int32_t>(threadIdx.x % 32)), count(of_tile) {
#pragma unroll
    for (int r = 0; r < each; ++r) {
      missing[r] = begin + r < count ? Unsigned<Real>{0} : none<Real>;
      const bool is_tabu = tabu_until != nullptr && begin + r < count && tabu_until[begin + r] > t;
      forbidden_from[r] = is_tabu ? static_cast<Unsigned<Real>>(best_value) ^ sign<Real> : none<Real>;
    }
  }
  /// Lowers `best`. `first`: the tile's first crown.
  __device__ __forceinline__ void choose(const Real* values, std::int32_t n, std::int32_t pitch, std::int32_t first,
                                         LaneBest<Real>& best) const {
    if (begin >= count) return;
    Real sum[each]{};
    std::int32_t k = 0;
#pragma unroll 1
    do {
#pragma unroll
      for (std::int32_t row = k; row < k + CrownsPolicy::rows_at_once; ++row) {
        const Values of_coordinate = *reinterpret_cast<const Values*>(values + row * pitch + begin);
#pragma unroll
        for (int r = 0; r < each; ++r) sum[r] = plus(sum[r], of_coordinate.v[r]);
      }
    } while ((k += CrownsPolicy::rows_at_once) < n);
#pragma unroll
    for (int r = 0; r < each; ++r) {
      const Unsigned<Real> value = (static_cast<Unsigned<Real>>(weierstrass::ordered(sum[r])) ^ sign<Real>) | missing[r];
      best.lower(value, static_cast<std::uint32_t>(first + begin + r), value >= forbidden_from[r]);
    }
  }
};

/// Makes the move in the block's solution: a lane draws four words, and has coordinate `lane` and, if there are more than 32, the 32nd
/// after.
template <class Real, bool Small>
__device__ __forceinline__ void move_to(const CrownsBlock<Real>& block, std::int32_t t, std::int32_t f) {
  constexpr int each = Small ? 1 : most_dimensions / 32;
  static_assert(CrownsPolicy::words(most_dimensions) <= 4 * 32);
  const CrownsSearch<Real>& search = block.search;
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
  Real x[each];
#pragma unroll
  for (int i = 0; i < each; ++i) x[i] = block.x[32 * i + lane];
  const Philox4 drawn = draws(search.seed, t, f, lane);
  const std::uint32_t word0 = __shfl_sync(~0u, drawn.word[0], 0), word1 = __shfl_sync(~0u, drawn.word[1], 0);
#pragma unroll
  for (int i = 0; i < each; ++i) {
    const std::int32_t k = 32 * i + lane;
    Philox4 words;
#pragma unroll
    for (int w = 0; w < 4; ++w) words.word[w] = __shfl_sync(~0u, drawn.word[w], (2 + k) / 4);
    block.x[k] = weierstrass::moved<Real>(x[i], k, word_of(words, 2 + k), weierstrass::radius<Real>(f, word0, search.width),
                                          weierstrass::face(word1, search.n));  // beyond the n-th nothing reads it
  }
}

/// By the reduction warp.
template <class Real, bool Small>
__device__ __forceinline__ void reduce(const CrownsBlock<Real>& block) {
  const CrownsSearch<Real>& search = block.search;
  const std::int32_t n = search.n, tile = search.policy.tile, pitch = search.policy.pitch(), rows = search.policy.rows(n);
  const bool is_tabu_search = search.method == local_search::Method::tabu;
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
  const auto limit = static_cast<std::int32_t>(search.limit);
  SearchProgress progress = *search.progress;
  for (int buffer = 0;;) {
    const auto t = static_cast<std::int32_t>(progress.iterations);
    const auto best_value = static_cast<Order<Real>>(progress.best_value);
    LaneBest<Real> best;
    for (std::int32_t begin = 0;; begin += tile) {
      const std::int32_t first = block.first + begin, count = Small ? block.count : min(tile, block.count - begin);
      const std::int32_t* const tabu_until = is_tabu_search ? search.tabu_until + first : nullptr;
      Quads<Real> quads(tabu_until, 0, count, t, best_value);  // read while the others evaluate
      block.barrier();
      for (std::int32_t next = quads.all;; next += quads.all) {
        quads.choose(block.values + buffer * rows * pitch, n, pitch, first, best);
        if (Small || next >= count) break;
        quads = Quads<Real>(tabu_until, next, count, t, best_value);
      }
      if constexpr (!Small) buffer ^= 1;
      if (Small || begin + tile >= block.count) break;
    }
    local_search::Choice choice = best.of_warp();
    if (Small || search.policy.blocks > 1)
      choice = choice_of(search.mailbox.argmin(crowns_key<Real>(choice), static_cast<unsigned>(t + 1)));
    const auto f = static_cast<std::int32_t>(choice.move);
    const bool at_optimum = !is_tabu_search && static_cast<Order<Real>>(choice.value) >= static_cast<Order<Real>>(progress.value);
    const bool ends = at_optimum || t + 1 >= limit;
    if (lane == 0) *block.ended = ends;
    if (!at_optimum) move_to<Real, Small>(block, t, f);
    block.barrier();
    // While the others evaluate.
    if (is_tabu_search && lane == 0 && f >= block.first && f < block.first + block.count)
      search.tabu_until[f] = static_cast<std::int32_t>(local_search::tabu_until(t, search.tenure));
    __syncwarp();  // other lanes read it
    const SearchProgress::Step step = progress.take(choice, search.method);
    if (blockIdx.x == 0 && step == SearchProgress::Step::improved)
#pragma unroll 1
      for (std::int32_t k = lane; k < n; k += 32) search.best[k] = block.x[k];
    if (ends) break;
  }
  if (blockIdx.x != 0) return;
#pragma unroll 1
  for (std::int32_t k = lane; k < n; k += 32) search.current[k] = block.x[k];
  if (lane == 0) *search.progress = progress;
}

// --- kernel --------------------------------------------------------------------------------------------------------------------------

/// All blocks must be resident. Small: as CrownsPolicy::is_small().
template <class Real, bool Small>
__global__ void __launch_bounds__(CrownsPolicy::reduction_threads + CrownsPolicy::most_evaluation_threads, 1)
    crowns_kernel(const __grid_constant__ CrownsSearch<Real> search) {
  extern __shared__ uint4 dynamic_shared[];
  __shared__ Real x[most_dimensions];
  __shared__ bool ended;
  if (search.progress->done(search.limit)) return;
  for (std::int32_t k = static_cast<std::int32_t>(threadIdx.x); k < search.n; k += static_cast<std::int32_t>(blockDim.x))
    x[k] = search.current[k];
  Real* const values = reinterpret_cast<Real*>(dynamic_shared);
  const std::int32_t of_buffer = search.policy.rows(search.n) * search.policy.pitch();
  for (std::int32_t k = static_cast<std::int32_t>(threadIdx.x); k < 2 * of_buffer; k += static_cast<std::int32_t>(blockDim.x))
    values[k] = -Real{0};
  if (threadIdx.x == 0) ended = false;
  __syncthreads();
  const std::int32_t first = static_cast<std::int32_t>(blockIdx.x) * search.policy.per_block;
  const CrownsBlock<Real> block{search, first,  static_cast<std::int32_t>(min(std::int64_t{search.policy.per_block}, search.moves - first)),
                                x,      values, reinterpret_cast<std::uint32_t*>(values + 2 * of_buffer),
                                &ended};
  if (threadIdx.x < CrownsPolicy::reduction_threads)
    reduce<Real, Small>(block);
  else
    evaluate<Real, Small>(block);
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
        messages_(CrownsMailbox<Real>::size(policy_.blocks)),
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
    VICINITY_CUDA_CHECK(
        cuda::launch(shape, stream_, policy_.is_small(search_.n) ? crowns_kernel<Real, true> : crowns_kernel<Real, false>, search_));
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
  cuda::DeviceBuffer<cuda::KeyMessage<CrownsKey<Real>>> messages_;
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
