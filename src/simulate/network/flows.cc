// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/arithmetic.h"
#include "simulate/network/simulation.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>

namespace huddle::network {

void Flows::add(double bytes, double most_gb_per_s, std::span<const int> links) {
  bytes_.push_back(bytes);
  most_.push_back(most_gb_per_s);
  links_.insert(links_.end(), links.begin(), links.end());
  first_.push_back(links_.size());
}

void Flows::clear() {
  bytes_.clear();
  most_.clear();
  first_.assign(1, 0);
  links_.clear();
}

namespace {

// Progressive filling: the rates of all flows grow equally. When a link is full, the flows on it
// keep their rates and the others continue to grow.
class Filling {
 public:
  Filling(const Flows& flows, std::span<const std::size_t> which, std::span<const double> capacity)
      : flows_(flows), which_(which), shares_(which.size()), held_(which.size(), false) {
    number_links(capacity);
    list_passers();
    for (int link = 0; link < static_cast<int>(links_.size()); ++link) push(link);
    by_limit_.resize(which.size());
    std::iota(by_limit_.begin(), by_limit_.end(), 0);
    std::stable_sort(by_limit_.begin(), by_limit_.end(),
                     [this](std::size_t a, std::size_t b) { return limit(a) < limit(b); });
  }

  std::vector<Share> fill() {
    std::size_t next_limit = 0;
    for (std::size_t left = which_.size(); left > 0;) {
      while (next_limit < by_limit_.size() && held_[by_limit_[next_limit]]) ++next_limit;
      const std::size_t slowest = by_limit_[next_limit];
      const int link = fullest();
      if (link < 0 || limit(slowest) <= fair(link)) {
        hold(slowest, {limit(slowest), own_limit});
        --left;
        continue;
      }
      const Share share{fair(link), links_[at(link)].number};
      for (const std::size_t flow : passers(link)) {
        if (held_[flow]) continue;
        hold(flow, share);
        --left;
      }
    }
    return std::move(shares_);
  }

 private:
  struct Link {
    int number;         // as in Flows
    double left;        // GB/s that are not allocated yet
    int open = 0;       // number of flows that can still grow
    std::size_t first;  // index into passers_
  };
  using Entry = std::pair<double, int>;

  double limit(std::size_t flow) const { return flows_.most_gb_per_s(which_[flow]); }
  double fair(int link) const {
    return std::max(0.0, links_[at(link)].left) / links_[at(link)].open;
  }
  void push(int link) { queue_.push({fair(link), link}); }

  // Considers only links that some flow passes, and gives them consecutive numbers.
  void number_links(std::span<const double> capacity) {
    std::vector<int> inside(capacity.size(), -1);
    for (const std::size_t flow : which_) {
      for (const int number : flows_.links(flow)) {
        int& link = inside[at(number)];
        if (link < 0) {
          link = static_cast<int>(links_.size());
          links_.push_back({number, capacity[at(number)], 0, 0});
        }
        ++links_[at(link)].open;
        passed_.push_back(link);
      }
      passed_end_.push_back(passed_.size());
    }
  }

  void list_passers() {
    std::size_t sum = 0;
    for (Link& link : links_) {
      link.first = sum;
      sum += static_cast<std::size_t>(link.open);
    }
    passers_.resize(sum);
    std::vector<std::size_t> next;
    for (const Link& link : links_) next.push_back(link.first);
    for (std::size_t flow = 0; flow < which_.size(); ++flow) {
      for (const int link : passed(flow)) passers_[next[at(link)]++] = flow;
    }
  }

  std::span<const int> passed(std::size_t flow) const {
    const std::size_t first = flow == 0 ? 0 : passed_end_[flow - 1];
    return std::span(passed_).subspan(first, passed_end_[flow] - first);
  }
  std::span<const std::size_t> passers(int link) const {
    const std::size_t first = links_[at(link)].first;
    const std::size_t end =
        at(link) + 1 < links_.size() ? links_[at(link) + 1].first : passers_.size();
    return std::span(passers_).subspan(first, end - first);
  }

  // Returns the link with the smallest fair share; -1 if no link has open flows. Fair shares only
  // grow, so an outdated entry is reinserted with its new value.
  int fullest() {
    while (!queue_.empty()) {
      const auto [share, link] = queue_.top();
      if (links_[at(link)].open == 0) {
        queue_.pop();
      } else if (share < fair(link)) {
        queue_.pop();
        push(link);
      } else {
        return link;
      }
    }
    return -1;
  }

  void hold(std::size_t flow, const Share& share) {
    shares_[flow] = share;
    held_[flow] = true;
    for (const int link : passed(flow)) {
      links_[at(link)].left -= share.gb_per_s;
      --links_[at(link)].open;
    }
  }

  const Flows& flows_;
  std::span<const std::size_t> which_;
  std::vector<Share> shares_;
  std::vector<bool> held_;
  std::vector<Link> links_;
  std::vector<int> passed_;              // links, flow after flow
  std::vector<std::size_t> passed_end_;  // of each flow
  std::vector<std::size_t> passers_;     // flows, link after link
  std::vector<std::size_t> by_limit_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

// Times that differ only by rounding errors count as equal.
constexpr double same = 1 + 1e-12;

}  // namespace

std::vector<Share> max_min(const Flows& flows, std::span<const std::size_t> which,
                           std::span<const double> capacity) {
  return Filling(flows, which, capacity).fill();
}

// The end of a flow helps other flows only if it passed a link that limits them. If all messages
// have the same size this never happens: a flow that is limited by a link is at least as fast as
// all others on that link, so it does not end after them. The shares are then computed only once.
std::vector<double> through_ns(const Flows& flows, std::span<const double> capacity) {
  std::vector<double> end(flows.count());
  std::vector<double> left(flows.count());
  std::vector<std::size_t> open(flows.count());
  std::iota(open.begin(), open.end(), 0);
  for (std::size_t flow = 0; flow < flows.count(); ++flow) left[flow] = flows.bytes(flow);
  std::vector<int> held(capacity.size());  // number of open flows that a link limits
  double now = 0;
  while (!open.empty()) {
    const std::vector<Share> shares = max_min(flows, open, capacity);
    std::fill(held.begin(), held.end(), 0);
    std::vector<std::size_t> by_end(open.size());
    for (std::size_t i = 0; i < open.size(); ++i) {
      end[open[i]] = now + left[open[i]] / shares[i].gb_per_s;
      if (shares[i].held_by != own_limit) ++held[static_cast<std::size_t>(shares[i].held_by)];
      by_end[i] = i;
    }
    std::sort(by_end.begin(), by_end.end(), [&](std::size_t a, std::size_t b) {
      return end[open[a]] < end[open[b]] || (end[open[a]] == end[open[b]] && a < b);
    });
    std::size_t done = 0;
    bool helped = false;
    double until = now;
    while (done < by_end.size() && !helped) {
      until = end[open[by_end[done]]];
      const std::size_t first = done;
      for (; done < by_end.size() && end[open[by_end[done]]] <= until * same; ++done) {
        const Share& share = shares[by_end[done]];
        if (share.held_by != own_limit) --held[static_cast<std::size_t>(share.held_by)];
      }
      for (std::size_t i = first; i < done; ++i) {
        for (const int link : flows.links(open[by_end[i]])) {
          helped = helped || held[static_cast<std::size_t>(link)] > 0;
        }
      }
    }
    std::vector<std::size_t> still;
    for (std::size_t i = done; i < by_end.size(); ++i) {
      const std::size_t flow = open[by_end[i]];
      left[flow] = (end[flow] - until) * shares[by_end[i]].gb_per_s;
      still.push_back(flow);
    }
    std::sort(still.begin(), still.end());
    open = std::move(still);
    now = until;
  }
  return end;
}

}  // namespace huddle::network
