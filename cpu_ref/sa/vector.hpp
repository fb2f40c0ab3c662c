#pragma once
// Sixteen lanes at a time: GCC's vector extensions, which compile to the vectors that the processor has, and intrinsics for the three
// operations that they lack. Below, arithmetic in three widths behind one concept.
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#include "core/util/hd.hpp"
#include "cpu_ref/run/aligned.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // everything here is inlined: no vector crosses a call

namespace vicinity::sa {

inline constexpr std::int32_t lanes = 16;

template <class T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(lanes * sizeof(T))));  // NOLINT: an alias cannot carry the attribute
};
template <class T>
using Vector = typename VectorOf<T>::Type;

template <class T>
VICINITY_HD Vector<T> load(const T* from) {
  Vector<T> value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
VICINITY_HD void store(T* to, const Vector<T>& value) {
  std::memcpy(to, &value, sizeof value);
}
template <class T>
VICINITY_HD Vector<T> broadcast(T value) {
  return value - Vector<T>{};
}
/// from[index[0]], from[index[1]], ...
template <class T>
VICINITY_HD Vector<T> gather(const T* from, const std::int32_t* index) {
#if defined(__AVX512F__)
  const __m512i at = _mm512_loadu_si512(index);
  if constexpr (sizeof(T) == 4) return reinterpret_cast<Vector<T>>(_mm512_mask_i32gather_epi32(__m512i{}, 0xFFFF, at, from, 4));
#endif
  Vector<T> value;
  for (std::int32_t lane = 0; lane < lanes; ++lane) value[lane] = from[index[lane]];
  return value;
}
/// Bit `lane` says whether x[lane] <= bound[lane].
VICINITY_HD std::uint32_t at_most(const Vector<float>& x, const Vector<float>& bound) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(reinterpret_cast<__m512>(x), reinterpret_cast<__m512>(bound), _CMP_LE_OQ);
#else
  std::uint32_t mask = 0;
  for (std::int32_t lane = 0; lane < lanes; ++lane) mask |= static_cast<std::uint32_t>(x[lane] <= bound[lane]) << lane;
  return mask;
#endif
}

/// Sums of products of factors. Factors lie in memory one after the other; a lane carries `depth` of them. put() sets factor `half` of a
/// lane; multiply_add(sum, x, y) adds the products of the factors of x and y.
template <class A>
concept Arithmetic = std::integral<typename A::Factor> && std::integral<typename A::Lane> && std::integral<typename A::Sum> &&
    requires(const Vector<typename A::Sum>& sum, const Vector<typename A::Lane>& x, typename A::Lane lane) {
  requires A::depth * sizeof(typename A::Factor) == sizeof(typename A::Lane);
  { A::put(lane, 0, lane) } -> std::convertible_to<typename A::Lane>;
  { A::multiply_add(sum, x, x) } -> std::same_as<Vector<typename A::Sum>>;
};

/// Factors of 16 bits, two a lane: one instruction adds both products (VNNI).
struct Packed16 {
  static_assert(std::endian::native == std::endian::little, "the first factor of a lane lies in its lower half");
  using Factor = std::int16_t;
  using Lane = std::int32_t;
  using Sum = std::int32_t;
  static constexpr std::int32_t depth = 2;

  template <class L>
  VICINITY_HD static L put(const L& lane, std::int32_t half, const L& value) {
    return half == 0 ? value & 0xFFFF : lane | (value << 16);
  }
  VICINITY_HD static Vector<Sum> multiply_add(const Vector<Sum>& sum, const Vector<Lane>& x, const Vector<Lane>& y) {
#if defined(__AVX512VNNI__)
    return reinterpret_cast<Vector<Sum>>(
        _mm512_dpwssd_epi32(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y)));
#else
    return sum + (x << 16 >> 16) * (y << 16 >> 16) + (x >> 16) * (y >> 16);
#endif
  }
};

/// Factors and sums in one width: 32 bits, or 64 for instances that need them.
template <class T>
struct Unpacked {
  using Factor = T;
  using Lane = T;
  using Sum = T;
  static constexpr std::int32_t depth = 1;

  template <class L>
  VICINITY_HD static L put(const L&, std::int32_t, const L& value) {
    return value;
  }
  VICINITY_HD static Vector<T> multiply_add(const Vector<T>& sum, const Vector<T>& x, const Vector<T>& y) { return sum + x * y; }
};

}  // namespace vicinity::sa
