// gpu-tuned for the permuted perceptron problem with flips of one sign and many rows, as long as a cluster holds the search.
//
// Problem. z of the best of all n flips, an iteration. z is its sign part plus what the histogram adds, which is never negative. Sign parts
// differ by more than histograms do, so few moves can be best: along a search of 1301-1317 three of all, and one flip changes sign parts
// so little that these are nearly always among the 15 least of their block before it.
//
// Sign part. Let P(M) be the positive entries of a column in the rows of a mask M. After a flip the sign part is C + 180 P(A) + 60 P(B) for
// odd n, where A are the rows with S < 0, and B those with S < -1 or S = 1; for even n it is C + 240 P(A) + 120 P(B), where B are the rows
// with S = 0. C is that of the solution, less 120 |A|, and for odd n more by 60 |rows with S = -1|. So P and C are counts of three masks.
//
// Data layout. Each block has all columns of the matrix as bits in shared memory, if they fit, else its own. Table warps keep the rows'
// numbers of positive entries as bit planes in registers, as planes.cu does, but biased: the highest plane says S >= 0. A bound warp has
// the bits of 15 columns in registers, complemented where the sign is -1.
//
// Phases of an iteration: (1) the planes follow the flip; the three masks are written, then tables of which masks of single bins are made;
// (2) bound warps count the three masks for the block's columns by binary matrix products; meanwhile table warps count bins for 15 moves
// that were predicted; (3) the key warp adds these up, and sends the least key of them to all blocks, or the least bound of the other
// moves if that is less; other bound warps predict: the moves with the least bounds now are those counted in the next iteration. One warp
// ranks the 32 that were the least of the block an iteration ago, which is soon done, and others find the next 32; (4) all warps wait for
// what all blocks sent. If that is a bound (in 4 iterations of 100 at 1301-1317), each block evaluates 15 moves at a time, those whose sign
// part exceeds the least by no more than histograms add, until its best lies below all that are left; then they send again.
// Synchronisation: a block barrier after the masks, barriers of some of its warps after the tables, each half of (2), and the prediction,
// which nobody waits for, and an exchange of counted stores an iteration. Cost: chains of dependent instructions, some hundred a phase; six
// binary matrix products a bound warp, 12 a warp that counts.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/lsm/tuned/ppp/bounds.cuh"
#include "kernels/lsm/tuned/ppp/search.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm {
namespace perceptron {

namespace {

/// Mapping: a cluster of `searches.blocks` blocks a search. Table warps, which also count, come first; then bound warps, the first
/// of which is the key warp. The last warp of a block keeps the progress of the search and its solutions, beside the others: it reads the
/// keys and nothing else, and the others do not pass the next barrier before.
template <class S>
__global__ void __launch_bounds__(S::threads, 1)
    bounds_kernel(const __grid_constant__ Matrix matrix, const __grid_constant__ PlanesLayout layout,
                  const __grid_constant__ Searches searches, const Rules rules) {
  __shared__ alignas(16) cuda::Word messages[2][S::most_blocks];
  __shared__ alignas(8) std::uint64_t arrival_words[2];
  __shared__ alignas(16) std::uint32_t bounded_moves[32 * S::columns_of_lane];
  __shared__ alignas(16) std::uint32_t expected_moves[32 * S::columns_of_lane];  // with what will be tabu in the next iteration
  __shared__ alignas(16) std::uint32_t candidate_moves[S::candidates];
  __shared__ std::uint32_t candidates[S::candidates];  // places in the block
  __shared__ std::uint32_t predicted[S::strip_columns + 1], list[S::strip_columns + 1];
  __shared__ std::int32_t sizes[2], edge, another_round, top_at_first, sign_part_at_first;
  const auto blocks = searches.blocks, search = static_cast<std::int32_t>(blockIdx.x) / blocks,
             block = static_cast<std::int32_t>(blockIdx.x) % blocks, thread = static_cast<std::int32_t>(threadIdx.x);
  local_search::SearchProgress& all_progress = searches.all_progress[search];
  std::uint32_t* const current = searches.current + static_cast<std::size_t>(search) * matrix.words_per_row;
  std::uint32_t* const best = searches.best + static_cast<std::size_t>(search) * matrix.words_per_row;
  std::int32_t* const tabu_times = searches.tabu_until + static_cast<std::size_t>(search) * searches.tabu_entries;
  Course course{all_progress};
  auto& [t, z, best_z, ended, moved, taken, column] = course;

  // --- set up ---
  const std::int32_t first_column = block * S::columns;
  const std::uint32_t no_move = BoundedMove::none | static_cast<std::uint32_t>(first_column);
  const std::int32_t lowest = lowest_mask(matrix.n), first_of_bits = layout.in_shared ? 0 : first_column;
  std::uint16_t* const numbers = shared_at<std::uint16_t>(layout.tables);
  std::uint32_t* const bits = shared_at<std::uint32_t>(layout.bits);
  std::int32_t* const terms = shared_at<std::int32_t>(layout.terms);
  const cuda::StepArrivals arrivals{static_cast<std::uint32_t>(__cvta_generic_to_shared(arrival_words))};
  if (thread < 2) arrivals.init(static_cast<unsigned>(thread));
  if (thread == 0) {
    top_at_first = lowest + 1;
    sign_part_at_first = 0;
  }
  {
    const std::int32_t columns = layout.in_shared ? matrix.n : S::columns;
    for (std::int32_t k = thread; k < columns * layout.column_pitch + S::column_words; k += S::threads) {
      const std::int32_t column = first_of_bits + k / layout.column_pitch, word = k % layout.column_pitch;
      bits[k] = column < matrix.n && word < matrix.words_per_column ? __ldg(matrix.by_column + column * matrix.column_pitch + word) : 0;
    }
  }
  for (std::int32_t k = thread; k <= matrix.n / 2; k += S::threads) {
    const std::int32_t v = 2 * k + matrix.n % 2;
    shared_at<std::uint16_t>(layout.target)[k] = v < 1 ? 0 : static_cast<std::uint16_t>(matrix.target[v]);
  }
  for (std::int32_t k = thread; k < 32 * S::columns_of_lane; k += S::threads)
    bounded_moves[k] = expected_moves[k] = BoundedMove::none | static_cast<std::uint32_t>(k);
  if (thread < S::candidates) candidates[thread] = static_cast<std::uint32_t>(thread);
  if (thread <= S::strip_columns) {
    list[thread] = no_move;  // a column of the block, where there are fewer moves
    const std::int32_t column = first_column + thread;
    predicted[thread] = thread < S::strip_columns && column < matrix.n
                            ? BoundedMove::of(false, 0, current[column / 32] >> column % 32 & 1, column).word
                            : no_move;
  }
  __syncthreads();
  for (std::int32_t row = thread; row < matrix.m; row += S::threads) {
    std::int32_t count = 0;
    for (std::int32_t word = 0; word < matrix.words_per_row; ++word)
      count += __popc(matrix.by_row[static_cast<std::size_t>(word) * matrix.m + row] ^ current[word]);
    // beyond n all bits are zero
    numbers[row] = static_cast<std::uint16_t>(count + bias_of(matrix.n));
    atomicMax(&top_at_first, count + bias_of(matrix.n));
    atomicAdd(&sign_part_at_first, ppp::sign_cost(2 * count - matrix.n));
  }
  for (std::int32_t k = thread; k < S::strip_columns * S::term_pitch; k += S::threads) terms[k] = 0;
  __syncthreads();
  const bool has_tables = warp() < S::table_warps, is_key_warp = warp() == S::table_warps, keeps_progress = thread >= S::workers;
  std::int32_t sign_part = sign_part_at_first;
  const auto messages_address = static_cast<std::uint32_t>(__cvta_generic_to_shared(messages));

  // --- search ---
  // The least key of a step, once it is there; whether it is that of an evaluated move.
  const auto wait = [&](unsigned step) {
    arrivals.wait(step);
    const cuda::Word least = cuda::warp_min(lane() < blocks ? messages[step & 1][lane()] : ~cuda::Word{0});
    const MoveKey key{static_cast<unsigned>(least >> 32), static_cast<unsigned>(least)};
    if ((key.low & evaluated_bit) == 0) return false;
    course.take(key, static_cast<std::int32_t>(key.low >> 14 & 0x7FFu), rules);
    return true;
  };
  const auto end = [&] {
    cuda::barrier_of_all<true>();  // all have read `current`, and no keys are on their way
    __syncthreads();
  };
  if (keeps_progress) {
    __syncthreads();
    cuda::barrier_of_all<true>();
    __syncthreads();
    keep_progress(
        all_progress, current, best, matrix.words_per_row, block, rules, course, wait, [] { arrive<S, Stage::masks>(); }, end);
    return;
  }
  if (has_tables) {
    BiasedPlanes<S> planes{matrix, layout};
    planes.init(numbers);
    __syncthreads();  // the numbers make room for the tables
    for (std::int32_t k = thread; k < S::mask_words; k += 32 * S::table_warps)
      shared_at<std::uint32_t>(layout.tables)[Table::zero * S::mask_words + k] = 0;
    cuda::barrier_of_all<true>();
    __syncthreads();
    std::int32_t top = top_at_first;  // no bins beyond have rows
    SetPlan<S> plan{matrix, layout, lowest + S::set_bins * warp()};
    ColumnBits<S> moves;
    const auto load = [&](const std::uint32_t* list) {
      load_moves<S>(moves, list, bits - first_of_bits * layout.column_pitch, layout.column_pitch);
#pragma unroll
      for (int c = 0; c < S::chunks; ++c) asm volatile("" : "+r"(moves[c][0]), "+r"(moves[c][1]), "+r"(moves[c][2]), "+r"(moves[c][3]));
    };
    load(predicted);
    for (unsigned step = 1; !ended && t < rules.limit; ++step) {
      if (moved) planes.flip(column, taken.low >> 13 & 1);
      if (warp() < S::mask_warps) planes.write_signs();
      arrive<S, Stage::masks>();
      planes.write_lowest_tables();
      meet<S, Stage::tables>();
      std::int32_t written = lowest;
      std::int32_t next_top = top;
      for (bool is_predicted = true;;) {
        std::int32_t parts[2] = {};
        SetSizes<S> at_top;
        for (std::int32_t window = lowest; window <= top; window += S::window_bins) {
          if (window != written) {
            meet<S, Stage::tables>();
            planes.write_tables(written = window);
            meet<S, Stage::tables>();
          }
          const std::int32_t first = window + S::set_bins * warp();
          if (first > top) continue;
          if (first != plan.first) plan = SetPlan<S>{matrix, layout, first};
          count_set<S>(plan, moves, top, at_top, parts);
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          parts[half] += __shfl_xor_sync(~0u, parts[half], 1);
          const std::int32_t at = 8 * half + lane() / 4;
          if (lane() % 2 == 0 && at < S::strip_columns) terms[at * S::term_pitch + 2 * warp() + lane() % 4 / 2] = parts[half];
        }
        arrive<S, Stage::terms>();
        if (is_predicted) {
          if (at_top.first >= 0) edge = at_top.edge(top);
          meet<S, Stage::predicted>();
          next_top = max(top - edge, lowest + 1);
          load(predicted);
          if (wait(step)) break;
          ++step;
          is_predicted = false;
          meet<S, Stage::masks>();
        } else {
          meet<S, Stage::round>();
          if (another_round == 0) {
            load(predicted);
            wait(step);
            break;
          }
        }
        load(list);
      }
      top = next_top;
      if (plan.first != lowest + S::set_bins * warp()) plan = SetPlan<S>{matrix, layout, lowest + S::set_bins * warp()};
    }
  } else {
    __syncthreads();
    BoundStrip<S> strip{matrix, first_column + S::strip_columns * (warp() - S::table_warps), current, tabu_times};
    cuda::barrier_of_all<true>();
    __syncthreads();
    const std::uint32_t message_at =
                            cuda::address_in_block(messages_address + 8 * static_cast<std::uint32_t>(block), min(lane(), blocks - 1)),
                        counter_at = cuda::address_in_block(arrivals.of(0).address, min(lane(), blocks - 1));
    BoundedMove of_lane{};  // one of those predicted, and which they are
    std::uint32_t are_predicted[S::columns_of_lane];
    const auto load = [&] {
      of_lane = {lane() < S::strip_columns ? predicted[lane()] : no_move};
      const std::int32_t at = of_lane.column() - first_column;
#pragma unroll
      for (int k = 0; k < S::columns_of_lane; ++k)
        are_predicted[k] = static_cast<std::uint32_t>(cuda::warp_sum(of_lane.word < BoundedMove::none && at / 32 == k ? 1 << at % 32 : 0));
    };
    load();
    for (unsigned step = 1; !ended && t < rules.limit; ++step) {
      if (moved) {
        strip.flip(column);
        if (rules.method == local_search::Method::tabu)
          strip.forbid(column, static_cast<std::int32_t>(local_search::tabu_until(t - 1, rules.tenure)));
      }
      meet<S, Stage::masks>();
      strip.write_bounds(shared_at<std::uint32_t>(layout.tables) + Table::signs * S::mask_words, t,
                         bounded_moves + S::strip_columns * (warp() - S::table_warps),
                         expected_moves + S::strip_columns * (warp() - S::table_warps), sizes);
      const std::uint32_t candidate = candidates[lane()];
      meet<S, Stage::bounds>();
      if (!is_key_warp) {
        const std::int32_t ranks = warp() - S::table_warps - 1;
        if (warp() == S::table_warps + S::bound_warps - 1) {
          const std::uint32_t word = expected_moves[candidate];
          candidate_moves[lane()] = word;
          __syncwarp();
          const std::int32_t rank = rank_among<S::candidates>(candidate_moves, word);
          if (rank < S::strip_columns) predicted[rank] = word < BoundedMove::none ? word : no_move;
          arrive<S, Stage::predicted>();
        } else if (ranks < S::columns_of_lane) {
          const std::int32_t place = 32 * ranks + lane(), rank = rank_among<32 * S::columns_of_lane>(expected_moves, expected_moves[place]);
          if (rank < S::candidates) candidates[rank] = static_cast<std::uint32_t>(place);
        }
        if (!wait(step)) {
          meet<S, Stage::masks>();
          wait(++step);
        }
        continue;
      }
      const std::int32_t constant = sign_part - 2 * ppp::sign_weight * (2 * sizes[0] - sizes[1]);
      const auto bound_of = [&](std::int32_t units) { return constant + 2 * ppp::sign_weight * units; };
      const auto limit_for = [&](std::int32_t bound) { return min((bound - constant) / (2 * ppp::sign_weight), Selection<S>::all); };
      // The bits of a move that was just flipped are not those that were counted.
      const bool is_move = of_lane.word < BoundedMove::none && !(moved && of_lane.column() == column);
      MoveKey mine = cuda::no_key<MoveKey>();  // the least bound of the lane's moves that were not counted
#pragma unroll
      for (int k = 0; k < S::columns_of_lane; ++k) {
        const bool known = (are_predicted[k] >> lane() & 1) != 0 && !(moved && first_column + 32 * k + lane() == column);
        const BoundedMove other{bounded_moves[32 * k + lane()]};
        const unsigned high = high_of(bound_of(other.units()), other.tabu() ? t + 1 : 0, t, best_z);
        if (!known && other.word < BoundedMove::none && high < mine.high) mine = {high, 0};
      }
      const auto key_of = [&](const BoundedMove& move) {
        std::int32_t sum = matrix.target_sum + bound_of(move.units());
        const int4* const from = reinterpret_cast<const int4*>(terms + lane() * S::term_pitch);
#pragma unroll
        for (int k = 0; k < S::term_quads; ++k) {
          const int4 four = from[k];
          sum += four.x + four.y + four.z + four.w;
        }
        return MoveKey{high_of(sum, move.tabu() ? t + 1 : 0, t, best_z), low_of(move)};
      };
      const auto send = [&](const MoveKey& key) {
        if (lane() < blocks)
          cuda::store_counted(message_at + 8 * static_cast<std::uint32_t>(S::most_blocks) * (step & 1), counter_at + 8 * (step & 1),
                              static_cast<cuda::Word>(key.high) << 32 | key.low);
        if (lane() == 0) arrivals.of(step).expect(8 * static_cast<std::uint32_t>(blocks));
      };
      const BoundedMove move{is_move ? bounded_moves[of_lane.column() - first_column] : BoundedMove::none};
      meet<S, Stage::terms>();
      if (is_move) cuda::lower(mine, key_of(move));
      send(cuda::warp_argmin(mine));
      meet<S, Stage::predicted>();
      load();
      if (!wait(step)) {
        Selection<S> selection;
        selection.load(bounded_moves);
        selection.tabu_limit = max(limit_for(best_z - 1), -1);  // z may be best
        std::uint32_t first = BoundedMove::none;
#pragma unroll
        for (int k = 0; k < S::columns_of_lane; ++k) first = min(first, selection.moves[k]);
        first = cuda::warp_min(first);
        selection.limit = BoundedMove{first}.tabu()
                              ? Selection<S>::all
                              : BoundedMove{first}.units() + (z - sign_part + 2 * ppp::sign_weight) / (2 * ppp::sign_weight);
        selection.choose(list);
        meet<S, Stage::masks>();
        ++step;
        MoveKey best_of_block = cuda::no_key<MoveKey>();
        for (bool again = true; again;) {
          meet<S, Stage::terms>();
          mine = cuda::no_key<MoveKey>();
          if (lane() < min(selection.total, S::strip_columns)) mine = key_of({list[lane()]});
          cuda::lower(best_of_block, cuda::warp_argmin(mine));
          const bool more = selection.total > S::strip_columns;
          again = more || (selection.limit < Selection<S>::all && z_of(best_of_block) >= bound_of(selection.limit + 1));
          if (again && !more) selection.limit = limit_for(z_of(best_of_block));
          if (again)
            selection.choose(list);
          else
            send(best_of_block);
          if (lane() == 0) another_round = again ? 1 : 0;
          arrive<S, Stage::round>();
        }
        wait(step);
      }
      // The sign part follows, and the best value, which the moves of the next iteration are compared with.
      if (!ended) sign_part = bound_of(static_cast<std::int32_t>(taken.low & BoundedMove::most_units));
      best_z = min(best_z, z);
    }
    if (moved && !ended && rules.method == local_search::Method::tabu)
      strip.forbid(column, static_cast<std::int32_t>(local_search::tabu_until(t - 1, rules.tenure)));
    strip.store_tabu_times(tabu_times);
  }
  end();
}

// --- host -----------------------------------------------------------------------------------------------------------------------

/// For Engine.
template <class S>
struct BoundsSearch {
  static constexpr int flips = 1, threads = S::threads;

  /// A cluster has all moves and rows.
  [[nodiscard]] static bool holds(const ppp::Ppp& instance, const local_search::Task& task) {
    return task.restarts == 1 && instance.rows() <= 256 * S::chunks && instance.columns() <= S::most_columns &&
           SearchPolicy<BoundsSearch>::of(instance, task).in_cluster;
  }
  [[nodiscard]] static PlanesLayout layout(std::int32_t m, std::int32_t n) { return bounds_layout<S>(m, n); }
  [[nodiscard]] static std::int64_t shares(std::int32_t n) { return divide_up(n, S::columns); }
  [[nodiscard]] static std::size_t tabu_entries(std::int32_t n) { return static_cast<std::size_t>(n); }
  [[nodiscard]] static Policy record(const PlanesLayout& layout) { return {{"columns_in_shared", layout.in_shared}}; }
};
}  // namespace

template <class S>
inline constexpr auto kernel_of<BoundsSearch<S>> = &bounds_kernel<S>;

/// Null where no cluster holds the search.
std::unique_ptr<Run> run_by_bounds(const local_search::PppFlip<1>& neighborhood, const local_search::Task& task) {
  using Small = BoundsSearch<BoundsShape<6, 4>>;
  using Large = BoundsSearch<BoundsShape<6, 6>>;
  if (Small::holds(neighborhood.instance(), task)) return make_run<Small>(neighborhood, task);
  if (Large::holds(neighborhood.instance(), task)) return make_run<Large>(neighborhood, task);
  return nullptr;
}

}  // namespace perceptron
}  // namespace vicinity::lsm
