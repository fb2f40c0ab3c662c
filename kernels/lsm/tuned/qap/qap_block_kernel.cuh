#pragma once
// The kernel of the tuned search of the QAP in one block or cluster.
#include "kernels/lsm/tuned/qap/qap_block_head.cuh"
#include "kernels/lsm/tuned/qap/qap_block_owner.cuh"

namespace vicinity::lsm {

/// The warp's best, where all warps see it.
template <bool Cluster, class Found>
__device__ __forceinline__ void leave_best(Found* of_warps, const QapBlockPolicy& policy, Found mine) {
  const bool flagged = __any_sync(~0u, (mine.pair & Found::flag) != 0);
  mine.pair &= ~Found::flag;
  Found least = least_of_warp(mine);
  if (flagged) least.pair |= Found::flag;
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
  Found& place = of_warps[32 * rank_of_block<Cluster>(policy.blocks) + static_cast<std::int32_t>(threadIdx.x / 32)];
  if (lane < policy.blocks) in_block<Cluster>(place, lane) = least;
}
/// The best of what this lane reads of them.
template <bool Cluster, class Found>
[[nodiscard]] __device__ __forceinline__ Found best_of_lane(const Found* of_warps, const QapBlockPolicy& policy) {
  Found best = of_warps[threadIdx.x % 32];
  if constexpr (Cluster) {
    for (std::int32_t block = 1; block < policy.blocks; ++block) {
      const Found other = of_warps[32 * block + static_cast<std::int32_t>(threadIdx.x % 32)];
      const std::uint32_t flag = (best.pair | other.pair) & Found::flag;
      if (other.before(best)) best = other;
      best.pair |= flag;
    }
  }
  return best;
}
/// The best of all. Returns whether any of it is flagged.
template <class Found>
[[nodiscard]] __device__ __forceinline__ bool best_of_lanes(Found mine, Found& best) {
  const bool flagged = __any_sync(~0u, (mine.pair & Found::flag) != 0);
  mine.pair &= ~Found::flag;
  best = least_of_warp(mine);
  return flagged;
}

/// The search as one role takes part in it, until it ends or has taken the moves it may.
template <class Keys, bool Cluster, class Role, class Shared, class Course>
__device__ __forceinline__ void search_as(Role& role, const QapBlockPolicy& policy, const Shared& shared, Course& course) {
  using Found = typename Shared::Found;
  while (true) {
    barrier_of_all<Cluster>();
    leave_best<Cluster>(shared.found, policy, role.follow(course));
    barrier_of_all<Cluster>();
    Found best, of_lane = best_of_lane<Cluster>(shared.found, policy);
    role.settle(course);
    if (course.taken == course.limit) return;
    if (best_of_lanes(of_lane, best)) {  // some tabu pair leads below the best of the search, so the best of all pairs is not forbidden
      leave_best<Cluster>(shared.found_again, policy, role.without_memory(course));
      barrier_of_all<Cluster>();
      of_lane = best_of_lane<Cluster>(shared.found_again, policy);
      static_cast<void>(best_of_lanes(of_lane, best));
    }
    const auto delta = Keys::delta(best.value);
    role.hear(best.pair, delta);
    if (!course.is_tabu_search() && delta >= 0) return;
    course.take(best.pair, delta);
    role.take(course);
  }
}

/// Mapping: a block or a cluster a search; its threads are owners of pairs, heads of facilities, a clerk (QapBlockPolicy). A move:
///  1. all warps know the swap to take: owners tell the heads of the pairs that it touches, 2 n in all; heads look up what it means for
///     their facilities;                                                                                              [barrier]
///  2. owners bring their other pairs up to date and find their best; heads do so for the pairs that were touched;     [barrier]
///  3. every warp finds the best of all, which is the next swap; owners take the touched pairs back.
/// A tabu swap that leads below the best of the search is rare enough to be looked for a second time, as if there were no tabu times.
/// Synchronisation: two barriers of the block or cluster a move. Cost: n^2 / 2 pairs a move, each two products (four for asymmetric
/// matrices) and some four additions and comparisons, of one multiprocessor; and the latencies of some 20 dependent reads of shared memory
/// and reductions.
template <class Types, int Rows, bool Cluster>
__global__ void __launch_bounds__(QapBlockPolicy::most_threads(sizeof(typename Types::Delta), Rows), 1)
    qap_block_kernel(const __grid_constant__ QapSearches<Types> searches, const __grid_constant__ QapBlockPolicy policy,
                     local_search::SearchProgress* all_progress, std::int32_t limit) {
  using Delta = typename Types::Delta;
  using Keys = QapKeys<Delta, Rows>;
  extern __shared__ __align__(16) std::byte memory[];
  const QapBlockShared<Types> shared(memory, policy);
  const std::int32_t rank = rank_of_block<Cluster>(policy.blocks);
  const std::size_t search = blockIdx.x / static_cast<std::uint32_t>(policy.blocks);
  const auto thread = static_cast<std::int32_t>(threadIdx.x), threads = static_cast<std::int32_t>(blockDim.x);
  local_search::SearchProgress& progress = all_progress[search];
  if (progress.done(limit)) return;

  QapCourse<Keys> course;
  course.taken = static_cast<std::int32_t>(progress.iterations);
  course.limit = limit;
  course.tenure = searches.tenure;
  course.gap = static_cast<Delta>(progress.best_value - progress.value);
  for (std::int32_t x = thread; x < policy.pitch(); x += threads) shared.changes[x] = {};
  for (std::int32_t x = thread; x < policy.n; x += threads)
    shared.p[x] = searches.p[search * static_cast<std::size_t>(policy.n) + static_cast<std::size_t>(x)];
  for (std::int32_t k = thread; k < 32 * policy.blocks; k += threads) shared.found[k] = shared.found_again[k] = {};
  barrier_of_all<Cluster>();
  if (thread < policy.owners) {
    QapOwner<Types, Rows, Cluster> owner(searches, search, policy, shared);
    owner.load(course);
    search_as<Keys, Cluster>(owner, policy, shared, course);
    barrier_of_all<Cluster>();
    owner.store();
  } else if (thread < policy.owners + policy.heads) {
    QapHead<Types, Rows, Cluster> head(searches, search, policy, shared);
    head.load(course);
    search_as<Keys, Cluster>(head, policy, shared, course);
    head.leave_solution();
    barrier_of_all<Cluster>();
    if (rank == 0) head.store();
  } else {
    QapClerk<Keys> clerk(progress, course, policy.n);
    search_as<Keys, Cluster>(clerk, policy, shared, course);
    barrier_of_all<Cluster>();
    if (rank == 0) clerk.store();
  }
}

}  // namespace vicinity::lsm
