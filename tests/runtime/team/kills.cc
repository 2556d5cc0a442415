// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "kills.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/system.h"
#include "process_resources.h"
#include "ranks.h"

namespace huddle::team {
namespace {

using namespace std::chrono_literals;
using How = RankEnd::How;

void survive(const Bootstrap& bootstrap, const Life& life, unsigned int seed) {
  const ProcessResources before = current_resources();
  bool has_heard = false;
  try {
    life(bootstrap, seed);
  } catch (const FailureError&) {
    has_heard = true;
  }
  EXPECT_TRUE(has_heard);
  ProcessResources after = current_resources();
  EXPECT_LE(after.sockets, before.sockets);  // the bootstrap's own are closed when it fails
  after.sockets = before.sockets;
  EXPECT_EQ(after, before);
}

void pause_us(long microseconds) {
  const timespec pause{0, microseconds * 1000};
  nanosleep(&pause, nullptr);
}

struct Effort {
  long long most_tries = 200;
  std::chrono::seconds limit = 3s;

  static Effort asked_for() {
    const char* const text = std::getenv("KILL_TRIES");
    const auto number = whole_number(text == nullptr ? "" : text);
    return number ? Effort{*number, 1h} : Effort{};
  }
};

// Returns the time from the kill to the end of the slowest survivor.
std::chrono::milliseconds kill_some(const Life& life, std::chrono::microseconds latest,
                                    unsigned int seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const int ranks = 2 + static_cast<int>(random() % 4);
  RankProcesses processes(ranks,
                          [&](const Bootstrap& bootstrap) { survive(bootstrap, life, seed); });
  pause_us(static_cast<long>(random() % latest.count()));
  std::vector<bool> is_victim(static_cast<std::size_t>(ranks), false);
  is_victim[random() % is_victim.size()] = true;
  const bool kills_all = random() % 10 == 0;
  for (std::size_t rank = 0; rank < is_victim.size(); ++rank) {
    is_victim[rank] = is_victim[rank] || kills_all || random() % 4 == 0;
    if (is_victim[rank]) processes.kill(static_cast<int>(rank));
  }
  const auto killed_at = std::chrono::steady_clock::now();
  const auto ends = processes.wait(20s);
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    // A victim may have noticed an earlier death and ended before it was killed.
    if (is_victim[rank] && ends[rank] == How::killed) continue;
    EXPECT_EQ(ends[rank].how, How::fine) << "rank " << rank;
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               killed_at);
}

}  // namespace

void expect_nothing_left_by_deaths(const Life& life, std::chrono::microseconds latest) {
  const ProcessResources before = current_resources();
  const Effort effort = Effort::asked_for();
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::milliseconds sum{0};
  long long tries = 0;
  while (tries < effort.most_tries && !testing::Test::HasFailure() &&
         std::chrono::steady_clock::now() - begin < effort.limit) {
    sum += kill_some(life, latest, 20261120 + static_cast<unsigned int>(tries++));
  }
  // Checks the mean and not each time, because the machine may be busy with other work.
  EXPECT_LT(sum / tries, 1s);
  testing::Test::RecordProperty("tries", std::to_string(tries));
  EXPECT_EQ(current_resources(), before);
  EXPECT_EQ(named_files(), 0);
}

}  // namespace huddle::team
