#pragma once
// Neighbours of the permuted perceptron problem: K flips of a sign. A thread evaluates a neighbour in O(m K), from the products S = A V.
//
// Phases: clear the counters, count the products of all rows, compare the counters with the target. All products have the parity of n, and
// those of a neighbour differ by at most 2 K from those of the solution. So its positive products lie between 1 or 2 and the largest
// product of the solution + 2 K, and a thread needs a counter for every second number there. The host finds this range in each iteration.
// Below lie 2 K + 1 counters for products below 1, which nobody reads: a row whose product no neighbour raises above 0 counts in the lowest
// of them. So counting is one addition a row, without a condition. The sum of the negative products follows from the sum of all products,
// which the sums of columns give, and from the counters.
//
// Data layout: a word holds 16 rows of a column, two bits an entry. Each row has the offset of a counter. Counters lie in shared memory
// (blocks shrink where it is short), or in at most 256 MiB of device memory where those of one warp do not fit.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/problems/moves.hpp"
#include "core/problems/ppp/flip.hpp"
#include "core/util/math.hpp"
#include "kernels/lsm/published/neighbors.cuh"

namespace vicinity::lsm {

/// The counters of a thread, 128 bytes apart: counter by counter those of the 32 threads of a warp lie side by side, one in a bank of
/// shared memory.
struct Counters {
  using Counter = std::uint32_t;
  static constexpr std::int32_t warp = 32, step = warp * sizeof(Counter);
  unsigned char* mine;

  /// So many come first, for products below 1; nobody reads them.
  [[nodiscard]] static constexpr VICINITY_HD std::int32_t unread(int k) { return 2 * k + 1; }
  /// The one that lies so many bytes after the first.
  [[nodiscard]] __device__ __forceinline__ Counter& at(std::int32_t offset) const { return *reinterpret_cast<Counter*>(mine + offset); }
};

/// The matrix as the device has it: 16 rows of a column in a word, two bits an entry, so that the sum of three fits; 1 for an entry of -1.
/// Row 16 w + 4 k + b is in bits 8 b + 2 k of word [w][column]. There are whole steps of 32 rows; the rows that are none have entries 0.
struct PackedRows {
  static constexpr std::int32_t word_rows = 16, words = 2, step_rows = word_rows * words;

  [[nodiscard]] static std::int32_t steps(std::int32_t rows) { return divide_up(rows, step_rows); }
  [[nodiscard]] static std::vector<std::uint32_t> of(const ppp::View& ppp) {
    const auto columns = static_cast<std::size_t>(ppp.n);
    std::vector<std::uint32_t> packed(static_cast<std::size_t>(steps(ppp.m) * words) * columns);
    for (std::int32_t column = 0; column < ppp.n; ++column)
      for (std::int32_t row = 0; row < ppp.m; ++row)
        if (ppp.at(row, column) < 0)
          packed[static_cast<std::size_t>(row / word_rows) * columns + static_cast<std::size_t>(column)] |=
              1u << (8 * (row % 4) + 2 * (row % word_rows / 4));
    return packed;
  }
};

/// What the products of an iteration's neighbours can be.
struct ProductRange {
  std::int32_t lowest;     ///< positive product: 1 or 2
  std::int32_t counters;   ///< of those from `lowest` on that are read
  std::int32_t sum;        ///< of the products of the solution
  std::int32_t uncounted;  ///< how often the target asks for numbers that have no counter
};

template <class Matrix, class Integers, class V, class Offsets, class M>
struct PppView {
  using Move = std::remove_cvref_t<decltype(std::declval<const M&>()[0])>;
  static constexpr int K = std::extent_v<decltype(Move::at)>;
  static constexpr std::int32_t unread = Counters::unread(K);

  Matrix a;         ///< PackedRows
  Integers target;  ///< [counter]
  Integers sums;    ///< [column], of its entries
  V v;
  Offsets offsets;  ///< [row / 4]: bytes before the row's counter, if the move turns K entries of 1 to -1
  M moves;
  ProductRange range;
  std::int32_t n, steps;
  std::uint32_t shared_offset;     ///< bytes before the counters in shared memory
  unsigned char* device_counters;  ///< null: they are in shared memory

  __host__ __device__ static std::int64_t base() { return 0; }
  __device__ void stage() const {
    a.stage();
    target.stage();
    sums.stage();
    v.stage();
    offsets.stage();
  }
  __device__ __forceinline__ std::int32_t value(std::int64_t f) const {
    const std::uint32_t warp = threadIdx.x / Counters::warp, lane = threadIdx.x % Counters::warp;
    const std::uint32_t warp_bytes = static_cast<std::uint32_t>((unread + range.counters) * Counters::step);
    const std::uint32_t own = warp * warp_bytes + lane * static_cast<std::uint32_t>(sizeof(Counters::Counter));
    if (device_counters == nullptr) {
      extern __shared__ uint4 shared[];
      return value(f, Counters{reinterpret_cast<unsigned char*>(shared) + shared_offset + own});
    }
    return value(f, Counters{device_counters + std::int64_t{blockIdx.x} * (blockDim.x / Counters::warp) * warp_bytes + own});
  }

 private:
  __device__ __forceinline__ std::int32_t value(std::int64_t f, const Counters& counters) const {
    const Move move = moves[f];
    std::uint32_t turned[K];
    std::int32_t sum = range.sum;
#pragma unroll
    for (int t = 0; t < K; ++t) {
      const std::int32_t sign = v[move.at[t]];
      turned[t] = sign < 0 ? 0x55555555u : 0u;  // one for an entry whose part of the product is -1, and becomes 1
      sum -= 2 * sign * sums[move.at[t]];
    }
#pragma unroll 8
    for (std::int32_t c = 0; c < range.counters; ++c) counters.at((unread + c) * Counters::step) = 0;
    count(move, turned, counters);
    std::int32_t cost = range.uncounted, positive = 0;
#pragma unroll 8
    for (std::int32_t c = 0; c < range.counters; ++c) {
      const auto found = static_cast<std::int32_t>(counters.at((unread + c) * Counters::step));
      cost = abs_difference_plus(found, target[c], cost);
      positive += found * (range.lowest + 2 * c);
    }
    return cost + 2 * ppp::sign_weight * (positive - sum);
  }
  /// Counts the products of a neighbour. Loads first, so that a step has all of its own in flight.
  __device__ __forceinline__ void count(const Move& move, const std::uint32_t (&turned)[K], const Counters& counters) const {
    static_assert(2 * Counters::step == 1 << 8, "a -1 that becomes 1 moves a row on by two counters: 1 in the second byte");
    constexpr int quarters = PackedRows::step_rows / 4;
    for (std::int32_t step = 0; step < steps; ++step) {
      std::uint32_t entries[PackedRows::words][K];
      int4 from[quarters];
#pragma unroll
      for (int w = 0; w < PackedRows::words; ++w)
#pragma unroll
        for (int t = 0; t < K; ++t) entries[w][t] = a[(step * PackedRows::words + w) * n + move.at[t]];
#pragma unroll
      for (int k = 0; k < quarters; ++k) from[k] = offsets[step * quarters + k];
#pragma unroll
      for (int w = 0; w < PackedRows::words; ++w) {
        std::uint32_t ones = 0;  // of each row
#pragma unroll
        for (int t = 0; t < K; ++t) ones += entries[w][t] ^ turned[t];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const std::uint32_t bytes = ones >> 2 * k & 0x03030303u;
          const int4 at = from[4 * w + k];
          count(counters, at.x, __byte_perm(bytes, 0, 0x4404));
          count(counters, at.y, __byte_perm(bytes, 0, 0x4414));
          count(counters, at.z, __byte_perm(bytes, 0, 0x4424));
          count(counters, at.w, __byte_perm(bytes, 0, 0x4434));
        }
      }
    }
  }
  /// An atomic addition, since nothing waits for it: several are under way, where a thread's own additions wait for one another.
  static __device__ __forceinline__ void count(const Counters& counters, std::int32_t from, std::uint32_t on) {
    atomicAdd(&counters.at(from + static_cast<std::int32_t>(on)), 1u);
  }
};

template <int K, MemoryPath Path>
class Neighbors<local_search::PppFlip<K>, Path> {
 public:
  using Neighborhood = local_search::PppFlip<K>;
  using Matrix = typename Path::template Inputs<std::uint32_t>;
  using Integers = typename Path::template Inputs<std::int32_t>;
  using Signs = typename Path::template Solution<std::int8_t>;
  using Offsets = typename Path::template Solution<int4>;

  Neighbors(const Neighborhood& neighborhood, const cuda::Stream&)
      : ppp_(neighborhood.instance()),
        lowest_(2 - ppp_.columns() % 2),
        steps_(PackedRows::steps(ppp_.rows())),
        most_shared_bytes_(cuda::most_shared() - reserve),
        a_(std::span<const std::uint32_t>(PackedRows::of(ppp_.view())), shared_bytes_),
        target_(std::span<const std::int32_t>(targets()), shared_bytes_),
        sums_(std::span<const std::int32_t>(sums()), shared_bytes_),
        v_(columns(), shared_bytes_),
        offsets_(static_cast<std::size_t>(steps_ * PackedRows::step_rows / 4), shared_bytes_),
        moves_(ppp_.columns()) {
    std::fill_n(offsets_.staged(), steps_ * PackedRows::step_rows / 4, int4{});
    const auto all = static_cast<std::size_t>(target_.data().size() + Counters::unread(K)) * Counters::step;
    if (shared_bytes_ > 0 && shared_bytes_ + all > most_shared_bytes_)
      throw DoesNotFit("leaves no shared memory for the counters of a warp");
  }

  void begin(const SearchState<Neighborhood>& state) { products_ = ppp::products(ppp_, state.solution()); }
  void moved(const SearchState<Neighborhood>& state, const local_search::Choice& choice) {
    const ppp::View view = ppp_.view();
    for (const std::int32_t column : moves::at<K>(view.n, choice.move).at) {
      const std::int32_t sign = state.solution()[static_cast<std::size_t>(column)];  // as it is now
      for (std::int32_t row = 0; row < view.m; ++row) products_[static_cast<std::size_t>(row)] += 2 * sign * view.at(row, column);
    }
  }
  void generate(const SearchState<Neighborhood>& state) {
    const ppp::Signs& v = state.solution();
    moves_.generate(v,
                    [&v](const moves::Move<K>& move, int t) { return static_cast<std::int8_t>(-v[static_cast<std::size_t>(move.at[t])]); });
  }
  [[nodiscard]] auto upload(const SearchState<Neighborhood>& state, const cuda::Stream& stream) {
    const ProductRange range = find_counters();
    warp_bytes_ = static_cast<std::size_t>((Counters::unread(K) + range.counters) * Counters::step);
    in_shared_ = shared_bytes_ + warp_bytes_ <= most_shared_bytes_;
    if (!in_shared_ && device_counters_.size() == 0) device_counters_ = cuda::DeviceBuffer<unsigned char>(device_counter_bytes);
    auto v = v_.send(state.solution(), stream);
    auto moves = moves_.send(v, stream);
    return PppView{a_.reader(),
                   target_.reader(),
                   sums_.reader(),
                   v,
                   offsets_.send(stream),
                   moves,
                   range,
                   ppp_.columns(),
                   steps_,
                   static_cast<std::uint32_t>(shared_bytes_),
                   in_shared_ ? nullptr : device_counters_.data()};
  }
  [[nodiscard]] LaunchLimits limits() const {
    const auto threads = [this](std::size_t bytes) { return static_cast<std::int64_t>(bytes / warp_bytes_) * Counters::warp; };
    return in_shared_ ? LaunchLimits{.block = threads(most_shared_bytes_ - shared_bytes_)}
                      : LaunchLimits{.grid = threads(device_counter_bytes)};
  }
  [[nodiscard]] std::size_t shared_bytes(std::int64_t block) const noexcept {
    return shared_bytes_ + (in_shared_ ? static_cast<std::size_t>(block / Counters::warp) * warp_bytes_ : 0);
  }

 private:
  static constexpr std::size_t device_counter_bytes = 256 << 20;  ///< for counters in device memory
  static constexpr std::size_t reserve = 1024;                    ///< of shared memory, for what kernels have beside a view

  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(ppp_.columns()); }
  /// For each counter how often the target asks for its number; and, in uncounted_, from each counter on, together with numbers that no
  /// product can be.
  [[nodiscard]] std::vector<std::int32_t> targets() {
    const ppp::View view = ppp_.view();
    std::vector<std::int32_t> targets;
    for (std::int32_t product = lowest_; product <= view.n; product += 2) targets.push_back(view.target[product]);
    std::int32_t uncounted = 0;
    for (std::int32_t product = 3 - lowest_; product <= view.n; product += 2) uncounted += view.target[product];
    uncounted_.assign(targets.size() + 1, uncounted);
    for (std::size_t c = targets.size(); c-- > 0;) uncounted_[c] = uncounted_[c + 1] + targets[c];
    return targets;
  }
  [[nodiscard]] std::vector<std::int32_t> sums() const {
    const ppp::View view = ppp_.view();
    std::vector<std::int32_t> sums(columns());
    for (std::int32_t column = 0; column < view.n; ++column)
      for (std::int32_t row = 0; row < view.m; ++row) sums[static_cast<std::size_t>(column)] += view.at(row, column);
    return sums;
  }
  /// Finds where the counter of each row lies, and what products to expect. Rows that are none stay at the first counter.
  ProductRange find_counters() {
    auto* const offsets = reinterpret_cast<std::int32_t*>(offsets_.staged());
    std::int32_t highest = products_[0], sum = 0;
    for (std::int32_t row = 0; row < ppp_.rows(); ++row) {
      const std::int32_t product = products_[static_cast<std::size_t>(row)];
      highest = std::max(highest, product);
      sum += product;
      offsets[row] = Counters::step * (K + 1 + std::max((product - lowest_) / 2, -1 - K));
    }
    const std::int32_t last = std::min(ppp_.columns(), highest + 2 * K);
    const std::int32_t counters = last < lowest_ ? 0 : (last - lowest_) / 2 + 1;
    return {lowest_, counters, sum, uncounted_[static_cast<std::size_t>(counters)]};
  }

  const ppp::Ppp& ppp_;
  std::int32_t lowest_, steps_;
  std::size_t most_shared_bytes_, shared_bytes_ = 0, warp_bytes_ = 0;  ///< warp_bytes_: of a warp's counters
  bool in_shared_ = false;
  std::vector<std::int32_t> uncounted_;
  Array<Matrix> a_;
  Array<Integers> target_, sums_;
  Copied<Signs> v_;
  Copied<Offsets> offsets_;
  Moves<K, std::int8_t, Path::solutions_by_host> moves_;
  cuda::DeviceBuffer<unsigned char> device_counters_;  ///< counters that do not fit in shared memory
  std::vector<std::int32_t> products_;
};

}  // namespace vicinity::lsm
