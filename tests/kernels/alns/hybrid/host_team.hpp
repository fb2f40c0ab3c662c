#pragma once
// A block of gpu-hybrid on the host: what the threads of a phase do is done one after the other, in an order that differs each time. Where
// the order counts, the threads of a block would race.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/alns/hybrid/memory.hpp"

namespace vicinity::alns::hybrid::block {

class HostTeam {
 public:
  static constexpr std::int32_t warps = 8, gathered = 64;

  class Warp {
   public:
    Warp(HostTeam& team, std::int32_t number) : index(number), team_(&team) {}

    std::int32_t index;

    template <class F>
    void each(std::int32_t count, const F& f) const {
      team_->in_any_order(count, f);
    }
    template <class F>
    void once(const F& f) const {
      f();
    }
    template <class F>
    [[nodiscard]] auto least(std::int32_t count, const F& f) const {
      using Key = decltype(f(0));
      Key best;
      if constexpr (std::is_integral_v<Key>)
        best = ~Key{0};
      else
        best = Key{};
      team_->in_any_order(count, [&](std::int32_t i) {
        const Key key = f(i);
        if constexpr (std::is_integral_v<Key>)
          best = std::min(best, key);
        else if (key.before(best))
          best = key;
      });
      return best;
    }
    template <class F>
    [[nodiscard]] auto least_of_few(std::int32_t count, const F& f) const {
      EXPECT_GE(count, 1);
      EXPECT_LE(count, 96);
      return least(count, f);
    }
    template <class Load, class Put>
    void fetch(std::int32_t count, const Load& load, const Put& put) const {
      each(count, [&](std::int32_t i) { put(i, load(i)); });
    }
    template <class Value, class Put>
    auto scan(std::int32_t count, const Value& value, const Put& put) const {
      using Sum = decltype(value(0));
      std::vector<Sum> sums;
      Sum sum = 0;
      for (std::int32_t i = 0; i < count; ++i) sums.push_back(sum += value(i));
      team_->in_any_order(count, [&](std::int32_t i) { put(i, sums[static_cast<std::size_t>(i)]); });
      return sum;
    }
    template <class Stop, class F>
    void until(std::int32_t count, const Stop& stop, const F& f) const {
      std::int32_t end = 0;
      while (end < count && !stop(end)) ++end;
      team_->in_any_order(end, f);
    }

   private:
    HostTeam* team_;
  };

  template <class F>
  void each(std::int32_t count, const F& f) {
    in_any_order(count, f);
  }
  template <class F>
  void each_warp(std::int32_t count, const F& f) {
    in_any_order(count, [&](std::int32_t i) { f(Warp(*this, i % warps), i); });
  }
  template <class Holds, class F>
  void each_where(std::int32_t*, std::int32_t count, const Holds& holds, const F& f) {
    in_any_order(count, [&](std::int32_t i) {
      if (holds(i)) f(i);
    });
  }
  template <class Holds, class F>
  void each_warp_where(std::int32_t count, const Holds& holds, const F& f) {
    in_any_order(count, [&](std::int32_t i) {
      if (holds(i)) f(Warp(*this, i % warps), i);
    });
  }
  template <class F>
  void first_warp(const F& f) {
    f(Warp(*this, 0));
  }
  template <class F>
  void once(const F& f) {
    f();
  }
  static void sync() {}
  static void lower(std::uint64_t* place, std::uint64_t value) { *place = std::min(*place, value); }
  static void raise(std::uint64_t* place, std::uint64_t bits) { *place |= bits; }
  static void add(std::int64_t* place, std::int64_t value) { *place += value; }

 private:
  template <class F>
  void in_any_order(std::int32_t count, const F& f) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    if (count < 200)
      std::shuffle(order.begin(), order.end(), random_);
    else if (random_() % 2 == 0)
      std::reverse(order.begin(), order.end());
    for (const std::int32_t i : order) f(i);
  }

  std::mt19937 random_{1};
};

}  // namespace vicinity::alns::hybrid::block
