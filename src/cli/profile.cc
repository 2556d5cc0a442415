// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle profile`: runs a command, and writes down who sent how much to whom.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "launch/child.h"
#include "launch/plan.h"
#include "launch/preload.h"
#include "profile/collector.h"
#include "profile/document.h"

namespace huddle::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view usual_output = "huddle-comm.json";

// Where ranks keep their parts while they run, beside the file to be: what ranks on other hosts see
// of the same file system is there as well.
class PartsFolder {
 public:
  explicit PartsFolder(const fs::path& output) {
    std::error_code error;
    fs::create_directories(output.parent_path(), error);
    std::string name = (output.parent_path() / ".huddle-profile-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw FailureError(fmt::format("{}: cannot be written: {}", output.string(),
                                     std::error_code(errno, std::generic_category()).message()));
    }
    path_ = name;
  }
  ~PartsFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  PartsFolder(const PartsFolder&) = delete;
  PartsFolder& operator=(const PartsFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

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

class ProfileCommand : public Command {
 public:
  std::string name() const override { return "profile"; }
  std::string summary() const override { return "write down who sends how much to whom"; }
  std::string description() const override {
    return "Runs COMMAND with a library preloaded that counts what each rank sends to which: point "
           "to point in every mode, one-sided, and what collectives mean. At the end one file "
           "holds "
           "it, which huddle map reads. Nothing is rebuilt. Put it before the launcher. huddle run "
           "counts nothing of this, and needs this library for nothing.";
  }
  std::string examples() const override {
    return "  huddle profile mpirun -n 16 ./app          huddle-comm.json\n"
           "  huddle map huddle-comm.json                who should sit where\n"
           "  huddle profile --output halo.json srun -n 64 ./app\n"
           "  huddle profile --dry-run mpirun -n 2 ./app only show what would be executed\n"
           "\n"
           "A program marks its phases by MPI_Pcontrol(N): from there on it is in phase N, and in "
           "1 "
           "when it begins; with 0 nothing is counted.\n"
           "Exit status: COMMAND's own; 1 if nothing called MPI, 2 if there is none to execute.";
  }
  void declare(Options& options) override {
    options.text("--output", output_, "FILE", "where to write it; huddle-comm.json");
    options.flag("--dry-run", dry_run_, "print the command that would be executed, for a shell");
    options.rest("COMMAND", command_, "the launcher, and all its words");
  }
  ExitCode run(const Context& context) override {
    if (command_.empty()) {
      throw UsageError(
          "profile what? Say it behind huddle's own options: huddle profile mpirun -n 4 ./app");
    }
    const fs::path output =
        fs::absolute(output_.empty() ? fs::path(usual_output) : fs::path(output_));
    if (dry_run_) {
      context.console.print(launch::shell_line(plan_for("FOLDER", "COLLECTOR")) + "\n");
      return ExitCode::fine;
    }
    const PartsFolder folder(output);
    const launch::Ended ended = run_command(context, folder.path());
    const bool is_written = write_down(context, folder, output);
    if (ended.signal != 0) end_by(ended.signal);
    if (ended.status != 0) return static_cast<ExitCode>(ended.status);
    return is_written ? ExitCode::fine : ExitCode::failure;
  }

 private:
  launch::Ended run_command(const Context& context, const std::string& folder) const {
    const profile::Collector collector(folder);
    const launch::Plan plan = plan_for(folder, collector.address());
    check_preloaded(plan);
    for (const std::string& note : plan.notes) context.console.note("huddle: " + note);
    return launch::run_to_end(
        plan.program, plan.command,
        launch::changed_environment(settings::process_sources().environment, plan.changes));
  }

  launch::Plan plan_for(const std::string& folder, const std::string& collector) const {
    std::error_code error;
    return launch::make_plan({.command = command_,
                              .settings = {},
                              .environment = settings::process_sources().environment,
                              .own_program = fs::read_symlink("/proc/self/exe", error).string(),
                              .purpose = launch::Purpose::profile,
                              .parts_folder = folder,
                              .collector = collector});
  }

  // A run that counts nothing is of no use.
  static void check_preloaded(const launch::Plan& plan) {
    const bool is_preloaded = std::any_of(
        plan.changes.begin(), plan.changes.end(),
        [](const launch::Variable& change) { return change.name == launch::preload_name; });
    if (!is_preloaded) throw FailureError(plan.notes.front());
  }

  static bool write_down(const Context& context, const PartsFolder& folder,
                         const fs::path& output) {
    const profile::Profile profile = profile::assembled(profile::read_parts(folder.path()));
    if (profile.ranks == 0) {
      context.console.note("huddle: no process called MPI_Init, so nothing was counted");
      return false;
    }
    write_text(profile::document_text(profile), output.string());
    context.console.note(summary_text(profile, output.string()));
    note_gaps(context.console, profile);
    return true;
  }

  static void note_gaps(const Console& console, const profile::Profile& profile) {
    if (!profile.missing.empty()) {
      console.note(fmt::format("huddle: incomplete: nothing is known of rank {}",
                               fmt::join(profile.missing, ", ")));
    }
    if (!profile.unfinished.empty()) {
      console.note(fmt::format("huddle: incomplete: rank {} ended before MPI_Finalize",
                               fmt::join(profile.unfinished, ", ")));
    }
    if (profile.jobs > 1) {
      console.note(fmt::format("huddle: {} programs called MPI, and this is the one that sent most",
                               profile.jobs));
    }
  }

  // So that a shell sees what the command ended by.
  static void end_by(int signal) {
    std::fflush(nullptr);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }

  std::string output_;
  std::vector<std::string> command_;
  bool dry_run_ = false;
};

}  // namespace

std::unique_ptr<Command> make_profile_command() { return std::make_unique<ProfileCommand>(); }

}  // namespace huddle::cli
