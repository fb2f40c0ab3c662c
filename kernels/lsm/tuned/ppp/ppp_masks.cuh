#pragma once
// All flips of one sign of a tile of columns, without a sort. The rows of every product are a mask of bits, from which a flip makes the
// masks of the products beside it; the binary matrix units count the positive entries of every column under every mask.
#include <cstdint>

#include "kernels/lsm/tuned/ppp/ppp_groups.cuh"
#include "kernels/lsm/tuned/ppp_counts.cuh"

namespace vicinity::lsm::perceptron {

/// A tile of 16 M - 1 columns; beside them a column of ones, whose counts are the sizes of the groups. The bits of the first `rows` rows
/// lie in registers.
template <int M, int Held, int Threads = M == 2 || Held == 2 ? 256 : 320>
struct OneFlip {
  static constexpr int threads = Threads, m = M, held = Held, columns = 16 * M - 1, rows = 256 * Held;
};

template <class Shape>
struct Masks {
  static constexpr int m = Shape::m, parts = Shape::threads / 32 * 16 * m;

  const Matrix& matrix;
  const Room& room;
  Groups& groups;
  int4& edges;  ///< the last step in which the places one below `low`, at `low`, at `high` and one above `high` had rows

  __device__ __forceinline__ Masks(const Matrix& of_matrix, const Room& in_room, Groups& with_groups, int4& with_edges)
      : matrix(of_matrix), room(in_room), groups(with_groups), edges(with_edges) {
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
    std::int32_t least = matrix.n + margin, most = 0;
    for (std::int32_t row = static_cast<std::int32_t>(threadIdx.x); row < matrix.m; row += Shape::threads) {
      least = min(least, base[row] + margin);
      most = max(most, base[row] + margin);
    }
    atomicMin(&groups.low, least);
    atomicMax(&groups.high, most);
    if (threadIdx.x == 0) edges = {0, 0, 0, 0};
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
    constexpr int at_once = 1024 / Shape::threads;
    const std::int32_t pitch = room.mask_pitch / 4, last = high - low + 6;
    ++step;
    if (first_row < rows_at_once) {
      const std::uint32_t sign = sign_of(column);
      const uint4 up{bits.x ^ sign, bits.y ^ sign, bits.z ^ sign, bits.w ^ sign};  // rows whose entry is positive now
      const uint4* from = reinterpret_cast<const uint4*>(set(now)) + (low - 3 - origin) * pitch + quad;
      uint4* to = reinterpret_cast<uint4*>(set(1 - now)) + quad;
      for (std::int32_t first = first_row; first <= last; first += at_once * rows_at_once) {
        uint4 below[at_once], above[at_once];
#pragma unroll
        for (int k = 0; k < at_once; ++k) {
          const std::int32_t row = first + k * rows_at_once;
          below[k] = above[k] = {0, 0, 0, 0};
          if (row < 2 || row > last - 2) continue;
          below[k] = from[(row - 1) * pitch];
          above[k] = from[(row + 1) * pitch];
        }
#pragma unroll
        for (int k = 0; k < at_once; ++k) {
          const std::int32_t row = first + k * rows_at_once;
          if (row > last) break;
          const uint4 next{(below[k].x & up.x) | (above[k].x & ~up.x), (below[k].y & up.y) | (above[k].y & ~up.y),
                           (below[k].z & up.z) | (above[k].z & ~up.z), (below[k].w & up.w) | (above[k].w & ~up.w)};
          to[row * pitch] = next;
          if ((row > 3 && row < last - 3) || (next.x | next.y | next.z | next.w) == 0) continue;
          if (row == 2) edges.x = step;
          if (row == 3) edges.y = step;
          if (row == last - 3) edges.z = step;
          if (row == last - 2) edges.w = step;
        }
      }
    }
    __syncthreads();
    const int4 edge = edges;
    origin = low - 3;
    now = 1 - now;
    low += edge.x == step ? -1 : edge.y == step ? 0 : 1;
    high += edge.w == step ? 1 : edge.z == step ? 0 : -1;
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
      std::int32_t v[2], target[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const std::int32_t place = first + lane() % 4 * 2 + e;
        v[e] = place <= high + 1 ? product_at(place, matrix.n) : 0;
        target[e] = v[e] > 0 ? in_pool<std::uint16_t>(room.target)[place] : 0;
      }
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
        const std::int32_t weight = ppp::sign_cost(v[e]);
#pragma unroll
        for (int i = 0; i < m; ++i)
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const std::int32_t difference = up[i][2 * half + e] - down[i][2 * half + e];
            const std::int32_t rows = negative[i][half] ? all_up - difference : all_down + difference;
            z[i][half] += v[e] > 0 ? abs_difference_plus(rows, target[e], -target[e]) : rows * weight;
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
  int step = 0;                                         ///< flips followed
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
