// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests of docs/example/proc_mem_path.h, the example in docs/extend.md of a path into a peer's
// memory: with one entry in the table of paths it is probed, measured, predicted, explained, chosen
// and refused.
#include "proc_mem_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "model/machine/topology.h"
#include "ranks.h"
#include "runtime/select/explain.h"
#include "runtime/team/team.h"
#include "simulate/protocols/predict.h"
#include "tools/calibrate/calibrate.h"
#include "tools/doctor/siblings.h"

namespace huddle::example {
namespace {

using select::Operation;
using single_copy::PeerPaths;
using testing::HasSubstr;

constexpr single_copy::PathNumber number_of_cma = 0;
constexpr single_copy::PathNumber number_of_proc_mem = 1;

PeerPaths table() {
  PeerPaths paths = {single_copy::peer_paths().front()};
  paths.push_back(proc_mem());
  return paths;
}

bool is_refused_here(single_copy::PathNumber path) {
  return doctor::probe_siblings({.allow_tracers = true, .paths = table()}).memory_read(path) != 0;
}

TEST(ProcMemPath, IsProbedByDoctor) {
  const auto results = doctor::probe_siblings({.allow_tracers = true, .paths = table()});
  EXPECT_EQ(results.memory_reads.size(), 2U);
  const auto findings = doctor::judge_siblings({.paths = table()});
  ASSERT_GE(findings.size(), 2U);
  EXPECT_EQ(findings[1].id, "proc_mem");
  EXPECT_THAT(findings[1].found, HasSubstr("/proc/PID/mem"));
}

// The memory of a process that does not exist, and an address that is not mapped.
TEST(ProcMemPath, ReturnsTheErrnoOfTheSystemCall) {
  ProcMemory nobodys({.process = 0});
  std::byte here{};
  EXPECT_EQ(nobodys.read(&here, 4096, 1), ENOENT);
  EXPECT_EQ(nobodys.write(4096, &here, 1), ENOENT);
  ProcMemory own({.process = getpid()});
  EXPECT_NE(own.read(&here, 0, 1), single_copy::fine);
}

class Unwatched : public calibrate::Watcher {
 public:
  void begin_step(const calibrate::Plan&, std::size_t) override {}
  void advance(double) override {}
};

TEST(ProcMemPath, IsMeasuredByCalibration) {
  if (is_refused_here(number_of_proc_mem)) GTEST_SKIP() << "this system lets nobody do so";
  const machine::Discovery here = machine::discover_this_machine();
  constexpr std::uint64_t little_memory = std::uint64_t{64} << 20;
  calibrate::Plan plan =
      calibrate::make_plan(here.topology, {here.allowed, true, little_memory, table()});
  std::erase_if(plan.steps,
                [](const calibrate::Step& step) { return step.kind != calibrate::StepKind::path; });
  for (calibrate::Step& step : plan.steps) {
    step.extent = {.least = 5, .most = 5, .seconds = 0};
    step.limit_seconds = 60;
  }
  Unwatched watcher;
  const std::atomic<bool> never_stop{false};
  const auto outcome = calibrate::calibrate(here.topology, plan, watcher, never_stop);
  const auto& paths = outcome.machine.paths;
  const auto found = std::find_if(paths.begin(), paths.end(),
                                  [](const auto& curve) { return curve.path == "proc_mem"; });
  ASSERT_NE(found, paths.end());
  EXPECT_EQ(found->origin, machine::Origin::measured);
  EXPECT_GT(found->curve.ns.front(), 0);
  EXPECT_EQ(machine::parse_machine(machine::format_machine(outcome.machine), "test"),
            outcome.machine);
}

// Returns a machine on which reading a peer's memory is the fastest method, small blocks by one
// path and large blocks by the other. Both are slower than a local copy.
machine::Machine reading_machine() {
  machine::Machine machine = machine::generic_machine(
      machine::discover_from_synthetic("pack:1 numa:1 l3:1 core:4 pu:1").topology);
  for (machine::HandoffCurve& handoff : machine.handoff) {
    for (double& ns : handoff.curve.ns) ns *= 1e4;
  }
  for (machine::LineCost& line : machine.line) {
    for (double* ns :
         {&line.one_way_ns, &line.shared_ns, &line.reader_step_ns, &line.writer_step_ns}) {
      *ns *= 100;
    }
  }
  const machine::Curve cma{{64, 64 << 10, 16 << 20}, {300'000, 500'000, 40e6}, {}};
  const machine::Curve proc_mem{{64, 64 << 10, 16 << 20}, {2000, 100'000, 80e6}, {}};
  machine.paths = {{"cma", 1, cma, machine::Origin::estimated},
                   {"proc_mem", 1, proc_mem, machine::Origin::estimated}};
  return machine;
}

constexpr int ranks = 3;
constexpr std::size_t small = std::size_t{32} << 10;
constexpr std::size_t large = std::size_t{16} << 20;

TEST(ProcMemPath, IsChosenIfPredictedFaster) {
  const machine::Machine machine = reading_machine();
  const machine::CostModel model(machine);
  const node::RankLocality locality = node::locality(machine.topology, {0, 1, 2});
  select::TeamResources resources =
      select::team_resources(locality, model, select::usual_queue_bytes);
  const auto explained = [&](Operation operation, std::size_t bytes) {
    return select::explain({operation, bytes, 1}, locality, model, resources);
  };
  EXPECT_EQ(explanation_text(explained(Operation::alltoall, small)).find("proc_mem"),
            std::string::npos)
      << "the table is without it";
  resources.paths = select::untried(table());
  for (const Operation operation : {Operation::alltoall, Operation::bcast, Operation::gather}) {
    SCOPED_TRACE(name(operation));
    const auto of_small = explained(operation, small);
    const auto of_large = explained(operation, large);
    EXPECT_EQ(path_of(chosen(of_small).plan), number_of_proc_mem);
    EXPECT_THAT(chosen(of_small).parameters, HasSubstr("proc_mem"));
    EXPECT_THAT(explanation_text(of_large), HasSubstr("proc_mem"));
    EXPECT_TRUE(is_direct(chosen(of_large).plan));
    EXPECT_EQ(path_of(chosen(of_large).plan), number_of_cma);
  }
  resources.paths[number_of_proc_mem].refusal = "a container";
  const auto refused = explained(Operation::alltoall, small);
  EXPECT_EQ(path_of(chosen(refused).plan), number_of_cma);
  EXPECT_THAT(explanation_text(refused), HasSubstr("without single copy by proc_mem: a container"));
  EXPECT_EQ(direct_refusal(refused), "") << "there is another one";
}

TEST(ProcMemPath, IsPredictedFromItsOwnCurve) {
  const machine::Machine machine = reading_machine();
  const machine::CostModel model(machine);
  const node::RankLocality locality = node::locality(machine.topology, {0, 1, 2});
  select::TeamResources resources =
      select::team_resources(locality, model, select::usual_queue_bytes);
  resources.paths = select::untried(table());
  const auto ns = [&](single_copy::PathNumber path, std::size_t bytes) {
    const protocols::Question question{{Operation::alltoall, bytes, 1}, locality, resources, model};
    return protocols::predict(question, select::DirectExchangePlan{{}, path}).all_ns();
  };
  EXPECT_LT(ns(number_of_proc_mem, small), ns(number_of_cma, small));
  EXPECT_GT(ns(number_of_proc_mem, large), ns(number_of_cma, large));
}

// Counts the bytes that are read.
class Counted : public single_copy::PeerMemory {
 public:
  Counted(std::unique_ptr<single_copy::PeerMemory> real, std::size_t& bytes)
      : real_(std::move(real)), bytes_(bytes) {}
  single_copy::ErrorNumber read(std::byte* to, single_copy::RemoteAddress from,
                                std::size_t n) noexcept override {
    bytes_ += n;
    return real_->read(to, from, n);
  }
  single_copy::ErrorNumber write(single_copy::RemoteAddress to, const std::byte* from,
                                 std::size_t n) noexcept override {
    return real_->write(to, from, n);
  }

 private:
  std::unique_ptr<single_copy::PeerMemory> real_;
  std::size_t& bytes_;
};

class Refusing : public single_copy::PeerMemory {
 public:
  single_copy::ErrorNumber read(std::byte*, single_copy::RemoteAddress,
                                std::size_t) noexcept override {
    return EPERM;
  }
  single_copy::ErrorNumber write(single_copy::RemoteAddress, const std::byte*,
                                 std::size_t) noexcept override {
    return EPERM;
  }
};

// Runs an alltoall of small blocks by a team of three, and checks how many bytes each rank reads by
// the path. The path fails on rank `refuses`; -1: on none.
void run_team(const team::Bootstrap& bootstrap, int refuses, std::string_view expected_refusal) {
  std::size_t bytes_read = 0;
  team::ContextOptions options;
  options.machine = reading_machine();
  options.arena.cap_bytes = std::size_t{64} << 20;
  options.paths = table();
  options.paths[number_of_proc_mem].open =
      [&](const single_copy::Owner& owner) -> std::unique_ptr<single_copy::PeerMemory> {
    if (bootstrap.rank == refuses) return std::make_unique<Refusing>();
    return std::make_unique<Counted>(proc_mem().open(owner), bytes_read);
  };
  team::Context context(options);
  team::Team team(context, bootstrap);
  std::vector<unsigned char> input(ranks * small);
  for (int to = 0; to < ranks; ++to) {
    std::fill_n(input.begin() + to * static_cast<std::ptrdiff_t>(small), small,
                static_cast<unsigned char>(10 * bootstrap.rank + to));
  }
  std::vector<unsigned char> output(input.size());
  const std::size_t before = bytes_read;
  team.alltoall(input.data(), output.data(), small);
  for (int from = 0; from < ranks; ++from) {
    EXPECT_EQ(output[static_cast<std::size_t>(from) * small], 10 * from + bootstrap.rank);
    EXPECT_EQ(output[static_cast<std::size_t>(from + 1) * small - 1], 10 * from + bootstrap.rank);
  }
  const auto explanation = team.explain({Operation::alltoall, small, 1});
  EXPECT_EQ(explanation.paths[number_of_proc_mem].refusal, expected_refusal);
  EXPECT_EQ(explanation.paths[number_of_cma].refusal, "");
  EXPECT_EQ(team.latest_algorithm(), "direct");
  const bool by_proc_mem = expected_refusal.empty();
  EXPECT_EQ(path_of(chosen(explanation).plan), by_proc_mem ? number_of_proc_mem : number_of_cma);
  EXPECT_EQ(bytes_read - before >= (ranks - 1) * small, by_proc_mem);
}

void expect_fine(const std::vector<team::RankEnd>& ends) {
  for (const team::RankEnd& end : ends) EXPECT_EQ(end.how, team::RankEnd::How::fine) << end;
}

TEST(ProcMemPath, CarriesTheBlocksOfATeam) {
  if (is_refused_here(number_of_proc_mem) || is_refused_here(number_of_cma)) {
    GTEST_SKIP() << "this system lets nobody do so";
  }
  expect_fine(team::run_ranks(
      ranks, [](const team::Bootstrap& bootstrap) { run_team(bootstrap, -1, ""); }));
}

// If the path fails on one rank, all ranks use the other one, and know the reason.
TEST(ProcMemPath, IsUsedByAllRanksOrNone) {
  if (is_refused_here(number_of_proc_mem) || is_refused_here(number_of_cma)) {
    GTEST_SKIP() << "this system lets nobody do so";
  }
  expect_fine(team::run_ranks(ranks, [](const team::Bootstrap& bootstrap) {
    run_team(bootstrap, 1, "rank 1: cannot read the memory of rank 0: Operation not permitted");
  }));
}

}  // namespace
}  // namespace huddle::example
