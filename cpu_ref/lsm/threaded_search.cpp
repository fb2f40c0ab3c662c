#include "cpu_ref/lsm/threaded_search.hpp"

#include "cpu_ref/lsm/ppp_search.hpp"
#include "cpu_ref/lsm/qap_rows.hpp"
#include "cpu_ref/lsm/row_search.hpp"
#include "cpu_ref/lsm/tsp_search.hpp"
#include "cpu_ref/lsm/weierstrass_rows.hpp"

namespace vicinity::lsm {
namespace {

template <SearchMethod Search>
class Threaded final : public ThreadedSearch<typename Search::Neighborhood> {
 public:
  using Neighborhood = typename Search::Neighborhood;
  using State = SearchState<Neighborhood>;

  Threaded(const Neighborhood& neighborhood, int threads, const Slice& slice) : search_(neighborhood, threads, slice) {}

  void begin(const State& state, const Interruption& interruption) override { search_.begin(state, interruption); }
  [[nodiscard]] local_search::Choice choose(const State& state, const Interruption& interruption) override {
    return search_.choose(state, interruption);
  }
  void moved(const State& state, const local_search::Choice& choice) override { search_.moved(state, choice); }
  [[nodiscard]] Policy policy() const override { return search_.policy(); }
  [[nodiscard]] Work work(std::int64_t neighborhood_evaluations) const override { return search_.work(neighborhood_evaluations); }

 private:
  Search search_;
};

template <class Search>
[[nodiscard]] auto made(const typename Search::Neighborhood& neighborhood, int threads, const Slice& slice) {
  return std::unique_ptr<ThreadedSearch<typename Search::Neighborhood>>(std::make_unique<Threaded<Search>>(neighborhood, threads, slice));
}

template <int K>
[[nodiscard]] auto search_of(const local_search::QapExchange<K>& neighborhood, int threads, const Slice& slice) {
  // An exchange of three is two swaps, and the largest number is no key.
  if (neighborhood.instance().delta_bound() < (std::int64_t{1} << 29))
    return made<RowSearch<QapRows<K, std::int32_t>>>(neighborhood, threads, slice);
  return made<RowSearch<QapRows<K, std::int64_t>>>(neighborhood, threads, slice);
}
template <int K>
[[nodiscard]] auto search_of(const local_search::PppFlip<K>& neighborhood, int threads, const Slice& slice) {
  return made<PppSearch<K>>(neighborhood, threads, slice);
}
[[nodiscard]] auto search_of(const local_search::TspSwap& neighborhood, int threads, const Slice& slice) {
  if (neighborhood.instance().integral()) return made<TspSearch<true>>(neighborhood, threads, slice);
  return made<TspSearch<false>>(neighborhood, threads, slice);
}
template <class Real>
[[nodiscard]] auto search_of(const local_search::WeierstrassCrowns<Real>& neighborhood, int threads, const Slice& slice) {
  return made<RowSearch<WeierstrassRows<Real>>>(neighborhood, threads, slice);
}

}  // namespace

template <local_search::SearchNeighborhood N>
std::unique_ptr<ThreadedSearch<N>> threaded_search(const N& neighborhood, int threads, const Slice& slice) {
  return search_of(neighborhood, threads, slice);
}

template std::unique_ptr<ThreadedSearch<local_search::QapExchange<2>>> threaded_search(const local_search::QapExchange<2>&, int,
                                                                                       const Slice&);
template std::unique_ptr<ThreadedSearch<local_search::QapExchange<3>>> threaded_search(const local_search::QapExchange<3>&, int,
                                                                                       const Slice&);
template std::unique_ptr<ThreadedSearch<local_search::PppFlip<1>>> threaded_search(const local_search::PppFlip<1>&, int, const Slice&);
template std::unique_ptr<ThreadedSearch<local_search::PppFlip<2>>> threaded_search(const local_search::PppFlip<2>&, int, const Slice&);
template std::unique_ptr<ThreadedSearch<local_search::PppFlip<3>>> threaded_search(const local_search::PppFlip<3>&, int, const Slice&);
template std::unique_ptr<ThreadedSearch<local_search::TspSwap>> threaded_search(const local_search::TspSwap&, int, const Slice&);
template std::unique_ptr<ThreadedSearch<local_search::WeierstrassCrowns<float>>> threaded_search(
    const local_search::WeierstrassCrowns<float>&, int, const Slice&);
template std::unique_ptr<ThreadedSearch<local_search::WeierstrassCrowns<double>>> threaded_search(
    const local_search::WeierstrassCrowns<double>&, int, const Slice&);

}  // namespace vicinity::lsm
