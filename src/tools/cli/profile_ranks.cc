// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/profile_ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/temporary_folder.h"
#include "common/text.h"
#include "placement/profile/collector.h"
#include "placement/profile/document.h"
#include "tools/launch/child.h"
#include "tools/launch/plan.h"
#include "tools/launch/preload.h"

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

// A run that counts nothing is of no use.
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

// So that a shell sees what the command ended by.
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
  // The ranks write their parts beside the output, where ranks on other hosts see the same file
  // system.
  std::error_code error;
  fs::create_directories(output.parent_path(), error);
  error.clear();  // if the folder is missing, making one in it reports why
  const TemporaryFolder folder(output.parent_path() / ".huddle-profile", error);
  if (error) {
    throw FailureError(fmt::format("{}: cannot be written: {}", output.string(), error.message()));
  }
  const launch::Ended ended = run_command(console, profile.command, folder.path().string());
  const bool is_written = write_down(console, folder, output);
  if (ended.signal != 0) end_by(ended.signal);
  if (ended.status != 0) return static_cast<ExitCode>(ended.status);
  return is_written ? ExitCode::fine : ExitCode::failure;
}

}  // namespace huddle::cli
