// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/algorithm.h"

#include <gmock/gmock.h>

namespace huddle::select {
namespace {

using testing::ElementsAre;

TEST(PieceSizes, EndWithFirstThatHoldsAll) {
  EXPECT_THAT(piece_sizes(48, 4096), ElementsAre(48));
  EXPECT_THAT(piece_sizes(49, 4096), ElementsAre(48, 256));
  EXPECT_THAT(piece_sizes(512, 4096), ElementsAre(48, 256, 512));
  EXPECT_THAT(piece_sizes(513, 4096), ElementsAre(48, 256, 512, 1024));
}

TEST(PieceSizes, DoNotExceedCapacity) {
  EXPECT_THAT(piece_sizes(1 << 20, 1000), ElementsAre(48, 256, 512));
  EXPECT_THAT(piece_sizes(1 << 20, 255), ElementsAre(48));
  EXPECT_THAT(piece_sizes(1 << 20, 32), ElementsAre(32));
}

}  // namespace
}  // namespace huddle::select
