// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/thread_agent.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/text.h"
#include "model/machine/topology.h"
#include "placement/threads/child_processes.h"
#include "placement/threads/page_faults.h"
#include "tools/cli/selected_machine.h"
#include "tools/launch/preload.h"
#include "tools/picture/facts.h"

namespace huddle::cli {
namespace {

// The agent may belong to another rank, so do not wait long if it does not respond.
constexpr int longest_start_ms = 10'000;

struct Pipe {
  FileDescriptor out, in;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw FailureError(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  }
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// Reads what was written in one piece; returns an empty string if the writer closed the pipe
// without writing. Other processes may hold a copy of the writing end, so this does not wait for
// its close.
std::string read_word(const FileDescriptor& from, int most_ms) {
  std::array<char, 4096> word{};
  for (;;) {
    pollfd wait{from.number(), POLLIN, 0};
    const int ready = ::poll(&wait, 1, most_ms);
    if (ready < 0) continue;  // interrupted by a signal
    if (ready == 0) return "the process that observes threads does not answer";
    const ssize_t got = ::read(from.number(), word.data(), word.size());
    if (got < 0 && errno == EINTR) continue;
    return got <= 0 ? std::string() : std::string(word.data(), static_cast<std::size_t>(got));
  }
}

// The agent's environment at the time of the fork.
struct Setting {
  const Context& context;
  const AgentRequest& request;
  SelectedMachine machine;
  machine::CpuSet allowed;
  threads::Identity program = {};
  std::string job = {};
  double fault_s = 0;
};

std::string title(const Setting& setting, const threads::Watched& watched) {
  const std::string& first = setting.request.title;
  return watched.programs < 2 ? first : fmt::format("{} and {} more", first, watched.programs - 1);
}

std::string report(const Setting& setting, const threads::Agent& agent, const AgentClient& client,
                   const threads::Watched& watched, std::vector<std::string> notes) {
  const threads::AgentOptions options;
  ThreadsSubject subject{.command = "run",
                         .title = title(setting, watched),
                         .machine = picture::machine_title(setting.machine.loaded.machine),
                         .matrix = {},
                         .threads = client.threads_at_work(),
                         .decisions = client.decisions(),
                         .touches = watched.touches,
                         .replaced = agent.replaced(),
                         .notes = std::move(notes),
                         .moves = setting.request.moves,
                         .playback = {}};
  subject.matrix = threads_matrix(agent, subject.threads, watched.names, options.page_bytes);
  subject.unobserved = watched.unobserved;
  if (const std::string cost = cost_text(watched); !cost.empty()) subject.notes.push_back(cost);
  Console beside = setting.context.console;
  beside.out = beside.err;
  return "\n" + threads_text(subject, beside);
}

// Returns an identifier that the ranks of a job on this node have in common; empty if this is not a
// rank. Hydra does not name its jobs, but one process per node starts all ranks.
std::string job_here() {
  const auto variable = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const std::string job = variable("PMIX_NAMESPACE"); !job.empty()) return "pmix:" + job;
  if (!variable("SLURM_STEP_ID").empty()) {
    return fmt::format("slurm:{}.{}", variable("SLURM_JOB_ID"), variable("SLURM_STEP_ID"));
  }
  if (!variable("MPI_LOCALNRANKS").empty()) return fmt::format("hydra:{}", ::getppid());
  return {};
}

void watch(const Setting& setting, threads::AwaitedProgram program) {
  const machine::CostModel model(setting.machine.loaded.machine);
  std::unique_ptr<threads::Mover> mover;
  if (setting.request.moves) {
    try {
      // Only ranks with the same permission share an agent.
      const std::string job = setting.job.empty() || !setting.request.allows_sysctl
                                  ? setting.job
                                  : setting.job + ":sysctl";
      mover = threads::Mover::join_or_start(program, model.machine().topology, setting.allowed,
                                            setting.request.binding, job,
                                            threads::usual_state_folder());
    } catch (const Error& error) {
      program.tell(error.what());
      return;
    }
    if (!mover) return;
  }
  std::vector<std::string> notes;
  std::unique_ptr<threads::NumaBalancing> balancing;
  try {
    balancing = balancing_if(setting.request.allows_sysctl);
  } catch (const Error& error) {
    notes.emplace_back(error.what());  // the program is observed nevertheless
  }
  threads::Agent agent(model, setting.allowed, {.rounds = rounds_if(balancing != nullptr)});
  AgentClient client(agent, AgentClient::Keeps::latest, {.mover = mover.get()});
  const threads::Watched watched =
      watch_awaited(std::move(program), client, {mover.get(), balancing.get()});
  balancing.reset();
  notes.insert(notes.end(), watched.notes.begin(), watched.notes.end());
  if (mover) {
    for (std::string& note : mover->notes()) notes.push_back(std::move(note));
    mover.reset();
  }
  if (!watched.report.is_open()) return;
  const std::string text = report(setting, agent, client, watched, std::move(notes));
  (void)!::write(watched.report.number(), text.data(), text.size());
}

// Raises the limit of descriptors: each observed program needs one per hardware thread.
void allow_many_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

[[noreturn]] void become_agent(const Setting& setting, threads::HelperPort port, Pipe ready,
                               Pipe exec) {
  // Writing to a pipe without a reader must be an error, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  allow_many_descriptors();
  exec.in.release();  // detach() closes it
  threads::AwaitedProgram program{
      .process = setting.program,
      .fault_s = setting.fault_s,
      .splits_huge = setting.request.splits_huge,
      .port = std::move(port),
      .ready = std::move(ready.in),
      .until_exec = std::move(exec.out),
      .report = FileDescriptor(setting.request.tells ? ::dup(STDERR_FILENO) : -1)};
  threads::detach("huddle-agent", {program.port.descriptor(), program.ready.number(),
                                   program.until_exec.number(), program.report.number()});
  try {
    watch(setting, std::move(program));
  } catch (const std::exception&) {
    ::_exit(1);  // the waiting process has read a message, or finds the pipe closed
  }
  ::_exit(0);
}

// Forks twice, so that the agent is not a child of the program that this process becomes. The
// program must not wait for a child that it does not know.
void fork_agent(const Setting& setting, threads::HelperPort& port, Pipe& ready, Pipe& exec) {
  const pid_t between = ::fork();
  if (between < 0) {
    throw FailureError(fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  if (between == 0) {
    if (::fork() == 0) become_agent(setting, std::move(port), std::move(ready), std::move(exec));
    ::_exit(0);
  }
  uninterrupted([&] { return ::waitpid(between, nullptr, 0); });
}

std::string why_not(const AgentRequest& request, const SelectedMachine& machine,
                    const machine::CpuSet& allowed) {
  if (request.library.empty()) return "libhuddle_threads.so is missing; reinstall huddle";
  if (!launch::can_be_preloaded(request.library)) {
    return request.library + " has a space or a colon in its path, so it cannot be preloaded";
  }
  if (request.moves && !machine.is_here()) return machine.difference();
  if (request.moves && allowed.count() < 2) {
    return "this program may use only one hardware thread";
  }
  if (const threads::Trial trial = threads::try_page_faults(); !trial.works) {
    return "page faults cannot be observed here: " + trial.why_not;
  }
  return {};
}

}  // namespace

StartedAgent start_agent(const Context& context, const AgentRequest& request) {
  const auto none = [](const std::string& why) {
    return StartedAgent{.note = "threads are not observed: " + why};
  };
  const machine::Discovery here = machine::discover_this_machine();
  SelectedMachine machine = machine_in_question(context, here.topology);
  if (const std::string why = why_not(request, machine, here.allowed); !why.empty()) {
    return none(why);
  }
  const threads::Trial protection = threads::try_protection();
  if (!protection.works) return none("writes cannot be observed: " + protection.why_not);
  const machine::CpuSet allowed =
      machine.is_here() ? here.allowed : machine.loaded.machine.topology.pus;
  if (request.allows_sysctl && ::geteuid() != 0) {
    context.console.note(
        "huddle: --allow-sysctl requires root to turn NUMA balancing on, so reads are not "
        "observed");
  }
  const Setting setting{.context = context,
                        .request = request,
                        .machine = std::move(machine),
                        .allowed = allowed,
                        .program = threads::own_identity(),
                        .job = job_here(),
                        .fault_s = protection.fault_s};
  threads::HelperPort port;
  StartedAgent started{.preload = request.library, .variable = port.variable()};
  Pipe ready = make_pipe();
  Pipe exec = make_pipe();
  fork_agent(setting, port, ready, exec);
  ready.in = FileDescriptor();
  const std::string said = read_word(ready.out, longest_start_ms);
  if (said != threads::ready_word)
    return none(said.empty() ? "the process that observes threads has ended unexpectedly" : said);
  started.until_exec = std::move(exec.in);
  return started;
}

void declare_binding(Options& options, std::string& word, const std::string& option) {
  options.text("--bind", word, "group|core",
               "with " + option +
                   ": what each thread is bound to: all hardware threads of the innermost cache "
                   "that several cores share (group), or one core (default: group)");
  options.complete("--bind", Value::word,
                   {threads::binding_names.begin(), threads::binding_names.end()});
}

void declare_split_huge(Options& options, bool& splits, const std::string& when) {
  options.flag("--split-huge-pages", splits,
               when +
                   ": split huge pages to observe them; otherwise they are not split, and threads "
                   "that share them are not observed");
}

void declare_allow_sysctl(Options& options, bool& allows, const std::string& when) {
  options.flag(
      "--allow-sysctl", allows,
      when +
          ": also observe reads, by turning on the kernel's NUMA balancing meanwhile; this "
          "requires root, is slow, and causes page faults in every program of this machine");
}

std::unique_ptr<threads::NumaBalancing> balancing_if(bool allowed) {
  if (!allowed) return nullptr;
  if (::geteuid() != 0) {
    throw FailureError(
        "--allow-sysctl requires root, because it turns NUMA balancing on for all programs");
  }
  return std::make_unique<threads::NumaBalancing>(threads::machine_state_folder);
}

threads::Rounds rounds_if(bool balancing) {
  return balancing ? threads::Rounds::of_pages : threads::Rounds::of_decisions;
}

void check_observed(const SelectedMachine& machine) {
  if (machine.is_here()) return;
  throw InputError(machine.difference() +
                   "; to use another machine, record with 'huddle profile --record FILE', then run "
                   "'huddle watch --replay FILE --machine NAME'");
}

threads::Binding binding_named(const std::string& word) {
  for (std::size_t i = 0; i < threads::binding_names.size(); ++i) {
    if (word == threads::binding_names[i]) return static_cast<threads::Binding>(i);
  }
  throw UsageError(fmt::format("--bind must be group or core, not '{}'", printable(word)));
}

}  // namespace huddle::cli
