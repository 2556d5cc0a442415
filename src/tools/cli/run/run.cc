// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle run`: starts a command with huddle's library preloaded on every node that it reaches.

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "common/other_processes.h"
#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "placement/threads/state_folder.h"
#include "tools/cli/command.h"
#include "tools/cli/run/run_compare.h"
#include "tools/cli/selected_machine.h"
#include "tools/cli/thread_agent.h"
#include "tools/launch/inspect.h"
#include "tools/launch/launch_plan.h"
#include "tools/launch/preload.h"

namespace huddle::cli {
namespace {

// Returns whether a summary is requested.
bool wants_summary(const launch::Request& request) {
  const std::string& summary = settings::find(request.settings, "summary").value;
  return summary == "on" || summary == "times" ||
         settings::find(request.settings, "stats").value == "on";
}

// Returns whether the program itself calls MPI if anything does: it is neither a launcher nor a
// shell, and there is no note that huddle cannot work in it. A program whose threads are observed
// need not use MPI.
bool calls_mpi_itself(const launch::Plan& plan, const launch::Request& request) {
  if (plan.launcher || !plan.notes.empty() || launch::may_start_others(plan.program)) return false;
  return !request.with_threads || launch::obstacle_in(plan.program) != launch::Obstacle::no_mpi;
}

// Replaces this process by the program, which then has its exit status, signals and terminal. A
// script without an interpreter line is run by a shell, as in execvp().
[[noreturn]] void become(const launch::Plan& plan, const launch::Request& request,
                         const StartedAgent& agent) {
  std::vector<std::string> words = plan.command;
  std::vector<std::string> lines = launch::changed_environment(request.environment, plan.changes);
  if (wants_summary(request) && calls_mpi_itself(plan, request)) {
    std::error_code error;
    lines.push_back(fmt::format("{}={} {}", launch::program_variable, ::getpid(),
                                std::filesystem::canonical(plan.program, error).string()));
  }
  if (!agent.variable.empty()) {
    const std::string name(launch::preload_name);
    const std::string preload =
        launch::appended_preload(settings::value_of(lines, name), agent.preload);
    lines = launch::changed_environment(lines, {{name, preload}});
    lines.push_back(agent.variable);
  }
  ::execvpe(plan.program.c_str(), pointers(words).data(), pointers(lines).data());
  throw FailureError(fmt::format("cannot execute {}: {}", plan.program, std::strerror(errno)));
}

constexpr int most_compared_rounds = 10000;

class RunCommand : public Command {
 public:
  std::string name() const override { return "run"; }
  std::string summary() const override { return "run an MPI or multithreaded program with huddle"; }
  std::string description() const override {
    return "Runs COMMAND with huddle's library preloaded. huddle then handles the collectives that "
           "it expects to run faster than the MPI; all other calls go to the MPI as before. You "
           "do not have to rebuild the program. COMMAND usually begins with the launcher: huddle "
           "detects "
           "which MPI it belongs to, and passes its settings on to other nodes. It also works "
           "under a launcher or without one. Options of huddle must precede COMMAND.\n"
           "With --threads move, a separate process observes which threads of the program write to "
           "the same memory, for about 2 % of the program's CPU time, and binds them close to each "
           "other while this pays off. Threads that the program binds itself are not moved. When "
           "this process ends or is killed, each thread gets its previous CPU affinity back.";
  }
  std::string examples() const override {
    return "  huddle run mpirun -n 16 ./app\n"
           "  huddle run --stats mpirun -n 16 ./app    print a table of the collectives\n"
           "  huddle run --off -v mpirun -n 16 ./app   is it for me? time in collectives,\n"
           "                                           and what huddle would save\n"
           "  huddle run --compare 6 mpirun -n 16 ./app   compare 6 runs each way\n"
           "  huddle run --ops ^bcast srun -n 64 ./app all collectives except one\n"
           "  huddle run --dry-run mpirun -n 2 ./app   print the command, do not run it\n"
           "  srun -n 64 huddle run ./app              under a launcher\n"
           "  huddle run mpirun -n 4 python3 app.py    with mpi4py\n"
           "  huddle run --threads move ./app          move threads that share memory\n\n"
           "Exit status: that of COMMAND, which replaces the huddle process; 2 COMMAND cannot be "
           "executed, 3 the file of --machine is invalid. With --compare: 0, or 1 if a run failed. "
           "Invalid settings in the environment or in a configuration file are reported and "
           "ignored.";
  }
  void declare(Options& options) override {
    options.flag("--stats", stats_,
                 "print a table of the handled collectives, their times and the fallback reasons "
                 "when the program ends");
    options.text("--stats-json", stats_file_, "FILE",
                 "write the statistics of all ranks to a file, which 'huddle report' draws");
    options.flag("-v,--verbose", verbose_,
                 "print whether huddle was on, the number of handled collectives, and their share "
                 "of the run time when the program ends, even if standard error is not a terminal");
    options.number(
        "--compare", rounds_, 1, most_compared_rounds, "N",
        "run COMMAND N times with huddle and N times without, alternately, and compare "
        "the wall times; at most 7 more runs warm up and measure the time in collectives; "
        "the output of COMMAND is not shown");
    options.flag("--verify", verify_,
                 "also run each collective in the MPI, and compare the results");
    options.setting("ops");
    options.setting("algo");
    options.setting("net-algo");
    options.setting("net-leaders");
    options.flag("--off", off_, "run every collective in the MPI");
    options.setting("heap");
    options.setting("threads");
    declare_binding(options, bind_, "--threads move");
    declare_split_huge(options, split_huge_, "with --threads");
    declare_allow_sysctl(options, allow_sysctl_, "with --threads");
    options.setting("machine");
    options.flag("--dry-run", dry_run_,
                 "print the command that would be executed, in shell syntax");
    options.flag("--json", json_, "with --dry-run or --compare: print everything as JSON");
    options.rest("COMMAND", command_, "the program or launcher, with all its arguments");
    options.exclude("--stats-json", "--stats");
    for (const char* other : {"--off", "--dry-run", "--stats", "--stats-json", "--verify"}) {
      options.exclude("--compare", other);
    }
  }
  bool ignores_wrong_settings() const override { return true; }
  ExitCode run(const Context& context) override {
    check_usage();
    check_machine_file(context);
    const launch::Request request = request_from(context);
    binding_named(bind_);  // report a wrong word like that of any other option
    const launch::Plan plan = launch::make_plan(request);
    for (const std::string& note : plan.notes) {
      context.console.note(fmt::format("huddle: {}", note));
    }
    for (const std::string& detail : plan.details) {
      if (verbose_) context.console.note(fmt::format("huddle: {}", detail));
    }
    if (dry_run_) {
      context.console.print(json_ ? run_json(plan) : launch::shell_line(plan) + "\n");
      return ExitCode::fine;
    }
    if (rounds_ > 0) {
      return compare_runs(context, request, plan,
                          {rounds_, json_, starter(context, request, plan)});
    }
    if (context.pipe_signal_was_ignored) std::signal(SIGPIPE, SIG_IGN);
    become(plan, request, agent_for(context, request, plan));
  }

 private:
  void check_usage() const {
    if (command_.empty()) {
      throw UsageError("the command to run is missing, for example: huddle run mpirun -n 4 ./app");
    }
    if (!stats_file_.empty() && !stats_file_.ends_with(settings::output_suffix)) {
      throw UsageError(fmt::format("--stats-json: the name of the file must end in {}, unlike '{}'",
                                   settings::output_suffix, stats_file_));
    }
    if (json_ && !dry_run_ && rounds_ == 0) {
      throw UsageError("--json requires --dry-run or --compare");
    }
  }

  bool is_off(const Context& context) const {
    return off_ || settings::find(context.settings, "huddle").value == "off";
  }

  // Throws InputError for an invalid machine file. A file named on the command line must be valid,
  // like the value of any other option. A file named in a configuration file or the environment
  // applies to all jobs: the library reports errors when it needs the file, and the program still
  // runs.
  void check_machine_file(const Context& context) const {
    const settings::Resolved& machine = settings::find(context.settings, "machine");
    if (machine.layer != settings::Layer::command_line || is_off(context)) return;
    machine::read_machine_file(machine::machine_file_named(machine.value));
  }

  bool with_threads(const Context& context) const {
    return !is_off(context) && settings::find(context.settings, "threads").value != "off";
  }

  // Returns the words that start a run with huddle, before its command. Other settings of the
  // command line reach it in the environment.
  std::vector<std::string> starter(const Context& context, const launch::Request& request,
                                   const launch::Plan& plan) const {
    std::vector<std::string> words = {request.own_program, "run"};
    if (!request.with_threads || plan.launcher) return words;
    words.insert(words.end(),
                 {"--threads", settings::find(context.settings, "threads").value, "--bind", bind_});
    if (split_huge_) words.emplace_back("--split-huge-pages");
    if (allow_sysctl_) words.emplace_back("--allow-sysctl");
    return words;
  }

  // Errors do not keep the program from running; without an agent a note gives the reason.
  StartedAgent agent_for(const Context& context, const launch::Request& request,
                         const launch::Plan& plan) const {
    if (!request.with_threads) return {};
    StartedAgent agent;
    if (plan.launcher) {
      agent.note = "threads are not observed: " + plan.launcher->path +
                   " starts other programs; put 'huddle run --threads' between it and your program";
    } else if (const auto obstacle = launch::obstacle_in(plan.program); is_refused(obstacle)) {
      agent.note = launch::sentence(obstacle, plan.program);
    } else {
      const bool moves = settings::find(context.settings, "threads").value == "move";
      try {
        threads::repair_what_was_left();
        agent =
            start_agent(context, {.moves = moves,
                                  .binding = binding_named(bind_),
                                  .splits_huge = split_huge_,
                                  .allows_sysctl = allow_sysctl_,
                                  .tells = !moves || verbose_ || stats_,
                                  .title = command_.front(),
                                  .library = launch::find_library(request.own_program).threads});
      } catch (const std::exception& error) {
        agent.note = fmt::format("threads are not observed: {}", error.what());
      }
    }
    const bool is_said =
        std::find(plan.notes.begin(), plan.notes.end(), agent.note) != plan.notes.end();
    if (!agent.note.empty() && !is_said && !launch::is_later_rank(request.environment))
      context.console.note("huddle: " + agent.note);
    return agent;
  }
  // Returns whether nothing can be preloaded.
  static bool is_refused(launch::Obstacle obstacle) {
    return obstacle == launch::Obstacle::linked_static ||
           obstacle == launch::Obstacle::privileged || obstacle == launch::Obstacle::other_machine;
  }

  launch::Request request_from(const Context& context) const {
    std::vector<settings::Resolved> settings = context.settings;
    if (stats_) settings::override_by_flag(settings, "stats", "on");
    if (!stats_file_.empty()) settings::override_by_flag(settings, "stats", stats_file_);
    if (verify_) settings::override_by_flag(settings, "verify", "on");
    if (off_) settings::override_by_flag(settings, "huddle", "off");
    // Each call is timed only in additional runs of a comparison, because that takes time itself.
    if (rounds_ > 0) settings::override_by_flag(settings, "stats", "off");
    // The summary is on for users at a terminal or on request. Logs, and scripts that compare
    // outputs, stay unchanged.
    const bool is_open = settings::find(settings, "summary").value == "auto";
    if (verbose_ && rounds_ == 0) {
      settings::override_by_flag(settings, "summary", "times");
    } else if (rounds_ > 0 || (context.console.err_columns > 0 && is_open)) {
      settings::override_by_flag(settings, "summary", "on");
    }
    std::error_code error;
    const std::string own = std::filesystem::read_symlink("/proc/self/exe", error).string();
    return {.command = command_,
            .settings = std::move(settings),
            .environment = settings::process_sources().environment,
            .own_program = own,
            .with_heap = !off_ && wants_heap(context),
            .with_threads = with_threads(context),
            .has_reported_settings = !context.ignored_settings.empty()};
  }

  std::vector<std::string> command_;
  bool stats_ = false;
  std::string stats_file_;
  bool verbose_ = false;
  bool verify_ = false;
  bool off_ = false;
  std::string bind_ = std::string(threads::binding_names.front());
  bool split_huge_ = false;
  bool allow_sysctl_ = false;
  int rounds_ = 0;
  bool dry_run_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace huddle::cli
