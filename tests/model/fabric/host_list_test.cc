// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/fabric/topology_conf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace huddle::fabric {
namespace {

using testing::ElementsAre;

TEST(HostList, ParsesSlurmSyntax) {
  EXPECT_THAT(parse_host_list("n1", 9), ElementsAre("n1"));
  EXPECT_THAT(parse_host_list("n[0-2,7],login", 9), ElementsAre("n0", "n1", "n2", "n7", "login"));
  EXPECT_THAT(parse_host_list("n[08-10]x", 9), ElementsAre("n08x", "n09x", "n10x"));
  EXPECT_THAT(parse_host_list("r[1-2]n[0-1]", 9), ElementsAre("r1n0", "r1n1", "r2n0", "r2n1"));
}

TEST(HostList, RejectsInvalidLists) {
  for (const char* text :
       {"", ",", "n[", "n]", "n[]", "n[a]", "n[3-1]", "n[-1]", "n[[0-1]]", "n[0-9]",
        "n[0-8][0-8][0-8][0-8][0-8][0-8][0-8][0-8][0-8][0-8]", "n[0000000000001]"}) {
    EXPECT_THROW(parse_host_list(text, 9), InputError) << text;
  }
}

}  // namespace
}  // namespace huddle::fabric
