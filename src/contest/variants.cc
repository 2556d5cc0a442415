// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "contest/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "contest/barriers.h"
#include "contest/protocol_bcast.h"
#include "contest/team_calls.h"
#include "machine/cost.h"
#include "node/bcast_pipelined.h"
#include "node/bcast_segments.h"
#include "select/barrier.h"
#include "select/bcast.h"
#include "select/prices.h"
#include "select/provision.h"
#include "team/context.h"

namespace huddle::contest {
namespace {

using memory::CopyKernel;
using node::PipelinedBcast;
using node::Release;
using node::SegmentedBcast;
using node::Shape;

constexpr const char* choice = "huddle's choice";

// The paper's fragment: two pages.
constexpr int paper_fragment_cells = 2;
constexpr std::size_t paper_fragment_bytes = paper_fragment_cells * node::page_bytes;
// The paper's segments and the readers that it lets draw on one at a time.
constexpr std::size_t paper_segment_bytes = 128 * 1024;
constexpr int paper_readers_at_once = 4;

// Series of barriers: enough calls for the clock not to matter.
constexpr int calls_in_a_series = 200;
constexpr int series_in_a_round = 16;

// What predictions need to know, alike on all ranks of a team that is yet to be made.
struct Forecast {
  Forecast(const machine::Machine& machine, const Seating& seating)
      : model(machine),
        seats(node::seats(machine.topology, seating.counted_for())),
        provision(select::provision(seats, team::ContextOptions().queue_bytes)),
        prices(model, seats) {}
  Forecast(const Forecast&) = delete;
  Forecast& operator=(const Forecast&) = delete;

  double cheapest_ns(const select::Request& request) const {
    return select::cheapest(select::candidates(request, seats, model, provision)).ns;
  }
  node::Tree tree(const Shape& shape) const { return node::tree(shape, seats, 0); }
  bool has_levels() const { return !seats.group_of.empty(); }

  machine::CostModel model;
  node::Seats seats;
  select::Provision provision;
  select::Prices prices;
};

// ---- barriers

struct BarrierVariant {
  const char* name;
  select::TreeBarrierPlan plan;
};

constexpr int flags_of_a_line = static_cast<int>(node::line_bytes / node::flag_bytes);

std::vector<BarrierVariant> papers_barriers(bool has_levels) {
  const Shape flat{Shape::Kind::flat, 1};
  std::vector<BarrierVariant> variants = {
      {"flat, two queues, packed flags", {flat, {flags_of_a_line, Release::own_queue}}},
      {"flat, one queue, a line a slot", {flat, {1, Release::same_line}}},
  };
  if (has_levels) {
    variants.push_back(
        {"levels, one queue, a line a slot", {{Shape::Kind::levels, 1}, {1, Release::same_line}}});
  }
  return variants;
}

// ---- broadcasts

// Adds the variants of one size, one after the other.
class BcastVariants {
 public:
  BcastVariants(const Forecast& forecast, const Seating& seating, std::size_t bytes,
                const Scale& scale)
      : forecast_(forecast),
        crowded_(seating.crowded()),
        stretches_(scale.single_calls(bytes)),
        contest_{.name = fmt::format("broadcast of {}", size_text(static_cast<double>(bytes))),
                 .seating = seating,
                 .bytes = bytes,
                 .entries = {},
                 .judgements = {}} {}

  Contest take() {
    add(choice, std::make_unique<TeamBcast>(),
        forecast_.cheapest_ns({.operation = select::Operation::bcast, .bytes = contest_.bytes}));
    if (contest_.bytes <= forecast_.provision.inline_bcast.capacity_bytes) {
      add_inline();
    } else {
      add_few_buffers();
      add_trees();
      add_segments();
    }
    return std::move(contest_);
  }

 private:
  void add(std::string name, std::unique_ptr<Contender> contender,
           std::optional<double> predicted_ns = std::nullopt) {
    contest_.entries.push_back({.name = std::move(name),
                                .contender = std::move(contender),
                                .stretches = stretches_,
                                .predicted_ns = predicted_ns});
  }

  void add_inline() {
    const int slots = forecast_.provision.inline_bcast.slots;
    each_shape([&](int number, const Shape& shape) {
      add(fmt::format("in the flag's line, {}", node::name(shape)),
          std::make_unique<TeamBcast>(select::InlineBcastPlan{number}),
          select::inline_bcast_ns(forecast_.prices, forecast_.tree(shape), slots, contest_.bytes));
    });
  }

  // As in the paper: the queue is one set.
  void add_few_buffers() {
    const PipelinedBcast::Plan plan{0, paper_fragment_cells, CopyKernel::plain};
    for (const int buffers : {1, 2, 4}) {
      const PipelinedBcast::Parameters parameters{
          {{Shape::Kind::flat, 1}}, node::page_bytes, buffers * paper_fragment_cells, 1};
      add(fmt::format("{} buffer{} of {}, flat", buffers, buffers == 1 ? "" : "s", fragment_text()),
          std::make_unique<ProtocolBcast<PipelinedBcast>>(forecast_.seats, crowded_, parameters,
                                                          plan));
    }
  }

  void add_trees() {
    const auto& queue = forecast_.provision.pipelined_bcast;
    const int buffers = queue.set_cells * queue.sets / paper_fragment_cells;
    each_shape([&](int number, const Shape& shape) {
      add(fmt::format("{} buffers of {}, {}", buffers, fragment_text(), node::name(shape)),
          std::make_unique<TeamBcast>(
              PipelinedBcast::Plan{number, paper_fragment_cells, CopyKernel::plain}),
          select::pipelined_bcast_ns(forecast_.prices, forecast_.tree(shape), contest_.bytes,
                                     paper_fragment_bytes, CopyKernel::plain));
    });
  }

  void add_segments() {
    const SegmentedBcast::Plan plan{paper_segment_bytes, CopyKernel::plain};
    const int readers = forecast_.seats.ranks() - 1;
    add_segments(readers, plan);
    if (readers > paper_readers_at_once) add_segments(paper_readers_at_once, plan);
  }
  void add_segments(int readers_at_once, const SegmentedBcast::Plan& plan) {
    const SegmentedBcast::Parameters parameters{readers_at_once, plan.segment_bytes};
    const int segments =
        SegmentedBcast(parameters, forecast_.seats, 0, world::first_sequence).segments();
    add(fmt::format("{} segment{} of {}, {} at once", segments, segments == 1 ? "" : "s",
                    size_text(static_cast<double>(plan.segment_bytes)), readers_at_once),
        std::make_unique<ProtocolBcast<SegmentedBcast>>(forecast_.seats, crowded_, parameters,
                                                        plan),
        select::segmented_bcast_ns(forecast_.prices, segments, readers_at_once, contest_.bytes,
                                   plan));
  }

  template <class Add>
  void each_shape(Add add_one) const {
    const auto& shapes = forecast_.provision.shapes;
    for (std::size_t i = 0; i < shapes.size(); ++i) add_one(static_cast<int>(i), shapes[i]);
  }
  static std::string fragment_text() {
    return size_text(static_cast<double>(paper_fragment_bytes));
  }

  const Forecast& forecast_;
  bool crowded_;
  int stretches_;
  Contest contest_;
};

std::vector<std::size_t> bcast_sizes(bool quick) {
  constexpr std::size_t KiB = 1024;
  constexpr std::size_t MiB = 1024 * KiB;
  if (quick) return {8, 64 * KiB, 4 * MiB};
  return {8, 4 * KiB, 64 * KiB, 512 * KiB, 4 * MiB, 16 * MiB};
}

}  // namespace

Contest barrier_variants(const machine::Machine& machine, const Seating& seating,
                         const Scale& scale) {
  const Forecast forecast(machine, seating);
  Contest contest{.name = "barriers", .seating = seating, .entries = {}, .judgements = {}};
  const auto add = [&](std::string name, TeamBarrier barrier, double predicted_ns) {
    contest.entries.push_back({.name = std::move(name),
                               .contender = barrier_contender(seating.ranks, std::move(barrier)),
                               .calls = calls_in_a_series,
                               .stretches = scale.stretches(series_in_a_round),
                               .predicted_ns = predicted_ns});
  };
  add(choice, TeamBarrier(), forecast.cheapest_ns({.operation = select::Operation::barrier}));
  for (const auto& [name, plan] : papers_barriers(forecast.has_levels())) {
    add(name, TeamBarrier(plan),
        select::tree_barrier_ns(forecast.prices, forecast.tree(plan.shape), plan.parameters));
  }
  return contest;
}

std::vector<Contest> bcast_variants(const machine::Machine& machine, const Seating& seating,
                                    const Scale& scale) {
  const Forecast forecast(machine, seating);
  std::vector<Contest> contests;
  for (const std::size_t bytes : bcast_sizes(scale.quick)) {
    contests.push_back(BcastVariants(forecast, seating, bytes, scale).take());
  }
  return contests;
}

}  // namespace huddle::contest
