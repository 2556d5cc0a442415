// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/progress.h"

#include <gtest/gtest.h>

#include <csignal>

namespace huddle::cli {
namespace {

void own_handler(int) {}

using Handler = void (*)(int);

Handler handler_of(int signal) {
  struct sigaction now {};
  sigaction(signal, nullptr, &now);
  return now.sa_handler;
}

// Restores the test's own disposition of Ctrl-C.
class InterruptTest : public testing::Test {
 protected:
  void SetUp() override { sigaction(SIGINT, nullptr, &before_); }
  void TearDown() override { sigaction(SIGINT, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

TEST_F(InterruptTest, RecordsCtrlC) {
  const Interrupt interrupt;
  EXPECT_FALSE(interrupt.requested());
  std::raise(SIGINT);
  EXPECT_TRUE(interrupt.requested());
  EXPECT_EQ(interrupt.signal_name(), "Ctrl-C");
  EXPECT_EQ(handler_of(SIGINT), SIG_DFL);  // the second one kills
}

TEST_F(InterruptTest, RestoresThePreviousHandler) {
  std::signal(SIGINT, own_handler);
  {
    const Interrupt interrupt;
    EXPECT_NE(handler_of(SIGINT), own_handler);
  }
  EXPECT_EQ(handler_of(SIGINT), own_handler);
}

TEST_F(InterruptTest, LeavesAnIgnoredSignalIgnored) {
  std::signal(SIGINT, SIG_IGN);
  const Interrupt interrupt;
  std::raise(SIGINT);
  EXPECT_FALSE(interrupt.requested());
  EXPECT_EQ(handler_of(SIGINT), SIG_IGN);
}

}  // namespace
}  // namespace huddle::cli
