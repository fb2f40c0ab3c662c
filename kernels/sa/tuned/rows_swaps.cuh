#pragma once
// What a swap changes in the tuned annealing by rows, and what the blocks tell each other.
#include "kernels/sa/tuned/rows.cuh"

namespace vicinity::sa {

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::swap() {
  const std::int32_t pr = p(swaps_)[r_], ps = p(swaps_)[s_];
  pr_ = pr;
  ps_ = ps;
  const std::int32_t k_r = policy_.by_blocks(r_), k_s = policy_.by_blocks(s_), owner_r = r_ - k_r * policy_.blocks,
                     owner_s = s_ - k_s * policy_.blocks;
  const bool send_r = !alone() && owner_s == rank_, send_s = !alone() && owner_r == rank_, first_team = threadIdx.x < policy_.team;
  swaps_ ^= 1;
  if (clerk()) {
    for (std::int32_t k = static_cast<std::int32_t>(threadIdx.x) % RowsPolicy::clerks; k < policy_.rows; k += RowsPolicy::clerks) {
      m_.old.in(memory_)[k] = x_row(k)[r_];
      m_.old.in(memory_)[policy_.rows + k] = x_row(k)[s_];
    }
    return;
  }
#pragma unroll
  for (int k = 0; k < Columns; ++k) {
    const std::int32_t j = column(k), in = min(j, n_ - 1);
    const bool is_r = in == r_, is_s = in == s_;
    if (is_r || is_s) {
      p_[k] = is_r ? ps : pr;
      diagonal_[k] = is_r ? x_ : y_;
      b_diagonal_[k] = static_cast<Delta>(b_row(0, p_[k])[p_[k]]);
    }
#pragma unroll
    for (int side = 0; side < sides; ++side) {
      u_[k][side] = difference(a_row(side, r_), a_row(side, s_), in);
      w_[k][side] = difference(b_row(side, pr), b_row(side, ps), p_[k]);
      diagonal_[k] -= u_[k][side] * w_[k][side];
    }
    if (!first_team || j >= n_) continue;
    if (send_r) deliver(owner_r, 0, j, at_other(y_row(k_s)[j], pr, ps, ps, k));
    if (send_s) deliver(owner_s, 1, j, at_other(y_row(k_r)[j], pr, ps, pr, k));
    p(swaps_)[j] = static_cast<std::uint16_t>(p_[k]);
    diagonal(swaps_)[j] = diagonal_[k];
    for (int side = 0; side < sides; ++side) {
      u(side)[j] = u_[k][side];
      w(side)[j] = w_[k][side];
    }
  }
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::follow() {
  if constexpr (many_columns)
    for (std::int32_t group = follow_group_; group < policy_.groups(); group += policy_.scanners()) follow(group);
  else if (follow_lane_ < follow_lanes_)
    follow(follow_group_);
  if (alone()) return;
  take_in(r_, 0);
  take_in(s_, 1);
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::follow(std::int32_t group) {
  struct alignas(16) Four {
    Delta v[4];
  };
  const std::int32_t lanes = follow_lanes_, lane = follow_lane_;
  const auto four = [&](Delta* from) -> Four& { return reinterpret_cast<Four*>(from)[group]; };
  Four uj[sides], wj[sides];
#pragma unroll
  for (int side = 0; side < sides; ++side) {
    uj[side] = four(u(side));
    wj[side] = four(w(side));
  }
  const bool has_r = r_ / 4 == group, has_s = s_ / 4 == group;
#pragma unroll 2
  for (std::int32_t k = lane, i = rank_ + lane * policy_.blocks; i < n_; k += lanes, i += lanes * policy_.blocks) {
    const bool sent = i == r_ || i == s_;  // this row of y is take_in()'s, which may be writing it: anything else is read instead
    Four x = four(x_row(k)), y{};
    if (!alone()) y = four(x_row(sent ? k : policy_.rows + k));
    Delta x_r = m_.old.in(memory_)[policy_.rows + k], x_s = m_.old.in(memory_)[k];
#pragma unroll
    for (int side = 0; side < sides; ++side) {
      const Delta ui = u(side)[i], wi = w(side)[i];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        x.v[c] -= ui * wj[side].v[c];
        y.v[c] -= uj[side].v[c] * wi;
      }
      if (has_r) x_r -= ui * w(side)[r_];
      if (has_s) x_s -= ui * w(side)[s_];
    }
    four(x_row(k)) = x;
    if (!alone() && !sent) four(y_row(k)) = y;
    if (has_r) x_row(k)[r_] = x_r;
    if (has_s) x_row(k)[s_] = x_s;
  }
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::take_in(std::int32_t facility, int which) const {
  const std::int32_t k = policy_.by_blocks(facility);
  if (facility - k * policy_.blocks != rank_) return;
  for (std::int32_t j = threadIdx.x; j < n_; j += policy_.scanners()) y_row(k)[j] = received(inbox(which) + j);
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::agree() {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Found<Delta> first = least(slots(), policy_.scanners() / 32);
  if constexpr (Letters) {
    send_letters(first);
  } else if (!alone()) {
    Message<Delta>* const place = board_ + parity() * policy_.blocks + rank_;
    if (clustered()) {
      if (lane < policy_.blocks) in_block(place, lane)->write(first, step_);
    } else if (lane == 0) {
      place->write(first, step_);
    }
  }
  if (swapped()) keep_best();
  if constexpr (Letters) return;
  if (alone()) {
    if (lane == 0) *heard() = first;
    return;
  }
  LeastKey<Delta> least;
  least.wait(board_ + parity() * policy_.blocks, policy_.blocks, step_);
  const unsigned key = cuda::warp_min(least.key);
  if (key == Found<Delta>::none)
    heard()->key = key;
  else if (least.key == key)
    *heard() = least.from->read(key, step_);
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ void Rows<Types, Columns, Where, Letters>::send_letters(const Found<Delta>& found) const {
  constexpr auto size = static_cast<std::uint32_t>(sizeof(Letter<Delta>));
  const auto lane = static_cast<std::int32_t>(threadIdx.x) % 32;
  const std::uint32_t letter = m_.letters.offset + static_cast<std::uint32_t>(parity() * policy_.blocks + rank_) * size,
                      arrivals = m_.arrivals.offset + static_cast<std::uint32_t>(parity()) * 8;
  if (lane < policy_.blocks) post(found, of_block(memory_ + letter, lane), of_block(memory_ + arrivals, lane));
  if (lane == 0) expect(memory_ + arrivals, static_cast<std::uint32_t>(policy_.blocks) * size);
}

template <class Types, int Columns, Resident Where, bool Letters>
__device__ __forceinline__ auto Rows<Types, Columns, Where, Letters>::delivered() const -> Found<Delta> {
  const auto lane = static_cast<std::int32_t>(threadIdx.x) % 32;
  await(memory_ + m_.arrivals.offset + static_cast<std::uint32_t>(parity()) * 8, (step_ - 1) >> 1 & 1);
  const Letter<Delta>* const letters = m_.letters.in(memory_) + parity() * policy_.blocks;
  const unsigned mine = lane < policy_.blocks ? static_cast<unsigned>(letters[lane].key) : Found<Delta>::none;
  const unsigned key = cuda::warp_min(mine);
  const Letter<Delta> first = letters[__ffs(static_cast<int>(__ballot_sync(~0u, mine == key))) - 1];
  return {key, first.delta, first.x, first.y};
}

}  // namespace vicinity::sa
