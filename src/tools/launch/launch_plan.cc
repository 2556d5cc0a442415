// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <system_error>

#include "common/error.h"
#include "common/file.h"
#include "common/system.h"
#include "tools/launch/environment.h"
#include "tools/launch/inspect.h"
#include "tools/launch/launcher.h"
#include "tools/launch/open_mpi.h"
#include "tools/launch/preload.h"
#include "tools/launch/program.h"

namespace huddle::launch {
namespace {

// The default of shells, used if PATH is not set.
constexpr std::string_view usual_search_path = "/usr/local/bin:/bin:/usr/bin";

// The settings that the preloaded library knows.
constexpr std::array<std::string_view, 17> library_settings = {
    "huddle",     "machine",        "ops",         "algo",       "stats",
    "summary",    "verify",         "tune",        "tune-after", "activate-after",
    "net",        "net-algo",       "net-leaders", "heap",       "heap-threshold",
    "heap-limit", "heap-fork-limit"};

std::string search_path_of(const std::vector<std::string>& environment) {
  const std::string path = settings::value_of(environment, "PATH");
  return path.empty() ? std::string(usual_search_path) : path;
}

std::string switch_for_ranks(const std::string& value) {
  if (value == "on") return "1";
  return value == "off" ? "0" : value;
}

// Converts a value for the library. The path of a file becomes absolute because a rank may run in
// another folder; a name is resolved where the rank runs. Sets `error` if the path of this folder
// is unknown, for example because it was deleted.
std::string value_for_ranks(const settings::Resolved& resolved, std::error_code& error) {
  switch (resolved.setting.kind) {
    case settings::Kind::machine:
      return is_toml_path(resolved.value)
                 ? std::filesystem::absolute(resolved.value, error).string()
                 : resolved.value;
    case settings::Kind::toggle:
      return resolved.setting.key == "huddle" ? resolved.value : switch_for_ranks(resolved.value);
    case settings::Kind::output:
      return resolved.value.ends_with(settings::output_suffix)
                 ? std::filesystem::absolute(resolved.value, error).string()
                 : switch_for_ranks(resolved.value);
    case settings::Kind::word:
    case settings::Kind::count:
    case settings::Kind::size:
    case settings::Kind::list:
    case settings::Kind::forcing:
      return resolved.value;
  }
  return {};
}

// Returns the settings from flags, environment and files as variables. Ignores those that cannot be
// converted, with a note.
std::vector<Variable> said_settings(const std::vector<settings::Resolved>& all,
                                    std::vector<std::string>& notes) {
  std::vector<Variable> variables;
  for (const std::string_view key : library_settings) {
    const settings::Resolved& resolved = settings::find(all, key);
    if (resolved.layer == settings::Layer::built_in || resolved.value.empty()) continue;
    std::error_code error;
    std::string value = value_for_ranks(resolved, error);
    if (error) {
      notes.push_back(fmt::format("ignored: {}={}: the path of the current folder is unknown: {}",
                                  settings::environment_name(key), resolved.value,
                                  error.message()));
      // An empty value also replaces one in the environment.
      value.clear();
    }
    variables.push_back({settings::environment_name(key), std::move(value)});
  }
  return variables;
}

bool names_a_setting(const std::string& variable) {
  const auto table = settings::table();
  return std::any_of(table.begin(), table.end(), [&variable](const settings::Setting& setting) {
    return settings::environment_name(setting.key) == variable;
  });
}

// Adds the user's other HUDDLE_* variables, except for those that name no setting.
void add_environment(std::vector<Variable>& variables,
                     const std::vector<std::string>& environment) {
  for (const std::string& line : environment) {
    const std::string name = line.substr(0, line.find('='));
    const bool known = std::any_of(variables.begin(), variables.end(),
                                   [&name](const Variable& v) { return v.name == name; });
    if (!name.starts_with("HUDDLE_") || known || !names_a_setting(name)) continue;
    variables.push_back({name, settings::value_of(environment, name)});
  }
}

// Returns the file of huddle's malloc if it has to be preloaded; empty if it is not needed or
// missing.
std::string heap_to_preload(const Request& request, const Library& library,
                            std::vector<std::string>& notes) {
  if (!request.with_heap || settings::find(request.settings, "huddle").value == "off") return {};
  if (library.heap.empty()) {
    notes.push_back(fmt::format(
        "libhuddle_heap.so is not in {}, so ranks cannot share their arrays; reinstall huddle",
        library.folder));
  }
  return library.heap;
}

// Returns the files to preload, separated by colons. If that is not possible, returns none and adds
// a note.
std::string files_to_preload(const Request& request, const Library& library,
                             std::vector<std::string>& notes) {
  if (library.preload.empty()) {
    notes.push_back(
        fmt::format("{} is not in {}: the command runs without huddle; reinstall huddle",
                    library.stub, library.folder));
    return {};
  }
  if (!can_be_preloaded(library.preload)) {
    notes.push_back(
        fmt::format("{} has a space or a colon in its path and cannot be preloaded: the command "
                    "runs without huddle; install it elsewhere",
                    library.preload));
    return {};
  }
  const std::string heap = heap_to_preload(request, library, notes);
  return library.preload + (heap.empty() ? "" : ":" + heap);
}

std::string program_for(const std::string& word, const std::string& search_path) {
  auto program = find_program(word, search_path);
  if (!program) throw UsageError(why_not_found(word));
  return *program;
}

void note_launcher(const Launcher& launcher, std::vector<std::string>& notes) {
  if (launcher.passing != Passing::unknown) return;
  notes.push_back(
      fmt::format("{} is an unknown launcher: huddle's variables are set in its environment, but "
                  "other nodes get them only if the launcher passes its environment on",
                  launcher.path));
}

// Programs that start the command that follows their options.
constexpr std::array<std::string_view, 16> wrappers = {
    "env",     "timeout", "time", "nice",   "ionice", "chrt",   "nohup", "setsid",
    "numactl", "taskset", "perf", "strace", "ltrace", "stdbuf", "sudo",  "systemd-run"};

// Adds a sentence if another program starts the launcher. Words after "--" and the command line of
// another `huddle run` do not count.
void note_hidden_launcher(const std::vector<std::string>& words, const std::string& search_path,
                          std::vector<std::string>& notes) {
  const std::string first = std::filesystem::path(words.front()).filename().string();
  if (std::find(wrappers.begin(), wrappers.end(), first) == wrappers.end()) return;
  for (std::size_t at = 1; at < words.size() && words[at] != "--"; ++at) {
    const std::string name = std::filesystem::path(words[at]).filename().string();
    if (name == "huddle") return;
    if (!is_launcher_name(name) || !find_program(words[at], search_path)) continue;
    notes.push_back(
        fmt::format("{0} starts {1}, which therefore may not pass huddle's variables to other "
                    "nodes; write 'huddle run' directly before {1}",
                    words.front(), words[at]));
    return;
  }
}

// Adds a sentence for each program in which huddle cannot work. Each program is mentioned once.
void note_programs(const std::vector<std::string>& words, const std::string& search_path,
                   bool with_threads, std::vector<std::string>& notes) {
  std::set<std::string> seen;
  for (const std::string& word : words) {
    const auto path = find_program(word, search_path);
    if (!path || !seen.insert(*path).second) continue;
    const Obstacle obstacle = obstacle_in(*path);
    if (with_threads && obstacle == Obstacle::no_mpi) continue;
    if (obstacle != Obstacle::none) notes.push_back(sentence(obstacle, *path));
  }
}

std::vector<AppContext> contexts_in(const Request& request, const Launcher& launcher) {
  const std::string search_path = search_path_of(request.environment);
  return contexts_of(request.command, launcher.passing, [&](const std::string& word) {
    return find_program(word, search_path).has_value();
  });
}

void pass_on_in_open_mpi_4(Plan& plan, const Request& request,
                           const std::vector<AppContext>& contexts,
                           const ForwardedVariables& passed) {
  const std::string variable(env_list_variable);
  OpenMpiCommand command =
      pass_in_open_mpi_4(request.command, contexts, passed,
                         {.variable = settings::value_of(request.environment, variable),
                          .parameter_files = parameter_files_of(
                              plan.program, settings::value_of(request.environment, "HOME"))});
  plan.command = std::move(command.words);
  if (!command.env_list.empty()) plan.changes.push_back({variable, std::move(command.env_list)});
  if (!command.app_file.empty()) {
    plan.notes.push_back(
        fmt::format("with --app, {0} ignores huddle's options, so that ranks on other nodes run "
                    "without huddle; write 'huddle run' before each program in {1}",
                    request.command.front(), command.app_file));
  } else if (!command.file_with_env_list.empty()) {
    plan.notes.push_back(fmt::format(
        "{0} sets mca_base_env_list, which excludes huddle's options, so that ranks on other nodes "
        "run without huddle; write 'huddle run' before the program: {1} ... huddle run ./app",
        command.file_with_env_list, request.command.front()));
  }
}

// Adds the variables to the launcher's command line. Returns the words that name programs.
std::vector<std::string> pass_on(Plan& plan, const Request& request, const std::string& preload) {
  if (!plan.launcher) return {request.command.front()};
  const auto contexts = contexts_in(request, *plan.launcher);
  const ForwardedVariables passed{
      .variables = plan.changes,
      .preload = preload,
      .slurm_export = settings::value_of(request.environment, "SLURM_EXPORT_ENV")};
  if (plan.launcher->passing == Passing::x_each_context) {
    pass_on_in_open_mpi_4(plan, request, contexts, passed);
  } else {
    plan.command = pass_variables(request.command, contexts, plan.launcher->passing, passed);
  }
  std::vector<std::string> programs;
  for (const AppContext& context : contexts) {
    if (context.program < context.end) programs.push_back(request.command[context.program]);
  }
  return programs;
}

}  // namespace

std::vector<std::string> with_program_replaced(const Request& request, const Plan& plan,
                                               const std::vector<std::string>& words) {
  if (!plan.launcher) return words;
  const std::vector<std::string>& given = request.command;
  const auto word_at = [&given](std::size_t index) {
    return given.begin() + static_cast<std::ptrdiff_t>(index);
  };
  std::vector<std::string> command;
  std::size_t copied = 0;
  for (const AppContext& context : contexts_in(request, *plan.launcher)) {
    if (context.program >= context.end) return {};
    command.insert(command.end(), word_at(copied), word_at(context.program));
    command.insert(command.end(), words.begin(), words.end());
    copied = context.end;
  }
  command.insert(command.end(), word_at(copied), given.end());
  return command;
}

bool is_later_rank(const std::vector<std::string>& environment) {
  constexpr std::array<std::string_view, 4> rank_names = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                                          "PMI_RANK", "SLURM_PROCID"};
  for (const std::string_view name : rank_names) {
    const std::string rank = settings::value_of(environment, name);
    if (!rank.empty()) return rank != "0";
  }
  return false;
}

Plan make_plan(const Request& request) {
  Plan plan{.command = request.command};
  const std::string search_path = search_path_of(request.environment);
  plan.program = program_for(request.command.front(), search_path);
  plan.launcher = find_launcher(plan.program);
  const Library library = find_library(request.own_program, request.purpose);
  const std::string preload = files_to_preload(request, library, plan.notes);
  if (!preload.empty()) {
    const std::string name(preload_name);
    const std::string theirs = settings::value_of(request.environment, name);
    plan.changes.push_back({name, joined_preload(preload, theirs)});
    for (const std::string& file : replaced_files(preload, theirs)) {
      plan.details.push_back(fmt::format("{} replaces {} in LD_PRELOAD", library.preload, file));
    }
  }
  switch (request.purpose) {
    case Purpose::collectives:
      for (Variable& variable : said_settings(request.settings, plan.notes)) {
        plan.changes.push_back(std::move(variable));
      }
      add_environment(plan.changes, request.environment);
      if (request.has_reported_settings) {
        plan.changes.push_back({std::string(settings::reported_variable), "1"});
      }
      break;
    case Purpose::profile:
      plan.changes.push_back({std::string(parts_variable), request.parts_folder});
      plan.changes.push_back({std::string(collector_variable), request.collector});
      break;
  }
  plan.programs = pass_on(plan, request, preload);
  if (plan.launcher) {
    note_launcher(*plan.launcher, plan.notes);
  } else {
    note_hidden_launcher(request.command, search_path, plan.notes);
  }
  if (!preload.empty()) note_programs(plan.programs, search_path, request.with_threads, plan.notes);
  if (is_later_rank(request.environment)) {
    plan.notes.clear();
    plan.details.clear();
  }
  return plan;
}

std::vector<std::string> changed_environment(const std::vector<std::string>& environment,
                                             const std::vector<Variable>& changes) {
  std::vector<std::string> lines;
  for (const std::string& line : environment) {
    const std::string name = line.substr(0, line.find('='));
    const bool changed = std::any_of(changes.begin(), changes.end(),
                                     [&name](const Variable& v) { return v.name == name; });
    if (!changed) lines.push_back(line);
  }
  for (const Variable& change : changes) lines.push_back(assignment(change));
  return lines;
}

std::string shell_line(const Plan& plan) {
  std::vector<std::string> words;
  if (!plan.changes.empty()) words.emplace_back("env");
  for (const Variable& change : plan.changes) words.push_back(shell_quoted(assignment(change)));
  for (const std::string& word : plan.command) words.push_back(shell_quoted(word));
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace huddle::launch
