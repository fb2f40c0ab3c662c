// Tabu search and hill climbing on the QAP by swaps, a search of a small symmetric instance in one block: `gpu-tuned` up to n = 64.
//
// Problem, and how deltas follow a swap: block.cu. Larger instances wait for the issue slots of their pairs and want those in registers;
// small ones wait for dependent instructions, and want few of them and few branches. So all pairs lie in shared memory: whoever changes
// one puts it in its place.
//
// Data layout. A pair i < j is its key and F[i][j] (pair_keys.cuh). A pair thread has a column j and up to `Rows` consecutive rows i: it
// reads its pairs when a move is over, while the next is chosen, and writes them when they are updated. Facility threads are two for each
// facility x, one for its pair with r and one for that with s, the facilities that swapped: the touched pairs, whose deltas change by more
// than products.
//
// A move:
//   1. Every warp finds the best pair of all, which is the swap, from the bests of the warps.
//   2. Pair threads find d and e of their columns, and a lane each of the rows of its warp; update all pairs but the touched ones, which
//      are masked; and write them, once facility threads have read what they need (pairs_read). Facility threads make the touched pairs
//      anew. Each warp publishes its best.
//   3. Facility threads write the touched pairs, after the pair threads have written (pairs_written).                          [barrier]
// What a move changes and others read at the same time (places, diagonals, bests) exists twice and is used in turns.
//
// Slots of a pair thread that are no pair: (i, j) with i > j changes as the pair (j, i) does, and becomes garbage again when that is
// touched, by the progress warp; (j, j) does not change; of rows beyond n all become garbage when read. Idle threads pass garbage.
//
// Aspiration. A tabu pair that leads below the best value of the search counts as free where it is found: then the best of all pairs does
// so too, and no free pair before it is passed over.
//
// Synchronisation: one barrier of the block a move, and two between pair and facility threads for which no one waits long.
// Cost: the latencies of some 250 dependent instructions, four reductions of a warp and six reads of shared memory or L1.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/methods/lsm/search.hpp"
#include "kernels/cuda/collective/argmin.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/device_searches.cuh"
#include "kernels/lsm/tuned/qap/pair_keys.cuh"
#include "kernels/lsm/tuned/qap/searches.cuh"

namespace vicinity::lsm {
namespace {

using SmallTypes = QapTypes<std::int32_t, 1>;
using SmallDifference = SmallTypes::Difference;
using SmallPair = PairState<std::int32_t>;
using SmallBest = BestPair<std::uint32_t>;

// --- tuning ------------------------------------------------------------------------------------------------------------------

/// How the threads of a block are divided: pair threads, then facility threads with r, then those with s, then the progress warp.
struct SmallPolicy {
  static constexpr std::int32_t warp = 32, most_size = 64, most_threads = 512, few_pair_threads = 320;

  std::int32_t n, rows, pair_threads, facility_threads;

  SmallPolicy(std::int32_t size, std::int32_t rows_a_thread)
      : n(size), rows(rows_a_thread), facility_threads(2 * divide_up(size, warp) * warp) {
    pair_threads = divide_up(pair_threads_before(divide_up(n - 1, rows)), warp) * warp;
  }
  [[nodiscard]] __host__ __device__ std::int32_t threads() const { return pair_threads + facility_threads + warp; }
  /// Pair threads for rows before strip * rows.
  [[nodiscard]] __host__ __device__ __forceinline__ std::int32_t pair_threads_before(std::int32_t strip) const {
    return strip * (n - 1) - rows * (strip * (strip - 1) / 2);
  }
  /// The thread of column j in the strip; of j = 0, if there were one.
  [[nodiscard]] __device__ __forceinline__ std::int32_t thread_of(std::int32_t strip, std::int32_t j) const {
    return pair_threads_before(strip) + j - 1 - strip * rows;
  }
  [[nodiscard]] Policy record() const {
    return {{"block", threads()}, {"rows_a_thread", rows}, {"element_bits", 32}, {"blocks", 1}, {"cluster", 0}};
  }
};

// --- data --------------------------------------------------------------------------------------------------------------------

/// Shared memory. All places are known when the kernel is compiled, for the most facilities and pair threads: addresses cost nothing. Of
/// arrays of two the one of moves_taken & 1 is that after so many moves.
template <int Rows>
struct SmallShared {
  static constexpr std::int32_t most = SmallPolicy::most_size, most_threads = SmallPolicy::few_pair_threads;
  /// Slots of a thread and two more: neighbours' vectors lie in different banks.
  static constexpr std::int32_t pitch = Rows + 2;

  SmallBest best[2 * 32];                             ///< [2][warp]
  std::int32_t p[2 * most];                           ///< [2][facility]
  std::int32_t diagonal[2 * most];                    ///< [2][facility]: F[x][x], scaled
  std::int32_t b_diagonal[2 * most];                  ///< [2][facility]: B'[x][x]
  std::int32_t a_diagonal[most];                      ///< [facility]: A[x][x]
  std::int32_t places[most];                          ///< [facility]: where `pairs` has its pair as a row with a facility j, less j * pitch
  SmallDifference differences[most_threads];          ///< [pair thread]: of the swap, d scaled; of the warp's rows, one a lane
  std::uint32_t masks[most_threads];                  ///< [pair thread]: garbage where the facility of that row swapped, else 0
  std::int32_t until[most_threads * pitch];           ///< as `pairs`: of tabu pairs
  alignas(16) SmallPair pairs[most_threads * pitch];  ///< [pair thread][slot], a thread's `pitch` after the other's

  /// Where facility x stands in arrays of two.
  [[nodiscard]] static __device__ __forceinline__ std::int32_t at(std::int32_t moves_taken, std::int32_t x) {
    return (moves_taken & 1) * most + x;
  }
};

/// Barriers of pair and facility threads; the latter with the progress warp. Not bar.sync and bar.arrive: ptxas moves those, and an
/// arrival that comes late is one that others wait for.
enum : int { pairs_read = 1, pairs_written = 2 };
template <int Barrier, bool Waits>
__device__ __forceinline__ void meet() {
  const unsigned threads = Barrier == pairs_read ? blockDim.x - 32 : blockDim.x;
  if constexpr (Waits)
    asm volatile("barrier.sync %0, %1;" ::"n"(Barrier), "r"(threads) : "memory");
  else
    asm volatile("barrier.arrive %0, %1;" ::"n"(Barrier), "r"(threads) : "memory");
}

[[nodiscard]] __device__ __forceinline__ std::int32_t entry_of(const std::int32_t* matrix, std::int32_t n, std::int32_t row,
                                                               std::int32_t column) {
  return __ldg(matrix + static_cast<std::uint32_t>(row * n + column));
}

// --- pair threads ------------------------------------------------------------------------------------------------------------

template <int Rows>
class SmallPairThread {
 public:
  using Keys = PairKeys<std::int32_t, Rows>;
  using State = ReplicatedState<Keys>;

  __device__ __forceinline__ SmallPairThread(const QapSearches<SmallTypes>& searches, std::size_t search, const SmallPolicy& policy,
                                             SmallShared<Rows>& shared)
      : searches_(searches), f_(searches.f_of(search)), until_(searches.until_of(search)), shared_(shared), n_(policy.n) {
    auto k = static_cast<std::int32_t>(threadIdx.x);
    for (first_ = 0; first_ + Rows < n_ - 1 && k >= n_ - 1 - first_; first_ += Rows) k -= n_ - 1 - first_;
    column_ = min(first_ + 1 + k, n_);
    rows_ = column_ < n_ ? min(Rows, column_ - first_) : 0;
    lane_ = static_cast<std::int32_t>(threadIdx.x) % 32;
    first_of_warp_ = __shfl_sync(~0u, first_, 0);
    shared.differences[threadIdx.x] = {};
    shared.masks[threadIdx.x] = 0;
    __syncwarp();
  }

  /// From device memory; `p` is in place.
  __device__ __forceinline__ void load(const State& state) {
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      pairs_[k] = {Keys::garbage, 0};
      shared_.until[place() + k] = 0;
      if (k >= rows_) continue;
      const std::int32_t i = first_ + k, j = column_, until = until_[move(i)], f = f_[searches_.at(i, j)];
      const std::int32_t delta =
          qap::swap_delta(f, f_[searches_.at(j, i)], f_[searches_.at(i, i)], f_[searches_.at(j, j)], pair_product(i, state.moves_taken));
      pairs_[k] = {Keys::of(delta * Keys::scale, static_cast<std::uint32_t>(k)), f * Keys::scale};
      if (until <= state.moves_taken) continue;
      shared_.until[place() + k] = until;
      pairs_[k].key += Keys::tabu;
      expiry_ = min(expiry_, until);
    }
    write();
  }
  /// To device memory; `p` and the diagonal are those of the last solution.
  __device__ __forceinline__ void store(const State& state) const {
    const std::int32_t* diagonal = shared_.diagonal + shared_.at(state.moves_taken, 0);
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      if (k >= rows_) continue;
      const std::int32_t i = first_ + k, j = column_;
      const std::int32_t rest = Keys::scaled(pairs_[k].key) - pairs_[k].f + diagonal[i] + diagonal[j];
      f_[searches_.at(i, j)] = pairs_[k].f / Keys::scale;
      f_[searches_.at(j, i)] = rest / Keys::scale - pair_product(i, state.moves_taken);
      until_[move(i)] = shared_.until[place() + k];
    }
  }

  /// Phase 2, as far as the swap alone decides.
  __device__ __forceinline__ void prepare(const State& state) {
    const std::int32_t* p = shared_.p + shared_.at(state.moves_taken - 1, 0);
    const std::int32_t u = p[state.r], v = p[state.s], row = first_of_warp_ + lane_;
    own_ = difference(state, u, v, min(column_, n_ - 1), p);
    const SmallDifference of_row = difference(state, u, v, min(row, n_ - 1), p);
    if (expiry_ <= state.moves_taken) expire_tabu(state);
    shared_.differences[threadIdx.x] = of_row;
    shared_.masks[threadIdx.x] = row == state.r || row == state.s ? Keys::garbage : 0;
    __syncwarp();
  }
  /// Updates its pairs. Returns the best that is not touched.
  [[nodiscard]] __device__ __forceinline__ SmallBest update(const State& state) {
    struct alignas(16) TwoDifferences {
      SmallDifference of[2];
    };
    struct alignas(16) FourMasks {
      std::uint32_t of[4];
    };
    const auto first = static_cast<std::int32_t>(threadIdx.x) - lane_ + first_ - first_of_warp_;  // of the warp's rows
    const auto* differences = reinterpret_cast<const TwoDifferences*>(shared_.differences + first);
    const auto* masks = reinterpret_cast<const FourMasks*>(shared_.masks + first);
    std::uint32_t best = ~0u;
    std::int32_t least = std::numeric_limits<std::int32_t>::max();  // of the keys as signed numbers: of a tabu pair if there is one
#pragma unroll
    for (int c = 0; c < Rows; c += 4) {
      const FourMasks mask = masks[c / 4];
      const TwoDifferences rows[2] = {differences[c / 2], differences[c / 2 + 1]};
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const SmallDifference& row = rows[k / 2].of[k % 2];
        SmallPair& pair = pairs_[c + k];
        pair.key += static_cast<std::uint32_t>(qap::delta_change(row, own_));
        pair.f += qap::product(row, own_);
        best = min(best, pair.key | mask.of[k]);
        least = min(least, static_cast<std::int32_t>(pair.key | mask.of[k]));
      }
    }
    meet<pairs_read, true>();
    write();
    const std::int32_t at_r = state.r - first_;
    if (column_ == state.s && static_cast<std::uint32_t>(at_r) < Rows && state.is_tabu_search()) {
      shared_.until[place() + at_r] = state.until();
      expiry_ = min(expiry_, state.until());
    }
    meet<pairs_written, false>();
    const std::uint32_t aspiring = static_cast<std::uint32_t>(least) ^ Keys::tabu;  // as if free if tabu, above all free ones if not
    if (aspiring < state.aspiration()) best = min(best, aspiring);
    if (column_ == state.r || column_ == state.s || column_ == n_) best |= Keys::garbage;
    return {Keys::value(best), SmallBest::pair_of(first_ + static_cast<std::int32_t>(best & Keys::slot_mask), column_)};
  }
  __device__ __forceinline__ void finish(const State&) const {}
  /// Reads its pairs.
  __device__ __forceinline__ void fetch() {
    const auto* from = reinterpret_cast<const TwoPairs*>(shared_.pairs + place());
#pragma unroll
    for (int k = 0; k < Rows; k += 2) {
      const TwoPairs two = from[k / 2];
      pairs_[k] = two.of[0];
      pairs_[k + 1] = two.of[1];
    }
    if (first_ + Rows <= n_) return;
#pragma unroll
    for (int k = 0; k < Rows; ++k)
      if (first_ + k >= n_) pairs_[k].key = Keys::garbage;
  }
  __device__ __forceinline__ void receive_choice(std::uint32_t, std::int32_t) const {}

 private:
  static constexpr std::int32_t no_expiry = std::numeric_limits<std::int32_t>::max();
  struct alignas(16) TwoPairs {
    SmallPair of[2];
  };

  /// Of its first slot in `pairs` and `until`.
  [[nodiscard]] __device__ __forceinline__ std::int32_t place() const {
    return static_cast<std::int32_t>(threadIdx.x) * SmallShared<Rows>::pitch;
  }
  [[nodiscard]] __device__ __forceinline__ std::int64_t move(std::int32_t i) const { return moves::index<2>(n_, {{i, column_}}); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t pair_product(std::int32_t i, std::int32_t moves_taken) const {
    const std::int32_t* p = shared_.p + shared_.at(moves_taken, 0);
    return searches_.alpha[searches_.at(i, column_)] * searches_.beta[searches_.at(p[i], p[column_])];
  }
  /// Of facility x, d scaled; r and s were at locations u and v, the others are where `p` says. Anything of r and s.
  [[nodiscard]] __device__ __forceinline__ SmallDifference difference(const State& state, std::int32_t u, std::int32_t v, std::int32_t x,
                                                                      const std::int32_t* p) const {
    const std::int32_t q = p[x];
    const std::int32_t d = entry_of(searches_.a, n_, state.r, x) - entry_of(searches_.a, n_, state.s, x);
    return {{2 * Keys::scale * d}, {entry_of(searches_.b, n_, v, q) - entry_of(searches_.b, n_, u, q)}};
  }
  __device__ __forceinline__ void write() const {
    auto* to = reinterpret_cast<TwoPairs*>(shared_.pairs + place());
#pragma unroll
    for (int k = 0; k < Rows; k += 2) to[k / 2] = {{pairs_[k], pairs_[k + 1]}};
  }
  /// Some pair stops being tabu, or was overwritten since `expiry_` was found.
  __device__ __forceinline__ void expire_tabu(const State& state) {
    struct alignas(8) Two {
      std::int32_t of[2];
    };
    const auto* until = reinterpret_cast<const Two*>(shared_.until + place());
    const auto moves_taken = static_cast<std::uint32_t>(state.moves_taken), none = static_cast<std::uint32_t>(no_expiry) - moves_taken;
    std::uint32_t left = none;  // moves until the next expiry
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      const auto end = static_cast<std::uint32_t>(until[k / 2].of[k % 2]);  // 0: never was tabu, and may be no pair
      if (end - 1 < moves_taken) pairs_[k].key &= ~Keys::tabu;
      left = min(left, end - moves_taken - 1);  // wraps around, so that what has ended does not count
    }
    expiry_ = left == none ? no_expiry : static_cast<std::int32_t>(moves_taken + 1 + left);
  }

  const QapSearches<SmallTypes>& searches_;
  std::int32_t *f_, *until_;
  SmallShared<Rows>& shared_;
  std::int32_t n_, lane_, first_of_warp_;
  std::int32_t first_, column_, rows_;  ///< rows first_ .. first_ + rows_ - 1 of column_; idle threads have none, of column n
  SmallDifference own_{};               ///< of its column
  SmallPair pairs_[Rows];
  std::int32_t expiry_ = no_expiry;  ///< no pair stops being tabu before so many moves are taken
};

// --- facility threads --------------------------------------------------------------------------------------------------------

/// The pair of facility x with y, which is r or s; z is the other. All that follows is the same with r and s exchanged: d and e change
/// signs, their product does not.
template <int Rows>
class SmallFacilityThread {
 public:
  using Keys = PairKeys<std::int32_t, Rows>;
  using State = ReplicatedState<Keys>;

  __device__ __forceinline__ SmallFacilityThread(const QapSearches<SmallTypes>& searches, std::size_t search, const SmallPolicy& policy,
                                                 SmallShared<Rows>& shared)
      : searches_(searches), f_(searches.f_of(search)), shared_(shared), n_(policy.n) {
    std::int32_t k = static_cast<std::int32_t>(threadIdx.x) - policy.pair_threads;
    with_s_ = k >= policy.facility_threads / 2;
    if (with_s_) k -= policy.facility_threads / 2;
    exists_ = k < n_;
    x_ = min(k, n_ - 1);
    place_ = policy.thread_of(x_ / Rows, 0) * pitch + x_ % Rows;
    current_ = searches.p + search * static_cast<std::size_t>(n_) + x_;
    best_ = searches.best + search * static_cast<std::size_t>(n_) + x_;
  }

  __device__ __forceinline__ void load(const State&) {
    q_ = *current_;
    q_best_ = *best_;
    diagonal_ = f_[searches_.at(x_, x_)] * Keys::scale;
    a_own_ = entry_of(searches_.a, n_, x_, x_);
    b_own_ = entry_of(searches_.b, n_, q_, q_);
    if (!exists_ || with_s_) return;
    shared_.a_diagonal[x_] = a_own_;
    shared_.places[x_] = place_;
  }
  __device__ __forceinline__ void store(const State& state) const {
    if (!exists_ || with_s_) return;
    *current_ = q_;
    *best_ = q_best_;
    f_[searches_.at(x_, x_)] = shared_.diagonal[shared_.at(state.moves_taken, x_)] / Keys::scale;
  }

  __device__ __forceinline__ void prepare(const State&) const {}
  /// The touched pair after the swap.
  [[nodiscard]] __device__ __forceinline__ SmallBest update(const State& state) {
    if (state.r >= 0) return take_swap(state);
    meet<pairs_read, false>();
    return {};
  }
  __device__ __forceinline__ void finish(const State& state) const {
    const std::int32_t y = with_s_ ? state.s : state.r, z = with_s_ ? state.r : state.s, now = shared_.at(state.moves_taken, x_);
    if (exists_ && (x_ == y || (x_ != z && !with_s_))) {
      shared_.p[now] = q_;
      shared_.diagonal[now] = diagonal_;
      shared_.b_diagonal[now] = b_own_;
    }
    meet<pairs_written, true>();
    if (state.r >= 0 && is_pair(y, z)) shared_.pairs[at_] = now_;
  }
  __device__ __forceinline__ void fetch() const {}
  __device__ __forceinline__ void receive_choice(std::uint32_t, std::int32_t) const {}

 private:
  static constexpr std::int32_t pitch = SmallShared<Rows>::pitch;
  struct OfSwapped {
    std::int32_t y, z;
  };
  /// F[y][x] and F[x][y].
  struct InnerProducts {
    std::int32_t yx, xy;
  };

  /// Of r and s there is one pair.
  [[nodiscard]] __device__ __forceinline__ bool is_pair(std::int32_t y, std::int32_t z) const {
    return exists_ && x_ != y && (x_ != z || with_s_);
  }
  /// Of x and y, some place if they are the same.
  [[nodiscard]] __device__ __forceinline__ std::int32_t place_with(std::int32_t y, std::int32_t place_y) const {
    return max(0, (x_ < y ? place_ : place_y) + max(x_, y) * pitch);
  }
  /// `rest`: by how much F[x][y] + F[y][x] exceeds the delta.
  [[nodiscard]] __device__ __forceinline__ InnerProducts inner_products(const SmallPair& pair, std::int32_t y, std::int32_t rest) const {
    const std::int32_t other = Keys::scaled(pair.key) - pair.f + rest;
    return x_ > y ? InnerProducts{pair.f, other} : InnerProducts{other, pair.f};
  }

  [[nodiscard]] __device__ __forceinline__ SmallBest take_swap(const State& state) {
    const std::int32_t y = with_s_ ? state.s : state.r, z = with_s_ ? state.r : state.s, before = shared_.at(state.moves_taken - 1, 0);
    const OfSwapped p{shared_.p[before + y], shared_.p[before + z]}, diagonal{shared_.diagonal[before + y], shared_.diagonal[before + z]},
        a_own{shared_.a_diagonal[y], shared_.a_diagonal[z]}, b_own{shared_.b_diagonal[before + y], shared_.b_diagonal[before + z]},
        place{shared_.places[y], shared_.places[z]};
    at_ = place_with(y, place.y);
    const SmallPair both = shared_.pairs[(with_s_ ? place.z : place.y) + state.s * pitch], with_y = shared_.pairs[at_],
                    with_z = shared_.pairs[place_with(z, place.z)];
    std::int32_t until = shared_.until[at_];
    diagonal_ = shared_.diagonal[before + x_];
    if (x_ == y) q_ = p.z;
    if (x_ == z) q_ = p.y;
    if (state.improved) q_best_ = q_;
    const OfSwapped a{entry_of(searches_.a, n_, y, x_), entry_of(searches_.a, n_, z, x_)},
        b{entry_of(searches_.b, n_, p.y, q_), entry_of(searches_.b, n_, p.z, q_)};  // B of where y and z were
    const std::int32_t a_both = entry_of(searches_.a, n_, y, z), b_both = entry_of(searches_.b, n_, p.y, p.z);
    meet<pairs_read, false>();
    // y and z have each other's location from now on.
    constexpr std::int32_t unit = 2 * Keys::scale;
    const SmallDifference difference{{(a.y - a.z) * unit}, {b.z - b.y}}, of_y{{(a_own.y - a_both) * unit}, {b_own.z - b_both}},
        of_z{{(a_both - a_own.z) * unit}, {b_both - b_own.y}};
    const OfSwapped alpha{qap::pair_factor(a_own.y, a_own_, a.y, a.y) * Keys::scale,
                          qap::pair_factor(a_own.z, a_own_, a.z, a.z) * Keys::scale},
        beta{qap::pair_factor(b_own.y, b_own_, b.y, b.y), qap::pair_factor(b_own.z, b_own_, b.z, b.z)};
    const OfSwapped rest{diagonal.y + diagonal_ - alpha.y * beta.y, diagonal.z + diagonal_ - alpha.z * beta.z};
    // The columns of y and z change places.
    const std::int32_t yx = inner_products(with_y, y, rest.y).yx + qap::product(of_y, difference),
                       xy = inner_products(with_z, z, rest.z).xy + qap::product(difference, of_y);
    const std::int32_t delta_both = Keys::scaled(both.key), rs = both.f,
                       sr = delta_both - rs + diagonal.y + diagonal.z -
                            qap::pair_factor(a_own.y, a_own.z, a_both, a_both) * qap::pair_factor(b_own.y, b_own.z, b_both, b_both) *
                                Keys::scale,
                       new_yy = (with_s_ ? sr : rs) + qap::product(of_y, of_y);
    diagonal_ += qap::product(difference, difference);
    now_ = {Keys::of(qap::swap_delta(yx, xy, new_yy, diagonal_, alpha.y * beta.z), with_y.key & Keys::slot_mask), x_ > y ? yx : xy};
    if (x_ == z) {  // a pair where y is s
      now_ = {Keys::of(-delta_both, both.key & Keys::slot_mask), diagonal.z + qap::product(of_z, of_y)};
      until = state.is_tabu_search() ? state.until() : 0;
      b_own_ = b_own.y;
    }
    if (x_ == y) {
      diagonal_ = new_yy;
      b_own_ = b_own.z;
    }
    if (until > state.moves_taken) now_.key |= Keys::tabu;
    if (!is_pair(y, z)) return {};
    const std::uint32_t aspiring = now_.key ^ Keys::tabu;
    return {Keys::value(aspiring < state.aspiration() ? aspiring : now_.key),
            x_ > y ? SmallBest::pair_of(y, x_) : SmallBest::pair_of(x_, y)};
  }

  const QapSearches<SmallTypes>& searches_;
  std::int32_t* f_;
  SmallShared<Rows>& shared_;
  std::int32_t n_, x_;
  bool with_s_, exists_;  ///< is y the facility s? Is there a facility x?
  std::int32_t *current_, *best_;
  std::int32_t q_, q_best_;     ///< location of x now, and in the best solution
  std::int32_t diagonal_;       ///< F[x][x], scaled
  std::int32_t a_own_, b_own_;  ///< A[x][x], B'[x][x]
  std::int32_t place_, at_;     ///< places[x]; of its touched pair
  SmallPair now_;               ///< the touched pair after the swap
};

// --- progress warp -----------------------------------------------------------------------------------------------------------

/// Records a choice while other warps are in phase 2 after it.
template <int Rows>
class SmallProgressThread {
 public:
  using Keys = PairKeys<std::int32_t, Rows>;
  using State = ReplicatedState<Keys>;

  __device__ __forceinline__ SmallProgressThread(local_search::SearchProgress& stored, const State& state, const SmallPolicy& policy,
                                                 SmallShared<Rows>& shared)
      : policy_(policy),
        shared_(shared),
        stored_(stored),
        progress_(stored),
        method_(state.is_tabu_search() ? local_search::Method::tabu : local_search::Method::hill) {}

  __device__ __forceinline__ void load(const State&) const {}
  __device__ __forceinline__ void receive_choice(std::uint32_t pair, std::int32_t delta) {
    pair_ = pair;
    delta_ = delta;
  }
  __device__ __forceinline__ void prepare(const State&) const {}
  __device__ __forceinline__ void finish(const State& state) {
    SmallPair *of_r = no_pair(state.r), *of_s = no_pair(state.s);
    record();
    meet<pairs_written, true>();
    if (of_r != nullptr) of_r->key = Keys::garbage;
    if (of_s != nullptr) of_s->key = Keys::garbage;
  }
  __device__ __forceinline__ void fetch() const {}
  __device__ __forceinline__ void store(const State&) {
    record();
    if (threadIdx.x % 32 == 0) stored_ = progress_;
  }

 private:
  static constexpr std::uint32_t none = SmallBest::flag;

  __device__ __forceinline__ void record() {
    if (pair_ == none) return;
    progress_.take({progress_.value + delta_, moves::index<2>(policy_.n, SmallBest::swap_of(pair_)), false}, method_);
    pair_ = none;
  }
  /// The slot of y and a facility x of its strip, a lane each, that is no pair; null if there is none.
  [[nodiscard]] __device__ __forceinline__ SmallPair* no_pair(std::int32_t y) const {
    const std::int32_t lane = static_cast<std::int32_t>(threadIdx.x) % 32, strip = y / Rows, x = strip * Rows + lane, column = min(x, y);
    if (y < 0 || lane >= Rows || x >= policy_.n || x == y || column % Rows == 0) return nullptr;
    return shared_.pairs + policy_.thread_of(strip, column) * SmallShared<Rows>::pitch + max(x, y) % Rows;
  }

  const SmallPolicy& policy_;
  SmallShared<Rows>& shared_;
  local_search::SearchProgress& stored_;
  local_search::SearchProgress progress_;
  local_search::Method method_;
  std::uint32_t pair_ = none;  ///< the last choice, until it is recorded
  std::int32_t delta_ = 0;
};

// --- the search --------------------------------------------------------------------------------------------------------------

/// The search as warps of one role take part in it, until it ends or has taken the moves it may.
template <class Role, int Rows>
__device__ __forceinline__ void small_search_as(Role& role, SmallShared<Rows>& shared, typename Role::State& state) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  while (true) {
    SmallBest* const slots = shared.best + (state.moves_taken & 1) * 32;
    if constexpr (requires { role.update(state); }) {
      const SmallBest best = cuda::warp_argmin(role.update(state));
      if (lane == 0) slots[warp] = best;
    }
    role.finish(state);
    cuda::barrier_of_all<false>();
    const SmallBest of_lane = slots[lane];
    role.fetch();
    if (state.moves_taken == state.limit) return;
    const SmallBest best = cuda::warp_argmin(of_lane);
    const std::int32_t delta = Role::Keys::delta(best.high);
    role.receive_choice(best.low, delta);
    if (!state.is_tabu_search() && delta >= 0) return;
    state.take(best.low, delta);
    role.prepare(state);
  }
}

/// Mapping, phases, synchronisation and cost: see the head of this file.
template <int Rows>
__global__ void __launch_bounds__(SmallPolicy::most_threads, 1)
    qap_small_kernel(const __grid_constant__ QapSearches<SmallTypes> searches, const __grid_constant__ SmallPolicy policy,
                     local_search::SearchProgress* all_progress, std::int32_t limit) {
  __shared__ __align__(16) std::byte memory[sizeof(SmallShared<Rows>)];  // bytes, since nvcc warns of initialisers
  auto& shared = *reinterpret_cast<SmallShared<Rows>*>(memory);
  const std::size_t search = blockIdx.x;
  const auto thread = static_cast<std::int32_t>(threadIdx.x);
  local_search::SearchProgress& progress = all_progress[search];
  if (progress.done(limit)) return;

  ReplicatedState<PairKeys<std::int32_t, Rows>> state;
  state.moves_taken = static_cast<std::int32_t>(progress.iterations);
  state.limit = limit;
  state.tenure = searches.tenure;
  state.gap = static_cast<std::int32_t>(progress.best_value - progress.value);
  if (thread < policy.n) shared.p[shared.at(state.moves_taken, thread)] = searches.p[search * static_cast<std::size_t>(policy.n) + thread];
  if (thread < 2 * 32) shared.best[thread] = {};
  __syncthreads();
  const auto run = [&](auto role) {
    role.load(state);
    __syncthreads();  // all have read the permutation, which facility threads write again
    small_search_as(role, shared, state);
    role.store(state);
  };
  if (thread < policy.pair_threads)
    run(SmallPairThread<Rows>(searches, search, policy, shared));
  else if (thread < policy.pair_threads + policy.facility_threads)
    run(SmallFacilityThread<Rows>(searches, search, policy, shared));
  else
    run(SmallProgressThread<Rows>(progress, state, policy, shared));
}

// --- on the host -------------------------------------------------------------------------------------------------------------

struct SmallLaunch {
  SmallPolicy policy;
  void (*kernel)(QapSearches<SmallTypes>, SmallPolicy, local_search::SearchProgress*, std::int32_t);

  /// Few rows a thread before many, unless the warps are: each takes some hundred instructions beside those of its pairs.
  [[nodiscard]] static std::optional<SmallLaunch> of(const qap::Qap& instance) {
    const std::int32_t n = instance.size();
    if (!instance.symmetric() || n > SmallPolicy::most_size) return std::nullopt;
    const auto fitting = [&]<int Rows>(std::integral_constant<int, Rows>) -> std::optional<SmallLaunch> {
      const SmallLaunch launch{{n, Rows}, qap_small_kernel<Rows>};
      if (launch.policy.pair_threads > SmallPolicy::few_pair_threads || instance.delta_bound() >= PairKeys<std::int32_t, Rows>::limit)
        return std::nullopt;
      return launch;
    };
    const auto four = fitting(std::integral_constant<int, 4>{});
    return four ? four : fitting(std::integral_constant<int, 8>{});
  }
};

class SmallEngine {
 public:
  using Neighborhood = QapSwaps;

  SmallEngine(const Neighborhood& neighborhood, const local_search::Task& task, const cuda::Stream& stream)
      : stream_(stream),
        launch_(SmallLaunch::of(neighborhood.instance()).value()),
        batch_size_(std::min<std::int64_t>(task.restarts, cuda::multiprocessors())),
        memory_(neighborhood, task, batch_size_) {}

  [[nodiscard]] std::int64_t batch_size() const { return batch_size_; }
  void begin(const std::vector<local_search::SearchState<Neighborhood>>& states) {
    searches_ = static_cast<std::int64_t>(states.size());
    memory_.begin(states, stream_);
  }
  void launch(local_search::SearchProgress* all_progress, std::int64_t limit) {
    const cuda::Shape shape{.blocks = searches_, .threads = launch_.policy.threads(), .shared_bytes = 0, .cluster = 1};
    VICINITY_CUDA_CHECK(
        cuda::launch(shape, stream_, launch_.kernel, memory_.view(), launch_.policy, all_progress, static_cast<std::int32_t>(limit)));
  }
  void finish(std::vector<local_search::SearchResult<QapSwaps::Solution>>& searches) { memory_.finish(searches, stream_); }
  void poison() { memory_.poison(stream_); }
  [[nodiscard]] Ceiling synchronization() const { return Ceiling::block_barrier; }
  [[nodiscard]] Policy policy() const { return launch_.policy.record(); }

 private:
  const cuda::Stream& stream_;
  SmallLaunch launch_;
  std::int64_t batch_size_;
  QapMemory<SmallTypes> memory_;
  std::int64_t searches_ = 0;
};

}  // namespace

std::unique_ptr<Run> qap_small_run(const QapSwaps& neighborhood, const local_search::Task& task) {
  if (!SmallLaunch::of(neighborhood.instance())) return nullptr;
  return std::make_unique<DeviceRun<SmallEngine>>(neighborhood, task);
}

}  // namespace vicinity::lsm
