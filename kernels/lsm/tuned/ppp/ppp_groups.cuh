#pragma once
// Rows sorted by their product, and what follows from the sizes of the groups: which words hold them, and of which words the new
// histogram is counted.
#include <cstdint>

#include "kernels/lsm/tuned/ppp/ppp_device.cuh"

namespace vicinity::lsm::perceptron {

/// 32 rows of one group, or the rest of it.
struct Word {
  std::uint16_t first;         ///< place in `order` of the first row
  std::uint8_t count, weight;  ///< rows; how much a positive entry adds to the sign part, in units of 2 sign_weight
  std::uint16_t slot;          ///< of the positive entries; 0: not needed for counting
  std::uint16_t width;         ///< words of the group: the negative entries lie so many slots later
};

/// A count of the new histogram of K = 2. A group has two runs of slots, for its rows with positive and with negative entries, which
/// follow each other along products 4 apart. Rows come to v by two positive flips from v + 4, by two negative ones from v - 4, and by one
/// of each from v itself: four runs of slots, without a gap, of one column, each with the slot of the other column that the flip asks for.
struct Place {
  std::uint32_t first;       ///< slot
  std::uint32_t length;      ///< slots
  std::int32_t target;       ///< or the weight of the count in the sign part
  std::uint16_t from, swap;  ///< after `from` slots, two runs of `swap` slots are exchanged
  std::uint16_t partner[8];  ///< the first slots of the other column; 0 after the last

  /// Slot of the other column.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t other(std::uint32_t k) const {
    if (k >= length) return 0;
    const std::uint32_t within = k - from;
    return first + k + (within < swap ? swap : within - swap < swap ? 0u - swap : 0u);
  }
};

/// Words and places of a sort.
struct Tables {
  Word* words;
  Place* places;
  std::int32_t place_count;  ///< room for so many
};

/// What all threads of a block see of a sort.
struct Groups {
  std::int32_t low, high;     ///< places of the least and the greatest product
  std::int32_t words, slots;  ///< in use; slot 0 is zero
  std::int32_t short_places;  ///< of at most four slots: the first in `places`
  std::int32_t long_places;   ///< the last in `places`
  bool too_long;              ///< a count needs more slots than two windows share
  std::int32_t constant;      ///< of z
  Place weighted[4];          ///< counts that matter to the sign part, by product from -3 or -2; length 0: none
};

/// Where the slots of a tile lie: all in shared memory, as many as fit there in windows one after the other (K = 2), or in device
/// memory.
enum class Slots { near, window, far };

/// The slots from `first` to `end`, of which slot 0 is followed by `first`, and the counts that begin before `next`, where the next window
/// begins.
struct Window {
  static constexpr std::int32_t shared = 24;  ///< slots of two windows
  std::int32_t first, next, end;

  [[nodiscard]] static __device__ __forceinline__ Window at(std::int32_t first, std::int32_t capacity) {
    return {first, first + capacity - 1 - shared, first + capacity - 1};
  }
  [[nodiscard]] __device__ __forceinline__ bool holds(std::int32_t slot) const { return slot >= first && slot < end; }
  [[nodiscard]] __device__ __forceinline__ bool begins(std::uint32_t slot) const {
    return slot - static_cast<std::uint32_t>(first) < static_cast<std::uint32_t>(next - first);
  }
};

/// Words for so many rows.
[[nodiscard]] __device__ __forceinline__ std::int32_t words_for(std::int32_t rows) { return (rows + 31) / 32; }

/// Sorting, by all threads of a block. K = 1: places in ascending order. K = 2 and 3: first every other place, then the rest, since two
/// flips lead from one to the next but one; and with tables.
template <int K>
struct Sorter {
  const Matrix& matrix;
  const Room& room;
  Groups& groups;
  std::uint32_t* scratch;  ///< device memory

  template <bool Near>
  [[nodiscard]] __device__ __forceinline__ Tables tables() const {
    if constexpr (Near) return {in_pool<Word>(room.words), in_pool<Place>(room.places), room.place_count};
    return {reinterpret_cast<Word*>(scratch + room.far_words), reinterpret_cast<Place*>(scratch + room.far_places), room.far_place_count};
  }
  /// The tables of this sort lie in shared memory.
  [[nodiscard]] __device__ __forceinline__ bool near() const { return room.spread > matrix.n || groups.high - groups.low < room.spread; }

  [[nodiscard]] __device__ __forceinline__ unsigned* histogram() const { return in_pool<unsigned>(room.histogram); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t rows_at(std::int32_t place) const {
    return static_cast<std::int32_t>(histogram()[place] >> 16);
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t target_at(std::int32_t place) const {
    return in_pool<std::uint16_t>(room.target)[place];
  }
  [[nodiscard]] __device__ __forceinline__ std::uint16_t* keys() const { return in_pool<std::uint16_t>(K == 3 ? room.key : room.base); }
  /// Before the first sort.
  __device__ __forceinline__ void begin() const {
    for (std::int32_t place = static_cast<std::int32_t>(threadIdx.x); place < matrix.n + 2 * margin + 1; place += blockDim.x) {
      const std::int32_t v = product_at(place, matrix.n);
      histogram()[place] = 0;
      in_pool<std::uint16_t>(room.target)[place] = v < 1 || v > matrix.n ? 0 : static_cast<std::uint16_t>(matrix.target[v]);
    }
    if (threadIdx.x < 32) in_pool<std::uint16_t>(room.order)[matrix.m + threadIdx.x] = 0;
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < matrix.m; row += blockDim.x) {
      std::int32_t count = 0;
      for (std::int32_t unit = 0; unit < matrix.units; ++unit)
        count += __popc(matrix.by_row[static_cast<std::size_t>(unit) * matrix.m + row] ^ in_pool<std::uint32_t>(room.negative)[unit]);
      in_pool<std::uint16_t>(room.base)[row] = static_cast<std::uint16_t>(count);
    }
    if (threadIdx.x == 0) reset();
    __syncthreads();
  }
  /// Zeroes the counts of the last sort, by the threads from `first` on.
  __device__ __forceinline__ void wipe(std::int32_t first) const {
    for (std::int32_t place = groups.low - 2 + static_cast<std::int32_t>(threadIdx.x) - first; place <= groups.high + 2;
         place += blockDim.x - first)
      histogram()[place] = 0;
  }
  /// After wipe(), and a barrier: one thread forgets the rest.
  __device__ __forceinline__ void reset() const {
    groups.low = matrix.n + 2 * margin;
    groups.high = 0;
    groups.short_places = groups.long_places = 0;
    groups.too_long = false;
    groups.constant = matrix.whole_target;
    for (Place& place : groups.weighted) place.length = 0;
  }
  /// Sorts the rows. `flipped`: the columns whose signs were turned since the last sort, which `negative` already tells; K = 3 sorts as if
  /// `outer` were flipped as well. Ends with a barrier.
  __device__ __forceinline__ void sort(bool moved, const moves::Move<K>& flipped, std::int32_t outer) const {
    count(moved, flipped, outer);
    __syncthreads();
    tabulate();
    __syncthreads();
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < matrix.m; row += blockDim.x) {
      const unsigned at = (histogram()[keys()[row] + margin] & 0xFFFFu) + in_pool<std::uint16_t>(room.rank)[row];
      in_pool<std::uint16_t>(room.order)[at] = static_cast<std::uint16_t>(row);
    }
    if constexpr (K > 1) near() ? find_partners<true>() : find_partners<false>();
    __syncthreads();
  }

 private:
  /// The bits of a column's positive entries among 32 rows, with the present sign.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t positives(std::int32_t column, std::int32_t word) const {
    const std::uint32_t sign = 0u - (in_pool<std::uint32_t>(room.negative)[column / 32] >> column % 32 & 1);
    return __ldg(matrix.by_column + static_cast<std::size_t>(column) * matrix.column_pitch + word) ^ sign;
  }

  /// Mapping: a lane a row, a warp 32 of them, some times over at once to wait for the columns only once.
  __device__ __forceinline__ void count(bool moved, const moves::Move<K>& flipped, std::int32_t outer) const {
    constexpr int at_once = 4;
    unsigned low = ~0u, high_complement = ~0u;
    for (std::int32_t first = warp(); first < matrix.row_words; first += at_once * warps()) {
      std::uint32_t bits[at_once][K], outer_bits[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const std::int32_t word = first + k * warps();
        if (word >= matrix.row_words) break;
        if (moved)
          for (int f = 0; f < K; ++f) bits[k][f] = positives(flipped.at[f], word);
        if constexpr (K == 3) outer_bits[k] = positives(outer, word);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const std::int32_t row = 32 * (first + k * warps()) + lane();
        if (row >= matrix.m) break;
        std::int32_t key = in_pool<std::uint16_t>(room.base)[row];
        if (moved) {
          for (int f = 0; f < K; ++f) key += (bits[k][f] >> lane() & 1) != 0 ? 1 : -1;
          in_pool<std::uint16_t>(room.base)[row] = static_cast<std::uint16_t>(key);
        }
        if constexpr (K == 3) {
          key -= (outer_bits[k] >> lane() & 1) != 0 ? 1 : -1;
          keys()[row] = static_cast<std::uint16_t>(key);
        }
        in_pool<std::uint16_t>(room.rank)[row] = static_cast<std::uint16_t>(atomicAdd(&histogram()[key + margin], 1u << 16) >> 16);
        low = min(low, static_cast<unsigned>(key + margin));
        high_complement = min(high_complement, ~static_cast<unsigned>(key + margin));
      }
    }
    low = warp_min(low);
    high_complement = warp_min(high_complement);
    if (lane() != 0 || low == ~0u) return;
    atomicMin(&groups.low, static_cast<std::int32_t>(low));
    atomicMax(&groups.high, static_cast<std::int32_t>(~high_complement));
  }

  /// Places in the order of the sort: those of one parity, then those of the other (K > 1), from two below the least to two above the
  /// greatest, which the flips can reach.
  struct Sequence {
    std::int32_t low, length, half;
    [[nodiscard]] __device__ __forceinline__ std::int32_t place(std::int32_t k) const {
      if constexpr (K == 1) return low + k;
      return k < half ? low + 2 * k : low + 1 + 2 * (k - half);
    }
  };

  /// Mapping: 32 places a warp; each first adds up what lies before. Synchronisation: the cursors are written when all have read the
  /// counts.
  __device__ __forceinline__ void tabulate() const {
    const std::int32_t low = groups.low - 2, length = groups.high + 2 - low + 1;
    const Sequence sequence{low, length, (length + 1) / 2};
    for (std::int32_t round = 0; round < length; round += blockDim.x) {
      const std::int32_t start = round + 32 * warp(), k = start + lane();
      std::int32_t place = -1, cursor = 0;
      if (start < length) {
        std::int32_t rows = 0, words = 0, stored = 0;
        for (std::int32_t before = lane(); before < start; before += 32) add(sequence.place(before), rows, words, stored);
        rows = warp_sum(rows);
        if constexpr (K > 1) {
          words = warp_sum(words);
          stored = warp_sum(stored);
        }
        std::int32_t own_rows = 0, own_words = 0, own_stored = 0;
        if (k < length) add(place = sequence.place(k), own_rows, own_words, own_stored);
        cursor = rows + sum_to_lane(own_rows) - own_rows;
        if constexpr (K > 1) {
          words += sum_to_lane(own_words);
          stored += sum_to_lane(own_stored);
          const std::int32_t word = words - own_words, slot = 1 + 2 * (stored - own_stored);
          if (place >= 0 && near()) describe<true>(place, own_rows, own_stored, cursor, word, slot);
          if (place >= 0 && !near()) describe<false>(place, own_rows, own_stored, cursor, word, slot);
          if (k == length - 1) {
            groups.words = words;
            groups.slots = 1 + 2 * stored;
          }
        }
      }
      __syncthreads();
      if (place >= 0) histogram()[place] |= static_cast<unsigned>(cursor);
    }
  }
  /// Rows, words, and words that counting needs.
  __device__ __forceinline__ void add(std::int32_t place, std::int32_t& rows, std::int32_t& words, std::int32_t& stored) const {
    const std::int32_t count = rows_at(place);
    rows += count;
    if constexpr (K == 1) return;
    words += words_for(count);
    if (product_at(place, matrix.n) > -4) stored += words_for(count);
  }

  /// K > 1: the words of a group, and the counts that lead to its place.
  template <bool Near>
  __device__ __forceinline__ void describe(std::int32_t place, std::int32_t rows, std::int32_t width, std::int32_t first, std::int32_t word,
                                           std::int32_t slot) const {
    const std::int32_t v = product_at(place, matrix.n);
    const Tables all = tables<Near>();
    // z of the rows, were both entries negative; what a positive one adds; what two add beyond that
    if (v < -4) atomicAdd(&groups.constant, rows * ppp::sign_cost(v + 4));
    const std::int32_t weight = v < 0 ? min(-v, 4) : 0;
    for (std::int32_t k = 0; 32 * k < rows; ++k)
      all.words[word + k] = {static_cast<std::uint16_t>(first + 32 * k), static_cast<std::uint8_t>(min(rows - 32 * k, 32)),
                             static_cast<std::uint8_t>(weight), static_cast<std::uint16_t>(width == 0 ? 0 : slot + k),
                             static_cast<std::uint16_t>(width)};
    if (v > -4 && v < 4 && rows > 0) {
      const std::int32_t both = ppp::sign_cost(v - 4) + ppp::sign_cost(v + 4) - 2 * ppp::sign_cost(v);
      put(groups.weighted[(v + 3) / 2], slot, width, both, 0, 0);
    }
    if (v < 1 || v > matrix.n) return;
    const std::int32_t below = words_for(rows_at(place - 2)), length = below + 2 * width + words_for(rows_at(place + 2));
    if (length == 0) return;
    atomicSub(&groups.constant, target_at(place));
    const std::int32_t k = length <= 4 ? atomicAdd(&groups.short_places, 1) : all.place_count - 1 - atomicAdd(&groups.long_places, 1);
    put(all.places[k], slot - below, length, target_at(place), below, width);
  }
  /// Mapping: a thread a slot of a place.
  template <bool Near>
  __device__ __forceinline__ void find_partners() const {
    const Tables all = tables<Near>();
    const std::int32_t count = groups.short_places + groups.long_places;
    for (std::int32_t k = static_cast<std::int32_t>(threadIdx.x); k < 8 * count; k += blockDim.x) {
      Place& place = all.places[k / 8 < groups.short_places ? k / 8 : all.place_count - count + k / 8];
      place.partner[k % 8] = static_cast<std::uint16_t>(place.other(k % 8));
    }
  }
  __device__ __forceinline__ void put(Place& to, std::int32_t first, std::int32_t length, std::int32_t target, std::int32_t from,
                                      std::int32_t swap) const {
    if (length > Window::shared) groups.too_long = true;
    to.first = static_cast<std::uint32_t>(first);
    to.length = static_cast<std::uint32_t>(length);
    to.target = target;
    to.from = static_cast<std::uint16_t>(from);
    to.swap = static_cast<std::uint16_t>(swap);
  }
};

}  // namespace vicinity::lsm::perceptron
