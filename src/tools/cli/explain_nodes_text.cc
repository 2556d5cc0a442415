// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "tools/cli/explain_nodes.h"
#include "tools/cli/table.h"
#include "tools/cli/wrap.h"
#include "tools/picture/facts.h"

namespace huddle::cli {
namespace {

std::string question(const NodesExplained& explained) {
  const select::Request& request = explained.request;
  const bool moves = request.operation != select::Operation::barrier;
  return fmt::format("{}{} on {} ranks of {} nodes, {}", name(request.operation),
                     moves ? " of " + size_text(static_cast<double>(request.bytes)) : "",
                     explained.ranks, explained.nodes, explained.placement);
}

// Whose figures they are that everything between nodes is predicted by.
std::string origin_text(const machine::Machine& machine) {
  if (machine.networks.empty()) {
    return "not measured: generic constants; huddle calibrate --network measures it";
  }
  const machine::Origin origin = machine.networks.front().origin;
  return std::string(machine::origin_names[static_cast<std::size_t>(origin)]);
}

std::string network_text(const NodesExplained& explained) {
  const internode::Network& network = explained.network;
  const double gb_per_s = static_cast<double>(1 << 20) / static_cast<double>(network.ns_per_mib);
  return fmt::format("The network: {} a message, {:.3g} GB/s, {}.",
                     time_text(static_cast<double>(network.message_ns)), gb_per_s,
                     origin_text(explained.subject.machine));
}

std::string forcing_text(const NodesExplained& explained) {
  if (explained.forced == explained.prediction.between.algorithm) {
    return fmt::format("{} is forced.", explained.forced);
  }
  return fmt::format("{} is to be forced, and cannot serve this: {} is the cheapest.",
                     explained.forced, explained.prediction.between.algorithm);
}

std::string mpi_text(const NodesExplained& explained, const MpiAnswer& answer) {
  std::string text =
      fmt::format("{}: measured {}. ", answer.mpi, time_text(static_cast<double>(answer.ns)));
  if (answer.is_left_to_it) return text + "The call is left to it.";
  const bool is_slower = answer.ns >= explained.prediction.ns();
  if (is_slower || !explained.forced.empty()) return text + "huddle takes the call.";
  return text +
         "huddle takes the call: sums of floats keep their bits. Of whole numbers it is left "
         "to the MPI.";
}

std::string phase_name(const internode::NodePhase& phase) {
  const std::string_view operation = name(phase.operation);
  if (phase.barrier_phase == select::BarrierPhase::both) return std::string(operation);
  return fmt::format("{} ({} phase)", operation, name(phase.barrier_phase));
}

// Of all segments together.
void add_part(Table& table, const std::string& where,
              const std::optional<internode::NodePhase>& phase, const std::string& algorithm,
              int segments) {
  if (!phase) return;
  const double bytes = static_cast<double>(phase->bytes) * segments;
  table.add({fmt::format("{}: {} by {}", where, phase_name(*phase), algorithm),
             phase->bytes > 0 ? size_text(bytes) : "-",
             time_text(static_cast<double>(phase->ns) * segments)});
}

}  // namespace

std::string explain_nodes_text(const NodesExplained& explained, const Console& console) {
  const int columns = std::min(console.columns, most_table_columns);
  const internode::Prediction& prediction = explained.prediction;
  std::string text = wrap("",
                          fmt::format("{}: predicted {}", question(explained),
                                      time_text(static_cast<double>(prediction.ns()))),
                          0, columns);
  text += wrap("",
               printable(picture::machine_title(explained.subject.machine)) + ", " +
                   printable(picture::calibration_line(explained.subject)),
               2, columns);
  Table table({"part", "bytes", "predicted"}, {});
  const int segments = prediction.sharing.segments;
  add_part(table, "in each node", prediction.before, explained.before, segments);
  const int leaders = prediction.sharing.leaders;
  table.add({fmt::format("between nodes: {}{}", prediction.between.algorithm,
                         leaders > 1 ? fmt::format(" by {} leaders of each", leaders) : ""),
             size_text(static_cast<double>(explained.sent.bytes)),
             time_text(static_cast<double>(prediction.between.ns) * segments)});
  add_part(table, "in each node", prediction.after, explained.after, segments);
  text += "\n" + table.text(columns);
  text += wrap(
      "",
      fmt::format("Between nodes {} with {} in all.", counted(explained.sent.messages, "message"),
                  counted(explained.sent.bytes, "byte")),
      0, columns);
  if (!explained.forced.empty()) text += wrap("", forcing_text(explained), 0, columns);
  if (segments > 1) {
    text += wrap("",
                 fmt::format("In {} segments: while one is between nodes, the nodes do their parts "
                             "of others.",
                             segments),
                 0, columns);
  }
  if (prediction.sharing != internode::Sharing{}) {
    text += wrap("",
                 fmt::format("By one leader of each node, one part after the other: predicted {}.",
                             time_text(static_cast<double>(explained.by_one_leader_ns))),
                 0, columns);
  }
  text += wrap("", network_text(explained), 0, columns);
  for (const MpiAnswer& answer : explained.mpis) {
    text += wrap("", printable(mpi_text(explained, answer)), 0, columns);
  }
  if (!explained.left_unmeasured.empty()) {
    text += wrap("", fmt::format("The call is left to the MPI: {}.", explained.left_unmeasured), 0,
                 columns);
  } else if (explained.mpis.empty()) {
    text +=
        wrap("", "The MPI's own: not measured for ranks that sit so, so that it is no candidate.",
             0, columns);
  }
  return text;
}

}  // namespace huddle::cli
