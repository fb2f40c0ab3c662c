#pragma once
// Threads that wait for work spinning: handing out a piece costs about a microsecond, where a new parallel region costs several. And a
// judge of whether that pays.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <omp.h>

namespace vicinity::sa {

using Clock = std::chrono::steady_clock;

class Team {
 public:
  explicit Team(int threads) : threads_(threads) {}

  [[nodiscard]] int threads() const noexcept { return threads_; }

  /// Runs `lead` on the calling thread while the others wait for what it hands out by share(). Neither may throw.
  template <class Lead>
  void gather_for(const Lead& lead) {
    if (threads_ == 1) return lead();
    ending_ = false;
    const std::uint32_t first = round_.load();
#pragma omp parallel num_threads(threads_)
    {
      if (omp_get_thread_num() == 0) {
        present_ = omp_get_num_threads();
        lead();
        ending_ = true;
        next_round();
      } else {
        follow(omp_get_thread_num(), first);
      }
    }
    present_ = 1;
  }

  /// Calls work(k) for every k in [0, shares), each on a thread of its own as far as there are threads, and returns when all are done.
  void share(int shares, const std::function<void(int)>& work) {
    if (shares == 1 || present_ == 1) {
      for (int k = 0; k < shares; ++k) work(k);
      return;
    }
    work_ = &work;
    shares_ = shares;
    left_.store(present_ - 1, std::memory_order_relaxed);
    next_round();
    take_part(0);
    for (int spins = 0; left_.load(std::memory_order_acquire) != 0;)
      if (!pause(spins)) std::this_thread::yield();
  }

 private:
  void follow(int thread, std::uint32_t seen) {
    while (true) {
      for (int spins = 0; round_.load(std::memory_order_acquire) == seen;)
        if (!pause(spins)) round_.wait(seen, std::memory_order_acquire);  // asleep, out of everyone's way
      ++seen;
      if (ending_) return;
      take_part(thread);
      left_.fetch_sub(1, std::memory_order_release);
    }
  }
  void take_part(int thread) const {
    for (int k = thread; k < shares_; k += present_) (*work_)(k);
  }
  void next_round() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();  // a system call only if someone sleeps
  }
  /// False when it is time to stop spinning, after some 50 microseconds.
  static bool pause(int& spins) {
#if defined(__x86_64__)
    _mm_pause();
#endif
    return ++spins < 1024;
  }

  int threads_;
  int present_ = 1;
  bool ending_ = false;
  int shares_ = 0;
  const std::function<void(int)>* work_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> round_ = 0;
  alignas(64) std::atomic<int> left_ = 0;
};

/// Which way of doing a kind of work is faster on this machine now: alone or by the team. Measured while the search goes on; the loser is
/// tried again as often as costs a hundredth of the time. The clock decides who works, never what comes out.
class Contest {
 public:
  enum class Way : std::uint8_t { alone, team, unmeasured };  ///< unmeasured: alone, and nobody asks how long it took

  [[nodiscard]] bool team_wins() const noexcept { return team_.speed() > alone_.speed(); }
  [[nodiscard]] Way next() noexcept {
    if (alone_.seconds == 0) return Way::alone;
    if (team_.seconds == 0) return Way::team;
    --wait_;
    if (team_wins()) return wait_ > 0 ? Way::team : Way::alone;
    return wait_ > 1 ? Way::unmeasured : wait_ == 1 ? Way::alone : Way::team;
  }
  /// `units` of work, any number of them, took from `start` until now.
  void note(Way way, double units, Clock::time_point start) noexcept {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - start).count();
    Pace& pace = way == Way::team ? team_ : alone_;
    pace.units = pace.units / 2 + units;
    pace.seconds = pace.seconds / 2 + seconds;
    if (wait_ > 0) return;
    const double a_call = std::chrono::duration<double>(now - last_trial_).count() / static_cast<double>(interval_);
    const double lost = seconds - units / std::max(alone_.speed(), team_.speed());
    interval_ = static_cast<std::int64_t>(std::clamp(100 * lost / a_call, 64.0, 1e9));
    wait_ = interval_;
    last_trial_ = now;
  }

 private:
  struct Pace {
    double units = 0, seconds = 0;
    [[nodiscard]] double speed() const noexcept { return seconds > 0 ? units / seconds : 0; }
  };

  Pace alone_, team_;
  std::int64_t interval_ = 64, wait_ = 64;
  Clock::time_point last_trial_ = Clock::now();
};

}  // namespace vicinity::sa
