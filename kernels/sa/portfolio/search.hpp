#pragma once
// What one thread of a block does in a tabu search of gpu-portfolio (search.cu has the block, its barriers and the host).
//
// Problem. An iteration takes the least of all n (n - 1) / 2 swaps that is not forbidden (core/methods/sa/portfolio.hpp). The delta of a
// pair that the last swap did not touch changes by a product; the 2 n touched pairs are evaluated from scratch.
//
// Data layout. A pair i < j is a key in a register of one thread, which has a column j and up to `Rows` consecutive rows i. The key is the
// delta, and the highest bit says that the pair is tabu. The block (Board) has A and B' (B in the order of the permutation), both with rows
// of whole words, the iterations until which placements are tabu, and what the last swap means for each facility.
//
// Phases of an iteration, with a barrier after each:
//   evaluate  A thread adds the products of its pairs and finds its least key. Thread x, beside that, evaluates the pairs of facility x
//   with r
//             and with s, the last swap, from scratch, and leaves them in `fresh`.
//   find      The least key of all is known: who has it names its pair.
//   take      The least such pair is the swap. Thread x says what it means for facility x, and swaps its part of B'; the last thread
//             has the permutation and the tabu times. Pairs that the swap before touched come back from `fresh`; those that this one
//             touches leave the keys until then.
//
// Marks. A pair becomes tabu only when a swap touches it, and stays so for some time: a thread keeps the first iteration in which one of
// its pairs may be free again, and looks at the tabu times then.
//
// Aspiration. A forbidden pair is not tabu where it leads below the best cost. A thread also keeps the least tabu delta: the least of the
// keys as signed numbers, of which the marked ones come first. If that leads below the best cost, it takes part without its mark. In the
// order of keys such pairs come before all others.
//
// Packed factors. Of symmetric matrices with entries up to 127 and no diagonal a key is half the delta, and a swap changes it by
//   (d_i - d_j) (e_j - e_i) = d_i e_j + e_i d_j + (-d_i e_i) - d_j e_j.
// The first three are an inner product of four bytes, with -d_i e_i as 127 q + r: one instruction. The last is the same for all pairs of a
// thread, which keeps the sum of these apart from its keys (offset_).
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/methods/sa/portfolio.hpp"
#include "core/problems/qap/inner_products.hpp"
#include "core/util/hd.hpp"
#include "core/util/math.hpp"

namespace vicinity::sa::tabu {

/// Entries of the matrices, deltas, one side where both matrices are symmetric, and packed factors (above).
template <class E, class D, int S, bool Packed = false>
struct Numbers {
  using Entry = E;
  using Delta = D;
  static constexpr int sides = S;
  static constexpr bool bytes = sizeof(E) == 1;  ///< inner products of four entries an instruction
  static constexpr bool packed = Packed;
  static constexpr int unit = Packed ? 2 : 1;  ///< what a key counts deltas in
};

/// A pair's delta in an unsigned number: free pairs have the three highest bits 000, tabu ones 100. `none`, where there is no pair or its
/// delta is not known at present, has 110 or 111, whatever is added to it meanwhile: see Thread.
template <class D>
struct Keys {
  using Delta = D;
  using Key = std::make_unsigned_t<D>;
  static constexpr int bits = 8 * sizeof(D);
  static constexpr Key bias = Key{1} << (bits - 4), tabu = Key{1} << (bits - 1), none = Key{7} << (bits - 3);
  /// Deltas are below that in magnitude.
  static constexpr std::int64_t limit = std::int64_t{1} << (bits - 5);

  [[nodiscard]] static VICINITY_HD Key of(Delta delta, bool is_tabu) { return static_cast<Key>(delta) + bias + (is_tabu ? tabu : 0); }
  [[nodiscard]] static VICINITY_HD Delta delta(Key key) { return static_cast<Delta>((key & ~tabu) - bias); }
  [[nodiscard]] static VICINITY_HD bool marked(Key key) { return static_cast<Delta>(key) < static_cast<Delta>(Key{6} << (bits - 3)); }
  /// Free keys below lead below the best cost, which is `gap` (at most 0) from the current one.
  [[nodiscard]] static VICINITY_HD Key aspiration(std::int64_t gap) {
    return gap <= -static_cast<std::int64_t>(bias) ? 0 : static_cast<Key>(gap + static_cast<std::int64_t>(bias));
  }
};

/// The last swap. r = -1: there was none.
struct Swap {
  std::int32_t r = -1, s = -1;  ///< r < s

  [[nodiscard]] VICINITY_HD bool has(std::int32_t x) const { return x == r || x == s; }
};
/// A pair i < j in the order of choices.
[[nodiscard]] VICINITY_HD std::uint32_t pair_of(std::int32_t i, std::int32_t j) {
  return static_cast<std::uint32_t>(i < j ? i << 16 | j : j << 16 | i);
}
[[nodiscard]] VICINITY_HD Swap swap_of(std::uint32_t pair) {
  return {static_cast<std::int32_t>(pair >> 16), static_cast<std::int32_t>(pair & 0xFFFFu)};
}
inline constexpr std::uint32_t no_pair = ~std::uint32_t{0};
inline constexpr std::int32_t never = 0x7FFFFFFF;

/// f(0), .., f(Count - 1), each written out: what it indexes stays in registers.
template <int Count, class F>
VICINITY_HD void unrolled(const F& f) {
  [&]<int... k>(std::integer_sequence<int, k...>) { (f(k), ...); }
  (std::make_integer_sequence<int, Count>());
}

/// Four words, which lie at a multiple of 16 bytes.
struct Words {
  std::uint32_t word[4];
};
[[nodiscard]] VICINITY_HD Words words(const std::uint8_t* from) {
#if defined(__CUDA_ARCH__)
  const uint4 read = *reinterpret_cast<const uint4*>(from);
  return {{read.x, read.y, read.z, read.w}};
#else
  Words read{};
  std::memcpy(&read, from, sizeof(read));
  return read;
#endif
}
/// One, at a multiple of 4.
[[nodiscard]] VICINITY_HD std::uint32_t word(const std::uint8_t* from) {
#if defined(__CUDA_ARCH__)
  return *reinterpret_cast<const std::uint32_t*>(from);
#else
  std::uint32_t read = 0;
  std::memcpy(&read, from, sizeof(read));
  return read;
#endif
}
/// sum + the inner product of 4 bytes, or of 16.
[[nodiscard]] VICINITY_HD std::uint32_t dot(std::uint32_t x, std::uint32_t y, std::uint32_t sum) {
#if defined(__CUDA_ARCH__)
  return __dp4a(x, y, sum);
#else
  for (int shift = 0; shift < 32; shift += 8) sum += (x >> shift & 0xFFu) * (y >> shift & 0xFFu);
  return sum;
#endif
}
[[nodiscard]] VICINITY_HD std::uint32_t dot(const Words& x, const Words& y, std::uint32_t sum) {
  unrolled<4>([&](int w) { sum = dot(x.word[w], y.word[w], sum); });
  return sum;
}
/// The factors of a facility as a row, bytes (d, e, q, r) with 127 q + r = -d e; d and e up to 127 in magnitude.
[[nodiscard]] VICINITY_HD std::uint32_t packed_factors(std::int32_t d, std::int32_t e) {
  const std::int32_t product = -d * e, q = product / 127, r = product - 127 * q;
  const auto byte = [](std::int32_t value) { return static_cast<std::uint32_t>(value) & 0xFFu; };
  return byte(d) | byte(e) << 8 | byte(q) << 16 | byte(r) << 24;
}
/// The same as a column: (e, d, 127, 1).
[[nodiscard]] VICINITY_HD std::uint32_t as_column(std::uint32_t row) { return (row >> 8 & 0xFFu) | (row & 0xFFu) << 8 | 0x017F0000u; }
inline constexpr std::uint32_t own_product = 0x017F0000u;  ///< with a row: -d e
/// sum + the inner product of four signed bytes.
[[nodiscard]] VICINITY_HD std::uint32_t signed_dot(std::uint32_t x, std::uint32_t y, std::uint32_t sum) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__dp4a(static_cast<int>(x), static_cast<int>(y), static_cast<int>(sum)));
#else
  for (int shift = 0; shift < 32; shift += 8)
    sum += static_cast<std::uint32_t>(static_cast<std::int8_t>(x >> shift) * static_cast<std::int8_t>(y >> shift));
  return sum;
#endif
}
/// Four neighbours, the first of which has an index that is a multiple of four in an array at a multiple of 16 bytes.
template <class T>
VICINITY_HD void load4(const T* from, T (&to)[4]) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4) {
    const int4 read = *reinterpret_cast<const int4*>(from);
    to[0] = static_cast<T>(read.x), to[1] = static_cast<T>(read.y), to[2] = static_cast<T>(read.z), to[3] = static_cast<T>(read.w);
  } else {
    unrolled<4>([&](int k) { to[k] = from[k]; });
  }
#else
  unrolled<4>([&](int k) { to[k] = from[k]; });
#endif
}

/// How a search of n facilities is divided among threads.
struct Division {
  std::int32_t n, rows;

  /// Threads for rows before strip * rows: those of each column behind.
  [[nodiscard]] VICINITY_HD std::int32_t threads_before(std::int32_t strip) const {
    return strip * (n - 1) - rows * (strip * (strip - 1) / 2);
  }
  /// Whole warps; each facility has a thread, and the last one none of the first warp where there are others.
  [[nodiscard]] std::int32_t threads() const {
    const std::int32_t pairs = threads_before(divide_up(n - 1, rows));
    return divide_up(pairs > n ? pairs : n, 32) * 32;
  }
  /// Facilities, and rows of threads that are none.
  [[nodiscard]] VICINITY_HD std::int32_t width() const { return divide_up(n, rows) * rows; }
};

/// What the threads of a block share. Arrays in shared or device memory.
template <class N>
struct Board {
  using Entry = typename N::Entry;
  using Delta = typename N::Delta;
  using Key = typename Keys<Delta>::Key;

  std::int32_t n, width, pitch;      ///< facilities; Division::width(); entries of a row of the matrices, of padding 0
  const Entry* a[N::sides];          ///< [side][facility][facility]: A, and its transpose
  Entry* b[N::sides];                ///< the same of B'
  std::uint16_t* until;              ///< [facility][location]
  Delta *d[N::sides], *e[N::sides];  ///< [side][width]: of the last swap (qap::product); 0 for the facilities that swapped
  std::uint32_t* factors;            ///< [width]: instead of these, where packed
  Key* fresh[2];                     ///< [width]: keys of the pairs with r, and with s; `none` where there is no pair
  std::int32_t* expiry[2];           ///< [width]: when their marks go; `never` without one
  std::int32_t *p, *best;            ///< [n]: now, and of least cost so far

  /// Entries of a row: for bytes so many that threads which read 16 of neighbouring rows do not meet in a bank.
  [[nodiscard]] static VICINITY_HD std::int32_t pitch_of(std::int32_t n) { return N::bytes ? (divide_up(n, 16) | 1) * 16 : n | 1; }
  [[nodiscard]] VICINITY_HD std::uint32_t at(std::int32_t row, std::int32_t column) const {
    return static_cast<std::uint32_t>(row * pitch + column);
  }
  [[nodiscard]] VICINITY_HD std::uint16_t& until_of(std::int32_t facility, std::int32_t location) const {
    return until[static_cast<std::uint32_t>(facility * n + location)];
  }
  [[nodiscard]] VICINITY_HD std::int32_t free_again(std::int32_t i, std::int32_t j) const {
    const std::int32_t of_i = until_of(i, p[j]), of_j = until_of(j, p[i]);
    return of_i < of_j ? of_i : of_j;
  }
  /// alpha times beta of core/problems/qap/inner_products.hpp.
  [[nodiscard]] VICINITY_HD Key pair_product(std::int32_t x, std::int32_t y) const {
    const auto factor = [&](const Entry* m) {
      const auto entry = [&](std::int32_t i, std::int32_t j) { return static_cast<Key>(static_cast<Delta>(m[at(i, j)])); };
      return qap::pair_factor(entry(x, x), entry(y, y), entry(x, y), entry(y, x));
    };
    return factor(a[0]) * factor(b[0]);
  }
};

/// Of bytes, the inner product of rows x and y of A and B'.
template <class N>
[[nodiscard]] VICINITY_HD std::uint32_t row_product(const Board<N>& board, std::int32_t x, std::int32_t y) {
  std::uint32_t sum = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll 2
#endif
  for (std::int32_t k = 0; k < board.n; k += 16) sum = dot(words(board.a[0] + board.at(x, k)), words(board.b[0] + board.at(y, k)), sum);
  return sum;
}
/// Of bytes, what facility x takes from inner products of rows for its pairs with r and s.
struct RowProducts {
  std::uint32_t own[2]{};   ///< of r with r, and of s with s
  std::uint32_t with[2]{};  ///< of x with r and r with x, and of x with s and s with x
};
/// Of bytes, the delta of x and y in N::unit, by their row_product()s: of x with y and y with x, and each with itself.
template <class N>
[[nodiscard]] VICINITY_HD typename N::Delta delta_of(const Board<N>& board, std::int32_t x, std::int32_t y, std::uint32_t with,
                                                     std::uint32_t of_x, std::uint32_t of_y) {
  const std::uint32_t sum = with - of_x - of_y;
  if constexpr (N::packed)  // half of it, without diagonals
    return static_cast<std::int32_t>(sum + 2u * board.a[0][board.at(y, x)] * board.b[0][board.at(y, x)]);
  else
    return static_cast<std::int32_t>(2 * sum + board.pair_product(x, y));
}
/// Of other entries, the deltas of facility x with y[0], .., y[Count - 1], from scratch in O(n): by columns, which threads of neighbouring
/// x read side by side.
template <class N, int Count>
VICINITY_HD void deltas_of(const Board<N>& board, std::int32_t x, const std::int32_t (&y)[Count], typename N::Delta (&to)[Count]) {
  using Key = typename Keys<typename N::Delta>::Key;
  Key sum[Count]{};
  unrolled<N::sides>([&](int side) {
    const auto entry = [](const typename N::Entry* m, std::uint32_t at) { return static_cast<Key>(static_cast<typename N::Delta>(m[at])); };
#if defined(__CUDA_ARCH__)
#pragma unroll 2
#endif
    for (std::int32_t k = 0; k < board.n; ++k) {
      const Key a_x = entry(board.a[side], board.at(k, x)), b_x = entry(board.b[side], board.at(k, x));
      unrolled<Count>(
          [&](int c) { sum[c] += (a_x - entry(board.a[side], board.at(k, y[c]))) * (entry(board.b[side], board.at(k, y[c])) - b_x); });
    }
  });
  unrolled<Count>([&](int c) { to[c] = static_cast<typename N::Delta>((N::sides == 1 ? 2 : 1) * sum[c] + board.pair_product(x, y[c])); });
}

/// A thread's part of a search.
///
/// Slots without a pair of their own. Row i of column j, i > j, is the pair of j and i, which another thread has as well: it starts at
/// `none` and is known once i or j has swapped. Row j itself stays as it is. Behind the last facility a key follows the last one, or where
/// packed nothing; it starts at `none` and is put back whenever the last facility or that of the column swaps. So none of them comes
/// farther from there than twice the largest delta, and one product; and the offset.
template <class N, int Rows>
class Thread {
 public:
  using Delta = typename N::Delta;
  using K = Keys<Delta>;
  using Key = typename K::Key;

  VICINITY_HD Thread(const Board<N>& board, std::int32_t thread, std::int32_t threads)
      : x_(thread), is_last_(thread == threads - 1), column_(-1), first_(0), rows_(0) {
    std::int32_t k = thread;
    while (first_ < board.n - 1 && k >= board.n - 1 - first_) {
      k -= board.n - 1 - first_;
      first_ += Rows;
    }
    if (first_ >= board.n - 1) return;
    column_ = first_ + 1 + k;
    rows_ = column_ - first_ < Rows ? column_ - first_ : Rows;
  }

  /// Before the first iteration: no pair is tabu, B' and the permutation are in place.
  VICINITY_HD void begin(const Board<N>& board) {
    unrolled<Rows>([&](int k) { keys_[k] = K::none; });
    if constexpr (N::bytes)
      if (x_ < board.n) own_ = row_product(board, x_, x_);
    for (std::int32_t k = 0; k < rows_; ++k) {
      const std::int32_t x = column_, y = first_ + k;
      Delta delta[1];
      if constexpr (N::bytes)
        delta[0] =
            delta_of(board, x, y, row_product(board, x, y) + row_product(board, y, x), row_product(board, x, x), row_product(board, y, y));
      else
        deltas_of<N, 1>(board, x, {y}, delta);
      set(static_cast<std::uint32_t>(k), K::of(delta[0], false));
    }
  }

  /// Phase 1 of iteration t, after `swap`: the least key of this thread. `products`: of bytes, those of the facility. `aspiration`: see
  /// Keys. `improved`: the permutation is the best.
  [[nodiscard]] VICINITY_HD Key evaluate(const Board<N>& board, std::int32_t t, const Swap& swap, const RowProducts& products,
                                         Key aspiration, bool improved) {
    if (improved && x_ < board.n) board.best[x_] = board.p[x_];
    Least least;
    active_ = rows_ > 0 && !swap.has(column_);
    if (active_) {
      if (expiry_ <= t) renew(board, t);
      update(board, least);
    }
    touched_[0] = touched_[1] = K::none;
    if (swap.r >= 0 && x_ < board.n) {
      evaluate_touched(board, t, swap, products);
      unrolled<2>([&](int c) { least.take(touched_[c]); });
    }
    const Key forbidden = static_cast<Key>(least.tabu) & ~K::tabu;
    return least_ = forbidden < aspiration && forbidden < least.any ? forbidden : least.any;
  }
  /// Phase 2, where `least` of all threads is that of this one: its first pair of this key.
  [[nodiscard]] VICINITY_HD bool has(Key least) const { return least_ == least; }
  [[nodiscard]] VICINITY_HD std::uint32_t find(const Swap& swap, Key least, Key aspiration) const {
    const Key known = least < aspiration ? ~K::tabu : ~Key{0};  // bits that count
    std::uint32_t pair = no_pair;
    const auto take = [&](std::uint32_t other) { pair = other < pair ? other : pair; };
    if (active_) {
      const Key kept = least - offset_;
      std::int32_t slot = Rows;
      unrolled<Rows>([&](int k) { slot = ((keys_[Rows - 1 - k] ^ kept) & known) == 0 ? Rows - 1 - k : slot; });
      if (slot < Rows) take(pair_of(first_ + slot, column_));
    }
    if ((touched_[0] & known) == least) take(pair_of(x_, swap.r));
    if ((touched_[1] & known) == least) take(pair_of(x_, swap.s));
    return pair;
  }
  /// Phase 3 of iteration t: `swap` is taken, `before` was the one before.
  VICINITY_HD void take(const Board<N>& board, std::int32_t t, const Swap& before, const Swap& swap, const portfolio::Tenures& tenures) {
    if (rows_ > 0) {
      if (before.r >= 0) restore(board, before);
      leave(swap.r);
      leave(swap.s);
    }
    if (x_ < board.n) move(board, swap);
    if (is_last_) {
      const auto [r, s] = swap;
      const std::int32_t at_r = board.p[r], at_s = board.p[s];
      board.p[r] = at_s;
      board.p[s] = at_r;
      board.until_of(r, at_r) = static_cast<std::uint16_t>(t + tenures.of_r);
      board.until_of(s, at_s) = static_cast<std::uint16_t>(t + tenures.of_s);
    }
  }
  /// Does it need tenures?
  [[nodiscard]] VICINITY_HD bool is_last() const { return is_last_; }

 private:
  /// The least key, and the least of the tabu ones.
  struct Least {
    Key any = ~Key{0};
    Delta tabu = static_cast<Delta>(~K::tabu);

    VICINITY_HD void take(Key key) {
      any = key < any ? key : any;
      tabu = static_cast<Delta>(key) < tabu ? static_cast<Delta>(key) : tabu;
    }
  };

  /// Of all pairs that are no more tabu in iteration t the mark goes.
  VICINITY_HD void renew(const Board<N>& board, std::int32_t t) {
    std::uint64_t marks = 0;
    unrolled<Rows>([&](int k) { marks |= K::marked(keys_[k]) ? std::uint64_t{1} << k : 0; });
    expiry_ = never;
    std::uint64_t free = 0;
    for (std::int32_t k = 0; marks >> k != 0; ++k) {
      if ((marks >> k & 1) == 0) continue;
      const std::int32_t until = board.free_again(first_ + k, column_);
      if (until <= t)
        free |= std::uint64_t{1} << k;
      else if (until < expiry_)
        expiry_ = until;
    }
    if (free != 0) unrolled<Rows>([&](int k) { keys_[k] -= (free >> k & 1) != 0 ? K::tabu : 0; });
  }
  /// qap::delta_change of all pairs, and the least of them.
  VICINITY_HD void update(const Board<N>& board, Least& least) {
    if constexpr (N::packed) {
      const std::uint32_t own = board.factors[column_], column = as_column(own);
      offset_ = signed_dot(own, own_product, offset_);
      unrolled<Rows / 4>([&](int group) {
        const int k = 4 * group;
        std::uint32_t row[4];
        load4(board.factors + first_ + k, row);
        unrolled<4>([&](int q) { keys_[k + q] = signed_dot(row[q], column, keys_[k + q]); });
        unrolled<4>([&](int q) { least.take(keys_[k + q]); });
      });
      least.any += offset_;
      least.tabu = static_cast<Delta>(static_cast<Key>(least.tabu) + offset_);
      if (offset_ + most_offset > 2 * most_offset) settle(board.n);
      return;
    }
    Key of_column[2 * N::sides];
    unrolled<N::sides>([&](int side) {
      of_column[2 * side] = static_cast<Key>(board.d[side][column_]);
      of_column[2 * side + 1] = static_cast<Key>(board.e[side][column_]);
    });
    unrolled<Rows / 4>([&](int group) {
      const int k = 4 * group;
      unrolled<N::sides>([&](int side) {
        Delta d[4], e[4];
        load4(board.d[side] + first_ + k, d);
        load4(board.e[side] + first_ + k, e);
        unrolled<4>([&](int q) {
          keys_[k + q] += (static_cast<Key>(d[q]) - of_column[2 * side]) * (of_column[2 * side + 1] - static_cast<Key>(e[q]));
        });
      });
      unrolled<4>([&](int q) { least.take(keys_[k + q]); });
    });
  }
  /// The sum that is kept apart goes into the keys.
  VICINITY_HD void settle(std::int32_t n) {
    unrolled<Rows>([&](int k) { keys_[k] = first_ + k < n ? keys_[k] + offset_ : K::none; });
    offset_ = 0;
  }
  /// The pairs of facility x with r and s: that of these two twice.
  VICINITY_HD void evaluate_touched(const Board<N>& board, std::int32_t t, const Swap& swap, const RowProducts& products) {
    const std::int32_t y[2]{swap.r, swap.s};
    Delta delta[2];
    if constexpr (N::bytes) {
      if (swap.has(x_)) own_ = x_ == swap.r ? products.own[0] : products.own[1];
      unrolled<2>([&](int c) { delta[c] = delta_of(board, x_, y[c], products.with[c], own_, products.own[c]); });
    } else {
      deltas_of<N, 2>(board, x_, y, delta);
    }
    unrolled<2>([&](int c) {
      const bool is_pair = x_ != y[c];
      const std::int32_t until = board.free_again(x_, y[c]);
      board.fresh[c][x_] = touched_[c] = is_pair ? K::of(delta[c], until > t) : K::none;
      board.expiry[c][x_] = is_pair && until > t ? until : never;
    });
  }

  /// Pairs that `before` touched.
  VICINITY_HD void restore(const Board<N>& board, const Swap& before) {
    if (before.has(column_)) {
      const Key* const fresh = (column_ == before.r ? board.fresh[0] : board.fresh[1]) + first_;
      const std::int32_t* const expiry = (column_ == before.r ? board.expiry[0] : board.expiry[1]) + first_;
      offset_ = 0;
      unrolled<Rows / 4>([&](int group) {
        const int k = 4 * group;
        Key key[4];
        load4(fresh + k, key);
        std::int32_t until[4];
        load4(expiry + k, until);
        unrolled<4>([&](int q) {
          keys_[k + q] = key[q];
          expiry_ = until[q] < expiry_ ? until[q] : expiry_;
        });
      });
      return;
    }
    restore_row(board, before.r, board.fresh[0], board.expiry[0]);
    restore_row(board, before.s, board.fresh[1], board.expiry[1]);
  }
  VICINITY_HD void restore_row(const Board<N>& board, std::int32_t y, const Key* fresh, const std::int32_t* expiry) {
    const auto slot = static_cast<std::uint32_t>(y - first_);
    if (slot >= Rows) return;
    const Key key = fresh[column_];
    set(slot, key - offset_);
    if (K::marked(key) && expiry[column_] < expiry_) expiry_ = expiry[column_];
    if (!N::packed && y == board.n - 1) {
      unrolled<Rows>([&](int k) {
        if (first_ + k >= board.n) keys_[k] = K::none;
      });
    }
  }
  /// The pair with facility y, which swaps, if it is one of a row.
  VICINITY_HD void leave(std::int32_t y) {
    const auto slot = static_cast<std::uint32_t>(y - first_);
    if (slot < Rows) set(slot, K::none);
  }
  /// A slot by its number: few jumps, and comparisons with few others.
  template <int From = 0, int To = Rows>
  VICINITY_HD void set(std::uint32_t slot, Key key) {
    if constexpr (To - From <= 6) {
      unrolled<To - From>([&](int k) { keys_[From + k] = slot == static_cast<std::uint32_t>(From + k) ? key : keys_[From + k]; });
    } else {
      constexpr int middle = (From + To) / 2;
      if (slot < middle)
        set<From, middle>(slot, key);
      else
        set<middle, To>(slot, key);
    }
  }

  /// What the swap means for facility x.
  VICINITY_HD void move(const Board<N>& board, const Swap& swap) {
    const bool swaps = swap.has(x_);
    typename N::Entry b_r[N::sides], b_s[N::sides];
    unrolled<N::sides>([&](int side) {
      b_r[side] = board.b[side][board.at(swap.r, x_)];
      b_s[side] = board.b[side][board.at(swap.s, x_)];
      const auto a = [&](std::int32_t row) { return static_cast<Delta>(board.a[side][board.at(row, x_)]); };
      const Delta half = swaps ? 0 : a(swap.r) - a(swap.s), d = (N::sides == 1 ? 2 : 1) * half;
      const Delta e = swaps ? 0 : static_cast<Delta>(b_s[side]) - static_cast<Delta>(b_r[side]);
      if constexpr (N::bytes) own_ += static_cast<std::uint32_t>(half * e);
      if constexpr (N::packed) {
        board.factors[x_] = packed_factors(half, e);
      } else {
        const std::int32_t end = x_ == board.n - 1 ? board.width : x_ + 1;
        for (std::int32_t k = x_; k < end; ++k) {
          board.d[side][k] = d;
          board.e[side][k] = e;
        }
      }
    });
    if (swaps) {
      if (x_ == swap.r) swap_corners(board, swap);
      return;
    }
    unrolled<N::sides>([&](int side) {
      typename N::Entry* const across = board.b[N::sides - 1 - side];
      board.b[side][board.at(swap.r, x_)] = b_s[side];
      board.b[side][board.at(swap.s, x_)] = b_r[side];
      across[board.at(x_, swap.r)] = b_s[side];
      across[board.at(x_, swap.s)] = b_r[side];
    });
  }
  static VICINITY_HD void swap_corners(const Board<N>& board, const Swap& swap) {
    const auto exchange = [](typename N::Entry& x, typename N::Entry& y) {
      const auto was = x;
      x = y;
      y = was;
    };
    unrolled<N::sides>([&](int side) {
      exchange(board.b[side][board.at(swap.r, swap.r)], board.b[side][board.at(swap.s, swap.s)]);
      exchange(board.b[side][board.at(swap.r, swap.s)], board.b[side][board.at(swap.s, swap.r)]);
    });
  }

  static constexpr Key most_offset = Key{1} << 16;

  std::int32_t x_;                      ///< the number of the thread, and its facility, if there is one
  bool is_last_;                        ///< of the block
  std::int32_t column_, first_, rows_;  ///< of its pairs; first row and number of rows
  std::int32_t expiry_ = never;         ///< no pair's mark goes before this iteration
  bool active_ = false;                 ///< are the keys known?
  Key keys_[Rows];
  std::uint32_t own_ = 0;  ///< of bytes: row_product() of x with itself
  Key offset_ = 0;         ///< where packed: keys are less by that
  Key touched_[2];         ///< pairs with r and s of facility x
  Key least_ = 0;
};

}  // namespace vicinity::sa::tabu
