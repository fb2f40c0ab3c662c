#pragma once
// All flips of one sign of a tile of columns, without a sort. The rows of every product are a mask of bits, from which a flip makes the
// masks of the products beside it; the binary matrix units count the positive entries of every column under every mask.
#include <cstdint>

#include "kernels/lsm/ppp_counts.cuh"
#include "kernels/lsm/ppp_groups.cuh"

namespace vicinity::lsm::perceptron {

/// A tile of 16 M - 1 columns; beside them a column of ones, whose counts are the sizes of the groups. The bits of the first 256 Held rows
/// lie in registers.
template <int Threads, int M, int Held>
struct OneFlip {
  static constexpr int threads = Threads, m = M, held = Held, columns = 16 * M - 1;
};

template <class Shape>
struct Masks {
  static constexpr int m = Shape::m, parts = Shape::threads / 32 * 16 * m;

  const Matrix& matrix;
  const Room& room;
  Groups& groups;

  __device__ __forceinline__ Masks(const Matrix& of_matrix, const Room& in_room, Groups& with_groups)
      : matrix(of_matrix), room(in_room), groups(with_groups) {
    const std::int32_t quads = matrix.column_pitch / 4;
    quad = static_cast<std::int32_t>(threadIdx.x) % quads;
    first_row = static_cast<std::int32_t>(threadIdx.x) / quads;
    rows_at_once = Shape::threads / quads;
  }

  // --- the room it takes: two sets of masks in turns, each from three places below the least product to three above the greatest

  /// Words of a mask: eight masks' words side by side lie in different banks.
  [[nodiscard]] static std::int32_t pitch_of(std::int32_t rows) {
    const std::int32_t quads = divide_up(rows, 128);
    return 4 * (quads + (quads + 1) % 2);
  }
  /// Words that may be read after the last mask.
  [[nodiscard]] static std::int32_t spare_words(std::int32_t pitch) { return 8 * pitch + 8 * Shape::held; }
  /// Masks for so many places from the least product to the greatest.
  [[nodiscard]] static std::int32_t rows_of(std::int32_t spread) { return spread + 6; }

  // --- masks

  /// From the positive entries of the rows, after Sorter::begin(). Whether the masks fit. Ends with a barrier.
  [[nodiscard]] __device__ __forceinline__ bool begin() {
    const std::uint16_t* base = in_pool<std::uint16_t>(room.base);
    unsigned least = ~0u, most_complement = ~0u;
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < matrix.m; row += Shape::threads) {
      const unsigned place = base[row] + margin;
      least = min(least, place);
      most_complement = min(most_complement, ~place);
    }
    tell(least, most_complement);
    __syncthreads();
    low = groups.low;
    high = groups.high;
    origin = low - 3;
    if (!fit()) return false;
    for (std::int32_t k = static_cast<std::int32_t>(threadIdx.x); k < (high - low + 7) * room.mask_pitch; k += Shape::threads)
      set(now)[k] = 0;
    __syncthreads();
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < matrix.m; row += Shape::threads)
      atomicOr(set(now) + (base[row] + margin - origin) * room.mask_pitch + row / 32, 1u << row % 32);
    __syncthreads();
    return true;
  }

  /// Before follow(): reads the column.
  __device__ __forceinline__ void fetch(std::int32_t column) {
    bits = __ldg(reinterpret_cast<const uint4*>(matrix.by_column + column * matrix.column_pitch) + quad);
  }
  /// Follows a flip of `column`, whose new sign `negative` tells. False, and nothing done, when the masks do not fit. Mapping: a thread
  /// four words of some masks. Cost: two loads and a store a mask and 128 rows, and a barrier.
  [[nodiscard]] __device__ __forceinline__ bool follow(std::int32_t column) {
    if (!fit()) return false;
    const std::int32_t pitch = room.mask_pitch / 4;
    unsigned least = ~0u, most_complement = ~0u;
    if (first_row < rows_at_once) {
      const std::uint32_t sign = sign_of(column);
      const uint4 up{bits.x ^ sign, bits.y ^ sign, bits.z ^ sign, bits.w ^ sign};  // rows whose entry is positive now
      const uint4* from = reinterpret_cast<const uint4*>(set(now)) + (low - 3 - origin) * pitch + quad;
      uint4* to = reinterpret_cast<uint4*>(set(1 - now)) + quad;
      const std::int32_t last = high - low + 6;
      for (std::int32_t row = first_row; row <= last; row += rows_at_once) {
        uint4 next{};
        if (row >= 2 && row <= last - 2) {
          const uint4 below = from[(row - 1) * pitch], above = from[(row + 1) * pitch];
          next = {(below.x & up.x) | (above.x & ~up.x), (below.y & up.y) | (above.y & ~up.y), (below.z & up.z) | (above.z & ~up.z),
                  (below.w & up.w) | (above.w & ~up.w)};
          if ((next.x | next.y | next.z | next.w) != 0) {
            const auto place = static_cast<unsigned>(low - 3 + row);
            least = min(least, place);
            most_complement = min(most_complement, ~place);
          }
        }
        to[row * pitch] = next;
      }
    }
    tell(least, most_complement);
    __syncthreads();
    origin = low - 3;
    now = 1 - now;
    low = groups.low;
    high = groups.high;
    return true;
  }

  // --- the evaluation of a tile

  /// Its bits, into registers.
  __device__ __forceinline__ void load(std::int32_t tile) {
#pragma unroll
    for (int c = 0; c < Shape::held; ++c) load_chunk(tile, c, held[c]);
  }
  /// What the places of each warp add to z of the tile's columns: parts[warp][column]. Mapping: a warp eight places. Cost: 4 M binary
  /// matrix products and four loads a warp and 512 rows.
  __device__ __forceinline__ void evaluate(std::int32_t tile, std::int32_t* parts) const {
    std::int32_t z[m][2] = {};
    bool negative[m][2];
#pragma unroll
    for (int i = 0; i < m; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        negative[i][half] = sign_of(min(tile * Shape::columns + 16 * i + 8 * half + lane() / 4, matrix.n - 1)) != 0;
    const std::int32_t chunks = divide_up(matrix.row_words, 8);
    for (std::int32_t first = low - 1 + 8 * warp(); first <= high + 1; first += 8 * warps()) {
      std::int32_t up[m][4] = {}, down[m][4] = {};  // positive entries one place above and one below
      const std::uint32_t* above = set(now) + (first + lane() / 4 + 1 - origin) * room.mask_pitch + lane() % 4;
      const std::uint32_t* below = above - 2 * room.mask_pitch;
#pragma unroll
      for (int c = 0; c < Shape::held; ++c) count(held[c], above + 8 * c, below + 8 * c, up, down);
      for (std::int32_t c = Shape::held; c < chunks; ++c) {
        std::uint32_t further[m][4];
        load_chunk(tile, c, further);
        count(further, above + 8 * c, below + 8 * c, up, down);
      }
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const std::int32_t all_up = __shfl_sync(~0u, up[m - 1][2 + e], 28 + lane() % 4);
        const std::int32_t all_down = __shfl_sync(~0u, down[m - 1][2 + e], 28 + lane() % 4);
        const std::int32_t place = first + lane() % 4 * 2 + e, v = place <= high + 1 ? product_at(place, matrix.n) : 0;
        const std::int32_t target = v > 0 ? in_pool<std::uint16_t>(room.target)[place] : 0, weight = ppp::sign_cost(v);
#pragma unroll
        for (int i = 0; i < m; ++i)
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const std::int32_t difference = up[i][2 * half + e] - down[i][2 * half + e];
            const std::int32_t rows = negative[i][half] ? all_up - difference : all_down + difference;
            z[i][half] += v > 0 ? abs_difference_plus(rows, target, -target) : rows * weight;
          }
      }
    }
#pragma unroll
    for (int i = 0; i < m; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        z[i][half] += __shfl_xor_sync(~0u, z[i][half], 1);
        z[i][half] += __shfl_xor_sync(~0u, z[i][half], 2);
        if (lane() % 4 == 0) parts[16 * (m * warp() + i) + 8 * half + lane() / 4] = z[i][half];
      }
  }
  /// z of this lane's column of the tile.
  [[nodiscard]] __device__ __forceinline__ std::int32_t value(const std::int32_t* parts) const {
    std::int32_t sum = matrix.whole_target;
#pragma unroll
    for (int w = 0; w < Shape::threads / 32; ++w) sum += parts[16 * m * w + lane()];
    return sum;
  }

 private:
  std::int32_t now = 0, origin = 0, low = 0, high = 0;  ///< the set in use, the place of its first mask, the least and greatest product's
  std::int32_t quad, first_row, rows_at_once;           ///< of this thread in follow()
  uint4 bits{};                                         ///< the quad of a column
  std::uint32_t held[Shape::held][m][4];

  [[nodiscard]] __device__ __forceinline__ bool fit() const { return high - low + 7 <= room.mask_rows; }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* set(std::int32_t k) const {
    return in_pool<std::uint32_t>(room.masks) + k * room.mask_rows * room.mask_pitch;
  }
  /// All ones for -1.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t sign_of(std::int32_t column) const {
    return 0u - (in_pool<std::uint32_t>(room.negative)[column / 32] >> column % 32 & 1);
  }
  __device__ __forceinline__ void tell(unsigned least, unsigned most_complement) const {
    least = warp_min(least);
    most_complement = warp_min(most_complement);
    if (lane() != 0 || least == ~0u) return;
    atomicMin(&groups.low, static_cast<std::int32_t>(least));
    atomicMax(&groups.high, static_cast<std::int32_t>(~most_complement));
  }
  /// 256 rows of the tile as count_ones() wants them; zero outside the matrix.
  __device__ __forceinline__ void load_chunk(std::int32_t tile, std::int32_t c, std::uint32_t (&to)[m][4]) const {
#pragma unroll
    for (int i = 0; i < m; ++i)
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::int32_t at = 16 * i + k % 2 * 8 + lane() / 4, column = tile * Shape::columns + at, word = 8 * c + k / 2 * 4 + lane() % 4;
        to[i][k] = 0;
        if (word >= matrix.row_words) continue;
        if (at == Shape::columns)
          to[i][k] = ~0u;
        else if (column < matrix.n)
          to[i][k] = __ldg(matrix.by_column + column * matrix.column_pitch + word);
      }
  }
  static __device__ __forceinline__ void count(const std::uint32_t (&bits)[m][4], const std::uint32_t* above, const std::uint32_t* below,
                                               std::int32_t (&up)[m][4], std::int32_t (&down)[m][4]) {
    const std::uint32_t of_above[2]{above[0], above[4]}, of_below[2]{below[0], below[4]};
#pragma unroll
    for (int i = 0; i < m; ++i) {
      count_ones<8>(up[i], bits[i], of_above);
      count_ones<8>(down[i], bits[i], of_below);
    }
  }
};

}  // namespace vicinity::lsm::perceptron
