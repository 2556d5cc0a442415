// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/infer_linkage.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace huddle::machine {
namespace {

// Agglomerative clustering by the nearest-neighbour chain: follow nearest neighbours until two are
// each other's, join them, go on with what is left of the chain. It finds the same tree as joining
// the globally nearest two each time, because a join never lies nearer to a third cluster than the
// nearer of its halves did: the median of two sets together lies between their medians.
class Linkage {
 public:
  explicit Linkage(const LogLatencies& latencies) : latencies_(latencies), between_(latencies) {
    for (std::size_t core = 0; core < latencies.cores(); ++core) {
      clusters_.push_back({core, {core}});
      active_.push_back(core);
    }
  }

  std::vector<Join> run() {
    while (active_.size() > 1) {
      if (chain_.empty()) chain_.push_back(active_.front());
      const std::size_t last = chain_.back();
      const std::size_t nearest = nearest_of(last);
      if (chain_.size() > 1 && chain_[chain_.size() - 2] == nearest) {
        chain_.resize(chain_.size() - 2);
        join(nearest, last);
      } else {
        chain_.push_back(nearest);
      }
    }
    return std::move(joins_);
  }

 private:
  struct Members {
    std::size_t node = 0;
    std::vector<std::size_t> cores;
  };

  // Of equals the one before in the chain, so that the chain ends.
  std::size_t nearest_of(std::size_t slot) const {
    std::size_t best = slot;
    double least = std::numeric_limits<double>::infinity();
    if (chain_.size() > 1) {
      best = chain_[chain_.size() - 2];
      least = between_.at(slot, best);
    }
    for (const std::size_t other : active_) {
      if (other == slot || !(between_.at(slot, other) < least)) continue;
      best = other;
      least = between_.at(slot, other);
    }
    return best;
  }

  void join(std::size_t kept, std::size_t dropped) {
    Members& into = clusters_[kept];
    Members& from = clusters_[dropped];
    Join made{into.node, from.node, into.cores.size() + from.cores.size(), across(into, from)};
    std::sort(made.across.begin(), made.across.end());
    into.node = latencies_.cores() + joins_.size();
    into.cores.insert(into.cores.end(), from.cores.begin(), from.cores.end());
    from.cores.clear();
    joins_.push_back(std::move(made));
    std::erase(active_, dropped);
    for (const std::size_t other : active_) {
      if (other != kept) between_.set(kept, other, median_between(into, clusters_[other]));
    }
  }

  std::vector<double> across(const Members& a, const Members& b) const {
    std::vector<double> values;
    values.reserve(a.cores.size() * b.cores.size());
    for (const std::size_t x : a.cores) {
      for (const std::size_t y : b.cores) values.push_back(latencies_.at(x, y));
    }
    return values;
  }

  double median_between(const Members& a, const Members& b) const {
    std::vector<double> values = across(a, b);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  const LogLatencies& latencies_;
  LogLatencies between_;  // medians between active clusters, by slot
  std::vector<Members> clusters_;
  std::vector<std::size_t> active_;
  std::vector<std::size_t> chain_;
  std::vector<Join> joins_;
};

}  // namespace

double lower_median(const std::vector<double>& sorted) { return sorted[(sorted.size() - 1) / 2]; }

std::vector<Join> join_nearest(const LogLatencies& latencies) { return Linkage(latencies).run(); }

}  // namespace huddle::machine
