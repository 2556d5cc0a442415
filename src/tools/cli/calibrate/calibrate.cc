// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle calibrate: measures this machine and writes its machine file.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "common/file.h"
#include "common/system.h"
#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "model/machine/topology.h"
#include "tools/calibrate/calibrate.h"
#include "tools/calibrate/conditions.h"
#include "tools/calibrate/cores_and_sizes.h"
#include "tools/calibrate/plan.h"
#include "tools/cli/calibrate/calibrate_report.h"
#include "tools/cli/command.h"
#include "tools/cli/progress.h"
#include "tools/cli/selected_machine.h"

namespace huddle::cli {
namespace {

constexpr const char* standard_output = "-";

[[noreturn]] void cannot_write(const std::string& folder, const std::string& why) {
  throw FailureError(
      fmt::format("cannot write to {} ({}); choose another file with --output FILE", folder, why));
}

// Does not create the folder of a file that the user names; the name may be a typing error.
void require_folder_of(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code why;
  if (fs::is_directory(file, why)) {
    throw UsageError(fmt::format("--output {} is a directory; name a file in it", file));
  }
  const fs::path folder = fs::absolute(file).parent_path();
  if (fs::is_directory(folder, why)) return;
  if (why && why != std::errc::no_such_file_or_directory) {
    cannot_write(folder.string(), why.message());
  }
  throw UsageError(
      fmt::format("--output {}: directory {} does not exist; create it, or name another file", file,
                  folder.string()));
}

// Checks write access first, so that no minute of measurements is lost. It creates a file to find
// out, because root may write everywhere except for example in /proc.
void require_writable(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code why;
  fs::path folder = fs::absolute(file).parent_path();
  while (!fs::exists(folder, why)) {
    if (why) cannot_write(folder.string(), why.message());
    folder = folder.parent_path();
  }
  const TemporaryFolder trial(folder / ".huddle", why);
  if (why) cannot_write(folder.string(), why.message());
}

// Returns none for a damaged file, which may be overwritten.
std::optional<machine::Machine> sound_machine(const std::string& file) {
  try {
    return machine::read_machine_file(file);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// Throws UsageError instead of letting a quick calibration, or one in a small cpuset, replace a
// full one, which took a minute and is used by all commands.
void require_no_fuller(const std::string& file, const calibrate::Plan& plan) {
  std::error_code none;
  if (!std::filesystem::exists(file, none)) return;
  const auto there = sound_machine(file);
  if (!there || !calibrate::contains_more(*there, plan)) return;
  throw UsageError(
      fmt::format("{} contains a more complete calibration; replace it with --force, or keep both "
                  "with --output FILE",
                  file));
}

void warn_of_other_work(const Console& console, const std::vector<int>& pus) {
  const auto work = calibrate::other_work(System(), pus, calibrate::pass_a_moment);
  if (!work.empty()) console.note("warning: " + other_work_text(work, pus.size()));
}

// Throws FailureError if most values are unsteady, because every command uses the file.
void require_steady(const Console& console, const calibrate::Outcome& outcome) {
  if (!outcome.is_mostly_doubtful()) return;
  warn_of_doubts(console, outcome.machine);
  throw FailureError(fmt::format(
      "{} of {} measurements are unsteady, and nothing was written. Stop other programs on these "
      "hardware threads and measure again, or write the figures as they are with --force",
      outcome.doubtful, outcome.measurements));
}

class CalibrateCommand : public Command {
 public:
  std::string name() const override { return "calibrate"; }
  std::string summary() const override { return "measure this machine and save the figures"; }
  std::string description() const override {
    return "Measures the cost of communication between the hardware threads that this process may "
           "use: cache lines, copies, hand-offs through shared memory, reading another process's "
           "memory, system calls. Run it on an idle node; measurements that other programs disturb "
           "are marked as unsteady. The result is a machine file in a place where every huddle "
           "command finds it. Ctrl-C ends the measurement at any time and leaves no incomplete "
           "file.";
  }
  std::string examples() const override {
    return "  huddle calibrate              measure (a minute on 2 cores) and save\n"
           "  huddle calibrate --quick      rough figures in 5 seconds\n"
           "  huddle calibrate --dry-run    show the steps and how long they take\n"
           "  huddle calibrate -o x.toml    save to this file, for --machine x.toml\n"
           "  huddle calibrate --network mpirun --host a:8,b:8 -n 16   between nodes\n"
           "  huddle calibrate --dry-run --synthetic 'pack:2 l3:4 core:8 pu:2'\n"
           "  huddle calibrate --from-latencies x.csv -o x.toml   from published latencies\n\n"
           "Only this machine can be measured: --xml and --synthetic require --dry-run.\n"
           "To share the figures with all users of a node, copy the file to /etc/huddle/machines "
           "and keep the name that huddle calibrate gave it; a file with another name is only used "
           "with --machine NAME. The name depends only on the processor and the topology. If two "
           "types of nodes have the same name, write their files with -o, and put each into a "
           "local /etc/huddle/machines on the nodes of its type.\n\n"
           "Exit status: 0 measured, and unsteady figures are marked in the file; 1 the "
           "measurement failed, or most figures are unsteady (they are written only with --force), "
           "or some are and --strict is given.";
  }
  void declare(Options& options) override;
  ExitCode run(const Context& context) override;

 private:
  void check_options() const;
  machine::Discovery discover() const;
  ExitCode show_plan(const Context& context, const machine::Topology& topology,
                     const calibrate::Plan& plan) const;
  void keep(const Context& context, const calibrate::Outcome& outcome,
            const std::string& file) const;

  ExitCode calibrate_network(const Context& context) const;
  ExitCode import_latencies(const Context& context) const;

  bool quick_ = false;
  bool network_ = false;
  std::string mpi_library_;
  std::vector<std::string> launcher_;
  bool json_ = false;
  bool dry_run_ = false;
  bool strict_ = false;
  bool force_ = false;
  std::string output_;
  DescribedMachine described_;
  PublishedOptions published_;
};

void CalibrateCommand::declare(Options& options) {
  options.flag("--quick", quick_, "measure roughly, in less than 5 seconds");
  options.flag(
      "--network", network_,
      "measure the network between nodes, with ranks that LAUNCHER starts on several hosts");
  options.text("--mpi-library", mpi_library_, "FILE",
               "with --network: the library of the MPI, if the launcher does not identify it");
  options.text("-o,--output", output_, "FILE",
               "write the machine file to FILE, or to standard output (-)");
  options.flag("--json", json_, "print everything as JSON");
  options.flag("--dry-run", dry_run_, "show the steps and their expected times, measure nothing");
  options.flag("--force", force_,
               "replace a more complete calibration, and write the file even if most measurements "
               "are unsteady");
  options.flag("--strict", strict_, "exit with status 1 if a measurement is unsteady");
  described_.declare(options);
  published_.declare(options);
  options.rest("LAUNCHER", launcher_,
               "with --network: the launcher and its options, such as mpirun -n 8");
  for (const char* const of_node : {"--xml", "--synthetic", "--strict"}) {
    options.exclude("--network", of_node);
  }
  options.exclude("--from-latencies", "--xml");
  options.exclude("--from-latencies", "--synthetic");
}

void CalibrateCommand::check_options() const {
  if (!launcher_.empty() && !network_) {
    throw UsageError(fmt::format(
        "unknown argument '{}'; to measure between nodes: huddle calibrate --network {}",
        launcher_.front(), fmt::join(launcher_, " ")));
  }
  if (described_.is_given() && !dry_run_) {
    throw UsageError("only this machine can be measured; --xml and --synthetic require --dry-run");
  }
  if (json_ && output_ == standard_output) {
    throw UsageError(
        "--json and --output - cannot both write to standard output; name a file: --output FILE");
  }
}

machine::Discovery CalibrateCommand::discover() const {
  return described_.is_given() ? described_.discover() : machine::discover_this_machine();
}

ExitCode CalibrateCommand::show_plan(const Context& context, const machine::Topology& topology,
                                     const calibrate::Plan& plan) const {
  context.console.print(json_ ? plan_json(plan)
                              : plan_text(topology, plan, context.console.columns));
  return ExitCode::fine;
}

void CalibrateCommand::keep(const Context& context, const calibrate::Outcome& outcome,
                            const std::string& file) const {
  const Console& console = context.console;
  if (file == standard_output) {
    console.print(format_machine(outcome.machine));
    return;
  }
  // Keep what was measured between nodes, which is a separate measurement.
  machine::Machine machine = outcome.machine;
  std::error_code none;
  if (std::filesystem::exists(file, none)) {
    const auto there = sound_machine(file);
    if (there && fingerprint(there->topology) == fingerprint(machine.topology)) {
      machine.networks = there->networks;
      machine.mpi_collectives = there->mpi_collectives;
    }
  }
  write_machine_file(machine, file);
  if (json_) {
    console.print(outcome_json(outcome, file));
    return;
  }
  console.print(summary_text(outcome, console.columns));
  console.print(fmt::format("\nWritten to {}\n", file));
}

// Adds to the existing file; its data about this node are kept.
ExitCode CalibrateCommand::calibrate_network(const Context& context) const {
  const NetworkOptions options{launcher_, mpi_library_, quick_, dry_run_, json_};
  if (dry_run_) return show_network_plan(context, options);
  const machine::Topology topology = machine::discover_this_machine().topology;
  const std::string file = output_.empty() ? machine::user_machine_file(topology) : output_;
  if (file != standard_output) {
    if (!output_.empty()) require_folder_of(file);
    require_writable(file);
  }
  // Throws for an unreadable file instead of overwriting it with a part of its contents.
  std::error_code none;
  machine::Machine machine = file != standard_output && std::filesystem::exists(file, none)
                                 ? machine::read_machine_file(file)
                                 : machine_in_question(context, topology).loaded.machine;
  const bench::network::Measured measured = measure_network(context, options);
  keep_network(machine, measured);
  try {
    machine::validate(machine);
  } catch (const InputError& error) {
    throw FailureError(fmt::format(
        "the measured figures are inconsistent: {}; run 'huddle calibrate' again", error.what()));
  }
  if (file == standard_output) {
    context.console.print(format_machine(machine));
    return ExitCode::fine;
  }
  write_machine_file(machine, file);
  if (json_) {
    context.console.print(network_json(machine, file));
    return ExitCode::fine;
  }
  context.console.print(network_text(measured, context.console.columns));
  context.console.print(fmt::format("\nWritten to {}\n", file));
  return ExitCode::fine;
}

// Writes to standard output by default, because the file does not describe this machine.
ExitCode CalibrateCommand::import_latencies(const Context& context) const {
  const bool to_file = !output_.empty() && output_ != standard_output;
  if (to_file) require_folder_of(output_);
  const std::string text = published_machine_text(context, published_, output_);
  if (to_file) {
    write_text(text, output_);
    context.console.print(fmt::format("Written to {}; to draw it: huddle topo --machine {}\n",
                                      output_, std::filesystem::absolute(output_).string()));
  } else {
    context.console.print(text);
  }
  return ExitCode::fine;
}

ExitCode CalibrateCommand::run(const Context& context) {
  check_options();
  if (!published_.file.empty()) return import_latencies(context);
  if (network_) return calibrate_network(context);
  const machine::Discovery discovery = discover();
  const calibrate::Plan plan = calibrate::make_plan(
      discovery.topology, {discovery.allowed, quick_, calibrate::usable_memory_bytes()});
  for (const std::string& note : plan.notes) context.console.note("note: " + note);
  if (dry_run_) return show_plan(context, discovery.topology, plan);

  const std::string file =
      output_.empty() ? machine::user_machine_file(discovery.topology) : output_;
  if (output_.empty() && !force_) require_no_fuller(file, plan);
  if (!output_.empty() && file != standard_output) require_folder_of(file);
  if (file != standard_output) require_writable(file);
  warn_of_other_work(context.console, plan.pus);

  const Interrupt interrupt;
  MeasureProgress watcher(context.console, plan);
  const calibrate::Outcome outcome =
      calibrate::calibrate(discovery.topology, plan, watcher, interrupt.requested());
  watcher.finish();
  if (outcome.stopped || interrupt.requested()) {
    context.console.note(fmt::format("huddle: {} in step {} of {}; nothing was written",
                                     interrupt.signal_name(), watcher.step() + 1,
                                     plan.steps.size()));
    interrupt.die();
  }
  for (const std::string& note : outcome.notes) context.console.note("note: " + note);
  if (!force_) require_steady(context.console, outcome);
  keep(context, outcome, file);
  // Exits only now if the interrupt arrived while the file was written, which is complete now.
  if (interrupt.requested()) interrupt.die();
  warn_of_doubts(context.console, outcome.machine);
  return strict_ && !outcome.machine.doubts.empty() ? ExitCode::failure : ExitCode::fine;
}

}  // namespace

std::unique_ptr<Command> make_calibrate_command() { return std::make_unique<CalibrateCommand>(); }

}  // namespace huddle::cli
