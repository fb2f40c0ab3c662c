#pragma once
// The domains of a network's variables while a search goes on: bounds and bit masks, a trail that takes changes back, and the changes since
// they were last asked for. A domain's elements are those between its bounds whose bit is set; bits beyond the bounds mean nothing. Bounds
// are elements. Operations cost a constant, those that skip holes at most a word a 64 values.
#include <bit>
#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/problems/cp/network.hpp"

namespace vicinity::cp {

/// What propagation rules ask of domains. What restricts a domain tells whether any element is left.
template <class S>
concept DomainStore = requires(S store, const S& constant, Var x, std::int64_t v) {
  { constant.lower(x) } -> std::same_as<std::int64_t>;
  { constant.upper(x) } -> std::same_as<std::int64_t>;
  { constant.contains(x, v) } -> std::same_as<bool>;
  { constant.masked(x) } -> std::same_as<bool>;
  { constant.next(x, v) } -> std::same_as<std::int64_t>;  // the least element from v on, which is at most the upper bound
  { store.raise(x, v) } -> std::same_as<bool>;            // x >= v
  { store.cut(x, v) } -> std::same_as<bool>;              // x <= v
  { store.remove(x, v) } -> std::same_as<bool>;           // x != v; of bounds only, where v is a bound
  { store.assign(x, v) } -> std::same_as<bool>;           // x = v
};

class Store {
 public:
  explicit Store(const Network& network) : view_(network.view()) {
    const auto n = static_cast<std::size_t>(view_.variables);
    bounds_.reserve(n);
    for (std::size_t x = 0; x < n; ++x) bounds_.push_back({view_.lower[x], view_.upper[x]});
    words_.assign(view_.mask, view_.mask + view_.mask_words);
    stamps_.assign(n + words_.size(), 0);
    events_.assign(n, 0);
  }

  [[nodiscard]] std::int64_t lower(Var x) const { return bounds_[index(x)].lower; }
  [[nodiscard]] std::int64_t upper(Var x) const { return bounds_[index(x)].upper; }
  [[nodiscard]] bool is_fixed(Var x) const { return bounds_[index(x)].lower == bounds_[index(x)].upper; }
  [[nodiscard]] bool masked(Var x) const { return view_.mask_begin[x] >= 0; }
  [[nodiscard]] bool contains(Var x, std::int64_t v) const {
    const Bounds& b = bounds_[index(x)];
    if (v < b.lower || v > b.upper) return false;
    if (!masked(x)) return true;
    const auto bit = static_cast<std::uint64_t>(v - view_.lower[x]);
    return (words_[word_of(x, bit)] >> (bit % 64) & 1) != 0;
  }
  [[nodiscard]] std::int64_t next(Var x, std::int64_t v) const {
    if (!masked(x)) return v;
    auto bit = static_cast<std::uint64_t>(v - view_.lower[x]);
    std::uint64_t word = words_[word_of(x, bit)] >> (bit % 64);
    while (word == 0) {
      bit = (bit / 64 + 1) * 64;
      word = words_[word_of(x, bit)];
    }
    return view_.lower[x] + static_cast<std::int64_t>(bit + static_cast<std::uint64_t>(std::countr_zero(word)));
  }
  /// The greatest element up to v, which is at least the lower bound.
  [[nodiscard]] std::int64_t previous(Var x, std::int64_t v) const {
    if (!masked(x)) return v;
    auto bit = static_cast<std::uint64_t>(v - view_.lower[x]);
    std::uint64_t word = words_[word_of(x, bit)] << (63 - bit % 64);
    while (word == 0) {
      bit = bit / 64 * 64 - 1;
      word = words_[word_of(x, bit)];
    }
    return view_.lower[x] + static_cast<std::int64_t>(bit) - std::countl_zero(word);
  }
  /// How many elements.
  [[nodiscard]] std::int64_t size(Var x) const {
    const Bounds& b = bounds_[index(x)];
    if (!masked(x) || b.lower == b.upper) return std::int64_t{b.upper} - b.lower + 1;
    const auto first = static_cast<std::uint64_t>(b.lower - view_.lower[x]), last = static_cast<std::uint64_t>(b.upper - view_.lower[x]);
    std::int64_t count = 0;
    for (std::uint64_t w = first / 64; w <= last / 64; ++w) {
      std::uint64_t word = words_[word_of(x, w * 64)];
      if (w == first / 64) word &= ~std::uint64_t{0} << (first % 64);
      if (w == last / 64) word &= ~std::uint64_t{0} >> (63 - last % 64);
      count += std::popcount(word);
    }
    return count;
  }

  /// Of a masked variable: low high low high ..., ascending and apart.
  [[nodiscard]] std::vector<std::int64_t> intervals(Var x) const {
    std::vector<std::int64_t> all;
    for (std::int64_t v = lower(x); v <= upper(x); ++v) {
      v = next(x, v);
      if (!all.empty() && all.back() == v - 1)
        all.back() = v;
      else
        all.insert(all.end(), {v, v});
    }
    return all;
  }

  [[nodiscard]] bool raise(Var x, std::int64_t v) {
    Bounds& b = bounds_[index(x)];
    if (v <= b.lower) return true;
    if (v > b.upper) return false;
    save(x);
    b.lower = static_cast<std::int32_t>(next(x, v));
    note(x, b.lower == b.upper ? raised | fixed : raised);
    return true;
  }
  [[nodiscard]] bool cut(Var x, std::int64_t v) {
    Bounds& b = bounds_[index(x)];
    if (v >= b.upper) return true;
    if (v < b.lower) return false;
    save(x);
    b.upper = static_cast<std::int32_t>(previous(x, v));
    note(x, b.lower == b.upper ? cut_event | fixed : cut_event);
    return true;
  }
  [[nodiscard]] bool assign(Var x, std::int64_t v) {
    if (!contains(x, v)) return false;
    Bounds& b = bounds_[index(x)];
    if (b.lower == b.upper) return true;
    save(x);
    note(x, static_cast<std::uint8_t>(fixed | (v > b.lower ? raised : 0) | (v < b.upper ? cut_event : 0)));
    b.lower = b.upper = static_cast<std::int32_t>(v);
    return true;
  }
  [[nodiscard]] bool remove(Var x, std::int64_t v) {
    Bounds& b = bounds_[index(x)];
    if (v < b.lower || v > b.upper) return true;
    if (b.lower == b.upper) return false;
    if (v == b.lower) return raise(x, v + 1);
    if (v == b.upper) return cut(x, v - 1);
    if (!masked(x)) return true;
    const auto bit = static_cast<std::uint64_t>(v - view_.lower[x]);
    const std::size_t word = word_of(x, bit);
    const std::uint64_t one = std::uint64_t{1} << (bit % 64);
    if ((words_[word] & one) == 0) return true;
    save_word(word);
    words_[word] &= ~one;
    note(x, hole);
    return true;
  }

  /// A choice point: what changes from here on, undo() takes back.
  void push() {
    levels_.push_back(trail_.size());
    stamp_ = ++stamps_used_;
  }
  void undo() {
    for (; trail_.size() > levels_.back(); trail_.pop_back()) {
      const Change& old = trail_.back();
      if (old.slot < bounds_.size())
        bounds_[old.slot] = std::bit_cast<Bounds>(old.value);
      else
        words_[old.slot - bounds_.size()] = old.value;
    }
    levels_.pop_back();
    stamp_ = ++stamps_used_;
    forget();
  }
  [[nodiscard]] std::size_t level() const noexcept { return levels_.size(); }

  /// visit(variable, events) of all that changed since it was last called; then they count as seen.
  template <class Visit>
  void changes(const Visit& visit) {
    for (std::size_t k = 0; k < changed_.size(); ++k) visit(changed_[k], std::exchange(events_[index(changed_[k])], std::uint8_t{0}));
    changed_.clear();
  }
  void forget() {
    changes([](Var, std::uint8_t) {});
  }

 private:
  struct Bounds {
    std::int32_t lower, upper;
  };
  struct Change {
    std::uint64_t slot;  ///< a variable, or beyond them a word
    std::uint64_t value;
  };
  static constexpr std::uint8_t cut_event = Event::cut;

  static std::size_t index(Var x) { return static_cast<std::size_t>(x); }
  [[nodiscard]] std::size_t word_of(Var x, std::uint64_t bit) const { return static_cast<std::size_t>(view_.mask_begin[x]) + bit / 64; }
  void save(Var x) {
    if (stamps_[index(x)] == stamp_) return;
    stamps_[index(x)] = stamp_;
    trail_.push_back({index(x), std::bit_cast<std::uint64_t>(bounds_[index(x)])});
  }
  void save_word(std::size_t word) {
    const std::size_t slot = bounds_.size() + word;
    if (stamps_[slot] == stamp_) return;
    stamps_[slot] = stamp_;
    trail_.push_back({slot, words_[word]});
  }
  void note(Var x, int event) {
    std::uint8_t& events = events_[index(x)];
    if (events == 0) changed_.push_back(x);
    events = static_cast<std::uint8_t>(events | event);
  }

  NetworkView view_;
  std::vector<Bounds> bounds_;
  std::vector<std::uint64_t> words_;
  std::vector<Change> trail_;
  std::vector<std::size_t> levels_;
  std::vector<std::uint64_t> stamps_;  ///< [slot] the level that has saved it
  std::uint64_t stamp_ = 0, stamps_used_ = 0;
  std::vector<Var> changed_;
  std::vector<std::uint8_t> events_;  ///< [variable]
};

// Literals.
template <class S>
[[nodiscard]] VICINITY_HD bool is_true(const S& store, Literal l) {
  return is_negated(l) ? store.upper(var_of(l)) == 0 : store.lower(var_of(l)) == 1;
}
template <class S>
[[nodiscard]] VICINITY_HD bool is_false(const S& store, Literal l) {
  return is_true(store, negated(l));
}
template <class S>
[[nodiscard]] VICINITY_HD bool set_true(S& store, Literal l) {
  return is_negated(l) ? store.cut(var_of(l), 0) : store.raise(var_of(l), 1);
}
template <class S>
[[nodiscard]] VICINITY_HD bool set_false(S& store, Literal l) {
  return set_true(store, negated(l));
}

}  // namespace vicinity::cp
