#pragma once
// The owners of pairs in the tuned search of the QAP in one block or cluster.
#include <limits>
#include <type_traits>

#include "kernels/lsm/tuned/qap/qap_block.cuh"

namespace vicinity::lsm {

template <class Types, int Rows, bool Cluster>
class QapOwner {
 public:
  using Delta = typename Types::Delta;
  using Keys = QapKeys<Delta, Rows>;
  using Key = typename Keys::Key;
  using Found = QapFound<Key>;
  using Shared = QapBlockShared<Types>;
  using Course = QapCourse<Keys>;

  __device__ __forceinline__ QapOwner(const QapSearches<Types>& searches, std::size_t search, const QapBlockPolicy& policy,
                                      const Shared& shared)
      : searches_(searches), f_(searches.f_of(search)), until_(searches.until_of(search)), policy_(policy), shared_(shared) {
    const std::int32_t n = policy.n;
    std::int32_t k = rank_of_block<Cluster>(policy.blocks) * policy.owners + static_cast<std::int32_t>(threadIdx.x);
    for (first_ = 0; first_ < n - 1 && k >= n - 1 - first_; first_ += Rows) k -= n - 1 - first_;
    if (first_ >= n - 1) first_ = (n + 1) / 2 * 2;  // even: changes are read in pairs
    column_ = min(first_ + 1 + k, n);
    rows_ = max(0, min(Rows, column_ - first_));
  }

  /// The launch before left everything in device memory; `p` is in place.
  __device__ __forceinline__ void load(const Course& course) {
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      pairs_[k] = {Keys::garbage, 0};
      shared_.until[place(k)] = 0;
      if (k >= rows_) continue;
      const std::int32_t i = first_ + k, j = column_, until = until_[move(i)];
      const Delta x = f_[searches_.at(i, j)];
      const Delta delta = x + f_[searches_.at(j, i)] - f_[searches_.at(i, i)] - f_[searches_.at(j, j)] + bends(i);
      pairs_[k] = {Keys::of(delta * Keys::scale, static_cast<Key>(k)), x * Keys::scale};
      if (until <= course.taken) continue;
      shared_.until[place(k)] = until;
      pairs_[k].key += Keys::tabu;
      expiry_ = min(expiry_, until);
    }
  }
  /// `p` and the diagonal are those of the last solution.
  __device__ __forceinline__ void store() const {
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      if (k >= rows_) continue;
      const std::int32_t i = first_ + k, j = column_;
      const Delta rest = Keys::scaled(pairs_[k].key) - pairs_[k].x + shared_.diagonal[i] + shared_.diagonal[j];
      f_[searches_.at(i, j)] = pairs_[k].x / Keys::scale;
      f_[searches_.at(j, i)] = rest / Keys::scale - bends(i);
      until_[move(i)] = (pairs_[k].key & Keys::tabu) != 0 ? shared_.until[place(k)] : 0;
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
    Key best = ~Key{0}, aspiring = ~Key{0};
#pragma unroll
    for (int c = 0; c < Rows / chunk; ++c) {
      const Chunk other = others[c];
#pragma unroll
      for (int k = c * chunk; k < (c + 1) * chunk; ++k) {
        const Change<Types>& row = other.of[k - c * chunk];
        pairs_[k].key += static_cast<Key>(bend(row, own));
        pairs_[k].x += product(row, own);
        best = min(best, pairs_[k].key);
        aspiring = min(aspiring, pairs_[k].key ^ Keys::tabu);  // as if it were free if it is tabu, above all free ones if it is not
      }
    }
    best_of_all_ = min(best, aspiring);
    return found(best, aspiring < course.aspiration());
  }
  /// The best as if no pair were tabu.
  [[nodiscard]] __device__ __forceinline__ Found without_memory(const Course&) const { return found(best_of_all_, false); }
  /// Takes from the heads what they made of its pairs with the facilities that swapped.
  __device__ __forceinline__ void settle(const Course& course) {
    if (column_ == course.r || column_ == course.s) {
      const QapPair<Delta>* from = shared_.after + shared_.place(false, column_ == course.s, first_);
#pragma unroll
      for (int k = 0; k < Rows; ++k)
        if (k < rows_) pairs_[k] = from[k];
    }
    for (const bool with_s : {false, true}) {
      const std::int32_t at = (with_s ? course.s : course.r) - first_;
      if (in(at) && at < rows_) at_slot<0, Rows>(at, [&](auto k) { pairs_[k] = shared_.after[shared_.place(true, with_s, column_)]; });
    }
  }
  /// A swap was chosen: tells the heads of the pairs that it touches.
  __device__ __forceinline__ void take(const Course& course) {
    if (expiry_ <= course.taken) forget(course);
    const std::int32_t at_r = course.r - first_, at_s = course.s - first_;
    if (column_ == course.s && in(at_r)) {
      if (course.is_tabu_search()) {
        shared_.until[place(at_r)] = course.until();
        expiry_ = min(expiry_, course.until());
      }
      if constexpr (Cluster)
        at_slot<0, Rows>(at_r, [&](auto k) {
          for (std::int32_t block = 0; block < policy_.blocks; ++block)
            in_block<Cluster>(shared_.before[shared_.place(false, true, course.r)], block) = pairs_[k];
        });
    }
    if (column_ == course.r || column_ == course.s) {
      QapPair<Delta>* to = shared_.before + shared_.place(false, column_ == course.s, first_);
#pragma unroll
      for (int k = 0; k < Rows; ++k) tell(k, to[k], first_ + k);
    }
    for (const bool with_s : {false, true}) {
      const std::int32_t at = with_s ? at_s : at_r;
      if (in(at)) at_slot<0, Rows>(at, [&](auto k) { tell(k, shared_.before[shared_.place(true, with_s, column_)], column_); });
    }
  }
  __device__ __forceinline__ void hear(std::uint32_t, Delta) const {}

 private:
  [[nodiscard]] __device__ __forceinline__ Found found(Key best, bool aspires) const {
    return {Keys::value(best),
            Found::pair_of(first_ + static_cast<std::int32_t>(best & Keys::slot_mask), column_) | (aspires ? Found::flag : 0)};
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
  /// Tells the head of facility x, which follows the pair.
  __device__ __forceinline__ void tell(int k, QapPair<Delta>& to, std::int32_t x) {
    in_block<Cluster>(to, policy_.home_of(x)) = pairs_[k];
    pairs_[k].key = Keys::garbage;
  }
  /// Some pair ceases to be tabu, or did not last as long as `expiry_` says.
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
        const std::int32_t end = four.of[k - 4 * c];  // 0: never was tabu, and may be no pair
        if (end > course.taken)
          expiry_ = min(expiry_, end);
        else if (end > 0)
          pairs_[k].key &= ~Keys::tabu;
      }
    }
  }

  const QapSearches<Types>& searches_;
  Delta* f_;
  std::int32_t* until_;
  const QapBlockPolicy& policy_;
  const Shared& shared_;
  std::int32_t first_, column_, rows_;  ///< rows first_ .. first_ + rows_ - 1 of column_; idle owners have none
  QapPair<Delta> pairs_[Rows];
  Key best_of_all_;                                                 ///< key of the best as if no pair were tabu
  std::int32_t expiry_ = std::numeric_limits<std::int32_t>::max();  ///< no pair ceases to be tabu before so many moves are taken
};

}  // namespace vicinity::lsm
