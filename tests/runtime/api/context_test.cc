// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Settings of callers that were compiled with a header of another version, and the sources of the
// machine model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "c_ranks.h"

namespace huddle::api {
namespace {

using ::testing::HasSubstr;

// A possible struct of a later header.
struct LaterSettings {
  huddle_settings known;
  const char* mode;
};

struct Made {
  huddle_status status;
  std::string why;
};
Made make(const void* settings) {
  huddle_context* context = nullptr;
  huddle_message message;
  const huddle_status status =
      huddle_context_create(static_cast<const huddle_settings*>(settings), &context, &message);
  huddle_context_free(context);
  return {status, message.text};
}

TEST(Settings, NullSelectsDefaults) { EXPECT_EQ(make(nullptr).status, HUDDLE_OK); }

TEST(Settings, LaterVersionIsAcceptedIfNewFieldsAreZero) {
  LaterSettings later{default_settings(), nullptr};
  later.known.size = sizeof later;
  EXPECT_EQ(make(&later).status, HUDDLE_OK);
  later.mode = "new";
  const Made made = make(&later);
  EXPECT_EQ(made.status, HUDDLE_MISUSED);
  EXPECT_THAT(made.why, HasSubstr("older libhuddle"));
}

TEST(Settings, MissingMachineFileIsBadInput) {
  huddle_settings settings = default_settings();
  settings.machine_file = "/no/such/file.toml";
  const Made made = make(&settings);
  EXPECT_EQ(made.status, HUDDLE_BAD_INPUT);
  EXPECT_THAT(made.why, HasSubstr("/no/such/file.toml"));
}

TEST(Settings, MachineFileOfAnotherMachineIsAccepted) {
  huddle_settings settings = default_settings();
  settings.machine_file = HUDDLE_SOURCE_DIR "/machines/songshan.toml";
  EXPECT_EQ(make(&settings).status, HUDDLE_OK);
}

TEST(Settings, CapBelowOnePageIsAnError) {
  huddle_settings settings = default_settings();
  settings.cap_bytes = 1;
  EXPECT_NE(make(&settings).status, HUDDLE_OK);
  EXPECT_NE(make(&settings).why, "");
}

TEST(Settings, CapBeyondAddressSpaceIsAFailure) {
  huddle_settings settings = default_settings();
  settings.cap_bytes = SIZE_MAX / 4;
  const Made made = make(&settings);
  EXPECT_EQ(made.status, HUDDLE_FAILED);
  EXPECT_NE(made.why, "");
}

TEST(Message, IsEmptyAfterSuccess) {
  huddle_message message;
  std::memset(&message, 'x', sizeof message);
  huddle_context* context = nullptr;
  EXPECT_EQ(huddle_context_create(nullptr, &context, &message), HUDDLE_OK);
  EXPECT_STREQ(message.text, "");
  huddle_context_free(context);
}

}  // namespace
}  // namespace huddle::api
