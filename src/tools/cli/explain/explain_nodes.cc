// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "common/text.h"
#include "tools/cli/explain/explain_report.h"
#include "tools/cli/terminal_text.h"
#include "tools/picture/facts.h"

namespace huddle::cli {
namespace {

constexpr int most_explained_nodes = 4096;
constexpr int most_ranks_per_node = 4096;

// Parses for example "3,1,2,1".
std::vector<int> counts_from(const std::string& text) {
  std::vector<int> counts;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (true) {
    int count = 0;
    const auto [next, error] = std::from_chars(at, end, count);
    if (error != std::errc() || count < 1 || count > most_ranks_per_node) break;
    counts.push_back(count);
    if (next == end) return counts;
    if (*next != ',') break;
    at = next + 1;
  }
  throw UsageError(
      fmt::format("--map {}: use block, round-robin, or the number of ranks on each node, "
                  "such as 3,1,2,1",
                  text));
}

internode::NodeMap blocks_of(const std::vector<int>& counts) {
  std::vector<std::uint64_t> keys;
  for (std::size_t node = 0; node < counts.size(); ++node) {
    keys.insert(keys.end(), static_cast<std::size_t>(counts[node]), node);
  }
  return internode::NodeMap(keys);
}

}  // namespace

void NodesOptions::declare(Options& options) {
  options.number("--nodes", nodes_, 1, most_explained_nodes, "N",
                 "number of nodes, each like this machine");
  options.number("--ranks-per-node", ranks_per_node_, 1, most_ranks_per_node, "N",
                 "ranks on each node (default: one per core)");
  options.text("--map", map_, "WORD",
               "placement of the ranks: block, round-robin, or the number of ranks on each node, "
               "such as 3,1,2,1 (default: block)");
  options.complete("--map", Value::word, {"block", "round-robin"});
}

internode::NodeMap NodesOptions::map(int cores) const {
  const bool is_word = map_.empty() || map_ == "block" || is_round_robin();
  if (!is_word) {
    const std::vector<int> counts = counts_from(map_);
    if (ranks_per_node_ > 0 || (nodes_ > 0 && static_cast<std::size_t>(nodes_) != counts.size())) {
      throw UsageError(
          fmt::format("--map {} already contains the numbers of nodes and ranks: remove {}", map_,
                      ranks_per_node_ > 0 ? "--ranks-per-node" : "--nodes"));
    }
    if (counts.size() < 2)
      throw UsageError("--map requires at least two nodes; for one node, use -n instead");
    return blocks_of(counts);
  }
  if (nodes_ < 2) throw UsageError("the number of nodes is missing: add for example --nodes 16");
  const int ranks_per_node = ranks_per_node_ > 0 ? ranks_per_node_ : cores;
  if (!is_round_robin()) {
    return blocks_of(std::vector<int>(static_cast<std::size_t>(nodes_), ranks_per_node));
  }
  std::vector<std::uint64_t> keys;
  for (int rank = 0; rank < nodes_ * ranks_per_node; ++rank) {
    keys.push_back(static_cast<std::uint64_t>(rank % nodes_));
  }
  return internode::NodeMap(keys);
}

std::string NodesOptions::placement() const {
  if (is_round_robin()) return "round-robin";
  const bool is_block = map_.empty() || map_ == "block";
  return is_block ? "in blocks" : map_;
}

namespace {

std::int64_t whole_ns(const std::optional<select::Candidate>& candidate) {
  return candidate ? std::llround(candidate->ns) : 0;
}

std::string algorithm_in(const InNode& in_node, const std::optional<internode::NodePhase>& phase) {
  if (!phase) return {};
  const auto candidate = in_node(phase->request());
  return candidate ? std::string(algorithm_name(candidate->plan)) : "single rank";
}

}  // namespace

NodesExplained nodes_explained(const select::Request& request, const NodesOptions& options,
                               const picture::Subject& subject, const internode::NodeMap& map,
                               const InNode& in_node, const internode::ForcedAlgorithms& forced,
                               std::optional<internode::Sharing> sharing) {
  if (internode::way_between_nodes(request.operation) != internode::Way::schedule) {
    throw UsageError(
        fmt::format("the time of {} over several nodes cannot be predicted: huddle predicts only "
                    "collectives that run a schedule between nodes",
                    name(request.operation)));
  }
  NodesExplained explained;
  explained.request = request;
  explained.ranks = map.ranks();
  explained.nodes = map.nodes();
  explained.placement = options.placement();
  explained.subject = subject;
  explained.network = internode::network_of(subject.machine);
  const auto times = internode::NodeTimes::of(
      [&](const select::Request& part) { return whole_ns(in_node(part)); });
  explained.prediction = internode::predict(request.operation, request.bytes, map,
                                            explained.network, times, sharing, forced);
  explained.forced = forced.for_operation(internode::schedule_of(request.operation));
  explained.by_one_leader_ns =
      explained.prediction.sharing == internode::Sharing{}
          ? explained.prediction.ns()
          : internode::predict(request.operation, request.bytes, map, explained.network, times,
                               internode::Sharing{}, forced)
                .ns();
  explained.before = algorithm_in(in_node, explained.prediction.before);
  explained.after = algorithm_in(in_node, explained.prediction.after);
  explained.sent = internode::sent_by(explained.prediction);
  std::set<std::string> mpis;
  for (const auto& one : subject.machine.mpi_collectives) mpis.insert(one.mpi);
  for (const std::string& mpi : mpis) {
    const auto ns =
        internode::MpiTimes(subject.machine, mpi, map).ns_at(request.operation, request.bytes);
    if (!ns) continue;
    // Reductions of doubles stay with huddle because the MPI may round sums differently.
    const bool is_left = explained.forced.empty() && *ns < explained.prediction.ns() &&
                         !select::reduces(request.operation);
    explained.mpis.push_back({mpi, *ns, is_left});
  }
  // Calls of two ranks always use the rule for unmeasured calls.
  if (explained.forced.empty() && (explained.mpis.empty() || explained.ranks == 2)) {
    explained.left_unmeasured = internode::unmeasured_fallback_reason(
        request.operation, request.bytes, map, explained.network);
  }
  return explained;
}

namespace {

std::string question(const NodesExplained& explained) {
  const select::Request& request = explained.request;
  const bool moves = request.operation != select::Operation::barrier;
  return fmt::format("{}{} on {} ranks of {} nodes, {}", name(request.operation),
                     moves ? " of " + size_text(static_cast<double>(request.bytes)) : "",
                     explained.ranks, explained.nodes, explained.placement);
}

// Returns the origin of the network figures for the predictions between nodes.
std::string origin_text(const machine::Machine& machine) {
  if (machine.networks.empty()) {
    return "not measured: generic figures; 'huddle calibrate --network' measures it";
  }
  const machine::Origin origin = machine.networks.front().origin;
  return std::string(machine::origin_names[static_cast<std::size_t>(origin)]);
}

std::string network_text(const NodesExplained& explained) {
  const internode::Network& network = explained.network;
  const double gb_per_s = static_cast<double>(1 << 20) / static_cast<double>(network.ns_per_mib);
  return fmt::format("Network: {} per message, {:.3g} GB/s, {}.",
                     time_text(static_cast<double>(network.message_ns)), gb_per_s,
                     origin_text(explained.subject.machine));
}

std::string forcing_text(const NodesExplained& explained) {
  if (explained.forced == explained.prediction.between.algorithm) {
    return fmt::format("{} was requested.", explained.forced);
  }
  return fmt::format(
      "{} was requested but cannot run this call: {} has the shortest predicted time.",
      explained.forced, explained.prediction.between.algorithm);
}

std::string mpi_text(const NodesExplained& explained, const MpiAnswer& answer) {
  std::string text =
      fmt::format("{}: measured {}. ", answer.mpi, time_text(static_cast<double>(answer.ns)));
  if (answer.is_left_to_it) return text + "The call falls back to it.";
  const bool is_slower = answer.ns >= explained.prediction.ns();
  if (is_slower || !explained.forced.empty()) return text + "huddle handles the call.";
  return text +
         "huddle handles the call, because sums of floating-point numbers must have the same bits "
         "on every path. A reduction of integers falls back to the MPI.";
}

std::string phase_name(const internode::NodePhase& phase) {
  const std::string_view operation = name(phase.operation);
  if (phase.barrier_phase == select::BarrierPhase::both) return std::string(operation);
  return fmt::format("{} ({} phase)", operation, name(phase.barrier_phase));
}

// Sums over all segments.
void add_part(Table& table, const std::string& where,
              const std::optional<internode::NodePhase>& phase, const std::string& algorithm,
              int segments) {
  if (!phase) return;
  const double bytes = static_cast<double>(phase->bytes) * segments;
  table.add({fmt::format("{}: {} ({})", where, phase_name(*phase), algorithm),
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
                         leaders > 1 ? fmt::format(" by {} leaders per node", leaders) : ""),
             size_text(static_cast<double>(explained.sent.bytes)),
             time_text(static_cast<double>(prediction.between.ns) * segments)});
  add_part(table, "in each node", prediction.after, explained.after, segments);
  text += "\n" + table.text(columns);
  text += wrap("",
               fmt::format("{} with {} in total are sent between nodes.",
                           counted(explained.sent.messages, "message"),
                           counted(explained.sent.bytes, "byte")),
               0, columns);
  if (!explained.forced.empty()) text += wrap("", forcing_text(explained), 0, columns);
  if (segments > 1) {
    text += wrap(
        "",
        fmt::format(
            "In {} segments: while one segment is sent between nodes, the nodes work on others.",
            segments),
        0, columns);
  }
  if (prediction.sharing != internode::Sharing{}) {
    text += wrap("",
                 fmt::format("With one leader per node and without overlap: predicted {}.",
                             time_text(static_cast<double>(explained.by_one_leader_ns))),
                 0, columns);
  }
  text += wrap("", network_text(explained), 0, columns);
  for (const MpiAnswer& answer : explained.mpis) {
    text += wrap("", printable(mpi_text(explained, answer)), 0, columns);
  }
  if (!explained.left_unmeasured.empty()) {
    text += wrap("", fmt::format("The call falls back to the MPI: {}.", explained.left_unmeasured),
                 0, columns);
  } else if (explained.mpis.empty()) {
    text +=
        wrap("", "The MPI's own time is not known for this placement, so huddle handles the call.",
             0, columns);
  }
  return text;
}

}  // namespace huddle::cli
