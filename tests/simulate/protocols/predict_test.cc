// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "simulate/protocols/predict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "check/counting/counted_context.h"
#include "model/machine/machine_file.h"
#include "runtime/node/lines.h"
#include "runtime/node/reduction_order.h"
#include "runtime/select/registration.h"

namespace huddle::protocols {
namespace {

using select::Operation;
using select::Request;

machine::Machine machine_named(const std::string& name) {
  return machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/" + name + ".toml");
}

// A team on the first cores of a machine.
struct Team {
  Team(machine::Machine described, int ranks) : machine(std::move(described)), model(machine) {
    std::vector<int> pus = first_pu_of_cores(machine.topology);
    pus.resize(static_cast<std::size_t>(ranks));
    locality = node::locality(machine.topology, pus);
    resources = select::team_resources(locality, model, select::usual_queue_bytes);
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  std::vector<select::Candidate> candidates(const Request& request) const {
    return select::candidates(request, locality, model, resources);
  }
  double ns(const Request& request, const select::Plan& plan) const {
    return predict({request, locality, resources, model}, plan).all_ns();
  }
  double ns(const Request& request) const {
    return ns(request, select::cheapest(candidates(request)).plan);
  }

  machine::Machine machine;
  machine::CostModel model;
  node::RankLocality locality;
  select::TeamResources resources;
};

// Compares the lines of flags and data between each two ranks in the last of several calls.
template <class OfPlan>
void expect_lines_as_counted(const Team& team, const Request& request, const OfPlan& plan,
                             const std::string& words) {
  const int ranks = team.locality.ranks();
  const node::ReductionOrder reduction_order(team.locality);
  const auto setting = [&](int rank) {
    return select::ProtocolInputs{team.locality, team.resources, reduction_order, rank};
  };
  const select::Call call{.operation = request.operation, .count = request.bytes};
  constexpr int calls = 3;
  using Algorithm = select::Registration<OfPlan>;

  check::counting::Job counted;
  counted.ranks = ranks;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto bytes = Algorithm::protocol(plan, setting(rank)).shared_bytes();
    counted.sizes.shared =
        std::max(counted.sizes.shared, round_up(bytes, node::false_sharing_bytes));
  }
  // Pieces of no bytes may begin after the end of the data.
  counted.sizes.input = counted.sizes.output =
      request.bytes + team.resources.pipelined_bcast.cell_bytes * 64;
  const auto counts_of = [&](int so_many) {
    counted.body = [&, so_many](check::counting::CountedContext& ctx) {
      auto protocol = Algorithm::protocol(plan, setting(ctx.rank()));
      for (int i = 0; i < so_many; ++i) Algorithm::run(protocol, ctx, plan, call);
    };
    return check::counting::count(counted);
  };
  auto counts = counts_of(calls);
  counts -= counts_of(calls - 1);

  protocols::model::Job modelled;
  modelled.pus = team.locality.pus;
  modelled.body = [&](protocols::model::SimulatedContext& ctx) {
    auto protocol = Algorithm::protocol(plan, setting(ctx.rank()));
    for (int i = 0; i < calls; ++i) {
      ctx.meet();
      Algorithm::run(protocol, ctx, plan, call);
    }
  };
  const auto outcome = protocols::model::run(modelled, team.model);
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      EXPECT_EQ(outcome.lines(from, to), counts.transfers(from, to))
          << words << ": from rank " << from << " to rank " << to;
    }
  }
}

// If a line contains flags of several writers, its transfers depend on which rank is first: the
// order differs in a context without time.
bool has_lines_of_several_writers(const select::Plan& plan) {
  if (const auto* tree = std::get_if<select::TreeBarrierPlan>(&plan)) {
    return tree->parameters.flags_per_line > 1;
  }
  const auto* dissemination = std::get_if<select::DisseminationPlan>(&plan);
  return dissemination != nullptr && dissemination->parameters.flags_per_line > 1;
}

void expect_lines_as_counted(int ranks, const Request& request) {
  const Team team(machine_named("songshan"), ranks);
  for (const select::Candidate& one : team.candidates(request)) {
    if (select::is_direct(one.plan) || has_lines_of_several_writers(one.plan)) continue;
    std::visit(
        [&]<class Plan>(const Plan& plan) {
          using Algorithm = select::Registration<Plan>;
          if constexpr (requires(check::counting::CountedContext & ctx,
                                 decltype(Algorithm::protocol(
                                     plan, std::declval<select::ProtocolInputs>()))& protocol) {
                          Algorithm::run(protocol, ctx, plan, select::Call());
                        }) {
            expect_lines_as_counted(
                team, request, plan,
                std::string(select::algorithm_name(one.plan)) + ": " + one.parameters);
          }
        },
        one.plan);
  }
}

TEST(Predict, BarriersMoveTheCountedLines) {
  for (const int ranks : {2, 5, 8}) expect_lines_as_counted(ranks, {Operation::barrier, 0, 1});
}
TEST(Predict, BroadcastsMoveTheCountedLines) {
  for (const std::size_t bytes : {8U, 200U, 4096U}) {
    expect_lines_as_counted(8, {Operation::bcast, bytes, 1});
  }
}

TEST(Predict, MoreBytesAreNeverCheaper) {
  const Team team(machine_named("xeon-e5-2620v4-2s"), 8);
  for (const Operation operation :
       {Operation::bcast, Operation::allreduce, Operation::allgather, Operation::gather}) {
    double last_ns = 0;
    for (const std::size_t bytes : {64U << 10U, 256U << 10U, 1U << 20U, 4U << 20U}) {
      const double ns =
          team.ns({operation, bytes, select::reduces(operation) ? sizeof(double) : 1});
      EXPECT_GE(ns, last_ns) << select::name(operation) << " of " << bytes;
      last_ns = ns;
    }
  }
}

TEST(Predict, MoreRanksAreNeverCheaper) {
  struct Case {
    Request request;
    std::string_view algorithm;
  };
  for (const Case& one : {Case{{Operation::barrier, 0, 1}, "dissemination"},
                          Case{{Operation::bcast, 1U << 20U, 1}, "segmented"},
                          Case{{Operation::gather, 1U << 20U, 1}, "direct"}}) {
    double last_ns = 0;
    for (const int ranks : {4, 8, 16, 32}) {
      const Team team(machine_named("songshan"), ranks);
      const double ns =
          team.ns(one.request, select::chosen(team.candidates(one.request), one.algorithm).plan);
      EXPECT_GE(ns, last_ns) << one.algorithm << " on " << ranks << " ranks";
      last_ns = ns;
    }
  }
}

// The data of 31 ranks are written to the memory of one die, whose bandwidth bounds any algorithm.
TEST(Predict, RootMemoryLimitsGather) {
  const Team team(machine_named("songshan"), 32);
  const Request request{Operation::gather, 4U << 20U, 1};
  const select::Candidate chosen = select::cheapest(team.candidates(request));
  EXPECT_GE(chosen.ns, 8e6);
  EXPECT_GE(team.ns(request, chosen.plan), 8e6);
}

// A barrier by levels keeps lines inside groups, which pays off if latencies between groups are
// long.
// One core stores to a line of each of 127 others, which cannot all be in flight.
TEST(Predict, ClosedFormAndSimulationLimitStoresOfSmallScatter) {
  const Team team(machine_named("epyc-2x64-estimate"), 128);
  const Request request{Operation::scatter, 8, 1};
  const double closed_ns = select::cheapest(team.candidates(request)).ns;
  const double simulated_ns = team.ns(request);
  for (const double ns : {closed_ns, simulated_ns}) {
    EXPECT_GT(ns, 1000);
    EXPECT_LT(ns, 5000);
  }
  EXPECT_NEAR(closed_ns, simulated_ns, 0.2 * simulated_ns);
}

TEST(Predict, SwappedLatenciesReverseTheChoice) {
  const auto flat_over_levels = [](bool swapped) {
    machine::Machine machine = machine_named("songshan");
    if (swapped) {
      auto& near = machine.line.front();
      auto& far = machine.line.back();
      std::swap(near.one_way_ns, far.one_way_ns);
      std::swap(near.shared_ns, far.shared_ns);
      std::swap(near.reader_step_ns, far.reader_step_ns);
      std::swap(near.writer_step_ns, far.writer_step_ns);
    }
    const Team team(std::move(machine), 32);
    const auto ns = [&](node::Shape::Kind kind) {
      return team.ns({Operation::barrier, 0, 1},
                     select::TreeBarrierPlan{{kind, 1}, {1, node::Release::announced}});
    };
    return ns(node::Shape::Kind::flat) / ns(node::Shape::Kind::levels);
  };
  EXPECT_GT(flat_over_levels(false), 1.5 * flat_over_levels(true));
}

}  // namespace
}  // namespace huddle::protocols
