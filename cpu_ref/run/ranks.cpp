#include "cpu_ref/run/ranks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <omp.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "cpu_ref/run/rank_messages.hpp"

extern char** environ;

namespace vicinity {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Folder of this program.
fs::path own_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

std::vector<std::string> launcher() {
  const char* given = std::getenv("VICINITY_MPIEXEC");
  std::istringstream words(given != nullptr ? given : VICINITY_MPIEXEC);
  std::vector<std::string> command;
  for (std::string word; words >> word;) command.push_back(word);
  return command;
}

bool found(const std::string& program) {
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

/// The environment of the launcher: this program's without its binding of threads, and what lets Open MPI start as root and more ranks than
/// cores, and leave binding to the ranks, whose threads wait passively: ranks may share cores. Other launchers do not look at it. What the
/// user has set stays.
std::vector<std::string> rank_environment() {
  constexpr std::array left_out{"OMP_PROC_BIND=", "OMP_PLACES=", "OMP_NUM_THREADS=", "GOMP_CPU_AFFINITY="};
  constexpr std::array added{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
                             "OMPI_MCA_hwloc_base_binding_policy=none", "OMP_WAIT_POLICY=passive"};
  std::vector<std::string> all{"OMP_PROC_BIND=false"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    if (std::none_of(left_out.begin(), left_out.end(), [&](const char* name) { return text.starts_with(name); })) all.emplace_back(text);
  }
  for (const std::string text : added)
    if (std::getenv(text.substr(0, text.find('=')).c_str()) == nullptr) all.push_back(text);
  return all;
}

/// The processors that threads of this program run on: the first is bound to one of them.
cpu_set_t usable_set() {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int place = 0; omp_get_proc_bind() != omp_proc_bind_false && place < omp_get_num_places(); ++place) {
    std::vector<int> ids(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, ids.data());
    for (const int id : ids) CPU_SET(id, &set);
  }
  if (CPU_COUNT(&set) == 0) sched_getaffinity(0, sizeof set, &set);
  return set;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// The ranks of a program, under a launcher of their own.
class Team {
 public:
  Team(std::string program, int ranks) : program_(std::move(program)), ranks_(ranks), errors_(memfd_create("launcher", MFD_CLOEXEC)) {
    std::array<int, 2> pair{-1, -1};
    if (errors_ < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
      throw std::runtime_error(fmt::format("{}: no room for a connection: {}", program_, std::strerror(errno)));
    channel_ = pair[0];
    start(pair[1]);
    close(pair[1]);
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() {
    if (child_ > 0) end();
    close(channel_);
    close(errors_);
  }

  [[nodiscard]] bool is(const std::string& program, int ranks) const { return child_ > 0 && program == program_ && ranks == ranks_; }

  void send(const std::string& line) {
    const std::string text = line + "\n";
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t count = ::send(channel_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail();
      sent += static_cast<std::size_t>(count);
    }
  }
  /// The next answer; none within so many milliseconds (-1: wait for it). Throws what the ranks say is wrong.
  [[nodiscard]] std::optional<Json> answer(int milliseconds = -1) {
    for (std::size_t end = received_.find('\n'); end == std::string::npos; end = received_.find('\n')) {
      pollfd ready{channel_, POLLIN, 0};
      const int count = poll(&ready, 1, milliseconds);
      if (count == 0 || (count < 0 && errno == EINTR && milliseconds >= 0)) return std::nullopt;
      if (count < 0) continue;
      std::array<char, 65536> buffer;
      const ssize_t bytes = read(channel_, buffer.data(), buffer.size());
      if (bytes <= 0) fail();
      received_.append(buffer.data(), static_cast<std::size_t>(bytes));
    }
    const std::size_t end = received_.find('\n');
    Json answer = Json::parse(received_.substr(0, end), nullptr, false);
    received_.erase(0, end + 1);
    if (answer.is_discarded()) fail();
    if (answer.contains("error")) {
      const auto what = answer["error"].get<std::string>();
      if (!answer.value("fits", true)) throw DoesNotFit(what);
      throw InputError(what);
    }
    return answer;
  }
  Json ask(const Json& request) {
    send(request.dump());
    return *answer();
  }

 private:
  void start(int other_end) {
    std::vector<std::string> command = launcher(), environment = rank_environment();
    command.insert(command.end(), {"-n", std::to_string(ranks_), (own_folder() / program_).string()});
    std::vector<char*> arguments = pointers(command), variables = pointers(environment);
    const cpu_set_t processors = usable_set();
    const pid_t parent = getpid();
    child_ = fork();
    if (child_ < 0) throw std::runtime_error(fmt::format("{}: cannot start {}: {}", program_, command.front(), std::strerror(errno)));
    if (child_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    setsid();  // Ctrl-C is this program's: it asks the ranks to stop, and they say what they have
    sched_setaffinity(0, sizeof processors, &processors);
    dup2(other_end, STDIN_FILENO);
    dup2(other_end, STDOUT_FILENO);
    dup2(errors_, STDERR_FILENO);
    execvpe(arguments.front(), arguments.data(), variables.data());
    _exit(127);
  }
  /// Waits for the launcher, which ends when its ranks do; after a while ends it. Returns its status.
  int end() {
    shutdown(channel_, SHUT_WR);
    constexpr int patience = 500;  // of 10 ms
    int status = 0;
    for (int waited = 0; waitpid(child_, &status, WNOHANG) == 0; ++waited) {
      if (waited == patience) kill(-child_, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    child_ = 0;
    return status;
  }
  [[noreturn]] void fail() {
    const int status = end();
    const std::string how =
        WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status)) : fmt::format("exit code {}", WEXITSTATUS(status));
    const std::string said = complaint();
    throw std::runtime_error(fmt::format("{}: its {} ranks have ended ({}){}", program_, ranks_, how, said.empty() ? "" : ": " + said));
  }
  /// What the ranks or their launcher have said of it: the line that names a rank, or else the first with words.
  [[nodiscard]] std::string complaint() const {
    std::string text(static_cast<std::size_t>(std::max<off_t>(0, lseek(errors_, 0, SEEK_END))), ' ');
    if (pread(errors_, text.data(), text.size(), 0) < 0) return "";
    std::istringstream lines(text);
    std::string first;
    for (std::string line; std::getline(lines, line);) {
      if (line.find("noticed that process rank") != std::string::npos || line.starts_with(program_)) return line;
      if (first.empty() && line.find_first_not_of("- ") != std::string::npos) first = line;
    }
    return first;
  }

  std::string program_;
  int ranks_;
  int errors_;  ///< a file in memory: what the launcher says on standard error
  int channel_ = -1;
  pid_t child_ = 0;
  std::string received_;
};

/// Starting ranks takes longer than many a search: the team of the last run waits for the next.
std::shared_ptr<Team>& idle_team() {
  static std::shared_ptr<Team> team;
  return team;
}

class RanksRun final : public Run {
 public:
  RanksRun(std::shared_ptr<Team> team, const Json& work) : team_(std::move(team)) { policy_ = team_->ask(work).at("policy").get<Policy>(); }
  ~RanksRun() override { idle_team() = team_; }

  void reset(const Start& start) override {
    Json request{{"do", "reset"}, {"seed", start.seed}};
    if (start.solution) request["solution"] = *start.solution;
    team_->ask(request);
    times_ = {};
    reached_ = false;
  }
  bool execute(const Budget& budget) override {
    const Stopwatch watch;
    const bool waits = budget.stop != nullptr || budget.seconds.has_value();
    Json request{{"do", "execute"}, {"number", ++number_}, {"improvements", budget.improvements}, {"limited", waits}};
    if (budget.iterations) request["iterations"] = *budget.iterations;
    if (budget.target) request["target"] = *budget.target;
    team_->send(request.dump());
    std::optional<Json> answer;
    constexpr int look = 5;  // ms between looks at clock and flag
    for (bool stopped = false, paused = false; !(answer = team_->answer(waits ? look : -1));) {
      if (!stopped && budget.stop != nullptr && *budget.stop) {
        stopped = true;
        team_->send(fmt::format("stop {}", number_));
      } else if (!paused && budget.seconds && watch.seconds() >= *budget.seconds) {
        paused = true;
        team_->send(fmt::format("pause {}", number_));
      }
    }
    times_ = {{Part::kernel, {answer->at("kernel"), TimeSource::host}},
              {Part::communication, {answer->at("communication"), TimeSource::host}}};
    reached_ = answer->at("reached");
    return answer->at("more");
  }
  [[nodiscard]] bool reached_target() const override { return reached_; }
  [[nodiscard]] Times times() const override { return times_; }
  [[nodiscard]] Outcome outcome() override {
    const Json answer = team_->ask({{"do", "outcome"}});
    Outcome outcome;
    outcome.digest = answer.at("digest");
    if (!answer.at("objective").is_null()) outcome.objective = answer.at("objective").get<std::int64_t>();
    outcome.feasible = answer.at("feasible");
    outcome.complaint = answer.at("complaint");
    outcome.iterations = answer.at("iterations");
    outcome.evaluations = answer.at("evaluations");
    outcome.counters = answer.at("counters").get<std::map<std::string, std::int64_t>>();
    outcome.solution = answer.at("solution").get<Solution>();
    policy_ = answer.at("policy").get<Policy>();  // some is chosen on the way
    return outcome;
  }
  [[nodiscard]] Trace trace() const override {
    Trace trace;
    const Json answer = team_->ask({{"do", "trace"}});
    for (const Json& point : answer.at("trace"))
      trace.push_back({.seconds = point.at(0),
                       .iterations = point.at(1),
                       .objective = point.at(2).is_null() ? Objective::infeasible() : Objective(point.at(2).get<std::int64_t>()),
                       .digest = point.at(3)});
    return trace;
  }
  [[nodiscard]] Policy policy() const override { return policy_; }

 private:
  std::shared_ptr<Team> team_;
  Policy policy_;
  Times times_;
  std::int64_t number_ = 0;  ///< of the call of execute()
  bool reached_ = false;
};

}  // namespace

Implementation over_ranks(const std::string& program, const std::string& name, Backend backend, const std::string& summary,
                          const std::string& limit, const std::function<void(const Case&)>& check) {
  return {.name = name,
          .backend = backend,
          .summary = summary,
          .limit = limit,
          .prepare =
              [=](const Case& c, const Instance& instance) {
                check(c);
                return prepare_on_ranks(program, name, c, instance);
              },
          .absence = absence_of_ranks(program),
          .over_ranks = true};
}

std::string absence_of_ranks(const std::string& program) {
  if (!found((own_folder() / program).string())) return "built without MPI: install openmpi-bin and libopenmpi-dev, and build again";
  const std::vector<std::string> command = launcher();
  if (command.empty() || !found(command.front()))
    return fmt::format("no launcher of ranks: {} is not here; VICINITY_MPIEXEC names another",
                       command.empty() ? "mpirun" : command.front());
  return "";
}

std::unique_ptr<Run> prepare_on_ranks(const std::string& program, const std::string& implementation, const Case& c,
                                      const Instance& instance) {
  constexpr std::int64_t most_ranks = 4096;
  const auto ranks = static_cast<int>(c.integer_or("ranks", 2, 1, most_ranks));
  Json request = rank_message(c, instance);
  request["do"] = "prepare";
  request["implementation"] = implementation;
  std::shared_ptr<Team> team = std::exchange(idle_team(), nullptr);
  if (!team || !team->is(program, ranks)) {
    team.reset();  // first, so that two teams never share the cores
    team = std::make_shared<Team>(program, ranks);
  }
  return std::make_unique<RanksRun>(std::move(team), request);
}

}  // namespace vicinity
