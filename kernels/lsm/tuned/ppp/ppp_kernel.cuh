#pragma once
// The searches of the permuted perceptron problem, whole on the device.
#include <cstddef>
#include <cstdint>

#include "kernels/lsm/tuned/ppp/ppp_evaluation.cuh"

namespace vicinity::lsm::perceptron {

struct Rules {
  local_search::Method method;
  std::int32_t tenure, limit;
};

/// The best of what the first warps of a search's blocks found, and whether it was this block. All other warps do something else while
/// those exchange messages. One block barrier, and one exchange when the search has several blocks.
template <int Columns, class Meanwhile>
[[nodiscard]] __device__ __forceinline__ Found agree(const Found& mine, Bench<Columns>& bench, const Board& board, unsigned step,
                                                     const Meanwhile& meanwhile) {
  if (warp() == 0) {
    const Found all = board.blocks > 1 ? board.exchange(mine, step) : mine;
    if (lane() == 0) {
      bench.found[32] = all;
      bench.mine = mine.code == all.code;
    }
  } else {
    meanwhile();
  }
  __syncthreads();
  return bench.found[32];
}

/// Mapping: `blocks` blocks a search, each of which keeps the signs and all products, and evaluates its share of the moves (Masks or
/// Singles, Pairs). Synchronisation: block barriers, and one exchange of messages an iteration between the blocks of a search, which must
/// all be resident. Cost: new masks or a sort of the rows, the evaluation, the exchange an iteration.
template <int K, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1) search_kernel(const __grid_constant__ Matrix matrix, const __grid_constant__ Room room,
                                                                   const __grid_constant__ Searches searches, const Rules rules) {
  using Evaluation = Neighbourhood<K, Shape>;
  __shared__ Bench<Evaluation::columns> bench;
  const auto search = static_cast<std::int32_t>(blockIdx.x) / searches.blocks;
  const Board board{searches.boards + static_cast<std::size_t>(search) * 2 * searches.blocks, searches.blocks,
                    static_cast<std::int32_t>(blockIdx.x) % searches.blocks};
  local_search::SearchProgress& progress = searches.all_progress[search];
  std::uint32_t* negative = in_pool<std::uint32_t>(room.negative);
  std::uint32_t* kept = searches.negative + static_cast<std::size_t>(search) * matrix.units;
  std::uint32_t* best = searches.best + static_cast<std::size_t>(search) * matrix.units;
  std::int32_t* until = searches.until + static_cast<std::size_t>(search) * searches.until_size;

  auto t = static_cast<std::int32_t>(progress.iterations), value = static_cast<std::int32_t>(progress.value),
       best_value = static_cast<std::int32_t>(progress.best_value);
  bool ended = progress.at_optimum;
  for (std::int32_t unit = static_cast<std::int32_t>(threadIdx.x); unit < matrix.units; unit += Shape::threads) negative[unit] = kept[unit];
  __syncthreads();
  const Sorter<K> sorter{matrix, room, bench.groups, searches.scratch + blockIdx.x * room.scratch_size};
  Evaluation evaluation{sorter, searches, bench, until, board.block};
  sorter.begin();
  evaluation.begin();

  // One thread keeps the books, a move late, while the others wait for messages.
  const bool clerk = board.block == 0 && threadIdx.x == Shape::threads - 1;
  local_search::SearchProgress& books = reinterpret_cast<local_search::SearchProgress&>(bench.books);
  if (clerk) books = progress;
  Found choice = Found::nothing();
  moves::Move<K> move{};
  bool moved = false;
  const auto enter = [&] {
    if (clerk) books.take({choice.value(), moves::index<K>(matrix.n, move), choice.rank >= Found::forbidden}, rules.method);
  };
  for (unsigned step = 1; !ended && t < rules.limit; ++step) {
    const Found found = evaluation.evaluate(moved, move, t, best_value);
    choice = agree(found, bench, board, step, [&] {
      evaluation.wipe(32);
      if (moved) enter();
    });
    move = move_of<K>(choice.code, matrix.n);
    moved = true;
    ended = rules.method == local_search::Method::hill && choice.value() >= value;
    if (ended) break;
    evaluation.announce(move);
    if (threadIdx.x == 0) {
      for (const std::int32_t column : move.at) negative[column / 32] ^= 1u << column % 32;
      if (rules.method == local_search::Method::tabu && bench.mine)
        until[evaluation.place_of(choice.code)] = static_cast<std::int32_t>(local_search::tabu_until(t, rules.tenure));
    }
    if (threadIdx.x == 32) sorter.reset();
    __syncthreads();
    value = choice.value();
    ++t;
    if (value >= best_value) continue;
    best_value = value;
    if (board.block == 0)
      for (std::int32_t unit = static_cast<std::int32_t>(threadIdx.x); unit < matrix.units; unit += Shape::threads)
        best[unit] = negative[unit];
  }
  if (moved) enter();
  __syncthreads();
  if (board.block != 0) return;
  if (clerk) progress = books;
  for (std::int32_t unit = static_cast<std::int32_t>(threadIdx.x); unit < matrix.units; unit += Shape::threads) kept[unit] = negative[unit];
}

}  // namespace vicinity::lsm::perceptron
