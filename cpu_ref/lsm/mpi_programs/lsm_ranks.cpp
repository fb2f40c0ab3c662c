// The ranks of mpi-openmp: tabu search and hill climbing on a neighbourhood shared among processes, with OpenMP threads in each (Luong,
// Melab and Talbi, section 6.8: the hybrid OpenMP/MPI version of the clusters and grids).
//
// Data: every rank has the instance, the whole solution and what the search keeps between moves; of the neighbourhood it evaluates a slice
// (core/methods/lsm/slice.hpp), with the tabu list of the moves in it.
//
// Phases of an iteration, on each rank:
//   1. The best of the slice, as cpu-openmp finds it (cpu_ref/lsm/openmp.cpp).
//   2. An all-reduce over 32 bytes: the best of all slices by local_search::better(), whole numbers only: the number of ranks and the order
//      of the reduction do not matter. Every rank takes the same move, and makes the same decision to go on or to end.
//
// Synchronisation: the all-reduce. What asks the ranks to pause or to stop reaches them through a thread of each that waits for it, and
// takes effect in the all-reduce, so that all end in the same iteration; a scan under way is left, as on one process.
//
// Cost: an iteration of cpu-openmp over the number of ranks, but what is kept between moves is updated whole by each (QAP: O(n^2); PPP:
// O(m n); TSP: the rows that a swap touches), plus the all-reduce, whose time with the waiting for others in it is recorded as
// communication.
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "cpu_ref/lsm/implementations.hpp"
#include "cpu_ref/lsm/rank_messages.hpp"

/// Open MPI keeps some memory to its end; what else the sanitizers find stays an error.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

namespace vicinity::lsm {
namespace {

using Json = nlohmann::json;

// --- requests ----------------------------------------------------------------------------------------------------------

/// How soon a call of execute() is to end. The larger one counts.
enum class Wish : std::int64_t { none, pause, stop };

/// What comes from outside: on rank 0 the lines of standard input, on the others what rank 0 passes on. A thread of each rank waits for it.
class Inbox {
 public:
  Inbox(int rank, int ranks) : rank_(rank), ranks_(ranks) {
    MPI_Comm_dup(MPI_COMM_WORLD, &wishes_from_rank_0_);
    thread_ = std::thread([this] { rank_ == 0 ? read_lines() : wait_for_wishes(); });
  }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  ~Inbox() {
    if (rank_ == 0) {
      thread_.join();  // at the end of its input
      pass_on({0, -1});
    } else {
      thread_.join();
    }
    MPI_Comm_free(&wishes_from_rank_0_);
  }

  /// The next request, the same on all ranks; they sleep meanwhile, so that what else is measured has the cores.
  Json next() {
    std::string text;
    if (rank_ == 0) {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [this] { return !requests_.empty(); });
      text = std::move(requests_.front());
      requests_.pop_front();
    }
    auto size = static_cast<std::int64_t>(text.size());
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(&size, 1, MPI_INT64_T, 0, MPI_COMM_WORLD, &request);
    auto pause = std::chrono::microseconds(50);
    for (int done = 0;; pause = std::min(2 * pause, std::chrono::microseconds(2000))) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done != 0) break;
      std::this_thread::sleep_for(pause);
    }
    text.resize(static_cast<std::size_t>(size));
    constexpr std::int64_t part = 1 << 30;  // counts are of 31 bits
    for (std::int64_t from = 0; from < size; from += part)
      MPI_Bcast(&text[static_cast<std::size_t>(from)], static_cast<int>(std::min(part, size - from)), MPI_CHAR, 0, MPI_COMM_WORLD);
    return Json::parse(text);
  }
  void begin(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    current_ = number;
    set();
  }
  [[nodiscard]] Wish wish() const { return wish_; }
  [[nodiscard]] const std::atomic<bool>* stop() const { return &stop_; }

 private:
  using Message = std::array<std::int64_t, 2>;  // wish, number of the call that it is for; -1: the end

  void set() {
    wish_ = current_ == stop_of_ ? Wish::stop : current_ == pause_of_ ? Wish::pause : Wish::none;
    stop_ = wish_ == Wish::stop;
  }
  void wish_for(Wish wish, std::int64_t number) {
    const std::lock_guard lock(mutex_);
    (wish == Wish::stop ? stop_of_ : pause_of_) = number;
    set();
  }
  void pass_on(const Message& message) const {
    for (int rank = 1; rank < ranks_; ++rank) MPI_Send(message.data(), 2, MPI_INT64_T, rank, 0, wishes_from_rank_0_);
  }
  void stop_call(std::int64_t number) {
    wish_for(Wish::stop, number);
    pass_on({static_cast<std::int64_t>(Wish::stop), number});
  }
  void read_lines() {
    for (std::string line; std::getline(std::cin, line);) {
      if (line.starts_with("pause ")) {
        wish_for(Wish::pause, std::stoll(line.substr(6)));  // rank 0 brings it into the all-reduce
      } else if (line.starts_with("stop ")) {
        stop_call(std::stoll(line.substr(5)));
      } else {
        push(std::move(line));
      }
    }
    push(R"({"do":"end"})");
    std::int64_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = current_;
    }
    stop_call(number);
  }
  void push(std::string line) {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(std::move(line));
    }
    arrived_.notify_one();
  }
  void wait_for_wishes() {
    for (Message message{};;) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(message.data(), 2, MPI_INT64_T, 0, 0, wishes_from_rank_0_, &request);
      for (int done = 0; done == 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (message[1] < 0) return;
      wish_for(static_cast<Wish>(message[0]), message[1]);
    }
  }

  int rank_, ranks_;
  MPI_Comm wishes_from_rank_0_ = MPI_COMM_NULL;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::string> requests_;
  std::int64_t current_ = 0, pause_of_ = -1, stop_of_ = -1;  ///< numbers of calls of execute()
  std::atomic<Wish> wish_ = Wish::none;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// --- the all-reduce ----------------------------------------------------------------------------------------------------

/// What a rank brings into the all-reduce, and what all take from it.
struct Offer {
  Wish wish = Wish::none;
  local_search::Choice choice;
};
using Words = std::array<std::int64_t, 4>;
Words words_of(const Offer& offer) {
  return {static_cast<std::int64_t>(offer.wish), offer.choice.value, offer.choice.move, offer.choice.forbidden ? 1 : 0};
}
Offer offer_of(const Words& words) { return {static_cast<Wish>(words[0]), {words[1], words[2], words[3] != 0}}; }

void combine(void* in, void* into, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const Words*>(in);
  auto* to = static_cast<Words*>(into);
  for (int k = 0; k < *count; ++k) {
    const Offer mine = offer_of(from[k]), other = offer_of(to[k]);
    to[k] = words_of({std::max(mine.wish, other.wish), better(mine.choice, other.choice) ? mine.choice : other.choice});
  }
}

class Exchange final : public local_search::Agreement {
 public:
  explicit Exchange(const Inbox& inbox) : inbox_(inbox) {
    MPI_Type_contiguous(static_cast<int>(std::tuple_size_v<Words>), MPI_INT64_T, &type_);
    MPI_Type_commit(&type_);
    MPI_Op_create(combine, 1, &operation_);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() override {
    MPI_Op_free(&operation_);
    MPI_Type_free(&type_);
  }

  void reset() { seconds_ = 0; }
  void begin() { paused_ = false; }
  [[nodiscard]] std::optional<local_search::Choice> best(const std::optional<local_search::Choice>& mine) override {
    const Wish wish = !mine ? Wish::stop : inbox_.wish() == Wish::pause ? Wish::pause : Wish::none;
    const Words sent = words_of({wish, mine.value_or(local_search::Choice())});
    Words received;
    const Stopwatch watch;
    MPI_Allreduce(sent.data(), received.data(), 1, type_, operation_, MPI_COMM_WORLD);
    seconds_ += watch.seconds();
    const Offer best = offer_of(received);
    if (best.wish == Wish::stop) return std::nullopt;
    if (best.wish == Wish::pause) paused_ = true;
    return best.choice;
  }
  [[nodiscard]] const std::atomic<bool>* stop() const override { return inbox_.stop(); }
  /// Set in the same iteration on all ranks.
  [[nodiscard]] const std::atomic<bool>& paused() const { return paused_; }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  const Inbox& inbox_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
  std::atomic<bool> paused_ = false;
  double seconds_ = 0;  ///< in the all-reduce since reset()
};

// --- a rank ------------------------------------------------------------------------------------------------------------

/// The cores of this rank: its share of those that its host's ranks may all use; where a launcher has bound them, those it gave it.
int take_cores() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(host, &rank);
  MPI_Comm_size(host, &ranks);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(ranks));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, host);
  MPI_Comm_free(&host);
  const int cores = CPU_COUNT(&mine);
  if (!std::all_of(all.begin(), all.end(), [&](const cpu_set_t& other) { return CPU_EQUAL(&mine, &other); })) return cores;
  if (cores < ranks) return 1;  // they take turns
  cpu_set_t share;
  CPU_ZERO(&share);
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &mine)) continue;
    if (seen >= cores * rank / ranks && seen < cores * (rank + 1) / ranks) CPU_SET(cpu, &share);
    ++seen;
  }
  sched_setaffinity(0, sizeof share, &share);  // threads inherit it
  return CPU_COUNT(&share);
}

class Rank {
 public:
  Rank(int rank, int ranks) : rank_(rank), slice_{rank, ranks}, cores_(take_cores()), inbox_(rank, ranks), exchange_(inbox_) {}

  void serve() {
    for (Json request = inbox_.next(); request.at("do") != "end"; request = inbox_.next()) {
      Json answer;
      try {
        answer = answer_to(request);
      } catch (const InputError& error) {  // the same on all ranks
        answer = {{"error", error.what()}};
      } catch (const DoesNotFit& error) {
        answer = {{"error", error.what()}, {"fits", false}};
      }
      if (rank_ == 0) std::cout << answer.dump() << std::endl;
    }
  }

 private:
  Json answer_to(const Json& request) {
    const std::string what = request.at("do");
    if (what == "prepare") return prepare(request);
    if (what == "reset") return reset(request);
    if (what == "execute") return execute(request);
    if (rank_ != 0) return {};
    if (what == "trace") return trace();
    return outcome();
  }
  Json prepare(const Json& request) {
    run_.reset();  // it refers to the instance
    const Case c = case_of(request);
    instance_ = instance_of(request);
    if (instance_->hash() != request.at("hash")) throw std::runtime_error("the instance is not the one that was sent");
    run_ = prepare_slice(c, *instance_, cores_, slice_, exchange_);
    return {{"policy", run_->policy()}};
  }
  Json reset(const Json& request) {
    std::optional<Solution> solution;
    if (request.contains("solution")) solution = request.at("solution").get<Solution>();
    exchange_.reset();
    run_->reset(Start(request.at("seed"), std::move(solution)));
    return Json::object();
  }
  Json execute(const Json& request) {
    Budget budget{.improvements = request.at("improvements")};
    if (request.contains("iterations")) budget.iterations = request.at("iterations").get<std::int64_t>();
    if (request.contains("target")) budget.target = request.at("target").get<std::int64_t>();
    if (request.at("limited")) budget.stop = &exchange_.paused();
    inbox_.begin(request.at("number"));
    exchange_.begin();
    MPI_Barrier(MPI_COMM_WORLD);  // the clock of rank 0 starts when all are there
    const bool more = run_->execute(budget);
    const double whole = run_->times()[Part::kernel]->seconds, communication = exchange_.seconds();  // since reset()
    return {{"more", more}, {"reached", run_->reached_target()}, {"kernel", whole - communication}, {"communication", communication}};
  }
  Json outcome() const {
    const Outcome outcome = run_->outcome();
    return {{"digest", outcome.digest},         {"objective", outcome.objective ? Json(*outcome.objective) : Json()},
            {"feasible", outcome.feasible},     {"complaint", outcome.complaint},
            {"iterations", outcome.iterations}, {"evaluations", outcome.evaluations},
            {"counters", outcome.counters},     {"solution", outcome.solution}};
  }
  Json trace() const {
    Json points = Json::array();
    for (const TracePoint& point : run_->trace()) points.push_back({point.seconds, point.iterations, *point.objective, point.digest});
    return {{"trace", points}};
  }

  int rank_;
  local_search::Slice slice_;
  int cores_;
  Inbox inbox_;
  Exchange exchange_;
  std::unique_ptr<Instance> instance_;
  std::unique_ptr<Run> run_;
};

}  // namespace
}  // namespace vicinity::lsm

int main(int argc, char** argv) {
  int threads = 0, rank = 0, ranks = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    if (threads < MPI_THREAD_MULTIPLE) throw std::runtime_error("this MPI has no MPI_THREAD_MULTIPLE");
    vicinity::lsm::Rank(rank, ranks).serve();
  } catch (const std::exception& error) {  // on this rank alone, it may be
    std::cerr << "lsm-ranks: rank " << rank << ": " << error.what() << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Finalize();
  return 0;
}
