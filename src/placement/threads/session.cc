// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/session.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "common/error.h"
#include "common/other_processes.h"
#include "common/text.h"
#include "placement/mapping/random.h"
#include "placement/threads/agent_socket.h"
#include "placement/threads/child_processes.h"
#include "placement/threads/page_faults.h"
#include "placement/threads/protection.h"
#include "placement/threads/touch_stream.h"

namespace huddle::threads {
namespace {

// Length of a round, after which pages are protected again. Must be a few milliseconds at least, so
// that threads that share a core take turns in between. Grows if the agent itself uses much of the
// budget.
constexpr std::uint64_t least_round_ns = 10'000'000;
constexpr std::uint64_t most_round_ns = 80'000'000;
constexpr double most_of_budget_for_agent = 0.4;
// Interval of the search for new memory; programs mostly allocate at their start.
constexpr std::uint64_t search_ns = 500'000'000;

// The first census of memory; the intervals double afterwards.
constexpr std::uint64_t first_census_ns = 10'000'000;
constexpr double census_s_a_byte = 2e-12;  // about 8 ns for a page of 4 KiB
constexpr double most_of_program_for_census = 0.001;

// Blocks the signals that would end this process and reads them from a descriptor instead.
class Signals {
 public:
  Signals() {
    sigset_t taken;
    sigemptyset(&taken);
    for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&taken, one);
    ::sigprocmask(SIG_BLOCK, &taken, &before_);
    arrivals_ = FileDescriptor(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  // Discards the signals that have arrived, because the caller stops in an orderly way.
  ~Signals() {
    signalfd_siginfo one{};
    while (::read(arrivals_.number(), &one, sizeof one) == sizeof one) {
    }
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  const sigset_t& before() const { return before_; }
  int descriptor() const { return arrivals_.number(); }
  // Signals from a terminal have also been sent to the program.
  void pass_on(pid_t program) const {
    signalfd_siginfo one{};
    while (::read(arrivals_.number(), &one, sizeof one) == sizeof one) {
      if (one.ssi_code != SI_KERNEL) ::kill(program, static_cast<int>(one.ssi_signo));
    }
  }

 private:
  sigset_t before_{};
  FileDescriptor arrivals_;
};

void carry_out(const TouchObserver::Actions& actions, const ThreadList& threads, Mover* mover) {
  if (mover == nullptr) return;
  mover->look(threads);
  if (actions.restores) mover->restore();
  if (!actions.assignments.empty()) mover->move(actions.assignments);
}

// A watched program with its child processes.
struct Program {
  pid_t process = 0;
  FileDescriptor hold;  // its pidfd
  HelperPort port;
  // readable once the process has become the program; not open if it has
  FileDescriptor until_exec;
  PageFaults faults;
  bool splits_huge = false;
  std::map<pid_t, Protection> protections = {};
  double used_s = 0;         // CPU time
  bool has_arrived = false;  // the helper has connected
  bool has_stepped_aside = false;
  int refused = 0;  // errno of userfaultfd

  std::vector<pid_t> processes() const {
    std::vector<pid_t> all;
    for (const auto& one : protections) all.push_back(one.first);
    if (all.empty() && !until_exec.is_open()) all.push_back(process);
    return all;
  }
};

FileDescriptor hold_process(pid_t process) {
  FileDescriptor hold(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!hold.is_open()) throw FailureError(fmt::format("process {} does not exist", process));
  return hold;
}

class Session {
 public:
  Session(const WatchedProgram& program, TouchObserver& observer, NumaBalancing* balancing)
      : stream_(observer),
        trial_(program.helper.empty() ? Trial{} : try_protection()),
        balancing_(balancing) {
    HelperPort port;
    start_.emplace(program.file, program.words, environment_of(program, port), signals_.before());
    const pid_t process = start_->process();
    programs_.push_back({.process = process,
                         .hold = hold_process(process),
                         .port = std::move(port),
                         .until_exec = {},
                         .faults = PageFaults::from_exec_of(process, program.observer),
                         .splits_huge = program.splits_huge});
    budget_.fault_s = trial_.fault_s;
    watched_.programs = 1;
    watched_.unobserved.splits_huge = program.splits_huge;
  }
  Session(AwaitedProgram program, TouchObserver& observer, const Helpers& helpers)
      : stream_(observer, Numbers::reused),
        trial_{.works = true, .why_not = {}},
        mover_(helpers.mover),
        balancing_(helpers.balancing) {
    budget_.fault_s = 0;
    add(std::move(program));
  }

  Watched run() {
    const double agent_before_s = own_cpu_s();
    if (start_) start_->go();
    while (wait_for_round()) {
      watched_.spent.agent_s = own_cpu_s() - agent_before_s;
      round();
    }
    const std::vector<pid_t> all = processes();
    for (Program& one : programs_) finish(one, all);  // stopped by a signal
    if (start_) ::waitpid(start_->process(), &watched_.wait_status, 0);
    watched_.seconds = stream_.seconds();
    watched_.touches = stream_.touches();
    watched_.fault_s = budget_.fault_s;
    watched_.names = stream_.threads().names();
    watched_.unobserved.reads = balancing_ == nullptr;
    watched_.unobserved.traffic = !stream_.counts_memory();
    if (balancing_ != nullptr) {
      for (std::string& text : balancing_->notes()) note(std::move(text));
    }
    if (watched_.lost > 0) {
      note(fmt::format("{} page faults came too fast to be observed", watched_.lost));
    }
    return std::move(watched_);
  }

 private:
  std::vector<std::string> environment_of(const WatchedProgram& program,
                                          const HelperPort& port) const {
    std::vector<std::string> lines = program.environment;
    if (!trial_.works) return lines;
    const std::string_view preload = "LD_PRELOAD=";
    std::string theirs;
    std::erase_if(lines, [&](const std::string& line) {
      if (!line.starts_with(preload)) return false;
      theirs = line.substr(preload.size());
      return true;
    });
    lines.push_back(
        fmt::format("{}{}{}{}", preload, theirs, theirs.empty() ? "" : ":", program.helper));
    lines.push_back(port.variable());
    return lines;
  }

  // Starts to watch a program, and reports the result to the waiting process. Throws FailureError.
  void add(AwaitedProgram awaited) {
    try {
      const pid_t process = awaited.process.number;
      programs_.push_back({.process = process,
                           .hold = hold_process(process),
                           .port = std::move(awaited.port),
                           .until_exec = std::move(awaited.until_exec),
                           .faults = PageFaults::from_exec_of(process),
                           .splits_huge = awaited.splits_huge});
    } catch (const Error& error) {
      awaited.tell(error.what());
      throw;
    }
    if (!awaited.tell(ready_word)) {
      programs_.pop_back();
      throw FailureError(
          "the program did not wait for the process that observes its threads, and runs without "
          "it");
    }
    budget_.fault_s = std::max(budget_.fault_s, awaited.fault_s);
    ++watched_.programs;
    watched_.unobserved.splits_huge |= programs_.back().splits_huge;
    if (!watched_.report.is_open()) watched_.report = std::move(awaited.report);
  }
  void add_another(AwaitedProgram awaited) {
    try {
      add(std::move(awaited));
    } catch (const Error&) {
      return;  // it runs unwatched and reports that
    }
  }

  // Blocks until the next round. Returns false once all programs have ended, or on a signal.
  bool wait_for_round() {
    for (;;) {
      const std::uint64_t now = now_ns();
      if (now >= next_round_ns_) break;
      if (!wait(next_round_ns_ - now)) return false;
    }
    hears_ = true;
    // Randomized, because rounds in step with the scheduler would always observe the same threads.
    const double part = 0.5 + random_.fraction();
    next_round_ns_ = now_ns() + static_cast<std::uint64_t>(part * static_cast<double>(round_ns_));
    return true;
  }

  bool wait(std::uint64_t most_ns) {
    // ppoll() ignores negative descriptors.
    std::vector<pollfd> waits = {{signals_.descriptor(), POLLIN, 0},
                                 {mover_ == nullptr || !hears_ ? -1 : mover_->socket(), POLLIN, 0}};
    const std::size_t first = waits.size();
    for (const Program& one : programs_) {
      waits.push_back({one.until_exec.number(), POLLIN, 0});
      waits.push_back({one.hold.number(), POLLIN, 0});
      waits.push_back({hears_ ? one.port.descriptor() : -1, POLLIN, 0});
    }
    const timespec time{.tv_sec = 0, .tv_nsec = static_cast<long>(most_ns)};
    ::ppoll(waits.data(), waits.size(), &time, nullptr);
    if (start_) {
      signals_.pass_on(start_->process());
    } else if (waits[0].revents != 0) {
      return false;
    }
    bool has_ended = false;
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      Program& one = programs_[i];
      const std::size_t place = first + 3 * i;
      if (waits[place].revents != 0) one.until_exec = FileDescriptor();
      bool has_come = waits[place + 2].revents != 0;
      while (std::optional<Arrival> arrival = one.port.accept()) {
        take_in(one, std::move(*arrival));
        has_come = false;
      }
      if (has_come) hears_ = false;
      has_ended |= waits[place + 1].revents != 0;
    }
    if (has_ended) remove_ended();
    if (waits[1].revents != 0) {
      if (std::optional<AwaitedProgram> another = mover_->accept()) {
        add_another(std::move(*another));
      } else {
        hears_ = false;
      }
    }
    while (programs_.empty()) {
      std::optional<AwaitedProgram> another =
          mover_ == nullptr ? std::nullopt : mover_->accept_or_close();
      if (!another) return false;
      add_another(std::move(*another));
    }
    return true;
  }

  void remove_ended() {
    pass();
    const std::vector<pid_t> all = processes();
    std::erase_if(programs_, [&](Program& one) {
      if (!is_dead(one.hold.number())) return false;
      finish(one, all);
      return true;
    });
  }

  // `all`: processes of all programs, whose threads keep their numbers.
  void finish(Program& one, const std::vector<pid_t>& all) {
    while (std::optional<Arrival> arrival = one.port.accept()) take_in(one, std::move(*arrival));
    stream_.pass({&one.faults}, all);
    if (mover_ != nullptr) mover_->take(one.faults.take_births());
    ended_s_ += one.used_s;
    watched_.lost += one.faults.lost();
    for (std::string& text : notes_of(one)) note(std::move(text));
  }

  void take_in(Program& program, Arrival arrival) {
    program.has_arrived = true;
    if (!arrival.userfaultfd.is_open()) {
      program.refused = arrival.error;
      return;
    }
    program.protections.erase(arrival.process);
    Protection protection(
        arrival.process, std::move(arrival.userfaultfd),
        program.splits_huge ? Protection::HugePages::split : Protection::HugePages::left_alone);
    if (!protection.works()) return;
    next_look_ns_ = next_search_ns_ = 0;  // at once
    program.protections.emplace(arrival.process, std::move(protection));
  }

  std::vector<pid_t> processes() const {
    std::vector<pid_t> all;
    for (const Program& one : programs_) {
      const std::vector<pid_t> some = one.processes();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  void pass() {
    std::vector<PageFaults*> faults;
    for (Program& one : programs_) faults.push_back(&one.faults);
    stream_.pass(faults, processes());
  }

  void round() {
    pass();
    if (mover_ != nullptr) {
      for (Program& one : programs_) mover_->take(one.faults.take_births());
      mover_->check_guardian();
    }
    if (now_ns() >= next_look_ns_) look();
    if (now_ns() >= next_census_ns_) take_census();
    if (actions_.touches) protect();
  }

  // Distributes the budget evenly over the processes. Skips those with a single thread, which
  // shares no pages.
  void protect() {
    std::map<pid_t, int> threads_of;
    for (const auto& [thread, process] : stream_.threads().processes()) ++threads_of[process];
    std::vector<Protection*> all;
    for (Program& one : programs_) {
      for (auto& [process, protection] : one.protections) {
        if (threads_of[process] > 1) all.push_back(&protection);
      }
    }
    int left = budget_for_protection().faults_left(watched_.spent, static_cast<int>(all.size()));
    for (int rest = static_cast<int>(all.size()); rest > 0; --rest) {
      const int faults = all[static_cast<std::size_t>(rest) - 1]->rearm(left / rest);
      left -= faults;
      watched_.spent.faults += static_cast<std::uint64_t>(faults);
    }
  }

  // Returns half of the budget if NUMA balancing is used. Protection would otherwise use all of it
  // and leave nothing for NUMA balancing, which is slow.
  Budget budget_for_protection() const {
    Budget budget = budget_;
    if (balancing_ != nullptr) budget.share /= 2;
    return budget;
  }

  void account_for_balancing() {
    if (balancing_ == nullptr) return;
    balancing_->account(stream_.touches() - accounted_, budget_, watched_.spent);
    accounted_ = stream_.touches();
  }

  void look() {
    const std::uint64_t time_ns = now_ns();
    Spent& spent = watched_.spent;
    spent.program_s = ended_s_;
    for (Program& one : programs_) {
      std::erase_if(one.protections, [](const auto& old) { return ::kill(old.first, 0) != 0; });
      double used_s = 0;
      for (const pid_t process : one.processes()) used_s += process_cpu_s(process);
      one.used_s = std::max(one.used_s, used_s);
      spent.program_s += one.used_s;
    }
    account_for_balancing();
    actions_ = stream_.look(processes());
    carry_out(actions_, stream_.threads(), mover_);
    next_look_ns_ = time_ns + static_cast<std::uint64_t>(actions_.next_look_ms) * 1'000'000U;
    if (actions_.touches && time_ns >= next_search_ns_) search(time_ns);
    const bool is_dear = spent.agent_s > most_of_budget_for_agent * budget_.share * spent.program_s;
    round_ns_ = std::clamp(is_dear ? round_ns_ * 2 : round_ns_ / 2, least_round_ns, most_round_ns);
  }

  void search(std::uint64_t time_ns) {
    for (Program& program : programs_) {
      for (auto one = program.protections.begin(); one != program.protections.end();) {
        const bool goes_on = one->second.find_ranges();
        program.has_stepped_aside |= !goes_on;
        one = goes_on ? std::next(one) : program.protections.erase(one);
      }
    }
    next_search_ns_ = time_ns + search_ns;
  }

  // Counts memory, for which the kernel walks all page tables. Hence it is done early, for short
  // runs, then at growing intervals, and only while it costs little of the program's CPU time.
  void take_census() {
    if (census_pause_ns_ < search_ns) census_pause_ns_ *= 2;
    next_census_ns_ = now_ns() + census_pause_ns_;
    if (!start_ && !watched_.report.is_open()) return;  // no report is expected
    double used_s = ended_s_;
    double resident = 0;
    for (const pid_t process : processes()) {
      used_s += process_cpu_s(process);
      resident += static_cast<double>(resident_bytes(process));
    }
    const double cost_s = resident * census_s_a_byte;
    if (used_s < std::max(next_census_s_, cost_s / most_of_program_for_census)) return;
    MemoryCensus all;
    for (const pid_t process : processes()) {
      const MemoryCensus one = count_memory(process);
      all.resident_bytes += one.resident_bytes;
      all.shared_bytes = std::max(all.shared_bytes, one.shared_bytes);  // usually the same mappings
      all.huge_bytes += one.huge_bytes;
    }
    if (all.resident_bytes == 0) return;  // it has just ended
    if (!watched_.unobserved.memory) watched_.unobserved.memory.emplace();
    watched_.unobserved.memory->keep_most(all);
    next_census_s_ = 2 * used_s;
  }

  std::vector<std::string> notes_of(const Program& program) const {
    std::vector<std::string> all;
    if (!trial_.works && !trial_.why_not.empty()) {
      all.push_back("writes were not observed: " + trial_.why_not);
    } else if (program.refused != 0) {
      all.push_back(fmt::format("the program got no userfaultfd ({}), so writes were not observed",
                                std::strerror(program.refused)));
    } else if (!program.has_arrived) {
      all.emplace_back(
          "no library could be preloaded into the program (is it statically linked?), so only its "
          "own page faults were observed");
    }
    if (program.has_stepped_aside) {
      all.emplace_back("the program uses userfaultfd itself, so huddle did not protect its memory");
    }
    return all;
  }
  void note(std::string text) {
    std::vector<std::string>& all = watched_.notes;
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
  }

  TouchStream stream_;
  Signals signals_;
  Trial trial_;
  // empty if another process has started the program and waits for it
  std::optional<GatedStart> start_;
  Mover* mover_ = nullptr;
  NumaBalancing* balancing_ = nullptr;
  std::uint64_t accounted_ = 0;    // number of accounted touches
  std::vector<Program> programs_;  // running programs
  double ended_s_ = 0;             // CPU time of programs that have ended
  Budget budget_;
  Watched watched_;
  // False if a connection could not be accepted for lack of descriptors. It stays readable, so that
  // wait() would return at once again and again until the next round.
  bool hears_ = true;
  TouchObserver::Actions actions_;
  mapping::Random random_{1};
  std::uint64_t round_ns_ = least_round_ns;
  std::uint64_t next_round_ns_ = 0, next_look_ns_ = 0, next_search_ns_ = 0;
  std::uint64_t census_pause_ns_ = first_census_ns, next_census_ns_ = 0;
  double next_census_s_ = 0;  // in CPU time of the programs
};

// Watches a process that is already running.
class Attachment {
 public:
  Attachment(pid_t process, int seconds, TouchObserver& observer, const Helpers& helpers)
      : process_(process),
        seconds_(seconds),
        mover_(helpers.mover),
        balancing_(helpers.balancing),
        stream_(observer),
        hold_(hold_process(process)) {
    if (balancing_ == nullptr) return;
    // The cost of a hinting fault is similar to that of a fault by write protection.
    const Trial trial = try_protection();
    if (trial.works) budget_.fault_s = trial.fault_s;
  }

  Watched run() {
    const double agent_before_s = own_cpu_s();
    const double program_before_s = process_cpu_s(process_);
    Watched watched;
    std::uint64_t accounted = 0;  // number of accounted touches
    while (stream_.seconds() < seconds_ && wait_for_round()) {
      stream_.pass({&faults_}, {process_});
      const std::vector<Birth> births = faults_.take_births();
      if (mover_ != nullptr) {
        mover_->take(births);
        mover_->check_guardian();
      }
      const bool is_time = now_ns() >= next_look_ns_;
      if (is_time) look();
      watched.spent.program_s =
          std::max(watched.spent.program_s, process_cpu_s(process_) - program_before_s);
      watched.spent.agent_s = own_cpu_s() - agent_before_s;
      if (is_time && balancing_ != nullptr) {
        balancing_->account(stream_.touches() - accounted, budget_, watched.spent);
        accounted = stream_.touches();
      }
    }
    watched.spent.agent_s = own_cpu_s() - agent_before_s;
    watched.fault_s = budget_.fault_s;
    if (balancing_ != nullptr) watched.notes = balancing_->notes();
    watched.seconds = stream_.seconds();
    watched.touches = stream_.touches();
    watched.lost = faults_.lost();
    watched.names = stream_.threads().names();
    return watched;
  }

 private:
  // Returns false once the process has ended, or on a signal to stop.
  bool wait_for_round() const {
    std::array<pollfd, 2> waits = {
        {{hold_.number(), POLLIN, 0}, {signals_.descriptor(), POLLIN, 0}}};
    const timespec wait{.tv_sec = 0, .tv_nsec = static_cast<long>(least_round_ns)};
    return ::ppoll(waits.data(), waits.size(), &wait, nullptr) == 0;
  }
  void look() {
    const TouchObserver::Actions actions = stream_.look({process_});
    carry_out(actions, stream_.threads(), mover_);
    next_look_ns_ = now_ns() + static_cast<std::uint64_t>(actions.next_look_ms) * 1'000'000U;
    for (const auto& [thread, number] : stream_.threads().alive()) {
      if (faults_.is_watching(thread) || faults_.add_thread(thread)) continue;
      const int why = errno;
      // The thread may have ended in the meantime, which is no error.
      if (why != ESRCH) PageFaults::fail_to_open(why);
    }
    faults_.keep_threads(stream_.threads().alive());
  }

  pid_t process_;
  int seconds_;
  Mover* mover_;
  NumaBalancing* balancing_;
  Budget budget_;
  Signals signals_;
  TouchStream stream_;
  FileDescriptor hold_;
  PageFaults faults_;
  std::uint64_t next_look_ns_ = 0;
};

}  // namespace

Watched watch_process(pid_t process, int seconds, TouchObserver& observer, const Helpers& helpers) {
  return Attachment(process, seconds, observer, helpers).run();
}

Watched watch_awaited(AwaitedProgram program, TouchObserver& observer, const Helpers& helpers) {
  return Session(std::move(program), observer, helpers).run();
}

Watched watch_program(const WatchedProgram& program, TouchObserver& observer,
                      NumaBalancing* balancing) {
  return Session(program, observer, balancing).run();
}

}  // namespace huddle::threads
