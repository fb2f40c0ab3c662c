// cpu-openmp: all cores, vectorised. One restart runs on as many threads as find enough work; several restarts run one a thread, without
// any synchronisation. And a rank of mpi-openmp: one restart after the other on all its threads, the best of its slice of the
// neighbourhood, then the best of all slices.
#include <omp.h>

#include <optional>
#include <utility>

#include "core/methods/lsm/task.hpp"
#include "cpu_ref/lsm/implementations.hpp"
#include "cpu_ref/lsm/run.hpp"
#include "cpu_ref/lsm/threaded_search.hpp"

namespace vicinity::lsm {
namespace {

/// The interruption that SearchRun hands down is not looked at: those who share a neighbourhood are interrupted together.
template <class Neighborhood>
class SharedSearch final : public ThreadedSearch<Neighborhood> {
 public:
  using State = SearchState<Neighborhood>;

  SharedSearch(const Neighborhood& neighborhood, int threads, const Slice& slice, local_search::Agreement& agreement)
      : slice_(slice), agreement_(agreement), search_(threaded_search(neighborhood, threads, slice)) {}

  void begin(const State& state, const Interruption&) override {
    static_cast<void>(best([&](const Interruption& interruption) {
      search_->begin(state, interruption);
      return local_search::Choice();
    }));
  }
  [[nodiscard]] local_search::Choice choose(const State& state, const Interruption&) override {
    return best([&](const Interruption& interruption) {
      interruption.check();
      return search_->choose(state, interruption);
    });
  }
  void moved(const State& state, const local_search::Choice& choice) override { search_->moved(state, choice); }
  [[nodiscard]] Policy policy() const override {
    Policy policy = search_->policy();
    policy["ranks"] = slice_.count;
    return policy;
  }
  [[nodiscard]] Work work(std::int64_t) const override { return {}; }  // no ceiling of several processes is measured

 private:
  /// The best over all slices of what find(interruption) gives.
  template <class Find>
  [[nodiscard]] local_search::Choice best(const Find& find) {
    std::optional<local_search::Choice> mine;
    try {
      mine = find(Interruption(agreement_.stop()));
    } catch (const Interrupted&) {  // mine stays empty
    }
    const std::optional<local_search::Choice> best = agreement_.best(mine);
    if (!best) throw Interrupted();
    return *best;
  }

  Slice slice_;
  local_search::Agreement& agreement_;
  std::unique_ptr<ThreadedSearch<Neighborhood>> search_;
};

}  // namespace

std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance) {
  const local_search::Task task = task_of(c);
  const int threads = task.threads > 0 ? static_cast<int>(task.threads) : omp_get_max_threads();
  return with_neighborhood(c, instance, [&](const auto& neighborhood) {
    return cpu_run(neighborhood, task, threads, [](const auto& given, int count) { return threaded_search(given, count); });
  });
}

std::unique_ptr<Run> prepare_slice(const Case& c, const Instance& instance, int cores, const Slice& slice,
                                   local_search::Agreement& agreement) {
  const local_search::Task task = task_of(c);
  const int threads = task.threads > 0 ? static_cast<int>(task.threads) : cores;
  return with_neighborhood(c, instance, [&]<class Neighborhood>(const Neighborhood& neighborhood) {
    return cpu_run(neighborhood, task, 1, [&](const Neighborhood& given, int) -> std::unique_ptr<ThreadedSearch<Neighborhood>> {
      return std::make_unique<SharedSearch<Neighborhood>>(given, threads, slice, agreement);
    });
  });
}

}  // namespace vicinity::lsm
