// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/ucx/score.h"

#include <gmock/gmock.h>

namespace huddle::ucx {
namespace {

TEST(Version, ThirdNumberIsOptional) {
  EXPECT_EQ(version_from("1.13"), (Version{1, 13}));
  EXPECT_EQ(version_from("1.22.0"), (Version{1, 22}));
  EXPECT_EQ(text_of({1, 9}), "1.9");
}

TEST(Version, InvalidTextIsRejected) {
  for (const char* text : {"", "1", "1.", "1.x", "v1.9", "-1.9", "1.9rc4", "1,9"}) {
    EXPECT_EQ(version_from(text), std::nullopt) << text;
  }
}

TEST(Version, NineIsLessThanThirteen) { EXPECT_LT((Version{1, 9}), (Version{1, 13})); }

}  // namespace
}  // namespace huddle::ucx
