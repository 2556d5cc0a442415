// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle ucx`: derives settings of UCX from measurements and checks their effect.

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/text.h"
#include "model/machine/topology.h"
#include "tools/cli/command.h"
#include "tools/cli/progress.h"
#include "tools/cli/selected_machine.h"
#include "tools/cli/ucx/ucx_report.h"
#include "tools/launch/preload.h"
#include "tools/ucx/library.h"

namespace huddle::cli {
namespace {

constexpr int most_ucx_ranks = 1024;
// The smallest number that yields an interval.
constexpr int program_rounds = 6;

std::vector<std::string> format_words() {
  return {ucx::format_names.begin(), ucx::format_names.end()};
}

// Returns the names of the UCX variables that are already set.
std::vector<std::string> users_own() {
  std::vector<std::string> names;
  for (char** line = environ; *line != nullptr; ++line) {
    const std::string_view text(*line);
    if (text.starts_with("UCX_")) names.emplace_back(text.substr(0, text.find('=')));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Returns the given version, which may have the form that ucx_info prints.
ucx::Version version_named(const std::string& word) {
  const auto version = ucx::version_from(word);
  if (!version)
    throw UsageError(fmt::format("'{}' is not a version of UCX; write for example 1.13", word));
  return *version;
}

class UcxCommand : public Command {
 public:
  std::string name() const override { return "ucx"; }
  std::string summary() const override { return "print UCX settings that fit this node"; }
  std::string description() const override {
    return "Many MPIs send their messages with UCX, which selects its paths inside a node by "
           "constants: rates that do not depend on the machine, or on the number of ranks that "
           "copy at once. If they are wrong, UCX uses a slower path, or sends part of a large "
           "message through a network card to a rank of the same node. This command prints "
           "settings that replace the constants with rates measured on this machine with this "
           "number of ranks, each with the figure from which it follows. It omits the rate of a "
           "path if UCX could use another path that was not measured, settings that this UCX does "
           "not have, and settings that you have made yourself. Untested settings are printed as "
           "comments. All settings are for jobs with this number of ranks per node: "
           "set them per job, not for all users. huddle changes nothing by itself.";
  }
  std::string examples() const override {
    return "  huddle ucx                     for one rank per core of this machine\n"
           "  huddle ucx --ppn 32 > ucx.sh   for a job script to source: . ./ucx.sh\n"
           "  mpirun $(huddle ucx --format openmpi) -n 4 ./app\n"
           "  huddle ucx --check             show and time UCX without and with the settings\n"
           "  huddle ucx --check --rank-counts 2,4,8 --json > ucx.json\n"
           "  huddle ucx --check mpirun -n 4 ./app   the same for a program, six runs each\n"
           "  huddle ucx --machine songshan --ucx-version 1.9 --ppn 32\n\n"
           "Exit status: 0 success; 1 UCX or a calibration is missing, or, with --check, a network "
           "device carries messages inside the node; 2 wrong usage; 3 the machine file is invalid.";
  }

  void declare(Options& options) override {
    options.number("--ppn", ranks_, 1, most_ucx_ranks, "N",
                   "ranks per node (default: one per core)");
    options.text("--ucx-version", for_, "VERSION",
                 "the version of UCX, such as 1.13 (default: the installed one)");
    options.text("--format", format_, "FORMAT",
                 "env: shell; conf: ucx.conf; openmpi, mpich: options of mpirun; slurm: for srun "
                 "--task-prolog (default: env)");
    options.complete("--format", Value::word, format_words());
    options.flag(
        "--check", check_,
        "show which paths UCX selects without and with the settings; time alltoall and gather "
        "without them, with them and with huddle; and show the traffic of network devices");
    options.text("--mpi", mpi_, "LAUNCHER",
                 "with --check: the launcher of the MPI to time (default: the first in PATH)");
    options.text("--rank-counts", rank_counts_, "LIST",
                 "with --check: numbers of ranks to time, such as 2,4,8 (default: that of --ppn)");
    options.flag("--dry-run", dry_run_, "with --check: only show the paths, time nothing");
    options.text("--ucx-info", tool_, "FILE",
                 "the ucx_info program to query (default: the first in PATH)");
    options.setting("machine");
    options.flag("--json", json_, "print everything as JSON");
    options.rest("COMMAND", command_,
                 "with --check: an MPI program to time instead, without and with the settings");
    options.exclude("--format", "--json");
    options.exclude("--format", "--check");
    options.exclude("--ucx-version", "--check");
  }

  ExitCode run(const Context& context) override {
    const ucx::Format format = format_.empty() ? ucx::Format::env : ucx::format_named(format_);
    if (!for_.empty()) version_named(for_);
    if (!check_ && (!command_.empty() || !mpi_.empty() || !rank_counts_.empty() || dry_run_)) {
      throw UsageError("a program, --mpi, --rank-counts and --dry-run require --check");
    }
    const machine::Discovery here = machine::discover_this_machine();
    const SelectedMachine machine = machine_in_question(context, here.topology);
    if (machine.loaded.path.empty()) {
      throw FailureError("this machine has not been measured; run 'huddle calibrate' first");
    }
    const std::optional<ucx::Tool> tool = tool_for(machine);
    const std::optional<ucx::Library> library =
        tool ? std::optional(tool->library()) : std::nullopt;
    const UcxAdvice given = advice(machine, library);
    const Console& console = context.console;
    if (check_) return check(console, *tool, *library, machine, given);
    const std::string text =
        json_ ? ucx_json(given) : ucx::written(given.heading, given.advice, format);
    if (!json_) note_omitted(console, given, format);
    console.print(text);
    return ExitCode::fine;
  }

 private:
  // Returns none if the machine or the requested version is not here.
  std::optional<ucx::Tool> tool_for(const SelectedMachine& machine) const {
    if (!machine.is_here()) {
      if (for_.empty()) {
        throw UsageError(
            machine.difference() +
            "; name the UCX of the other machine: huddle ucx --ucx-version 1.13 --machine ...");
      }
      return known_without_tool();
    }
    std::string path = tool_;
    if (path.empty()) {
      const char* const search_path = std::getenv("PATH");
      path = ucx::find_tool(search_path == nullptr ? "" : search_path).value_or("");
    }
    if (path.empty()) {
      if (!for_.empty()) return known_without_tool();
      throw FailureError(
          "ucx_info is not in PATH: install the programs of UCX (Debian: ucx-utils), or name one "
          "with --ucx-info");
    }
    ucx::Tool tool(path);
    if (!for_.empty() && tool.library().version != version_named(for_)) return known_without_tool();
    return tool;
  }

  std::optional<ucx::Tool> known_without_tool() const {
    if (version_named(for_) < ucx::oldest_known) {
      throw UsageError(fmt::format(
          "how UCX {} selects paths is not known before {}: name its ucx_info with --ucx-info",
          for_, ucx::text_of(ucx::oldest_known)));
    }
    return std::nullopt;
  }

  UcxAdvice advice(const SelectedMachine& machine,
                   const std::optional<ucx::Library>& library) const {
    const machine::Machine& described = machine.loaded.machine;
    const machine::CostModel model(described);
    UcxAdvice given;
    given.heading.machine = described.name;
    given.heading.version = library ? library->version : version_named(for_);
    given.heading.ranks =
        ranks_ > 0 ? ranks_
                   : static_cast<int>(machine::first_pu_of_cores(described.topology).size());
    if (!library)
      given.heading.doubt =
          "From the machine file and published facts about this UCX, unverified. If its nodes have "
          "a path (KNEM, XPMEM) that the file lacks, set no rates";
    given.advice =
        ucx::advise(model, {.ranks = given.heading.ranks,
                            .version = given.heading.version,
                            .library = library ? &*library : nullptr,
                            .users_own = library ? users_own() : std::vector<std::string>{}});
    return given;
  }

  static void note_omitted(const Console& console, const UcxAdvice& given, ucx::Format format) {
    for (const ucx::Omitted& one : given.advice.omitted) {
      console.note(fmt::format("{} is omitted: {}", one.name, one.why));
    }
    if (!ucx::leaves_out_untested(format)) return;
    for (const ucx::Setting& one : given.advice.untested) {
      console.note(fmt::format(
          "{} is omitted because it was not tested; --format env prints it as a comment",
          one.name));
    }
  }

  ExitCode check(const Console& console, const ucx::Tool& tool, const ucx::Library& library,
                 const SelectedMachine& machine, const UcxAdvice& given) const {
    UcxCheck check;
    check.given = given;
    check.devices = library.devices;
    const auto settings = ucx::lines_of(given.advice.settings);
    check.now = tool.selected(library, {}, given.heading.ranks).selections;
    ucx::Selected advised = tool.selected(library, settings, given.heading.ranks);
    check.advised = std::move(advised.selections);
    check.complaints = std::move(advised.complaints);
    if (!dry_run_ && command_.empty()) {
      for (const int ranks : rank_counts(given)) {
        check.runs.push_back(timed(console, machine, ranks, check.given));
      }
    }
    if (!dry_run_ && !command_.empty()) check.program_runs = program_runs(check.given);
    console.print(json_ ? ucx_check_json(check) : ucx_check_text(check, console.columns));
    const bool is_fine = strays_of(check.now, check.devices).empty() && check.complaints.empty();
    return is_fine ? ExitCode::fine : ExitCode::failure;
  }

  std::vector<int> rank_counts(const UcxAdvice& given) const {
    if (rank_counts_.empty()) return {std::max(given.heading.ranks, 2)};
    std::vector<int> counts;
    for (const std::string_view word : split(rank_counts_, ',')) {
      int count = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
      if (error != std::errc() || end != word.data() + word.size() || count < 2 ||
          count > most_ucx_ranks) {
        throw UsageError(fmt::format(
            "--rank-counts must be a list of numbers from 2 to {}, such as 2,4,8, not '{}'",
            most_ucx_ranks, word));
      }
      counts.push_back(count);
    }
    return counts;
  }

  // Times collectives that consist of large messages between all pairs of ranks.
  UcxRuns timed(const Console& console, const SelectedMachine& machine, int ranks,
                UcxAdvice& given) const {
    const char* const search_path = std::getenv("PATH");
    std::error_code error;
    const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
    UcxRunPlan plan{
        .mpi = bench::find_mpi(mpi_, "", search_path == nullptr ? "" : search_path),
        .job_options = {.ranks = ranks,
                        .programs = launch::find_library(program).folder,
                        .machine_file = std::filesystem::absolute(machine.loaded.path).string()},
        .points = bench::points_of(bench::operations_from("alltoall,gather"),
                                   bench::sizes_from("64K:4M")),
        .effort = {}};
    if (plan.mpi.abi == "openmpi") plan.job_options.environment = take_ucx();
    const Interrupt interrupt;
    PointProgress progress(console, plan.points.size());
    try {
      UcxRuns runs = run_both_ways(plan, given.advice.settings, progress, interrupt.requested());
      progress.finish();
      return runs;
    } catch (const bench::Stopped&) {
      progress.finish();
      interrupt.die();
    }
  }

  UcxProgramRuns program_runs(const UcxAdvice& given) const {
    const Interrupt interrupt;
    UcxProgramRuns runs = run_program_both_ways(command_, given.advice.settings, program_rounds,
                                                interrupt.requested());
    if (runs.runs.interrupted) interrupt.die();
    return runs;
  }

  // Makes Open MPI use UCX, which it selects automatically only with certain network cards.
  static std::vector<std::string> take_ucx() {
    return {"OMPI_MCA_pml=ucx", "OMPI_MCA_opal_common_ucx_tls=any",
            "OMPI_MCA_opal_common_ucx_devices=any"};
  }

  int ranks_ = 0;
  std::string for_, format_, tool_, mpi_, rank_counts_;
  std::vector<std::string> command_;
  bool check_ = false;
  bool dry_run_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_ucx_command() { return std::make_unique<UcxCommand>(); }

}  // namespace huddle::cli
