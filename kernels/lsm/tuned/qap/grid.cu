// Tabu search and hill climbing on the QAP by swaps, one search on the whole grid: `gpu-tuned` where an instance fits neither a block nor a
// cluster (block.cu).
//
// Problem. A move evaluates all n (n - 1) / 2 swaps and takes the best that is not forbidden (core/methods/lsm/search.hpp). Deltas come
// from the inner products F, which follow each swap (core/problems/qap/inner_products.hpp, whose notation this file uses).
//
// Data layout. F and its transpose lie in device memory, columns by facility and by location; a block has the rows that are its number
// modulo the number of blocks, in both. Every block has its own copy of all vectors, in shared memory where they fit (BlockVectors).
//
// Roles of a block's threads (QapGridPolicy): `lanes` threads a row, `groups` rows at a time; a warp more records the progress.
//
// Phases of a move:
//   1. The block updates its rows, and finds the best of their pairs.                                              [block reduction]
//   2. It sends that to all blocks, and receives theirs: the best of all is the next swap.                          [block reduction]
//   3. It finds what the swap means for each facility, and updates its vectors.                                     [block barrier]
//
// Synchronisation: a message from each block to each, through device memory, polled. Blocks must be resident together (cooperative launch).
// Cost: the latency of a message, and reading and writing both copies of F: 16 or 32 bytes an element.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/methods/lsm/search.hpp"
#include "kernels/cuda/collective/argmin.cuh"
#include "kernels/cuda/collective/mailbox.cuh"
#include "kernels/cuda/runtime/arrays.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/device_searches.cuh"
#include "kernels/lsm/tuned/qap/searches.cuh"

namespace vicinity::lsm {
namespace {

// --- tuning ------------------------------------------------------------------------------------------------------------------

/// How rows are divided among blocks, and the threads of a block.
template <class Types>
struct QapGridPolicy {
  static constexpr std::int32_t most_threads = 1024, progress_threads = 32;

  std::int32_t n, blocks, rows, lanes, groups;  ///< `rows` of a block, `lanes` threads a row, `groups` rows at a time

  QapGridPolicy(std::int32_t size, std::int32_t multiprocessors)
      : n(size), blocks(std::min(size, multiprocessors)), rows(divide_up(size, blocks)) {
    lanes = std::min(most_threads - progress_threads, divide_up(n, 32) * 32);
    groups = std::max(1, std::min(rows, (most_threads - progress_threads) / lanes));
  }
  [[nodiscard]] __host__ __device__ std::int32_t row_threads() const { return lanes * groups; }
  [[nodiscard]] __host__ __device__ std::int32_t threads() const { return row_threads() + progress_threads; }
  [[nodiscard]] Policy record() const {
    return {{"block", threads()}, {"blocks", blocks}, {"element_bits", 8 * sizeof(typename Types::Delta)}, {"cluster", 0}};
  }
};

// --- data --------------------------------------------------------------------------------------------------------------------

/// The best pair i < j of a thread, a warp or a block, and what others need to swap it. `key.high`: whether forbidden, and delta.
template <class Delta>
struct alignas(16) Candidate {
  BestPair<std::uint64_t> key;
  std::int32_t pi, pj;  ///< locations of i and j
  Delta ij, ji;         ///< F[i][j], F[j][i]

  [[nodiscard]] static __device__ __forceinline__ std::uint64_t high(bool forbidden, std::int64_t delta) {
    return std::uint64_t{forbidden} << 63 | (static_cast<std::uint64_t>(delta) + bias);
  }
  [[nodiscard]] __device__ __forceinline__ std::int64_t delta() const {
    return static_cast<std::int64_t>(key.high & ~(std::uint64_t{1} << 63)) - static_cast<std::int64_t>(bias);
  }
  [[nodiscard]] __device__ __forceinline__ moves::Move<2> swap() const { return key.swap_of(key.low); }

 private:
  static constexpr std::uint64_t bias = std::uint64_t{1} << 62;  ///< deltas are at most 2^61 in magnitude
};

/// A block's own vectors, one after the other.
template <class Types>
struct BlockVectors {
  using Delta = typename Types::Delta;
  struct alignas(2 * sizeof(Delta)) Ends {
    Delta r, s;
  };

  typename Types::Difference* differences;  ///< [facility]: of the last swap
  Ends* ends;                               ///< [row of the block]: F[i][r], F[i][s] before the swap of r and s
  Delta* diagonal;                          ///< [facility]: F[x][x]
  std::int32_t* p;                          ///< [facility]

  __host__ __device__ __forceinline__ BlockVectors(std::byte* memory, const QapGridPolicy<Types>& policy) : end_(memory) {
    cuda::take<32>(end_, differences, policy.n);
    cuda::take<32>(end_, ends, policy.rows);
    cuda::take<32>(end_, diagonal, policy.n);
    cuda::take<32>(end_, p, policy.n);
  }
  [[nodiscard]] static std::size_t bytes(const QapGridPolicy<Types>& policy) {
    return static_cast<std::size_t>(BlockVectors(nullptr, policy).end_ - static_cast<std::byte*>(nullptr));
  }

 private:
  std::byte* end_;
};

// --- the search --------------------------------------------------------------------------------------------------------------

/// One block's part of a search.
template <class Types>
class GridSearch {
 public:
  using Delta = typename Types::Delta;
  using Best = Candidate<Delta>;
  using Message = cuda::Stamped<Best>;
  using Difference = typename Types::Difference;

  __device__ __forceinline__ GridSearch(const QapSearches<Types>& searches, const QapGridPolicy<Types>& policy,
                                        const BlockVectors<Types>& vectors, Message* mailbox, Best* of_warps,
                                        local_search::SearchProgress& progress, std::int32_t limit)
      : searches_(searches),
        policy_(policy),
        v_(vectors),
        mailbox_(mailbox),
        of_warps_(of_warps),
        stored_(progress),
        progress_(progress),
        limit_(limit),
        moves_taken_(static_cast<std::int32_t>(progress.iterations)),
        gap_(progress.best_value - progress.value),
        thread_(static_cast<std::int32_t>(threadIdx.x)),
        block_(static_cast<std::int32_t>(blockIdx.x)),
        is_progress_thread_(thread_ >= policy.row_threads()) {}

  __device__ __forceinline__ void run() {
    for (std::int32_t x = thread_; x < policy_.n; x += threads()) {
      v_.differences[x] = {};
      v_.diagonal[x] = searches_.f[searches_.at(x, x)];
      v_.p[x] = searches_.p[x];
    }
    const bool is_tabu_search = searches_.tenure > 0;
    for (std::uint32_t step = 1;; ++step) {
      __syncthreads();
      Best mine{};
      if (!is_progress_thread_)
        update_rows(mine);
      else if (step > 1)
        record_choice();
      mine = best_of_block(mine);
      if (moves_taken_ == limit_) break;
      if (thread_ == 0) message(step, block_).write(mine, step);
      choice_ = best_of_block(receive(step));
      if (!is_tabu_search && choice_.delta() >= 0) {
        record_choice();
        break;
      }
      swap();
    }
    if (block_ > 0) return;
    for (std::int32_t x = thread_; x < policy_.n; x += threads()) searches_.p[x] = v_.p[x];
    if (thread_ == policy_.row_threads()) stored_ = progress_;
  }

 private:
  [[nodiscard]] __device__ __forceinline__ std::int32_t threads() const { return policy_.threads(); }

  /// Phase 1: the rows of this block after the last swap, and the best of their pairs.
  __device__ __forceinline__ void update_rows(Best& best) {
    const std::int32_t n = policy_.n, r = choice_.swap().at[0], s = choice_.swap().at[1], lane = thread_ % policy_.lanes;
    const bool swapped = choice_.key.low != cuda::no_key<decltype(Best::key)>().low;
    for (std::int32_t k = thread_ / policy_.lanes; k < policy_.rows; k += policy_.groups) {
      const std::int32_t i = block_ + k * policy_.blocks;
      if (i >= n) break;
      const Difference own = v_.differences[i];
      const typename BlockVectors<Types>::Ends ends = v_.ends[k];
      const Delta diagonal = v_.diagonal[i];
      const std::int32_t q = v_.p[i];
      Delta *row = searches_.f + searches_.at(i, 0), *across = searches_.f_transposed + searches_.at(q, 0);
      const Delta *alpha = searches_.alpha + searches_.at(i, 0), *beta = searches_.beta + searches_.at(q, 0);
      std::int32_t* until_row = searches_.until + moves::index<2>(n, {{i, 0}});
      for (std::int32_t j = lane; j < n; j += policy_.lanes) {
        const Difference other = v_.differences[j];
        Delta ij = row[j], ji = across[j];
        if (swapped && j == r) ij = ends.s;
        if (swapped && j == s) ij = ends.r;
        ij += qap::product(own, other);
        ji += qap::product(other, own);
        row[j] = ij;
        across[j] = ji;
        if (j <= i) continue;
        const std::int32_t pj = v_.p[j];
        const Delta delta = qap::swap_delta(ij, ji, diagonal, v_.diagonal[j], __ldg(alpha + j) * __ldg(beta + pj));
        std::int32_t until = until_row[j];
        if (swapped && i == r && j == s && searches_.tenure > 0) until_row[j] = until = moves_taken_ + searches_.tenure;
        const BestPair<std::uint64_t> key{Best::high(until > moves_taken_ && delta >= gap_, delta), best.key.pair_of(i, j)};
        if (key.before(best.key)) best = {key, q, pj, ij, ji};
      }
    }
  }
  /// The best of all threads, in every thread.
  [[nodiscard]] __device__ __forceinline__ Best best_of_block(const Best& mine) {
    cuda::leave_least(mine, of_warps_[thread_ / 32]);
    __syncthreads();
    const Best best = of_warps_[cuda::least_slot(of_warps_, threads() / 32)];
    __syncthreads();
    return best;
  }
  [[nodiscard]] __device__ __forceinline__ Message& message(std::uint32_t step, std::int32_t block) const {
    return mailbox_[(step % 2) * policy_.blocks + block];
  }
  /// Phase 2: the best of the messages that this thread waits for.
  [[nodiscard]] __device__ __forceinline__ Best receive(std::uint32_t step) const {
    Best best{};
    for (std::int32_t k = thread_; k < policy_.blocks; k += threads()) {
      const Best& other = message(step, k).read(step);
      if (other.key.before(best.key)) best = other;
    }
    return best;
  }
  /// Phase 3: this block's vectors after the chosen swap.
  __device__ __forceinline__ void swap() {
    const std::int32_t r = choice_.swap().at[0], s = choice_.swap().at[1];
    ++moves_taken_;
    gap_ -= choice_.delta();
    const bool improved = gap_ > 0;
    if (improved) gap_ = 0;
    for (std::int32_t x = thread_; x < policy_.n; x += threads()) {
      std::int32_t q = v_.p[x];
      if (x == r) v_.p[x] = q = choice_.pj;
      if (x == s) v_.p[x] = q = choice_.pi;
      const Difference difference = searches_.difference(r, s, choice_.pj, choice_.pi, x, q);
      v_.differences[x] = difference;
      Delta diagonal = v_.diagonal[x];
      if (x == r) diagonal = choice_.ij;
      if (x == s) diagonal = choice_.ji;
      v_.diagonal[x] = diagonal + qap::product(difference, difference);
      if (improved && block_ == 0) searches_.best[x] = q;
    }
    for (std::int32_t k = thread_; k < policy_.rows; k += threads()) {
      const std::int32_t i = block_ + k * policy_.blocks;
      if (i < policy_.n) v_.ends[k] = {searches_.f[searches_.at(i, r)], searches_.f[searches_.at(i, s)]};
    }
  }
  __device__ __forceinline__ void record_choice() {
    if (block_ > 0 || !is_progress_thread_) return;
    const auto method = searches_.tenure > 0 ? local_search::Method::tabu : local_search::Method::hill;
    progress_.take({progress_.value + choice_.delta(), moves::index<2>(policy_.n, choice_.swap()), false}, method);
  }

  const QapSearches<Types>& searches_;
  const QapGridPolicy<Types>& policy_;
  const BlockVectors<Types>& v_;
  Message* mailbox_;  ///< [step modulo 2][block]
  Best* of_warps_;    ///< [warp]
  local_search::SearchProgress& stored_;
  local_search::SearchProgress progress_;
  std::int32_t limit_;
  std::int32_t moves_taken_;
  std::int64_t gap_;  ///< best value - current value
  std::int32_t thread_, block_;
  bool is_progress_thread_;
  Best choice_{};  ///< the last swap
};

/// Mapping, phases, synchronisation and cost: see the head of this file.
template <class Types, bool InShared>
__global__ void __launch_bounds__(QapGridPolicy<Types>::most_threads, 1)
    qap_grid_kernel(const __grid_constant__ QapSearches<Types> searches, const __grid_constant__ QapGridPolicy<Types> policy,
                    std::byte* scratch, std::size_t scratch_bytes, typename GridSearch<Types>::Message* mailbox,
                    local_search::SearchProgress* progress, std::int32_t limit) {
  using Best = typename GridSearch<Types>::Best;
  extern __shared__ __align__(32) std::byte vector_memory[];
  __shared__ alignas(Best) std::byte of_warps[32 * sizeof(Best)];
  if (progress->done(limit)) return;
  const BlockVectors<Types> vectors(InShared ? vector_memory : scratch + blockIdx.x * scratch_bytes, policy);
  GridSearch<Types>(searches, policy, vectors, mailbox, reinterpret_cast<Best*>(of_warps), *progress, limit).run();
}

// --- on the host -------------------------------------------------------------------------------------------------------------

template <class Types>
class GridEngine {
 public:
  using Neighborhood = QapSwaps;

  GridEngine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream),
        policy_(neighborhood.instance().size(), cuda::multiprocessors()),
        memory_(neighborhood, task, 1, true),
        bytes_(BlockVectors<Types>::bytes(policy_)),
        in_shared_(bytes_ + 4096 <= cuda::most_shared()),
        scratch_(in_shared_ ? 0 : bytes_ * static_cast<std::size_t>(policy_.blocks)),
        mailbox_(2 * static_cast<std::size_t>(policy_.blocks)) {
    if (in_shared_) cuda::allow_shared(qap_grid_kernel<Types, true>, bytes_);
  }

  [[nodiscard]] static std::int64_t batch_size() { return 1; }
  void begin(const std::vector<local_search::SearchState<Neighborhood>>& states) { memory_.begin(states, stream_); }
  void launch(local_search::SearchProgress* all_progress, std::int64_t limit) {
    mailbox_.fill(0, stream_);
    const cuda::Shape shape{
        .blocks = policy_.blocks, .threads = policy_.threads(), .shared_bytes = in_shared_ ? bytes_ : 0, .cooperative = true};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream_, in_shared_ ? &qap_grid_kernel<Types, true> : &qap_grid_kernel<Types, false>,
                                     memory_.view(), policy_, scratch_.data(), bytes_, mailbox_.data(), all_progress,
                                     static_cast<std::int32_t>(limit)));
  }
  void finish(std::vector<local_search::SearchResult<Neighborhood::Solution>>& searches) { memory_.finish(searches, stream_); }
  void poison() { memory_.poison(stream_); }
  [[nodiscard]] static Ceiling synchronization() { return Ceiling::grid_barrier; }
  [[nodiscard]] Policy policy() const { return policy_.record(); }

 private:
  const cuda::Stream& stream_;
  QapGridPolicy<Types> policy_;
  QapMemory<Types> memory_;
  std::size_t bytes_;
  bool in_shared_;
  cuda::DeviceBuffer<std::byte> scratch_;
  cuda::DeviceBuffer<typename GridSearch<Types>::Message> mailbox_;
};

template <class Types>
std::unique_ptr<Run> grid_run(const QapSwaps& neighborhood, const local_search::Task& task) {
  return std::make_unique<DeviceRun<GridEngine<Types>>>(neighborhood, task);
}

}  // namespace

std::unique_ptr<Run> qap_grid_run(const QapSwaps& neighborhood, const local_search::Task& task) {
  const qap::Qap& instance = neighborhood.instance();
  if (instance.delta_bound() >= (std::int64_t{1} << 29)) return grid_run<QapTypes<std::int64_t, 2>>(neighborhood, task);
  if (instance.symmetric()) return grid_run<QapTypes<std::int32_t, 1>>(neighborhood, task);
  return grid_run<QapTypes<std::int32_t, 2>>(neighborhood, task);
}

}  // namespace vicinity::lsm
