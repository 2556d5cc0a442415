// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "threads/session.h"

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

#include "base/error.h"
#include "place/random.h"
#include "threads/gated_start.h"
#include "threads/helper_port.h"
#include "threads/own_faults.h"
#include "threads/page_faults.h"
#include "threads/protection.h"
#include "threads/thread_list.h"

namespace huddle::threads {
namespace {

// Between two protections of a page threads take turns on a processor, which they do every few
// milliseconds. It becomes longer where the agent itself needs much of the budget.
constexpr std::uint64_t least_round_ns = 10'000'000;
constexpr std::uint64_t most_round_ns = 80'000'000;
constexpr double most_of_budget_for_agent = 0.4;
// Memory is looked for that often: programs ask for it at their start, mostly.
constexpr std::uint64_t search_ns = 500'000'000;

// Signals that would end us are read instead, as long as this lives.
class Signals {
 public:
  Signals() {
    sigset_t taken;
    sigemptyset(&taken);
    for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&taken, one);
    ::sigprocmask(SIG_BLOCK, &taken, &before_);
    arrivals_ = FileDescriptor(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~Signals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  const sigset_t& before() const { return before_; }
  int descriptor() const { return arrivals_.number(); }
  // What a terminal sends, the program has got as well.
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

void carry_out(const Listener::Wish& wish, const ThreadList& threads, Mover* mover) {
  if (mover == nullptr) return;
  mover->look(threads);
  if (wish.gives_back) mover->give_back();
  if (!wish.seats.empty()) mover->move(wish.seats);
}

class Session {
 public:
  Session(const WatchedProgram& program, Listener& listener)
      : stream_(listener), trial_(program.helper.empty() ? Trial{} : try_protection()) {
    start_.emplace(program.file, program.words, environment_of(program), signals_.before());
    process_ = start_->process();
    faults_ = PageFaults::from_exec_of(process_, program.observer);
    budget_.fault_s = trial_.fault_s;
  }
  Session(AwaitedProgram program, Listener& listener, Mover* mover)
      : stream_(listener),
        port_(std::move(program.port)),
        trial_{.works = true, .why_not = {}, .fault_s = program.fault_s},
        go_(std::move(program.go)),
        process_(program.process),
        mover_(mover),
        faults_(PageFaults::from_exec_of(process_)) {
    budget_.fault_s = trial_.fault_s;
  }

  Watched run() {
    const double agent_before_s = own_cpu_s();
    const FileDescriptor hold(static_cast<int>(::syscall(SYS_pidfd_open, process_, 0)));
    if (start_) {
      start_->go();
    } else {
      go_();
    }
    while (wait_for_round(hold.number())) {
      watched_.spent.agent_s = own_cpu_s() - agent_before_s;
      round();
    }
    while (std::optional<Arrival> arrival = port_.accept()) take_in(std::move(*arrival));
    stream_.pass(faults_, processes());
    if (start_) ::waitpid(process_, &watched_.wait_status, 0);
    watched_.seconds = stream_.seconds();
    watched_.touches = stream_.touches();
    watched_.fault_s = budget_.fault_s;
    watched_.lost = faults_.lost();
    watched_.names = stream_.threads().names();
    watched_.notes = notes();
    return std::move(watched_);
  }

 private:
  std::vector<std::string> environment_of(const WatchedProgram& program) const {
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
    lines.push_back(port_.variable());
    return lines;
  }

  // False once the program has ended.
  bool wait_for_round(int hold) {
    for (;;) {
      const std::uint64_t now = now_ns();
      if (now >= next_round_ns_) break;
      std::array<pollfd, 3> waits = {
          {{hold, POLLIN, 0}, {signals_.descriptor(), POLLIN, 0}, {port_.descriptor(), POLLIN, 0}}};
      const timespec wait{.tv_sec = 0, .tv_nsec = static_cast<long>(next_round_ns_ - now)};
      ::ppoll(waits.data(), waits.size(), &wait, nullptr);
      if (start_) {
        signals_.pass_on(process_);
      } else if (waits[1].revents != 0) {
        return false;
      }
      while (std::optional<Arrival> arrival = port_.accept()) take_in(std::move(*arrival));
      if (waits[0].revents != 0) return false;
    }
    // Not in step with the turns that threads take: that would show the same ones again and again.
    const double part = 0.5 + random_.fraction();
    next_round_ns_ = now_ns() + static_cast<std::uint64_t>(part * static_cast<double>(round_ns_));
    return true;
  }

  void take_in(Arrival arrival) {
    has_arrived_ = true;
    if (!arrival.userfaultfd.is_open()) {
      refused_ = arrival.error;
      return;
    }
    protections_.erase(arrival.process);
    Protection protection(arrival.process, std::move(arrival.userfaultfd));
    if (!protection.works()) return;
    next_look_ns_ = next_search_ns_ = 0;  // now
    protections_.emplace(arrival.process, std::move(protection));
  }

  std::vector<pid_t> processes() const {
    std::vector<pid_t> all;
    for (const auto& [process, protection] : protections_) all.push_back(process);
    if (all.empty()) all.push_back(process_);
    return all;
  }

  void round() {
    stream_.pass(faults_, processes());
    const std::vector<Birth> births = faults_.take_births();
    if (mover_ != nullptr) {
      mover_->take(births);
      mover_->check_guardian();
    }
    if (now_ns() >= next_look_ns_) look();
    if (!wish_.touches || protections_.empty()) return;
    int left = budget_.faults_left(watched_.spent);
    for (auto& [process, protection] : protections_) {
      const int faults = protection.rearm(left);
      left -= faults;
      watched_.spent.faults += static_cast<std::uint64_t>(faults);
    }
  }

  void look() {
    const std::uint64_t time_ns = now_ns();
    std::erase_if(protections_, [](const auto& one) { return ::kill(one.first, 0) != 0; });
    const std::vector<pid_t> watched = processes();
    double program_s = 0;
    for (const pid_t process : watched) program_s += process_cpu_s(process);
    Spent& spent = watched_.spent;
    spent.program_s = std::max(spent.program_s, program_s);
    wish_ = stream_.look(watched);
    carry_out(wish_, stream_.threads(), mover_);
    next_look_ns_ = time_ns + static_cast<std::uint64_t>(wish_.next_look_ms) * 1'000'000U;
    if (wish_.touches && time_ns >= next_search_ns_) search(time_ns);
    const bool is_dear = spent.agent_s > most_of_budget_for_agent * budget_.share * spent.program_s;
    round_ns_ = std::clamp(is_dear ? round_ns_ * 2 : round_ns_ / 2, least_round_ns, most_round_ns);
  }

  void search(std::uint64_t time_ns) {
    for (auto one = protections_.begin(); one != protections_.end();) {
      const bool goes_on = one->second.find_ranges();
      has_stepped_aside_ |= !goes_on;
      one = goes_on ? std::next(one) : protections_.erase(one);
    }
    next_search_ns_ = time_ns + search_ns;
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> all;
    if (!trial_.works && !trial_.why_not.empty()) {
      all.push_back("writes were not made visible: " + trial_.why_not);
    } else if (refused_ != 0) {
      all.push_back(fmt::format("the program got no userfaultfd ({}): writes were not made visible",
                                std::strerror(refused_)));
    } else if (!has_arrived_) {
      all.emplace_back(
          "nothing could be preloaded into the program (is it linked statically?): writes were not "
          "made visible, only its own page faults were seen");
    }
    if (has_stepped_aside_) {
      all.emplace_back("the program uses userfaultfd itself: huddle has left its memory alone");
    }
    if (faults_.lost() > 0) {
      all.push_back(fmt::format("{} page faults came too fast and were not seen", faults_.lost()));
    }
    return all;
  }

  TouchStream stream_;
  Signals signals_;
  HelperPort port_;
  Trial trial_;
  std::optional<GatedStart> start_;  // none: somebody else has started it, and waits for it
  std::function<void()> go_;
  pid_t process_ = 0;
  Mover* mover_ = nullptr;
  PageFaults faults_;
  Budget budget_;
  std::map<pid_t, Protection> protections_;
  Watched watched_;
  bool has_arrived_ = false;
  bool has_stepped_aside_ = false;
  int refused_ = 0;
  Listener::Wish wish_;
  place::Random random_{1};
  std::uint64_t round_ns_ = least_round_ns;
  std::uint64_t next_round_ns_ = 0, next_look_ns_ = 0, next_search_ns_ = 0;
};

// A process that was there before us.
class Attachment {
 public:
  Attachment(pid_t process, int seconds, Listener& listener, Mover* mover)
      : process_(process),
        seconds_(seconds),
        mover_(mover),
        stream_(listener),
        hold_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))) {
    if (!hold_.is_open()) throw FailureError(fmt::format("there is no process {}", process));
  }

  Watched run() {
    const double agent_before_s = own_cpu_s();
    const double program_before_s = process_cpu_s(process_);
    Watched watched;
    while (stream_.seconds() < seconds_ && wait_for_round()) {
      stream_.pass(faults_, {process_});
      const std::vector<Birth> births = faults_.take_births();
      if (mover_ != nullptr) {
        mover_->take(births);
        mover_->check_guardian();
      }
      if (now_ns() >= next_look_ns_) look();
      watched.spent.program_s =
          std::max(watched.spent.program_s, process_cpu_s(process_) - program_before_s);
    }
    watched.spent.agent_s = own_cpu_s() - agent_before_s;
    watched.seconds = stream_.seconds();
    watched.touches = stream_.touches();
    watched.lost = faults_.lost();
    watched.names = stream_.threads().names();
    return watched;
  }

 private:
  // False once the process has ended, or somebody wants us to stop.
  bool wait_for_round() const {
    std::array<pollfd, 2> waits = {
        {{hold_.number(), POLLIN, 0}, {signals_.descriptor(), POLLIN, 0}}};
    const timespec wait{.tv_sec = 0, .tv_nsec = static_cast<long>(least_round_ns)};
    return ::ppoll(waits.data(), waits.size(), &wait, nullptr) == 0;
  }
  void look() {
    const Listener::Wish wish = stream_.look({process_});
    carry_out(wish, stream_.threads(), mover_);
    next_look_ns_ = now_ns() + static_cast<std::uint64_t>(wish.next_look_ms) * 1'000'000U;
    for (const auto& [thread, number] : stream_.threads().alive()) {
      if (faults_.is_watching(thread) || faults_.add_thread(thread)) continue;
      const int why = errno;
      // A thread that has ended meanwhile is none to complain of.
      if (why != ESRCH) PageFaults::fail_to_open(why);
    }
    faults_.keep_threads(stream_.threads().alive());
  }

  pid_t process_;
  int seconds_;
  Mover* mover_;
  Signals signals_;
  TouchStream stream_;
  FileDescriptor hold_;
  PageFaults faults_;
  std::uint64_t next_look_ns_ = 0;
};

}  // namespace

Watched watch_process(pid_t process, int seconds, Listener& listener, Mover* mover) {
  return Attachment(process, seconds, listener, mover).run();
}

Watched watch_awaited(AwaitedProgram program, Listener& listener, Mover* mover) {
  return Session(std::move(program), listener, mover).run();
}

Watched watch_program(const WatchedProgram& program, Listener& listener) {
  return Session(program, listener).run();
}

}  // namespace huddle::threads
