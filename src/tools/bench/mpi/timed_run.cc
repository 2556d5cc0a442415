// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/bench/mpi/timed_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/start_program.h"
#include "common/system.h"
#include "tools/bench/mpi/mpi_job.h"
#include "tools/calibrate/conditions.h"
#include "tools/calibrate/statistics.h"

namespace huddle::bench {

pid_t spawn(Spawned spawned, int input, int output, bool ignores_child_signal) {
  const std::string program = spawned.program;
  ProgramStart start{.program = std::move(spawned.program),
                     .words = std::move(spawned.words),
                     .environment = std::move(spawned.environment),
                     .input = input,
                     .output = output,
                     .leads_group = true,
                     .ends_with_parent = true};
  if (ignores_child_signal) start.ignored_signals.push_back(SIGCHLD);
  const pid_t child = start_program(std::move(start));
  if (child >= 0) return child;
  throw FailureError(fmt::format("cannot start {}: {}", program, std::strerror(errno)));
}

namespace {
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_kept_bytes = 64 * 1024;
constexpr int poll_ms = 100;  // between two checks of the stop request
constexpr std::chrono::seconds farewell{5};
constexpr int exit_status_of_signal_0 = 128;
constexpr int unknown_status = EXIT_FAILURE;

// Reopens standard input if it is a file, so that it is read from its beginning.
FileDescriptor fresh_input() {
  struct stat input {};
  const bool is_file = ::fstat(STDIN_FILENO, &input) == 0 && S_ISREG(input.st_mode);
  FileDescriptor fresh(::open(is_file ? "/proc/self/fd/0" : "/dev/null", O_RDONLY | O_CLOEXEC));
  if (fresh.is_open()) return fresh;
  throw FailureError(
      fmt::format("cannot reopen standard input for each run: {}", std::strerror(errno)));
}

std::array<int, 2> new_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0 || ::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
    throw FailureError(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  }
  return ends;
}

// Returns false if no more data will come or none is available now.
bool read_some(const FileDescriptor& from, std::string& output, const OutputWatch& watch) {
  std::array<char, 65536> block{};
  const ssize_t got = ::read(from.number(), block.data(), block.size());
  if (got <= 0) return got < 0 && errno == EINTR;
  const std::string_view more(block.data(), static_cast<std::size_t>(got));
  output += more;
  if (watch) watch(more);
  if (output.size() > 2 * most_kept_bytes) output.erase(0, output.size() - most_kept_bytes);
  return true;
}

double seconds_of(const timeval& time) {
  constexpr double seconds_per_us = 1e-6;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * seconds_per_us;
}

// A child process and its process group. The destructor kills the group if the child has not ended.
class Child {
 public:
  Child(const Spawned& command, int input, int output)
      : process_(spawn(command, input, output, child_signal_.was_ignored())) {}
  ~Child() {
    if (!ended_) {
      ::kill(-process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t process() const { return process_; }
  int status() const { return status_; }               // Requires: has_ended()
  double cpu_seconds() const { return cpu_seconds_; }  // Requires: has_ended()
  bool has_ended() {
    int status = 0;
    rusage usage{};
    if (ended_) return true;
    const pid_t ended = ::wait4(process_, &status, WNOHANG, &usage);
    if (ended < 0 && errno == ECHILD) {
      ended_ = true;
      status_ = unknown_status;
    } else if (ended == process_) {
      ended_ = true;
      status_ =
          WIFSIGNALED(status) ? exit_status_of_signal_0 + WTERMSIG(status) : WEXITSTATUS(status);
      cpu_seconds_ = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    }
    return ended_;
  }
  // Terminates the process group, and kills it if it does not end in time.
  void end() {
    ::kill(-process_, SIGTERM);
    const auto latest = Clock::now() + farewell;
    while (!has_ended() && Clock::now() < latest) ::poll(nullptr, 0, poll_ms);
    ::kill(-process_, SIGKILL);
  }

 private:
  DefaultChildSignal child_signal_;  // precedes the process that it waits for
  pid_t process_;
  bool ended_ = false;
  int status_ = 0;
  double cpu_seconds_ = 0;
};

}  // namespace

TimedRun timed_run(const Spawned& command, const std::atomic<bool>& stop,
                   const OutputWatch& watch) {
  const FileDescriptor input = fresh_input();
  const std::array<int, 2> ends = new_pipe();
  const FileDescriptor out(ends[0]);
  FileDescriptor in(ends[1]);
  const auto start = Clock::now();
  Child child(command, input.number(), in.number());
  in = FileDescriptor();
  // Wakes poll() when the program ends, even if a background process keeps the pipe open.
  const FileDescriptor ended(static_cast<int>(::syscall(SYS_pidfd_open, child.process(), 0)));
  std::string output;
  bool more_output = true;
  while (!child.has_ended()) {
    if (stop.load()) {
      child.end();
      throw Stopped();
    }
    std::array<pollfd, 2> watched = {pollfd{ended.number(), POLLIN, 0},
                                     pollfd{more_output ? out.number() : -1, POLLIN, 0}};
    if (::poll(watched.data(), watched.size(), poll_ms) <= 0) continue;
    if (watched[1].revents != 0) more_output = read_some(out, output, watch);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  while (read_some(out, output, watch)) {
  }
  if (output.size() > most_kept_bytes) output.erase(0, output.size() - most_kept_bytes);
  return {.wall_seconds = seconds,
          .cpu_seconds = child.cpu_seconds(),
          .status = child.status(),
          .output = std::move(output)};
}

namespace {

TimedRun good_run(const Spawned& command, Side side, const std::atomic<bool>& stop) {
  TimedRun run = timed_run(command, stop);
  if (run.status == 0) return run;
  throw FailureError(
      fmt::format("a run {} huddle failed with exit status {}, so there is nothing to compare{}{}",
                  side == Side::huddle ? "with" : "without", run.status,
                  run.output.empty() ? "" : ":\n", run.output));
}

// A run, and the CPU times of the machine before and after it.
struct MeasuredRun {
  TimedRun run;
  std::optional<calibrate::CpuTimes> before = {};
  std::optional<calibrate::CpuTimes> after = {};
};

void keep(SideRuns& side, const MeasuredRun& one) {
  side.wall_seconds.push_back(one.run.wall_seconds);
  side.cpu_seconds.push_back(one.run.cpu_seconds);
  if (!one.before || !one.after) return;
  side.machine_seconds.push_back(one.after->used_seconds - one.before->used_seconds);
  side.stolen_seconds.push_back(one.after->stolen_seconds - one.before->stolen_seconds);
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

Estimate WholeRuns::speedup() const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds(); ++i) {
    ratios.push_back(of(Side::native).wall_seconds[i] / of(Side::huddle).wall_seconds[i]);
  }
  return estimate(ratios);
}

std::optional<MachineLoad> WholeRuns::load() const {
  double wall = 0;
  double own = 0;
  double all = 0;
  double stolen = 0;
  for (const SideRuns& side : sides) {
    if (side.machine_seconds.size() != side.wall_seconds.size()) return std::nullopt;
    wall += sum_of(side.wall_seconds);
    own += sum_of(side.cpu_seconds);
    all += sum_of(side.machine_seconds);
    stolen += sum_of(side.stolen_seconds);
  }
  if (wall < std::chrono::duration<double>(calibrate::shortest_observation).count()) {
    return std::nullopt;
  }
  const double others = std::max(0.0, all - own);
  // Interrupts on behalf of the runs grow with the hardware threads that the runs use, and the
  // tolerance allows for those of each.
  const double share = (others + stolen) / std::max(wall, own);
  return MachineLoad{.pus = pus,
                     .others = others / wall,
                     .stolen = stolen / wall,
                     .is_busy = share > calibrate::usual_tolerance.taken_away};
}

WholeRuns compare_whole_runs(Spawned native, Spawned huddle, int rounds, RunWatcher& watcher,
                             const std::atomic<bool>& stop) {
  WholeRuns runs{.sides = {SideRuns{std::move(native)}, SideRuns{std::move(huddle)}}};
  std::size_t done = 0;
  const System system;
  const auto run = [&](Side side) {
    watcher.begin(side, done++);
    MeasuredRun measured{.run = {}, .before = calibrate::cpu_times(system)};
    measured.run = good_run(runs.of(side).command, side, stop);
    measured.after = calibrate::cpu_times(system);
    return measured;
  };
  try {
    const MeasuredRun warm_up = run(Side::native);
    runs.pus = warm_up.before ? warm_up.before->pus : 0;
    for (int round = 0; round < rounds; ++round) {
      const bool huddle_first = round % 2 == 0;
      const Side first = huddle_first ? Side::huddle : Side::native;
      const Side second = huddle_first ? Side::native : Side::huddle;
      const MeasuredRun one = run(first);
      const MeasuredRun other = run(second);
      keep(runs.of(first), one);
      keep(runs.of(second), other);
      runs.huddle_output = huddle_first ? one.run.output : other.run.output;
      watcher.end_round(runs);
    }
  } catch (const Stopped&) {
    runs.interrupted = true;
  }
  return runs;
}

}  // namespace huddle::bench
