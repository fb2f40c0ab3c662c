#pragma once
// The proposals of the tuned annealing by rows: making a row, testing it, sweeping through sweeps.
#include "kernels/sa/tuned/rows.cuh"

namespace vicinity::sa {

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::enter() {
  std::int32_t steps = row_ <= own_team_ ? 0 : policy_.by_all_teams(row_ - own_team_ + teams_ - 1);
  Place place{own_team_ + steps * teams_, sweep_};
  if (place.row > n_ - 2) place = {own_team_, sweep_ + 1};
  if (own_team_ > n_ - 2) place.row = -1;
  set(at_, place);
  draw(at_);
  thresholds(at_);
  stage_ = 0;
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::prepare(TeamRow<Delta, Columns>& row) {
  if (stage_ == 0)
    set(row, after(at_));
  else if (stage_ == 1)
    draw(row);
  else
    thresholds(row);
  ++stage_;
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::set(TeamRow<Delta, Columns>& to, Place place) const {
  to.row = place.row;
  to.sweep = place.sweep;
  to.ahead = never;
  if (place.row < 0) return;
  to.ahead = static_cast<std::int32_t>(place.sweep - sweep_) * (n_ - 1) + place.row - row_;
  to.k = policy_.by_blocks(place.row);
  to.q = place.sweep * annealing::pairs(n_) + annealing::row_start(n_, place.row);
  const annealing::RowTemperature temperature = annealing::row_temperature(cooling_, to.q);
#pragma unroll
  for (int k = 0; k < Columns; ++k) {
    const std::int32_t j = min(column(k), n_ - 1);
    to.inverse[k] = annealing::inverse_temperature(temperature, j - place.row - 1);
    to.a[k] = factor_of_a(place.row, j);
  }
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::draw(TeamRow<Delta, Columns>& to) const {
  if (to.row < 0) return;
#pragma unroll
  for (int k = 0; k < Columns; ++k) {
    const std::int32_t j = min(column(k), n_ - 1);
    const Philox4 words = annealing::words(seed_, to.sweep, to.row, annealing::block_of(j));
    const int word = annealing::word_of(j);
    const unsigned drawn = word == 0 ? words.word[0] : word == 1 ? words.word[1] : word == 2 ? words.word[2] : words.word[3];
    to.threshold[k] = float_of(static_cast<std::int32_t>(drawn));
  }
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::test() {
  found_ = {};
  const std::int32_t ahead = at_.ahead;
  if (clerk() || ahead >= window_) return;
  const std::int32_t row = at_.row, first = ahead == 0 ? column_ : row + 1;
  const std::int64_t left = end_ - at_.q;
  const std::int32_t behind = left < n_ ? row + 1 + static_cast<std::int32_t>(left) : n_;
  const int earlier = swapped() ? swaps_ ^ 1 : swaps_;
  std::int32_t pi = p(earlier)[row];
  Delta diagonal_i = diagonal(earlier)[row], u_i[sides], w_i[sides];
  if (swapped()) {
    const bool is_r = row == r_, is_s = row == s_;
    pi = is_r ? ps_ : is_s ? pr_ : pi;
    diagonal_i = is_r ? x_ : is_s ? y_ : diagonal_i;
#pragma unroll
    for (int side = 0; side < sides; ++side) {
      u_i[side] = difference(a_row(side, r_), a_row(side, s_), row);
      w_i[side] = difference(b_row(side, pr_), b_row(side, ps_), pi);
      diagonal_i -= u_i[side] * w_i[side];
    }
  }
  const Delta b_diagonal_i = static_cast<Delta>(b_row(0, pi)[pi]);
#pragma unroll
  for (int k = Columns - 1; k >= 0; --k) {
    const std::int32_t j = min(column(k), n_ - 1);
    Delta x = x_row(at_.k)[before(j)], y = alone() ? x_row(j)[before(row)] : y_row(at_.k)[j];
    if (swapped()) {
#pragma unroll
      for (int side = 0; side < sides; ++side) {
        x -= u_i[side] * w_[k][side];
        y -= u_[k][side] * w_i[side];
      }
      if (!alone() && (row == r_ || row == s_)) y = received(inbox(row == r_ ? 0 : 1) + j);
    }
    const Delta factor_of_b = both_ways([&](int side) { return b_row(side, pi); }, p_[k]) - b_diagonal_i - b_diagonal_[k];
    const Delta delta = scale * (x + y - diagonal_i - diagonal_[k]) + at_.a[k] * factor_of_b;
    if (j >= first && j < behind && column(k) < n_ && annealing::accepts(delta, at_.inverse[k], at_.threshold[k]))
      found_ = {Found<Delta>::key_of(ahead, j), delta, x, y};
  }
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::sweep() {
  found_ = {};
  if (clerk()) return;
  const auto thread = static_cast<std::int32_t>(threadIdx.x);
  const std::int32_t worker = divide_up(divide_up(n_, 64) * 16, 32) * 32;
  if constexpr (many_columns)
    for (std::int32_t k = thread; k < worker; k += policy_.scanners()) sweep(k, 0, 1);
  else
    sweep(thread % worker, thread / worker, policy_.scanners() / worker);
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::sweep(std::int32_t thread, std::int32_t first, std::int32_t workers) {
  const std::int32_t lap_rows = n_ - 1;
  const auto column = [&](int word) { return (thread & ~15) << 2 | word << 4 | (thread & 15); };
  const float coldest = least_inverse_temperature();
  for (std::int32_t k = first; k < policy_.rows; k += workers) {
    const std::int32_t row = rank_ + k * policy_.blocks, first_lap = row < row_ ? 1 : 0;
    if (row >= lap_rows || first_lap * lap_rows + row - row_ >= window_) continue;
    const std::int32_t pi = p(swaps_)[row];
    const Delta diagonal_i = diagonal(swaps_)[row], b_diagonal_i = static_cast<Delta>(b_row(0, pi)[pi]);
    Delta delta[4], x[4], y[4];
    unsigned bound[4];
    bool any = false;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const std::int32_t j = min(column(w), n_ - 1), pj = p(swaps_)[j];
      x[w] = x_row(k)[j];
      y[w] = alone() ? x_row(j)[row] : y_row(k)[j];
      const Delta factor_of_b =
          both_ways([&](int side) { return b_row(side, pi); }, pj) - b_diagonal_i - static_cast<Delta>(b_row(0, pj)[pj]);
      delta[w] = scale * (x[w] + y[w] - diagonal_i - diagonal(swaps_)[j]) + factor_of_a(row, j) * factor_of_b;
      bound[w] = column(w) > row && column(w) < n_ ? highest_word(delta[w], coldest) : 0;
      any |= bound[w] != 0;
    }
    if (!__any_sync(~0u, any)) continue;
    for (std::int32_t sweep = first_lap; any; sweep += 2) {  // two at a time hide each other's latency
      const std::int32_t ahead = sweep * lap_rows + row - row_;
      if (ahead >= window_ || Found<Delta>::key_of(ahead, 0) > found_.key) break;
      const Philox4 words[2]{annealing::words(seed_, sweep_ + sweep, row, static_cast<std::uint32_t>(thread)),
                             annealing::words(seed_, sweep_ + sweep + 1, row, static_cast<std::uint32_t>(thread))};
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int w = 0; w < 4; ++w)
          if (bound[w] != 0 && words[half].word[w] <= bound[w])
            decide(ahead + half * lap_rows, sweep + half, row, column(w), delta[w], x[w], y[w], words[half].word[w]);
    }
  }
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ float Rows<Types, Columns, Where, Letters>::least_inverse_temperature() const {
  const double last = plus(cooling_.first, times(static_cast<double>(row_q_ + std::int64_t{window_} * n_), cooling_.step));
  const float here = annealing::row_temperature(cooling_, row_q_).base;
  return fminf(here, static_cast<float>(last)) * (1 - 1e-6f);
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ unsigned Rows<Types, Columns, Where, Letters>::highest_word(Delta delta, float inverse_temperature) {
  if (delta <= 0) return ~0u;
  const float x = static_cast<float>(delta) * inverse_temperature;
  if (x > annealing::highest_threshold + 0.1f) return 0;
  return __float2uint_ru(exp2f(x * -1.44269504f) * 4294967296.0f * 1.0001f + 16.0f);
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::decide(std::int32_t ahead, std::int32_t sweep, std::int32_t row,
                                                                             std::int32_t j, Delta delta, Delta x, Delta y, unsigned word) {
  const unsigned key = Found<Delta>::key_of(ahead, j);
  const std::int64_t first = (sweep_ + sweep) * annealing::pairs(n_) + annealing::row_start(n_, row);
  if (key >= found_.key || ahead >= window_ || (ahead == 0 && j < column_) || first + j - row - 1 >= end_) return;
  const float inverse = annealing::inverse_temperature(annealing::row_temperature(cooling_, first), j - row - 1);
  if (annealing::accepts(delta, inverse, annealing::threshold(word))) found_ = {key, delta, x, y};
}

}  // namespace vicinity::sa
