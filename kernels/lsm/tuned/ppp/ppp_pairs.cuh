#pragma once
// All flips of two signs of a tile of columns by counting (K = 2), or of three with the first one given (K = 3): the columns as words of 32
// sorted rows, and the counts by the binary matrix units.
#include <cstdint>

#include "kernels/lsm/tuned/ppp/ppp_groups.cuh"
#include "kernels/lsm/tuned/ppp_counts.cuh"

namespace vicinity::lsm::perceptron {

/// A tile of p units x q units of columns; each warp takes 16 M x 8 N pairs of it.
template <int PUnits, int QUnits, int M, int N>
struct Shape {
  static constexpr int p_units = PUnits, q_units = QUnits, m = M, n = N;
  static constexpr int units = PUnits + QUnits, columns = 32 * units;
  static constexpr int pitch = columns + 8;  ///< of a slot, in words: four consecutive slots of eight columns lie in different banks
  static constexpr int warps_q = 32 * QUnits / (8 * N), warps = 2 * PUnits / M * warps_q, threads = 32 * warps;
  static constexpr int per_thread = 4 * M * N;  ///< pairs
};

/// Where a tile lies: its first units of columns. K = 3: the first column of the moves.
struct Tile {
  std::int32_t p, q;
  std::int32_t outer;
};

/// Tiles of the pairs p < q, in strips of p units.
template <class Shape>
[[nodiscard]] VICINITY_HD std::int32_t tiles_of(std::int32_t units) {
  std::int32_t tiles = 0;
  for (std::int32_t p = 0; p < units; p += Shape::p_units) tiles += divide_up(units - p, Shape::q_units);
  return tiles;
}
template <class Shape>
[[nodiscard]] __device__ __forceinline__ Tile tile_at(std::int32_t units, std::int32_t k) {
  std::int32_t p = 0;
  while (k >= divide_up(units - p, Shape::q_units)) {
    k -= divide_up(units - p, Shape::q_units);
    p += Shape::p_units;
  }
  return {p, p + Shape::q_units * k, -1};
}

/// The evaluation of a tile by all threads of a block. Its bits and tables lie where its slots do, or, for windows, in shared memory.
template <int K, class Shape, Slots Kind>
struct Pairs {
  using Sums = std::int32_t[Shape::m][Shape::n][4];
  static constexpr bool resident = Kind != Slots::far, windowed = Kind == Slots::window;
  const Sorter<K>& sorter;
  std::int32_t* linear;  ///< [column of the tile]: what the sign part gains by a flip of it, less what pairs share
  Tile tile;
  const Matrix& matrix = sorter.matrix;
  const Room& room = sorter.room;
  const Groups& groups = sorter.groups;
  Window window{};

  [[nodiscard]] __device__ __forceinline__ std::int32_t unit(int k) const {
    return k < Shape::p_units ? tile.p + k : tile.q + k - Shape::p_units;
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* slots() const {
    if constexpr (resident) return in_pool<std::uint32_t>(room.slots);
    return sorter.scratch;
  }
  [[nodiscard]] __device__ __forceinline__ Tables tables() const {
    return resident || sorter.near() ? sorter.template tables<true>() : sorter.template tables<false>();
  }

  /// Into shared memory: the bits of the tile, which stay there for later calls with the same tile. Ends without a barrier.
  __device__ __forceinline__ void load_bits() const {
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < matrix.m; row += Shape::threads)
#pragma unroll
      for (int k = 0; k < Shape::units; ++k)
        in_pool<std::uint32_t>(room.bits)[k * matrix.m + row] =
            unit(k) < matrix.units ? matrix.by_row[static_cast<std::size_t>(unit(k)) * matrix.m + row] : 0;
  }

  /// Fills the slots, with the first of them `linear` as well, which must be zero. Mapping: a warp takes 32 sorted rows, transposes the
  /// bits of one unit after the other, and writes a word a column. Cost: five shuffles and two stores a word and unit.
  __device__ __forceinline__ void pack() const {
    const Word* words = tables().words;
    for (std::int32_t w = warp(); w < groups.words; w += Shape::warps) {
      const Word word = words[w];
      const bool sums = !windowed || window.first == 1, has_positive = !windowed || window.holds(word.slot),
                 has_negative = !windowed || window.holds(word.slot + word.width);
      if (!sums && !has_positive && !has_negative) continue;
      const std::int32_t row = in_pool<std::uint16_t>(room.order)[word.first + lane()];
      const std::uint32_t mask = word.count == 32 ? ~0u : (1u << word.count) - 1;
      std::uint32_t* to = slots() + static_cast<std::ptrdiff_t>(word.slot - shift()) * Shape::pitch + lane();
#pragma unroll
      for (int k = 0; k < Shape::units; ++k) {
        std::uint32_t bits = 0;
        if (resident) {
          bits = in_pool<std::uint32_t>(room.bits)[k * matrix.m + row];
        } else if (unit(k) < matrix.units) {
          bits = matrix.by_row[static_cast<std::size_t>(unit(k)) * matrix.m + row];
        }
        if (unit(k) < matrix.units) bits ^= in_pool<std::uint32_t>(room.negative)[unit(k)];
        const std::uint32_t positive = transposed(bits) & mask;
        if (sums && word.weight != 0) atomicAdd(&linear[32 * k + lane()], 2 * ppp::sign_weight * word.weight * __popc(positive));
        if (word.slot == 0) continue;
        if (has_positive) to[32 * k] = positive;
        if (has_negative) to[32 * k + word.width * Shape::pitch] = positive ^ mask;
      }
    }
  }

  /// Adds what the places of the window add to z. Mapping: a warp 16 M x 8 N pairs, all places one after the other. Cost: one binary
  /// matrix product and one absolute difference a pair, place and four (or eight) slots.
  __device__ __forceinline__ void count(Sums& z) const {
    if (is_idle()) return;
    const std::uint32_t* a = slots() + p_place() + lane() / 4;
    const std::uint32_t* b = slots() + 32 * Shape::p_units + q_place() + lane() / 4;
    const auto [words, places, place_count] = tables();
    const std::int32_t first_long = place_count - groups.long_places;
    if constexpr (windowed) {
      for_each_of_window(places, 0, groups.short_places, [&](const Place& place) { count_at_once<4>(place, a, b, z); });
      for_each_of_window(places, first_long, place_count, [&](const Place& place) { count_more(place, a, b, z); });
    } else {
#pragma unroll 2
      for (std::int32_t k = 0; k < groups.short_places; ++k) count_at_once<4>(places[k], a, b, z);
      for (std::int32_t k = first_long; k < place_count; ++k) count_more(places[k], a, b, z);
    }
    for (const Place& place : groups.weighted)
      if (place.length > 0 && (!windowed || window.begins(place.first))) count_long<true>(place, a, b, z);
  }
  /// The least of `best` and the tile's moves, to which the thread that evaluated it adds whether it is forbidden. `until`: [move of this
  /// thread in the tile][thread] for K = 2, [move] for K = 3.
  __device__ __forceinline__ void choose(const Sums& z, const std::int32_t* until, std::int32_t t, std::int32_t best_value,
                                         Found& best) const {
    if (is_idle()) return;
    choose(p_place(), q_place(), z, until, t, best_value, best);
  }

 private:
  [[nodiscard]] static __device__ __forceinline__ std::int32_t p_place() { return warp() / Shape::warps_q * 16 * Shape::m; }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t q_place() { return warp() % Shape::warps_q * 8 * Shape::n; }
  /// The warp has no pair p < q.
  [[nodiscard]] __device__ __forceinline__ bool is_idle() const {
    const std::int32_t p_first = 32 * tile.p + p_place(), q_first = 32 * tile.q + q_place();
    return q_first >= matrix.n || q_first + 8 * Shape::n - 1 <= p_first || p_first + 16 * Shape::m - 1 <= tile.outer;
  }
  /// Slots before the window, less slot 0.
  [[nodiscard]] __device__ __forceinline__ std::int32_t shift() const { return windowed ? window.first - 1 : 0; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t partner(std::uint32_t slot) const {
    return windowed && slot != 0 ? slot - shift() : slot;
  }

  /// Mapping: 32 places at once are looked through for those that the window has.
  template <class Work>
  __device__ __forceinline__ void for_each_of_window(const Place* places, std::int32_t from, std::int32_t to, const Work& work) const {
    for (std::int32_t first = from; first < to; first += 32) {
      const std::int32_t k = first + lane();
      unsigned found = __ballot_sync(~0u, k < to && window.begins(places[min(k, to - 1)].first));
      for (; found != 0; found &= found - 1) work(places[first + __ffs(static_cast<int>(found)) - 1]);
    }
  }
  __device__ __forceinline__ void count_more(const Place& place, const std::uint32_t* a, const std::uint32_t* b, Sums& z) const {
    if (place.length <= 8)
      count_at_once<8>(place, a, b, z);
    else
      count_long<false>(place, a, b, z);
  }

  template <int Words>
  __device__ __forceinline__ void load(std::uint32_t (&rows)[Shape::m][Words / 2], std::uint32_t (&columns)[Shape::n][Words / 4],
                                       const std::uint32_t* a, std::uint32_t slot, const std::uint32_t* b,
                                       const std::uint32_t (&partners)[Words / 4]) const {
#pragma unroll
    for (int i = 0; i < Shape::m; ++i)
#pragma unroll
      for (int k = 0; k < Words / 4; ++k) {
        rows[i][2 * k] = a[(slot + 4 * k) * Shape::pitch + 16 * i];
        rows[i][2 * k + 1] = a[(slot + 4 * k) * Shape::pitch + 16 * i + 8];
      }
#pragma unroll
    for (int j = 0; j < Shape::n; ++j)
#pragma unroll
      for (int k = 0; k < Words / 4; ++k) columns[j][k] = b[partners[k] * Shape::pitch + 8 * j];
  }

  /// Counts of at most `Words` slots.
  template <int Words>
  __device__ __forceinline__ void count_at_once(const Place& place, const std::uint32_t* a, const std::uint32_t* b, Sums& z) const {
    std::uint32_t rows[Shape::m][Words / 2], columns[Shape::n][Words / 4], partners[Words / 4];
#pragma unroll
    for (int k = 0; k < Words / 4; ++k) partners[k] = partner(place.partner[lane() % 4 + 4 * k]);
    load<Words>(rows, columns, a, place.first - shift() + lane() % 4, b, partners);
    const std::int32_t target = place.target;
#pragma unroll
    for (int i = 0; i < Shape::m; ++i)
#pragma unroll
      for (int j = 0; j < Shape::n; ++j) {
        std::int32_t counts[4]{};
        count_ones<Words>(counts, rows[i], columns[j]);
#pragma unroll
        for (int e = 0; e < 4; ++e) z[i][j][e] = abs_difference_plus(counts[e], target, z[i][j][e]);
      }
  }
  template <bool Weighted>
  __device__ __forceinline__ void count_long(const Place& place, const std::uint32_t* a, const std::uint32_t* b, Sums& z) const {
    Sums counts = {};
    for (std::uint32_t first = 0; first < place.length; first += 8) {
      std::uint32_t rows[Shape::m][4], columns[Shape::n][2];
      const std::uint32_t k = first + lane() % 4, partners[2]{partner(place.other(k)), partner(place.other(k + 4))};
      load<8>(rows, columns, a, place.first - shift() + k, b, partners);
#pragma unroll
      for (int i = 0; i < Shape::m; ++i)
#pragma unroll
        for (int j = 0; j < Shape::n; ++j) count_ones<8>(counts[i][j], rows[i], columns[j]);
    }
#pragma unroll
    for (int i = 0; i < Shape::m; ++i)
#pragma unroll
      for (int j = 0; j < Shape::n; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          z[i][j][e] =
              Weighted ? z[i][j][e] + place.target * counts[i][j][e] : abs_difference_plus(counts[i][j][e], place.target, z[i][j][e]);
  }

  __device__ __forceinline__ void choose(std::int32_t p_place, std::int32_t q_place, const Sums& z, const std::int32_t* until,
                                         std::int32_t t, std::int32_t best_value, Found& best) const {
#pragma unroll
    for (int i = 0; i < Shape::m; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const std::int32_t p_at = p_place + 16 * i + 8 * half + lane() / 4, p = 32 * tile.p + p_at;
        const std::int32_t fixed = groups.constant + linear[p_at];
        const unsigned code = first_code(p);
#pragma unroll
        for (int j = 0; j < Shape::n; ++j)
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            const std::int32_t q_at = q_place + 8 * j + lane() % 4 * 2 + c, q = 32 * tile.q + q_at;
            if (q <= p || q >= matrix.n || p <= tile.outer) continue;
            const std::int32_t value = fixed + linear[32 * Shape::p_units + q_at] + z[i][j][2 * half + c];
            const std::int32_t end =
                K == 3 ? until[code + q] : until[(((i * 2 + half) * Shape::n + j) * 2 + c) * Shape::threads + threadIdx.x];
            const unsigned rank = static_cast<unsigned>(value) | (end > t && value >= best_value ? Found::forbidden : 0u);
            if (const Found found{rank, code + static_cast<unsigned>(q)}; found.before(best)) best = found;
          }
      }
  }
  /// Code of a move, less its last column.
  [[nodiscard]] __device__ __forceinline__ unsigned first_code(std::int32_t p) const {
    if constexpr (K == 2) return static_cast<unsigned>(p) << 15;
    const std::int64_t a = matrix.n - 1 - tile.outer, b = matrix.n - 1 - p;
    return static_cast<unsigned>(moves::choose3(matrix.n) - 1 - moves::choose3(a) - moves::choose2(b) - (matrix.n - 1));
  }
};

/// Index into `until` of a pair in a tile of K = 2 (Pairs::evaluate).
template <class Shape>
[[nodiscard]] __device__ __forceinline__ std::int32_t index_in_tile(std::int32_t p, std::int32_t q) {
  const std::int32_t i = p / 16 % Shape::m, half = p / 8 % 2, j = q / 8 % Shape::n, c = q % 2;
  const std::int32_t warp = p / (16 * Shape::m) * Shape::warps_q + q / (8 * Shape::n), lane = p % 8 * 4 + q % 8 / 2;
  return (((i * 2 + half) * Shape::n + j) * 2 + c) * Shape::threads + 32 * warp + lane;
}

}  // namespace vicinity::lsm::perceptron
