// Implementation `gpu-portfolio`: the rounds of cpu-portfolio, a tabu search a block, four blocks a multiprocessor up to N = 100.
//
// Problem: core/methods/sa/portfolio.hpp. What a thread does: search.hpp.
// Data layout: keys of pairs in registers; matrices, tabu times and the last swap in the shared memory of the block. Where that is too
// small (bytes from about N = 235 on, words from N = 129 on, or 112 where they are asymmetric), tabu times and matrices are in device
// memory, and the policy says so. Starts come from the host and results go there as one array each. Phases: a launch makes a round. While
// it is under way the host takes in what the round before handed back, makes the starts of the next, copies them by a stream of their own
// and launches it behind the one under way, so that the device goes from round to round by itself. Synchronisation: three block barriers
// an iteration; blocks share nothing. The word to stop is in device memory and looked at every `iterations_between_looks` iterations; a
// search that it ends begins anew when the run goes on, so that it decides nothing. Cost of an iteration, where factors are packed: n^2 / 2
// keys, each an inner product of four bytes and two minima of three numbers for two of them. Else a key is a product, two differences and
// two halves of a minimum. Touched pairs: of bytes 4 n^2 products on the matrix units, of words 3 n^2 a side. Bytes: matrices are read once
// from shared memory, 2 n^2; nothing from device memory but a word to stop. What limits it are instructions and waits at barriers alike:
// at n = 100, of bytes, three fifths of the issue slots are taken, and more than a third of the waits are at barriers (H200).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/interruption.hpp"
#include "core/util/parallel.hpp"
#include "kernels/cuda/collective/warp.cuh"
#include "kernels/cuda/runtime/arrays.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/runtime/memory.cuh"
#include "kernels/cuda/runtime/stop.cuh"
#include "kernels/cuda/runtime/stream.cuh"
#include "kernels/run/search_run.cuh"
#include "kernels/sa/portfolio/portfolio.hpp"
#include "kernels/sa/portfolio/search.hpp"

namespace vicinity::sa {
namespace tabu {
namespace {

// --- on the device -------------------------------------------------------------------------------------------------------

constexpr std::int32_t iterations_between_looks = 64, most_warps = 32;

/// What a launch works on.
template <class N>
struct Searches {
  using Entry = typename N::Entry;

  std::int32_t n, width, pitch;
  const Entry* a[N::sides];           ///< [n][pitch], and the transpose
  const Entry* b[N::sides];           ///< the same of B
  Entry* permuted;                    ///< [search][side][n][pitch], where shared memory is too small
  std::uint16_t* until;               ///< [search][n][n], likewise
  const std::int32_t* starts;         ///< [search][n]
  const std::int64_t* costs;          ///< [search]: of the starts
  std::int32_t* best;                 ///< [search][n]
  std::int64_t* best_costs;           ///< [search]
  std::int32_t* done;                 ///< [search] 1: it has made this round
  const volatile std::int32_t* stop;  ///< not 0: all are to end
  std::uint64_t seed;
  std::int64_t round;
  std::int32_t steps;
};

/// Shared memory of a block, one array after the other.
template <class N, bool Shared>
struct Layout {
  using Delta = typename N::Delta;
  using Key = typename Keys<Delta>::Key;

  Board<N> board{};
  Key* least;           ///< [warp]
  std::uint32_t* pair;  ///< [iteration & 1]

  __host__ __device__ __forceinline__ Layout(std::byte* memory, const Searches<N>& searches) : end_(memory) {
    const std::int32_t n = searches.n;
    board.n = n;
    board.width = searches.width;
    board.pitch = searches.pitch;
    if constexpr (N::packed) cuda::take(end_, board.factors, searches.width);
    for (int side = 0; side < N::sides && !N::packed; ++side) {
      cuda::take(end_, board.d[side], searches.width);
      cuda::take(end_, board.e[side], searches.width);
    }
    for (Key*& fresh : board.fresh) cuda::take(end_, fresh, searches.width);
    for (std::int32_t*& expiry : board.expiry) cuda::take(end_, expiry, searches.width);
    cuda::take(end_, least, most_warps);
    cuda::take(end_, pair, 2);
    cuda::take(end_, board.p, n);
    for (int side = 0; side < N::sides; ++side) {
      board.a[side] = searches.a[side];
      if constexpr (!Shared) continue;
      typename N::Entry* a;
      cuda::take(end_, a, n * searches.pitch);
      board.a[side] = a;
      cuda::take(end_, board.b[side], n * searches.pitch);
    }
    if constexpr (Shared) cuda::take(end_, board.until, n * n);
  }
  [[nodiscard]] static std::size_t bytes(const Searches<N>& searches) {
    return static_cast<std::size_t>(Layout(nullptr, searches).end_ - static_cast<std::byte*>(nullptr));
  }

 private:
  std::byte* end_;
};

/// Matrices, permutation and tabu times as they are before the first iteration.
template <class N, bool Shared>
__device__ __forceinline__ void begin_board(const Layout<N, Shared>& layout, const Searches<N>& searches, std::size_t search) {
  const Board<N>& board = layout.board;
  const std::int32_t n = board.n, thread = static_cast<std::int32_t>(threadIdx.x), threads = static_cast<std::int32_t>(blockDim.x);
  const std::int32_t* start = searches.starts + search * static_cast<std::size_t>(n);
  for (std::int32_t x = thread; x < n; x += threads) board.p[x] = start[x];
  for (std::int32_t k = thread; k < n * n; k += threads) board.until[k] = 0;
  for (std::int32_t x = thread; x < board.width; x += threads) {
    board.fresh[0][x] = board.fresh[1][x] = Keys<typename N::Delta>::none;
    board.expiry[0][x] = board.expiry[1][x] = never;
    if constexpr (N::packed)
      board.factors[x] = 0;
    else
      for (int side = 0; side < N::sides; ++side) board.d[side][x] = board.e[side][x] = 0;
  }
  if (thread < 2) layout.pair[thread] = no_pair;
  for (int side = 0; side < N::sides; ++side)
    for (std::int32_t k = thread; k < n * board.pitch; k += threads) {
      const std::int32_t i = k / board.pitch, j = k - i * board.pitch;
      if constexpr (Shared) const_cast<typename N::Entry*>(board.a[side])[k] = searches.a[side][k];
      board.b[side][k] = j < n ? searches.b[side][board.at(start[i], start[j])] : typename N::Entry{0};
    }
}

#if __CUDA_ARCH__ >= 800
/// Four matrices of 8 rows and 16 bytes, of which lane l says where row l % 8 of matrix l / 8 begins: in shared memory, less `Offset`.
template <int Offset>
__device__ __forceinline__ void load_matrices(std::uint32_t row, std::uint32_t (&to)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4 + %5];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row), "n"(Offset));
}
/// sum += 16 rows (those of `low` and `high`, 8 each) times 8 columns, over 16 bytes.
__device__ __forceinline__ void add_products(std::uint32_t (&sum)[4], std::uint32_t low, std::uint32_t high, std::uint32_t column) {
  asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(low), "r"(high), "r"(column));
}
#endif
/// Of facility x, which is the number of the thread, where all threads of the warp ask. On the matrix units, where matrices are in shared
/// memory: the facilities of the warp are two times 16 rows, r and s the columns in turns. So each lane of four has columns r and s of the
/// same four rows, of which it hands on one.
template <bool Shared, class N>
__device__ __forceinline__ RowProducts row_products_of(const Board<N>& board, const Swap& swap, std::int32_t x) {
  const std::int32_t lane = x % 32, last = board.n - 1;
  RowProducts products;
  std::uint32_t own[2]{};
#pragma unroll 1
  for (std::int32_t k = 4 * lane; k < board.n; k += 128)
    unrolled<2>([&](int c) {
      const std::uint32_t at = board.at(c == 0 ? swap.r : swap.s, k);
      own[c] = dot(word(board.a[0] + at), word(board.b[0] + at), own[c]);
    });
  unrolled<2>([&](int c) { products.own[c] = cuda::warp_sum(static_cast<std::int32_t>(own[c])); });
#if __CUDA_ARCH__ >= 800
  if constexpr (Shared) {
    const std::uint32_t row = board.at(x < last ? x : last, 0), column = board.at(lane / 4 % 2 == 0 ? swap.r : swap.s, lane % 4 * 4);
    const auto address = [](const std::uint8_t* of) { return static_cast<std::uint32_t>(__cvta_generic_to_shared(of)); };
    std::uint32_t rows[2]{address(board.a[0] + row), address(board.b[0] + row)};
    const std::uint8_t* columns[2]{board.b[0] + column, board.a[0] + column};
    std::uint32_t sum[2][4]{};  // [half of the rows]
    const auto add = [&]<int Offset>() {
      unrolled<2>([&](int m) {
        std::uint32_t part[4];
        load_matrices<Offset>(rows[m], part);
        const std::uint32_t four = word(columns[m] + Offset);
        unrolled<2>([&](int half) { add_products(sum[half], part[2 * half], part[2 * half + 1], four); });
      });
    };
#pragma unroll 1
    for (std::int32_t left = board.n; left > 0; left -= 64) {
      add.template operator()<0>();
      if (left > 16) add.template operator()<16>();
      if (left > 32) add.template operator()<32>();
      if (left > 48) add.template operator()<48>();
      unrolled<2>([&](int m) {
        rows[m] += 64;
        columns[m] += 64;
      });
    }
    // Lane l has rows l / 4 + 8 j, j = 0 .. 3, hands on that of j = l % 4, and is asked by the lane of this number.
    unrolled<2>([&](int c) {
      std::uint32_t mine = 0;
      unrolled<4>([&](int j) { mine = lane % 4 == j ? sum[j / 2][j % 2 * 2 + c] : mine; });
      products.with[c] = __shfl_sync(~0u, mine, lane % 8 * 4 + lane / 8);
    });
    return products;
  }
#endif
  if (x <= last) {
    products.with[0] = row_product(board, x, swap.r) + row_product(board, swap.r, x);
    products.with[1] = row_product(board, x, swap.s) + row_product(board, swap.s, x);
  }
  return products;
}

/// Mapping: a search a block; those that are done are left out. Phases: search.hpp. Synchronisation: three block barriers an iteration.
template <class N, int Rows, bool Shared, int Threads, int Blocks>
__global__ void __launch_bounds__(Threads, Blocks) tabu_kernel(const __grid_constant__ Searches<N> searches) {
  using K = Keys<typename N::Delta>;
  using Key = typename K::Key;
  extern __shared__ __align__(16) std::byte memory[];
  const std::size_t search = blockIdx.x;
  const auto n = static_cast<std::size_t>(searches.n);
  const auto thread = static_cast<std::int32_t>(threadIdx.x);
  const std::int32_t warps = static_cast<std::int32_t>(blockDim.x) / 32, lane = thread % 32;
  std::int64_t cost = searches.costs[search], best = cost;
  Layout<N, Shared> layout(memory, searches);
  Board<N>& board = layout.board;
  board.best = searches.best + search * n;
  if (searches.done[search] != 0) return;
  if constexpr (!Shared) {
    const std::size_t size = n * static_cast<std::size_t>(searches.pitch);
    for (int side = 0; side < N::sides; ++side) board.b[side] = searches.permuted + (search * N::sides + side) * size;
    board.until = searches.until + search * n * n;
  }
  begin_board(layout, searches, search);
  __syncthreads();
  Thread<N, Rows> mine(board, thread, static_cast<std::int32_t>(blockDim.x));
  mine.begin(board);

  Swap swap;
  bool improved = true, stopped = false;
  for (std::int32_t t = 1; t <= searches.steps; ++t) {
    if (t % iterations_between_looks == 1 && __syncthreads_or(thread == 0 && *searches.stop != 0 ? 1 : 0) != 0) {
      stopped = true;
      break;
    }
    const Key aspiration = K::aspiration((best - cost) / N::unit);
    RowProducts products;
    if constexpr (N::bytes)
      if (swap.r >= 0 && thread - lane < board.n) products = row_products_of<Shared>(board, swap, thread);
    const Key of_warp = cuda::warp_min(mine.evaluate(board, t, swap, products, aspiration, improved));
    portfolio::Tenures tenures{};
    if (mine.is_last()) tenures = portfolio::tenures(searches.seed, searches.round, static_cast<std::int32_t>(search), t, board.n);
    if (lane == 0) layout.least[thread / 32] = of_warp;
    __syncthreads();
    const Key least = cuda::warp_min(lane < warps ? layout.least[lane] : ~Key{0});
    if (mine.has(least)) atomicMin(&layout.pair[t & 1], mine.find(swap, least, aspiration));
    __syncthreads();
    const Swap next = swap_of(layout.pair[t & 1]);
    cost += N::unit * static_cast<std::int64_t>(K::delta(least));
    improved = cost < best;
    if (improved) best = cost;
    if (thread == 0) layout.pair[(t + 1) & 1] = no_pair;
    mine.take(board, t, swap, next, tenures);
    swap = next;
    __syncthreads();
  }
  if (improved && thread < board.n) board.best[thread] = board.p[thread];
  if (thread != 0) return;
  searches.best_costs[search] = best;
  searches.done[search] = stopped ? 0 : 1;
}

// --- on the host ---------------------------------------------------------------------------------------------------------

/// A kernel and how it is launched for an instance.
template <class N>
struct Choice {
  void (*kernel)(Searches<N>);
  std::int32_t rows, threads, most_threads;
  bool shared;
  std::size_t bytes;

  template <int Rows, bool Shared, int Threads, int Blocks>
  [[nodiscard]] static Choice of(Searches<N> searches) {
    const Division division{searches.n, Rows};
    searches.width = division.width();
    return {tabu_kernel<N, Rows, Shared, Threads, Blocks>, Rows, division.threads(), Threads, Shared, Layout<N, Shared>::bytes(searches)};
  }
  [[nodiscard]] bool fits() const { return threads <= most_threads && bytes <= cuda::most_shared(); }
};
/// The first that fits: several blocks a multiprocessor, shared memory before device memory.
template <class N>
[[nodiscard]] std::optional<Choice<N>> choice(const Searches<N>& searches) {
  using C = Choice<N>;
  std::vector<C> all;
  if constexpr (N::bytes) {
    all = {C::template of<16, true, 160, 4>(searches), C::template of<16, true, 256, 4>(searches),
           C::template of<24, true, 256, 4>(searches), C::template of<48, true, 256, 3>(searches),
           C::template of<48, true, 384, 2>(searches), C::template of<48, true, 704, 1>(searches),
           C::template of<48, false, 832, 1>(searches)};
  } else if constexpr (sizeof(typename N::Delta) == 4) {
    all = {C::template of<16, true, 576, 1>(searches), C::template of<32, false, 1024, 1>(searches),
           C::template of<48, false, 832, 1>(searches)};
  } else {
    all = {C::template of<16, true, 576, 1>(searches), C::template of<16, false, 576, 1>(searches),
           C::template of<48, false, 832, 1>(searches)};
  }
  const auto first = std::find_if(all.begin(), all.end(), [](const C& one) { return one.fits(); });
  return first == all.end() ? std::nullopt : std::optional<C>(*first);
}

/// Symmetric, entries from 0 to 127, no diagonal?
[[nodiscard]] bool packs(const qap::Qap& qap) {
  const auto view = qap.view();
  bool fits = qap.symmetric() && qap.bytes();
  for (std::int32_t i = 0; i < qap.size() && fits; ++i) {
    fits = view.a_at(i, i) == 0 && view.b_at(i, i) == 0;
    for (std::int32_t j = 0; j < i && fits; ++j) fits = view.a_at(i, j) < 128 && view.b_at(i, j) < 128;
  }
  return fits;
}

/// The one portfolio of a case, for the driver (kernels/run/search_run.cuh). Its iterations are swaps, of which a round makes many.
template <class N>
class Rounds {
 public:
  static constexpr std::int64_t first_slice = 1;

  Rounds(const qap::Qap& qap, const portfolio::Task& task)
      : qap_(qap),
        task_(task),
        n_(static_cast<std::size_t>(qap.size())),
        count_(static_cast<std::size_t>(task.searches)),
        slots_{Slot(count_, n_), Slot(count_, n_)} {
    searches_.n = qap.size();
    searches_.pitch = Board<N>::pitch_of(qap.size());
    const auto chosen = tabu::choice<N>(searches_);
    if (!chosen)
      throw DoesNotFit("gpu-portfolio takes up to " + std::to_string(portfolio::most_on_gpu) + " facilities, cpu-portfolio more");
    choice_ = *chosen;
    searches_.width = Division{qap.size(), choice_.rows}.width();
    const auto view = qap.view();
    for (int side = 0; side < N::sides; ++side) {
      searches_.a[side] = upload(view.a, side == 1);
      searches_.b[side] = upload(view.b, side == 1);
    }
    if (!choice_.shared) {
      permuted_ = cuda::DeviceBuffer<typename N::Entry>(count_ * N::sides * n_ * static_cast<std::size_t>(searches_.pitch));
      until_ = cuda::DeviceBuffer<std::uint16_t>(count_ * n_ * n_);
    }
    searches_.permuted = permuted_.data();
    searches_.until = until_.data();
    searches_.stop = stop_.word();
    cuda::allow_shared(choice_.kernel, choice_.bytes);
  }

  [[nodiscard]] static std::int64_t count() { return 1; }
  [[nodiscard]] static std::int64_t batch_size() { return 1; }
  [[nodiscard]] std::int64_t most_iterations() const { return task_.swaps; }

  void reset(const Start& start) {
    population_.emplace(qap_, task_, start);
    searches_.seed = start.seed;
    begun_ = false;
    limit_ = 0;
    seconds_ = 0;
    permuted_.fill(0xA5, stream_);
    until_.fill(0xA5, stream_);
    stream_.synchronize();
    for (Slot& slot : slots_) slot.poison(up_);
    const auto start_of = [&](std::size_t b) -> const qap::Permutation& { return population_->start_of(static_cast<std::int32_t>(b)); };
    stage(slots_[0], start_of);
  }
  void begin(std::int64_t, std::int64_t) { begun_ = true; }
  void launch(std::int64_t limit) { limit_ = limit; }
  [[nodiscard]] bool wait() { return search(Interruption()); }
  /// Searches that are under way when the flag rises begin anew when the run goes on. The best of what they found counts.
  [[nodiscard]] bool wait(const std::atomic<bool>& stop) { return search(Interruption(&stop)); }
  [[nodiscard]] TracePoint progress() const {
    return {.iterations = population_->swaps(), .objective = population_->best().cost, .digest = population_->digest()};
  }
  [[nodiscard]] Objective best() const { return population_->best().cost; }
  [[nodiscard]] Outcome judge(bool) const {
    return portfolio::judge(qap_, begun_ ? std::vector{portfolio::result_of(*population_)} : std::vector<portfolio::Result>{});
  }
  /// The device's time, and what the host did while it waited.
  [[nodiscard]] Times times(double seconds) const {
    return {{Part::kernel, {seconds_, TimeSource::device}}, {Part::host, {seconds - seconds_, TimeSource::host}}};
  }
  [[nodiscard]] Policy policy() const {
    return {{"searches", task_.searches},
            {"threads", choice_.threads},
            {"rows_a_thread", choice_.rows},
            {"shared_bytes", static_cast<std::int64_t>(choice_.bytes)},
            {"matrices_in_device_memory", choice_.shared ? 0 : 1},
            {"packed_factors", N::packed ? 1 : 0},
            {"entry_bits", 8 * sizeof(typename N::Entry)},
            {"key_bits", 8 * sizeof(typename N::Delta)}};
  }
  /// No limit of the work is known that would bind another design, too.
  [[nodiscard]] static Work work() { return {}; }

 private:
  using Entry = typename N::Entry;

  /// What a round has, on the device and in page-locked memory: one is under way while the host is at the others.
  struct Slot {
    /// An array here and there.
    template <class T>
    struct Both {
      explicit Both(std::size_t size) : host(size), device(size) {}
      cuda::HostBuffer<T> host;
      cuda::DeviceBuffer<T> device;

      void up(const cuda::Stream& stream) { copy(device.data(), host.data(), host.size(), stream); }
      void down(const cuda::Stream& stream) { copy(host.data(), device.data(), host.size(), stream); }
    };

    Slot(std::size_t count, std::size_t n) : starts(count * n), best(count * n), costs(count), best_costs(count), done(count) {}
    void poison(const cuda::Stream& stream) {
      best.device.fill(0xA5, stream);
      best_costs.device.fill(0xA5, stream);
      under_way = false;
    }

    Both<std::int32_t> starts, best;
    Both<std::int64_t> costs, best_costs;
    Both<std::int32_t> done;
    cuda::Event staged, started, ended, handed;
    bool under_way = false;  ///< launched, and not known to have ended
  };

  const Entry* upload(const std::int32_t* matrix, bool transposed) {
    const auto pitch = static_cast<std::size_t>(searches_.pitch);
    std::vector<Entry> padded(n_ * pitch);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) padded[i * pitch + j] = static_cast<Entry>(matrix[transposed ? j * n_ + i : i * n_ + j]);
    return matrices_.emplace_back(std::span<const Entry>(padded)).data();
  }
  template <class T>
  static void copy(T* to, const T* from, std::size_t count, const cuda::Stream& stream) {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault, stream.get()));
  }
  /// What follows on the stream waits for the event.
  static void follow(const cuda::Stream& stream, const cuda::Event& event) {
    VICINITY_CUDA_CHECK(cudaStreamWaitEvent(stream.get(), event.get(), 0));
  }

  bool search(const Interruption& interruption) {
    while (!done() && population_->swaps() < limit_ && made(interruption)) merge();
    return done();
  }
  [[nodiscard]] bool done() const { return population_->swaps() >= task_.swaps; }
  /// So many rounds from this one on.
  [[nodiscard]] Slot& slot(std::int64_t ahead) { return slots_[static_cast<std::size_t>((population_->rounds() + ahead) % 2)]; }
  /// The searches make their round. Behind it on the device is the next one, whose starts are there before this one ends, so that the
  /// device waits for nothing of the host. False: interrupted.
  [[nodiscard]] bool made(const Interruption& interruption) {
    portfolio::Population& population = *population_;
    Slot &now = slot(0), &next = slot(1);
    launch(now, population.rounds());
    population.make_next([&](std::size_t, const auto& make) {
      const auto start_of = [&](std::size_t b) -> const qap::Permutation& {
        make(b);
        return population.next_start_of(b);
      };
      stage(next, start_of);
    });
    const std::int64_t swaps = population.swaps() + task_.searches * population.steps();
    if (swaps < std::min(limit_, task_.swaps)) launch(next, population.rounds() + 1);
    wait(now, interruption);
    seconds_ += now.ended.seconds_since(now.started);
    for (std::size_t b = 0; b < count_; ++b)
      if (now.done.host[b] == 0) {
        offer_some();
        return false;
      }
    return true;
  }
  /// The starts of a round go to the device: start_of(b) of search b. By copies alone, which no kernel holds up.
  template <class StartOf>
  void stage(Slot& slot, const StartOf& start_of) {
    in_parallel(count_, [&](std::size_t b) {
      const qap::Permutation& start = start_of(b);
      std::copy(start.begin(), start.end(), slot.starts.host.data() + b * n_);
      slot.costs.host[b] = qap::cost(qap_, start);
    });
    slot.starts.up(up_);
    slot.costs.up(up_);
    std::fill_n(slot.done.host.data(), count_, 0);
    slot.done.up(up_);
    slot.staged.record(up_);
  }
  void launch(Slot& slot, std::int64_t round) {
    if (slot.under_way) return;
    searches_.round = round;
    searches_.steps = population_->steps();
    searches_.starts = slot.starts.device.data();
    searches_.costs = slot.costs.device.data();
    searches_.best = slot.best.device.data();
    searches_.best_costs = slot.best_costs.device.data();
    searches_.done = slot.done.device.data();
    follow(stream_, slot.staged);
    slot.started.record(stream_);
    const cuda::Shape shape{.blocks = task_.searches, .threads = choice_.threads, .shared_bytes = choice_.bytes};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream_, choice_.kernel, searches_));
    slot.ended.record(stream_);
    follow(down_, slot.ended);
    slot.best.down(down_);
    slot.best_costs.down(down_);
    slot.done.down(down_);
    slot.handed.record(down_);
    slot.under_way = true;
  }
  /// Until what the slot hands back is there. When the flag rises meanwhile, all rounds end before.
  void wait(Slot& slot, const Interruption& interruption) {
    if (interruption.flag() != nullptr) {
      while (cudaEventQuery(slot.handed.get()) == cudaErrorNotReady && !interruption.wanted())
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (interruption.wanted()) {
        stop_.set(1);
        stream_.synchronize();
        down_.synchronize();
        stop_.set(0);
        for (Slot& one : slots_) one.under_way = false;
        return;
      }
    }
    VICINITY_CUDA_CHECK(cudaEventSynchronize(slot.handed.get()));
    slot.under_way = false;
  }
  [[nodiscard]] portfolio::Elite handed(std::size_t b) {
    const Slot& now = slot(0);
    const std::int32_t* const p = now.best.host.data() + b * n_;
    return {now.best_costs.host[b], qap::Permutation(p, p + n_)};
  }
  /// The best of a round that was interrupted.
  void offer_some() {
    for (std::size_t b = 0; b < count_; ++b)
      if (slot(0).best_costs.host[b] < population_->best().cost) population_->offer(handed(b));
  }
  void merge() {
    std::vector<portfolio::Elite> all(count_);
    for (std::size_t b = 0; b < count_; ++b) all[b] = handed(b);
    population_->merge(std::move(all));
  }

  const qap::Qap& qap_;
  portfolio::Task task_;
  std::size_t n_, count_;
  cuda::Stream stream_, up_, down_;  ///< of searches, and of copies in both directions
  Searches<N> searches_{};
  Choice<N> choice_{};
  std::optional<portfolio::Population> population_;
  std::vector<cuda::DeviceBuffer<Entry>> matrices_;
  cuda::DeviceBuffer<Entry> permuted_;
  cuda::DeviceBuffer<std::uint16_t> until_;
  Slot slots_[2];  ///< of even rounds, and of odd ones
  cuda::StopSignal stop_;
  bool begun_ = false;
  std::int64_t limit_ = 0;
  double seconds_ = 0;  ///< on the clock of the device
};

}  // namespace
}  // namespace tabu

std::unique_ptr<Run> prepare_portfolio_on_gpu(const Case& c, const Instance& instance) {
  using namespace tabu;
  const auto& qap = dynamic_cast<const qap::Qap&>(instance);
  const portfolio::Task task = portfolio::task_of(c, qap.size());
  const auto run = [&]<class N>(N) -> std::unique_ptr<Run> { return std::make_unique<DeviceSearchRun<Rounds<N>>>(qap, task); };
  const bool narrow = qap.delta_bound() < Keys<std::int32_t>::limit;
  if (qap.delta_bound() >= Keys<std::int64_t>::limit) throw DoesNotFit("gpu-portfolio takes deltas of up to 59 bits");
  if (narrow && qap.symmetric()) {
    if (packs(qap)) return run(Numbers<std::uint8_t, std::int32_t, 1, true>{});
    if (qap.bytes()) return run(Numbers<std::uint8_t, std::int32_t, 1>{});
    return run(Numbers<std::int32_t, std::int32_t, 1>{});
  }
  if (narrow) return run(Numbers<std::int32_t, std::int32_t, 2>{});
  if (qap.symmetric()) return run(Numbers<std::int32_t, std::int64_t, 1>{});
  return run(Numbers<std::int32_t, std::int64_t, 2>{});
}

}  // namespace vicinity::sa
