#include "harness/cli/cli.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <system_error>

#include "build_info.hpp"
#include "core/util/error.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/completion.hpp"
#include "harness/cli/experiments.hpp"
#include "harness/cli/interrupt.hpp"
#include "harness/cli/text.hpp"
#include "harness/describe/descriptor.hpp"
#include "harness/measure/threads.hpp"
#include "systems/file_extras.hpp"

namespace vicinity {
namespace {

constexpr char general_footer[] = R"(Examples:
  vicinity list                                   what there is to run
  vicinity run SYSTEM/NAME                        the quick profile: minutes
  vicinity run SYSTEM/NAME --profile full         the paper's own protocol
  vicinity verify --random 200                    do all implementations agree?
  vicinity solve SYSTEM --instance mine.dat       a good solution of your own instance
  source <(vicinity completion bash)              the Tab key knows commands, options and names

Exit codes:
  0    done
  1    a check failed: an implementation gave a wrong result (INVALID)
  2    bad input: a descriptor, an instance, an option
  3    the environment failed: disk, lock, GPU
  130  interrupted (Ctrl-C); what was recorded stays, the same command continues;
       solve writes the best solution found)";

constexpr char list_footer[] = R"(Examples:
  vicinity list SYSTEM             its problems with their axes, its implementations and experiments
  vicinity list SYSTEM/NAME        one experiment
  vicinity list SYSTEM --names     names alone, for scripts
  vicinity list --json | jq '.systems[].name')";

constexpr char run_footer[] = R"(Every result is checked against the reference before it is timed, and recorded as one line of
RESULTS/<machine>/<system>/<experiment>.jsonl. Results already there are not measured again: a run
that was interrupted continues. Shards write files of their own beside it, which every reader takes
together; shards of one N may run at the same time, on one machine or on several of the same kind.

Examples:
  vicinity run SYSTEM/NAME --profile smoke
  vicinity run SYSTEM/NAME --implementation cpu-openmp gpu-tuned --where size=4096 range=1
  vicinity run experiments/SYSTEM/*.yaml --profile full      one process each
  vicinity run experiments/SYSTEM/*.yaml --shard 3/16        a task of a job array)";

constexpr char peer_footer[] = R"(Each program gets the instance, the seconds and the cores that ours get; our oracle judges what it finds.
`make peers` sets them up and calls this for all that are there.

Examples:
  vicinity peer SYSTEM/anytime --adapter "python peers/py_vrp.py" --profile smoke)";

constexpr char verify_footer[] = R"(Runs every implementation that can run here and compares its result with the reference, bit for bit.
Measures nothing. Without descriptors and without --random, all experiments are verified, or those of --system.

Examples:
  vicinity verify --random 200 --json verification.json
  vicinity verify SYSTEM/NAME --implementation gpu-tuned)";

/// {0}: a system that solves, {1}: its work axis, {2}: one of its settings.
constexpr char solve_footer[] = R"(Searches, judges the best solution found by the problem's definition and writes it to a file. The same
--implementation, work and seed give the same solution on every machine (unless time cuts it short), and
so do all implementations of one method. Ctrl-C stops the search and writes the best so far.

A solution file that exists is replaced by a better solution only, any other file never, unless --force
says so. With --time alone the work is chosen so that the search ends within it: a search that is cut
off has not cooled down. vicinity list tells the systems, their implementations and the axes of --set.

Examples:
  vicinity solve {0} --instance mine.dat --{1} 1e8
  vicinity solve {0} --instance mine.dat --time 60 --seed 7 --output best.sln
  vicinity solve {0} --instance NAME --set {2}=VALUE     an instance of the catalogue
  vicinity solve {0} --instance mine.dat --start mine.sln --force
  vicinity solve {0} --instance mine.dat --json --quiet | jq .objective)";

constexpr char ceilings_footer[] =
    R"(The report divides by them: times over the least that the machine allows. `make reproduce` measures them once.

Examples:
  vicinity ceilings
  vicinity ceilings --results /tmp/results --machine mine)";

constexpr char environment_footer[] = R"(Examples:
  vicinity environment
  vicinity environment --json | jq -r .machine      the name of this machine in results/)";

constexpr char completion_footer[] = R"(Examples:
  source <(vicinity completion bash)                                        in this shell
  vicinity completion bash >~/.local/share/bash-completion/completions/vicinity
  vicinity completion zsh >~/.zfunc/_vicinity                               a folder of $fpath
cmake --install puts both where the shells look.)";

/// Of all systems; each once.
std::vector<std::string> all_implementations(const std::vector<System>& systems) {
  std::vector<std::string> all;
  for (const System& system : systems)
    for (const std::string& name : implementation_names(system))
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  return all;
}

const std::vector<std::string> profiles{"smoke", "quick", "full"};

/// What results stand under is made of its letters and digits: of a path little would be left.
void add_machine(CLI::App& command, Options& options, const std::string& default_name = "") {
  const auto complaint = [](const std::string& text) {
    const bool named = std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 128 && std::isalnum(c) != 0; });
    if (text.empty() || (named && text.find('/') == std::string::npos)) return std::string();  // require_values() tells of none
    return fmt::format("'{}' is no name; give letters, digits and '-'", text);
  };
  command.add_option("--machine", options.machine, "Name of this machine" + default_name)->check(complaint);
}

void add_list(CLI::App& app, Options& options, const std::vector<System>& systems, ValueWords& words) {
  CLI::App* list = app.add_subcommand("list", "Systems, problems, implementations and experiments");
  words[list->add_option("NAME", options.names, "Only these systems, or experiments (system/name)")] = system_names(systems);
  list->add_flag("--names", options.only_names, "Print the names of experiments alone, one a line");
  list->add_flag("--json", options.json, "Print JSON");
  list->footer(list_footer);
}

void add_run(CLI::App& app, Options& options, const std::vector<System>& systems, ValueWords& words) {
  CLI::App* run = app.add_subcommand("run", "Measure experiments and record the results");
  run->add_option(experiment_argument, options.descriptors, "Experiments by name (system/name) or descriptor file")->required();
  words[run->add_option("--profile", options.profile, "smoke (seconds), quick (minutes, the default) or full (the paper's protocol)")] =
      profiles;
  words[run->add_option("--implementation", options.implementations, "Only these implementations")] = all_implementations(systems);
  run->add_option("--where", options.where, "Only cases with axis=value; several values of one axis are alternatives");
  run->add_option("--results", options.results, "Folder of results")->type_name(folder_type)->capture_default_str();
  add_machine(*run, options, " (default: the GPU's, else the CPU's)");
  run->add_option("--repetitions", options.repetitions, "Exactly so many repetitions, whatever the profile says")
      ->check(CLI::Range(1, 1'000'000));
  run->add_option("--processes", options.processes, "Processes instead of the profile's")->check(CLI::Range(1, 1000));
  run->add_option("--seeds", options.seeds, "3: at most so many of the profile's seeds; 4-10: the fourth to the tenth of them");
  run->add_option("--shard", options.shard, "I/N: part I of N of the (case, implementation) pairs, which no other part has");
  run->add_flag("--estimate", options.estimate,
                "Only print, as JSON, how much there is to measure where nothing is recorded, for about how long, and whether on a GPU");
  run->add_flag("--fresh", options.fresh, "Measure again what is already recorded");
  run->add_flag("--control", options.control, "Time control kernels before and after each case");
  run->add_option("--test-slowdown", options.slowdown)->group("");
  run->add_option("--process", options.process)->group("");
  run->add_option("--part", options.part)->expected(5)->group("");
  run->footer(run_footer);
}

void add_peer(CLI::App& app, Options& options, ValueWords& words) {
  CLI::App* peer = app.add_subcommand("peer", "Measure programs of others on the cases of experiments (docs/peers.md)");
  peer->add_option(experiment_argument, options.descriptors, "Experiments whose searches have a budget in seconds")->required();
  peer->add_option("--adapter", options.adapters, "Command that runs a peer")->required();
  words[peer->add_option("--profile", options.profile, "smoke, quick (the default) or full")] = profiles;
  peer->add_option("--where", options.where, "Only cases with axis=value; several values of one axis are alternatives");
  peer->add_option("--results", options.results, "Folder of results")->type_name(folder_type)->capture_default_str();
  add_machine(*peer, options, " (default: the GPU's, else the CPU's)");
  peer->add_flag("--fresh", options.fresh, "Measure again what is already recorded");
  peer->footer(peer_footer);
}

/// CLI11 takes -1 for 2^64 - 1, and so whatever is larger.
void add_seed(CLI::App& command, Options& options, const std::string& description) {
  const auto complaint = [](const std::string& text) {
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::string() : fmt::format("'{}' is not a whole number from 0 to 2^64 - 1", text);
  };
  command.add_option("--seed", options.seed, description)->capture_default_str()->check(complaint);
}

void add_verify(CLI::App& app, Options& options, const std::vector<System>& systems, ValueWords& words) {
  CLI::App* verify = app.add_subcommand("verify", "Compare all implementations, without measuring");
  verify->add_option(experiment_argument, options.descriptors, "Experiments by name (system/name) or descriptor file");
  words[verify->add_option("--profile", options.profile, "Profile of the experiments (default: smoke)")] = profiles;
  verify->add_option("--random", options.random_cases, "Random cases of each system")->check(CLI::Range(1, 10'000'000));
  words[verify->add_option("--system", options.system, "Random cases, or all experiments, of this system only")] = system_names(systems);
  add_seed(*verify, options, "First seed of the random cases");
  words[verify->add_option("--implementation", options.implementations, "Only these implementations")] = all_implementations(systems);
  verify->add_option("--set", options.settings, "axis=value: of every case whose problem has the axis");
  add_machine(*verify, options);
  verify->add_option("--json", options.json_file, "Write what was verified to this file")->type_name(file_type);
  verify->footer(verify_footer);
}

std::vector<std::string> drawing_systems(const std::vector<System>& searching) {
  std::vector<std::string> names;
  for (const System& system : searching)
    if (extra_of<SolutionDrawing>(*system.solver) != nullptr) names.push_back(system.name);
  return names;
}

void add_solve(CLI::App& app, Options& options, const std::vector<System>& systems, ValueWords& words) {
  SolveOptions& own = options.solve;
  CLI::App* solve = app.add_subcommand("solve", "Search for a good solution of an instance of your own");
  std::vector<System> searching;
  std::copy_if(systems.begin(), systems.end(), std::back_inserter(searching),
               [](const System& system) { return system.solver.has_value(); });
  words[solve->add_option("SYSTEM", options.system, "What searches: " + join(system_names(searching)))->required()] =
      system_names(searching);
  solve->add_option("--instance", own.instance, "Instance file, or a name of the catalogue")->type_name(file_type)->required();
  for (const System& system : systems) {
    if (!system.solver || own.work.contains(system.solver->work_axis)) continue;
    const Solver& solver = *system.solver;
    solve->add_option("--" + solver.work_axis, own.work[solver.work_axis],
                      fmt::format("How long to search: 100000000, 1e8 (default of {}: {})", system.name, solver.default_work));
  }
  solve->add_option("--time", own.seconds, "Stop after so many seconds");
  add_seed(*solve, options, "Another seed, another search");
  solve->add_option("--target", own.target, "Stop when the objective is as good as this");
  solve->add_option("--start", own.start, "Solution file to start from (default: drawn from the seed)")->type_name(file_type);
  words[solve->add_option("--implementation", own.implementation, "Default: the one that vicinity list names")] =
      all_implementations(searching);
  solve->add_option("--set", own.settings, "axis=value: a parameter of the search");
  for (const System& system : searching) {
    const auto* files = extra_of<InstanceSettings>(*system.solver);
    if (files == nullptr) continue;
    for (const std::string& axis : files->options())
      solve->add_option_function<std::string>(
          "--" + axis, [&own, axis](const std::string& value) { own.settings.push_back(axis + "=" + value); },
          fmt::format("Of {}: as --set {}=", system.name, axis));
  }
  solve->add_option("--output", own.output, "Solution file (default: the instance's name, in the current folder)")->type_name(file_type);
  solve->add_option("--plot", own.plot, "Draw the solution into this SVG file (" + join(drawing_systems(searching)) + ")")
      ->type_name(file_type);
  solve->add_flag("--force", own.force, "Replace the solution file, whatever is in it");
  solve->add_flag("--json", options.json, "Print one JSON object instead of the summary");
  solve->add_flag("--quiet", own.quiet, "No progress, no summary");
  if (searching.empty()) return;
  const Solver& solver = *searching.front().solver;
  solve->footer(
      fmt::format(solve_footer, searching.front().name, solver.work_axis, solver.settings.empty() ? "AXIS" : solver.settings.front()));
}

void add_machine_commands(CLI::App& app, Options& options) {
  CLI::App* ceilings = app.add_subcommand("ceilings", "Measure this machine's limits and store them in its environment.json");
  ceilings->add_option("--results", options.results, "Folder of results")->type_name(folder_type)->capture_default_str();
  add_machine(*ceilings, options);
  ceilings->footer(ceilings_footer);
  CLI::App* environment = app.add_subcommand("environment", "Print what is recorded of this machine and this program");
  environment->add_flag("--json", options.json, "Print JSON");
  add_machine(*environment, options);
  environment->footer(environment_footer);
}

void add_completion(CLI::App& app, Options& options, ValueWords& words) {
  CLI::App* completion = app.add_subcommand("completion", "Print the script with which a shell completes vicinity's command line");
  const std::vector<std::string> shells{"bash", "zsh"};
  words[completion->add_option("SHELL", options.shell, join(shells))->required()->check(CLI::IsMember(shells))] = shells;
  completion->footer(completion_footer);
}

/// `--where load=1 table1.yaml`: an option that takes several values swallows an experiment after it. Give it back.
void return_descriptors(Options& options) {
  const std::array swallowing{&options.implementations, &options.where, &options.settings, &options.adapters};
  if (std::all_of(swallowing.begin(), swallowing.end(), [](const auto* values) { return values->empty(); })) return;
  const std::vector<std::string> names = experiment_names();
  for (auto* values : swallowing) {
    const auto is_experiment = [&](const std::string& text) {
      return text.ends_with(".yaml") || text.ends_with(".yml") || std::find(names.begin(), names.end(), text) != names.end();
    };
    std::copy_if(values->begin(), values->end(), std::back_inserter(options.descriptors), is_experiment);
    std::erase_if(*values, is_experiment);
  }
}

/// CLI11 would complain of what is missing before it names what is misspelt.
void require_known_options(const CLI::App& command, const std::string& spelled, const std::vector<std::string>& arguments) {
  std::vector<std::string> known, shown;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) {
      known.push_back("--" + name);
      if (!option->get_group().empty()) shown.push_back("--" + name);
    }
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (argument == "--") return;
    if (!argument.starts_with("--") || std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto meant = nearest(name, shown);
    throw InputError(
        fmt::format("unknown option '{}'; {}see {} --help", name, meant ? fmt::format("did you mean '{}'? ", *meant) : "", spelled));
  }
}

/// CLI11 would only say that a command is missing.
void require_command(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (argc < 2) throw InputError(fmt::format("a command is missing: {}; see vicinity --help", join(names)));
  const std::string first = argv[1];
  if (!first.starts_with("-") && std::find(names.begin(), names.end(), first) == names.end())
    throw InputError(fmt::format("unknown command '{}'; {}; see vicinity --help", first, hint(first, names)));
  if (first.starts_with("-")) return require_known_options(app, "vicinity", {first});
  require_known_options(*app.get_subcommand(first), "vicinity " + first, {argv + 2, argv + argc});
}

/// An unset variable of the shell gives an empty value, which nobody means.
void require_values(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    for (const std::string& value : option->results())
      if (value.empty()) {
        const std::string name =
            option->get_lnames().empty() ? option->get_name() : "--" + option->get_lnames().front();  // also of hidden ones
        throw InputError(fmt::format("{}: an empty value; is a variable unset?", name));
      }
}

int dispatch(const std::string& command, const Options& options, const std::vector<System>& systems) {
  handle_interrupts(command == "run" || command == "peer"
                        ? "\nvicinity: interrupted; finished results are recorded, the same command continues\n"
                        : "\nvicinity: interrupted\n");
  if (command == "list") return list_command(options, systems);
  if (command == "run") return run_command(options, systems);
  if (command == "peer") return peer_command(options, systems);
  if (command == "solve") return solve_command(options, systems);
  if (command == "verify") return verify_command(options, systems);
  if (command == "ceilings") return ceilings_command(options);
  return environment_command(options);
}

}  // namespace

int command_line(int argc, char** argv, const std::vector<System>& systems) {
  Options options;
  CLI::App app("Reproduces papers on GPU local search: runs their experiments, checks every result, records every time.", "vicinity");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("vicinity ") + build::version);
  ValueWords words;
  add_list(app, options, systems, words);
  add_run(app, options, systems, words);
  add_peer(app, options, words);
  add_verify(app, options, systems, words);
  add_solve(app, options, systems, words);
  add_machine_commands(app, options);
  add_completion(app, options, words);
  app.footer(general_footer);  // last: commands would inherit it
  require_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {  // --help, --version
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    throw InputError(fmt::format("{}; see vicinity{} --help", error.what(), chosen.empty() ? "" : " " + chosen.front()->get_name()));
  }
  require_values(*app.get_subcommands().front());
  const std::string command = app.get_subcommands().front()->get_name();
  if (options.profile.empty()) options.profile = command == "run" || command == "peer" ? "quick" : "smoke";
  if (command == "completion") {
    fmt::print("{}", options.shell == "zsh" ? zsh_completion(app, words) : bash_completion(app, words));
    return exit_ok;
  }
  if (command != "solve") return_descriptors(options);  // it takes none
  for (std::string& experiment : options.descriptors) experiment = descriptor_path(experiment);
  return dispatch(command, options, systems);
}

int guarded_command_line(int argc, char** argv, const std::vector<System>& (*systems)()) {
  handle_interrupts("\nvicinity: interrupted\n");
  constexpr std::array measuring{"run", "peer", "solve", "ceilings", "environment"};
  if (argc > 1 && std::find(measuring.begin(), measuring.end(), std::string_view(argv[1])) != measuring.end()) settle_threads(argv);
  const auto complain = [](const std::exception& error, int code) {
    std::fflush(stdout);
    print_stderr("vicinity: error: {}\n", printable(error.what()));
    return code;
  };
  try {
    const int code = command_line(argc, argv, systems());
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    print_stderr("vicinity: error: what was printed could not be written\n");
    return code == exit_ok ? exit_environment : code;
  } catch (const InputError& error) {
    return complain(error, exit_input);
  } catch (const std::exception& error) {
    return complain(error, exit_environment);
  }
}

}  // namespace vicinity
