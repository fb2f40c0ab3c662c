// The loop of a rank: requests come to rank 0, which passes them on; all ranks do them together; rank 0 answers.
//
// Two ways to share work. In step: all ranks work on one search, and an all-reduce in each iteration (Team::least) gives each the same best
// move, so that all make the same decisions, and end together. Independent searches: each rank has some of them, and looks at the wishes to
// end at the end of every slice of time; results are gathered when they are judged.
//
// Synchronisation: the all-reduces, and one after each request, in which ranks agree on what went wrong and on what is left. A thread of
// each rank waits for wishes to pause or to stop. In step they take effect in the all-reduce, so that all end in the same iteration; work
// under way is left where it looks at the flag.
//
// Cost: an all-reduce of 32 bytes an iteration in step. All-reduces, with the waiting for others in them, are recorded as communication.
#include "cpu_ref/run/mpi_programs/rank_loop.hpp"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <iostream>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "core/util/error.hpp"
#include "cpu_ref/run/rank_messages.hpp"

/// Open MPI keeps some memory to its end; what else the sanitizers find stays an error.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

namespace vicinity {
namespace {

using Json = nlohmann::json;

// --- requests ----------------------------------------------------------------------------------------------------------

/// How soon a call of execute() is to end. The larger one counts.
enum class Wish : std::int64_t { none, pause, stop };

/// What comes from outside: on rank 0 the lines of standard input, on all the wishes of other ranks. Threads wait for them.
class Inbox {
 public:
  Inbox(int rank, int ranks) : rank_(rank), ranks_(ranks) {
    MPI_Comm_dup(MPI_COMM_WORLD, &wishes_of_others_);
    waiter_ = std::thread([this] { wait_for_wishes(); });
    if (rank_ == 0) reader_ = std::thread([this] { read_lines(); });
  }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  ~Inbox() {
    if (rank_ == 0) reader_.join();  // at the end of its input
    pass_on({0, end_of_wishes});
    waiter_.join();
    MPI_Comm_free(&wishes_of_others_);
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
  /// Asks all other ranks to pause the call under way.
  void pause_others() { pass_on({static_cast<std::int64_t>(Wish::pause), current_}); }
  [[nodiscard]] const std::atomic<bool>* stop() const { return &stop_; }

 private:
  using Message = std::array<std::int64_t, 2>;  // wish, number of the call that it is for
  static constexpr std::int64_t end_of_wishes = -1;

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
    for (int rank = 0; rank < ranks_; ++rank)
      if (rank != rank_) MPI_Send(message.data(), 2, MPI_INT64_T, rank, 0, wishes_of_others_);
  }
  /// Of all ranks.
  void wish_for_all(Wish wish, std::int64_t number) {
    wish_for(wish, number);
    pass_on({static_cast<std::int64_t>(wish), number});
  }
  void read_lines() {
    for (std::string line; std::getline(std::cin, line);) {
      if (line.starts_with("pause ")) {
        wish_for_all(Wish::pause, std::stoll(line.substr(6)));
      } else if (line.starts_with("stop ")) {
        wish_for_all(Wish::stop, std::stoll(line.substr(5)));
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
    wish_for_all(Wish::stop, number);
  }
  void push(std::string line) {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(std::move(line));
    }
    arrived_.notify_one();
  }
  void wait_for_wishes() {
    for (int others = ranks_ - 1; others > 0;) {
      Message message{};
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(message.data(), 2, MPI_INT64_T, MPI_ANY_SOURCE, 0, wishes_of_others_, &request);
      for (int done = 0; done == 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (message[1] == end_of_wishes)
        --others;
      else
        wish_for(static_cast<Wish>(message[0]), message[1]);
    }
  }

  int rank_, ranks_;
  MPI_Comm wishes_of_others_ = MPI_COMM_NULL;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::string> requests_;
  std::int64_t current_ = 0, pause_of_ = -1, stop_of_ = -1;  ///< numbers of calls of execute()
  std::atomic<Wish> wish_ = Wish::none;
  std::atomic<bool> stop_ = false;
  std::thread waiter_, reader_;
};

/// This rank among those of its host.
struct Place {
  int rank = 0, size = 1;
  int cores = 1;
};

/// Its cores are its share of those that its host's ranks may all use; where a launcher has bound them, those it gave it.
Place take_place() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  Place place;
  MPI_Comm_rank(host, &place.rank);
  MPI_Comm_size(host, &place.size);
  const int rank = place.rank, ranks = place.size;
  std::vector<cpu_set_t> all(static_cast<std::size_t>(ranks));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, host);
  MPI_Comm_free(&host);
  const int cores = place.cores = CPU_COUNT(&mine);
  if (!std::all_of(all.begin(), all.end(), [&](const cpu_set_t& other) { return CPU_EQUAL(&mine, &other); })) return place;
  place.cores = std::max(1, cores * (rank + 1) / ranks - cores * rank / ranks);
  if (cores < ranks) return place;  // they take turns
  cpu_set_t share;
  CPU_ZERO(&share);
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &mine)) continue;
    if (seen >= cores * rank / ranks && seen < cores * (rank + 1) / ranks) CPU_SET(cpu, &share);
    ++seen;
  }
  sched_setaffinity(0, sizeof share, &share);  // threads inherit it
  return place;
}

// --- what ranks tell each other ----------------------------------------------------------------------------------------

/// What a rank brings into the all-reduce, and what all take from it: the larger wish, and the least offer.
using Words = std::array<std::int64_t, 4>;

void combine(void* in, void* into, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const Words*>(in);
  auto* to = static_cast<Words*>(into);
  for (int k = 0; k < *count; ++k) {
    const std::int64_t wish = std::max(from[k][0], to[k][0]);
    if (std::lexicographical_compare(from[k].begin() + 1, from[k].end(), to[k].begin() + 1, to[k].end())) to[k] = from[k];
    to[k][0] = wish;
  }
}

class WorldTeam final : public Team {
 public:
  WorldTeam(int rank, int size, const Inbox& inbox) : rank_(rank), size_(size), place_(take_place()), inbox_(inbox) {
    MPI_Type_contiguous(static_cast<int>(std::tuple_size_v<Words>), MPI_INT64_T, &type_);
    MPI_Type_commit(&type_);
    MPI_Op_create(combine, 1, &operation_);
  }
  WorldTeam(const WorldTeam&) = delete;
  WorldTeam& operator=(const WorldTeam&) = delete;
  ~WorldTeam() override {
    MPI_Op_free(&operation_);
    MPI_Type_free(&type_);
  }

  [[nodiscard]] std::int32_t rank() const override { return rank_; }
  [[nodiscard]] std::int32_t size() const override { return size_; }
  [[nodiscard]] std::int32_t host_rank() const override { return place_.rank; }
  [[nodiscard]] std::int32_t host_size() const override { return place_.size; }
  [[nodiscard]] std::int32_t cores() const override { return place_.cores; }
  [[nodiscard]] const std::atomic<bool>* stop() const override { return inbox_.stop(); }

  [[nodiscard]] std::optional<Offer> least(const std::optional<Offer>& mine) override {
    const Wish wish = !mine ? Wish::stop : inbox_.wish() == Wish::pause ? Wish::pause : Wish::none;
    Words sent{static_cast<std::int64_t>(wish)}, received{};
    if (mine) std::copy(mine->begin(), mine->end(), sent.begin() + 1);
    const Stopwatch watch;
    MPI_Allreduce(sent.data(), received.data(), 1, type_, operation_, MPI_COMM_WORLD);
    seconds_ += watch.seconds();
    if (received[0] == static_cast<std::int64_t>(Wish::stop)) return std::nullopt;
    if (received[0] == static_cast<std::int64_t>(Wish::pause)) paused_ = true;
    return Offer{received[1], received[2], received[3]};
  }
  [[nodiscard]] std::vector<std::vector<std::int64_t>> gathered(const std::vector<std::int64_t>& mine) override {
    const Stopwatch watch;
    const auto ranks = static_cast<std::size_t>(size_);
    const int own = static_cast<int>(mine.size());
    std::vector<int> sizes(ranks), places(ranks + 1);
    MPI_Allgather(&own, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (std::size_t r = 0; r < ranks; ++r) places[r + 1] = places[r] + sizes[r];
    std::vector<std::int64_t> all(static_cast<std::size_t>(places.back()));
    MPI_Allgatherv(mine.data(), own, MPI_INT64_T, all.data(), sizes.data(), places.data(), MPI_INT64_T, MPI_COMM_WORLD);
    std::vector<std::vector<std::int64_t>> of_ranks;
    for (std::size_t r = 0; r < ranks; ++r) of_ranks.emplace_back(all.begin() + places[r], all.begin() + places[r + 1]);
    seconds_ += watch.seconds();
    return of_ranks;
  }

  void begin() { paused_ = false; }
  /// The largest of each over all ranks.
  [[nodiscard]] std::array<std::int64_t, 3> most(const std::array<std::int64_t, 3>& mine) {
    std::array<std::int64_t, 3> all{};
    const Stopwatch watch;
    MPI_Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    seconds_ += watch.seconds();
    return all;
  }
  /// Raised in the same least() on all ranks.
  [[nodiscard]] const std::atomic<bool>& paused() const { return paused_; }
  /// In what ranks tell each other, waiting included.
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  int rank_, size_;
  Place place_;
  const Inbox& inbox_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
  std::atomic<bool> paused_ = false;
  double seconds_ = 0;
};

// --- a rank ------------------------------------------------------------------------------------------------------------

/// Searches first .. first + count - 1 of all are a rank's. Rank 0 has the first.
struct Share {
  std::int64_t first = 0, count = 0;
};
Share share_of(std::int64_t searches, std::int64_t rank, std::int64_t ranks) {
  const auto first = [&](std::int64_t r) { return (searches * r + ranks - 1) / ranks; };
  return {first(rank), first(rank + 1) - first(rank)};
}

class Rank {
 public:
  Rank(int rank, int ranks, const std::vector<RankPart>& parts) : parts_(parts), inbox_(rank, ranks), team_(rank, ranks, inbox_) {}

  void serve() {
    for (Json request = inbox_.next(); request.at("do") != "end"; request = inbox_.next()) {
      Fault fault;
      try {
        begin(request);
      } catch (const InputError& error) {
        fault = {error.what(), true};
      } catch (const DoesNotFit& error) {
        if (request.at("do") == "execute" && in_step()) throw;  // others wait for it in an all-reduce
        fault = {error.what(), false};
      } catch (const std::bad_alloc&) {
        if (request.at("do") == "execute" && in_step()) throw;
        fault = {"not enough host memory", false};
      }
      Json answer;
      if (agree(fault)) {
        run_.reset();
        answer = {{"error", fault.what}, {"fits", fault.is_input}};
      } else {
        answer = end(request);
      }
      if (team_.rank() == 0) std::cout << answer.dump() << std::endl;
    }
  }

 private:
  /// What may go wrong on one rank alone.
  struct Fault {
    std::string what;
    bool is_input = true;  ///< else it does not fit
  };

  /// What each rank does by itself, or in step.
  void begin(const Json& request) {
    const std::string what = request.at("do");
    more_ = reached_ = false;
    if (what == "prepare") prepare(request);
    if (what == "reset") reset(request);
    if (what == "execute") execute(request);
  }
  /// Has any rank a fault? Then that of the first which has one. What is left to do, and what was reached, becomes that of any rank.
  bool agree(Fault& fault) {
    const std::int64_t size = team_.size();
    const auto [faulty, more, reached] = team_.most({fault.what.empty() ? 0 : size - team_.rank(), more_ ? 1 : 0, reached_ ? 1 : 0});
    more_ = more > 0;
    reached_ = reached > 0;
    if (faulty == 0) return false;
    std::vector<std::int64_t> mine{fault.is_input ? 1 : 0};
    mine.insert(mine.end(), fault.what.begin(), fault.what.end());
    const std::vector<std::int64_t> first = team_.gathered(mine)[static_cast<std::size_t>(size - faulty)];
    fault = {std::string(first.begin() + 1, first.end()), first.front() != 0};
    return true;
  }
  Json end(const Json& request) {
    const std::string what = request.at("do");
    if (what == "prepare") return {{"policy", policy()}};
    if (what == "execute") return executed();
    if (what == "outcome") return outcome();
    if (what == "trace" && team_.rank() == 0) return trace();
    return Json::object();
  }

  void prepare(const Json& request) {
    run_.reset();  // it refers to the instance
    const std::string name = request.at("implementation");
    const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const RankPart& one) { return one.implementation == name; });
    if (part == parts_.end()) throw std::runtime_error("no ranks of " + name);
    part_ = &*part;
    Case c = case_of(request);
    share_ = {};
    if (!in_step()) {
      constexpr std::int64_t most = std::int64_t{1} << 30;
      share_ = share_of(c.integer_or(part_->searches, 1, 1, most), team_.rank(), team_.size());
      c.values[part_->searches] = share_.count;
    }
    instance_ = instance_of(request);
    devices_ = part_->take_device ? part_->take_device(team_.host_rank()) : 0;
    if (devices_ > 0 && devices_ < team_.host_size() && c.name_or("gpus", "shared", {"shared", "own"}) == "own")
      throw DoesNotFit(std::to_string(team_.host_size()) + " ranks on a host with " + std::to_string(devices_) + " GPUs, and gpus = own");
    if (in_step() || share_.count > 0) run_ = part_->prepare(c, *instance_, team_);
  }
  void reset(const Json& request) {
    std::optional<Solution> solution;
    if (request.contains("solution")) solution = request.at("solution").get<Solution>();
    seconds_ = communication_ = 0;
    const std::uint64_t seed = request.at("seed").get<std::uint64_t>() + static_cast<std::uint64_t>(share_.first);
    if (run_) run_->reset(Start(seed, std::move(solution)));
  }
  void execute(const Json& request) {
    Budget budget{.improvements = request.at("improvements")};
    if (request.contains("iterations") && has_first()) budget.iterations = request.at("iterations").get<std::int64_t>();
    if (request.contains("target")) budget.target = request.at("target").get<std::int64_t>();
    const bool limited = request.at("limited") || request.contains("iterations") || budget.target;
    inbox_.begin(request.at("number"));
    team_.begin();
    MPI_Barrier(MPI_COMM_WORLD);  // the clock of rank 0 starts when all are there
    watch_ = {};
    communication_before_ = team_.seconds();
    if (in_step()) {
      if (limited) budget.stop = &team_.paused();
      more_ = run_->execute(budget);
      reached_ = run_->reached_target();
    } else if (run_) {
      execute_alone(budget, limited);
    }
  }
  /// By itself, in slices of time, so that it sees what others ask for.
  void execute_alone(Budget budget, bool limited) {
    constexpr double slice = 0.05;
    if (limited) {
      budget.seconds = slice;
      budget.stop = team_.stop();
    }
    for (bool goes_on = true; goes_on;) {
      const Stopwatch watch;
      more_ = run_->execute(budget);
      reached_ = run_->reached_target();
      goes_on = limited && more_ && !reached_ && inbox_.wish() == Wish::none && watch.seconds() >= slice;
    }
    if (limited && more_ && inbox_.wish() == Wish::none) inbox_.pause_others();  // at the target, or the limit of iterations
  }

  [[nodiscard]] Policy policy() const {
    Policy policy = run_ ? run_->policy() : Policy();
    policy["ranks"] = team_.size();
    if (devices_ > 0) policy["devices"] = std::min<std::int64_t>(devices_, team_.host_size());
    return policy;
  }
  [[nodiscard]] Json executed() {
    seconds_ += watch_.seconds();
    communication_ += team_.seconds() - communication_before_;
    return {{"more", more_}, {"reached", reached_}, {"kernel", seconds_ - communication_}, {"communication", communication_}};
  }
  Json outcome() {
    if (in_step() && team_.rank() != 0) return {};
    if (!run_) {
      static_cast<void>(team_.gathered({}));  // others gather what they have
      return {};
    }
    const Outcome outcome = run_->outcome();
    return {{"digest", outcome.digest},
            {"objective", outcome.objective ? Json(*outcome.objective) : Json()},
            {"feasible", outcome.feasible},
            {"complaint", outcome.complaint},
            {"iterations", outcome.iterations},
            {"evaluations", outcome.evaluations},
            {"counters", outcome.counters},
            {"solution", outcome.solution},
            {"policy", policy()}};
  }
  Json trace() const {
    Json points = Json::array();
    for (const TracePoint& point : run_->trace())
      points.push_back({point.seconds, point.iterations, point.objective ? Json(*point.objective) : Json(), point.digest});
    return {{"trace", points}};
  }
  [[nodiscard]] bool in_step() const { return part_->searches.empty(); }
  /// Has this rank the run's first search?
  [[nodiscard]] bool has_first() const { return in_step() || share_.first == 0; }

  const std::vector<RankPart>& parts_;
  Inbox inbox_;
  WorldTeam team_;
  const RankPart* part_ = nullptr;
  Share share_;
  std::int64_t devices_ = 0;  ///< of this host
  std::unique_ptr<Instance> instance_;
  std::unique_ptr<Run> run_;  ///< nothing where this rank has no search
  Stopwatch watch_;
  double seconds_ = 0, communication_ = 0;  ///< of all calls of execute() since reset()
  double communication_before_ = 0;         ///< the team's, before the call under way
  bool more_ = false, reached_ = false;
};

}  // namespace

int serve_as_rank(int argc, char** argv, const std::string& program, const std::vector<RankPart>& parts) {
  int threads = 0, rank = 0, ranks = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::optional<Rank> self;  // outlives the catch: its threads end with the input, which may stay open
  try {
    if (threads < MPI_THREAD_MULTIPLE) throw std::runtime_error("this MPI has no MPI_THREAD_MULTIPLE");
    self.emplace(rank, ranks, parts).serve();
  } catch (const std::exception& error) {  // on this rank alone, it may be
    std::cerr << program << ": rank " << rank << ": " << error.what() << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  self.reset();
  MPI_Finalize();
  return 0;
}

}  // namespace vicinity
