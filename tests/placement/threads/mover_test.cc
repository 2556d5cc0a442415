// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Binds real threads, and kills the agents that have bound them.
#include "placement/threads/mover.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <future>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "../../common/comes_true.h"
#include "../../common/scratch.h"
#include "common/error.h"
#include "common/system.h"
#include "placement/mapping/random.h"
#include "placement/threads/agent_socket.h"
#include "placement/threads/page_faults.h"
#include "placement/threads/session.h"

namespace huddle::threads {
namespace {

using machine::CpuSet;
using test::comes_true;

constexpr int program_threads = 4;

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) std::abort();
  return ends;
}
char read_byte(int from) {
  char byte = 0;
  return ::read(from, &byte, 1) == 1 ? byte : '\0';
}
void write_byte(int to) { (void)!::write(to, "x", 1); }

// A process with threads that sleep. Each byte that it receives makes it start another one.
class Sleepers {
 public:
  Sleepers() {
    const auto orders = make_pipe();
    const auto answers = make_pipe();
    process_ = ::fork();
    if (process_ == 0) {
      ::close(orders[1]);
      for (int thread = 1; thread < program_threads; ++thread) start_one();
      write_byte(answers[1]);
      while (read_byte(orders[0]) != '\0') {
        start_one();
        write_byte(answers[1]);
      }
      ::_exit(0);
    }
    ::close(orders[0]);
    ::close(answers[1]);
    orders_ = orders[1];
    answers_ = answers[0];
    read_byte(answers_);
  }
  ~Sleepers() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    ::close(orders_);
    ::close(answers_);
  }
  Sleepers(const Sleepers&) = delete;
  Sleepers& operator=(const Sleepers&) = delete;

  pid_t process() const { return process_; }
  void start_another() const {
    write_byte(orders_);
    read_byte(answers_);
  }
  bool all_have(const CpuSet& mask) const {
    const SystemMasks masks;
    for (const pid_t thread : masks.threads_of(process_)) {
      const auto one = masks.mask(thread);
      if (one && *one != mask) return false;
    }
    return true;
  }
  bool is_bound() const {
    const SystemMasks masks;
    return masks.mask(process_).value_or(CpuSet()).count() == 1;
  }

 private:
  static void start_one() {
    std::thread([] {
      for (;;) ::pause();
    }).detach();
  }
  pid_t process_ = -1;
  int orders_ = -1, answers_ = -1;
};

class MoverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = SystemMasks().mask(::gettid()).value_or(CpuSet());
    if (before_.count() < 2) GTEST_SKIP() << "one processor: nobody can be bound";
    topology_.pus = before_;
    folder_ = scratch_.path("state");
  }

  std::vector<Assignment> assignments(int shift) const {
    std::vector<Assignment> all;
    for (int thread = 0; thread < program_threads; ++thread) {
      const auto place = static_cast<std::size_t>((thread + shift) % before_.count());
      all.push_back({thread, before_.cpus()[place]});
    }
    return all;
  }
  std::unique_ptr<Mover> mover_of(const Sleepers& program) const {
    return std::make_unique<Mover>(program.process(), topology_, before_, Binding::core, folder_);
  }
  bool is_folder_gone() const { return !System().exists(folder_); }

  // A process that moves threads back and forth until it is killed, and writes a byte per move.
  struct Agent {
    pid_t process = 0;
    int moves = -1;

    void end() const {
      ::kill(process, SIGKILL);
      ::waitpid(process, nullptr, 0);
      ::close(moves);
    }
  };
  Agent start_agent(const Sleepers& program) const {
    const auto moves = make_pipe();
    const pid_t process = ::fork();
    if (process == 0) {
      ::close(moves[0]);
      const std::unique_ptr<Mover> mover = mover_of(program);
      ThreadList threads;
      for (int move = 0;; ++move) {
        threads.look({program.process()});
        mover->look(threads);
        mover->move(assignments(move));
        mover->check_guardian();
        // The reader may be slower.
        if (move < 1000) write_byte(moves[1]);
      }
    }
    ::close(moves[1]);
    return {process, moves[0]};
  }
  // Returns the guardian of the only agent in the folder.
  Identity guardian() const {
    const auto all = StateFolder(folder_).living();
    return all.empty() ? Identity{} : all.front().guardian;
  }

  const test::Scratch scratch_;
  std::string folder_;
  CpuSet before_;
  machine::Topology topology_;
};

TEST_F(MoverTest, BindsAndRestoresAtItsEnd) {
  const Sleepers program;
  std::unique_ptr<Mover> mover = mover_of(program);
  ThreadList threads;
  threads.look({program.process()});
  mover->look(threads);
  mover->move(assignments(0));
  EXPECT_TRUE(program.is_bound());
  EXPECT_EQ(mover->standing().assignments.size(), std::size_t{program_threads});
  EXPECT_EQ(mover->standing().assignments.at(1), before_.cpus()[1]);
  mover->restore();
  EXPECT_TRUE(program.all_have(before_));
  mover->move(assignments(1));
  EXPECT_FALSE(program.all_have(before_));
  mover.reset();
  EXPECT_TRUE(program.all_have(before_));
  EXPECT_TRUE(is_folder_gone());
}

TEST_F(MoverTest, ProgramCannotHaveTwoAgents) {
  const Sleepers program;
  const auto first = mover_of(program);
  EXPECT_THROW(mover_of(program), FailureError);
}

// For two programs, in both orders of their ends.
TEST_F(MoverTest, TwoAgentsNeverClaimTheSameHardwareThread) {
  for (const bool first_ends_first : {true, false}) {
    const Sleepers here, there;
    std::unique_ptr<Mover> first = mover_of(here);
    // In a separate process, because claims are per process.
    const Agent second = start_agent(there);
    // after the first move, all of its threads have claims and keep that number
    read_byte(second.moves);
    EXPECT_TRUE(there.is_bound());
    ThreadList threads;
    threads.look({here.process()});
    first->look(threads);
    if (before_.count() <= program_threads) {
      // Holds the lock, so that this is between two moves of the other agent.
      first->move(assignments(0));
      EXPECT_TRUE(first->standing().allowed.empty());
      EXPECT_TRUE(here.all_have(before_));
      EXPECT_THAT(first->notes(), ::testing::ElementsAre(::testing::HasSubstr("1 move not made")));
    }
    if (first_ends_first) first.reset();
    second.end();
    EXPECT_TRUE(comes_true([&] { return there.all_have(before_); }));
    if (first) {
      EXPECT_TRUE(comes_true([&] { return StateFolder(folder_).living().size() == 1; }));
      first->look(threads);
      first->move(assignments(0));
      EXPECT_TRUE(here.is_bound());
      first.reset();
    }
    EXPECT_TRUE(here.all_have(before_));
    EXPECT_TRUE(comes_true([&] { return is_folder_gone(); }));
  }
}

TEST_F(MoverTest, NewThreadsOfBoundThreadAreFree) {
  const Sleepers program;
  const auto mover = mover_of(program);
  ThreadList threads;
  threads.look({program.process()});
  mover->look(threads);
  mover->move({{0, before_.first()}});
  program.start_another();
  threads.look({program.process()});
  mover->look(threads);
  const SystemMasks masks;
  for (const pid_t thread : masks.threads_of(program.process())) {
    EXPECT_EQ(masks.mask(thread)->count(), thread == program.process() ? 1 : before_.count());
  }
}

// The listener's requests are carried out while a process is watched, and the kernel reports new
// threads.
TEST_F(MoverTest, BindsThreadsOfWatchedProcess) {
  if (!try_page_faults().works) GTEST_SKIP() << "page faults cannot be watched here";
  const Sleepers program;
  class Wishful : public TouchObserver {
   public:
    explicit Wishful(int processor, const Sleepers& sleepers)
        : processor_(processor), sleepers_(sleepers) {}
    void take(const Touch&) override {}
    Actions take(const Look&) override {
      ++looks_;
      if (looks_ == 3) sleepers_.start_another();
      return {.touches = false, .next_look_ms = 50, .assignments = {{0, processor_}}};
    }

   private:
    int processor_, looks_ = 0;
    const Sleepers& sleepers_;
  };
  {
    const auto mover = mover_of(program);
    Wishful wishful(before_.first(), program);
    watch_process(program.process(), 1, wishful, {.mover = mover.get()});
    const SystemMasks masks;
    EXPECT_TRUE(program.is_bound());
    for (const pid_t thread : masks.threads_of(program.process())) {
      if (thread == program.process()) continue;
      EXPECT_EQ(masks.mask(thread), before_);
    }
    EXPECT_EQ(masks.threads_of(program.process()).size(), std::size_t{program_threads} + 1);
  }
  EXPECT_TRUE(program.all_have(before_));
}

// A library that counts the hardware threads when it is loaded counts those of the loading thread:
// if that is bound to its group, the library still sees the whole group.
TEST_F(MoverTest, OpenBlasLoadedLateSeesTheGroup) {
  const machine::Level shared{.name = "l3", .groups = {before_}, .bytes = {}};
  topology_.levels = {shared};
  for (const Binding binding : {Binding::group, Binding::core}) {
    const auto orders = make_pipe();
    const auto answers = make_pipe();
    const pid_t process = ::fork();
    if (process == 0) {
      ::dup2(orders[0], STDIN_FILENO);
      ::dup2(answers[1], STDOUT_FILENO);
      for (const int end : {orders[0], orders[1], answers[0], answers[1]}) ::close(end);
      const char* const program = HUDDLE_BINARY_DIR "/tests/placement/threads/hostile/hostile";
      ::execl(program, program, "late-blas", nullptr);
      ::_exit(1);
    }
    ::close(orders[0]);
    ::close(answers[1]);
    for (char byte = ' '; byte != '\n' && byte != '\0';) byte = read_byte(answers[0]);
    int status = 0;
    std::string answer;
    {
      Mover mover(process, topology_, before_, binding, folder_);
      ThreadList threads;
      threads.look({process});
      mover.look(threads);
      mover.move({{0, before_.first()}});
      write_byte(orders[1]);
      for (char byte = read_byte(answers[0]); byte != '\n' && byte != '\0';) {
        answer += byte;
        byte = read_byte(answers[0]);
      }
      ::waitpid(process, &status, 0);
    }
    ::close(orders[1]);
    ::close(answers[0]);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    if (answer == "none") GTEST_SKIP() << "there is no OpenBLAS here";
    const int processors = binding == Binding::group ? before_.count() : 1;
    EXPECT_EQ(answer, std::to_string(processors));
  }
}

// Writes a byte and stops before the second mask is set.
class StopsAtTheSecond final : public ThreadMasks {
 public:
  explicit StopsAtTheSecond(int tell) : tell_(tell) {}
  std::optional<CpuSet> mask(pid_t thread) const override { return masks_.mask(thread); }
  int set_mask(pid_t thread, const CpuSet& processors) override {
    if (++calls_ == 2) {
      write_byte(tell_);
      for (;;) ::pause();
    }
    return masks_.set_mask(thread, processors);
  }
  std::uint64_t born(pid_t number) const override { return masks_.born(number); }
  std::vector<pid_t> threads_of(pid_t process) const override { return masks_.threads_of(process); }
  std::vector<pid_t> children_of(pid_t process) const override {
    return masks_.children_of(process);
  }
  pid_t parent_of(pid_t process) const override { return masks_.parent_of(process); }

 private:
  SystemMasks masks_;
  int tell_, calls_ = 0;
};

// A thread that is already bound is rebound: the agent is killed between recording and doing it.
TEST_F(MoverTest, RestoresIfKilledBetweenRecordAndBinding) {
  for (const bool with_guardian : {true, false}) {
    SCOPED_TRACE(with_guardian ? "given back by the guardian" : "by the next command");
    const Sleepers program;
    const auto stops = make_pipe();
    const pid_t agent = ::fork();
    if (agent == 0) {
      const StateFolder folder(folder_);
      std::optional<StateFolder::Lock> lock(folder.lock());
      StateFile file(folder, own_identity());
      const Guardian guardian(folder, file);
      file.add(guardian_line(guardian.identity()));
      lock.reset();
      StopsAtTheSecond masks(stops[1]);
      Binder binder(masks, [&file](std::string_view line) { return file.add(line); });
      binder.look(program.process(), {program.process()});
      for (const Assignment& assignment : {assignments(0)[0], assignments(1)[0]}) {
        binder.bind(program.process(), CpuSet({assignment.processor}), assignment.processor);
      }
      ::_exit(1);
    }
    ::close(stops[1]);
    ASSERT_EQ(read_byte(stops[0]), 'x');
    EXPECT_TRUE(program.is_bound());
    const Identity guard = guardian();
    if (!with_guardian) ::kill(guard.number, SIGKILL);
    ::kill(agent, SIGKILL);
    ::waitpid(agent, nullptr, 0);
    ::close(stops[0]);
    if (!with_guardian) {
      EXPECT_TRUE(comes_true([&] { return !is_running(guard); }));
      SystemMasks masks;
      StateFolder(folder_).repair(masks);
    }
    EXPECT_TRUE(comes_true([&] { return program.all_have(before_); }));
    EXPECT_TRUE(comes_true([&] { return is_folder_gone(); }));
  }
}

// Programs that share an agent.
class SharedAgentTest : public MoverTest {
 protected:
  static constexpr int served = 0, joined = 7;  // exit status
  void SetUp() override {
    MoverTest::SetUp();
    if (!IsSkipped() && !try_page_faults().works) {
      GTEST_SKIP() << "page faults cannot be watched here";
    }
  }
  // Places the first thread of each program on the hardware thread with the program's index.
  class FirstThreads : public TouchObserver {
   public:
    FirstThreads(CpuSet processors, std::function<void()> at_look)
        : processors_(std::move(processors)), at_look_(std::move(at_look)) {}
    void take(const Touch&) override {}
    Actions take(const Look& look) override {
      at_look_();
      Actions actions{.touches = false, .next_look_ms = 20};
      for (const ThreadUse& use : look.threads) {
        const int program = use.thread / program_threads;
        if (use.thread % program_threads != 0 || program >= processors_.count()) continue;
        actions.assignments.push_back(
            {use.thread, processors_.cpus()[static_cast<std::size_t>(program)]});
      }
      return actions;
    }

   private:
    CpuSet processors_;
    std::function<void()> at_look_;
  };

  // Starts the process that `huddle run` forks for this program. Returns when it is ready.
  pid_t serve(
      const Sleepers& program, const CpuSet& allowed,
      const std::function<void()>& at_look = [] {}) const {
    const auto ready = make_pipe();
    const auto exec = make_pipe();
    const pid_t agent = ::fork();
    if (agent == 0) {
      ::close(ready[0]);
      ::close(exec[1]);  // it has already become the program
      std::signal(SIGPIPE, SIG_IGN);
      AwaitedProgram awaited{.process = {program.process(), SystemMasks().born(program.process())},
                             .fault_s = 1e-6,
                             .port = {},
                             .ready = FileDescriptor(ready[1]),
                             .until_exec = FileDescriptor(exec[0]),
                             .report = {}};
      int status = joined;
      {
        const auto mover =
            Mover::join_or_start(awaited, topology_, allowed, Binding::core, "job", folder_);
        FirstThreads observer(before_, at_look);
        if (mover) {
          watch_awaited(std::move(awaited), observer, {.mover = mover.get()});
          status = served;
        }
      }
      ::_exit(status);
    }
    ::close(ready[1]);
    ::close(exec[0]);
    ::close(exec[1]);
    std::string answer;
    for (char byte = read_byte(ready[0]); byte != '\0'; byte = read_byte(ready[0])) answer += byte;
    ::close(ready[0]);
    EXPECT_EQ(answer, ready_word);
    return agent;
  }
  std::vector<SavedState> agents() const {
    const StateFolder::Lock lock = StateFolder(folder_).lock();
    return StateFolder(folder_).living();
  }
  static int status_of(pid_t agent) {
    int status = -1;
    ::waitpid(agent, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(SharedAgentTest, LivesUntilLastProgramEnds) {
  for (const bool first_ends_first : {true, false}) {
    SCOPED_TRACE(first_ends_first);
    std::optional<Sleepers> first(std::in_place), second(std::in_place);
    const pid_t agent = serve(*first, before_);
    EXPECT_EQ(status_of(serve(*second, before_)), joined);
    EXPECT_TRUE(comes_true([&] { return first->is_bound() && second->is_bound(); }));
    const std::vector<SavedState> all = agents();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all.front().agent.number, agent);
    EXPECT_TRUE(all.front().programs.contains(first->process()));
    EXPECT_TRUE(all.front().programs.contains(second->process()));
    EXPECT_EQ(all.front().claims().count(), 2);  // two different hardware threads
    (first_ends_first ? first : second).reset();
    std::optional<Sleepers> third(std::in_place);
    EXPECT_EQ(status_of(serve(*third, before_)), joined);
    EXPECT_TRUE((first_ends_first ? second : first)->is_bound());
    third.reset();
    first.reset();
    second.reset();
    EXPECT_EQ(status_of(agent), served);
    EXPECT_TRUE(comes_true([&] { return is_folder_gone(); }));
  }
}

TEST_F(SharedAgentTest, AllProgramsAreRestoredIfAgentIsKilled) {
  const Sleepers first, second;
  const pid_t agent = serve(first, before_);
  EXPECT_EQ(status_of(serve(second, before_)), joined);
  EXPECT_TRUE(comes_true([&] { return first.is_bound() && second.is_bound(); }));
  ::kill(agent, SIGKILL);
  EXPECT_EQ(status_of(agent), -1);
  EXPECT_TRUE(comes_true([&] { return first.all_have(before_) && second.all_have(before_); }));
  EXPECT_TRUE(comes_true([&] { return is_folder_gone(); }));
  // No program is handed over to a killed agent.
  const pid_t next = serve(second, before_);
  EXPECT_TRUE(comes_true([&] { return second.is_bound(); }));
  ::kill(next, SIGTERM);
  EXPECT_EQ(status_of(next), served);
  EXPECT_TRUE(second.all_have(before_));
}

// A connection arrives for which the agent has no descriptor: it must continue with its rounds and
// not poll the socket in a busy loop.
TEST_F(SharedAgentTest, DoesNotSpinWithoutDescriptors) {
  const Sleepers program;
  const auto looks = make_pipe();
  const std::function<void()> at_look = [end = looks[1], is_first = true]() mutable {
    if (std::exchange(is_first, false)) {
      // No descriptor is available below the limit.
      const FileDescriptor next(::dup(end));
      const rlimit limit{static_cast<rlim_t>(next.number()), static_cast<rlim_t>(next.number())};
      ::setrlimit(RLIMIT_NOFILE, &limit);
    }
    write_byte(end);
  };
  const pid_t agent = serve(program, before_, at_look);
  ::close(looks[1]);
  read_byte(looks[0]);
  const std::string socket = agents().front().socket;
  std::future<std::string> answer = std::async(std::launch::async, [&] {
    const char message = 0;
    return ask(socket, std::as_bytes(std::span(&message, 1)), {}, std::chrono::milliseconds(1000))
        .value_or("no answer");
  });
  const auto start = std::chrono::steady_clock::now();
  const double before_s = process_cpu_s(agent);
  EXPECT_EQ(answer.get(), "no answer");
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  EXPECT_LT(process_cpu_s(agent) - before_s, passed.count() / 2);
  EXPECT_NE(read_byte(looks[0]), '\0');
  ::close(looks[0]);
  ::kill(agent, SIGTERM);
  EXPECT_EQ(status_of(agent), served);
}

TEST_F(SharedAgentTest, ProgramsWithOtherHardwareThreadsHaveAnotherAgent) {
  std::optional<Sleepers> first(std::in_place), second(std::in_place);
  const pid_t here = serve(*first, CpuSet({before_.cpus()[0]}));
  const pid_t there = serve(*second, CpuSet({before_.cpus()[1]}));
  EXPECT_EQ(agents().size(), 2U);
  first.reset();
  second.reset();
  EXPECT_EQ(status_of(here), served);
  EXPECT_EQ(status_of(there), served);
}

enum class Victim { agent, guardian, program, both };

// At times drawn from the seed: a number of moves, and a delay after it.
TEST_F(MoverTest, NothingIsLeftBehindWhicheverProcessIsKilled) {
  const char* const asked = std::getenv("THREAD_KILL_TRIES");
  const int tries = asked == nullptr ? 5 : std::atoi(asked);
  double slowest_s = 0;
  for (int i = 0; i < 4 * tries; ++i) {
    const auto victim = static_cast<Victim>(i % 4);
    SCOPED_TRACE(fmt::format("try {}, victim {}", i, i % 4));
    mapping::Random random(static_cast<std::uint64_t>(i) + 20261125);
    const Sleepers program;
    const Agent agent = start_agent(program);
    const int moves = 1 + random.below(20);
    for (int move = 0; move < moves; ++move) read_byte(agent.moves);
    const Identity guard = guardian();
    ASSERT_TRUE(is_running(guard));
    // At any point of the next move.
    const auto moment =
        std::chrono::steady_clock::now() + std::chrono::microseconds(random.below(300));
    while (std::chrono::steady_clock::now() < moment) {
    }
    const auto start = std::chrono::steady_clock::now();
    if (victim == Victim::guardian || victim == Victim::both) ::kill(guard.number, SIGKILL);
    if (victim == Victim::agent || victim == Victim::both) ::kill(agent.process, SIGKILL);
    if (victim == Victim::program) ::kill(program.process(), SIGKILL);
    if (victim == Victim::both) {
      ::waitpid(agent.process, nullptr, 0);
      EXPECT_TRUE(comes_true([&] { return !is_running(guard); }));
      SystemMasks masks;
      StateFolder(folder_).repair(masks);  // as the next command does
    }
    // Normally the end of its program ends an agent; here it continues without one.
    if (victim == Victim::program) ::kill(agent.process, SIGKILL);
    EXPECT_TRUE(comes_true([&] { return program.all_have(before_); }));
    EXPECT_TRUE(comes_true([&] { return is_folder_gone(); }));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    slowest_s = std::max(slowest_s, took.count());
    agent.end();
    if (HasFailure()) return;
  }
  RecordProperty("slowest_ms", static_cast<int>(slowest_s * 1000));
}

}  // namespace
}  // namespace huddle::threads
