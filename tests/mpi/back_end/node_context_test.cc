// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The context of a process, with and without a preparation in advance.
#include "mpi/back_end/node_context.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <string>
#include <system_error>

#include "common/file.h"
#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "model/machine/stored_machine.h"

namespace huddle::mpi {
namespace {

std::string text_of_cores(int cores) {
  const std::string shape = "pack:1 l3:1 core:" + std::to_string(cores) + " pu:1";
  return machine::format_machine(
      machine::generic_machine(machine::discover_from_synthetic(shape).topology));
}

std::size_t cores_of(const NodeContext& context) {
  return machine::first_pu_of_cores(context.get().machine().topology).size();
}

class NodeContextTest : public testing::Test {
 protected:
  NodeContextTest() : cache_(testing::TempDir() + "huddle-context", error_) {
    setenv("XDG_CACHE_HOME", cache_.path().c_str(), 1);
  }
  ~NodeContextTest() override { unsetenv("XDG_CACHE_HOME"); }

  void wait_until_prepared() {
    context.start_preparation();
    while (!context.is_prepared()) sched_yield();
  }

  std::error_code error_;
  TemporaryFolder cache_;
  Options options;
  NodeContext context{options, [] { return std::string("an MPI"); }, [] {}, 2,
                      [](const std::string& /*warning*/) {}};
};

TEST_F(NodeContextTest, UsesThePreparedMachine) {
  const std::string text = text_of_cores(2);
  machine::StoredMachine("").store(text, "");
  EXPECT_FALSE(context.is_prepared());
  wait_until_prepared();
  EXPECT_TRUE(context.knows_machine());
  EXPECT_EQ(context.machine_text(), text);
  context.make(text);
  EXPECT_EQ(cores_of(context), 2U);
  EXPECT_FALSE(context.is_prepared()) << "the context has it now";
}

// The first rank's machine holds for all.
TEST_F(NodeContextTest, UsesAnotherMachineThanThePreparedOne) {
  machine::StoredMachine("").store(text_of_cores(2), "");
  wait_until_prepared();
  context.make(text_of_cores(4));
  EXPECT_EQ(cores_of(context), 4U);
}

// The thread may not have had a processor yet.
TEST_F(NodeContextTest, DoesNotWaitForThePreparation) {
  const std::string text = text_of_cores(2);
  machine::StoredMachine("").store(text, "");
  context.start_preparation();
  EXPECT_EQ(context.machine_text(), text);
  context.make(text);
  EXPECT_EQ(cores_of(context), 2U);
}

}  // namespace
}  // namespace huddle::mpi
