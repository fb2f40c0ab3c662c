#pragma once
// Threads of the host that wait for work between generations: to make new ones would take longer than most of what they do.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace vicinity::alns::hybrid::block {

class Workers {
 public:
  /// As many as there are cores, the caller among them.
  Workers() {
    for (unsigned t = 1; t < std::thread::hardware_concurrency(); ++t) threads_.emplace_back([this] { serve(); });
  }
  ~Workers() {
    work_ = nullptr;
    begin();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// f(i) for i of [0, count), dealt to all. It throws nothing.
  void each(std::size_t count, const std::function<void(std::size_t)>& f) {
    std::atomic<std::size_t> next = 0;
    work_ = [&] {
      for (std::size_t i = next++; i < count; i = next++) f(i);
    };
    busy_ = threads_.size();
    begin();
    work_();
    for (int tries = 0; tries < most_tries && busy_ > 0; ++tries) std::this_thread::yield();
    for (std::size_t busy = busy_; busy > 0; busy = busy_) busy_.wait(busy);
  }

 private:
  /// A merge has several parts, one soon after the other: before they sleep, which takes long to end, threads look that often for the next.
  static constexpr int most_tries = 200;

  void begin() {
    ++round_;
    round_.notify_all();
  }
  void serve() {
    for (std::uint64_t seen = 0;; ++seen) {
      for (int tries = 0; tries < most_tries && round_ == seen; ++tries) std::this_thread::yield();
      round_.wait(seen);
      if (!work_) return;
      work_();
      if (--busy_ == 0) busy_.notify_all();
    }
  }

  std::function<void()> work_;  ///< none: all go home
  std::atomic<std::uint64_t> round_ = 0;
  std::atomic<std::size_t> busy_ = 0;
  std::vector<std::jthread> threads_;  // last: they end before the others go
};

}  // namespace vicinity::alns::hybrid::block
