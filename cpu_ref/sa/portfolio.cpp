// Implementation cpu-portfolio: robust tabu searches from the children of elites, a search a thread. What they do and what becomes of it:
// core/methods/sa/portfolio.hpp.
//
// Data layout: the delta of each pair i < j in row i of a matrix padded to vectors; in the same place the iteration until which the pair is
// tabu, the lesser of its two placements'. until[i][l] has those of placements, and its transpose too, so that both swapped rows are made
// by vectors. InnerProducts gives the deltas of single rows.
//
// Phases: an iteration goes over the pairs once. It adds to each delta the product by which the last swap changes it, and keeps the least
// key of each lane with its place. Then the best of the lanes is swapped; the deltas of both swapped rows come from inner products, which
// follow the swaps that they missed, less what the next pass adds to them; the tabu times of both rows are made anew.
//
// Synchronisation: threads share nothing within a round but the population, which they only read.
//
// Cost: an iteration takes a product, a sum and two comparisons a pair, two products where neither matrix is symmetric, and O(n) beside
// them.
#include "cpu_ref/sa/portfolio.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "core/util/memory.hpp"
#include "cpu_ref/run/aligned.hpp"
#include "cpu_ref/run/search_run.hpp"
#include "cpu_ref/sa/engine.hpp"
#include "cpu_ref/sa/inner_products.hpp"

namespace vicinity::sa {
namespace {

// --- one search --------------------------------------------------------------------------------------------------------

template <Arithmetic A>
class TabuSearchOf final : public TabuSearch {
 public:
  explicit TabuSearchOf(const qap::Qap& qap)
      : qap_(qap),
        n_(qap.size()),
        width_((n_ + lanes - 1) / lanes * lanes),
        products_(qap, listed_swaps),
        sides_(products_.sides()),
        coefficients_(products_.coefficients()),
        row_(size(1)),
        deltas_(size(n_)),
        row_until_(size(1)),
        until_(size(n_)),
        until_at_(size(n_)),
        pair_until_(size(n_)) {
    for (auto& difference : differences_) difference.resize(size(1));
  }

  void run(const qap::Permutation& start, std::uint64_t seed, std::int64_t round, std::int32_t b, std::int32_t steps,
           portfolio::Elite& best, const Interruption& interruption) override {
    begin(start, interruption);
    best = {cost_, p_};
    const std::int64_t pairs = std::int64_t{n_} * n_, between_looks = std::clamp<std::int64_t>(work_between_looks / pairs, 1, 64);
    for (std::int32_t t = 1; t <= steps; ++t) {
      if (t % between_looks == 0) interruption.check();
      const std::int64_t to_improve = std::max<std::int64_t>(best.cost - cost_, std::numeric_limits<Sum>::min());
      Choice choice = changed_ ? choose<true>(t, static_cast<Sum>(to_improve)) : choose<false>(t, static_cast<Sum>(to_improve));
      if (choice.delta == forbidden) choice = choose<false>(std::numeric_limits<std::int32_t>::max(), 0);  // every swap is: none then
      swap(choice);
      give_up(choice.i, choice.j, t, portfolio::tenures(seed, round, b, t, n_));
      if (cost_ < best.cost) best = {cost_, p_};
    }
  }
  [[nodiscard]] portfolio::Elite current() const override { return {cost_, p_}; }

 private:
  using Products = InnerProducts<A>;
  using Sum = typename A::Sum;

  static constexpr std::int64_t listed_swaps = 64;
  static constexpr std::int64_t work_between_looks = std::int64_t{1} << 20;  ///< pairs, for the flag
  static constexpr Sum forbidden = std::numeric_limits<Sum>::max();          ///< key of what may not be chosen

  struct Choice {
    Sum delta;
    std::int32_t i, j;
  };

  [[nodiscard]] std::size_t size(std::int32_t rows) const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width_); }
  [[nodiscard]] std::size_t at(std::int32_t row, std::int32_t column) const { return size(row) + static_cast<std::size_t>(column); }
  [[nodiscard]] std::int32_t location(std::int32_t facility) const { return p_[static_cast<std::size_t>(facility)]; }

  void begin(const qap::Permutation& start, const Interruption& interruption) {
    p_ = start;
    cost_ = qap::cost(qap_, start);
    products_.begin(start);
    changed_ = false;
    for (std::int32_t i = 0; i < n_; ++i) {
      interruption.check();
      make_row(i);
      std::copy(row_.begin(), row_.end(), deltas_.begin() + static_cast<std::ptrdiff_t>(at(i, 0)));
    }
    std::fill(until_.begin(), until_.end(), 0);
    std::fill(until_at_.begin(), until_at_.end(), 0);
    std::fill(pair_until_.begin(), pair_until_.end(), 0);
  }

  /// Brings both rows of inner products of facility i up to date.
  void update(std::int32_t i) {
    const std::array<std::int32_t, 2> facility{i, -1}, its_location{location(i), -1};
    products_.update(Products::facility, facility.data(), coefficients_.data());
    products_.update(Products::location, its_location.data(), coefficients_.data());
  }
  /// row_ becomes the deltas of facility i with all others (qap::swap_delta).
  void make_row(std::int32_t i) {
    update(i);
    const std::int32_t* const locations = products_.locations();
    const Sum *f = products_.row(Products::facility, i), *f_transposed = products_.row(Products::location, location(i));
    const Sum *alpha = products_.pair_factors(Products::facility, i), *beta = products_.pair_factors(Products::location, location(i));
    const Vector<Sum> own = products_.diagonal()[i], scale = products_.scale();
    for (std::int32_t j = 0; j < width_; j += lanes) {
      const Vector<Sum> terms = gather(f, locations + j) - own + load(f_transposed + j) - load(products_.diagonal() + j);
      store(row_.data() + j, terms * scale + load(alpha + j) * gather(beta, locations + j));
    }
  }

  /// The least pair by (delta, i, j) of those that are not forbidden in iteration t. First adds to all deltas what the last swap changes,
  /// where `Update`.
  template <bool Update>
  [[nodiscard]] Choice choose(std::int32_t t, Sum to_improve) {
    return sides_ == 1 ? choose<Update, 1>(t, to_improve) : choose<Update, 2>(t, to_improve);
  }
  template <bool Update, int Sides>
  [[gnu::noinline, nodiscard]] Choice choose(std::int32_t t, Sum to_improve) {
    const std::int32_t n = n_, width = width_;
    const auto row_width = static_cast<std::uint32_t>(width);  // places in a matrix may take all of 32 bits
    const Vector<Sum> improving = to_improve, no = forbidden;
    Vector<Sum> least = no;
    Vector<std::uint32_t> place{};
    const Sum* const difference[4]{differences_[0].data(), differences_[1].data(), differences_[2].data(), differences_[3].data()};
    for (std::int32_t i = 0; i + 1 < n; ++i) {
      Sum* const deltas = &deltas_[at(i, 0)];
      const std::int32_t* const until = &pair_until_[at(i, 0)];
      Vector<Sum> own[4]{};
      if constexpr (Update)
        for (int k = 0; k < 2 * Sides; ++k) own[k] = difference[k][i];
      for (std::int32_t j = (i + 1) / lanes * lanes; j < width; j += lanes) {
        Vector<Sum> delta = load(deltas + j);
        if constexpr (Update) {  // qap::delta_change
          delta += (own[0] - load(difference[0] + j)) * (load(difference[1] + j) - own[1]);
          if constexpr (Sides == 2) delta += (own[2] - load(difference[2] + j)) * (load(difference[3] + j) - own[3]);
          store(deltas + j, delta);
        }
        const Vector<std::int32_t> column = lane_numbers() + j;
        const auto out = (load(until + j) > t) & converted<std::int32_t>(delta >= improving);
        const Vector<Sum> key = select(converted<Sum>((column <= i) | (column >= n) | out), no, delta);
        const auto less = key < least;
        least = select(less, key, least);
        place = select(converted<std::int32_t>(less), converted<std::uint32_t>(column) + static_cast<std::uint32_t>(i) * row_width, place);
      }
    }
    Choice choice{forbidden, 0, 1};
    for (std::int32_t lane = 0; lane < lanes; ++lane) {
      if (least[lane] == forbidden) continue;
      const Choice other{least[lane], static_cast<std::int32_t>(place[lane] / row_width),
                         static_cast<std::int32_t>(place[lane] % row_width)};
      const bool first = other.i != choice.i ? other.i < choice.i : other.j < choice.j;
      if (other.delta < choice.delta || (other.delta == choice.delta && first)) choice = other;
    }
    return choice;
  }

  void swap(const Choice& choice) {
    const auto [delta, r, s] = choice;
    if (!products_.has_room()) products_.clear_list();
    update(r);
    products_.swap(r, s, products_.row(Products::location, location(r))[s]);
    std::swap(p_[static_cast<std::size_t>(r)], p_[static_cast<std::size_t>(s)]);
    cost_ += delta;
    set_differences();
    changed_ = true;
    for (const std::int32_t x : {r, s}) {
      make_row(x);
      for (std::int32_t j = 0; j < width_; j += lanes) store(row_.data() + j, load(row_.data() + j) - change(x, j));
      put(row_, x, deltas_);
    }
  }
  /// d, e, and d*, e* of qap::swap_difference, of all facilities after the last swap. Where matrices are symmetric d is doubled.
  void set_differences() {
    const std::int32_t* const locations = products_.locations();
    const Vector<Sum> scale = products_.scale();
    for (std::int32_t side = 0; side < sides_; ++side) {
      auto &d = differences_[static_cast<std::size_t>(2 * side)], &e = differences_[static_cast<std::size_t>(2 * side + 1)];
      const auto *by_facility = products_.difference(Products::facility, side),
                 *by_location = products_.difference(Products::location, side);
      for (std::int32_t j = 0; j < width_; j += lanes) {
        store(d.data() + j, Products::widen(load(by_facility + j)) * scale);
        store(e.data() + j, Products::widen(gather(by_location, locations + j)));
      }
      std::fill(e.begin() + n_, e.end(), 0);
    }
  }
  /// What choose() adds to the deltas of x and sixteen facilities from j on.
  [[nodiscard]] VICINITY_HD Vector<Sum> change(std::int32_t x, std::int32_t j) const {
    const auto own = [&](std::size_t k) { return Vector<Sum>(differences_[k][static_cast<std::size_t>(x)]); };
    const auto others = [&](std::size_t k) { return load(differences_[k].data() + j); };
    Vector<Sum> sum = (own(0) - others(0)) * (others(1) - own(1));
    if (sides_ == 2) sum += (own(2) - others(2)) * (others(3) - own(3));
    return sum;
  }
  /// Values of the pairs of facility x with all others go to where pairs i < j are.
  template <class T>
  void put(const Aligned<T>& values, std::int32_t x, Aligned<T>& pairs) const {
    T* column = pairs.data() + x;
    for (std::int32_t y = 0; y < x; ++y, column += width_) *column = values[static_cast<std::size_t>(y)];
    std::copy(values.begin() + x + 1, values.begin() + n_, pairs.begin() + static_cast<std::ptrdiff_t>(at(x, x + 1)));
  }

  /// r and s, which were swapped in iteration t, are not to return where they were.
  void give_up(std::int32_t r, std::int32_t s, std::int32_t t, const portfolio::Tenures& tenures) {
    forbid(r, location(s), t + tenures.of_r);
    forbid(s, location(r), t + tenures.of_s);
    const std::int32_t* const locations = products_.locations();
    for (const std::int32_t x : {r, s}) {
      for (std::int32_t j = 0; j < width_; j += lanes) {
        const Vector<std::int32_t> own = gather(&until_[at(x, 0)], locations + j), others = load(&until_at_[at(location(x), j)]);
        store(row_until_.data() + j, select(own < others, own, others));
      }
      put(row_until_, x, pair_until_);
    }
  }
  void forbid(std::int32_t facility, std::int32_t location, std::int32_t until) {
    until_[at(facility, location)] = until_at_[at(location, facility)] = until;
  }

  const qap::Qap& qap_;
  std::int32_t n_, width_;
  Products products_;
  std::int32_t sides_;
  Aligned<typename A::Lane> coefficients_;
  Aligned<Sum> row_, deltas_;
  std::array<Aligned<Sum>, 4> differences_;                          ///< d, e, d*, e* of the last swap; padding stays 0
  Aligned<std::int32_t> row_until_, until_, until_at_, pair_until_;  ///< [j]; [facility][location]; its transpose; [i][j], i < j
  qap::Permutation p_;
  std::int64_t cost_ = 0;
  bool changed_ = false;  ///< has there been a swap?
};

// --- rounds ------------------------------------------------------------------------------------------------------------

/// A portfolio under way.
class PortfolioSearch {
 public:
  PortfolioSearch(const qap::Qap& qap, const portfolio::Task& task, const Start& start)
      : swaps_(task.swaps), seed_(start.seed), population_(qap, task, start), handed_(static_cast<std::size_t>(task.searches)) {}

  /// The next round; where `briefly`, one search a thread of it. Interrupted it takes the best so far.
  void advance(std::vector<std::unique_ptr<TabuSearch>>& threads, bool briefly, const Interruption& interruption) {
    const auto searches = static_cast<std::int32_t>(handed_.size()), first = next_;
    const std::int32_t end = briefly ? std::min(searches, first + static_cast<std::int32_t>(threads.size())) : searches;
    for (std::int32_t b = first; b < end; ++b) handed_[static_cast<std::size_t>(b)] = population_.best();
    bool interrupted = false;
    try {
      for_each_in_parallel(end - first, static_cast<int>(threads.size()), [&](std::int64_t k) {
        const auto b = first + static_cast<std::int32_t>(k);
        threads[static_cast<std::size_t>(omp_get_thread_num())]->run(population_.start_of(b), seed_, population_.rounds(), b,
                                                                     population_.steps(), handed_[static_cast<std::size_t>(b)],
                                                                     interruption);
      });
    } catch (const Interrupted&) {
      interrupted = true;
    }
    for (std::int32_t b = first; b < end; ++b) population_.offer(handed_[static_cast<std::size_t>(b)]);
    if (interrupted) throw Interrupted();
    next_ = end;
    if (end < searches) return;
    next_ = 0;
    population_.make_next([&](std::size_t count, const auto& make) {
      for_each_in_parallel(static_cast<std::int64_t>(count), static_cast<int>(threads.size()),
                           [&](std::int64_t b) { make(static_cast<std::size_t>(b)); });
    });
    population_.merge(handed_);
  }
  [[nodiscard]] bool done() const { return swaps() >= swaps_; }
  /// Of whole rounds.
  [[nodiscard]] std::int64_t swaps() const { return population_.swaps(); }
  [[nodiscard]] TracePoint progress() const {
    return {.iterations = swaps(), .objective = population_.best().cost, .digest = population_.digest()};
  }
  [[nodiscard]] portfolio::Result result() const { return portfolio::result_of(population_); }

 private:
  std::int64_t swaps_;
  std::uint64_t seed_;
  portfolio::Population population_;
  std::vector<portfolio::Elite> handed_;
  std::int32_t next_ = 0;  ///< the first search of the round under way that is to be made
};

/// The one portfolio of a case, for SearchRun. Its iterations are swaps, of which a round makes many.
class Portfolio {
 public:
  struct Method {
    std::vector<std::unique_ptr<TabuSearch>> threads;
  };
  using State = PortfolioSearch;
  using Result = portfolio::Result;

  Portfolio(const qap::Qap& qap, const portfolio::Task& task) : qap_(&qap), task_(task) {}

  [[nodiscard]] static std::int64_t count() { return 1; }
  [[nodiscard]] std::unique_ptr<State> begin(Method&, const Start& start, std::int64_t) const {
    return std::make_unique<State>(*qap_, task_, start);
  }
  static void step(Method& method, State& state, const StepLimit& limit) {
    if (!state.done() && state.swaps() < limit.iterations) state.advance(method.threads, limit.briefly, limit.interruption);
  }
  [[nodiscard]] static bool done(const State& state) { return state.done(); }
  [[nodiscard]] static TracePoint progress(const State& state) { return state.progress(); }
  [[nodiscard]] static Result result(const State& state) { return state.result(); }
  [[nodiscard]] Outcome judge(const std::vector<Result>& results, bool) const { return portfolio::judge(*qap_, results); }
  [[nodiscard]] Policy policy(const Method& method, std::size_t) const {
    return {{"threads", static_cast<std::int64_t>(method.threads.size())}, {"searches", task_.searches}};
  }
  [[nodiscard]] static Work work(const Method&, const std::vector<Result>&, std::size_t) { return {}; }

 private:
  const qap::Qap* qap_;
  portfolio::Task task_;
};

}  // namespace

std::unique_ptr<TabuSearch> make_tabu_search(const qap::Qap& qap) {
  const std::int64_t bits = serial_policy(qap, annealing::Task()).element_bits;
  if (bits == 64 || qap.delta_bound() == std::numeric_limits<std::int32_t>::max())  // which is the key of what is forbidden
    return std::make_unique<TabuSearchOf<Unpacked<std::int64_t>>>(qap);
  if (bits == 16) return std::make_unique<TabuSearchOf<Packed16>>(qap);
  return std::make_unique<TabuSearchOf<Unpacked<std::int32_t>>>(qap);
}

std::unique_ptr<Run> prepare_portfolio(const Case& c, const Instance& instance) {
  const auto& qap = dynamic_cast<const qap::Qap&>(instance);
  const portfolio::Task task = portfolio::task_of(c, qap.size());
  const std::int64_t threads = std::min<std::int64_t>(task.threads > 0 ? task.threads : omp_get_max_threads(), task.searches);
  require_memory(11.0 * sizeof(std::int32_t) * qap.size() * qap.size() * static_cast<double>(threads), "tabu searches");
  std::vector<std::unique_ptr<Portfolio::Method>> methods;
  methods.push_back(std::make_unique<Portfolio::Method>());
  for (std::int64_t t = 0; t < threads; ++t) methods.back()->threads.push_back(make_tabu_search(qap));
  return std::make_unique<SearchRun<Portfolio>>(Portfolio(qap, task), std::move(methods));
}

}  // namespace vicinity::sa
