#pragma once
// What planes.cu and bounds.cu share: the rows' numbers of positive entries as bit planes in registers, and a block's shared memory.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/lsm/tuned/ppp/search.cuh"

namespace vicinity::lsm::perceptron {

/// The dynamic shared memory of a block: byte offsets.
struct PlanesLayout {
  std::uint32_t tables;       ///< [mask][mask_words]
  std::uint32_t terms;        ///< [move][term_pitch]: parts of z
  std::uint32_t target;       ///< 16 bits each
  std::uint32_t bits;         ///< [column][column_pitch]
  std::int32_t in_shared;     ///< `bits` has all columns; else the flipped one is read from device memory
  std::int32_t column_pitch;  ///< words
  std::size_t scratch_size;   ///< none
  std::uint32_t bytes;

  std::uint32_t add(std::int64_t size) {
    const std::uint32_t offset = bytes;
    bytes = static_cast<std::uint32_t>((offset + size + 15) / 16 * 16);
    return offset;
  }
};

/// The numbers of 32 rows a thread, each bit of them a plane.
template <int Planes>
class BitPlanes {
 public:
  /// `numbers`: [row] in shared memory.
  __device__ __forceinline__ void init(const std::uint16_t* numbers) {
    for (int p = 0; p < Planes; ++p) plane_[p] = 0;
    if (valid_ == 0) return;
    for (int r = 0; r < 32; ++r) {
      const unsigned k = 32 * word_ + r < matrix_.m ? numbers[32 * word_ + r] : 0;
#pragma unroll
      for (int p = 0; p < Planes; ++p) plane_[p] |= (k >> p & 1) << r;
    }
  }
  /// The flip of a column, whose new sign is -1 for `negative`.
  __device__ __forceinline__ void flip(std::int32_t column, unsigned negative) {
    std::uint32_t up = 0u - negative;
    if (layout_.in_shared)
      up ^= shared_at<std::uint32_t>(layout_.bits)[column * layout_.column_pitch + word_];
    else
      up ^= __ldg(matrix_.by_column + column * matrix_.column_pitch + word_);
    std::uint32_t carry = ~0u;
#pragma unroll
    for (int p = 0; p < Planes; ++p) {
      const std::uint32_t next = carry & ~(plane_[p] ^ up);
      plane_[p] ^= carry;
      carry = next;
    }
  }

 protected:
  __device__ __forceinline__ BitPlanes(const Matrix& matrix, const PlanesLayout& layout) : matrix_(matrix), layout_(layout) {}
  /// The rows 32 `word` and up, if there are.
  __device__ __forceinline__ void set_rows(std::int32_t word) {
    const std::int32_t rows = min(max(matrix_.m - 32 * word, 0), 32);
    valid_ = rows == 32 ? ~0u : (1u << rows) - 1;
    word_ = min(word, matrix_.words_per_column - 1);
  }

  const Matrix& matrix_;
  const PlanesLayout& layout_;
  std::int32_t word_;    ///< of a column
  std::uint32_t valid_;  ///< rows of the matrix
  std::uint32_t plane_[Planes];
};

}  // namespace vicinity::lsm::perceptron
