// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Blocks that peers can map, allocated through the C interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "c_ranks.h"

namespace huddle::api {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t count = 1'000'000;

// A block that is freed with this object.
class Block {
 public:
  Block(const ContextHandle& context, std::size_t bytes) : context_(context.get()) {
    huddle_message why;
    if (huddle_alloc(context_, bytes, &data_, &why) != HUDDLE_OK) ADD_FAILURE() << why.text;
  }
  ~Block() { huddle_free(context_, data_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  std::int32_t* numbers() const { return static_cast<std::int32_t*>(data_); }

 private:
  huddle_context* context_;
  void* data_ = nullptr;
};

TEST(Heap, BlocksAreOrdinaryBuffers) {
  run_c_ranks(3, [](const huddle_bootstrap& bootstrap) {
    const ContextHandle context = new_context();
    const TeamHandle team = new_team(context, bootstrap);
    const Block input(context, count * sizeof(std::int32_t));
    const Block output(context, count * sizeof(std::int32_t));
    for (std::int32_t call = 0; call < 3; ++call) {
      std::fill_n(input.numbers(), count, call + bootstrap.rank);
      must(huddle_allreduce(team.get(), input.numbers(), output.numbers(), count, HUDDLE_INT32,
                            HUDDLE_SUM),
           team);
      EXPECT_EQ(std::count(output.numbers(), output.numbers() + count, 3 * call + 3), count);
      must(huddle_bcast(team.get(), output.numbers(), count * sizeof(std::int32_t), call % 3),
           team);
    }
  });
}

TEST(Heap, MessageContainsReasonOfFailure) {
  huddle_settings settings = default_settings();
  settings.heap_bytes = std::size_t{1} << 20;
  const ContextHandle context = new_context(settings);
  void* block = &settings;
  huddle_message why;
  EXPECT_EQ(huddle_alloc(context.get(), std::size_t{2} << 20, &block, &why), HUDDLE_FAILED);
  EXPECT_EQ(block, nullptr);
  EXPECT_THAT(why.text, HasSubstr("heap_bytes"));
  EXPECT_EQ(huddle_alloc(nullptr, 1, &block, &why), HUDDLE_MISUSED);
  EXPECT_THAT(why.text, HasSubstr("context"));
  EXPECT_EQ(huddle_alloc(context.get(), 1, nullptr, &why), HUDDLE_MISUSED);
}

TEST(Heap, IsRefusedIfTheAddressSpaceIsLimited) {
  run_c_ranks(1, [](const huddle_bootstrap&) {
    const rlimit limited{rlim_t{1} << 46, rlim_t{1} << 46};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
    const ContextHandle context = new_context();
    void* block = nullptr;
    huddle_message why;
    EXPECT_EQ(huddle_alloc(context.get(), 1, &block, &why), HUDDLE_FAILED);
    EXPECT_THAT(why.text, HasSubstr("ulimit -v"));
  });
}

TEST(Heap, HasAtLeastTwoPages) {
  huddle_settings settings = default_settings();
  settings.heap_bytes = 1;
  huddle_context* context = nullptr;
  huddle_message why;
  EXPECT_EQ(huddle_context_create(&settings, &context, &why), HUDDLE_MISUSED);
  EXPECT_THAT(why.text, HasSubstr("heap_bytes"));
}

TEST(Heap, FreesNull) {
  const ContextHandle context = new_context();
  huddle_free(context.get(), nullptr);
  huddle_free(nullptr, nullptr);
}

// The heap remains as long as a team needs it, even if its context is freed.
TEST(Heap, OutlivesContextWhileTeamsExist) {
  run_c_ranks(2, [](const huddle_bootstrap& bootstrap) {
    ContextHandle context = new_context();
    const TeamHandle team = new_team(context, bootstrap);
    void* block = nullptr;
    ASSERT_EQ(huddle_alloc(context.get(), count, &block, nullptr), HUDDLE_OK);
    context.reset();
    std::memset(block, bootstrap.rank, count);
    must(huddle_bcast(team.get(), block, count, 1), team);
    EXPECT_EQ(static_cast<char*>(block)[count - 1], 1);
  });
}

}  // namespace
}  // namespace huddle::api
