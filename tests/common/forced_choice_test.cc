// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/forced_choice.h"

#include <gtest/gtest.h>

#include <string>

#include "common/error.h"

namespace huddle {
namespace {

TEST(ForcedChoices, AreParsedWithTheirSizes) {
  const auto choices = forced_choices("MPI_Bcast:Pipelined,allreduce:4K-1M:slices,scan:4K-:slices");
  ASSERT_EQ(choices.size(), 3U);
  EXPECT_EQ(choices[0], (ForcedChoice{"bcast", "pipelined"}));
  EXPECT_EQ(choices[1], (ForcedChoice{"allreduce", "slices", 4096, std::size_t{1} << 20}));
  EXPECT_EQ(choices[2].least_bytes, 4096U);
  EXPECT_FALSE(choices[0].has_range());
  EXPECT_TRUE(choices[2].has_range());
  EXPECT_TRUE(forced_choices("").empty());
}

TEST(ForcedChoices, TextParsesToTheSameChoices) {
  for (const char* const text : {"", "bcast:pipelined", "bcast:4097-1048576:slots,scan:-8:slices",
                                 "allreduce:4096-:slices"}) {
    EXPECT_EQ(text_of(forced_choices(text)), text);
  }
}

TEST(ForcedChoices, InvalidTextIsRejected) {
  for (const char* const text :
       {"bcast", "bcast:", ":inline", "bcast:1:2:inline", ",", "bcast:inline,", "bcast:4K:inline",
        "bcast:-:inline", "bcast:4X-8:inline", "bcast:8-4:inline"}) {
    EXPECT_THROW(forced_choices(text), InputError) << text;
  }
}

}  // namespace
}  // namespace huddle
