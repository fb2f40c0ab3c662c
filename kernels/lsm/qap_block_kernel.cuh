#pragma once
// The kernel of the tuned search of the QAP in one block.
#include "kernels/lsm/qap_block_head.cuh"
#include "kernels/lsm/qap_block_owner.cuh"

namespace vicinity::lsm {

/// The warp's best, where all warps see it.
template <class Shared>
__device__ __forceinline__ void leave_best(typename Shared::Found* of_warps, typename Shared::Found mine) {
  using Found = typename Shared::Found;
  const bool flagged = __any_sync(~0u, (mine.pair & Found::flag) != 0);
  mine.pair &= ~Found::flag;
  Found least = least_of_warp(mine);
  if (flagged) least.pair |= Found::flag;
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = least;
}
/// The best of what the warps left, of which this lane read one. Returns whether any of it is flagged.
template <class Found>
[[nodiscard]] __device__ __forceinline__ bool best_of_warps(Found mine, Found& best) {
  const bool flagged = __any_sync(~0u, (mine.pair & Found::flag) != 0);
  mine.pair &= ~Found::flag;
  best = least_of_warp(mine);
  return flagged;
}

/// The search as one role takes part in it, until it ends or has taken the moves it may.
template <class Keys, class Role, class Shared, class Course>
__device__ __forceinline__ void search_as(Role& role, const Shared& shared, Course& course) {
  using Found = typename Shared::Found;
  while (true) {
    block_barrier();
    leave_best<Shared>(shared.found, role.follow(course));
    block_barrier();
    Found best, left = shared.found[threadIdx.x % 32];
    role.settle(course);
    if (course.taken == course.limit) return;
    if (best_of_warps(left, best)) {  // the best of all pairs is below the best of the search: no pair is forbidden that could be it
      leave_best<Shared>(shared.found_again, role.without_memory(course));
      block_barrier();
      left = shared.found_again[threadIdx.x % 32];
      static_cast<void>(best_of_warps(left, best));
    }
    const auto delta = Keys::delta(best.value);
    role.hear(best.pair, delta);
    if (!course.remembers() && delta >= 0) return;
    course.take(best.pair, delta);
    role.take(course);
  }
}

/// Mapping: a block a search; its threads are owners of pairs, heads of facilities, a clerk (QapBlockPolicy). A move:
///  1. all warps know the swap to take: owners tell the heads of the pairs that it touches, 2 n in all; heads look up what it means for
///     their facilities;                                                                                              [block barrier]
///  2. owners bring their other pairs up to date and find their best; heads do so for the pairs that were touched;     [block barrier]
///  3. every warp finds the best of all, which is the next swap; owners take the touched pairs back.
/// A swap that leads below the best of the search is rare enough to be looked for a second time, without tabu times.
/// Synchronisation: two block barriers a move. Cost: n^2 / 2 pairs a move, each two products (four for asymmetric matrices) and some four
/// additions and comparisons, of one multiprocessor; and the latencies of some 20 dependent reads of shared memory and reductions.
template <class Types, int Rows>
__global__ void __launch_bounds__(QapBlockPolicy::most_threads(sizeof(typename Types::Delta), Rows), 1)
    qap_block_kernel(const __grid_constant__ QapSearches<Types> searches, const __grid_constant__ QapBlockPolicy policy,
                     local_search::Ledger* ledgers, std::int32_t limit) {
  using Delta = typename Types::Delta;
  using Keys = QapKeys<Delta, Rows>;
  extern __shared__ __align__(16) std::byte memory[];
  const QapBlockShared<Types> shared(memory, policy);
  const auto search = static_cast<std::size_t>(blockIdx.x);
  const auto thread = static_cast<std::int32_t>(threadIdx.x), threads = static_cast<std::int32_t>(blockDim.x);
  local_search::Ledger& ledger = ledgers[search];
  if (ledger.done(limit)) return;

  QapCourse<Keys> course;
  course.taken = static_cast<std::int32_t>(ledger.iterations);
  course.limit = limit;
  course.tenure = searches.tenure;
  course.gap = static_cast<Delta>(ledger.best_value - ledger.value);
  for (std::int32_t x = thread; x < policy.pitch(); x += threads) shared.changes[x] = {};
  for (std::int32_t x = thread; x < 4 * policy.pitch(); x += threads) shared.after[x] = {Keys::garbage, 0};
  for (std::int32_t x = thread; x < policy.n; x += threads)
    shared.p[x] = searches.p[search * static_cast<std::size_t>(policy.n) + static_cast<std::size_t>(x)];
  if (thread < 32) shared.found[thread] = shared.found_again[thread] = {};
  block_barrier();
  if (thread < policy.owners) {
    QapOwner<Types, Rows> owner(searches, search, policy, shared);
    owner.load(course);
    search_as<Keys>(owner, shared, course);
    block_barrier();
    owner.store();
  } else if (thread < policy.owners + policy.heads) {
    QapHead<Types, Rows> head(searches, search, policy, shared);
    head.load(course);
    search_as<Keys>(head, shared, course);
    head.leave_solution();
    block_barrier();
    head.store();
  } else {
    QapClerk<Keys> clerk(ledger, course, policy.n);
    search_as<Keys>(clerk, shared, course);
    block_barrier();
    clerk.store();
  }
}

}  // namespace vicinity::lsm
