// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/engine/engine_comparisons.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/arithmetic.h"
#include "common/text.h"
#include "runtime/node/bcast_protocols.h"
#include "runtime/node/pair_exchange.h"
#include "runtime/select/algorithm.h"
#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/protocol_alone.h"
#include "tools/bench/engine/team_calls.h"

namespace huddle::bench {
namespace {

using memory::CopyKernel;
using node::PipelinedBcast;
using node::Release;
using node::SegmentedBcast;
using node::Shape;

constexpr const char* choice = "huddle's selection";

// The fragment of Kurnosov and Tokmasheva: two pages.
constexpr int paper_fragment_cells = 2;
// The segment size of Zhang, Meng and Huo, and their limit on concurrent readers.
constexpr std::size_t paper_segment_bytes = 128 * 1024;
constexpr int paper_readers_at_once = 4;

// Series of barriers with enough calls to make the clock's overhead negligible.
constexpr int variant_calls_in_a_series = 200;
constexpr int variant_series_in_a_round = 16;

struct BarrierVariant {
  const char* name;
  select::TreeBarrierPlan plan;
};

constexpr int flags_of_a_line = static_cast<int>(node::line_bytes / node::flag_bytes);

std::vector<BarrierVariant> papers_barriers(bool has_levels) {
  const Shape flat{Shape::Kind::flat, 1};
  std::vector<BarrierVariant> variants = {
      {"flat, two queues, packed flags", {flat, {flags_of_a_line, Release::own_queue}}},
      {"flat, one queue, a cache line per slot", {flat, {1, Release::same_line}}},
  };
  if (has_levels) {
    variants.push_back({"levels, one queue, a cache line per slot",
                        {{Shape::Kind::levels, 1}, {1, Release::same_line}}});
  }
  return variants;
}

// Builds the comparison of broadcast variants for one message size.
class BcastVariants {
 public:
  BcastVariants(const Forecast& forecast, const Binding& binding, std::size_t bytes,
                const Scale& scale)
      : forecast_(forecast),
        oversubscribed_(binding.oversubscribed()),
        stretches_(scale.single_calls(bytes)),
        comparison_{.name = fmt::format("broadcast of {}", size_text(static_cast<double>(bytes))),
                    .binding = binding,
                    .bytes = bytes,
                    .entries = {},
                    .judgements = {}} {}

  Comparison take() {
    add(choice, std::make_unique<TeamOperation>(calls()),
        forecast_.cheapest_ns({.operation = select::Operation::bcast, .bytes = comparison_.bytes}));
    if (comparison_.bytes <= forecast_.resources.inline_bcast.capacity_bytes) {
      add_inline();
    } else {
      add_few_buffers();
      add_trees();
      add_segments();
    }
    return std::move(comparison_);
  }

 private:
  void add(std::string name, std::unique_ptr<Implementation> implementation,
           std::optional<double> predicted_ns = std::nullopt) {
    comparison_.entries.push_back({.name = std::move(name),
                                   .implementation = std::move(implementation),
                                   .stretches = stretches_,
                                   .predicted_ns = predicted_ns});
  }

  void add_inline() {
    const int slots = forecast_.resources.inline_bcast.slots;
    each_shape([&](int number, const Shape& shape) {
      add(fmt::format("in the flag's cache line, {}", node::name(shape)),
          std::make_unique<TeamOperation>(calls(), select::InlineBcastPlan{number}),
          select::inline_bcast_ns(forecast_.costs, forecast_.tree(shape), slots,
                                  comparison_.bytes));
    });
  }

  // Adds variants with few buffers, which form a single set as in Kurnosov and Tokmasheva.
  void add_few_buffers() {
    const PipelinedBcast::Plan plan{0, paper_fragment_cells, CopyKernel::plain};
    for (const int buffers : {1, 2, 4}) {
      const PipelinedBcast::Parameters parameters{
          {{Shape::Kind::flat, 1}}, node::page_bytes, buffers * paper_fragment_cells, 1};
      add(fmt::format("{} buffer{} of {}, flat", buffers, buffers == 1 ? "" : "s",
                      fragment_text(paper_fragment_cells)),
          std::make_unique<ProtocolBcast<PipelinedBcast>>(forecast_.locality, oversubscribed_,
                                                          parameters, plan));
    }
  }

  void add_trees() {
    const auto& queue = forecast_.resources.pipelined_bcast;
    const int cells = std::min(paper_fragment_cells, queue.set_cells);
    const auto cells_of_all =
        static_cast<std::size_t>(queue.set_cells) * static_cast<std::size_t>(queue.sets);
    each_shape([&](int number, const Shape& shape) {
      add(fmt::format("{} buffers of {}, {}", queue.set_cells * queue.sets / cells,
                      fragment_text(cells), node::name(shape)),
          std::make_unique<TeamOperation>(calls(),
                                          PipelinedBcast::Plan{number, cells, CopyKernel::plain}),
          select::pipelined_bcast_ns(forecast_.costs, forecast_.tree(shape),
                                     cells_of_all * queue.cell_bytes, comparison_.bytes,
                                     static_cast<std::size_t>(cells) * queue.cell_bytes,
                                     CopyKernel::plain));
    });
  }

  void add_segments() {
    const SegmentedBcast::Plan plan{paper_segment_bytes, CopyKernel::plain};
    const int readers = forecast_.locality.ranks() - 1;
    add_segments(readers, plan);
    if (readers > paper_readers_at_once) add_segments(paper_readers_at_once, plan);
  }
  void add_segments(int readers_at_once, const SegmentedBcast::Plan& plan) {
    const SegmentedBcast::Parameters parameters{readers_at_once, plan.segment_bytes};
    const SegmentedBcast layout(parameters, forecast_.locality, 0, context::first_sequence);
    add(fmt::format("{} of {}, {} at once", counted(layout.segments(), "segment"),
                    size_text(static_cast<double>(plan.segment_bytes)), readers_at_once),
        std::make_unique<ProtocolBcast<SegmentedBcast>>(forecast_.locality, oversubscribed_,
                                                        parameters, plan),
        select::segmented_bcast_ns(forecast_.costs, layout, readers_at_once, comparison_.bytes,
                                   plan));
  }

  template <class Add>
  void each_shape(Add add_one) const {
    const auto& shapes = forecast_.resources.shapes;
    for (std::size_t i = 0; i < shapes.size(); ++i) add_one(static_cast<int>(i), shapes[i]);
  }
  Calls calls() const { return {select::Operation::bcast, comparison_.bytes}; }
  static std::string fragment_text(int cells) {
    return size_text(cells * static_cast<double>(node::page_bytes));
  }

  const Forecast& forecast_;
  bool oversubscribed_;
  int stretches_;
  Comparison comparison_;
};

std::vector<std::size_t> bcast_sizes(bool quick) {
  if (quick) return {8, 64 * KiB, 4 * MiB};
  return {8, 4 * KiB, 64 * KiB, 512 * KiB, 4 * MiB, 16 * MiB};
}

std::vector<std::size_t> allreduce_sizes(bool quick) {
  if (quick) return {64 * KiB};
  return {8, 4 * KiB, 64 * KiB, 512 * KiB, 4 * MiB};
}

// Returns a comparison of huddle's choice with these candidates.
Comparison choice_against(const Forecast& forecast, const Binding& binding, const Calls& calls,
                          const Scale& scale, const std::vector<select::Candidate>& others) {
  Comparison comparison{.name = fmt::format("{} of {}", select::name(calls.operation),
                                            size_text(static_cast<double>(calls.bytes))),
                        .binding = binding,
                        .bytes = calls.buffer_bytes(binding.ranks),
                        .entries = {},
                        .judgements = {}};
  const auto add = [&](std::string name, PlanOrChoice plan, double predicted_ns) {
    comparison.entries.push_back({.name = std::move(name),
                                  .implementation = std::make_unique<TeamOperation>(calls, plan),
                                  .stretches = scale.single_calls(comparison.bytes),
                                  .predicted_ns = predicted_ns});
  };
  add(choice, std::nullopt, forecast.cheapest_ns(request_of(calls, binding.ranks)));
  for (const select::Candidate& one : others) {
    add(fmt::format("{}: {}", select::algorithm_name(one.plan), one.parameters), one.plan, one.ns);
  }
  return comparison;
}

std::vector<std::size_t> alltoall_sizes(bool quick) {
  if (quick) return {64 * KiB};
  return {8, 4 * KiB, 64 * KiB, 512 * KiB, 4 * MiB};
}

// Drops exchanges with tiles of less than a page and those with the order `as_ready`.
std::vector<select::Candidate> tilings(std::vector<select::Candidate> candidates) {
  const auto keep = [](const select::Candidate& one) {
    const auto* plan = std::get_if<node::PairExchange::Plan>(&one.plan);
    const bool is_tiny = plan != nullptr && plan->tile_bytes < node::page_bytes;
    return plan == nullptr || (plan->order != node::PairExchange::Order::as_ready && !is_tiny);
  };
  std::erase_if(candidates, [&](const select::Candidate& one) { return !keep(one); });
  return candidates;
}

}  // namespace

Comparison barrier_variants(const machine::Machine& machine, const Binding& binding,
                            const Scale& scale) {
  const Forecast forecast(machine, binding);
  Comparison comparison{.name = "barriers", .binding = binding, .entries = {}, .judgements = {}};
  const auto add = [&](std::string name, TeamBarrier barrier, double predicted_ns) {
    comparison.entries.push_back({.name = std::move(name),
                                  .implementation = barrier_implementation(binding.ranks, barrier),
                                  .calls = variant_calls_in_a_series,
                                  .stretches = scale.stretches(variant_series_in_a_round),
                                  .predicted_ns = predicted_ns});
    // The entry owns it, but clang-tidy 14 does not see that in a designated initialiser.
  };  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks)
  add(choice, TeamBarrier(), forecast.cheapest_ns({.operation = select::Operation::barrier}));
  for (const auto& [name, plan] : papers_barriers(forecast.has_levels())) {
    add(name, TeamBarrier(plan),
        select::tree_barrier_ns(forecast.costs, forecast.tree(plan.shape), plan.parameters));
  }
  return comparison;
}

std::vector<Comparison> bcast_variants(const machine::Machine& machine, const Binding& binding,
                                       const Scale& scale) {
  const Forecast forecast(machine, binding);
  std::vector<Comparison> comparisons;
  for (const std::size_t bytes : bcast_sizes(scale.quick)) {
    comparisons.push_back(BcastVariants(forecast, binding, bytes, scale).take());
  }
  return comparisons;
}

std::vector<Comparison> allreduce_variants(const machine::Machine& machine, const Binding& binding,
                                           const Scale& scale) {
  const Forecast forecast(machine, binding);
  std::vector<Comparison> comparisons;
  for (const std::size_t bytes : allreduce_sizes(scale.quick)) {
    const Calls calls{select::Operation::allreduce, bytes};
    comparisons.push_back(choice_against(forecast, binding, calls, scale,
                                         forecast.best_of_each(request_of(calls, binding.ranks))));
  }
  return comparisons;
}

std::vector<Comparison> alltoall_variants(const machine::Machine& machine, const Binding& binding,
                                          const Scale& scale) {
  const Forecast forecast(machine, binding);
  std::vector<Comparison> comparisons;
  for (const std::size_t bytes : alltoall_sizes(scale.quick)) {
    const Calls calls{select::Operation::alltoall, bytes};
    comparisons.push_back(
        choice_against(forecast, binding, calls, scale,
                       tilings(forecast.candidates(request_of(calls, binding.ranks)))));
  }
  return comparisons;
}

}  // namespace huddle::bench
