#pragma once
// The heads of facilities, and the clerk, in the tuned search of the QAP in one block or cluster.
#include "kernels/lsm/tuned/qap/qap_block.cuh"

namespace vicinity::lsm {

template <class Types, int Rows, bool Cluster>
class QapHead {
 public:
  using Delta = typename Types::Delta;
  using Keys = QapKeys<Delta, Rows>;
  using Key = typename Keys::Key;
  using Found = QapFound<Key>;
  using Shared = QapBlockShared<Types>;
  using Course = QapCourse<Keys>;
  static constexpr int sides = Types::sides;

  __device__ __forceinline__ QapHead(const QapSearches<Types>& searches, std::size_t search, const QapBlockPolicy& policy,
                                     const Shared& shared)
      : searches_(searches),
        f_(searches.f_of(search)),
        policy_(policy),
        shared_(shared),
        x_(static_cast<std::int32_t>(threadIdx.x) - policy.owners),
        there_(x_ < policy.n),
        home_(!Cluster || policy.home_of(x_) == rank_of_block<Cluster>(policy.blocks)) {
    const std::size_t place = search * static_cast<std::size_t>(policy.n) + static_cast<std::size_t>(x_);
    current_ = searches.p + place;
    best_ = searches.best + place;
  }

  __device__ __forceinline__ void load(const Course&) {
    if (!there_) return;
    q_ = *current_;
    q_best_ = *best_;
    diagonal_ = f_[searches_.at(x_, x_)] * Keys::scale;
    shared_.a[x_] = a_own_ = entry(searches_.a, x_, x_);
    b_own_ = entry(searches_.b, q_, q_);
  }
  __device__ __forceinline__ void leave_solution() const {
    if (!there_) return;
    shared_.p[x_] = q_;
    shared_.diagonal[x_] = diagonal_;
  }
  __device__ __forceinline__ void store() const {
    if (!there_) return;
    *current_ = q_;
    *best_ = q_best_;
    f_[searches_.at(x_, x_)] = diagonal_ / Keys::scale;
  }

  /// A swap was chosen.
  __device__ __forceinline__ void take(const Course& course) {
    if (!there_) return;
    const std::int32_t r = course.r, s = course.s, pr = shared_.p[r], ps = shared_.p[s];
    if (x_ == r) q_ = ps;
    if (x_ == s) q_ = pr;
#pragma unroll
    for (int side = 0; side < sides; ++side) {
      const std::int32_t *a = side == 0 ? searches_.a : searches_.a_transposed, *b = side == 0 ? searches_.b : searches_.b_transposed;
      a_[side] = {entry(a, r, x_), entry(a, s, x_)};
      b_[side] = {entry(b, pr, q_), entry(b, ps, q_)};
      a_both_[side] = entry(a, r, s);
      b_both_[side] = entry(b, pr, ps);
    }
#pragma unroll
    for (int side = 0; side < sides; ++side) {
      change_.d[side] = (a_[side].r - a_[side].s) * (sides == 1 ? 2 * Keys::scale : Keys::scale);
      change_.e[side] = b_[side].s - b_[side].r;  // r and s have each other's location from now on
    }
    shared_.changes[x_] = change_;
    shared_.diagonal[x_] = diagonal_;
    shared_.b[x_] = b_own_;
    if (course.improved) q_best_ = q_;
  }
  /// What the swap made of this facility's pairs with those that swapped.
  [[nodiscard]] __device__ __forceinline__ Found follow(const Course& course) {
    const std::int32_t r = course.r, s = course.s;
    best_of_all_ = {};
    if (!there_ || r < 0) return {};
    shared_.p[x_] = q_;
    const Change<Types> change_r = shared_.changes[r], change_s = shared_.changes[s];
    const Delta at_r = shared_.diagonal[r], at_s = shared_.diagonal[s];
    const OfBoth a{shared_.a[r], shared_.a[s]}, b{shared_.b[r], shared_.b[s]};
    const QapPair<Delta> both = shared_.before[shared_.place(false, true, r)];
    const QapPair<Delta> with_r = shared_.before[shared_.place(x_ > r, false, x_)],
                         with_s = shared_.before[shared_.place(x_ > s, true, x_)];
    constexpr int other = sides - 1;
    const OfBoth alpha{(a.r + a_own_ - a_[0].r - a_[other].r) * Keys::scale, (a.s + a_own_ - a_[0].s - a_[other].s) * Keys::scale};
    const OfBoth beta{b.r + b_own_ - b_[0].r - b_[other].r, b.s + b_own_ - b_[0].s - b_[other].s};
    const Delta both_bends = (a.r + a.s - a_both_[0] - a_both_[other]) * (b.r + b.s - b_both_[0] - b_both_[other]) * Keys::scale;
    const Delta of_both = Keys::scaled(both.key);
    const Delta new_r = both.x + product(change_r, change_r);
    const Delta new_s = of_both - both.x + at_r + at_s - both_bends + product(change_s, change_s);
    if (x_ == r || x_ == s) {
      diagonal_ = x_ == r ? new_r : new_s;
      b_own_ = x_ == r ? b.s : b.r;
      const Key mark = course.is_tabu_search() ? Keys::tabu : 0;
      const QapPair<Delta> now{Keys::of(-of_both, mark | (both.key & Keys::slot_mask)), at_r + product(change_r, change_s)};
      if (!home_) return {};
      answer(x_ == r, x_ == r ? s : r, now);
      return found(course, now.key, Found::pair_of(r, s));
    }
    const Delta diagonal = diagonal_;
    diagonal_ += product(change_, change_);
    if (!home_) return {};
    const Sides old_r = sides_of(with_r, x_ > r, at_r + diagonal - alpha.r * beta.r),
                old_s = sides_of(with_s, x_ > s, at_s + diagonal - alpha.s * beta.s);
    // The columns of r and s change places.
    const Key key_r = pair(false, r, {old_r.there + product(change_r, change_), old_s.here + product(change_, change_r)}, new_r,
                           alpha.r * beta.s, with_r.key & Keys::marks);
    const Key key_s = pair(true, s, {old_s.there + product(change_s, change_), old_r.here + product(change_, change_s)}, new_s,
                           alpha.s * beta.r, with_s.key & Keys::marks);
    const Found found_r = found(course, key_r, pair_with(r)), found_s = found(course, key_s, pair_with(s));
    Found best = found_r.before(found_s) ? found_r : found_s;
    best.pair |= (found_r.pair | found_s.pair) & Found::flag;
    return best;
  }
  /// The best as if no pair were tabu.
  [[nodiscard]] __device__ __forceinline__ Found without_memory(const Course&) const { return best_of_all_; }
  __device__ __forceinline__ void settle(const Course&) const {}
  __device__ __forceinline__ void hear(std::uint32_t, Delta) const {}

 private:
  /// Of facilities r and s.
  struct OfBoth {
    Delta r, s;
  };
  /// Of the pair of facility y, which swapped, and x, this one: F[y][x] and F[x][y].
  struct Sides {
    Delta there, here;
  };

  [[nodiscard]] __device__ __forceinline__ Delta entry(const std::int32_t* matrix, std::int32_t row, std::int32_t column) const {
    return static_cast<Delta>(__ldg(matrix + static_cast<std::uint32_t>(row * searches_.n + column)));
  }
  /// `rest`: what F[x][y] + F[y][x] are more than the delta.
  [[nodiscard]] static __device__ __forceinline__ Sides sides_of(const QapPair<Delta>& pair, bool behind, Delta rest) {
    const Delta other = Keys::scaled(pair.key) - pair.x + rest;
    return behind ? Sides{pair.x, other} : Sides{other, pair.x};
  }
  /// Answers of the pair with y, which is r or s. Returns its key.
  [[nodiscard]] __device__ __forceinline__ Key pair(bool with_s, std::int32_t y, const Sides& now, Delta at_y, Delta bends,
                                                    Key marks) const {
    const Key key = Keys::of(now.there + now.here - at_y - diagonal_ + bends, marks);
    answer(with_s, y, {key, x_ > y ? now.there : now.here});
    return key;
  }
  __device__ __forceinline__ void answer(bool with_s, std::int32_t y, const QapPair<Delta>& pair) const {
    const std::int32_t block = Cluster ? policy_.block_of(min(x_, y), max(x_, y)) : 0;
    in_block<Cluster>(shared_.after[shared_.place(x_ > y, with_s, x_)], block) = pair;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t pair_with(std::int32_t y) const {
    return x_ > y ? Found::pair_of(y, x_) : Found::pair_of(x_, y);
  }
  [[nodiscard]] __device__ __forceinline__ Found found(const Course& course, Key key, std::uint32_t pair) {
    const Key as_free = key & ~Keys::tabu;
    const Found free{Keys::value(as_free), pair};
    if (free.before(best_of_all_)) best_of_all_ = free;
    return {Keys::value(key), pair | (as_free != key && as_free < course.aspiration() ? Found::flag : 0)};
  }

  const QapSearches<Types>& searches_;
  Delta* f_;
  const QapBlockPolicy& policy_;
  const Shared& shared_;
  std::int32_t x_;
  bool there_;  ///< is there such a facility?
  bool home_;   ///< are its pairs followed here?
  std::int32_t *current_, *best_;
  std::int32_t q_, q_best_;  ///< location of x now, and in the best solution
  Delta diagonal_;           ///< F[x][x]
  Change<Types> change_;
  OfBoth a_[sides], b_[sides];           ///< A[r][x], A[s][x]; B[u][q], B[v][q], u and v where r and s were; then their transposes
  Delta a_both_[sides], b_both_[sides];  ///< A[r][s], B[u][v]
  Delta a_own_, b_own_;                  ///< A[x][x], B[p_x][p_x]
  Found best_of_all_;                    ///< as if no pair were tabu
};

/// Keeps the progress of the search.
template <class Keys>
class QapClerk {
 public:
  using Delta = typename Keys::Delta;
  using Found = QapFound<typename Keys::Key>;
  using Course = QapCourse<Keys>;

  __device__ __forceinline__ QapClerk(local_search::SearchProgress& progress, const Course& course, std::int32_t n)
      : place_(progress),
        progress_(progress),
        method_(course.is_tabu_search() ? local_search::Method::tabu : local_search::Method::hill),
        n_(n) {}

  /// Of all pairs this one is to swap, unless a hill climbing ends here. Written down while others follow the swap.
  __device__ __forceinline__ void hear(std::uint32_t pair, Delta delta) {
    pair_ = pair;
    delta_ = delta;
  }
  [[nodiscard]] __device__ __forceinline__ Found follow(const Course&) {
    write_down();
    return {};
  }
  [[nodiscard]] __device__ __forceinline__ Found without_memory(const Course&) const { return {}; }
  __device__ __forceinline__ void settle(const Course&) const {}
  __device__ __forceinline__ void take(const Course&) const {}
  __device__ __forceinline__ void store() {
    write_down();
    if (threadIdx.x % 32 == 0) place_ = progress_;
  }

 private:
  __device__ __forceinline__ void write_down() {
    if (pair_ == Found::flag) return;
    const moves::Move<2> move{{static_cast<std::int32_t>(pair_ >> 16), static_cast<std::int32_t>(pair_ & 0xFFFFu)}};
    progress_.take({progress_.value + delta_, moves::index<2>(n_, move), false}, method_);
    pair_ = Found::flag;
  }

  local_search::SearchProgress& place_;
  local_search::SearchProgress progress_;
  local_search::Method method_;
  std::int32_t n_;
  std::uint32_t pair_ = Found::flag;  ///< the last choice, unless it is written down: the flag
  Delta delta_ = 0;
};

}  // namespace vicinity::lsm
