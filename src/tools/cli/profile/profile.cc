// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle profile`: measures the communication between the ranks or the threads of a program.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/text.h"
#include "placement/profile/collector.h"
#include "placement/profile/document.h"
#include "tools/cli/command.h"
#include "tools/cli/profile/profile_kinds.h"
#include "tools/cli/thread_agent.h"
#include "tools/launch/launch_plan.h"
#include "tools/launch/launcher.h"
#include "tools/launch/preload.h"
#include "tools/launch/program.h"

namespace huddle::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view usual_output = "huddle-comm.json";

std::string amount_text(const profile::Total& total) {
  return fmt::format("{} in {} between {}", size_text(static_cast<double>(total.bytes)),
                     counted(static_cast<long long>(total.messages), "message"),
                     counted(static_cast<long long>(total.pairs), "pair"));
}

std::string summary_text(const profile::Profile& profile, const std::string& output) {
  std::set<std::string> hosts(profile.hosts.begin(), profile.hosts.end());
  hosts.erase("");
  return fmt::format("huddle: {} on {}: {}; {}", counted(profile.ranks, "rank"),
                     counted(static_cast<long long>(hosts.size()), "host"),
                     amount_text(total_of(profile, false)), output);
}

launch::Plan plan_for(const std::vector<std::string>& command, const std::string& folder,
                      const std::string& collector) {
  std::error_code error;
  return launch::make_plan({.command = command,
                            .settings = {},
                            .environment = settings::process_sources().environment,
                            .own_program = fs::read_symlink("/proc/self/exe", error).string(),
                            .purpose = launch::Purpose::profile,
                            .parts_folder = folder,
                            .collector = collector});
}

// Throws FailureError without the preloaded library, because the run would count nothing.
void check_preloaded(const launch::Plan& plan) {
  const bool is_preloaded = std::any_of(
      plan.changes.begin(), plan.changes.end(),
      [](const launch::Variable& change) { return change.name == launch::preload_name; });
  if (!is_preloaded) throw FailureError(plan.notes.front());
}

launch::Ended run_command(const Console& console, const std::vector<std::string>& command,
                          const std::string& folder) {
  const profile::Collector collector(folder);
  const launch::Plan plan = plan_for(command, folder, collector.address());
  check_preloaded(plan);
  for (const std::string& note : plan.notes) console.note("huddle: " + note);
  return launch::run_to_end(
      plan.program, plan.command,
      launch::changed_environment(settings::process_sources().environment, plan.changes));
}

void note_gaps(const Console& console, const profile::Profile& profile) {
  if (!profile.missing.empty()) {
    console.note(fmt::format("huddle: incomplete profile: no data from rank {}",
                             fmt::join(profile.missing, ", ")));
  }
  if (!profile.unfinished.empty()) {
    console.note(fmt::format("huddle: incomplete profile: rank {} ended before MPI_Finalize",
                             fmt::join(profile.unfinished, ", ")));
  }
  if (profile.jobs > 1) {
    console.note(fmt::format("huddle: {} programs called MPI; this is the one that sent most",
                             profile.jobs));
  }
}

bool write_down(const Console& console, const TemporaryFolder& folder, const fs::path& output) {
  const profile::Profile profile = profile::assembled(profile::read_parts(folder.path().string()));
  if (profile.ranks == 0) {
    console.note("huddle: no process called MPI_Init, so nothing was counted");
    return false;
  }
  write_text(profile::document_text(profile), output.string());
  console.note(summary_text(profile, output.string()));
  note_gaps(console, profile);
  return true;
}

// Ends by the same signal as the command, so that the shell sees it.
void end_by(int signal) {
  std::fflush(nullptr);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

ExitCode profile_ranks(const Context& context, const RankProfile& profile) {
  const Console& console = context.console;
  if (profile.dry_run) {
    console.print(launch::shell_line(plan_for(profile.command, "FOLDER", "COLLECTOR")) + "\n");
    return ExitCode::fine;
  }
  const fs::path output =
      fs::absolute(profile.output.empty() ? fs::path(usual_output) : fs::path(profile.output));
  // The ranks write their parts next to the output, where other hosts see the same file system.
  std::error_code error;
  fs::create_directories(output.parent_path(), error);
  error.clear();  // if the folder is missing, creating one in it reports why
  const TemporaryFolder folder(output.parent_path() / ".huddle-profile", error);
  if (error) {
    throw FailureError(fmt::format("cannot write {}: {}", output.string(), error.message()));
  }
  const launch::Ended ended = run_command(console, profile.command, folder.path().string());
  const bool is_written = write_down(console, folder, output);
  if (ended.signal != 0) end_by(ended.signal);
  if (ended.status != 0) return static_cast<ExitCode>(ended.status);
  return is_written ? ExitCode::fine : ExitCode::failure;
}

namespace {

bool starts_ranks(const std::string& word) {
  const char* const search_path = std::getenv("PATH");
  const auto program = launch::find_program(word, search_path == nullptr ? "" : search_path);
  return program && launch::find_launcher(*program);
}

class ProfileCommand : public Command {
 public:
  std::string name() const override { return "profile"; }
  std::string summary() const override {
    return "record how much the ranks or threads of a program communicate";
  }
  std::string description() const override {
    return "Runs COMMAND and records how much its ranks or threads communicate, as input for "
           "huddle map.\n"
           "If COMMAND begins with an MPI launcher, a preloaded library counts the bytes that each "
           "rank sends to each other rank: by point-to-point calls of every mode, by one-sided "
           "calls, and by what collectives imply. You do not have to rebuild the program. "
           "huddle's own collectives are off during the run.\n"
           "For any other program, it observes which threads write to the same memory one after "
           "the other. The program is not changed, and root is not required: some of its pages are "
           "write-protected repeatedly, and the kernel's page faults show which thread writes "
           "next. The report also names the variables or mappings that contain this memory. This "
           "takes about 2 % of the program's CPU time. Reads are not observed, unless "
           "--allow-sysctl lets the kernel's NUMA balancing cause page faults for them.";
  }
  std::string examples() const override {
    return "  huddle profile mpirun -n 16 ./app    ranks: huddle-comm.json\n"
           "  huddle map huddle-comm.json          find a placement for them\n"
           "  huddle profile -o halo.json srun -n 64 ./app\n"
           "  huddle profile --mode ranks ./start.sh\n"
           "                                       a script that starts the launcher\n"
           "  huddle profile --dry-run mpirun -n 2 ./app\n"
           "                                       print the command, do not run it\n"
           "  huddle profile -o app.json ./app     threads\n"
           "  huddle profile --record app.touches ./app\n"
           "                                       for huddle watch --replay app.touches\n"
           "  huddle profile --accuracy            test how well threads are observed\n\n"
           "An MPI program can mark its phases: MPI_Pcontrol(N) starts phase N, and "
           "MPI_Pcontrol(0) stops counting. Programs start in phase 1.\n"
           "Exit status: that of COMMAND; 1 no rank called MPI, 2 COMMAND cannot be executed. With "
           "--accuracy: 0, or 1 if a pattern was not observed correctly.";
  }
  void declare(Options& options) override {
    options.text("-o,--output", output_, "FILE",
                 "write the communication matrix to FILE (default: huddle-comm.json for ranks, no "
                 "file for threads)");
    options.text(
        "--mode", of_, "ranks|threads",
        "what to profile (default: ranks if COMMAND begins with a known launcher, else threads)");
    options.complete("--mode", Value::word, {"ranks", "threads"});
    options.flag("--dry-run", dry_run_,
                 "for ranks: print the command that would be executed, in shell syntax");
    options.text("--record", record_, "FILE",
                 "for threads: write all observations to FILE, for huddle watch --replay");
    options.flag("--accuracy", accuracy_,
                 "profile test programs whose communication is known, and compare; COMMAND may "
                 "name one pattern");
    options.number("--seconds", seconds_, 1, 3600, "N", "run time of each pattern (default: 3)");
    options.text("--observer", observer_, "perf|bpf",
                 "for threads: how page faults are recorded: by the kernel's perf ring buffers, or "
                 "by a BPF program, which requires root (default: perf)");
    options.complete("--observer", Value::word,
                     {threads::observer_names.begin(), threads::observer_names.end()});
    declare_split_huge(options, split_huge_, "for threads");
    declare_allow_sysctl(options, allow_sysctl_, "for threads");
    options.setting("machine");
    options.flag("--json", json_, "for threads: print everything as JSON");
    options.rest("COMMAND", command_, "the launcher or program, with all its arguments");
  }
  ExitCode run(const Context& context) override {
    if (accuracy_) {
      if (command_.size() > 1) {
        throw UsageError("--accuracy accepts the name of at most one pattern");
      }
      return profile_accuracy(context, {command_.empty() ? "" : command_.front(), seconds_,
                                        observer(), allow_sysctl_, json_});
    }
    if (command_.empty()) {
      throw UsageError(
          "the command to profile is missing, for example: huddle profile mpirun -n 4 ./app, or "
          "huddle profile ./app");
    }
    if (!of_.empty() && of_ != "ranks" && of_ != "threads") {
      throw UsageError("--mode must be ranks or threads, not '" + of_ + "'");
    }
    if (of_ == "ranks" || (of_.empty() && starts_ranks(command_.front()))) return ranks(context);
    if (dry_run_) {
      throw UsageError("--dry-run shows how ranks are started, but " + command_.front() +
                       " is not a known launcher: add --mode ranks if it starts one");
    }
    return profile_threads(
        context, {command_, output_, record_, observer(), split_huge_, allow_sysctl_, json_});
  }

 private:
  ExitCode ranks(const Context& context) const {
    if (json_ || !record_.empty() || !observer_.empty() || split_huge_ || allow_sysctl_) {
      throw UsageError(
          "--json, --record, --observer, --split-huge-pages and --allow-sysctl apply to threads, "
          "but " +
          command_.front() + " starts ranks, whose matrix is written to a JSON file (--output)");
    }
    return profile_ranks(context, {command_, output_, dry_run_});
  }

  std::vector<std::string> command_;
  threads::Observer observer() const {
    for (std::size_t i = 0; i < threads::observer_names.size(); ++i) {
      if (observer_ == threads::observer_names[i]) return static_cast<threads::Observer>(i);
    }
    if (observer_.empty()) return threads::Observer::perf;
    throw UsageError("--observer must be perf or bpf, not '" + printable(observer_) + "'");
  }

  std::string output_, record_, of_, observer_;
  int seconds_ = 3;
  bool accuracy_ = false, dry_run_ = false, json_ = false, split_huge_ = false;
  bool allow_sysctl_ = false;
};

}  // namespace

std::unique_ptr<Command> make_profile_command() { return std::make_unique<ProfileCommand>(); }

}  // namespace huddle::cli
