// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The plans that trials compare with the one that has the shortest predicted time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/arithmetic.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "runtime/select/choice.h"

namespace huddle::select {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;

constexpr std::size_t alternatives_queue_bytes = 1 << 20;

class Alternatives : public ::testing::Test {
 protected:
  std::vector<Candidate> all(const Request& request) const {
    return candidates(request, locality, model, resources);
  }
  std::vector<Candidate> to(const Plan& usual, const Request& request) const {
    return alternatives_to(usual, request, locality, model, resources);
  }

  machine::Machine machine = machine::generic_machine(
      machine::discover_from_synthetic("pack:1 l3:1 core:4 pu:1").topology);
  machine::CostModel model{machine};
  node::RankLocality locality =
      node::locality(machine.topology, machine::first_pu_of_cores(machine.topology));
  TeamResources resources = team_resources(locality, model, alternatives_queue_bytes);
};

std::vector<std::string_view> names_of(const std::vector<Candidate>& list) {
  std::vector<std::string_view> names;
  for (const Candidate& one : list) names.push_back(algorithm_name(one.plan));
  return names;
}

// Returns the sizes of the pieces of the candidates with the algorithm and the copy method of
// `usual`, in their order.
std::vector<std::size_t> pieces_like(const Plan& usual, const std::vector<Candidate>& list) {
  std::vector<std::size_t> sizes;
  for (const Candidate& one : list) {
    if (algorithm_name(one.plan) == algorithm_name(usual) &&
        copy_method(one.plan) == copy_method(usual))
      sizes.push_back(piece_size(one.plan));
  }
  return sizes;
}

// With pieces of the best size by prediction and of every other size, the alternatives reach a size
// near any other one.
TEST_F(Alternatives, HaveSmallerAndLargerPieces) {
  constexpr Request request{Operation::bcast, std::size_t{1} << 18, 1};
  const auto candidates = all(request);
  const auto usual = std::find_if(candidates.begin(), candidates.end(), [](const Candidate& one) {
    return algorithm_name(one.plan) == "pipelined" && piece_size(one.plan) == 16 * KiB;
  });
  ASSERT_NE(usual, candidates.end());
  const auto sizes = pieces_like(usual->plan, to(usual->plan, request));
  for (const std::size_t size : pieces_like(usual->plan, candidates)) {
    const auto is_near = [size](std::size_t tried) { return size < 4 * tried && tried < 4 * size; };
    EXPECT_TRUE(is_near(16 * KiB) || std::any_of(sizes.begin(), sizes.end(), is_near)) << size;
  }
  EXPECT_THAT(sizes, Each(Not(AllOf(Ge(8 * KiB), Le(32 * KiB)))));
  ASSERT_GE(sizes.size(), 2U);
  EXPECT_EQ(sizes[0], 64 * KiB);
  EXPECT_EQ(sizes[1], 4 * KiB);
}

TEST_F(Alternatives, ContainEachOtherAlgorithm) {
  for (const Operation operation : operations) {
    const Request request{operation, 65536, sizeof(double)};
    const auto candidates = all(request);
    const Plan usual = cheapest(candidates).plan;
    std::vector<std::string_view> others = names_of(candidates);
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    std::erase(others, algorithm_name(usual));
    const std::vector<std::string_view> alternatives = names_of(to(usual, request));
    for (const std::string_view other : others)
      EXPECT_THAT(alternatives, Contains(other)) << name(operation);
  }
}

// One curve of a machine file may be wrong, and make a slow method look fast. So the first
// alternatives include one that leaves the cache lines to another core.
TEST_F(Alternatives, BeginWithAnotherKindOfCopyMethod) {
  for (const Operation operation : {Operation::bcast, Operation::gather}) {
    const Request request{operation, 32768, 1};
    const Plan usual = cheapest(all(request)).plan;
    ASSERT_TRUE(copy_method(usual)) << name(operation);
    const auto alternatives = to(usual, request);
    ASSERT_FALSE(alternatives.empty());
    const auto first = copy_method(alternatives.front().plan);
    ASSERT_TRUE(first) << name(operation);
    const memory::CopyMethodFacts& other = **first;
    const memory::CopyMethodFacts& own = **copy_method(usual);
    const bool is_nontemporal = other.in == memory::CopyKernel::nontemporal;
    EXPECT_TRUE(other.ownership != own.ownership ||
                is_nontemporal != (own.in == memory::CopyKernel::nontemporal))
        << name(operation) << ": " << other.name << " instead of " << own.name;
  }
}

// Other algorithms need memory of their own, but must not come last.
TEST_F(Alternatives, ContainAnotherAlgorithmInEachThree) {
  constexpr Request request{Operation::gather, 32768, 1};
  const Plan usual = cheapest(all(request)).plan;
  const auto names = names_of(to(usual, request));
  const auto others = std::count_if(names.begin(), names.end(), [&](std::string_view name) {
    return name != algorithm_name(usual);
  });
  ASSERT_GE(others, 2);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(names[i] == algorithm_name(usual), i % 3 != 2) << i;
}

TEST_F(Alternatives, HaveOtherPiecesWithOtherCopyMethods) {
  constexpr Request request{Operation::gather, 32768, 1};
  const Plan usual = cheapest(all(request)).plan;
  std::map<std::size_t, std::set<std::size_t>> pieces_by_method;
  for (const Candidate& one : to(usual, request)) {
    const auto method = copy_method(one.plan);
    if (method && method != copy_method(usual))
      pieces_by_method[method->number()].insert(piece_size(one.plan));
  }
  EXPECT_TRUE(std::any_of(pieces_by_method.begin(), pieces_by_method.end(),
                          [](const auto& one) { return one.second.size() >= 3; }));
}

// One curve of a machine file may be wrong, and make a slow method look fast.
TEST_F(Alternatives, ContainOtherCopyMethods) {
  if (!memory::is_native(memory::CopyKernel::nontemporal))
    GTEST_SKIP() << "this processor has one kernel";
  for (const Operation operation :
       {Operation::bcast, Operation::gather, Operation::scatter, Operation::reduce}) {
    const Request request{operation, 4096, 1};
    const auto candidates = all(request);
    const auto usual = std::find_if(candidates.begin(), candidates.end(), [](const Candidate& one) {
      return copy_method(one.plan) == memory::CopyMethod();
    });
    ASSERT_NE(usual, candidates.end()) << name(operation);
    memory::CopyMethodSet methods;
    for (const Candidate& one : to(usual->plan, request)) {
      if (const auto method = copy_method(one.plan)) methods.set(method->number());
    }
    methods.reset(memory::CopyMethod().number());
    EXPECT_GE(methods.count(), 2U) << name(operation);
  }
}

// A single copy needs no method.
TEST_F(Alternatives, ContainCopyMethodsIfTheUsualPlanHasNone) {
  constexpr Request request{Operation::scatter, 32768, 1};
  const auto candidates = all(request);
  const auto usual = std::find_if(candidates.begin(), candidates.end(), [](const Candidate& one) {
    return algorithm_name(one.plan) == "direct";
  });
  ASSERT_NE(usual, candidates.end());
  ASSERT_FALSE(copy_method(usual->plan));
  memory::CopyMethodSet methods;
  for (const Candidate& one : to(usual->plan, request)) {
    if (const auto method = copy_method(one.plan)) methods.set(method->number());
  }
  EXPECT_GE(methods.count(), 3U);
}

// A method that was measured only in a ring, and was slow, comes after all others.
TEST_F(Alternatives, DoNotMistakeAMethodForPlain) {
  for (machine::HandoffCurve& curve : machine.handoff) {
    if (curve.kind != machine::HandoffKind::ring_rep_movsb) continue;
    for (double& ns : curve.curve.ns) ns *= 100;
  }
  constexpr Request request{Operation::gather, 16384, 1};
  memory::CopyMethodSet methods;
  for (const Candidate& one : to(cheapest(all(request)).plan, request)) {
    const auto method = copy_method(one.plan);
    if (!method) continue;
    const bool is_new = !methods.test(method->number());
    EXPECT_FALSE(is_new && methods.test(memory::CopyMethod(memory::CopyKernel::rep_movsb).number()))
        << one.parameters;
    methods.set(method->number());
  }
  EXPECT_GE(methods.count(), 3U);
}

TEST_F(Alternatives, DifferFromEachOther) {
  for (const Operation operation : operations) {
    const Request request{operation, 65536, sizeof(double)};
    std::set<std::string> texts;
    const auto alternatives = to(cheapest(all(request)).plan, request);
    EXPECT_THAT(alternatives, Not(IsEmpty())) << name(operation);
    for (const Candidate& one : alternatives)
      texts.insert(std::string(algorithm_name(one.plan)) + one.parameters);
    EXPECT_EQ(texts.size(), alternatives.size()) << name(operation);
  }
}

TEST_F(Alternatives, AreOtherAlgorithmsIfThePlanHasNoPieces) {
  constexpr Request request{Operation::barrier, 0, 1};
  const Plan usual = cheapest(all(request)).plan;
  EXPECT_THAT(pieces_like(usual, to(usual, request)), IsEmpty());
}

}  // namespace
}  // namespace huddle::select
