#pragma once
// A tabu search or hill climbing of the QAP by the whole grid, for instances that do not fit one block
// (kernels/lsm/tuned/qap/qap_block.cuh). F and its transpose lie in device memory; a block has whole rows, and its own copy of all vectors.
#include <cstddef>
#include <cstdint>
#include <cuda/atomic>

#include "core/methods/lsm/search.hpp"
#include "kernels/lsm/tuned/qap/qap_block.cuh"

namespace vicinity::lsm {

/// What a block tells the others of its best pair, i < j.
template <class Delta>
struct alignas(16) QapReport {
  QapFound<std::uint64_t> found;  ///< value: whether forbidden, and delta
  std::int32_t pi, pj;            ///< where i and j lie
  Delta ij, ji;                   ///< F[i][j], F[j][i]
  std::uint32_t step;             ///< of which this is the report; 0: none yet

  [[nodiscard]] static __device__ __forceinline__ std::uint64_t value(bool forbidden, std::int64_t delta) {
    return std::uint64_t{forbidden} << 63 | (static_cast<std::uint64_t>(delta) + bias);
  }
  [[nodiscard]] __device__ __forceinline__ std::int64_t delta() const {
    return static_cast<std::int64_t>(found.value & ~(std::uint64_t{1} << 63)) - static_cast<std::int64_t>(bias);
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t i() const { return static_cast<std::int32_t>(found.pair >> 16); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t j() const { return static_cast<std::int32_t>(found.pair & 0xFFFFu); }

 private:
  static constexpr std::uint64_t bias = std::uint64_t{1} << 62;  ///< deltas are at most 2^61 in magnitude
};

/// How the grid is shared out: blocks have the rows that are their number modulo `blocks`, `groups` of them at a time, `lanes` threads a
/// row; a warp more keeps the progress.
struct QapGridPolicy {
  static constexpr std::int32_t most_threads = 1024, clerks = 32;

  std::int32_t n, blocks, rows, lanes, groups;

  QapGridPolicy(std::int32_t size, std::int32_t multiprocessors)
      : n(size), blocks(std::min(size, multiprocessors)), rows(divide_up(size, blocks)) {
    lanes = std::min(most_threads - clerks, divide_up(n, 32) * 32);
    groups = std::max(1, std::min(rows, (most_threads - clerks) / lanes));
  }
  [[nodiscard]] __host__ __device__ std::int32_t workers() const { return lanes * groups; }
  [[nodiscard]] __host__ __device__ std::int32_t threads() const { return workers() + clerks; }
};

/// A block's own vectors, in shared memory or, where they do not fit, in device memory.
template <class Types>
struct QapVectors {
  using Delta = typename Types::Delta;
  struct alignas(2 * sizeof(Delta)) Ends {
    Delta r, s;
  };

  Change<Types>* changes;  ///< [facility]
  Ends* ends;              ///< [row of the block]: F[i][r], F[i][s] before the swap of r and s
  Delta* diagonal;         ///< [facility]: F[x][x]
  std::int32_t* p;         ///< [facility]

  __host__ __device__ __forceinline__ QapVectors(std::byte* memory, const QapGridPolicy& policy) : end_(memory) {
    take(changes, policy.n);
    take(ends, policy.rows);
    take(diagonal, policy.n);
    take(p, policy.n);
  }
  [[nodiscard]] static std::size_t bytes(const QapGridPolicy& policy) {
    return static_cast<std::size_t>(QapVectors(nullptr, policy).end_ - static_cast<std::byte*>(nullptr));
  }

 private:
  template <class T>
  __host__ __device__ __forceinline__ void take(T*& array, std::int32_t size) {
    array = reinterpret_cast<T*>(end_);
    end_ += (static_cast<std::size_t>(size) * sizeof(T) + 31) / 32 * 32;
  }
  std::byte* end_;
};

/// One block's part of a search.
template <class Types>
class QapGrid {
 public:
  using Delta = typename Types::Delta;
  using Report = QapReport<Delta>;
  using Found = QapFound<std::uint64_t>;

  __device__ __forceinline__ QapGrid(const QapSearches<Types>& searches, const QapGridPolicy& policy, const QapVectors<Types>& vectors,
                                     Report* board, Report* of_warps, local_search::SearchProgress& progress, std::int32_t limit)
      : searches_(searches),
        policy_(policy),
        v_(vectors),
        board_(board),
        of_warps_(of_warps),
        place_(progress),
        progress_(progress),
        limit_(limit),
        taken_(static_cast<std::int32_t>(progress.iterations)),
        gap_(progress.best_value - progress.value),
        thread_(static_cast<std::int32_t>(threadIdx.x)),
        block_(static_cast<std::int32_t>(blockIdx.x)),
        clerk_(thread_ >= policy.workers()) {}

  __device__ __forceinline__ void run() {
    for (std::int32_t x = thread_; x < policy_.n; x += threads()) {
      v_.changes[x] = {};
      v_.diagonal[x] = searches_.f[searches_.at(x, x)];
      v_.p[x] = searches_.p[x];
    }
    const bool remembers = searches_.tenure > 0;
    for (std::uint32_t step = 1;; ++step) {
      __syncthreads();
      Report mine{};
      if (!clerk_)
        look_at_rows(mine);
      else if (step > 1)
        keep_ledger();
      mine = best_of_block(mine);
      if (taken_ == limit_) break;
      if (thread_ == 0) tell(mine, step);
      chosen_ = best_of_block(listen(step));
      if (!remembers && chosen_.delta() >= 0) {
        keep_ledger();
        break;
      }
      swap();
    }
    if (block_ > 0) return;
    for (std::int32_t x = thread_; x < policy_.n; x += threads()) searches_.p[x] = v_.p[x];
    if (thread_ == policy_.workers()) place_ = progress_;
  }

 private:
  [[nodiscard]] __device__ __forceinline__ std::int32_t threads() const { return policy_.threads(); }

  /// Follows the last swap in the rows of this block, and finds the best of their pairs.
  __device__ __forceinline__ void look_at_rows(Report& best) {
    const std::int32_t n = policy_.n, r = chosen_.i(), s = chosen_.j(), lane = thread_ % policy_.lanes;
    const bool swapped = chosen_.found.pair != Found{}.pair;
    for (std::int32_t k = thread_ / policy_.lanes; k < policy_.rows; k += policy_.groups) {
      const std::int32_t i = block_ + k * policy_.blocks;
      if (i >= n) break;
      const Change<Types> own = v_.changes[i];
      const typename QapVectors<Types>::Ends ends = v_.ends[k];
      const Delta diagonal = v_.diagonal[i];
      const std::int32_t q = v_.p[i];
      Delta *row = searches_.f + searches_.at(i, 0), *across = searches_.f_transposed + searches_.at(q, 0);
      const Delta *alpha = searches_.alpha + searches_.at(i, 0), *beta = searches_.beta + searches_.at(q, 0);
      std::int32_t* until_row = searches_.until + moves::index<2>(n, {{i, 0}});
      for (std::int32_t j = lane; j < n; j += policy_.lanes) {
        const Change<Types> other = v_.changes[j];
        Delta ij = row[j], ji = across[j];
        if (swapped && j == r) ij = ends.s;
        if (swapped && j == s) ij = ends.r;
        ij += product(own, other);
        ji += product(other, own);
        row[j] = ij;
        across[j] = ji;
        if (j <= i) continue;
        const std::int32_t pj = v_.p[j];
        const Delta delta = ij + ji - diagonal - v_.diagonal[j] + __ldg(alpha + j) * __ldg(beta + pj);
        std::int32_t until = until_row[j];
        if (swapped && i == r && j == s && searches_.tenure > 0) until_row[j] = until = taken_ + searches_.tenure;
        const Found found{Report::value(until > taken_ && delta >= gap_, delta), Found::pair_of(i, j)};
        if (found.before(best.found)) best = {found, q, pj, ij, ji, 0};
      }
    }
  }
  /// The best of all threads' reports, in every thread.
  [[nodiscard]] __device__ __forceinline__ Report best_of_block(const Report& mine) {
    const Found of_warp = least_of_warp(mine.found);
    if (mine.found.pair == of_warp.pair && (mine.found.value != ~0ull || thread_ % 32 == 0)) of_warps_[thread_ / 32] = mine;
    __syncthreads();
    const std::int32_t lane = thread_ % 32;
    Found other;
    if (lane < threads() / 32) other = of_warps_[lane].found;
    const Found least = least_of_warp(other);
    const Report best = of_warps_[__ffs(static_cast<int>(__ballot_sync(~0u, other.value == least.value && other.pair == least.pair))) - 1];
    __syncthreads();
    return best;
  }
  __device__ __forceinline__ void tell(Report report, std::uint32_t step) const {
    Report& place = board_[(step % 2) * policy_.blocks + block_];
    report.step = 0;
    place.found = report.found;
    place.pi = report.pi;
    place.pj = report.pj;
    place.ij = report.ij;
    place.ji = report.ji;
    ::cuda::atomic_ref<std::uint32_t, ::cuda::thread_scope_device>(place.step).store(step, ::cuda::memory_order_release);
  }
  /// The best of the reports that this thread looks after, each waited for.
  [[nodiscard]] __device__ __forceinline__ Report listen(std::uint32_t step) const {
    Report best{};
    for (std::int32_t k = thread_; k < policy_.blocks; k += threads()) {
      Report& place = board_[(step % 2) * policy_.blocks + k];
      const ::cuda::atomic_ref<std::uint32_t, ::cuda::thread_scope_device> written(place.step);
      while (written.load(::cuda::memory_order_acquire) != step) {
      }
      if (place.found.before(best.found)) best = place;
    }
    return best;
  }
  /// All blocks know the swap: this block's vectors follow.
  __device__ __forceinline__ void swap() {
    const std::int32_t r = chosen_.i(), s = chosen_.j();
    ++taken_;
    gap_ -= chosen_.delta();
    const bool improved = gap_ > 0;
    if (improved) gap_ = 0;
    for (std::int32_t x = thread_; x < policy_.n; x += threads()) {
      std::int32_t q = v_.p[x];
      if (x == r) v_.p[x] = q = chosen_.pj;
      if (x == s) v_.p[x] = q = chosen_.pi;
      const Change<Types> change = searches_.change(r, s, chosen_.pj, chosen_.pi, x, q);
      v_.changes[x] = change;
      Delta diagonal = v_.diagonal[x];
      if (x == r) diagonal = chosen_.ij;
      if (x == s) diagonal = chosen_.ji;
      v_.diagonal[x] = diagonal + product(change, change);
      if (improved && block_ == 0) searches_.best[x] = q;
    }
    for (std::int32_t k = thread_; k < policy_.rows; k += threads()) {
      const std::int32_t i = block_ + k * policy_.blocks;
      if (i < policy_.n) v_.ends[k] = {searches_.f[searches_.at(i, r)], searches_.f[searches_.at(i, s)]};
    }
  }
  /// Writes down the choice made last.
  __device__ __forceinline__ void keep_ledger() {
    if (block_ > 0 || !clerk_) return;
    const auto method = searches_.tenure > 0 ? local_search::Method::tabu : local_search::Method::hill;
    const moves::Move<2> move{{chosen_.i(), chosen_.j()}};
    progress_.take({progress_.value + chosen_.delta(), moves::index<2>(policy_.n, move), false}, method);
  }

  const QapSearches<Types>& searches_;
  const QapGridPolicy& policy_;
  const QapVectors<Types>& v_;
  Report* board_;     ///< [step modulo 2][block]
  Report* of_warps_;  ///< [warp]
  local_search::SearchProgress& place_;
  local_search::SearchProgress progress_;
  std::int32_t limit_;
  std::int32_t taken_;  ///< moves
  std::int64_t gap_;    ///< best value - current value
  std::int32_t thread_, block_;
  bool clerk_;
  Report chosen_{};  ///< the last swap
};

/// Mapping: see QapGridPolicy. A move:
///  1. every block works out what the swap means for each facility;                                          [block barrier]
///  2. it brings its rows up to date and finds the best of their pairs;                                      [block reduction]
///  3. it tells all blocks, and waits for what they tell: the best of all is the next swap.                  [block reduction]
/// Synchronisation: one report from each block to each, through device memory. The blocks must be resident together (cooperative launch).
/// Cost: the latency of a report, and reading and writing both copies of F: 16 or 32 bytes an element.
template <class Types, bool InShared>
__global__ void __launch_bounds__(QapGridPolicy::most_threads, 1)
    qap_grid_kernel(const __grid_constant__ QapSearches<Types> searches, const __grid_constant__ QapGridPolicy policy, std::byte* scratch,
                    std::size_t scratch_bytes, QapReport<typename Types::Delta>* board, local_search::SearchProgress* progress,
                    std::int32_t limit) {
  using Report = QapReport<typename Types::Delta>;
  extern __shared__ __align__(32) std::byte memory[];
  __shared__ alignas(Report) std::byte of_warps[32 * sizeof(Report)];
  if (progress->done(limit)) return;
  const QapVectors<Types> vectors(InShared ? memory : scratch + blockIdx.x * scratch_bytes, policy);
  QapGrid<Types>(searches, policy, vectors, board, reinterpret_cast<Report*>(of_warps), *progress, limit).run();
}

}  // namespace vicinity::lsm
