// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/node_joining.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "internode/prediction.h"
#include "select/explain.h"
#include "team/agree.h"
#include "team/preparation.h"

namespace huddle::mpi {
namespace {

// What a rank says once its node has a team.
struct Report {
  team::Trouble trouble;
  internode::Network network;
  std::uint64_t mpi_points = 0;  // how much it knows of what the MPI takes
};

// What its node takes for its parts.
struct Timed {
  team::Trouble trouble;
  internode::NodeTimes times;
};

// Whose figures all go by: the lowest rank's that were measured, or the lowest rank's.
int rank_with_figures(std::span<const Report> reports) {
  const auto measured = std::find_if(reports.begin(), reports.end(), [](const Report& report) {
    return report.network.is_estimated == 0;
  });
  return measured == reports.end() ? 0 : static_cast<int>(measured - reports.begin());
}

// What a node's team would take by its own choice. One rank alone has nothing to do.
internode::NodeTimes times_of(const team::Team& team) {
  return internode::NodeTimes::of(
      [&](select::Operation operation, std::size_t bytes) -> std::int64_t {
        if (team.ranks() == 1) return 0;
        const select::Explanation explanation =
            team.explain(internode::request_of_part(operation, bytes));
        return explanation.candidates.empty() ? 0 : std::llround(select::chosen(explanation).ns);
      });
}

}  // namespace

std::unique_ptr<internode::Team> NodeJoining::make(const team::Bootstrap& all, const Known& known,
                                                   std::span<const int> in_job) {
  if (known.tag == 0) throw FailureError("there are no more tags for teams over several nodes");
  internode::Team::Parts parts{
      internode::NodeMap(known.nodes), all.rank, nullptr, nullptr, {}, nullptr};
  // Nothing is sent before all have the tag.
  team::agree(all, [&] {
    parts.wire = inter_node_.wire(std::vector<int>(in_job.begin(), in_job.end()), known.tag);
  });
  Report mine;
  mine.trouble = team::Trouble::of([&] {
    internode::NodeBootstrap node_ranks(*parts.wire, parts.map, all.rank);
    const int node = parts.map.node_of(all.rank);
    bool know_machine = true;
    for (int place = 0; place < node_ranks.ranks(); ++place) {
      const int rank = parts.map.rank_at(node, place);
      know_machine = know_machine && known.has_context[static_cast<std::size_t>(rank)];
    }
    parts.node = make_node_team(node_ranks, know_machine);
    const machine::Machine& machine = context_.get().machine();
    mine.network = internode::network_of(machine);
    parts.mpi_times = internode::MpiTimes(machine, inter_node_.mpi_title(), parts.map);
    mine.mpi_points = parts.mpi_times.points().size();
  });
  const std::vector<Report> reports = team::gather(all, mine);
  team::throw_first(std::span<const Report>(reports), &Report::trouble);
  const int speaker = rank_with_figures(reports);
  const Report& of_speaker = reports[static_cast<std::size_t>(speaker)];
  parts.network = of_speaker.network;
  share_times(all, parts, speaker, of_speaker.mpi_points);
  parts.traffic = &inter_node_.traffic();
  return std::make_unique<internode::Team>(std::move(parts));
}

// What the MPI takes, from that rank to all; and what the slowest node takes beside it.
void NodeJoining::share_times(const team::Bootstrap& all, internode::Team::Parts& parts,
                              int speaker, std::size_t points) {
  const internode::MpiTimes own = std::exchange(parts.mpi_times, {});
  if (points == 0) return;
  std::vector<internode::MpiTimes::Point> shared;
  std::optional<internode::NodeMap> as_one;
  team::agree(all, [&] {
    shared = own.points();
    shared.resize(points);
    as_one.emplace(std::vector<std::uint64_t>(static_cast<std::size_t>(all.ranks), 0));
  });
  Timed mine;
  mine.trouble = team::Trouble::of([&] {
    internode::NodeBootstrap everybody(*parts.wire, *as_one, all.rank);
    everybody.bcast(std::as_writable_bytes(std::span(shared)), speaker);
    if (parts.map.place_of(all.rank) == 0) mine.times = times_of(*parts.node);
  });
  const std::vector<Timed> timed = team::gather(all, mine);
  team::throw_first(std::span<const Timed>(timed), &Timed::trouble);
  for (const Timed& one : timed) parts.node_times.become_slower_of(one.times);
  parts.mpi_times = internode::MpiTimes(std::move(shared));
}

std::unique_ptr<team::Team> NodeJoining::make_node_team(internode::NodeBootstrap& node_ranks,
                                                        bool know_machine) {
  const team::Bootstrap here = node_ranks.bootstrap();
  if (!know_machine) share_machine(node_ranks, here);
  return team::make_or_decline<team::Team>(here, context_.get(), here);
}

// The first rank of the node looks, and tells the others.
void NodeJoining::share_machine(internode::NodeBootstrap& node_ranks, const team::Bootstrap& here) {
  std::string text;
  team::agree(here, [&] {
    if (here.rank == 0) text = context_.machine_text();
  });
  const std::vector<std::uint64_t> sizes = team::gather(here, std::uint64_t{text.size()});
  team::agree(here, [&] { text.resize(sizes.front()); });
  node_ranks.bcast(std::as_writable_bytes(std::span(text)));
  team::agree(here, [&] { context_.make(text); });
}

}  // namespace huddle::mpi
