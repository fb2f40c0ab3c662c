#include "harness/cli/completion.hpp"

#include <fmt/format.h>

#include <string_view>

namespace vicinity {
namespace {

/// An option or an argument, as both shells need it.
struct Parameter {
  std::string name;  ///< "--profile"; of an argument "SYSTEM"
  std::string meaning;
  int most = 0;                    ///< values it takes; 0: a flag
  bool positional = false;         ///< an argument
  std::string type;                ///< file_type, folder_type, experiment_argument or anything else
  std::vector<std::string> words;  ///< its values, where they are known

  [[nodiscard]] bool many() const { return most > 1; }
};

/// Of a command, without what --help does not show.
std::vector<Parameter> parameters_of(const CLI::App& command, const ValueWords& known) {
  std::vector<Parameter> values;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    const auto found = known.find(option);
    values.push_back({.name = option->get_positional() ? option->get_name() : "--" + option->get_lnames().front(),
                      .meaning = option->get_description(),
                      .most = option->get_items_expected_max(),
                      .positional = option->get_positional(),
                      .type = option->get_positional() ? option->get_name() : option->get_type_name(),
                      .words = found == known.end() ? std::vector<std::string>() : found->second});
  }
  return values;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// For a shell, in single quotes.
std::string shell_word(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string option_names(const std::vector<Parameter>& values) {
  std::vector<std::string> names;
  for (const Parameter& parameter : values)
    if (!parameter.positional) names.push_back(parameter.name);
  return fmt::format("{}", fmt::join(names, " "));
}

/// {0}: function, {1}: program, {2}: commands and options, {3}: what takes which values, {4}: the same of arguments alone, {5}: options of
/// each command, {6} to {8}: the types.
constexpr char bash_script[] = R"(# Completion of {1} for bash, made by `{1} completion bash`.
{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} at=$((COMP_CWORD - 1)) given=0 option='' most=0 type='' words='' options=''
  [[ $current != '=' ]] || current=''
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W {2} -- "$current")
    return
  fi
  # The last option, and how many words have followed it. What it does not take belongs to the command's argument.
  while ((at > 1)) && [[ ${{COMP_WORDS[at]}} != -* ]]; do
    [[ ${{COMP_WORDS[at]}} == '=' ]] || given=$((given + 1))
    at=$((at - 1))
  done
  ((at == 1)) || option=${{COMP_WORDS[at]}}
  case "${{COMP_WORDS[1]}} $option" in
{3}  esac
  if [[ -n $option ]] && ((given >= most)); then
    type='' words='' most=0
    case "${{COMP_WORDS[1]}} " in
{4}    esac
  fi
  if [[ $current == -* ]]; then
    case ${{COMP_WORDS[1]}} in
{5}    esac
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    return
  fi
  [[ $option ]] || ((most != 1 || COMP_CWORD == 2)) || return 0
  [[ $type != {6} ]] || words=$("${{COMP_WORDS[0]}}" list --names 2>/dev/null)
  [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  ((${{#COMPREPLY[@]}} == 0)) || return 0
  case $type in
    {7} | {6}) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    {8}) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
  esac
  return 0
}}
complete -F {0} {1}
)";

/// A line of a case: what a value is and how many there may be.
std::string bash_parameter(const std::string& command, const Parameter& parameter) {
  return fmt::format("    {}) most={} type={} words={} ;;\n", shell_word(command + " " + (parameter.positional ? "" : parameter.name)),
                     parameter.most, shell_word(parameter.type), shell_word(fmt::format("{}", fmt::join(parameter.words, " "))));
}

/// {0}: function, {1}: program, {2}: commands, {3}: options without a command, {4}: options and arguments of each command.
constexpr char zsh_script[] = R"script(#compdef {1}
# Completion of {1} for zsh, made by `{1} completion zsh`.
{0}_experiments() {{
  local -a experiments
  experiments=(${{(f)"$("$program" list --names 2>/dev/null)"}})
  _alternative 'experiments:experiment:compadd -a experiments' 'files:descriptor:_files -g "*.y(a|)ml"'
}}

{0}() {{
  local program=$words[1] curcontext=$curcontext state line
  local -a commands
  commands=(
{2}  )
  _arguments -C {3} '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $words[1] in
{4}      esac ;;
  esac
}}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then {0} "$@"; else compdef {0} {1}; fi
)script";

/// In _arguments' specifications colons and brackets mean something.
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_action(const Parameter& parameter, const std::string& function) {
  if (!parameter.words.empty()) return fmt::format("({})", fmt::join(parameter.words, " "));
  if (parameter.type == file_type) return "_files";
  if (parameter.type == folder_type) return "_files -/";
  if (parameter.type == experiment_argument) return function + "_experiments";
  return " ";
}

std::string zsh_parameter(const Parameter& parameter, const std::string& function) {
  const std::string meaning = plain(parameter.meaning), action = zsh_action(parameter, function);
  if (parameter.positional) return shell_word(fmt::format("{}:{}:{}", parameter.many() ? "*" : "1", parameter.name, action));
  if (parameter.most == 0) return shell_word(fmt::format("{}[{}]", parameter.name, meaning));
  if (parameter.many()) return shell_word(fmt::format("*{}[{}]:*-*:{}:{}", parameter.name, meaning, plain(parameter.type), action));
  return shell_word(fmt::format("{}=[{}]:{}:{}", parameter.name, meaning, plain(parameter.type), action));
}

}  // namespace

std::string bash_completion(const CLI::App& app, const ValueWords& words) {
  std::string values, arguments, options, first;
  for (const CLI::App* command : commands_of(app)) {
    const std::string& name = command->get_name();
    const std::vector<Parameter> own = parameters_of(*command, words);
    first += name + " ";
    options += fmt::format("      {}) options={} ;;\n", name, shell_word(option_names(own)));
    for (const Parameter& parameter : own) {
      values += bash_parameter(name, parameter);
      if (parameter.positional) arguments += "  " + bash_parameter(name, parameter);
    }
  }
  first += option_names(parameters_of(app, words));
  return fmt::format(bash_script, "_" + app.get_name(), app.get_name(), shell_word(first), values, arguments, options, experiment_argument,
                     file_type, folder_type);
}

std::string zsh_completion(const CLI::App& app, const ValueWords& words) {
  const std::string function = "_" + app.get_name();
  std::string own, commands, cases;
  for (const Parameter& parameter : parameters_of(app, words)) own += zsh_parameter(parameter, function) + " ";
  for (const CLI::App* command : commands_of(app)) {
    commands += fmt::format("    {}\n", shell_word(command->get_name() + ":" + plain(command->get_description())));
    cases += fmt::format("        {}) _arguments", command->get_name());
    for (const Parameter& parameter : parameters_of(*command, words)) cases += " \\\n          " + zsh_parameter(parameter, function);
    cases += " ;;\n";
  }
  own.pop_back();  // --help at least
  return fmt::format(zsh_script, function, app.get_name(), commands, own, cases);
}

}  // namespace vicinity
