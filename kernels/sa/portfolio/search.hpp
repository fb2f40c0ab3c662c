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
// Aspiration. A forbidden pair is not tabu where it leads below the best cost. A thread also keeps the least delta whatever the marks: the
// key doubled, since the mark leaves the word. If that leads below the best cost, it stands for the thread. In the order of keys such pairs
// come before all others.
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

/// Entries of the matrices, deltas, and one side where both matrices are symmetric.
template <class E, class D, int S>
struct Numbers {
  using Entry = E;
  using Delta = D;
  static constexpr int sides = S;
  static constexpr bool bytes = sizeof(E) == 1;  ///< inner products of four entries an instruction
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
  [[nodiscard]] static VICINITY_HD bool marked(Key key) { return key >> (bits - 3) == 4; }
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
/// sum + the inner product of 16 bytes.
[[nodiscard]] VICINITY_HD std::uint32_t dot(const Words& x, const Words& y, std::uint32_t sum) {
#if defined(__CUDA_ARCH__)
  unrolled<4>([&](int w) { sum = __dp4a(x.word[w], y.word[w], sum); });
#else
  for (int w = 0; w < 4; ++w)
    for (int shift = 0; shift < 32; shift += 8) sum += (x.word[w] >> shift & 0xFFu) * (y.word[w] >> shift & 0xFFu);
#endif
  return sum;
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
  Key* fresh[2];                     ///< [width]: keys of the pairs with r, and with s
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

/// Of facility x with y[0], .., y[Count - 1], of which none is x: the deltas, from scratch in O(n).
template <class N, int Count>
VICINITY_HD void deltas_of(const Board<N>& board, std::int32_t x, const std::int32_t (&y)[Count], typename N::Delta (&to)[Count]) {
  using Delta = typename N::Delta;
  using Key = typename Keys<Delta>::Key;
  Key sum[Count]{};
  if constexpr (N::bytes) {  // A[x] B'[y] + A[y] B'[x] - A[x] B'[x] - A[y] B'[y], of rows
    std::uint32_t with[Count]{}, own[Count]{}, of_x = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (std::int32_t k = 0; k < board.n; k += 16) {
      const Words a_x = words(board.a[0] + board.at(x, k)), b_x = words(board.b[0] + board.at(x, k));
      of_x = dot(a_x, b_x, of_x);
      unrolled<Count>([&](int c) {
        const Words a_y = words(board.a[0] + board.at(y[c], k)), b_y = words(board.b[0] + board.at(y[c], k));
        with[c] = dot(a_x, b_y, dot(a_y, b_x, with[c]));
        own[c] = dot(a_y, b_y, own[c]);
      });
    }
    unrolled<Count>([&](int c) { sum[c] = with[c] - own[c] - of_x; });
  } else {  // by columns, which threads of neighbouring x read side by side
    unrolled<N::sides>([&](int side) {
      const auto entry = [](const typename N::Entry* m, std::uint32_t at) { return static_cast<Key>(static_cast<Delta>(m[at])); };
#if defined(__CUDA_ARCH__)
#pragma unroll 2
#endif
      for (std::int32_t k = 0; k < board.n; ++k) {
        const Key a_x = entry(board.a[side], board.at(k, x)), b_x = entry(board.b[side], board.at(k, x));
        unrolled<Count>(
            [&](int c) { sum[c] += (a_x - entry(board.a[side], board.at(k, y[c]))) * (entry(board.b[side], board.at(k, y[c])) - b_x); });
      }
    });
  }
  unrolled<Count>([&](int c) { to[c] = static_cast<Delta>((N::sides == 1 ? 2 : 1) * sum[c] + board.pair_product(x, y[c])); });
}

/// A thread's part of a search.
///
/// Slots without a pair of their own: in row i of column j, i > j, the key follows the pair of j and i; behind the last facility, that of
/// the last one. It starts at `none` and is put back whenever the facility of the row or the column swaps, so that it never comes farther
/// than twice the largest delta, and one product.
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
    for (std::int32_t k = 0; k < rows_; ++k) {
      const std::int32_t y[1]{first_ + k};
      Delta delta[1];
      deltas_of<N, 1>(board, column_, y, delta);
      set<0, Rows>(k, K::of(delta[0], false));
    }
  }

  /// Phase 1 of iteration t, after `swap`: the least key of this thread. `aspiration`: see Keys. `improved`: the permutation is the best.
  [[nodiscard]] VICINITY_HD Key evaluate(const Board<N>& board, std::int32_t t, const Swap& swap, Key aspiration, bool improved) {
    if (improved && x_ < board.n) board.best[x_] = board.p[x_];
    Key doubled = ~Key{0}, least = ~Key{0};
    active_ = rows_ > 0 && !swap.has(column_);
    if (active_) {
      if (expiry_ <= t) renew(board, t);
      update(board, doubled, least);
    }
    touched_[0] = touched_[1] = K::none;
    if (swap.r >= 0 && x_ < board.n) {
      evaluate_touched(board, t, swap);
      unrolled<2>([&](int c) { take_least(touched_[c], doubled, least); });
    }
    const Key whatever = doubled >> 1;
    return least_ = whatever < aspiration ? whatever : least;
  }
  /// Phase 2, where `least` of all threads is that of this one: its first pair of this key.
  [[nodiscard]] VICINITY_HD bool has(Key least) const { return least_ == least; }
  [[nodiscard]] VICINITY_HD std::uint32_t find(const Swap& swap, Key least, Key aspiration) const {
    const auto is = [&](Key key) { return key == least || (least < aspiration && (key & ~K::tabu) == least); };
    std::uint32_t pair = no_pair;
    const auto take = [&](std::uint32_t other) { pair = other < pair ? other : pair; };
    if (active_) {
      unrolled<Rows>([&](int k) {
        if (is(keys_[k])) take(pair_of(first_ + k, column_));
      });
    }
    if (is(touched_[0])) take(pair_of(x_, swap.r));
    if (is(touched_[1])) take(pair_of(x_, swap.s));
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
  static VICINITY_HD void take_least(Key key, Key& doubled, Key& least) {
    const Key twice = key + key;
    doubled = twice < doubled ? twice : doubled;
    least = key < least ? key : least;
  }

  /// Of all pairs that are no more tabu in iteration t the mark goes.
  VICINITY_HD void renew(const Board<N>& board, std::int32_t t) {
    expiry_ = never;
    unrolled<Rows>([&](int k) {
      if (!K::marked(keys_[k])) return;
      const std::int32_t until = board.free_again(first_ + k, column_);
      if (until <= t)
        keys_[k] -= K::tabu;
      else if (until < expiry_)
        expiry_ = until;
    });
  }
  /// qap::delta_change of all pairs, and the least of them.
  VICINITY_HD void update(const Board<N>& board, Key& doubled, Key& least) {
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
      unrolled<4>([&](int q) { take_least(keys_[k + q], doubled, least); });
    });
  }
  /// The pairs of facility x with r and s.
  VICINITY_HD void evaluate_touched(const Board<N>& board, std::int32_t t, const Swap& swap) {
    if (x_ == swap.r) return;
    const auto key = [&](std::int32_t y, Delta delta) { return K::of(delta, board.free_again(x_, y) > t); };
    if (x_ == swap.s) {
      const std::int32_t y[1]{swap.r};
      Delta delta[1];
      deltas_of<N, 1>(board, x_, y, delta);
      touched_[0] = key(swap.r, delta[0]);
      board.fresh[0][swap.s] = board.fresh[1][swap.r] = touched_[0];
      return;
    }
    const std::int32_t y[2]{swap.r, swap.s};
    Delta delta[2];
    deltas_of<N, 2>(board, x_, y, delta);
    unrolled<2>([&](int c) { board.fresh[c][x_] = touched_[c] = key(y[c], delta[c]); });
  }

  /// Pairs that `before` touched.
  VICINITY_HD void restore(const Board<N>& board, const Swap& before) {
    if (before.has(column_)) {
      const Key* const fresh = (column_ == before.r ? board.fresh[0] : board.fresh[1]) + first_;
      bool marked = false;
      unrolled<Rows / 4>([&](int group) {
        const int k = 4 * group;
        Key key[4];
        load4(fresh + k, key);
        unrolled<4>([&](int q) {
          keys_[k + q] = k + q < rows_ ? key[q] : K::none;
          marked |= K::marked(keys_[k + q]);
        });
      });
      if (marked) expiry_ = 0;
      return;
    }
    restore_row(before.r - first_, board.fresh[0]);
    restore_row(before.s - first_, board.fresh[1]);
  }
  VICINITY_HD void restore_row(std::int32_t slot, const Key* fresh) {
    if (slot < 0 || slot >= Rows) return;
    if (slot < rows_) {
      const Key key = fresh[column_];
      set<0, Rows>(slot, key);
      if (K::marked(key)) expiry_ = 0;
    }
    if (rows_ == Rows) return;
    unrolled<Rows>([&](int k) {
      if (k >= rows_) keys_[k] = K::none;
    });
  }
  /// The pair with facility y, which swaps, if it is one of a row.
  VICINITY_HD void leave(std::int32_t y) {
    const std::int32_t slot = y - first_;
    if (slot >= 0 && slot < rows_) set<0, Rows>(slot, K::none);
  }
  /// A slot by its number: few jumps instead of a comparison a slot.
  template <int From, int To>
  VICINITY_HD void set(std::int32_t slot, Key key) {
    if constexpr (To - From == 1) {
      keys_[From] = key;
    } else {
      if (slot < (From + To) / 2)
        set<From, (From + To) / 2>(slot, key);
      else
        set<(From + To) / 2, To>(slot, key);
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
      const Delta difference = (N::sides == 1 ? 2 : 1) * (a(swap.r) - a(swap.s));
      const Delta d = swaps ? 0 : difference, e = swaps ? 0 : static_cast<Delta>(b_s[side]) - static_cast<Delta>(b_r[side]);
      const std::int32_t end = x_ == board.n - 1 ? board.width : x_ + 1;
      for (std::int32_t k = x_; k < end; ++k) {
        board.d[side][k] = d;
        board.e[side][k] = e;
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

  static constexpr std::int32_t never = 0x7FFFFFFF;

  std::int32_t x_;                      ///< the number of the thread, and its facility, if there is one
  bool is_last_;                        ///< of the block
  std::int32_t column_, first_, rows_;  ///< of its pairs; first row and number of rows
  std::int32_t expiry_ = never;         ///< no pair's mark goes before this iteration
  bool active_ = false;                 ///< are the keys known?
  Key keys_[Rows];
  Key touched_[2];  ///< pairs with r and s of facility x
  Key least_ = 0;
};

}  // namespace vicinity::sa::tabu
