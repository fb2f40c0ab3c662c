#pragma once
// Keys that the collectives compare. A collective finds the least key of all threads of a warp, block, cluster or grid; what is to be
// minimised, and how ties break, is packed into the key. The least key names its owner when keys are distinct.
//
// A key is an unsigned number, or a Key of two unsigned parts that compare like digits, or any small struct with `before`. The first two
// take a redux.sync for every 32 bits of a part, the last a tree of shuffles. A default Key, and all ones of a number, is no key: it comes
// after all others, and a thread without a candidate passes it.
//
// In shared memory keys stand in arrays of their own (`__shared__ K slots[32]`): as members of a struct there, nvcc warns of their
// initialisers, which do nothing.
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "core/util/hd.hpp"

namespace vicinity::cuda {

template <class K>
concept OrderedKey = std::is_trivially_copyable_v<K> &&(std::unsigned_integral<K> || requires(const K& a, const K& b) {
  K{};                                    // no key
  { a.before(b) } -> std::same_as<bool>;  // a strict total order
});

/// Two parts that compare like digits.
template <class K>
concept TwoPartKey = OrderedKey<K> && requires(K key) {
  requires std::unsigned_integral<decltype(key.high)> && std::unsigned_integral<decltype(key.low)>;
};

/// The lesser `high` comes first, then the lesser `low`. Of `high` and `low` so many bits are used; the bits above are zero.
template <std::unsigned_integral High, std::unsigned_integral Low, int HighBits = 8 * sizeof(High), int LowBits = 8 * sizeof(Low)>
struct alignas(2 * sizeof(High)) Key {
  static constexpr int high_bits = HighBits, low_bits = LowBits;

  High high = static_cast<High>(~High{0}) >> (8 * sizeof(High) - HighBits);
  Low low = static_cast<Low>(~Low{0}) >> (8 * sizeof(Low) - LowBits);

  [[nodiscard]] VICINITY_HD bool before(const Key& other) const { return high < other.high || (high == other.high && low < other.low); }
  [[nodiscard]] friend VICINITY_HD bool operator==(const Key& a, const Key& b) { return a.high == b.high && a.low == b.low; }
};

/// What a thread without a candidate passes.
template <OrderedKey K>
[[nodiscard]] VICINITY_HD constexpr K no_key() {
  if constexpr (std::unsigned_integral<K>)
    return static_cast<K>(~K{0});
  else
    return K{};
}
template <OrderedKey K>
[[nodiscard]] VICINITY_HD bool before(const K& a, const K& b) {
  if constexpr (std::unsigned_integral<K>)
    return a < b;
  else
    return a.before(b);
}
/// Lowers `least` to `other` if that comes before it.
template <OrderedKey K>
VICINITY_HD void lower(K& least, const K& other) {
  if constexpr (TwoPartKey<K>) {  // not by before(): its result would become a number on the way
    if (other.high < least.high || (other.high == least.high && other.low < least.low)) least = other;
  } else {
    if (before(other, least)) least = other;
  }
}

/// Bits of a key that can be packed into the words of a message.
template <class K>
inline constexpr int key_bits = 0;
template <std::unsigned_integral K>
inline constexpr int key_bits<K> = 8 * sizeof(K);
template <TwoPartKey K>
requires requires { K::high_bits + K::low_bits; }
inline constexpr int key_bits<K> = K::high_bits + K::low_bits;

template <class K>
concept PackableKey = OrderedKey<K> && key_bits<K> >
0 && key_bits<K> <= 124;

}  // namespace vicinity::cuda
