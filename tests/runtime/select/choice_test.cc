// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Choices on every machine that has a file in machines/, from two ranks to one per core.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <vector>

#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "model/machine/topology.h"
#include "runtime/select/algorithm.h"
#include "runtime/select/candidate.h"
#include "runtime/select/choice.h"
#include "runtime/select/explain.h"
#include "runtime/select/operation.h"

namespace huddle::select {
namespace {

constexpr std::size_t choice_queue_bytes = 1 << 20;
constexpr PeerCopy by_cma{"cma"};

std::vector<machine::Machine> all_machines() {
  std::vector<machine::Machine> machines;
  for (const auto& file : std::filesystem::directory_iterator(HUDDLE_SOURCE_DIR "/machines")) {
    if (file.path().extension() != ".toml") continue;
    machines.push_back(machine::read_machine_file(file.path().string()));
  }
  return machines;
}

node::RankLocality seats_on(const machine::Machine& machine, int ranks) {
  std::vector<int> pus = machine::first_pu_of_cores(machine.topology);
  pus.resize(static_cast<std::size_t>(ranks));
  return node::locality(machine.topology, pus);
}

// Calls check(machine, locality, model, resources) for some numbers of ranks on each machine.
template <class Check>
void everywhere(Check check) {
  const auto machines = all_machines();
  ASSERT_FALSE(machines.empty());
  for (const auto& machine : machines) {
    const machine::CostModel model(machine);
    for (int ranks = 2; ranks <= machine::core_count(machine.topology); ranks = 2 * ranks + 1) {
      SCOPED_TRACE(machine.name + " with " + std::to_string(ranks) + " ranks");
      const node::RankLocality locality = seats_on(machine, ranks);
      check(locality, model, team_resources(locality, model, choice_queue_bytes));
    }
  }
}

// The explanation contains the number of segments that the protocol uses.
TEST(Choice, TextContainsSegmentsAndReaders) {
  const auto words_for = [](int ranks) {
    const machine::Machine machine =
        machine::generic_machine(machine::discover_from_synthetic("pack:1 core:9 pu:1").topology);
    const machine::CostModel model(machine);
    const node::RankLocality locality = seats_on(machine, ranks);
    const TeamResources given = team_resources(locality, model, choice_queue_bytes);
    for (const Candidate& one : candidates({Operation::bcast, 4096, 1}, locality, model, given)) {
      if (std::holds_alternative<node::SegmentedBcast::Plan>(one.plan)) return one.parameters;
    }
    return std::string();
  };
  EXPECT_THAT(words_for(2), testing::StartsWith("1 segment of 4K, 1 reader at a time"));
  EXPECT_THAT(words_for(4), testing::StartsWith("1 segment of 4K, 3 readers at a time"));
  EXPECT_THAT(words_for(9), testing::StartsWith("2 segments of 4K, 4 readers at a time"));
}

TEST(Choice, ExistsForEveryRequest) {
  everywhere([](const auto& locality, const auto& model, const auto& resources) {
    for (const Operation operation : operations) {
      for (std::size_t bytes = 1; bytes <= (std::size_t{1} << 30); bytes *= 64) {
        const auto list = candidates({operation, bytes, 1}, locality, model, resources);
        ASSERT_FALSE(list.empty()) << name(operation);
        for (const auto& candidate : list) {
          ASSERT_TRUE(std::isfinite(candidate.ns) && candidate.ns > 0)
              << algorithm_name(candidate.plan) << " " << candidate.parameters;
        }
      }
    }
  });
}

// A vote before each call would gain nothing if both plans are the same.
TEST(Choice, HasAnotherPlanForMappedBuffers) {
  everywhere([](const auto& locality, const auto& model, TeamResources resources) {
    resources.heap_refusal.clear();
    for (const Operation operation : operations) {
      for (std::size_t bytes = 64; bytes <= (std::size_t{1} << 26); bytes *= 4) {
        const auto choice = choose({operation, bytes, 1}, locality, model, resources);
        if (!choice || !choice->where_mapped) continue;
        EXPECT_FALSE(choice->usual.parameters == choice->where_mapped->parameters &&
                     algorithm_name(choice->usual.plan) ==
                         algorithm_name(choice->where_mapped->plan))
            << name(operation) << " of " << bytes << ": " << choice->usual.parameters;
      }
    }
  });
}

// An interrupted calibration may lack any of the hand-offs.
TEST(Choice, UnpredictableCandidatesAreDropped) {
  const machine::Machine whole =
      machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/amd-epyc-2c-a606becc.toml");
  ASSERT_GT(whole.handoff.size(), 2U);
  for (std::size_t kept = 0; kept <= whole.handoff.size(); ++kept) {
    machine::Machine machine = whole;
    machine.handoff.resize(kept);
    const machine::CostModel model(machine);
    const node::RankLocality locality = seats_on(machine, 2);
    const TeamResources given = team_resources(locality, model, choice_queue_bytes);
    for (const Operation operation : operations) {
      for (const std::size_t bytes : {8, 65536, 4194304}) {
        const auto list = candidates({operation, bytes, 8}, locality, model, given);
        ASSERT_FALSE(list.empty()) << name(operation);
        const auto priced = [](const Candidate& one) { return std::isfinite(one.ns); };
        EXPECT_EQ(std::any_of(list.begin(), list.end(), priced), priced(cheapest(list)));
        EXPECT_TRUE(list.size() == 1 || priced(list.back()) == priced(list.front()))
            << name(operation) << " of " << bytes << " with " << kept << " hand-offs";
      }
    }
  }
}

// More data is never predicted to take less time.
TEST(Choice, CostsGrowWithSize) {
  everywhere([](const auto& locality, const auto& model, const auto& resources) {
    for (const Operation operation : operations) {
      if (operation == Operation::barrier) continue;
      double before = 0;
      for (std::size_t bytes = 8; bytes <= (std::size_t{1} << 26); bytes *= 8) {
        const auto list = candidates({operation, bytes, 8}, locality, model, resources);
        const double now = cheapest(list).ns;
        EXPECT_GE(now, before * 0.999) << name(operation) << " of " << bytes;
        before = now;
      }
    }
  });
}

// Small messages are stored in the flag's line, and large ones pass through queues, on every
// machine.
TEST(Choice, OnlySmallMessagesAreInline) {
  everywhere([](const auto& locality, const auto& model, const auto& resources) {
    const auto chosen = [&](std::size_t bytes) {
      return algorithm_name(
          cheapest(candidates({Operation::bcast, bytes, 1}, locality, model, resources)).plan);
    };
    EXPECT_EQ(chosen(8), "inline");
    EXPECT_NE(chosen(std::size_t{1} << 22), "inline");
  });
}

// Large blocks are not sent in tiles that consist mostly of flags.
TEST(Choice, LargeBlocksUseLargeTiles) {
  everywhere([](const auto& locality, const auto& model, TeamResources resources) {
    resources.refuse_paths("only what goes through shared memory");
    for (const Operation operation : {Operation::alltoall, Operation::gather, Operation::scatter,
                                      Operation::alltoallv, Operation::gatherv}) {
      const auto list =
          candidates({operation, std::size_t{1} << 22, 1}, locality, model, resources);
      const Plan& plan = cheapest(list).plan;
      const auto* slots = std::get_if<node::RootedExchange::Plan>(&plan);
      const std::size_t tile = slots != nullptr
                                   ? slots->round_bytes
                                   : std::get<node::PairExchange::Plan>(plan).tile_bytes;
      EXPECT_GE(tile, std::min(resources.pair_exchange.tile_bytes, std::size_t{1024}))
          << name(operation);
    }
  });
}

// Single copy is considered only if the machine file has figures for it and it has not been
// refused.
TEST(Choice, SingleCopyNeedsFiguresAndPermission) {
  const auto is_offered = [](const auto& list) {
    return std::any_of(list.begin(), list.end(),
                       [](const Candidate& one) { return is_direct(one.plan); });
  };
  everywhere([&](const node::RankLocality& locality, const auto& model, TeamResources resources) {
    for (const Operation operation :
         {Operation::bcast, Operation::allreduce, Operation::alltoall, Operation::gather}) {
      const Request request{operation, std::size_t{1} << 20, 8};
      const bool has_figures = !model.machine().paths.empty();
      EXPECT_EQ(is_offered(candidates(request, locality, model, resources)), has_figures);
      TeamResources refused = resources;
      refused.refuse_paths("a container");
      EXPECT_FALSE(is_offered(candidates(request, locality, model, refused)));
    }
  });
}

// Returns the time of the algorithm's best plan in the list.
double best_ns_by(std::string_view algorithm, const std::vector<Candidate>& list) {
  double best_ns = std::numeric_limits<double>::infinity();
  for (const Candidate& one : list) {
    if (algorithm_name(one.plan) == algorithm) best_ns = std::min(best_ns, one.ns);
  }
  return best_ns;
}

// A root that reads copies all blocks alone; if the senders write, several of them copy at the same
// time if the machine's figures for several copiers justify it. One sender makes no difference.
TEST(Choice, GatherPushesIfThereAreSeveralSenders) {
  everywhere([](const node::RankLocality& locality, const auto& model,
                const TeamResources& resources) {
    if (model.machine().paths.empty()) return;
    const Costs costs(model, locality);
    const int others = locality.ranks() - 1;
    for (std::size_t bytes = 1024; bytes <= (std::size_t{1} << 24); bytes *= 4) {
      const auto list = candidates({Operation::gather, bytes, 1}, locality, model, resources);
      const double written_ns = best_ns_by("pushed", list);
      if (others > 1) {
        EXPECT_LT(written_ns, best_ns_by("direct", list));
      }
      // At most the time of all writing at the same time or of the root's memory, and at least that
      // of an undisturbed write.
      const double moves_ns = written_ns - 2 * costs.synchronization_ns();
      const std::size_t data = data_bytes({Operation::gather, bytes, 1}, locality.ranks());
      const double moved_ns =
          costs.in_turns_ns(costs.move_ns(bytes, data, memory::CopyKernel::plain), others);
      const double memory = memory_ns({Operation::gather, bytes, 1}, locality, model);
      EXPECT_LE(moves_ns, std::max({moved_ns, costs.push_ns(bytes, others - 1, by_cma), memory}) *
                              (1 + 1e-9));
      EXPECT_GE(moves_ns, costs.push_ns(bytes, 0, by_cma) * (1 - 1e-9));
    }
  });
}

// If pairs alone know their sizes, the sender announces blocks for which that is predicted to be
// faster. Otherwise both plans cost the same, because one choice serves all sizes.
TEST(Choice, BlocksAreAnnouncedIfThatIsFaster) {
  int offers = 0;
  everywhere([&](const node::RankLocality& locality, const auto& model, TeamResources resources) {
    for (const Operation operation :
         {Operation::alltoallv, Operation::alltoallw, Operation::gatherv, Operation::scatterv}) {
      SCOPED_TRACE(name(operation));
      for (std::size_t bytes = 1; bytes <= (std::size_t{1} << 30); bytes *= 2) {
        const auto list = candidates({operation, bytes, 1}, locality, model, resources);
        const auto* plan = std::get_if<AnnouncedPlan>(&list.front().plan);
        if (plan == nullptr) break;
        ASSERT_EQ(list.size(), 2U);
        ASSERT_EQ(&cheapest(list), &list.front());
        ASSERT_EQ(list[0].ns < list[1].ns, plan->pairs.announces(bytes)) << bytes;
        if (plan->pairs.announced_from == bytes) ++offers;
      }
      resources.refuse_paths("a container");
      for (const auto& one : candidates({operation, 1, 1}, locality, model, resources)) {
        EXPECT_FALSE(is_direct(one.plan));
      }
      resources.refuse_paths({});
    }
  });
  EXPECT_GT(offers, 0);
}

// Only the root of a gather lets senders write, if reading would take it longer.
TEST(Choice, OnlyGathervWritesAnnouncedBlocks) {
  int offers = 0;
  everywhere([&](const node::RankLocality& locality, const auto& model,
                 const TeamResources& resources) {
    const Costs costs(model, locality);
    for (const Operation operation :
         {Operation::alltoallv, Operation::alltoallw, Operation::gatherv, Operation::scatterv}) {
      SCOPED_TRACE(name(operation));
      const std::size_t much = std::size_t{1} << 20;
      const auto list = candidates({operation, much, 1}, locality, model, resources);
      const auto* plan = std::get_if<AnnouncedPlan>(&list.front().plan);
      if (plan == nullptr || !plan->pairs.has_written(much)) continue;
      ++offers;
      EXPECT_EQ(operation, Operation::gatherv);
      EXPECT_LT(costs.path_ns(by_cma.name, much, locality.ranks() - 2),
                costs.own_ns(much, much, memory::CopyKernel::plain) +
                    (locality.ranks() - 1) * costs.path_ns(by_cma.name, much, 0));
    }
  });
  EXPECT_GT(offers, 0);
}

TEST(Choice, TextContainsAnnouncedSizes) {
  const auto machine =
      machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/epyc-2x64-estimate.toml");
  const machine::CostModel model(machine);
  const node::RankLocality locality = seats_on(machine, 16);
  const auto list = candidates({Operation::alltoallv, std::size_t{1} << 20, 1}, locality, model,
                               team_resources(locality, model, choice_queue_bytes));
  EXPECT_EQ(algorithm_name(list.front().plan), "announced");
  EXPECT_THAT(list.front().parameters,
              testing::MatchesRegex("cma from [0-9]+K? (on|to .*), else tiles of .*"));
}

// A root answers in cells that it alone has just read, and only with as many bytes as it received.
TEST(Choice, RootAnswersIfItWasTheOnlyReader) {
  everywhere([](const node::RankLocality& locality, const machine::CostModel& model,
                const TeamResources& resources) {
    const auto answers = [&](std::size_t bytes, bool root_moved) {
      const Request request{
          .operation = Operation::bcast, .bytes = bytes, .root_moved = root_moved};
      const auto all = candidates(request, locality, model, resources);
      return std::count_if(all.begin(), all.end(), [](const Candidate& one) {
        const auto* plan = std::get_if<node::PipelinedBcast::Plan>(&one.plan);
        return plan != nullptr && plan->answer.has_value();
      });
    };
    const auto& parameters = resources.pipelined_bcast;
    const std::size_t queue =
        static_cast<std::size_t>(parameters.sets * parameters.set_cells) * parameters.cell_bytes;
    EXPECT_EQ(answers(queue, true) > 0, locality.ranks() == 2);
    EXPECT_EQ(answers(queue, false), 0);
    EXPECT_EQ(answers(queue + 1, true), 0);
  });
}

// A rank's memory grows at most linearly with the number of ranks, on any machine.
TEST(Choice, MemoryIsBounded) {
  everywhere([](const node::RankLocality& locality, const auto&, const TeamResources& resources) {
    const node::PipelinedBcast bcast(resources.pipelined_bcast, locality, 0, 0);
    const node::ReductionOrder reduction_order(locality);
    const node::SlicedReduce slices(resources.sliced_reduce, reduction_order, locality.ranks(), 0);
    const node::TreeReduce blocks(resources.tree_reduce, reduction_order, 0);
    const node::ExchangeReduce exchange(resources.exchange, reduction_order, 0);
    const node::PairExchange pairs(resources.pair_exchange, locality.ranks(), 0);
    const node::SlotExchange slots(resources.slot_exchange, 0, locality.ranks(), 0);
    const node::DoublingExchange doubling(resources.doubling_exchange, 0, locality.ranks(), 0);
    const node::DirectReduce direct(resources.direct_reduce, reduction_order, 0);
    const node::DirectExchange direct_exchange(resources.direct_exchange, locality.ranks(), 0);
    const std::size_t flags = static_cast<std::size_t>(locality.ranks()) * 1024 + (1 << 16);
    EXPECT_LE(direct.shared_bytes(), choice_queue_bytes + flags);
    EXPECT_LE(direct.scratch_bytes(), choice_queue_bytes);
    EXPECT_LE(direct_exchange.shared_bytes(), flags);
    EXPECT_LE(direct_exchange.scratch_bytes(), choice_queue_bytes);
    EXPECT_LE(bcast.shared_bytes(), choice_queue_bytes + flags);
    EXPECT_LE(slices.shared_bytes(), 2 * choice_queue_bytes + flags);
    EXPECT_LE(blocks.shared_bytes(), 2 * choice_queue_bytes + flags);
    EXPECT_LE(exchange.shared_bytes(), choice_queue_bytes + flags);
    EXPECT_LE(pairs.shared_bytes(), 2 * choice_queue_bytes + flags);
    EXPECT_LE(slots.shared_bytes(), choice_queue_bytes + flags);
    EXPECT_LE(doubling.shared_bytes(), choice_queue_bytes + flags);
  });
}

// Doubling sends few messages that grow, while other algorithms read one line per rank. For large
// blocks only the number of copies matters.
TEST(Choice, SmallAllgatherOfManyRanksUsesDoubling) {
  everywhere([](const node::RankLocality& locality, const auto& model,
                const TeamResources& resources) {
    const auto algorithm = [&](std::size_t bytes) {
      const auto list = candidates({Operation::allgather, bytes, 1}, locality, model, resources);
      return algorithm_name(cheapest(list).plan);
    };
    const bool are_many = locality.ranks() > 16;
    if (are_many) {
      EXPECT_EQ(algorithm(8), "doubling");
    }
    if (locality.ranks() == 2) {
      EXPECT_EQ(algorithm(8), "slots");
    }
    EXPECT_NE(algorithm(std::size_t{1} << 20), "doubling");
  });
}

// Each result has a single reader, so it can be returned in the lines of the contribution.
TEST(Choice, TwoRanksReturnResults) {
  using node::SlicedReduce;
  everywhere(
      [](const node::RankLocality& locality, const auto& model, const TeamResources& resources) {
        if (locality.ranks() > 2) return;
        const Costs costs(model, locality);
        for (std::size_t bytes = 4096; bytes <= (std::size_t{1} << 26); bytes *= 4) {
          const auto ns = [&](SlicedReduce::Results results) {
            const SlicedReduce::Plan plan{4096, memory::CopyKernel::plain, results};
            return sliced_reduce_ns(costs, resources.sliced_reduce.sets, bytes, plan,
                                    node::ReductionTarget::Kind::to_all);
          };
          EXPECT_LE(ns(SlicedReduce::Results::returned), ns(SlicedReduce::Results::in_one_place))
              << bytes;
        }
      });
}

// The cost of writing a line that this rank has just read is the measured one, but at most that of
// a line that the peer has read, which is also used if there is no measurement.
TEST(Costs, ReturnedLinesCostAtMostAsMuchAsCachedOnes) {
  using machine::HandoffKind;
  auto machine = machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/i7-6700.toml");
  constexpr std::size_t bytes = 1 << 16;
  const auto priced = [&] {
    const machine::CostModel model(machine);
    const node::RankLocality locality = seats_on(machine, 2);
    const Costs costs(model, locality);
    return std::pair(costs.write_ns(bytes, bytes, 0, 1, memory::by_ping_pong),
                     costs.write_ns(bytes, bytes, 0, 1, memory::CopyKernel::plain));
  };
  std::erase_if(machine.handoff,
                [](const auto& curve) { return curve.kind == HandoffKind::write_ping_pong; });
  const double cached_ns = priced().second;
  EXPECT_EQ(priced().first, cached_ns);
  const auto measured = [&](double ns) {
    for (const auto& level : machine.line) {
      machine.handoff.push_back(
          {level.level, HandoffKind::write_ping_pong, {{bytes}, {ns}, {}}, {}});
    }
    const double returned_ns = priced().first;
    machine.handoff.resize(machine.handoff.size() - machine.line.size());
    return returned_ns;
  };
  EXPECT_DOUBLE_EQ(measured(cached_ns / 4), cached_ns / 4);
  EXPECT_EQ(measured(cached_ns * 4), cached_ns);
}

// A result of the multicore paper, from predictions alone: on a machine with several sockets a
// barrier that follows its levels is faster than a flat one.
TEST(Choice, LevelsBeatAFlatBarrierAcrossSockets) {
  const auto machine = machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/dawning-5000a.toml");
  const machine::CostModel model(machine);
  const node::RankLocality locality = seats_on(machine, machine::core_count(machine.topology));
  const Costs costs(model, locality);
  const auto ns = [&](node::Shape::Kind kind) {
    return tree_barrier_ns(costs, node::tree({kind, 1}, locality, 0), {});
  };
  EXPECT_LT(ns(node::Shape::Kind::levels), ns(node::Shape::Kind::flat));
}

TEST(Choice, BothBarrierPhasesUseTheCheapestTree) {
  for (const char* file : {"dawning-5000a", "songshan", "epyc-2x64-estimate"}) {
    const auto machine =
        machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/" + std::string(file) + ".toml");
    const machine::CostModel model(machine);
    const node::RankLocality locality = seats_on(machine, machine::core_count(machine.topology));
    const TeamResources resources = team_resources(locality, model, choice_queue_bytes);
    const auto phase = [&](BarrierPhase of_barrier) {
      const auto list = candidates({.operation = Operation::barrier, .barrier_phase = of_barrier},
                                   locality, model, resources);
      return chosen(list, "tree");
    };
    const Candidate gather = phase(BarrierPhase::gather);
    const Candidate release = phase(BarrierPhase::release);
    EXPECT_GT(gather.ns, 0) << file;
    EXPECT_GT(release.ns, 0) << file;
    EXPECT_EQ(std::get<TreeBarrierPlan>(gather.plan), std::get<TreeBarrierPlan>(release.plan));
    EXPECT_NEAR(gather.ns + release.ns, phase(BarrierPhase::both).ns, 1e-6) << file;
  }
}

TEST(Choice, DisseminationBarrierHasNoPhases) {
  const auto machine = machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/dawning-5000a.toml");
  const machine::CostModel model(machine);
  const node::RankLocality locality = seats_on(machine, 4);
  const auto list =
      candidates({.operation = Operation::barrier, .barrier_phase = BarrierPhase::gather}, locality,
                 model, team_resources(locality, model, choice_queue_bytes));
  EXPECT_EQ(algorithm_name(chosen(list, "dissemination").plan), "tree");
}

// If ranks share a hardware thread, every wait costs a time slice: one round is faster than
// several.
TEST(Choice, OversubscribedBarrierUsesOneRound) {
  const auto machine =
      machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/amd-epyc-2c-1b1d3050.toml");
  const machine::CostModel model(machine);
  const node::RankLocality locality = node::locality(machine.topology, {0, 1, 0, 1, 0, 1, 0, 1});
  const auto list = candidates({Operation::barrier, 0, 1}, locality, model,
                               team_resources(locality, model, choice_queue_bytes));
  const auto* plan = std::get_if<DisseminationPlan>(&cheapest(list).plan);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->parameters.radix, 8);
}

TEST(Choice, IsExplained) {
  const auto machine = machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/dawning-5000a.toml");
  const machine::CostModel model(machine);
  const node::RankLocality locality = seats_on(machine, 4);
  const TeamResources given = team_resources(locality, model, choice_queue_bytes);
  const Explanation explanation{{Operation::bcast, 65536, 1},
                                4,
                                calibrated(machine),
                                candidates({Operation::bcast, 65536, 1}, locality, model, given)};
  const std::string text = explanation_text(explanation);
  EXPECT_THAT(text, testing::HasSubstr("64K"));
  EXPECT_THAT(
      text, testing::HasSubstr(std::string(algorithm_name(cheapest(explanation.candidates).plan))));
}

}  // namespace
}  // namespace huddle::select
