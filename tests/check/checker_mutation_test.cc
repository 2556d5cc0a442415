// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests that the checker finds errors: every kind of fault is planted here, and found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "litmus.h"

namespace huddle::check::checker {
namespace {

constexpr context::Sequence number(std::size_t i) {
  return just_below_wrap + 1 + static_cast<context::Sequence>(i);
}

// Combines bytes: left + 2 * right, which is not commutative and loses no information.
void combine_bytes(void* to, const void* left, const void* right, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto l = static_cast<const unsigned char*>(left)[i];
    const auto r = static_cast<const unsigned char*>(right)[i];
    static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(l + 2 * r);
  }
}
constexpr memory::Reduction combine{combine_bytes, nullptr, 1, false};

// A small reduction that uses most operations: non-temporal copies of contributions, flags with one
// writer each, a root that waits for any or all of them, a counter of the ranks that have read the
// result, and a control word that is cleared for the next call.
void collective(CheckedContext& ctx, std::size_t call) {
  const int me = ctx.rank();
  const context::Address at = context::Address{context::Region::input, me, 8 * call};
  const context::Address result = line(0, 1);
  const context::Address readers = line(0, 2);
  std::vector<context::Address> flags;
  std::vector<context::AwaitedFlag> arrived;
  for (int rank = 1; rank < ctx.ranks(); ++rank) {
    flags.push_back(line(rank, 0));
    arrived.push_back({flags.back(), context::until_reached(number(call))});
  }
  const context::Address out = context::Address{context::Region::output, me, 8 * call};
  if (me == 0) {
    ctx.wait_any(arrived);
    ctx.wait_all(flags, context::until_reached(number(call)));
    ctx.reduce(result, at, line(1, 1), 8, combine);
    for (int rank = 2; rank < ctx.ranks(); ++rank)
      ctx.reduce(result, result, line(rank, 1), 8, combine);
    ctx.copy(out, result, 8, plain);
    ctx.store(line(0, 0), number(call));
    ctx.wait(readers, context::until_equal(static_cast<context::Sequence>(ctx.ranks() - 1)));
    ctx.store(readers, 0);
  } else {
    ctx.copy(line(me, 1), at, 8, nontemporal);
    ctx.store(line(me, 0), number(call));
    ctx.wait(line(0, 0), context::until_reached(number(call)));
    ctx.copy(out, result, 8, plain);
    ctx.fetch_add(readers, 1);
  }
}

std::string wrong_results(const Memory& memory) {
  const std::size_t bytes = memory.size(context::Region::input);
  std::vector<std::byte> wanted(memory.bytes(context::Region::input, 0).begin(),
                                memory.bytes(context::Region::input, 0).end());
  for (int rank = 1; rank < memory.ranks(); ++rank) {
    combine_bytes(wanted.data(), wanted.data(), memory.bytes(context::Region::input, rank).data(),
                  bytes, nullptr);
  }
  for (int rank = 0; rank < memory.ranks(); ++rank) {
    const auto got = memory.bytes(context::Region::output, rank);
    if (!std::equal(wanted.begin(), wanted.end(), got.begin())) {
      return "of rank " + std::to_string(rank);
    }
  }
  return {};
}

Job collectives(int ranks, std::size_t calls) {
  Job job = litmus(ranks, [calls](CheckedContext& ctx) {
    for (std::size_t call = 0; call < calls; ++call) collective(ctx, call);
  });
  job.first = just_below_wrap;
  job.sizes.input = job.sizes.output = 8 * calls;
  job.prepare = [](Memory& memory) {
    fill_inputs(memory);
    memory.as<context::Sequence>(context::Region::shared, 0)[2 * 64 / sizeof(context::Sequence)] =
        0;
  };
  job.verify = wrong_results;
  return job;
}

TEST(Mutations, CorrectProtocolPasses) {
  EXPECT_TRUE(passes(explore(collectives(2, 3))));
  EXPECT_TRUE(passes(explore(collectives(3, 2))));
  EXPECT_TRUE(passes(explore(collectives(3, 2), {.order = StoreOrder::x86})));
}

TEST(Mutations, AllAreCaught) {
  const std::vector<Job> jobs = {collectives(2, 3), collectives(3, 2)};
  SurveyOptions options;
  const std::string all_is_next = "the wait for all comes next";
  for (const Fault fault :
       {Fault::relaxed, Fault::dropped, Fault::too_early, Fault::plain_compare, Fault::fewer}) {
    options.excuses.push_back({fault, "ctx.wait_any(arrived", all_is_next});
  }
  options.excuses.push_back(
      {Fault::relaxed, "ctx.store(readers, 0)", "the next call's flag carries it along"});
  const Survey found = survey(jobs, options);
  EXPECT_TRUE(found.passed()) << text_of(found);
  EXPECT_GE(found.caught.size(), 50U);
  std::set<std::string_view> kinds;
  for (const Mutation& mutation : found.caught) kinds.insert(name(mutation.fault));
  EXPECT_THAT(kinds, testing::UnorderedElementsAreArray(fault_names));
}

TEST(Mutations, AreListedBySourcePosition) {
  const auto mutations = mutations_of(collectives(2, 1));
  ASSERT_FALSE(mutations.empty());
  const auto by_line = [](const Mutation& a, const Mutation& b) {
    return a.site.line < b.site.line;
  };
  EXPECT_TRUE(std::is_sorted(mutations.begin(), mutations.end(), by_line));
  EXPECT_THAT(text_of(mutations.front()), testing::HasSubstr("checker_mutation_test.cc:"));
  EXPECT_THAT(text_of(mutations.front()), testing::HasSubstr(" in collective"));
}

TEST(Mutations, SurvivorsAreReported) {
  // No rank waits for the second flag.
  const std::vector<Job> jobs = {litmus(2, [](CheckedContext& ctx) {
    if (ctx.rank() == 0) ctx.store(line(0, 0), 1);
    if (ctx.rank() == 1) ctx.wait(line(0, 0), context::until_reached(1));
    if (ctx.rank() == 0) ctx.store(line(0, 1), 1);
  })};
  SurveyOptions options;
  options.excuses = {{Fault::swapped, "ctx.store(line(0, 1)", "never needed"}};
  const Survey found = survey(jobs, options);
  EXPECT_FALSE(found.passed());
  EXPECT_THAT(text_of(found), testing::HasSubstr("survived: dropped: store"));
  EXPECT_THAT(text_of(found), testing::HasSubstr("an excuse that nothing needs"));
}

}  // namespace
}  // namespace huddle::check::checker
