// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <sys/wait.h>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "common/file.h"
#include "common/settings/settings.h"
#include "common/text.h"
#include "model/machine/machine_file.h"
#include "model/machine/topology.h"
#include "tools/cli/profile/profile_kinds.h"
#include "tools/cli/selected_machine.h"
#include "tools/cli/thread_agent.h"
#include "tools/launch/preload.h"
#include "tools/launch/program.h"
#include "tools/picture/facts.h"

namespace huddle::cli {
namespace {

threads::WatchedProgram program_of(const std::vector<std::string>& command) {
  const std::vector<std::string> environment = settings::process_sources().environment;
  const std::optional<std::string> file =
      launch::find_program(command.front(), settings::value_of(environment, "PATH"));
  if (!file) throw UsageError(launch::why_not_found(command.front()));
  std::error_code ignored;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return {*file, command, environment, launch::find_library(own.string()).threads};
}

int status_for_shell(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::string cut_text(std::uint64_t cut_ns) {
  return fmt::format(
      "the recording contains only the first {} of the run, because huddle watch --replay accepts "
      "at most {} MiB",
      time_text(static_cast<double>(cut_ns)), threads::most_recording_bytes >> 20U);
}

}  // namespace

ExitCode profile_threads(const Context& context, const ThreadProfile& profile) {
  threads::WatchedProgram program = program_of(profile.command);
  program.observer = profile.observer;
  program.splits_huge = profile.splits_huge;
  const machine::Discovery here = machine::discover_this_machine();
  const SelectedMachine machine = machine_in_question(context, here.topology);
  check_observed(machine);
  const machine::CostModel model(machine.loaded.machine);
  const threads::AgentOptions options{.rounds = rounds_if(profile.allows_sysctl)};
  threads::Agent agent(model, here.allowed, options);
  for (const std::string& path : {profile.output, profile.record}) {
    if (!path.empty()) check_writable(path);
  }
  std::optional<threads::RecordingWriter> writer;
  if (!profile.record.empty()) {
    const threads::Recording start{.page_bytes = options.page_bytes,
                                   .names = {},
                                   .events = {},
                                   .rounds = options.rounds,
                                   .machine = format_machine(machine.loaded.machine)};
    writer.emplace(start, threads::most_recording_bytes);
  }
  threads::PageSharing sharing;
  AgentClient client(agent,
                     profile.json ? AgentClient::Keeps::everything : AgentClient::Keeps::decisions,
                     {.writer = writer ? &*writer : nullptr, .sharing = &sharing});
  std::unique_ptr<threads::NumaBalancing> balancing = balancing_if(profile.allows_sysctl);
  threads::Watched watched = watch_program(program, client, balancing.get());
  balancing.reset();

  ThreadsSubject subject{.command = "profile",
                         .title = profile.command.front(),
                         .machine = picture::machine_title(machine.loaded.machine),
                         .matrix = {},
                         .threads = client.threads_at_work(),
                         .decisions = client.decisions(),
                         .touches = watched.touches,
                         .replaced = agent.replaced(),
                         .notes = watched.notes,
                         .playback = {}};
  subject.matrix = threads_matrix(agent, subject.threads, watched.names, options.page_bytes);
  subject.memory = sharing.memory_of(subject.threads);
  subject.unobserved = watched.unobserved;
  subject.matrix.unobserved = {unobserved_text(watched.unobserved)};
  if (const std::string cost = cost_text(watched); !cost.empty()) subject.notes.push_back(cost);
  if (!profile.output.empty()) write_text(format_matrix(subject.matrix), profile.output);
  if (writer) {
    if (const auto cut_ns = writer->cut_ns()) subject.notes.push_back(cut_text(*cut_ns));
    write_text(std::move(*writer).text(watched.names), profile.record);
  }
  // The program's own output may be redirected into a file.
  Console beside = context.console;
  beside.out = context.console.err;
  (profile.json ? context.console : beside)
      .print(profile.json ? threads_json(subject, model.machine())
                          : "\n" + threads_text(subject, beside));
  return static_cast<ExitCode>(status_for_shell(watched.wait_status));
}

}  // namespace huddle::cli
