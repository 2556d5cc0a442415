// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/ucx/library.h"

#include <gmock/gmock.h>

#include "../../common/scratch.h"

namespace huddle::ucx {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Traffic, CountsEthernetAndInfiniband) {
  test::Scratch root;
  root.write("sys/class/net/lo/statistics/tx_bytes", "1000\n");
  root.write("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "10\n");
  root.write("sys/class/infiniband/mlx5_0/ports/2/counters/port_xmit_data", "5\n");
  EXPECT_THAT(sent_so_far(System(root.folder().string())),
              ElementsAre(Pair("lo", 1000), Pair("mlx5_0", 60)));
}

TEST(Traffic, IsDifferenceOfReadings) {
  Traffic sum;
  add(between({{"lo", 10}}, {{"lo", 30}, {"new", 5}}), sum);
  add(between({{"lo", 30}}, {{"lo", 31}}), sum);
  EXPECT_THAT(sum, ElementsAre(Pair("lo", 21), Pair("new", 5)));
}

}  // namespace
}  // namespace huddle::ucx
