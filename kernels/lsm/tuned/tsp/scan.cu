// gpu-tuned for the travelling salesman problem with few cities: tabu search and hill climbing that scan the deltas of all swaps.
//
// Problem: the swaps (i, j) of the cities at positions i < j of the tour. An iteration takes the least of (forbidden, delta, i, j).
// Data layout: one block a search. In shared memory: a 32-bit key a swap (tabu mark, delta, slot), the cities in tour order (StoredCity),
// the tour. Groups of four consecutive keys go to the scan threads in turn, so that a warp reads consecutive 16 bytes. In device memory:
// tabu times, and the swaps of as many iterations as the tenure. One more warp, the progress warp, keeps progress, tour and tabu times.
// Phases of an iteration:
//   1. scan_keys: each scan thread finds its least key, and its least regardless of tabu marks. Each warp posts the least of its threads,
//      and whether a tabu swap satisfies the aspiration criterion. Meanwhile the progress warp stores what the last swap changed;
//   2. least_posted: each warp reduces what all warps have posted. If a tabu swap aspires, the least regardless of tabu marks is not
//      forbidden, and is posted and reduced instead;
//   3. take_move: all threads take the same swap. The progress warp writes its tabu time, and finds the swap whose time ends;
//   4. update_keys: the deltas of all swaps of six positions have changed. A warp takes 30 positions, and three of the six.
// Synchronisation: a block barrier after phases 1 and 4, and one more where a tabu swap aspires.
// Cost: a read and eight minima for four swaps of a thread; five distances for each position and half of the six. An iteration is bound by
// the latency of some 500 dependent instructions.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/methods/lsm/search.hpp"
#include "core/util/math.hpp"
#include "kernels/cuda/collective/warp.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/device_searches.cuh"
#include "kernels/lsm/tuned/tsp/scan.hpp"
#include "kernels/lsm/tuned/tsp/tours.cuh"

namespace vicinity::lsm {
namespace {

/// Threads of a block at most. Double precision takes more registers.
template <bool Integral>
inline constexpr int most_threads = Integral ? 1024 : 768;

/// With more cities an iteration of row_minima.cu is shorter, for all that its blocks exchange messages: a scan takes longer with each
/// swap.
inline constexpr std::int32_t most_cities = 250;

/// Swaps of a scan thread in a round: four groups of four.
inline constexpr std::int32_t round_swaps = 16;

// --- the searches of a launch ------------------------------------------------------------------------------------------------

template <bool Integral>
struct ScanSearches {
  Tours<Integral> tours;
  std::int32_t* history;  ///< [search][iteration % length]: the swap taken; -1: taken again since
  std::int32_t history_length;
  std::int32_t scan_threads, rounds;

  /// Keys, with those that stand for no swap.
  [[nodiscard]] __host__ __device__ std::int32_t keys() const { return round_swaps * scan_threads * rounds; }
};

/// Warps that update keys: each takes warp_positions positions, and the three positions around r or those around s.
[[nodiscard]] VICINITY_HD std::int32_t update_warps(std::int32_t n) { return 2 * divide_up(n, warp_positions); }

// --- keys --------------------------------------------------------------------------------------------------------------------

/// A swap among those of its thread, in one word: tabu, delta, slot. The slot is its number among the thread's swaps, and rises with the
/// number of the swap, which breaks ties. Tabu swaps come last as unsigned numbers, and first as signed ones.
struct ScanKey {
  static constexpr int slot_bits = 6;
  static constexpr std::int32_t limit = 1 << (30 - slot_bits);  ///< deltas are below, in magnitude
  static constexpr std::uint32_t tabu = 1u << 31, slots = (1u << slot_bits) - 1, none = ~0u;

  [[nodiscard]] static __device__ __forceinline__ std::uint32_t of(std::int32_t delta, std::uint32_t tabu_and_slot) {
    return static_cast<std::uint32_t>(delta + limit) << slot_bits | tabu_and_slot;
  }
  /// Without the slot: what swaps of different threads compare by.
  [[nodiscard]] static __device__ __forceinline__ std::uint32_t value(std::uint32_t key) { return key >> slot_bits; }
  [[nodiscard]] static __device__ __forceinline__ bool is_tabu(std::uint32_t value) { return (value & value_of_tabu) != 0; }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t delta(std::uint32_t value) {
    return static_cast<std::int32_t>(value & ~value_of_tabu) - limit;
  }

 private:
  static constexpr std::uint32_t value_of_tabu = tabu >> slot_bits;
};

/// The least swap of a thread, a warp or the block: ScanKey::value in the high half, the number of the swap in the low one. Bit 31 says
/// that a tabu swap aspires: its value is below the best of the search.
using BestSwap = unsigned long long;
inline constexpr BestSwap aspires = BestSwap{1} << 31, no_swap = ~aspires;

/// The beginning of shared memory. Keys, cities and tour follow.
struct alignas(16) SharedLayout {
  BestSwap posted[2][32];  ///< [parity][warp]
  local_search::SearchProgress progress;
  std::int32_t released, released_thread;  ///< the swap that ceases to be tabu, and the thread that has its key; -1: none
};
template <bool Integral>
[[nodiscard]] std::size_t shared_bytes(std::int32_t n, std::int32_t keys) {
  return sizeof(SharedLayout) + static_cast<std::size_t>(keys) * sizeof(std::uint32_t) +
         static_cast<std::size_t>(n) * (sizeof(StoredCity<Integral>) + sizeof(std::int32_t));
}

// --- the search --------------------------------------------------------------------------------------------------------------

/// One search, as each thread of its block sees it.
template <bool Integral>
class ScanSearch {
 public:
  __device__ __forceinline__ ScanSearch(const ScanSearches<Integral>& searches, unsigned char* shared)
      : searches_(searches),
        tours_(searches.tours),
        n_(searches.tours.tsp.n),
        in_progress_warp_(static_cast<std::int32_t>(threadIdx.x) >= searches.scan_threads),
        shared_(*reinterpret_cast<SharedLayout*>(shared)),
        keys_(reinterpret_cast<std::uint32_t*>(shared + sizeof(SharedLayout))),
        cities_(reinterpret_cast<StoredCity<Integral>*>(keys_ + searches.keys())),
        tour_(reinterpret_cast<std::int32_t*>(cities_ + n_)),
        swap_{n_},
        first_(warp() / 2 * warp_positions),
        window_(warp() % 2 * 5),
        position_(lane_position(first_, lane(), n_)) {}

  __device__ __forceinline__ void run(local_search::SearchProgress& progress, local_search::Method method, std::int64_t limit) {
    load(progress);
    bool goes_on = true;
    while (goes_on) {
      BestSwap regardless = no_swap;
      if (in_progress_warp_) {
        if (unrecorded_) record_move();
      } else {
        regardless = scan_keys();
      }
      __syncthreads();
      bool aspiring = false;
      BestSwap best = least_posted(aspiring);
      if (aspiring) {  // then so does the least of all swaps, or it is not tabu
        bool none = false;
        if (!in_progress_warp_) post(regardless, false);
        __syncthreads();
        best = least_posted(none);
      }
      goes_on = take_move(best, aspiring, method, limit);
      if (warp() < update_warps(n_) && goes_on) update_keys(best, method);
      __syncthreads();
    }
    if (in_progress_warp_) {
      if (unrecorded_) record_move();
      store(progress);
    }
  }

 private:
  [[nodiscard]] static __device__ __forceinline__ std::int32_t lane() { return static_cast<std::int32_t>(threadIdx.x % 32); }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t warp() { return static_cast<std::int32_t>(threadIdx.x / 32); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t number(std::int32_t i, std::int32_t j) const {
    return i * (2 * n_ - i - 1) / 2 + j - i - 1;
  }
  /// The positions of a swap, as moves::at<2>(). There are so few swaps that 8 times their number is exact in single precision; 5 in place
  /// of 1 makes up for the error of the root.
  __device__ __forceinline__ void positions_of(std::int32_t move, std::int32_t& i, std::int32_t& j) const {
    const auto from_end = static_cast<std::int32_t>(tours_.moves) - 1 - move;
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(static_cast<float>(8 * from_end + 5)));
    i = n_ - 2 - static_cast<std::int32_t>((root - 1.0f) * 0.5f);
    j = move - number(i, i + 1) + i + 1;
  }

  // --- start and end of a launch

  __device__ __forceinline__ void load(const local_search::SearchProgress& progress) {
    const auto thread = static_cast<std::int32_t>(threadIdx.x), threads = static_cast<std::int32_t>(blockDim.x);
    now_ = static_cast<std::int32_t>(progress.iterations);
    value_ = progress.value;
    best_value_ = progress.best_value;
    if (thread < 64) shared_.posted[thread / 32][thread % 32] = no_swap;
    for (std::int32_t p = thread; p < n_; p += threads) {
      cities_[p] = tours_.city(blockIdx.x, p);
      tour_[p] = tours_.tour[blockIdx.x * static_cast<std::size_t>(n_) + p];
    }
    if (thread == searches_.scan_threads) {
      shared_.progress = progress;
      shared_.released = shared_.released_thread = -1;
    }
    if (in_progress_warp_ && tours_.until != nullptr) {
      entry_ = now_ % searches_.history_length;
      released_ = released(now_);
    }
    __syncthreads();
    const StoredCity<Integral> own = cities_[position_];
    own_ = own.city();
    for (std::int32_t move = thread; move < searches_.keys(); move += threads) {
      const auto slot = static_cast<std::uint32_t>(move / 4 / searches_.scan_threads * 4 + move % 4);
      keys_[move] = move < tours_.moves ? ScanKey::of(delta_of(move), slot | (tabu(move) ? ScanKey::tabu : 0)) : ScanKey::none;
    }
    __syncthreads();
  }
  __device__ __forceinline__ void store(local_search::SearchProgress& progress) const {
    const std::size_t base = blockIdx.x * static_cast<std::size_t>(n_);
    for (std::int32_t p = lane(); p < n_; p += 32) {
      tours_.tour[base + p] = tour_[p];
      if (unsaved_) tours_.best[base + p] = tour_[p];
    }
    if (lane() == 0) progress = shared_.progress;
  }
  [[nodiscard]] __device__ __forceinline__ bool tabu(std::int32_t move) const {
    return tours_.until != nullptr && *tours_.until_of(blockIdx.x, std::int64_t{move}) > now_;
  }
  /// By one thread, from the cities.
  [[nodiscard]] __device__ __forceinline__ std::int32_t delta_of(std::int32_t move) const {
    std::int32_t i, j;
    positions_of(move, i, j);
    const StoredCity<Integral> at_i = cities_[i], at_j = cities_[j];
    const auto from = [&](const StoredCity<Integral>& city, std::int32_t position) {
      return distance(city.city().point, cities_[wrapped(position, n_)].city().point);
    };
    const std::int32_t added = from(at_i, j - 1) + from(at_i, j + 1) + from(at_j, i - 1) + from(at_j, i + 1);
    const bool neighbours = j == i + 1 || j - i == n_ - 1;  // the edge between them stays
    return added + (neighbours ? 2 * from(at_i, j) : 0) - static_cast<std::int32_t>(at_i.edges + at_j.edges);
  }

  // --- the least swap

  /// Scans this thread's keys, and posts the least of the warp. Returns this thread's least swap regardless of tabu marks.
  [[nodiscard]] __device__ __forceinline__ BestSwap scan_keys() {
    const auto thread = static_cast<std::int32_t>(threadIdx.x);
    if (shared_.released_thread == thread) keys_[shared_.released] &= ~ScanKey::tabu;
    std::uint32_t best = ScanKey::none;
    std::int32_t best_tabu = -1;  // as a signed number above all keys of tabu swaps
    const auto* fours = reinterpret_cast<const uint4*>(keys_) + thread;
    for (std::int32_t round = 0; round < searches_.rounds; ++round) {
#pragma unroll
      for (int k = 0; k < 4; ++k, fours += searches_.scan_threads) {
        const uint4 four = *fours;
        best = min(min(best, four.x), min(four.y, min(four.z, four.w)));
        best_tabu = min(min(best_tabu, static_cast<std::int32_t>(four.x)),
                        min(static_cast<std::int32_t>(four.y), min(static_cast<std::int32_t>(four.z), static_cast<std::int32_t>(four.w))));
      }
    }
    const std::uint32_t unmarked = static_cast<std::uint32_t>(best_tabu) & ~ScanKey::tabu;
    post(best_swap(best), ScanKey::delta(ScanKey::value(unmarked)) < best_value_ - value_);
    return best_swap(min(best & ~ScanKey::tabu, unmarked));
  }
  /// The swap of a key of this thread.
  [[nodiscard]] __device__ __forceinline__ BestSwap best_swap(std::uint32_t key) const {
    const auto slot = static_cast<std::int32_t>(key & ScanKey::slots);
    const std::int32_t move = 4 * (slot / 4 * searches_.scan_threads + static_cast<std::int32_t>(threadIdx.x)) + slot % 4;
    return static_cast<BestSwap>(ScanKey::value(key)) << 32 | static_cast<std::uint32_t>(move);
  }
  /// Posts the least swap of the warp, for all warps to read after a barrier. cuda::block_argmin_for_all() cannot stand here: the progress
  /// warp comes to the barrier without a key, and the word says as well whether a swap aspires.
  __device__ __forceinline__ void post(BestSwap mine, bool aspiring) {
    BestSwap least = cuda::warp_min(mine);
    if (__any_sync(~0u, aspiring)) least |= aspires;
    if (lane() == 0) shared_.posted[parity_][warp()] = least;
  }
  [[nodiscard]] __device__ __forceinline__ BestSwap least_posted(bool& aspiring) {
    const BestSwap posted = shared_.posted[parity_][lane()];
    aspiring = __any_sync(~0u, (posted & aspires) != 0);
    parity_ ^= 1;
    return cuda::warp_min(posted & ~aspires);
  }

  // --- the move

  /// Takes the swap, unless a hill climbing ends here. Returns whether the search goes on.
  [[nodiscard]] __device__ __forceinline__ bool take_move(BestSwap best, bool aspiring, local_search::Method method, std::int64_t limit) {
    const auto move = static_cast<std::int32_t>(best);
    const auto value = static_cast<std::uint32_t>(best >> 32);
    const std::int64_t length = value_ + ScanKey::delta(value);
    unrecorded_ = method != local_search::Method::hill || length < value_;
    positions_of(move, swap_.r, swap_.s);
    if (in_progress_warp_) update_tour(move, length, aspiring || ScanKey::is_tabu(value), method);
    if (!unrecorded_) return false;
    ++now_;
    value_ = length;
    best_value_ = min(best_value_, length);
    return now_ < limit;
  }
  /// Tour, best tour and tabu times; by the progress warp. The rest follows in record_move().
  __device__ __forceinline__ void update_tour(std::int32_t move, std::int64_t length, bool was_tabu, local_search::Method method) {
    if (!unrecorded_) {
      if (lane() == 0) shared_.progress.take({length, move, false}, method);
      return;
    }
    swap_.load_window(cities_);
    if (unsaved_ && length >= best_value_)
      for (std::int32_t p = lane(); p < n_; p += 32) tours_.best[blockIdx.x * static_cast<std::size_t>(n_) + p] = tour_[p];
    unsaved_ = length < best_value_;
    __syncwarp();
    if (lane() == 0) {
      const std::int32_t at_r = tour_[swap_.r], at_s = tour_[swap_.s];
      tour_[swap_.r] = at_s;
      tour_[swap_.s] = at_r;
      if (tours_.until != nullptr) update_tabu(move, was_tabu);
    }
    __syncwarp();
  }
  /// Stores the last swap in cities and progress, while the others scan keys and read no cities; by the progress warp.
  __device__ __forceinline__ void record_move() {
    swap_.store_touched(cities_);
    if (lane() == 0) shared_.progress.take({value_, number(swap_.r, swap_.s), false}, local_search::Method::tabu);
    __syncwarp();
  }

  // --- tabu times, by one thread of the progress warp

  /// The tabu time of the swap taken, and the swap whose time ends.
  __device__ __forceinline__ void update_tabu(std::int32_t move, bool was_tabu) {
    std::int32_t* until = tours_.until_of(blockIdx.x, std::int64_t{move});
    if (was_tabu && *until > now_) history()[(*until - 1 - tenure()) % searches_.history_length] = -1;
    *until = static_cast<std::int32_t>(local_search::tabu_until(now_, tours_.tenure));
    if (released_ == move) released_ = -1;
    history()[entry_] = move;
    shared_.released = released_;
    shared_.released_thread = released_ < 0 ? -1 : released_ / 4 % searches_.scan_threads;
    entry_ = after(entry_);
    released_ = released(now_ + 1);
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t* history() const {
    return searches_.history + blockIdx.x * static_cast<std::size_t>(searches_.history_length);
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t after(std::int32_t entry) const {
    return entry + 1 < searches_.history_length ? entry + 1 : 0;
  }
  /// The swap whose tabu time ends with iteration `now`, which has `entry_`. It was taken history_length - 1 iterations before.
  [[nodiscard]] __device__ __forceinline__ std::int32_t released(std::int32_t now) const {
    return now < tenure() ? -1 : history()[after(entry_)];
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t tenure() const { return static_cast<std::int32_t>(tours_.tenure); }

  // --- the update

  /// Updates the keys of the swaps of touched positions: a lane a position, for the three touched positions of the warp. The swap of two
  /// touched positions belongs to the first; a position near both r and s counts as near r.
  __device__ __forceinline__ void update_keys(BestSwap best, local_search::Method method) {
    swap_.load_window(cities_);
    std::int32_t moves[3];
    std::uint32_t marks[3]{};
    bool valid[3];
    const bool touched = swap_.touches(position_);
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const std::int32_t other = swap_.window_position(window_ + 1 + k);
      valid[k] = lane() >= 1 && lane() <= warp_positions && first_ + lane() - 1 < n_ &&
                 (touched ? position_ < other : position_ != other) && (window_ == 0 || !swap_.near_r(other));
      moves[k] = number(min(position_, other), max(position_, other));
      if (valid[k]) marks[k] = keys_[moves[k]] & (ScanKey::tabu | ScanKey::slots);
    }
    own_ = swap_.swapped(own_, position_, touched);
    std::int32_t deltas[3];
    swap_deltas<3>(stretch_of<3>(swap_.window, window_), window_ == 0 ? swap_.r : swap_.s, own_, position_, n_, deltas);
    const std::uint32_t mark = method == local_search::Method::tabu ? ScanKey::tabu : 0;
#pragma unroll
    for (int k = 0; k < 3; ++k)
      if (valid[k]) keys_[moves[k]] = ScanKey::of(deltas[k], marks[k] | (moves[k] == static_cast<std::int32_t>(best) ? mark : 0));
    __syncwarp();
  }

  const ScanSearches<Integral>& searches_;
  const Tours<Integral>& tours_;
  const std::int32_t n_;
  const bool in_progress_warp_;
  SharedLayout& shared_;
  std::uint32_t* const keys_;           ///< [swap]
  StoredCity<Integral>* const cities_;  ///< [position]
  std::int32_t* const tour_;            ///< [position]: city
  std::int32_t now_ = 0;                ///< the next iteration
  std::int64_t value_ = 0, best_value_ = 0;
  CitySwap<Integral> swap_;            ///< the last
  const std::int32_t first_, window_;  ///< the warp's first position in update_keys(), and its half of the window
  const std::int32_t position_;        ///< of this lane
  City<Integral> own_{};               ///< at this position
  std::int32_t entry_ = 0;             ///< of the next iteration in history()
  std::int32_t released_ = -1;         ///< the swap that ceases to be tabu with the next iteration
  std::int32_t parity_ = 0;
  bool unrecorded_ = false;  ///< the last swap is not yet in cities and progress
  bool unsaved_ = false;     ///< the tour is the best, and not yet saved as such
};

/// Mapping: a block a search; a scan thread every scan_threads-th group of four swaps.
template <bool Integral>
__global__ void __launch_bounds__(most_threads<Integral>, 1)
    tsp_scan_kernel(const __grid_constant__ ScanSearches<Integral> searches, local_search::SearchProgress* all_progress,
                    local_search::Method method, std::int64_t limit) {
  extern __shared__ __align__(16) unsigned char scan_shared[];
  local_search::SearchProgress& progress = all_progress[blockIdx.x];
  if (progress.done(limit)) return;
  ScanSearch<Integral>(searches, scan_shared).run(progress, method, limit);
}

// --- launch ------------------------------------------------------------------------------------------------------------------

struct ScanPolicy {
  std::int32_t scan_threads = 0, rounds = 0;  ///< see ScanSearches
  std::int64_t history_length = 0;            ///< iterations whose swaps may be tabu at the same time, and one more
  std::int32_t coordinate_bits = 0;
  std::size_t shared_bytes = 0;
  std::int64_t batch_size = 0;  ///< searches at the same time

  [[nodiscard]] std::int32_t threads() const { return scan_threads + 32; }
  [[nodiscard]] Policy record() const {
    return {{"blocks", 1},
            {"threads", threads()},
            {"moves_a_thread", round_swaps * rounds},
            {"coordinate_bits", coordinate_bits},
            {"shared_bytes", static_cast<std::int64_t>(shared_bytes)},
            {"together", batch_size}};
  }
};

/// As few warps as keep up with the updates, one task of which each has at most: few are faster (measured on an H100). None where there are
/// too many cities, deltas do not fit ScanKey, a search does not fit a block, or the history is too long.
template <bool Integral>
[[nodiscard]] std::optional<ScanPolicy> scan_policy(const local_search::TspSwap& neighborhood, const local_search::Task& task) {
  constexpr std::int64_t most_warps = most_threads<Integral> / 32 - 1, most_rounds = (ScanKey::slots + 1) / round_swaps,
                         most_history = std::int64_t{1} << 20;
  const tsp::View tsp = neighborhood.instance().view();
  const auto [low_x, high_x] = std::minmax_element(tsp.x, tsp.x + tsp.n);
  const auto [low_y, high_y] = std::minmax_element(tsp.y, tsp.y + tsp.n);
  const double longest = std::hypot(*high_x - *low_x, *high_y - *low_y) + 1;
  const std::int64_t moves = neighborhood.moves(), items = divide_up(moves, round_swaps * 32);  // an item is what a warp scans in a round
  const std::int64_t tasks = update_warps(tsp.n);

  ScanPolicy policy;
  policy.rounds =
      static_cast<std::int32_t>(std::clamp<std::int64_t>(std::max(items / tasks, divide_up(items, most_warps)), 1, most_rounds));
  policy.scan_threads = static_cast<std::int32_t>(32 * std::max(tasks, divide_up(items, policy.rounds)));
  if (task.method == local_search::Method::tabu) policy.history_length = std::min(local_search::tenure_of(task, moves) + 1, task.limit());
  policy.coordinate_bits = Integral ? 16 : 64;
  policy.shared_bytes = shared_bytes<Integral>(tsp.n, round_swaps * policy.rounds * policy.scan_threads);
  policy.batch_size = std::min<std::int64_t>(task.restarts, cuda::multiprocessors());
  const bool fits = tsp.n <= most_cities && 4 * longest < ScanKey::limit - 1 && policy.history_length <= most_history &&
                    policy.threads() <= most_threads<Integral> && policy.shared_bytes <= cuda::most_shared();
  return fits ? std::optional(policy) : std::nullopt;
}

/// A SearchEngine (kernels/lsm/device_searches.cuh).
template <bool Integral>
class ScanEngine {
 public:
  using Neighborhood = local_search::TspSwap;
  using State = local_search::SearchState<Neighborhood>;

  ScanEngine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream),
        method_(task.method),
        policy_(scan_policy<Integral>(neighborhood, task).value()),
        memory_(neighborhood, task, policy_.batch_size, stream),
        history_(static_cast<std::size_t>(policy_.batch_size * policy_.history_length)),
        searches_{memory_.view(), history_.data(), static_cast<std::int32_t>(policy_.history_length), policy_.scan_threads,
                  policy_.rounds} {
    cuda::allow_shared(tsp_scan_kernel<Integral>, policy_.shared_bytes);
  }

  [[nodiscard]] std::int64_t batch_size() const { return policy_.batch_size; }

  void begin(const std::vector<State>& states) {
    count_ = static_cast<unsigned>(states.size());
    memory_.begin(states);
  }
  void launch(local_search::SearchProgress* all_progress, std::int64_t limit) {
    tsp_scan_kernel<Integral><<<count_, static_cast<unsigned>(policy_.threads()), policy_.shared_bytes, stream_.get()>>>(
        searches_, all_progress, method_, limit);
    VICINITY_CUDA_CHECK(cudaGetLastError());
  }
  void finish(std::vector<State::Result>& searches) { memory_.finish(searches); }
  void poison() {
    memory_.poison();
    history_.fill(0xA5, stream_);
  }
  [[nodiscard]] static Ceiling synchronization() { return Ceiling::block_barrier; }
  [[nodiscard]] Policy policy() const { return policy_.record(); }

 private:
  const cuda::Stream& stream_;
  const local_search::Method method_;
  const ScanPolicy policy_;
  TourMemory<Integral> memory_;
  cuda::DeviceBuffer<std::int32_t> history_;
  const ScanSearches<Integral> searches_;
  unsigned count_ = 0;  ///< searches under way
};

template <bool Integral>
[[nodiscard]] std::unique_ptr<Run> run_of(const local_search::TspSwap& neighborhood, const local_search::Task& task) {
  if (!scan_policy<Integral>(neighborhood, task)) return nullptr;
  return std::make_unique<DeviceRun<ScanEngine<Integral>>>(neighborhood, task);
}

}  // namespace

std::unique_ptr<Run> tsp_scan_run(const local_search::TspSwap& neighborhood, const local_search::Task& task) {
  return neighborhood.instance().integral() ? run_of<true>(neighborhood, task) : run_of<false>(neighborhood, task);
}

}  // namespace vicinity::lsm
