// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The kernel's settings are files of the test: nothing on this machine is changed.
#include "placement/threads/numa_balancing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "../../common/comes_true.h"
#include "../../common/scratch.h"
#include "common/error.h"
#include "common/system.h"
#include "placement/mapping/random.h"
#include "placement/threads/kept_state.h"

namespace huddle::threads {
namespace {

using test::comes_true;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NumaBalancingTest : public ::testing::Test {
 protected:
  NumaBalancingTest() {
    std::signal(SIGPIPE, SIG_IGN);  // from writing to an agent that was killed
    set("sysctl", 0);
    set("period", 1000);
    set_counter(0);
    std::filesystem::create_symlink("pid:[4026531836]", scratch_.path("namespace"));
  }
  void set(const std::string& name, long long value) const {
    scratch_.write(name, fmt::format("{}\n", value));
  }
  void set_counter(long long faults) const {
    scratch_.write("counters", fmt::format("pgfault 1\nnuma_hint_faults {}\n", faults));
  }
  long long sysctl() const { return kernel_value(scratch_.path("sysctl")).value_or(-1); }
  long long period() const { return kernel_value(scratch_.path("period")).value_or(-1); }
  NumaBalancing::Files files() const {
    return {.sysctl = scratch_.path("sysctl"),
            .scan_period_ms = scratch_.path("period"),
            .counters = scratch_.path("counters"),
            .pid_namespace = scratch_.path("namespace")};
  }
  std::string folder() const { return scratch_.path("state"); }
  bool is_all_back() const {
    return sysctl() == 0 && period() == 1000 && !System().exists(folder());
  }

  // Another process that keeps NUMA balancing on until end() or kill().
  class Agent {
   public:
    explicit Agent(const NumaBalancingTest& test) {
      std::array<int, 2> orders{}, answers{};
      if (::pipe(orders.data()) != 0 || ::pipe(answers.data()) != 0) std::abort();
      process_ = ::fork();
      if (process_ == 0) {
        ::close(orders[1]);
        {
          const NumaBalancing balancing(test.folder(), test.files());
          (void)!::write(answers[1], "x", 1);
          char order = 0;
          (void)!::read(orders[0], &order, 1);
        }
        ::_exit(0);
      }
      ::close(orders[0]);
      ::close(answers[1]);
      orders_ = orders[1];
      char answer = 0;
      is_on_ = ::read(answers[0], &answer, 1) == 1;
      ::close(answers[0]);
    }
    ~Agent() {
      end();
      ::waitpid(process_, nullptr, 0);
    }
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    bool is_on() const { return is_on_; }
    pid_t process() const { return process_; }
    void end() {
      // Needed because other processes of the test may also have the pipe open.
      if (orders_ >= 0) (void)!::write(orders_, "x", 1);
      if (orders_ >= 0) ::close(orders_);
      orders_ = -1;
    }
    void kill() const { ::kill(process_, SIGKILL); }

   private:
    pid_t process_ = -1;
    int orders_ = -1;
    bool is_on_ = false;
  };
  // Turns NUMA balancing on and off, depending on its cost, until it is killed.
  [[noreturn]] void work(bool begins_anew) const {
    const Budget budget{.share = 0.02, .fault_s = 1e-3};
    std::optional<NumaBalancing> balancing;
    for (int look = 1;; ++look) {
      if (!balancing) balancing.emplace(folder(), files());
      Spent spent{.program_s = look % 2 == 0 ? 1e6 : 1e-6};
      set_counter(look);
      balancing->account(1, budget, spent);
      if (begins_anew && look % 20 == 0) balancing.reset();
    }
  }
  std::vector<SavedState> agents() const {
    const StateFolder::Lock lock = StateFolder(folder()).lock();
    return StateFolder(folder()).living();
  }

  const test::Scratch scratch_;
};

TEST_F(NumaBalancingTest, IsOnWhileAnAgentNeedsIt) {
  {
    const NumaBalancing balancing(folder(), files());
    EXPECT_EQ(sysctl(), 1);
    EXPECT_EQ(period(), 100);
    EXPECT_THAT(balancing.notes(), ElementsAre(HasSubstr("was turned on")));
  }
  EXPECT_TRUE(is_all_back());
}

TEST_F(NumaBalancingTest, StaysOnIfItWasOnBefore) {
  set("sysctl", 1);
  {
    const NumaBalancing balancing(folder(), files());
    EXPECT_EQ(period(), 100);  // its rounds are shorter in the meantime
    EXPECT_THAT(balancing.notes(), ElementsAre(HasSubstr("was on")));
  }
  EXPECT_EQ(sysctl(), 1);
  EXPECT_EQ(period(), 1000);
  EXPECT_FALSE(System().exists(folder()));
}

// Changes only one bit. The other one, for memory tiers, is kept.
TEST_F(NumaBalancingTest, KeepsTheOtherBit) {
  set("sysctl", 2);
  std::optional<NumaBalancing> balancing(std::in_place, folder(), files());
  EXPECT_EQ(sysctl(), 3);
  balancing.reset();
  EXPECT_EQ(sysctl(), 2);
}

TEST_F(NumaBalancingTest, ChangesByOthersAreKept) {
  std::optional<NumaBalancing> balancing(std::in_place, folder(), files());
  set("sysctl", 2);
  set("period", 500);
  balancing.reset();
  EXPECT_EQ(sysctl(), 2);
  EXPECT_EQ(period(), 500);
}

// The second agent finds the changed value and restores that.
TEST_F(NumaBalancingTest, ChangesByOthersBetweenTwoAgentsAreKept) {
  for (const bool first_ends_first : {true, false}) {
    set("sysctl", 0);
    std::optional<NumaBalancing> first(std::in_place, folder(), files());
    set("sysctl", 2);
    std::optional<Agent> second(std::in_place, *this);
    EXPECT_EQ(sysctl(), 3);
    if (first_ends_first) first.reset();
    second.reset();
    EXPECT_EQ(sysctl(), 2);
    first.reset();
    EXPECT_EQ(sysctl(), 2);
  }
}

TEST_F(NumaBalancingTest, IsNotTurnedOnInContainer) {
  NumaBalancing::Files contained = files();
  contained.pid_namespace = scratch_.path("contained");
  std::filesystem::create_symlink("pid:[4026532001]", contained.pid_namespace);
  EXPECT_THROW(NumaBalancing(folder(), contained), FailureError);
  EXPECT_TRUE(is_all_back());
}

TEST_F(NumaBalancingTest, MissingSysctlIsFailure) {
  NumaBalancing::Files none = files();
  none.sysctl = scratch_.path("none");
  EXPECT_THROW(NumaBalancing(folder(), none), FailureError);
  EXPECT_FALSE(System().exists(folder()));
  none = files();
  none.scan_period_ms = scratch_.path("none");
  const NumaBalancing balancing(folder(), none);
  EXPECT_EQ(sysctl(), 1);
  EXPECT_EQ(period(), 1000);
}

TEST_F(NumaBalancingTest, SettingThatHasNoEffectIsFailure) {
  NumaBalancing::Files deaf = files();
  deaf.sysctl = "/proc/sys/kernel/ngroups_max";  // an even number that cannot be changed
  EXPECT_THROW(NumaBalancing(folder(), deaf), FailureError);
  EXPECT_TRUE(is_all_back());
}

TEST_F(NumaBalancingTest, LastOfTwoAgentsTurnsItOff) {
  for (const bool first_ends_first : {true, false}) {
    std::optional<Agent> first(std::in_place, *this), second(std::in_place, *this);
    ASSERT_TRUE(first->is_on() && second->is_on());
    EXPECT_EQ(agents().size(), 2U);
    (first_ends_first ? first : second).reset();
    EXPECT_EQ(sysctl(), 1);
    EXPECT_EQ(period(), 100);
    (first_ends_first ? second : first).reset();
    EXPECT_TRUE(is_all_back());
  }
}

// The same if the first one is killed: its guardian sees the other one.
TEST_F(NumaBalancingTest, GuardianKeepsItForOtherAgents) {
  std::optional<Agent> first(std::in_place, *this), second(std::in_place, *this);
  first->kill();
  first.reset();
  EXPECT_TRUE(comes_true([this] { return agents().size() == 1; }));
  EXPECT_EQ(sysctl(), 1);
  second->kill();
  second.reset();
  EXPECT_TRUE(comes_true([this] { return is_all_back(); }));
}

TEST_F(NumaBalancingTest, IsPausedWhileItExceedsItsBudget) {
  NumaBalancing balancing(folder(), files());
  const Budget budget{.share = 0.04, .fault_s = 1e-3};
  Spent spent{.program_s = 1};     // allows 20 faults by NUMA balancing
  EXPECT_EQ(agents().size(), 1U);  // its guardian has released the lock by then
  set_counter(1000);
  balancing.account(15, budget, spent);  // the others were in other programs
  EXPECT_EQ(spent.faults, 15U);
  EXPECT_EQ(sysctl(), 1);
  set_counter(1007);
  balancing.account(100, budget, spent);  // the others are the program's own
  EXPECT_EQ(spent.faults, 22U);
  EXPECT_EQ(sysctl(), 0);
  EXPECT_TRUE(balancing.is_off());
  spent.program_s = 1.15;  // 96 % of the budget
  balancing.account(0, budget, spent);
  EXPECT_EQ(sysctl(), 0);
  spent.program_s = 2;
  balancing.account(0, budget, spent);
  EXPECT_EQ(sysctl(), 1);
  EXPECT_THAT(balancing.notes(), ElementsAre(HasSubstr("22 page faults"), HasSubstr("once")));
  // Overspending elsewhere does not turn it off, because that would save nothing.
  spent.agent_s = 1;
  balancing.account(0, budget, spent);
  EXPECT_EQ(sysctl(), 1);
}

TEST_F(NumaBalancingTest, IsPausedAgainAfterAnotherAgentTurnedItOn) {
  NumaBalancing balancing(folder(), files());
  const Budget budget{.share = 0.02, .fault_s = 1e-3};
  Spent spent{.program_s = 1};
  set_counter(1000);
  balancing.account(1000, budget, spent);
  // A guardian that starts holds the lock briefly; then the next call does it.
  const auto turns_it_off = [&] {
    balancing.account(0, budget, spent);
    return sysctl() == 0;
  };
  ASSERT_TRUE(comes_true(turns_it_off));
  {
    const Agent other(*this);
    ASSERT_EQ(sysctl(), 1);
  }
  EXPECT_TRUE(comes_true(turns_it_off));
  EXPECT_THAT(balancing.notes().back(), HasSubstr("once"));
}

TEST_F(NumaBalancingTest, StaysOnForAnotherAgentDespiteItsCost) {
  const Agent other(*this);
  NumaBalancing balancing(folder(), files());
  EXPECT_EQ(agents().size(), 2U);
  Spent spent{.program_s = 1};
  set_counter(1000);
  balancing.account(1000, {.share = 0.02, .fault_s = 1e-3}, spent);
  EXPECT_EQ(sysctl(), 1);
  EXPECT_FALSE(balancing.is_off());
}

TEST_F(NumaBalancingTest, IsTurnedOffWithoutGuardian) {
  NumaBalancing balancing(folder(), files());
  const Identity guardian = agents().front().guardian;
  ::kill(guardian.number, SIGKILL);
  EXPECT_TRUE(comes_true([&] { return !is_running(guardian); }));
  Spent spent;
  balancing.account(0, {}, spent);
  EXPECT_TRUE(is_all_back());
  EXPECT_THAT(balancing.notes().back(), HasSubstr("NUMA balancing was restored"));
}

enum class KilledProcess { agent, guardian, both };

// At times drawn from the seed, while NUMA balancing is turned on and off; if both are killed, also
// while they start or end.
TEST_F(NumaBalancingTest, IsRestoredWhicheverProcessIsKilled) {
  const char* const asked = std::getenv("THREAD_KILL_TRIES");
  const int tries = asked == nullptr ? 5 : std::atoi(asked);
  for (int i = 0; i < 3 * tries; ++i) {
    const auto victim = static_cast<KilledProcess>(i % 3);
    SCOPED_TRACE(fmt::format("try {}, victim {}", i, i % 3));
    mapping::Random random(static_cast<std::uint64_t>(i) + 20261126);
    const pid_t agent = ::fork();
    if (agent == 0) work(victim == KilledProcess::both);
    const int changes = 1 + random.below(30);
    for (int change = 0; change < changes; ++change) {
      const long long before = sysctl();
      EXPECT_TRUE(comes_true([&] { return sysctl() != before; }));
    }
    const auto moment =
        std::chrono::steady_clock::now() + std::chrono::microseconds(random.below(300));
    while (std::chrono::steady_clock::now() < moment) {
    }
    const StateFolder state(folder());
    if (victim == KilledProcess::both) ::kill(agent, SIGSTOP);
    if (victim != KilledProcess::agent) {
      for (const SavedState& one : state.living()) {
        if (one.guardian.number > 0) ::kill(one.guardian.number, SIGKILL);
      }
    }
    if (victim != KilledProcess::guardian) ::kill(agent, SIGKILL);
    if (victim == KilledProcess::both) ::waitpid(agent, nullptr, 0);
    EXPECT_TRUE(comes_true([&] {
      SystemMasks masks;
      if (victim == KilledProcess::both) state.repair(masks);  // as the next command does
      return is_all_back();
    })) << "sysctl "
        << sysctl() << ", period " << period() << ", files "
        << ::testing::PrintToString(System().list(folder()));
    ::kill(agent, SIGKILL);
    if (victim != KilledProcess::both) ::waitpid(agent, nullptr, 0);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace huddle::threads
