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

  SharedSearch(const Neighborhood& neighborhood, int threads, Team& team)
      : team_(team), search_(threaded_search(neighborhood, threads, local_search::slice_of(team))) {}

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
  [[nodiscard]] Policy policy() const override { return search_->policy(); }
  [[nodiscard]] Work work(std::int64_t) const override { return {}; }  // no ceiling of several processes is measured

 private:
  /// The best over all slices of what find(interruption) gives.
  template <class Find>
  [[nodiscard]] local_search::Choice best(const Find& find) {
    std::optional<local_search::Choice> mine;
    try {
      mine = find(Interruption(team_.stop()));
    } catch (const Interrupted&) {  // mine stays empty
    }
    const std::optional<local_search::Choice> best = local_search::best_of_all(team_, mine);
    if (!best) throw Interrupted();
    return *best;
  }

  Team& team_;
  std::unique_ptr<ThreadedSearch<Neighborhood>> search_;
};

/// Threads of cpu-openmp's searches: as many as the case says, else `cores`.
std::unique_ptr<Run> prepare(const Case& c, const Instance& instance, int cores, Team* team) {
  const local_search::Task task = task_of(c);
  const int threads = task.threads > 0 ? static_cast<int>(task.threads) : cores;
  return with_neighborhood(c, instance, [&](const auto& neighborhood) {
    return cpu_run(
        neighborhood, task, threads, [](const auto& given, int count) { return threaded_search(given, count); }, team);
  });
}

}  // namespace

std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance) {
  return prepare(c, instance, omp_get_max_threads(), nullptr);
}
std::unique_ptr<Run> prepare_openmp_of_rank(const Case& c, const Instance& instance, Team& team) {
  return prepare(c, instance, team.cores(), &team);
}

std::unique_ptr<Run> prepare_slice_of_rank(const Case& c, const Instance& instance, Team& team) {
  const local_search::Task task = task_of(c);
  const int threads = task.threads > 0 ? static_cast<int>(task.threads) : team.cores();
  return with_neighborhood(c, instance, [&]<class Neighborhood>(const Neighborhood& neighborhood) {
    return cpu_run(neighborhood, task, 1, [&](const Neighborhood& given, int) -> std::unique_ptr<ThreadedSearch<Neighborhood>> {
      return std::make_unique<SharedSearch<Neighborhood>>(given, threads, team);
    });
  });
}

}  // namespace vicinity::lsm
