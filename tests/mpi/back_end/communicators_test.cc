// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Each thread looks up its own communicators while others are created and freed: a look-up must
// return the entry of that handle, although handles and entries are reused.
#include <gtest/gtest.h>

#include "mpi/back_end/communicator.h"
#include "stand_in.h"
#include "threads.h"

namespace huddle::mpi {
namespace {

constexpr int communicators_made = 20;
constexpr int lives = 50;

void live_once(Communicators& communicators, int thread) {
  const Comm comm = stand_in::new_communicator();
  Communicator* const found = communicators.find(comm);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->handle.load(), comm);
  EXPECT_EQ(found->mpi_ns, 0U) << "somebody else's";
  EXPECT_EQ(found->ranks, 2);
  found->mpi_ns = static_cast<std::size_t>(thread) + 1;
  EXPECT_EQ(communicators.find(comm), found);
  EXPECT_EQ(found->mpi_ns, static_cast<std::size_t>(thread) + 1) << "somebody else's";
  ++found->shares.handled;
  stand_in::free_communicator(comm);
}

TEST(CommunicatorsOfThreads, FindTheEntryOfTheirHandle) {
  const UnderlyingMpi real(stand_in::find);
  for (int round = 0; round < communicators_made; ++round) {
    Communicators communicators(real, stand_in::find, FallbackReason::not_activated,
                                [](Communicator&) {});
    at_once([&](int thread) {
      for (int life = 0; life < lives; ++life) live_once(communicators, thread);
    });
    EXPECT_EQ(communicators.shares().handled, static_cast<std::size_t>(threads_at_once * lives));
  }
}

}  // namespace
}  // namespace huddle::mpi
