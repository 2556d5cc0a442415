// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/node_joining.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "team/agree.h"
#include "team/preparation.h"

namespace huddle::mpi {
namespace {

// What a rank says once its node has a team.
struct Report {
  team::Trouble trouble;
  internode::Network network;
};

// The lowest rank's that was measured, or the lowest rank's.
internode::Network common_network(std::span<const Report> reports) {
  const auto measured = std::find_if(reports.begin(), reports.end(), [](const Report& report) {
    return report.network.is_estimated == 0;
  });
  return measured == reports.end() ? reports.front().network : measured->network;
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
    mine.network = internode::network_of(context_.get().machine());
  });
  const std::vector<Report> reports = team::gather(all, mine);
  team::throw_first(std::span<const Report>(reports), &Report::trouble);
  parts.network = common_network(reports);
  parts.traffic = &inter_node_.traffic();
  return std::make_unique<internode::Team>(std::move(parts));
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
