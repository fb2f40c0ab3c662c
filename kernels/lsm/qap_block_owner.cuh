#pragma once
// The owners of pairs in the tuned search of the QAP in one block.
#include <limits>
#include <type_traits>

#include "kernels/lsm/qap_block.cuh"

namespace vicinity::lsm {

template <class Types, int Rows>
class QapOwner {
 public:
  using Delta = typename Types::Delta;
  using Keys = QapKeys<Delta, Rows>;
  using Key = typename Keys::Key;
  using Found = QapFound<Key>;
  using Shared = QapBlockShared<Types>;
  using Course = QapCourse<Delta>;

  __device__ __forceinline__ QapOwner(const QapSearches<Types>& searches, std::size_t search, const QapBlockPolicy& policy,
                                      const Shared& shared)
      : searches_(searches), f_(searches.f_of(search)), until_(searches.until_of(search)), shared_(shared) {
    const std::int32_t n = policy.n;
    std::int32_t k = static_cast<std::int32_t>(threadIdx.x);
    for (first_ = 0; first_ < n - 1 && k >= n - 1 - first_; first_ += Rows) k -= n - 1 - first_;
    if (first_ >= n - 1) first_ = (n + 1) / 2 * 2;  // even: changes are read in pairs
    column_ = min(first_ + 1 + k, n);
    rows_ = max(0, min(Rows, column_ - first_));
  }

  /// The launch before left everything in device memory; `p` is in place.
  __device__ __forceinline__ void load(const Course& course) {
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      delta_[k] = Keys::garbage;
      x_[k] = 0;
      slot_[k] = Keys::free_slot(k);
      shared_.until[place(k)] = 0;
      if (k >= rows_) continue;
      const std::int32_t i = first_ + k, j = column_;
      x_[k] = f_[searches_.at(i, j)];
      delta_[k] = x_[k] + f_[searches_.at(j, i)] - f_[searches_.at(i, i)] - f_[searches_.at(j, j)] + bends(i);
      const std::int32_t until = until_[move(i)];
      shared_.until[place(k)] = until;
      if (until <= course.taken) continue;
      slot_[k] += Keys::tabu;
      expiry_ = min(expiry_, until);
    }
  }
  /// `p` and the diagonal are those of the last solution.
  __device__ __forceinline__ void store() const {
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      if (k >= rows_) continue;
      const std::int32_t i = first_ + k, j = column_;
      f_[searches_.at(i, j)] = x_[k];
      f_[searches_.at(j, i)] = delta_[k] - x_[k] + shared_.diagonal[i] + shared_.diagonal[j] - bends(i);
      until_[move(i)] = (slot_[k] & Keys::tabu) != 0 ? shared_.until[place(k)] : 0;
    }
  }

  /// Follows the last swap, and looks at all pairs.
  [[nodiscard]] __device__ __forceinline__ Found follow(const Course& course) {
    constexpr int chunk = sizeof(Change<Types>) == 8 ? 2 : 1;
    struct alignas(16) Chunk {
      Change<Types> of[chunk];
    };
    const Change<Types> own = shared_.changes[column_];
    const Chunk* others = reinterpret_cast<const Chunk*>(shared_.changes + first_);
    Delta lowest = std::numeric_limits<Delta>::max();
    Best best;
#pragma unroll
    for (int c = 0; c < Rows / chunk; ++c) {
      const Chunk other = others[c];
#pragma unroll
      for (int k = c * chunk; k < (c + 1) * chunk; ++k) {
        const Change<Types>& row = other.of[k - c * chunk];
        delta_[k] += bend(row, own);
        x_[k] += product(row, own);
        best.offer(Keys::of(delta_[k], slot_[k]), k);
        lowest = min(lowest, delta_[k]);
      }
    }
    return found(best, course.aspires(lowest));
  }
  /// Looks again, as if no pair were tabu.
  [[nodiscard]] __device__ __forceinline__ Found without_memory(const Course&) const {
    Best best;
#pragma unroll
    for (int k = 0; k < Rows; ++k) best.offer(Keys::of(delta_[k], slot_[k] & ~Keys::tabu), k);
    return found(best, false);
  }
  /// Takes from the heads what they made of its pairs with the facilities that swapped.
  __device__ __forceinline__ void settle(const Course& course) {
    if (column_ == course.r || column_ == course.s) {
      const QapAnswer<Delta>* from = shared_.answers + shared_.place(false, column_ == course.s, first_);
#pragma unroll
      for (int k = 0; k < Rows; ++k) hear(k, from[k]);
    }
    for (const bool with_s : {false, true}) {
      const std::int32_t at = (with_s ? course.s : course.r) - first_;
      if (in(at)) at_slot<0, Rows>(at, [&](auto k) { hear(k, shared_.answers[shared_.place(true, with_s, column_)]); });
    }
  }
  /// A swap was chosen: tells the heads of the pairs that it touches.
  __device__ __forceinline__ void take(const Course& course) {
    if (expiry_ <= course.taken) forget(course);
    if (column_ == course.r || column_ == course.s) {
      QapTold<Delta>* to = shared_.told + shared_.place(false, column_ == course.s, first_);
#pragma unroll
      for (int k = 0; k < Rows; ++k) tell(k, to[k]);
      if (course.remembers() && column_ == course.s && in(course.r - first_)) remember(course.r - first_, course.until());
    }
    for (const bool with_s : {false, true}) {
      const std::int32_t at = (with_s ? course.s : course.r) - first_;
      if (in(at)) at_slot<0, Rows>(at, [&](auto k) { tell(k, shared_.told[shared_.place(true, with_s, column_)]); });
    }
  }
  __device__ __forceinline__ void hear(std::uint32_t, Delta) const {}

 private:
  /// The best of the slots offered, in ascending order.
  struct Best {
    Key key = Keys::none;
    int slot = 0;

    __device__ __forceinline__ void offer(Key other, int k) {
      if constexpr (Keys::with_slot) {
        key = min(key, other);
      } else if (other < key) {
        key = other;
        slot = k;
      }
    }
  };
  [[nodiscard]] __device__ __forceinline__ Found found(const Best& best, bool aspires) const {
    const int slot = Keys::with_slot ? static_cast<int>(best.key & ((Key{1} << Keys::slot_bits) - 1)) : best.slot;
    return {Keys::value(best.key), Found::pair_of(first_ + slot, column_) | (aspires ? Found::flag : 0)};
  }

  [[nodiscard]] static __device__ __forceinline__ bool in(std::int32_t slot) { return static_cast<std::uint32_t>(slot) < Rows; }
  [[nodiscard]] __device__ __forceinline__ std::int32_t place(int k) const { return static_cast<std::int32_t>(threadIdx.x) * Rows + k; }
  [[nodiscard]] __device__ __forceinline__ std::int64_t move(std::int32_t i) const { return moves::index<2>(searches_.n, {{i, column_}}); }
  [[nodiscard]] __device__ __forceinline__ Delta bends(std::int32_t i) const {
    return searches_.alpha[searches_.at(i, column_)] * searches_.beta[searches_.at(shared_.p[i], shared_.p[column_])];
  }
  /// action(k) of a slot that is known only when the program runs: registers have no addresses.
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
  __device__ __forceinline__ void tell(int k, QapTold<Delta>& to) {
    to = {delta_[k], x_[k], slot_[k]};
    delta_[k] = Keys::garbage;
  }
  __device__ __forceinline__ void hear(int k, const QapAnswer<Delta>& answer) {
    delta_[k] = answer.delta;
    x_[k] = answer.x;
  }
  __device__ __forceinline__ void remember(std::int32_t at, std::int32_t until) {
    shared_.until[place(at)] = until;
    expiry_ = min(expiry_, until);
    at_slot<0, Rows>(at, [&](auto k) { slot_[k] |= Keys::tabu; });
  }
  __device__ __forceinline__ void forget(const Course& course) {
    struct alignas(16) Four {
      std::int32_t of[4];
    };
    const Four* until = reinterpret_cast<const Four*>(shared_.until + place(0));
    expiry_ = std::numeric_limits<std::int32_t>::max();
#pragma unroll
    for (int c = 0; c < Rows / 4; ++c) {
      const Four four = until[c];
#pragma unroll
      for (int k = 4 * c; k < 4 * (c + 1); ++k) {
        const bool tabu = (slot_[k] & Keys::tabu) != 0 && four.of[k - 4 * c] > course.taken;
        slot_[k] = tabu ? slot_[k] : slot_[k] & ~Keys::tabu;
        expiry_ = tabu ? min(expiry_, four.of[k - 4 * c]) : expiry_;
      }
    }
  }

  const QapSearches<Types>& searches_;
  Delta* f_;
  std::int32_t* until_;
  const Shared& shared_;
  std::int32_t first_, column_, rows_;  ///< rows first_ .. first_ + rows_ - 1 of column_; idle owners have none
  Delta delta_[Rows], x_[Rows];         ///< of these pairs: delta, F[i][j]
  Key slot_[Rows];
  std::int32_t expiry_ = std::numeric_limits<std::int32_t>::max();  ///< no pair ceases to be tabu before so many moves are taken
};

}  // namespace vicinity::lsm
