// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "simulate/network/simgrid/platform.h"

#include <fmt/format.h>

namespace huddle::judge {

namespace s4u = simgrid::s4u;

Platform::Platform(const Job& job, const Pairs& pairs)
    : job_(job),
      routes_(job.cluster.fabric, job.cluster.network),
      zone_(s4u::create_full_zone("cluster")) {
  for (int rank = 0; rank < job.ranks(); ++rank) {
    hosts_.push_back(zone_->create_host(fmt::format("r{}", rank), 1e9)->seal());
  }
  // The latency beneath one switch, which all messages have, is a link that never is full.
  base_ = zone_->create_link("base", 1e30)->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
  const double ns = time_at(job.network().curve, 0) - 2 * job.network().cpu_ns;
  base_->set_latency(ns / ns_a_tick)->seal();
  for (const auto& [from, to] : pairs) add_route(from, to);
  zone_->seal();
}

s4u::Link* Platform::link(int number) {
  const auto found = links_.find(number);
  if (found != links_.end()) return found->second;
  s4u::Link* const made =
      zone_->create_link(fmt::format("l{}", number), routes_.gb_per_s(number) * ns_a_tick);
  made->set_latency(routes_.latency_ns(number) / ns_a_tick)->seal();
  return links_[number] = made;
}

void Platform::add_route(int from, int to) {
  std::vector<int> passed;
  routes_.path(job_.node_of_rank[static_cast<std::size_t>(from)],
               job_.node_of_rank[static_cast<std::size_t>(to)], passed);
  std::vector<s4u::LinkInRoute> route;
  for (const int number : passed) route.emplace_back(link(number));
  route.emplace_back(base_);
  zone_->add_route(host(from)->get_netpoint(), host(to)->get_netpoint(), nullptr, nullptr, route,
                   false);
}

}  // namespace huddle::judge
