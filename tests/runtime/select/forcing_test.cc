// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A forced algorithm runs if it can serve the request, otherwise the cheapest runs.
#include "runtime/select/team_resources.h"

#include <gtest/gtest.h>

#include "model/machine/machine_file.h"
#include "runtime/select/choice.h"
#include "runtime/select/explain.h"

namespace huddle::select {
namespace {

constexpr std::size_t much = std::size_t{1} << 20;

TEST(Forcing, UsesFirstMatchingEntry) {
  const Forcing forcing("bcast:4K-1M:segmented,bcast:pipelined,barrier:tree");
  EXPECT_EQ(forcing.algorithm_for({Operation::bcast, 4096}), "segmented");
  EXPECT_EQ(forcing.algorithm_for({Operation::bcast, much}), "segmented");
  EXPECT_EQ(forcing.algorithm_for({Operation::bcast, 4095}), "pipelined");
  EXPECT_EQ(forcing.algorithm_for({Operation::barrier, 0}), "tree");
  EXPECT_EQ(forcing.algorithm_for({Operation::scan, 8}), "");
}

std::string_view runs(const char* forcing, const Request& request) {
  static const machine::Machine machine =
      machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/dawning-5000a.toml");
  const machine::CostModel model(machine);
  const node::RankLocality locality = node::locality(machine.topology, {0, 1, 4, 5, 8});
  TeamResources given = team_resources(locality, model, usual_queue_bytes);
  given.forcing = Forcing(forcing);
  return algorithm_name(choose(request, locality, model, given)->usual.plan);
}

TEST(Forcing, DeterminesTheChoice) {
  for (const char* const one : {"pipelined", "segmented"}) {
    EXPECT_EQ(runs((std::string("bcast:") + one).c_str(), {Operation::bcast, much}), one);
  }
  EXPECT_EQ(runs("barrier:tree", {Operation::barrier}), "tree");
  EXPECT_EQ(runs("barrier:dissemination", {Operation::barrier}), "dissemination");
}

TEST(Forcing, FallsBackToCheapestIfItCannotServe) {
  // The message is too large to be inline, and the machine file has no path into peers' memory.
  for (const char* const vain : {"bcast:inline", "bcast:direct"}) {
    EXPECT_EQ(runs(vain, {Operation::bcast, much}), runs("", {Operation::bcast, much})) << vain;
  }
}

}  // namespace
}  // namespace huddle::select
