// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Every operation by every plan that could be chosen, against a serial reference.
#include "runtime/team/team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>

#include "common/arithmetic.h"
#include "exercise.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "ranks.h"
#include "runtime/memory/reduction.h"
#include "runtime/memory/types.h"
#include "runtime/select/candidate.h"

namespace huddle::team {
namespace {

using select::Operation;

// A machine model with several levels and NUMA nodes, independent of the machine of the test.
machine::Machine layered_machine() {
  machine::Machine machine = machine::generic_machine(
      machine::discover_from_synthetic("pack:2 numa:1 l3:2 core:2 pu:1").topology);
  // Adds a path by which ranks can read each other's memory.
  machine.paths.push_back(
      {"cma", 1, {{1024, 1 << 20}, {2000, 100'000}, {}}, machine::Origin::estimated});
  return machine;
}

ContextOptions small_options() {
  ContextOptions options;
  options.machine = layered_machine();
  options.arena.cap_bytes = 256 * MiB;
  return options;
}

// Ranks as processes, as in applications, and as threads, so that TSan sees both sides.
enum class As { processes, threads };

struct MeasuringThreads {
  int ranks;
  As as;
};
void PrintTo(const MeasuringThreads& crew, std::ostream* out) {
  *out << crew.ranks << (crew.as == As::processes ? " processes" : " threads");
}

class Teams : public testing::TestWithParam<MeasuringThreads> {
 protected:
  static void run(const RankFunction& function) {
    const auto [ranks, as] = GetParam();
    const auto ends = as == As::processes ? run_ranks(ranks, function, std::chrono::minutes(10))
                                          : run_thread_ranks(ranks, function);
    for (const RankEnd& end : ends) EXPECT_EQ(end.how, RankEnd::How::fine) << end;
  }
};

// Returns whether to test a plan. `make test-all` tests all plans; otherwise large teams test a
// part of them, which differs between operations and sizes.
bool is_taken(std::size_t plan, int ranks) {
  const auto one_of = static_cast<std::size_t>(ranks <= 3 ? 1 : ranks);
  return std::getenv("HUDDLE_THOROUGH") != nullptr || plan % one_of == 0;
}

// Each algorithm is forced in turn, at sizes for which it could be chosen.
TEST_P(Teams, RunEveryPlanOfEveryOperation) {
  run([](const Bootstrap& bootstrap) {
    Context context(small_options());
    Team team(context, bootstrap);
    if (team.ranks() == 1) return;
    std::uint32_t seed = 1;
    for (const Operation operation : select::operations) {
      for (const std::size_t bytes : {std::size_t{40}, std::size_t{3000}, std::size_t{150000}}) {
        for (const auto& candidate : team.explain({operation, bytes, 4}).candidates) {
          ++seed;
          if (!is_taken(seed, team.ranks())) continue;
          exercise(team, candidate.plan, operation, bytes, seed);
        }
        if (operation == Operation::barrier) break;
      }
    }
  });
}

TEST_P(Teams, RunChosenPlansAtManySizes) {
  run([](const Bootstrap& bootstrap) {
    Context context(small_options());
    Team team(context, bootstrap);
    std::minstd_rand random(11);
    for (std::uint32_t call = 0; call < 40; ++call) {
      const std::size_t count = (std::size_t{1} << random() % 17) + random() % 5 - 1;
      const int root = static_cast<int>(random() % static_cast<unsigned>(team.ranks()));
      const auto mine = numbers(count, call * 50 + static_cast<std::uint32_t>(team.rank()));
      const auto wanted = sums(count, team.ranks(), call * 50);
      std::vector<std::uint32_t> result(count);
      team.allreduce(mine.data(), result.data(), count, sum);
      ASSERT_EQ(result, wanted);
      std::fill(result.begin(), result.end(), 0);
      team.reduce(mine.data(), result.data(), count, sum, root);
      team.bcast(result.data(), 4 * count, root);
      ASSERT_EQ(result, wanted);
      team.barrier();
    }
  });
}

// Sizes from 0 B to 64 MiB; those above 4 MiB only in `make test-all`, because they take seconds.
TEST_P(Teams, RunEmptyToLargeCalls) {
  const bool thorough = std::getenv("HUDDLE_THOROUGH") != nullptr;
  run([thorough](const Bootstrap& bootstrap) {
    Context context(small_options());
    Team team(context, bootstrap);
    for (std::size_t bytes = 0; bytes <= (thorough ? 64 : 4) * MiB;
         bytes = bytes == 0 ? 4 : 16 * bytes) {
      const std::size_t count = bytes / 4;
      std::vector<std::uint32_t> data(count, static_cast<std::uint32_t>(team.rank()));
      team.allreduce(data.data(), data.data(), count, sum);
      const auto total = static_cast<std::uint32_t>(team.ranks() * (team.ranks() - 1) / 2);
      ASSERT_EQ(std::count(data.begin(), data.end(), total), static_cast<std::ptrdiff_t>(count));
      const int root = team.ranks() - 1;
      if (team.rank() == root) std::iota(data.begin(), data.end(), 7u);
      team.bcast(data.data(), bytes, root);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(data[i], i + 7);
    }
  });
}

std::string name_of_crew(const testing::TestParamInfo<MeasuringThreads>& info) {
  return std::to_string(info.param.ranks) +
         (info.param.as == As::processes ? "Processes" : "Threads");
}

INSTANTIATE_TEST_SUITE_P(
    Ranks, Teams,
    testing::Values(MeasuringThreads{1, As::processes}, MeasuringThreads{2, As::processes},
                    MeasuringThreads{3, As::processes}, MeasuringThreads{5, As::processes},
                    MeasuringThreads{8, As::processes}, MeasuringThreads{13, As::processes},
                    MeasuringThreads{17, As::processes}, MeasuringThreads{2, As::threads},
                    MeasuringThreads{3, As::threads}, MeasuringThreads{7, As::threads}),
    name_of_crew);

}  // namespace
}  // namespace huddle::team
