// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/agent_socket.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <future>
#include <optional>
#include <span>
#include <string>

#include "../../common/comes_true.h"

namespace huddle::threads {
namespace {

using ::testing::HasSubstr;

// A program that waits on a pipe of the test.
AwaitedProgram this_process() {
  std::array<int, 2> ready{}, exec{};
  if (::pipe(ready.data()) != 0 || ::pipe(exec.data()) != 0) std::abort();
  ::close(ready[0]);
  ::close(exec[1]);
  return {.process = own_identity(),
          .fault_s = 1e-6,
          .port = {},
          .ready = FileDescriptor(ready[1]),
          .until_exec = FileDescriptor(exec[0]),
          .report = {}};
}

class AgentSocketTest : public ::testing::Test {
 protected:
  // Returns the answer that `other` gets while this thread accepts.
  std::string said(const std::function<std::string()>& other) {
    std::future<std::string> answer = std::async(std::launch::async, other);
    EXPECT_TRUE(test::comes_true([&] {
      if (!accepted_) accepted_ = socket_.accept();
      return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }));
    return answer.get();
  }

  static constexpr std::chrono::milliseconds patience{20'000};
  AgentSocket socket_;
  std::optional<AwaitedProgram> accepted_;
};

TEST_F(AgentSocketTest, AcceptedProgramIsConfirmed) {
  const AwaitedProgram program = this_process();
  EXPECT_EQ(said([&] { return offer_program(program, socket_.name(), patience); }), "");
  ASSERT_TRUE(accepted_);
  EXPECT_EQ(accepted_->process, program.process);
}

TEST_F(AgentSocketTest, RefusedProgramGetsReason) {
  AwaitedProgram gone = this_process();
  ++gone.process.born;
  EXPECT_THAT(said([&] { return offer_program(gone, socket_.name(), patience); }),
              HasSubstr("cannot see the process"));
  const char short_message = 0;
  const auto other_version = [&] {
    return ask(socket_.name(), std::as_bytes(std::span(&short_message, 1)), {}, patience)
        .value_or("");
  };
  EXPECT_THAT(said(other_version), HasSubstr("another version"));
  EXPECT_FALSE(accepted_);
}

// The client then starts an agent of its own, and a program must not have two.
TEST_F(AgentSocketTest, ClientThatTimedOutIsNotAccepted) {
  const AwaitedProgram program = this_process();
  EXPECT_THAT(offer_program(program, socket_.name(), std::chrono::milliseconds(0)),
              HasSubstr("does not answer"));
  EXPECT_FALSE(socket_.accept());
  EXPECT_THAT(offer_program(program, "huddle-agent-that-nobody-has"), HasSubstr("does not answer"));
}

}  // namespace
}  // namespace huddle::threads
