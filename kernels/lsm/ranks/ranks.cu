// Implementation `mpi-gpu`, a rank of it: the search stays on the GPUs of all ranks (run.cuh), or, where they cannot exchange moves there,
// goes through the hosts (prepare_reduction_of_rank()), and its policy says why.
#include "kernels/lsm/ranks/ranks.hpp"

#include <utility>

#include "core/methods/lsm/task.hpp"
#include "kernels/lsm/ranks.hpp"
#include "kernels/lsm/ranks/mapped_mailbox.cuh"
#include "kernels/lsm/ranks/slices.hpp"

namespace vicinity::lsm {
namespace {

/// A run whose policy says why ranks exchange moves through the hosts.
class RunThroughHosts final : public Run {
 public:
  RunThroughHosts(std::unique_ptr<Run> run, Exchange reason) : run_(std::move(run)), reason_(reason) {}

  void reset(const Start& start) override { run_->reset(start); }
  bool execute(const Budget& budget) override { return run_->execute(budget); }
  [[nodiscard]] bool reached_target() const override { return run_->reached_target(); }
  [[nodiscard]] Times times() const override { return run_->times(); }
  [[nodiscard]] Outcome outcome() override { return run_->outcome(); }
  [[nodiscard]] Trace trace() const override { return run_->trace(); }
  [[nodiscard]] Work work() const override { return run_->work(); }
  [[nodiscard]] Policy policy() const override {
    Policy policy = run_->policy();
    policy[name_of(Exchange::polled_words)] = 0;
    policy[name_of(reason_)] = 1;
    return policy;
  }

 private:
  std::unique_ptr<Run> run_;
  Exchange reason_;
};

}  // namespace

std::unique_ptr<Run> prepare_slice_on_device(const Case& c, const Instance& instance, Team& team) {
  MappedMailbox& mailbox = MappedMailbox::of(team);
  if (mailbox.exchange() != Exchange::polled_words)
    return std::make_unique<RunThroughHosts>(prepare_reduction_of_rank(c, instance, team), mailbox.exchange());
  return with_neighborhood(c, instance, [&, task = task_of(c)](const auto& neighborhood) {
    return slice_run(neighborhood, task, {team, mailbox});
  });
}

}  // namespace vicinity::lsm
