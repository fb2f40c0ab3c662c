// Tabu search and hill climbing on the QAP by swaps, a search in one block or one cluster: `gpu-tuned` where an instance fits.
//
// Problem. A move evaluates all n (n - 1) / 2 swaps and takes the best that is not forbidden (core/methods/lsm/search.hpp). Deltas are not
// computed anew but follow each swap (core/problems/qap/inner_products.hpp, whose notation this file uses).
//
// Data layout. A pair i < j lies in registers of one thread: its key, which is delta, tabu mark and slot in one unsigned number in the
// order of choices, and F[i][j]; F[j][i] follows from both. A facility's location, F[x][x] and what the last swap means for it lie in
// registers of another thread. Threads exchange them through shared memory (SharedLayout). Between launches all is in device memory.
//
// Roles, of which each warp has one (QapBlockPolicy, concept Role):
//   pair threads      each has a column j and up to `rows` consecutive rows i of the pairs i < j;
//   facility threads  one a facility x: its location, F[x][x], what the last swap means for it; and, for one phase, its touched pairs,
//                     those with a facility that swapped, whose deltas change by more than products;
//   progress warp     records the choices.
// In a cluster the pair threads are divided among the blocks. Every block has all facility threads; the touched pairs of facility x are
// updated in one of them.
//
// Phases of a move:
//   1. All warps know the swap. Pair threads send the touched pairs, 2 n in all, to the facility threads, which meanwhile read what the
//      swap means for their facilities, and find all that follows without the pairs.                                  [barrier]
//   2. Pair threads update all other pairs and find their best; facility threads do so for the touched pairs. Each warp publishes its
//      best.                                                                                                          [barrier]
//   3. Every warp finds the best of all, which is the next swap. Pair threads take the touched pairs back.
// Aspiration is rare: if a tabu swap leads below the best value of the search, which a flag of the published pairs says, the best of all
// pairs is not forbidden, and is found by publishing a second time, as if there were no tabu times.                     [barrier]
//
// Synchronisation: two barriers of the block or cluster a move. Of one block the progress warp does not wait at the first.
// Cost: n^2 / 2 pairs a move, each two products (four for asymmetric matrices) and some four additions and comparisons, of one
// multiprocessor; some hundred instructions a warp beside them; and the latencies of some 20 dependent reads of shared memory and
// reductions.
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/methods/lsm/search.hpp"
#include "kernels/cuda/collective/argmin.cuh"
#include "kernels/cuda/runtime/arrays.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/device_searches.cuh"
#include "kernels/lsm/tuned/qap/pair_keys.cuh"
#include "kernels/lsm/tuned/qap/searches.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm {
namespace {

// --- tuning ------------------------------------------------------------------------------------------------------------------

/// How the threads of a block, or of each of the blocks of a cluster, are divided: pair threads, then facility threads, then the progress
/// warp.
template <class Types>
struct QapBlockPolicy {
  static constexpr std::int32_t warp = 32, progress_threads = warp;

  std::int32_t n, rows, blocks, pair_threads, facility_threads;

  /// `rows_a_thread`: rows of a pair thread. `blocks_a_search`: 1, or the size of a cluster.
  QapBlockPolicy(std::int32_t size, std::int32_t rows_a_thread, std::int32_t blocks_a_search)
      : n(size), rows(rows_a_thread), blocks(blocks_a_search), facility_threads(divide_up(size, warp) * warp) {
    pair_threads = divide_up(divide_up(pair_threads_before(divide_up(n - 1, rows)), blocks), warp) * warp;
  }
  [[nodiscard]] __host__ __device__ std::int32_t threads() const { return pair_threads + facility_threads + progress_threads; }
  /// Facilities, and the rows of pair threads that are none; even.
  [[nodiscard]] __host__ __device__ std::int32_t pitch() const { return (n + rows + 2) / 2 * 2; }
  /// Pair threads, of all blocks, for rows before strip * rows.
  [[nodiscard]] __host__ __device__ __forceinline__ std::int32_t pair_threads_before(std::int32_t strip) const {
    return strip * (n - 1) - rows * (strip * (strip - 1) / 2);
  }
  /// The block of the pair i < j.
  [[nodiscard]] __device__ __forceinline__ std::int32_t block_of(std::int32_t i, std::int32_t j) const {
    const std::int32_t strip = i / rows;
    return (pair_threads_before(strip) + j - 1 - strip * rows) / pair_threads;
  }
  /// The block that updates the touched pairs of facility x.
  [[nodiscard]] __device__ __forceinline__ std::int32_t block_of_facility(std::int32_t x) const { return x & (blocks - 1); }
  /// The most threads of a block, so that each has the registers that its pairs take. The largest instances want 768 of the most rows, and
  /// what spills there.
  [[nodiscard]] static constexpr int most_threads(int rows_a_thread, bool cluster) {
    const int words = static_cast<int>(sizeof(typename Types::Delta)) / 4 * rows_a_thread;
    return words <= 8 ? 1024 : words <= 12 || words == 24 || cluster ? 768 : 640;
  }
  [[nodiscard]] Policy record() const {
    return {{"block", threads()},
            {"rows_a_thread", rows},
            {"element_bits", 8 * sizeof(typename Types::Delta)},
            {"blocks", blocks},
            {"cluster", blocks > 1 ? blocks : 0}};
  }
};

// --- data --------------------------------------------------------------------------------------------------------------------

/// Shared memory of a block, one array after the other.
template <class Types>
class SharedLayout {
 public:
  using Delta = typename Types::Delta;
  using Best = BestPair<std::make_unsigned_t<Delta>>;

  /// The touched pairs before and after the swap: [the facility is the pair's row or column][with r or s][facility]. Where there is no pair
  /// they are anything.
  PairState<Delta>*touched_before, *touched_after;
  typename Types::Difference* differences;  ///< [facility]: of the swap, d scaled; zero where there is no facility
  Best *best, *best_ignoring_tabu;          ///< [block][warp]
  Delta* diagonal;                          ///< [facility]: F[x][x], scaled
  Delta *a_diagonal, *b_diagonal;           ///< [facility]: A[x][x], B'[x][x]
  std::int32_t* p;                          ///< [facility]
  std::int32_t* until;                      ///< [pair thread][slot]: of tabu pairs

  __host__ __device__ __forceinline__ SharedLayout(std::byte* memory, const QapBlockPolicy<Types>& policy)
      : pitch_(policy.pitch()), end_(memory) {
    cuda::take(end_, touched_before, 4 * pitch_);
    cuda::take(end_, touched_after, 4 * pitch_);
    cuda::take(end_, differences, pitch_);
    cuda::take(end_, best, 32 * policy.blocks);
    cuda::take(end_, best_ignoring_tabu, 32 * policy.blocks);
    cuda::take(end_, diagonal, policy.n);
    cuda::take(end_, a_diagonal, policy.n);
    cuda::take(end_, b_diagonal, policy.n);
    cuda::take(end_, p, policy.n);
    cuda::take(end_, until, policy.rows * policy.pair_threads);
  }
  [[nodiscard]] static std::size_t bytes(const QapBlockPolicy<Types>& policy) {
    return static_cast<std::size_t>(SharedLayout(nullptr, policy).end_ - static_cast<std::byte*>(nullptr));
  }

  /// Where `touched_before` and `touched_after` have the pair of facility `x`, its row or column, and s or r.
  [[nodiscard]] __device__ __forceinline__ std::int32_t touched_at(bool column, bool with_s, std::int32_t x) const {
    return ((column ? 2 : 0) + (with_s ? 1 : 0)) * pitch_ + x;
  }

 private:
  std::int32_t pitch_;
  std::byte* end_;
};

/// One compiled kernel, the V of what follows: types of numbers, rows of a pair thread, one block or a cluster.
template <class T, int Rows, bool Cluster>
struct Variant {
  using Types = T;
  using Delta = typename T::Delta;
  using Difference = typename T::Difference;
  using Keys = PairKeys<Delta, Rows>;
  using Key = typename Keys::Key;
  using Best = BestPair<Key>;
  using Shared = SharedLayout<T>;
  using State = ReplicatedState<Keys>;
  using Policy = QapBlockPolicy<T>;
  static constexpr int rows = Rows, sides = T::sides;
  static constexpr bool cluster = Cluster;

  [[nodiscard]] static __device__ __forceinline__ std::int32_t rank_in_cluster(const Policy& policy) {
    return Cluster ? static_cast<std::int32_t>(blockIdx.x) % policy.blocks : 0;
  }
  /// `value`, which lies in shared memory, in block `rank` of the cluster.
  template <class Value>
  [[nodiscard]] static __device__ __forceinline__ Value& in_block(Value& value, [[maybe_unused]] std::int32_t rank) {
    if constexpr (Cluster) return *cuda::in_block(&value, rank);
    return value;
  }
};

/// What the threads of a warp do in the phases of a move.
template <class R, class V>
concept Role = requires(R& role, const typename V::State& state, std::uint32_t pair, typename V::Delta delta) {
  role.prepare(state);               // phase 1: a swap was chosen
  role.restore_touched(state);       // phase 3
  role.receive_choice(pair, delta);  // this pair is the best of all: the next swap, or none if a climb ends
};
/// Of warps that have pairs.
template <class R, class V>
concept PairRole = Role<R, V> && requires(R& role, const typename V::State& state) {
  { role.update(state) } -> std::same_as<typename V::Best>;         // phase 2: the best of its pairs after the last swap
  { role.best_ignoring_tabu() } -> std::same_as<typename V::Best>;  // phase 2 again: as if no pair were tabu
};

// --- pair threads ------------------------------------------------------------------------------------------------------------

template <class V>
class PairThread {
 public:
  using Delta = typename V::Delta;
  using Keys = typename V::Keys;
  using Key = typename V::Key;
  using Best = typename V::Best;
  using State = typename V::State;
  using Pair = PairState<Delta>;

  __device__ __forceinline__ PairThread(const QapSearches<typename V::Types>& searches, std::size_t search,
                                        const typename V::Policy& policy, const typename V::Shared& shared)
      : searches_(searches), f_(searches.f_of(search)), until_(searches.until_of(search)), policy_(policy), shared_(shared) {
    const std::int32_t n = policy.n;
    std::int32_t k = V::rank_in_cluster(policy) * policy.pair_threads + static_cast<std::int32_t>(threadIdx.x);
    for (first_ = 0; first_ < n - 1 && k >= n - 1 - first_; first_ += V::rows) k -= n - 1 - first_;
    if (first_ >= n - 1) first_ = (n + 1) / 2 * 2;  // even: differences are read in pairs
    column_ = min(first_ + 1 + k, n);
    rows_ = max(0, min(V::rows, column_ - first_));
  }

  /// From device memory; `p` is in place.
  __device__ __forceinline__ void load(const State& state) {
#pragma unroll
    for (int k = 0; k < V::rows; ++k) {
      pairs_[k] = {Keys::garbage, 0};
      shared_.until[until_at(k)] = 0;
      if (k >= rows_) continue;
      const std::int32_t i = first_ + k, j = column_, until = until_[move(i)];
      const Delta f = f_[searches_.at(i, j)];
      const Delta delta = qap::swap_delta(f, f_[searches_.at(j, i)], f_[searches_.at(i, i)], f_[searches_.at(j, j)], pair_product(i));
      pairs_[k] = {Keys::of(delta * Keys::scale, static_cast<Key>(k)), f * Keys::scale};
      if (until <= state.moves_taken) continue;
      shared_.until[until_at(k)] = until;
      pairs_[k].key += Keys::tabu;
      expiry_ = min(expiry_, until);
    }
  }
  /// To device memory; `p` and the diagonal are those of the last solution.
  __device__ __forceinline__ void store() const {
#pragma unroll
    for (int k = 0; k < V::rows; ++k) {
      if (k >= rows_) continue;
      const std::int32_t i = first_ + k, j = column_;
      const Delta rest = Keys::scaled(pairs_[k].key) - pairs_[k].f + shared_.diagonal[i] + shared_.diagonal[j];
      f_[searches_.at(i, j)] = pairs_[k].f / Keys::scale;
      f_[searches_.at(j, i)] = rest / Keys::scale - pair_product(i);
      until_[move(i)] = (pairs_[k].key & Keys::tabu) != 0 ? shared_.until[until_at(k)] : 0;
    }
  }

  /// Sends the touched pairs to the facility threads.
  __device__ __forceinline__ void prepare(const State& state) {
    if (expiry_ <= state.moves_taken) expire_tabu(state);
    const std::int32_t at_r = state.r - first_, at_s = state.s - first_;
    if (!touched_by(state)) return;
    if (column_ == state.s && is_slot(at_r)) {
      if (state.is_tabu_search()) {
        shared_.until[until_at(at_r)] = state.until();
        expiry_ = min(expiry_, state.until());
      }
      if constexpr (V::cluster)  // the facility threads of all blocks read the pair that swaps
        at_slot<0, V::rows>(at_r, [&](auto k) {
          for (std::int32_t block = 0; block < policy_.blocks; ++block)
            V::in_block(shared_.touched_before[shared_.touched_at(false, true, state.r)], block) = pairs_[k];
        });
    }
    if (column_ == state.r || column_ == state.s) {
      Pair* to = shared_.touched_before + shared_.touched_at(false, column_ == state.s, first_);
#pragma unroll
      for (int k = 0; k < V::rows; ++k) send(k, to[k], first_ + k);
    }
    for (const bool with_s : {false, true}) {
      const std::int32_t at = with_s ? at_s : at_r;
      if (is_slot(at))
        at_slot<0, V::rows>(at, [&](auto k) { send(k, shared_.touched_before[shared_.touched_at(true, with_s, column_)], column_); });
    }
  }
  /// Updates all pairs that are not touched.
  [[nodiscard]] __device__ __forceinline__ Best update(const State& state) {
    using Difference = typename V::Difference;
    constexpr int chunk = sizeof(Difference) == 8 ? 2 : 1;
    struct alignas(16) Chunk {
      Difference of[chunk];
    };
    const Difference own = shared_.differences[column_];
    const Chunk* others = reinterpret_cast<const Chunk*>(shared_.differences + first_);
    Key best = ~Key{0};
    Delta least = std::numeric_limits<Delta>::max();  // of the keys as signed numbers: of a tabu pair if there is one
#pragma unroll
    for (int c = 0; c < V::rows / chunk; ++c) {
      const Chunk other = others[c];
#pragma unroll
      for (int k = c * chunk; k < (c + 1) * chunk; ++k) {
        const Difference& row = other.of[k - c * chunk];
        pairs_[k].key += static_cast<Key>(qap::delta_change(row, own));
        pairs_[k].f += qap::product(row, own);
        best = min(best, pairs_[k].key);
        least = min(least, static_cast<Delta>(pairs_[k].key));
      }
    }
    const Key aspiring = static_cast<Key>(least) ^ Keys::tabu;  // as if it were free if it is tabu, above all free ones if it is not
    best_ignoring_tabu_ = min(best, aspiring);
    return candidate(best, aspiring < state.aspiration());
  }
  [[nodiscard]] __device__ __forceinline__ Best best_ignoring_tabu() const { return candidate(best_ignoring_tabu_, false); }
  /// Takes the touched pairs back from the facility threads.
  __device__ __forceinline__ void restore_touched(const State& state) {
    if (!touched_by(state)) return;
    if (column_ == state.r || column_ == state.s) {
      const Pair* from = shared_.touched_after + shared_.touched_at(false, column_ == state.s, first_);
#pragma unroll
      for (int k = 0; k < V::rows; ++k) {
        if (reads_vectors || k < rows_) pairs_[k] = from[k];
        if (reads_vectors && k >= rows_) pairs_[k].key = Keys::garbage;
      }
    }
    for (const bool with_s : {false, true}) {
      const std::int32_t at = (with_s ? state.s : state.r) - first_;
      if (is_slot(at) && at < rows_)
        at_slot<0, V::rows>(at, [&](auto k) { pairs_[k] = shared_.touched_after[shared_.touched_at(true, with_s, column_)]; });
    }
  }
  __device__ __forceinline__ void receive_choice(std::uint32_t, Delta) const {}

 private:
  static constexpr std::int32_t no_expiry = std::numeric_limits<std::int32_t>::max();
  static constexpr bool reads_vectors = sizeof(Delta) == 4;  ///< of touched pairs; registers for 64 bits would spill

  [[nodiscard]] __device__ __forceinline__ Best candidate(Key best, bool aspires) const {
    return {Keys::value(best),
            Best::pair_of(first_ + static_cast<std::int32_t>(best & Keys::slot_mask), column_) | (aspires ? Best::flag : 0)};
  }
  /// Does the last swap touch any of its pairs?
  [[nodiscard]] __device__ __forceinline__ bool touched_by(const State& state) const {
    return column_ == state.r || column_ == state.s || is_slot(state.r - first_) || is_slot(state.s - first_);
  }
  [[nodiscard]] static __device__ __forceinline__ bool is_slot(std::int32_t slot) { return static_cast<std::uint32_t>(slot) < V::rows; }
  [[nodiscard]] __device__ __forceinline__ std::int32_t until_at(int k) const {
    return static_cast<std::int32_t>(threadIdx.x) * V::rows + k;
  }
  [[nodiscard]] __device__ __forceinline__ std::int64_t move(std::int32_t i) const { return moves::index<2>(searches_.n, {{i, column_}}); }
  [[nodiscard]] __device__ __forceinline__ Delta pair_product(std::int32_t i) const {
    return searches_.alpha[searches_.at(i, column_)] * searches_.beta[searches_.at(shared_.p[i], shared_.p[column_])];
  }
  /// action(k) for a slot that is known at run time only: registers have no addresses, so a tree of branches finds it.
  template <int First, int Count, class Action>
  static __device__ __forceinline__ void at_slot(std::int32_t slot, const Action& action) {
    if constexpr (Count == 1) {
      action(std::integral_constant<int, First>{});
    } else {
      constexpr int half = Count / 2;
      if (slot < First + half)
        at_slot<First, half>(slot, action);
      else
        at_slot<First + half, Count - half>(slot, action);
    }
  }
  /// To the thread of facility x in the block that updates the pair.
  __device__ __forceinline__ void send(int k, Pair& to, std::int32_t x) {
    V::in_block(to, policy_.block_of_facility(x)) = pairs_[k];
    pairs_[k].key = Keys::garbage;
  }
  /// Some pair stops being tabu, or was overwritten since `expiry_` was found.
  __device__ __forceinline__ void expire_tabu(const State& state) {
    struct alignas(16) Four {
      std::int32_t of[4];
    };
    const Four* until = reinterpret_cast<const Four*>(shared_.until + until_at(0));
    const auto moves_taken = static_cast<std::uint32_t>(state.moves_taken), none = static_cast<std::uint32_t>(no_expiry) - moves_taken;
    std::uint32_t left = none;  // moves until the next expiry
#pragma unroll
    for (int c = 0; c < V::rows / 4; ++c) {
      const Four four = until[c];
#pragma unroll
      for (int k = 4 * c; k < 4 * (c + 1); ++k) {
        const auto end = static_cast<std::uint32_t>(four.of[k - 4 * c]);  // 0: never was tabu, and may be no pair
        if (end - 1 < moves_taken) pairs_[k].key &= ~Keys::tabu;
        left = min(left, end - moves_taken - 1);  // wraps around, so that what has ended does not count
      }
    }
    expiry_ = left == none ? no_expiry : static_cast<std::int32_t>(moves_taken + 1 + left);
  }

  const QapSearches<typename V::Types>& searches_;
  Delta* f_;
  std::int32_t* until_;
  const typename V::Policy& policy_;
  const typename V::Shared& shared_;
  std::int32_t first_, column_, rows_;  ///< rows first_ .. first_ + rows_ - 1 of column_; idle threads have none
  Pair pairs_[V::rows];
  Key best_ignoring_tabu_;           ///< of the last update
  std::int32_t expiry_ = no_expiry;  ///< no pair stops being tabu before so many moves are taken
};

// --- facility threads --------------------------------------------------------------------------------------------------------

template <class V>
class FacilityThread {
 public:
  using Delta = typename V::Delta;
  using Keys = typename V::Keys;
  using Key = typename V::Key;
  using Best = typename V::Best;
  using State = typename V::State;
  using Pair = PairState<Delta>;

  __device__ __forceinline__ FacilityThread(const QapSearches<typename V::Types>& searches, std::size_t search,
                                            const typename V::Policy& policy, const typename V::Shared& shared)
      : searches_(searches),
        f_(searches.f_of(search)),
        policy_(policy),
        shared_(shared),
        x_(static_cast<std::int32_t>(threadIdx.x) - policy.pair_threads),
        exists_(x_ < policy.n),
        updates_pairs_(!V::cluster || policy.block_of_facility(x_) == V::rank_in_cluster(policy)) {
    const std::size_t at = search * static_cast<std::size_t>(policy.n) + static_cast<std::size_t>(x_);
    current_ = searches.p + at;
    best_ = searches.best + at;
  }

  __device__ __forceinline__ void load(const State&) {
    if (!exists_) return;
    q_ = *current_;
    q_best_ = *best_;
    shared_.diagonal[x_] = diagonal_ = f_[searches_.at(x_, x_)] * Keys::scale;
    shared_.a_diagonal[x_] = a_own_ = entry(searches_.a, x_, x_);
    shared_.b_diagonal[x_] = b_own_ = entry(searches_.b, q_, q_);
  }
  __device__ __forceinline__ void store() const {
    if (!exists_) return;
    *current_ = q_;
    *best_ = q_best_;
    f_[searches_.at(x_, x_)] = diagonal_ / Keys::scale;
  }

  /// What the swap means for this facility, and all of its touched pairs that follows without them: pair threads take longer to send.
  __device__ __forceinline__ void prepare(const State& state) {
    if (!exists_) return;
    const std::int32_t r = state.r, s = state.s, pr = shared_.p[r], ps = shared_.p[s];
    const Delta rr = shared_.diagonal[r], ss = shared_.diagonal[s];
    const OfSwapped a_own{shared_.a_diagonal[r], shared_.a_diagonal[s]}, b_own{shared_.b_diagonal[r], shared_.b_diagonal[s]};
    if (x_ == r) q_ = ps;
    if (x_ == s) q_ = pr;
    OfSwapped a[V::sides], b[V::sides];        // A[r][x], A[s][x]; B[u][q], B[v][q], u and v where r and s were; then of the transposes
    Delta a_both[V::sides], b_both[V::sides];  // A[r][s], B[u][v]
#pragma unroll
    for (int side = 0; side < V::sides; ++side) {
      const std::int32_t *to_a = side == 0 ? searches_.a : searches_.a_transposed, *to_b = side == 0 ? searches_.b : searches_.b_transposed;
      a[side] = {entry(to_a, r, x_), entry(to_a, s, x_)};
      b[side] = {entry(to_b, pr, q_), entry(to_b, ps, q_)};
      a_both[side] = entry(to_a, r, s);
      b_both[side] = entry(to_b, pr, ps);
    }
    constexpr int other = V::sides - 1;  // of symmetric matrices the same
    constexpr Delta unit = V::sides == 1 ? 2 * Keys::scale : Keys::scale;
    typename V::Difference difference, of_r, of_s;
#pragma unroll
    for (int side = 0; side < V::sides; ++side) {  // r and s have each other's location from now on
      const int transposed = other - side;
      difference.d[side] = (a[side].r - a[side].s) * unit;
      difference.e[side] = b[side].s - b[side].r;
      of_r.d[side] = (a_own.r - a_both[transposed]) * unit;
      of_r.e[side] = b_own.s - b_both[side];
      of_s.d[side] = (a_both[side] - a_own.s) * unit;
      of_s.e[side] = b_both[transposed] - b_own.r;
    }
    shared_.differences[x_] = difference;
    if (state.improved) q_best_ = q_;

    const OfSwapped alpha{qap::pair_factor(a_own.r, a_own_, a[0].r, a[other].r) * Keys::scale,
                          qap::pair_factor(a_own.s, a_own_, a[0].s, a[other].s) * Keys::scale};
    const OfSwapped beta{qap::pair_factor(b_own.r, b_own_, b[0].r, b[other].r), qap::pair_factor(b_own.s, b_own_, b[0].s, b[other].s)};
    rest_ = {rr + diagonal_ - alpha.r * beta.r, ss + diagonal_ - alpha.s * beta.s};
    pair_product_ = {alpha.r * beta.s, alpha.s * beta.r};
    change_r_ = {qap::product(of_r, difference), qap::product(difference, of_r)};
    change_s_ = {qap::product(of_s, difference), qap::product(difference, of_s)};
    diagonal_ += qap::product(difference, difference);
    new_rr_ = qap::product(of_r, of_r);
    new_ss_ = qap::product(of_s, of_s) + rr + ss -
              qap::pair_factor(a_own.r, a_own.s, a_both[0], a_both[other]) * qap::pair_factor(b_own.r, b_own.s, b_both[0], b_both[other]) *
                  Keys::scale;
    both_f_ = rr + qap::product(of_r, of_s);
    if (x_ == r) b_own_ = b_own.s;
    if (x_ == s) b_own_ = b_own.r;
    at_r_ = shared_.touched_at(x_ > r, false, x_);
    at_s_ = shared_.touched_at(x_ > s, true, x_);
  }
  /// Updates this facility's touched pairs and F[x][x].
  [[nodiscard]] __device__ __forceinline__ Best update(const State& state) {
    const std::int32_t r = state.r, s = state.s;
    key_r_ = key_s_ = Keys::garbage;
    if (!exists_ || r < 0) return {};
    pair_r_ = pair_with(r);
    pair_s_ = pair_with(s);
    const Pair both = shared_.touched_before[shared_.touched_at(false, true, r)], with_r = shared_.touched_before[at_r_],
               with_s = shared_.touched_before[at_s_];
    // From r, s, F[r][s] and delta(r, s): F[r][r] and F[s][s] after the swap.
    const Delta delta_both = Keys::scaled(both.key), new_rr = both.f + new_rr_, new_ss = delta_both - both.f + new_ss_;
    if (x_ == r) diagonal_ = new_rr;
    if (x_ == s) diagonal_ = new_ss;
    shared_.p[x_] = q_;
    shared_.diagonal[x_] = diagonal_;
    shared_.b_diagonal[x_] = b_own_;
    if (!updates_pairs_) return {};
    const InnerProducts old_r = inner_products(with_r, x_ > r, rest_.r), old_s = inner_products(with_s, x_ > s, rest_.s);
    // The columns of r and s change places.
    Pair now_r = pair_now(r, {old_r.yx + change_r_.yx, old_s.xy + change_r_.xy}, new_rr, pair_product_.r, with_r.key & Keys::marks);
    Pair now_s = pair_now(s, {old_s.yx + change_s_.yx, old_r.xy + change_s_.xy}, new_ss, pair_product_.s, with_s.key & Keys::marks);
    const Pair now_both{Keys::of(-delta_both, (state.is_tabu_search() ? Keys::tabu : 0) | (both.key & Keys::slot_mask)), both_f_};
    if (x_ == r) now_s = now_both;
    if (x_ == s) now_r = now_both;
    if (x_ != r) {
      key_r_ = now_r.key;
      send_back(r, at_r_, now_r);
    }
    if (x_ != s) {
      key_s_ = now_s.key;
      send_back(s, at_s_, now_s);
    }
    return candidate(key_r_, key_s_, min(key_r_ ^ Keys::tabu, key_s_ ^ Keys::tabu) < state.aspiration());
  }
  [[nodiscard]] __device__ __forceinline__ Best best_ignoring_tabu() const {
    return candidate(key_r_ & ~Keys::tabu, key_s_ & ~Keys::tabu, false);
  }
  __device__ __forceinline__ void restore_touched(const State&) const {}
  __device__ __forceinline__ void receive_choice(std::uint32_t, Delta) const {}

 private:
  struct OfSwapped {
    Delta r, s;
  };
  /// F[y][x] and F[x][y] of facility y, which swapped, and x, this one.
  struct InnerProducts {
    Delta yx, xy;
  };

  [[nodiscard]] __device__ __forceinline__ Delta entry(const std::int32_t* matrix, std::int32_t row, std::int32_t column) const {
    return static_cast<Delta>(__ldg(matrix + static_cast<std::uint32_t>(row * searches_.n + column)));
  }
  /// `rest`: by how much F[x][y] + F[y][x] exceeds the delta.
  [[nodiscard]] static __device__ __forceinline__ InnerProducts inner_products(const Pair& pair, bool is_column, Delta rest) {
    const Delta other = Keys::scaled(pair.key) - pair.f + rest;
    return is_column ? InnerProducts{pair.f, other} : InnerProducts{other, pair.f};
  }
  /// The pair with y, which is r or s, after the swap.
  [[nodiscard]] __device__ __forceinline__ Pair pair_now(std::int32_t y, const InnerProducts& now, Delta at_y, Delta pair_product,
                                                         Key marks) const {
    return {Keys::of(qap::swap_delta(now.yx, now.xy, at_y, diagonal_, pair_product), marks), x_ > y ? now.yx : now.xy};
  }
  /// Sends it to its pair thread.
  __device__ __forceinline__ void send_back(std::int32_t y, std::int32_t at, const Pair& pair) const {
    const std::int32_t block = V::cluster ? policy_.block_of(min(x_, y), max(x_, y)) : 0;
    V::in_block(shared_.touched_after[at], block) = pair;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t pair_with(std::int32_t y) const {
    return x_ > y ? Best::pair_of(y, x_) : Best::pair_of(x_, y);
  }
  /// The better of the pairs with r and s.
  [[nodiscard]] __device__ __forceinline__ Best candidate(Key with_r, Key with_s, bool aspires) const {
    const Key r = Keys::value(with_r), s = Keys::value(with_s);
    const std::uint32_t pair = r == s ? min(pair_r_, pair_s_) : r < s ? pair_r_ : pair_s_;
    return {min(r, s), pair | (aspires ? Best::flag : 0)};
  }

  const QapSearches<typename V::Types>& searches_;
  Delta* f_;
  const typename V::Policy& policy_;
  const typename V::Shared& shared_;
  std::int32_t x_;
  bool exists_;         ///< is there such a facility?
  bool updates_pairs_;  ///< are its touched pairs updated in this block?
  std::int32_t *current_, *best_;
  std::int32_t q_, q_best_;  ///< location of x now, and in the best solution
  Delta diagonal_;           ///< F[x][x], scaled; x neither r nor s: after the swap as soon as it is known
  Delta a_own_, b_own_;      ///< A[x][x], B'[x][x]
  // Of the last swap.
  OfSwapped rest_, pair_product_;      ///< by how much F[x][y] + F[y][x] exceeded the delta; alpha[x][y] beta[x][y] from now on
  InnerProducts change_r_, change_s_;  ///< products added to them
  Delta new_rr_, new_ss_, both_f_;     ///< F[r][r] - F[s][r] before, F[s][s] without what the pair adds, F[r][s]
  std::int32_t at_r_, at_s_;           ///< places of the touched pairs
  Key key_r_, key_s_;
  std::uint32_t pair_r_ = Best{}.low, pair_s_ = Best{}.low;
};

// --- progress warp -----------------------------------------------------------------------------------------------------------

/// Records a choice while other warps are in phases 1 and 2 after it.
template <class V>
class ProgressThread {
 public:
  using Delta = typename V::Delta;
  using Best = typename V::Best;
  using State = typename V::State;

  __device__ __forceinline__ ProgressThread(local_search::SearchProgress& stored, const State& state, std::int32_t n)
      : stored_(stored),
        progress_(stored),
        method_(state.is_tabu_search() ? local_search::Method::tabu : local_search::Method::hill),
        n_(n) {}

  __device__ __forceinline__ void receive_choice(std::uint32_t pair, Delta delta) {
    pair_ = pair;
    delta_ = delta;
  }
  __device__ __forceinline__ void restore_touched(const State&) const {}
  __device__ __forceinline__ void prepare(const State&) const {}
  __device__ __forceinline__ void record() {
    if (pair_ == none) return;
    progress_.take({progress_.value + delta_, moves::index<2>(n_, Best::swap_of(pair_)), false}, method_);
    pair_ = none;
  }
  __device__ __forceinline__ void store() {
    record();
    if (threadIdx.x % 32 == 0) stored_ = progress_;
  }

 private:
  static constexpr std::uint32_t none = Best::flag;

  local_search::SearchProgress& stored_;
  local_search::SearchProgress progress_;
  local_search::Method method_;
  std::int32_t n_;
  std::uint32_t pair_ = none;  ///< the last choice, until it is recorded
  Delta delta_ = 0;
};

// --- the search --------------------------------------------------------------------------------------------------------------

/// Of two slots' bests the better, flagged if one of them is. `other` by value: a slot is read whole.
template <class Best>
__device__ __forceinline__ void merge(Best& best, Best other) {
  const std::uint32_t flag = (best.low | other.low) & Best::flag;
  if (other.before(best)) best = other;
  best.low |= flag;
}
/// The best of the warp's lanes. Returns whether any of them is flagged; `best` is not.
template <class Best>
[[nodiscard]] __device__ __forceinline__ bool best_of_warp(Best mine, Best& best) {
  const bool flagged = __any_sync(~0u, (mine.low & Best::flag) != 0);
  mine.low &= ~Best::flag;
  best = cuda::warp_argmin(mine);
  return flagged;
}
/// The warp's best, to all blocks.
template <class V>
__device__ __forceinline__ void publish_best(typename V::Best* slots, const typename V::Policy& policy, const typename V::Best& mine) {
  typename V::Best best;
  if (best_of_warp(mine, best)) best.low |= V::Best::flag;
  cuda::leave_in_blocks<V::cluster>(best, slots, policy.blocks, V::rank_in_cluster(policy));
}
/// The best of the published ones that this lane reads.
template <class V>
[[nodiscard]] __device__ __forceinline__ typename V::Best best_of_lane(const typename V::Best* slots, const typename V::Policy& policy) {
  return cuda::least_of_lane<V::cluster>(slots, policy.blocks, merge<typename V::Best>);
}

/// The barrier between phases 1 and 2. Of one block the progress warp only arrives: what it does meanwhile takes longer than phase 1.
/// Warps are converged: bar.sync, which takes that for granted, is faster where matrices are symmetric, and not where code is longer.
template <class V, bool Waits>
__device__ __forceinline__ void barrier_of_swap() {
  if constexpr (V::cluster)
    cuda::barrier_of_all<true>();
  else if constexpr (Waits && V::sides == 1)
    asm volatile("bar.sync 1, %0;" ::"r"(blockDim.x) : "memory");
  else if constexpr (Waits)
    asm volatile("barrier.sync 1, %0;" ::"r"(blockDim.x) : "memory");
  else if constexpr (V::sides == 1)
    asm volatile("bar.arrive 1, %0;" ::"r"(blockDim.x) : "memory");
  else
    asm volatile("barrier.arrive 1, %0;" ::"r"(blockDim.x) : "memory");
}
/// That of all, likewise.
template <class V>
__device__ __forceinline__ void barrier_of_move() {
  if constexpr (V::cluster || V::sides == 2)
    cuda::barrier_of_all<V::cluster>();
  else
    __syncthreads();
}

/// The search as warps of one role take part in it, until it ends or has taken the moves it may.
template <class V, Role<V> R>
__device__ __forceinline__ void search_as(R& role, const typename V::Policy& policy, const typename V::Shared& shared,
                                          typename V::State& state) {
  using Best = typename V::Best;
  constexpr bool has_pairs = PairRole<R, V>;
  while (true) {
    barrier_of_swap<V, has_pairs>();
    if constexpr (has_pairs)
      publish_best<V>(shared.best, policy, role.update(state));
    else
      role.record();
    barrier_of_move<V>();
    Best best, of_lane = best_of_lane<V>(shared.best, policy);
    role.restore_touched(state);
    if (state.moves_taken == state.limit) return;
    if (best_of_warp(of_lane, best)) {  // aspiration
      if constexpr (has_pairs) publish_best<V>(shared.best_ignoring_tabu, policy, role.best_ignoring_tabu());
      barrier_of_move<V>();
      of_lane = best_of_lane<V>(shared.best_ignoring_tabu, policy);
      static_cast<void>(best_of_warp(of_lane, best));
    }
    const auto delta = V::Keys::delta(best.high);
    role.receive_choice(best.low, delta);
    if (!state.is_tabu_search() && delta >= 0) return;
    state.take(best.low, delta);
    role.prepare(state);
  }
}

/// Mapping, phases, synchronisation and cost: see the head of this file.
template <class V>
__global__ void __launch_bounds__(V::Policy::most_threads(V::rows, V::cluster), 1)
    qap_block_kernel(const __grid_constant__ QapSearches<typename V::Types> searches, const __grid_constant__ typename V::Policy policy,
                     local_search::SearchProgress* all_progress, std::int32_t limit) {
  extern __shared__ __align__(16) std::byte memory[];
  const typename V::Shared shared(memory, policy);
  const std::int32_t rank = V::rank_in_cluster(policy);
  const std::size_t search = blockIdx.x / static_cast<std::uint32_t>(policy.blocks);
  const auto thread = static_cast<std::int32_t>(threadIdx.x), threads = static_cast<std::int32_t>(blockDim.x);
  local_search::SearchProgress& progress = all_progress[search];
  if (progress.done(limit)) return;

  typename V::State state;
  state.moves_taken = static_cast<std::int32_t>(progress.iterations);
  state.limit = limit;
  state.tenure = searches.tenure;
  state.gap = static_cast<typename V::Delta>(progress.best_value - progress.value);
  for (std::int32_t x = thread; x < policy.pitch(); x += threads) shared.differences[x] = {};
  for (std::int32_t x = thread; x < policy.n; x += threads)
    shared.p[x] = searches.p[search * static_cast<std::size_t>(policy.n) + static_cast<std::size_t>(x)];
  for (std::int32_t k = thread; k < 32 * policy.blocks; k += threads) shared.best[k] = shared.best_ignoring_tabu[k] = {};
  cuda::barrier_of_all<V::cluster>();
  if (thread < policy.pair_threads) {
    PairThread<V> role(searches, search, policy, shared);
    role.load(state);
    search_as<V>(role, policy, shared, state);
    role.store();
  } else if (thread < policy.pair_threads + policy.facility_threads) {
    FacilityThread<V> role(searches, search, policy, shared);
    role.load(state);
    search_as<V>(role, policy, shared, state);
    if (rank == 0) role.store();
  } else {
    ProgressThread<V> role(progress, state, policy.n);
    search_as<V>(role, policy, shared, state);
    if (rank == 0) role.store();
  }
}

// --- on the host -------------------------------------------------------------------------------------------------------------

/// A kernel, and how it is launched for an instance.
template <class Types>
struct BlockLaunch {
  QapBlockPolicy<Types> policy;
  std::int64_t delta_limit;
  void (*kernel)(QapSearches<Types>, QapBlockPolicy<Types>, local_search::SearchProgress*, std::int32_t);

  template <int Rows, int Blocks>
  [[nodiscard]] static BlockLaunch of(std::int32_t n) {
    using V = Variant<Types, Rows, (Blocks > 1)>;
    return {{n, Rows, Blocks}, static_cast<std::int64_t>(V::Keys::limit), qap_block_kernel<V>};
  }
  [[nodiscard]] cuda::Shape shape(std::int64_t searches) const {
    return {.blocks = searches * policy.blocks,
            .threads = policy.threads(),
            .shared_bytes = SharedLayout<Types>::bytes(policy),
            .cluster = policy.blocks};
  }
  [[nodiscard]] bool fits(const qap::Qap& instance) const {
    if (policy.threads() > policy.most_threads(policy.rows, policy.blocks > 1) || instance.delta_bound() >= delta_limit) return false;
    const cuda::Shape alone = shape(1);
    if (alone.shared_bytes > cuda::most_shared()) return false;
    cuda::allow_shared(kernel, alone.shared_bytes);
    return policy.blocks == 1 || cuda::clusters_at_a_time(alone, kernel) > 0;
  }
};
/// Of those that fit an instance and the device the first with few pair threads, else the first: few rows a thread before many, one block
/// before a cluster. Every warp takes some hundred instructions a move beside those of its pairs.
template <class Types>
[[nodiscard]] std::optional<BlockLaunch<Types>> block_launch(const qap::Qap& instance) {
  using L = BlockLaunch<Types>;
  const std::int32_t n = instance.size();
  std::vector<L> all{L::template of<4, 1>(n), L::template of<8, 1>(n), L::template of<12, 1>(n)};
  if constexpr (sizeof(typename Types::Delta) == 4)
    all.insert(all.end(), {L::template of<16, 1>(n), L::template of<24, 1>(n), L::template of<12, 8>(n), L::template of<16, 8>(n)});
  std::erase_if(all, [&](const L& one) { return !one.fits(instance); });
  if (all.empty()) return std::nullopt;
  const auto few =
      std::find_if(all.begin(), all.end(), [](const L& one) { return one.policy.blocks == 1 && one.policy.pair_threads <= 416; });
  return few == all.end() ? all.front() : *few;
}

template <class Types>
class BlockEngine {
 public:
  using Neighborhood = QapSwaps;

  BlockEngine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream),
        launch_(block_launch<Types>(neighborhood.instance()).value()),
        batch_size_(std::min<std::int64_t>(task.restarts, cuda::multiprocessors())),
        memory_(neighborhood, task, batch_size_) {}

  [[nodiscard]] std::int64_t batch_size() const { return batch_size_; }
  void begin(const std::vector<local_search::SearchState<Neighborhood>>& states) {
    searches_ = static_cast<unsigned>(states.size());
    memory_.begin(states, stream_);
  }
  void launch(local_search::SearchProgress* all_progress, std::int64_t limit) {
    VICINITY_CUDA_CHECK(cuda::launch(launch_.shape(searches_), stream_, launch_.kernel, memory_.view(), launch_.policy, all_progress,
                                     static_cast<std::int32_t>(limit)));
  }
  void finish(std::vector<local_search::SearchResult<Neighborhood::Solution>>& searches) { memory_.finish(searches, stream_); }
  void poison() { memory_.poison(stream_); }
  [[nodiscard]] Ceiling synchronization() const { return launch_.policy.blocks > 1 ? Ceiling::cluster_barrier : Ceiling::block_barrier; }
  [[nodiscard]] Policy policy() const { return launch_.policy.record(); }

 private:
  const cuda::Stream& stream_;
  BlockLaunch<Types> launch_;
  std::int64_t batch_size_;
  QapMemory<Types> memory_;
  unsigned searches_ = 0;
};

/// Null where an instance does not fit.
template <class Types>
std::unique_ptr<Run> block_run(const QapSwaps& neighborhood, const local_search::Task& task) {
  if (!block_launch<Types>(neighborhood.instance())) return nullptr;
  return std::make_unique<DeviceRun<BlockEngine<Types>>>(neighborhood, task);
}

}  // namespace

std::unique_ptr<Run> tuned_run(const QapSwaps& neighborhood, const local_search::Task& task) {
  std::unique_ptr<Run> run = qap_small_run(neighborhood, task);
  if (!run && neighborhood.instance().symmetric()) run = block_run<QapTypes<std::int32_t, 1>>(neighborhood, task);
  if (!run) run = block_run<QapTypes<std::int32_t, 2>>(neighborhood, task);
  if (!run) run = block_run<QapTypes<std::int64_t, 2>>(neighborhood, task);
  if (!run) run = qap_grid_run(neighborhood, task);
  return run;
}

}  // namespace vicinity::lsm
