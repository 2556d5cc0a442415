// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Application threads may have a stack that is just large enough for the MPI, and may make the
// first collective call, so that huddle sets up its team on that stack.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>

#include "exercise.h"
#include "model/machine/locate.h"
#include "ranks.h"
#include "runtime/team/team.h"
#include "setup.h"

namespace huddle::team {
namespace {

using How = RankEnd::How;

// Leaves space for the MPI, which needs about 10 KiB, on a stack of 32 KiB.
constexpr std::ptrdiff_t most_stack_bytes = 12 << 10;

// Returns the number of bytes of its stack that a thread touches while it runs `work`.
std::ptrdiff_t stack_of(std::function<void()> work) {
  constexpr std::size_t stack_bytes = std::size_t{1} << 20;
  constexpr unsigned char untouched = 0xA5;
  void* const mapped =
      mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(mapped, untouched, stack_bytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, mapped, stack_bytes);
  const auto run = [](void* given) -> void* {
    (*static_cast<std::function<void()>*>(given))();
    return nullptr;
  };
  pthread_t thread{};
  EXPECT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  const auto* const begin = static_cast<const unsigned char*>(mapped);
  const auto* const end = begin + stack_bytes;
  const std::ptrdiff_t used = std::distance(
      std::find_if(begin, end, [](unsigned char byte) { return byte != untouched; }), end);
  munmap(mapped, stack_bytes);
  return used;
}

void expect_little_stack(const std::function<void()>& work, const char* what) {
  EXPECT_LE(stack_of(work) - stack_of([] {}), most_stack_bytes) << what;
}

void call_once(Team& team) {
  for (const select::Operation operation : select::operations) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 18}) {
      OwnCall call(team, operation, bytes, 7);
      call.run();
      EXPECT_TRUE(call.is_right()) << name(operation);
    }
  }
}

TEST(Stack, OfTeamSetupAndFirstCallsIsSmall) {
#if !defined(__OPTIMIZE__)
  GTEST_SKIP() << "only frames of an optimized build are those that programs meet";
#endif
  const auto ends = run_ranks(3, [](const Bootstrap& bootstrap) {
    std::unique_ptr<Context> context;
    std::unique_ptr<Team> first;
    std::unique_ptr<Team> second;
    expect_little_stack([&] { context = std::make_unique<Context>(two_core_options()); },
                        "context");
    expect_little_stack([&] { first = std::make_unique<Team>(*context, bootstrap); }, "team");
    expect_little_stack([&] { call_once(*first); }, "first calls");
    expect_little_stack(
        [&] { second = std::make_unique<Team>(*context, bootstrap, first->group()); },
        "team in a known group");
    expect_little_stack([&] { call_once(*second); }, "first calls in a known group");
  });
  for (const RankEnd& end : ends) EXPECT_EQ(end.how, How::fine) << end;
}

}  // namespace
}  // namespace huddle::team
