#pragma once
// Where the tuned annealing by rows stands, and how it goes on from an accepted proposal or from none.
#include "kernels/sa/tuned/rows.cuh"

namespace vicinity::sa {

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::stand_at(std::int64_t q) {
  const Position at = Position::of(q, n_);
  row_ = at.r;
  sweep_ = at.sweep;
  column_ = at.s;
  lap_q_ = sweep_ * pairs_;
  row_q_ = q - (at.s - at.r - 1);
  choose_window();
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::move(std::int32_t rows) {
  row_ += rows;
  at_.ahead -= rows;
  next_.ahead -= rows;
  if (row_ > n_ - 2) {
    const std::int32_t sweeps = row_ / (n_ - 1);
    sweep_ += sweeps;
    lap_q_ += std::int64_t{sweeps} * pairs_;
    row_ -= sweeps * (n_ - 1);
  }
  column_ = row_ + 1;
  row_q_ = lap_q_ + row_ * (2 * n_ - row_ - 1) / 2;
  q_ = row_q_;
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::choose_window() {
  const std::int32_t left = n_ - 1 - row_;
  if (sweeping()) {
    const std::int32_t sweeps = 1 << min(empty_steps_ - 2 + usual_laps_, 20);
    window_ = left + min(sweeps - 1, most_rows / (n_ - 1) - 1) * (n_ - 1);
  } else if (teams_ < left) {
    window_ = teams_;
  } else {
    const std::int32_t first = row_ - policy_.by_all_teams(row_) * teams_;
    window_ = left + (first <= last_team_ ? first : 0);
  }
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::take(const Found<Delta>& first) {
  r_ = s_ = -1;
  if (first.key == Found<Delta>::none) return;
  r_ = row_ + first.row();
  if (r_ > n_ - 2) r_ %= n_ - 1;
  s_ = first.column();
  x_ = first.x;
  y_ = first.y;
  delta_ = first.delta;
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::go_on(const Found<Delta>& first) {
  const bool swept = sweeping();
  bool again = false;
  if (first.key == Found<Delta>::none) {
    ++empty_steps_;
    move(window_);
    if (q_ >= end_) {
      q_ = end_;
      if (end_ == limit_) return;
      if (threadIdx.x == 0) state_.reject_until(end_, n_);
      __syncthreads();
      cooling_ = state_.cooling;
      frozen_ = true;
      end_ = limit_;
      stand_at(q_);
      again = true;
    }
    again |= sweeping() != swept;
  } else {
    const std::int32_t rows = first.row();
    if (rows > 0) move(rows);
    last_accepted_ = row_q_ + s_ - r_ - 1;
    if (!frozen_) end_ = min(limit_, last_accepted_ + pairs_ + 1);
    if (clerk()) {
      cost_ += delta_;
      improved_ = cost_ < best_cost_;
      if (improved_) best_cost_ = cost_;
    }
    q_ = last_accepted_ + 1;
    column_ = s_ + 1;
    if (column_ == n_) move(1);
    usual_laps_ = max((swept ? min(empty_steps_ - 2 + usual_laps_, 20) : usual_laps_) - 1, 0);
    empty_steps_ = 0;
    again = swept;
  }
  choose_window();
  if (sweeping() || clerk()) return;
  if (again) {
    enter();
  } else if (at_.ahead < 0) {
    while (stage_ < ready) prepare(next_);
    at_ = next_;
    stage_ = 0;
  }
}

}  // namespace vicinity::sa
