// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Candidates and predicted times of the broadcasts. The root is assumed to be rank 0.
#include "runtime/select/algorithm.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/text.h"
#include "runtime/select/costs.h"

namespace huddle::select {
namespace {

constexpr int root = 0;

// Returns the time in which the root reads the counters of all ranks before it reuses buffers.
double reuse_ns(const Costs& costs) { return costs.flags_ns(costs.others_than(root), root, 1); }

memory::CopyMethod copy_method_for(const Costs& costs, std::size_t bytes) {
  return costs.copy_method_for(bytes, root, costs.farthest_from(root),
                               costs.shown_to_all(memory::to_one_reader));
}

// Returns the copy methods for a root that was the only reader of the previous broadcast and now
// writes the lines that it has read. There are none unless the team has two ranks and the data fit
// into the queue, so that no line is used twice.
std::vector<memory::CopyMethod> answers(const Costs& costs, const Request& request,
                                        std::size_t queue_bytes) {
  if (!request.root_moved || costs.ranks() > 2 || request.bytes > queue_bytes) return {};
  std::vector<memory::CopyMethod> all;
  for (memory::CopyMethod method : memory::for_answers) {
    if (is_possible(method, memory::for_answers)) all.push_back(method);
  }
  return all;
}

void add_inline(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
                const Request& request) {
  const std::size_t bytes = request.bytes;
  if (bytes > resources.inline_bcast.capacity_bytes) return;
  for (std::size_t shape = 0; shape < resources.shapes.size(); ++shape) {
    const node::Tree tree = node::tree(resources.shapes[shape], costs.locality(), root);
    list.push_back({InlineBcastPlan{static_cast<int>(shape)}, node::name(resources.shapes[shape]),
                    inline_bcast_ns(costs, tree, resources.inline_bcast.slots, bytes)});
  }
}

std::size_t queue_bytes(const node::PipelinedBcast::Parameters& parameters) {
  return static_cast<std::size_t>(parameters.sets * parameters.set_cells) * parameters.cell_bytes;
}

void add_pipelined(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
                   const Request& request) {
  const std::size_t bytes = request.bytes;
  const auto& parameters = resources.pipelined_bcast;
  const std::size_t queue = queue_bytes(parameters);
  const memory::CopyMethod usual = copy_method_for(costs, bytes);
  const auto add = [&](std::size_t shape, int cells,
                       const std::optional<memory::CopyMethod>& answer) {
    const node::Shape& tree_shape = resources.shapes[shape];
    const node::Tree tree = node::tree(tree_shape, costs.locality(), root);
    const std::size_t fragment = static_cast<std::size_t>(cells) * parameters.cell_bytes;
    memory::CopyMethod method = answer ? *answer : usual;
    list.push_back(
        {node::PipelinedBcast::Plan{static_cast<int>(shape), cells, usual, answer},
         fmt::format("{}, fragments of {}, {}", node::name(tree_shape),
                     size_text(static_cast<double>(fragment)), memory::name(method)),
         pipelined_bcast_ns(costs, tree, answer ? bytes : queue, bytes, fragment, method)});
  };
  for (std::size_t shape = 0; shape < resources.shapes.size(); ++shape) {
    for (int cells = 1; cells <= parameters.set_cells; cells *= 2) {
      add(shape, cells, std::nullopt);
      for (memory::CopyMethod answer : answers(costs, request, queue)) {
        add(shape, cells, answer);
      }
      if (static_cast<std::size_t>(cells) * parameters.cell_bytes >= bytes) break;
    }
  }
}

void add_segmented(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
                   const Request& request) {
  const std::size_t bytes = request.bytes;
  const auto& parameters = resources.segmented_bcast;
  const memory::CopyMethod method = copy_method_for(costs, bytes);
  const node::SegmentedBcast layout(parameters, costs.locality(), root, 0);
  const int readers = std::min(parameters.readers_at_once, costs.ranks() - 1);
  for (std::size_t segment = node::page_bytes; segment <= parameters.segment_bytes; segment *= 2) {
    const node::SegmentedBcast::Plan plan{segment, method};
    list.push_back({plan,
                    fmt::format("{} of {}, {} at a time, {}", counted(layout.segments(), "segment"),
                                size_text(static_cast<double>(segment)), counted(readers, "reader"),
                                memory::name(method)),
                    segmented_bcast_ns(costs, layout, parameters.readers_at_once, bytes, plan)});
    if (segment * static_cast<std::size_t>(layout.segments()) >= bytes) break;
  }
}

}  // namespace

double inline_bcast_ns(const Costs& costs, const node::Tree& tree, int slots, std::size_t bytes) {
  const int farthest = costs.farthest_from(root);
  return last(times_down(costs, tree)) + tree.depth() * costs.rest_ns(bytes, root, farthest) +
         reuse_ns(costs) / slots;
}

namespace {

// Returns the time that each further piece adds while the writer and the readers are all busy: that
// of the slower side. A reader also waits for the piece's flag.
double pace_ns(const Costs& costs, const Piece& piece, memory::CopyMethod method, int others,
               double flag_ns) {
  const int far = costs.farthest_from(root);
  const double share = static_cast<double>(piece.bytes) / static_cast<double>(piece.of_bytes);
  return std::max(costs.write_ns(piece.bytes, piece.buffers_bytes, root, far, method),
                  costs.read_ns(piece.of_bytes, root, far, others, method) * share + flag_ns);
}

}  // namespace

// The sum of the times to copy the first fragment in, to pass its flag down the tree, and to copy
// the last fragment out, plus the pace of each remaining fragment.
double pipelined_bcast_ns(const Costs& costs, const node::Tree& tree, std::size_t queue_bytes,
                          std::size_t bytes, std::size_t fragment_bytes,
                          memory::CopyMethod method) {
  const int far = costs.farthest_from(root);
  const int others = costs.ranks() - 2;
  const std::size_t fragment = std::min(fragment_bytes, bytes);
  const double first_ns = costs.write_ns(fragment, queue_bytes, root, far, method);
  const double last_ns = costs.read_ns(fragment, root, far, others, method);
  const double flag_ns = costs.line_to_ns(root, tree.children(root));
  const double further_ns = pace_ns(costs, {fragment, bytes, queue_bytes}, method, others, flag_ns);
  return first_ns + last(times_down(costs, tree)) + last_ns +
         (ceil_div(bytes, fragment_bytes) - 1) * further_ns;
}

// Different groups of readers read different segments at the same time. The group that starts with
// the last segment waits until that segment is full, and then has to read all segments.
double segmented_bcast_ns(const Costs& costs, const node::SegmentedBcast& layout,
                          int readers_at_once, std::size_t bytes,
                          const node::SegmentedBcast::Plan& plan) {
  const int far = costs.farthest_from(root);
  const auto in_turn = static_cast<std::size_t>(layout.segments());
  const std::size_t segment = std::min(plan.segment_bytes, bytes);
  const std::size_t buffers = 2 * in_turn * plan.segment_bytes;
  const int others = std::min(costs.ranks() - 2, readers_at_once - 1);
  const double fill_ns = costs.write_ns(segment, buffers, root, far, plan.method);
  const double drain_ns = costs.read_ns(segment, root, far, others, plan.method);
  const double flag_ns = costs.line_to_ns(root, costs.others_than(root));
  const double further_ns = pace_ns(costs, {segment, bytes, buffers}, plan.method, others, flag_ns);
  const double segments = ceil_div(bytes, segment);
  const double turns = ceil_div(bytes, in_turn * plan.segment_bytes);
  const double filled_first = std::min(segments, static_cast<double>(in_turn));
  return filled_first * fill_ns + flag_ns + drain_ns + (segments - 1) * further_ns +
         turns * reuse_ns(costs);
}

std::vector<Algorithm> bcast_algorithms(const TeamResources& resources) {
  return {described<InlineBcastPlan>(
              fmt::format("at most {} bytes", resources.inline_bcast.capacity_bytes), add_inline),
          described<node::PipelinedBcast::Plan>("", add_pipelined),
          described<node::SegmentedBcast::Plan>("", add_segmented)};
}

}  // namespace huddle::select
