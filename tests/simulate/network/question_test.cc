// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "simulate/network/question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace huddle::network {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

Question some_question(Judge judge) {
  schedules::Call call;
  call.ranks = 48;
  call.message_blocks = 3;
  return {judge,        "a fabric.toml",           "", "allgather:ring", call,
          120 * 1024.0, fabric::Placement::random, 7};
}

std::string refused(std::vector<std::string> words) {
  try {
    question(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Question, SurvivesRoundTrip) {
  for (const Judge judge : {Judge::simgrid, Judge::simgrid_in_order, Judge::smpi}) {
    const std::vector<std::string> words = words_of(some_question(judge));
    EXPECT_THAT(words_of(question(words)), ElementsAreArray(words));
  }
}

TEST(Question, RequiresAllKeys) {
  const std::vector<std::string> words = words_of(some_question(Judge::smpi));
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::vector<std::string> fewer = words;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THAT(refused(fewer), HasSubstr("is missing")) << words[i];
  }
}

TEST(Question, RejectsUnknownJudge) {
  std::vector<std::string> words = words_of(some_question(Judge::smpi));
  words[0] = "judge=luck";
  EXPECT_THAT(refused(words), HasSubstr("'luck'"));
}

}  // namespace
}  // namespace huddle::network
