#pragma once
// Walkers of the device on the host: teams of one thread or of several, and a problem as walkers see it.
#include <gtest/gtest.h>
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "kernels/lns/walker.hpp"
#include "tests/support/lns_twins.hpp"

namespace vicinity::lns {

/// One thread that does everything.
struct Alone {
  [[nodiscard]] static std::int32_t rank() { return 0; }
  [[nodiscard]] static std::int32_t size() { return 1; }
  static void sync() {}
  [[nodiscard]] static bool any(bool flag) { return flag; }
  [[nodiscard]] static std::int64_t sum(std::int64_t number) { return number; }
  [[nodiscard]] static std::int64_t least(std::int64_t number) { return number; }
  static void add(std::uint64_t* sum, std::uint64_t number) { *sum += number; }
  static void set_bits(std::uint32_t* word, std::uint32_t bits) { *word |= bits; }
};

/// Sets the word when it has met so many times.
struct Stopper : Alone {
  [[nodiscard]] bool any(bool flag) const {
    if (++*meetings == last) *word = 1;
    return flag;
  }
  std::int32_t last;
  std::int32_t *meetings, *word;
};

/// Of what all threads of a team bring, by way of `numbers`, [thread].
template <class T>
[[nodiscard]] std::int64_t sum_of_all(const T& team, std::vector<std::int64_t>& numbers, std::int64_t number) {
  numbers[static_cast<std::size_t>(team.rank())] = number;
  team.sync();
  std::uint64_t total = 0;
  for (const std::int64_t one : numbers) total += static_cast<std::uint64_t>(one);
  team.sync();
  return static_cast<std::int64_t>(total);
}

/// The same of the least.
template <class T>
[[nodiscard]] std::int64_t least_of_all(const T& team, std::vector<std::int64_t>& numbers, std::int64_t number) {
  numbers[static_cast<std::size_t>(team.rank())] = number;
  team.sync();
  const std::int64_t least = *std::min_element(numbers.begin(), numbers.end());
  team.sync();
  return least;
}

/// Threads of the host, as a block's.
class Together {
 public:
  /// What they share. Barriers are many and short: nobody sleeps.
  struct Meeting {
    explicit Meeting(std::int32_t threads) : numbers(static_cast<std::size_t>(threads)) {}
    std::atomic<std::size_t> arrived = 0, meetings = 0;
    std::vector<std::int64_t> numbers;  ///< [thread]
  };

  Together(Meeting& meeting, std::int32_t rank) : meeting_(&meeting), rank_(rank) {}

  [[nodiscard]] std::int32_t rank() const { return rank_; }
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(meeting_->numbers.size()); }
  void sync() const {
    const std::size_t before = meeting_->meetings;
    if (++meeting_->arrived < meeting_->numbers.size()) {
      while (meeting_->meetings == before) std::this_thread::yield();
      return;
    }
    meeting_->arrived = 0;
    ++meeting_->meetings;
  }
  [[nodiscard]] bool any(bool flag) const { return sum(flag ? 1 : 0) > 0; }
  [[nodiscard]] std::int64_t sum(std::int64_t number) const { return sum_of_all(*this, meeting_->numbers, number); }
  [[nodiscard]] std::int64_t least(std::int64_t number) const { return least_of_all(*this, meeting_->numbers, number); }
  static void add(std::uint64_t* sum, std::uint64_t number) { __atomic_fetch_add(sum, number, __ATOMIC_RELAXED); }
  static void set_bits(std::uint32_t* word, std::uint32_t bits) { __atomic_fetch_or(word, bits, __ATOMIC_RELAXED); }

  /// work(team) by so many threads; of one, by the caller.
  template <class Work>
  static void do_all(std::int32_t threads, const Work& work) {
    if (threads == 1) return work(Alone());
    Meeting meeting(threads);
    std::vector<std::jthread> all;
    for (std::int32_t rank = 0; rank < threads; ++rank) all.emplace_back([&, rank] { work(Together(meeting, rank)); });
  }

 private:
  Meeting* meeting_;
  std::int32_t rank_;
};

/// Threads that one thread of the host plays in turns: each goes to the next barrier, in an order that changes from barrier to barrier. As
/// many as a block has, and quick wherever the cores are busy.
class Played {
 public:
  /// Where a thread stands. swapcontext asks the kernel for the signal mask with every turn, which is most of its time: it begins threads,
  /// and turns them where AddressSanitizer must know of their stacks.
  struct Context {
    ucontext_t first{};
    jmp_buf now{};
    bool begun = false;

    void turn(Context& to) {
#ifdef __SANITIZE_ADDRESS__
      swapcontext(&first, &to.first);
#else
      begun = true;
      if (_setjmp(now) != 0) return;
      if (to.begun) _longjmp(to.now, 1);
      setcontext(&to.first);
#endif
    }
  };

  struct Stage {
    explicit Stage(std::int32_t threads)
        : contexts(static_cast<std::size_t>(threads)), done(contexts.size(), false), numbers(contexts.size()) {}
    std::vector<Context> contexts;
    std::vector<bool> done;
    std::vector<std::int64_t> numbers;  ///< [thread]
    Context director;
    std::size_t next = 0;  ///< to begin
    std::function<void(std::int32_t)> work;
  };

  Played(Stage& stage, std::int32_t rank) : stage_(&stage), rank_(rank) {}

  [[nodiscard]] std::int32_t rank() const { return rank_; }
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(stage_->numbers.size()); }
  void sync() const { stage_->contexts[static_cast<std::size_t>(rank_)].turn(stage_->director); }
  [[nodiscard]] bool any(bool flag) const { return sum(flag ? 1 : 0) > 0; }
  [[nodiscard]] std::int64_t sum(std::int64_t number) const { return sum_of_all(*this, stage_->numbers, number); }
  [[nodiscard]] std::int64_t least(std::int64_t number) const { return least_of_all(*this, stage_->numbers, number); }
  static void add(std::uint64_t* sum, std::uint64_t number) { *sum += number; }
  static void set_bits(std::uint32_t* word, std::uint32_t bits) { *word |= bits; }

  /// work(team) by so many threads, all of which come to the same barriers.
  template <class Work>
  static void do_all(std::int32_t threads, const Work& work) {
    Stage stage(threads);
    stage.work = [&](std::int32_t rank) { work(Played(stage, rank)); };
    on_stage = &stage;
    for (std::size_t k = 0; k < stage.contexts.size(); ++k) {
      if (stacks.size() == k) stacks.emplace_back(1 << 18);
      ucontext_t& context = stage.contexts[k].first;
      getcontext(&context);
      context.uc_stack.ss_sp = stacks[k].data();
      context.uc_stack.ss_size = stacks[k].size();
      makecontext(&context, enter, 0);
    }
    std::vector<std::size_t> order(stage.contexts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::uint64_t barrier = 0; !stage.done.front(); ++barrier) {
      for (const std::size_t k : order) {
        ASSERT_FALSE(stage.done[k]) << "threads come to different barriers";
        stage.next = k;
        stage.director.turn(stage.contexts[k]);
      }
      const auto shift = static_cast<std::ptrdiff_t>(random_bits(1, barrier, 0, 0) % order.size());
      std::rotate(order.begin(), order.begin() + shift, order.end());
      if (barrier % 2 != 0) std::reverse(order.begin(), order.end());
    }
    for (const bool done : stage.done) EXPECT_TRUE(done) << "threads come to different barriers";
  }

 private:
  static void enter() {
    Stage& stage = *on_stage;
    const std::size_t mine = stage.next;
    stage.work(static_cast<std::int32_t>(mine));
    stage.done[mine] = true;
    stage.contexts[mine].turn(stage.director);
  }
  static inline thread_local Stage* on_stage = nullptr;
  static inline thread_local std::vector<std::vector<unsigned char>> stacks;  ///< kept: they are many and large

  Stage* stage_;
  std::int32_t rank_;
};

/// A problem in the host's memory, at its first solution.
struct HostProblem {
  explicit HostProblem(const cp::Problem& of) : problem(of), root(cp::root_domains(*of.compiled().network)) {
    EXPECT_FALSE(root.failed);
    slots = problem.evaluation().slots();
    const auto found = first_solution(problem);
    std::copy(found.begin(), found.end(), slots.begin());
    view.free = problem.free_variables();
    for (std::int32_t k = 0; k < view.free.count; ++k) {
      const auto slot = static_cast<std::size_t>(view.free.variables[k].slot);
      variable.push_back(problem.compiled().variable_of[slot]);
      first.push_back(slots[slot]);
    }
    view.network_variable = variable.data();
    view.network = problem.compiled().network->view();
    view.network.upper = root.upper.data();
    view.network.mask = root.mask.data();
    view.root_lower = root.lower.data();
    view.sense = problem.sense();
  }
  HostProblem(const HostProblem&) = delete;
  HostProblem& operator=(const HostProblem&) = delete;

  [[nodiscard]] DomainMemory::Sizes domains() const {
    return {static_cast<std::size_t>(view.network.variables), static_cast<std::size_t>(view.network.mask_words),
            static_cast<std::size_t>(view.network.constraints)};
  }
  [[nodiscard]] WalkView walk(const Task& task) const {
    return {task.search, task.start, task.repetitions, task.starts, static_cast<std::int32_t>(released_of(task, problem))};
  }
  /// Global constraints are not propagated on the device.
  [[nodiscard]] bool on_the_device(const Task& task) const {
    const cp::NetworkView& network = view.network;
    return task.start != StartingPoint::cp ||
           std::all_of(network.kind, network.kind + network.constraints, [](cp::Kind kind) { return kind <= cp::Kind::element_var; });
  }
  /// Subset number i of a step.
  [[nodiscard]] std::vector<std::int32_t> subset(const Task& task, std::uint64_t seed, std::int64_t step, std::int64_t i) const {
    std::vector<std::int32_t> order(first.size());
    std::iota(order.begin(), order.end(), 0);
    std::int32_t* subset = order.data();
    const std::int64_t released = released_of(task, problem);
    release({seed, step, task.walkers() + i}, view.free.count, released, subset);
    order.resize(static_cast<std::size_t>(released));
    return order;
  }

  const cp::Problem& problem;
  cp::RootDomains root;
  std::vector<std::int32_t> variable, first, slots;  ///< first: [free variable]; slots: of the evaluation
  ProblemView view{};
};

/// A word that stops nobody.
inline constexpr std::int32_t go_on = 0;

/// Poisoned.
[[nodiscard]] inline std::vector<std::uint64_t> memory_of(std::size_t bytes) {
  return std::vector<std::uint64_t>((bytes + 7) / 8 + 1, 0xA5A5A5A5A5A5A5A5ull);
}

}  // namespace vicinity::lns
