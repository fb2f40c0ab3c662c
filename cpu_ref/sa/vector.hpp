#pragma once
// Sixteen lanes at a time, in as many of the processor's vectors as they take: each operation is written for one of these, since g++ makes
// comparisons and choices of wider ones lane by lane. Intrinsics for what its vector extensions lack. Below, arithmetic in three widths
// behind one concept.
#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/util/hd.hpp"
#include "core/util/vector_bytes.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // everything here is inlined: no vector crosses a call

namespace vicinity::sa {

inline constexpr std::int32_t lanes = 16;

/// `Count` lanes that are one vector for the compiler.
template <class T, std::int32_t Count>
struct PartOf {
  typedef T Type __attribute__((vector_size(Count * sizeof(T))));  // NOLINT: an alias cannot carry the attribute
};
template <class T>
inline constexpr std::int32_t lanes_a_part = std::min<std::int32_t>(lanes, vector_bytes / sizeof(T));
/// What comparisons give: all bits of a lane, or none.
template <class T>
using MaskOf = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

template <class T>
class Vector {
 public:
  using Part = typename PartOf<T, lanes_a_part<T>>::Type;
  static constexpr std::int32_t parts = lanes / lanes_a_part<T>;

  Vector() = default;
  /// The same in all lanes.
  VICINITY_HD Vector(T value) {  // NOLINT: numbers are vectors wherever they meet some
    for (Part& one : part) one = value - Part{};
  }
  /// f of each part; of two or three vectors.
  template <class F, class... From>
  [[nodiscard]] VICINITY_HD static Vector of(const F& f, const Vector<From>&... from) {
    Vector result;
    for (std::int32_t k = 0; k < parts; ++k) result.part[k] = f(from.part[k]...);
    return result;
  }

  [[nodiscard]] VICINITY_HD T operator[](std::int32_t lane) const { return part[lane / lanes_a_part<T>][lane % lanes_a_part<T>]; }

  friend VICINITY_HD Vector operator+(const Vector& x, const Vector& y) {
    return of([](const Part& a, const Part& b) { return a + b; }, x, y);
  }
  friend VICINITY_HD Vector operator-(const Vector& x, const Vector& y) {
    return of([](const Part& a, const Part& b) { return a - b; }, x, y);
  }
  friend VICINITY_HD Vector operator*(const Vector& x, const Vector& y) {
    return of([](const Part& a, const Part& b) { return a * b; }, x, y);
  }
  friend VICINITY_HD Vector operator&(const Vector& x, const Vector& y) {
    return of([](const Part& a, const Part& b) { return a & b; }, x, y);
  }
  friend VICINITY_HD Vector operator|(const Vector& x, const Vector& y) {
    return of([](const Part& a, const Part& b) { return a | b; }, x, y);
  }
  friend VICINITY_HD Vector operator<<(const Vector& x, int bits) {
    return of([bits](const Part& a) { return a << bits; }, x);
  }
  friend VICINITY_HD Vector operator>>(const Vector& x, int bits) {
    return of([bits](const Part& a) { return a >> bits; }, x);
  }
  VICINITY_HD Vector& operator+=(const Vector& other) { return *this = *this + other; }

  using Mask = Vector<MaskOf<T>>;
  friend VICINITY_HD Mask operator<(const Vector& x, const Vector& y) {
    return Mask::of([](const Part& a, const Part& b) { return a < b; }, x, y);
  }
  friend VICINITY_HD Mask operator<=(const Vector& x, const Vector& y) {
    return Mask::of([](const Part& a, const Part& b) { return a <= b; }, x, y);
  }
  friend VICINITY_HD Mask operator>(const Vector& x, const Vector& y) { return y < x; }
  friend VICINITY_HD Mask operator>=(const Vector& x, const Vector& y) { return y <= x; }
  /// x where the mask is set, else y.
  [[nodiscard]] friend VICINITY_HD Vector select(const Mask& mask, const Vector& x, const Vector& y) {
    return of([](const typename Mask::Part& m, const Part& a, const Part& b) { return m ? a : b; }, mask, x, y);
  }

  Part part[parts];
};

template <class T>
VICINITY_HD Vector<T> load(const T* from) {
  Vector<T> value;
  for (auto& part : value.part) {
    std::memcpy(&part, from, sizeof part);
    from += lanes_a_part<T>;
  }
  return value;
}
template <class T>
VICINITY_HD void store(T* to, const Vector<T>& value) {
  for (const auto& part : value.part) {
    std::memcpy(to, &part, sizeof part);
    to += lanes_a_part<T>;
  }
}
/// 0, 1, .., 15.
VICINITY_HD Vector<std::int32_t> lane_numbers() {
  alignas(64) static constexpr std::int32_t numbers[lanes]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return load(numbers);
}
/// The same numbers, as those of another type.
template <class To, class From>
VICINITY_HD Vector<To> converted(const Vector<From>& from) {
  constexpr std::int32_t count = std::min(lanes_a_part<To>, lanes_a_part<From>);
  Vector<To> result;
  for (std::int32_t lane = 0; lane < lanes; lane += count) {
    typename PartOf<From, count>::Type some;
    std::memcpy(&some, reinterpret_cast<const From*>(&from) + lane, sizeof some);
    const auto as_others = __builtin_convertvector(some, typename PartOf<To, count>::Type);
    std::memcpy(reinterpret_cast<To*>(&result) + lane, &as_others, sizeof as_others);
  }
  return result;
}
/// from[index[0]], from[index[1]], ...
template <class T>
VICINITY_HD Vector<T> gather(const T* from, const std::int32_t* index) {
#if defined(__AVX512F__)
  const __m512i at = _mm512_loadu_si512(index);
  if constexpr (sizeof(T) == 4) return std::bit_cast<Vector<T>>(_mm512_mask_i32gather_epi32(__m512i{}, 0xFFFF, at, from, 4));
#endif
  Vector<T> value;
  for (std::int32_t lane = 0; lane < lanes; ++lane) value.part[lane / lanes_a_part<T>][lane % lanes_a_part<T>] = from[index[lane]];
  return value;
}
/// Bit `lane` says whether x[lane] <= bound[lane].
VICINITY_HD std::uint32_t at_most(const Vector<float>& x, const Vector<float>& bound) {
  std::uint32_t bits = 0;
  for (std::int32_t k = 0; k < Vector<float>::parts; ++k) {
    const auto &a = x.part[k], &b = bound.part[k];
    std::uint32_t of_part = 0;
#if defined(__AVX512BW__)
    of_part = _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ);
#elif defined(__AVX2__)
    of_part = static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ)));
#elif defined(__SSE2__)
    of_part = static_cast<std::uint32_t>(_mm_movemask_ps(_mm_cmple_ps(a, b)));
#else
    for (std::int32_t lane = 0; lane < lanes_a_part<float>; ++lane) of_part |= static_cast<std::uint32_t>(a[lane] <= b[lane]) << lane;
#endif
    bits |= of_part << k * lanes_a_part<float>;
  }
  return bits;
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

/// Factors of 16 bits, two a lane: one instruction makes both products and their sum.
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
    using Part = Vector<Sum>::Part;
    const auto of_part = [](const Part& s, const Part& a, const Part& b) -> Part {
#if defined(__AVX512VNNI__)
      return Part(_mm512_dpwssd_epi32(__m512i(s), __m512i(a), __m512i(b)));
#elif defined(__AVX512BW__)
      return s + Part(_mm512_madd_epi16(__m512i(a), __m512i(b)));
#elif defined(__AVX2__)
      return s + Part(_mm256_madd_epi16(__m256i(a), __m256i(b)));
#elif defined(__SSE2__)
      return s + Part(_mm_madd_epi16(__m128i(a), __m128i(b)));
#else
      return s + (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
#endif
    };
    return Vector<Sum>::of(of_part, sum, x, y);
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
