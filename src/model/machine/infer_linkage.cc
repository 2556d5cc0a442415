// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "model/machine/infer_linkage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace huddle::machine {
namespace {

// Agglomerative clustering by nearest-neighbour chains: follow nearest neighbours until two
// clusters are each other's, merge them, and continue with the rest of the chain. This finds the
// same tree as merging the globally nearest two each time, because a merged cluster is never nearer
// to a third one than the nearer of its halves was: the median of a union is between the two
// medians.
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

  // Prefers the previous cluster of the chain among equals, so that the chain ends.
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

namespace {

// Steps with a smaller ratio are not levels. huddle promises to find levels that differ by a factor
// of 1.3, so the threshold is half way to it: the square root of 1.3. It also excludes distances on
// a mesh.
constexpr double smallest_ratio = 1.14;

// Steps that chance alone would cause with a higher probability are not levels.
constexpr double chance = 1e-4;

// A step must also be at least this multiple of the spread, whatever the size of the group: on a
// mesh the latencies of neighbouring pairs are correlated, so a large group proves little more than
// a small one...
constexpr double least_spreads = 3.5;
// ...unless the ratio is larger than distances on a mesh can cause.
constexpr double sure_ratio = 1.6;

// Ratio of the standard deviation to the median absolute deviation of a normal distribution.
constexpr double deviation_scale = 1.4826;

double log_choices(std::size_t of, std::size_t pick) {
  const auto n = static_cast<double>(of);
  const auto k = static_cast<double>(pick);
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// Returns the standard deviation, estimated by the median absolute deviation: walks outward from
// the middle until half of the values are passed. Requires: sorted, not empty.
double spread_of(const std::vector<double>& sorted) {
  const std::size_t half = (sorted.size() - 1) / 2;
  const double middle = sorted[half];
  std::size_t below = half;
  std::size_t above = half;
  while (above - below < half) {
    const bool go_down = above + 1 == sorted.size() ||
                         (below > 0 && middle - sorted[below - 1] < sorted[above + 1] - middle);
    if (go_down) {
      --below;
    } else {
      ++above;
    }
  }
  return deviation_scale * std::max(middle - sorted[below], sorted[above] - middle);
}

struct Node {
  std::optional<std::size_t> parent;
  std::vector<std::size_t> parts;  // nodes; the first ones are the cores
  std::size_t cores = 0;
  std::vector<double> across;  // ascending
  double middle = 0;
  double spread = 0;
  bool gone = false;

  double freedom() const { return static_cast<double>(across.size()) - 1; }
};

class Collapse {
 public:
  Collapse(const std::vector<Join>& joins, double sampling_noise)
      : cores_(joins.size() + 1), sampling_noise_(sampling_noise) {
    nodes_.resize(cores_ + joins.size());
    for (std::size_t i = 0; i < joins.size(); ++i) {
      Node& node = nodes_[cores_ + i];
      node.parts = {joins[i].left, joins[i].right};
      node.cores = joins[i].cores;
      node.across = joins[i].across;
      summarise(node);
      for (const std::size_t part : node.parts) nodes_[part].parent = cores_ + i;
    }
  }

  // Removes the weakest step first, so that the remaining ones are judged by the spread of whole
  // levels and not by that of fragments.
  Step run() {
    while (const std::optional<std::size_t> weakest = weakest_step()) dissolve(*weakest);
    return step_of(nodes_.size() - 1);
  }

 private:
  static void summarise(Node& node) {
    node.middle = lower_median(node.across);
    node.spread = spread_of(node.across);
  }

  std::optional<std::size_t> weakest_step() const {
    const double overall = overall_spread();
    std::optional<std::size_t> weakest;
    double least = 1;
    for (std::size_t i = cores_; i + 1 < nodes_.size(); ++i) {
      if (nodes_[i].gone) continue;
      const double clearness = clearness_of(nodes_[i], overall);
      if (clearness >= least) continue;
      least = clearness;
      weakest = i;
    }
    return weakest;
  }

  // Returns the ratio of the step from this node to its parent to the smallest significant step. A
  // step with a ratio below 1 is not a level.
  double clearness_of(const Node& node, double overall) const {
    const Node& parent = nodes_[*node.parent];
    const double spread = spread_around(node, parent, overall);
    const double needed = std::max({std::log(smallest_ratio), luck(node, parent) * spread,
                                    std::min(least_spreads * spread, std::log(sure_ratio))});
    return (parent.middle - node.middle) / needed;
  }

  // Returns how much nearer than its context the nearest group of this size would be by chance, in
  // spreads of one pair: the mean of m normal values is below -t with a probability of about
  // exp(-m t^2 / 2), and the number of possible groups is the binomial coefficient.
  static double luck(const Node& node, const Node& parent) {
    const double picks = log_choices(parent.cores, node.cores) - std::log(chance);
    return std::sqrt(2 * picks / static_cast<double>(node.across.size()));
  }

  // Returns the largest of the spread of these two nodes, that of the whole machine and the
  // sampling noise. The two nodes alone underestimate it, because clustering put all near pairs
  // into the node and left the distant ones to its parent.
  double spread_around(const Node& node, const Node& parent, double overall) const {
    const double freedom = node.freedom() + parent.freedom();
    const double sum = node.freedom() * node.spread * node.spread +
                       parent.freedom() * parent.spread * parent.spread;
    const double seen = freedom > 0 ? std::sqrt(sum / freedom) : 0;
    return std::max({seen, overall, sampling_noise_});
  }

  double overall_spread() const {
    double sum = 0;
    double freedom = 0;
    for (std::size_t i = cores_; i < nodes_.size(); ++i) {
      if (nodes_[i].gone) continue;
      sum += nodes_[i].freedom() * nodes_[i].spread * nodes_[i].spread;
      freedom += nodes_[i].freedom();
    }
    return freedom > 0 ? std::sqrt(sum / freedom) : 0;
  }

  // Removes the node; its parts and pairs become its parent's.
  void dissolve(std::size_t index) {
    Node& node = nodes_[index];
    Node& parent = nodes_[*node.parent];
    std::erase(parent.parts, index);
    for (const std::size_t part : node.parts) {
      parent.parts.push_back(part);
      nodes_[part].parent = node.parent;
    }
    const auto middle = static_cast<std::ptrdiff_t>(parent.across.size());
    parent.across.insert(parent.across.end(), node.across.begin(), node.across.end());
    std::inplace_merge(parent.across.begin(), parent.across.begin() + middle, parent.across.end());
    summarise(parent);
    node = Node();
    node.gone = true;
  }

  Step step_of(std::size_t index) const {
    Step step;
    step.log_latency = nodes_[index].middle;
    for (const std::size_t part : nodes_[index].parts) {
      if (part < cores_) {
        step.cores.push_back(part);
      } else {
        step.parts.push_back(step_of(part));
      }
    }
    return step;
  }

  std::size_t cores_;
  double sampling_noise_;
  std::vector<Node> nodes_;
};

}  // namespace

Step collapse(const std::vector<Join>& joins, double sampling_noise) {
  return Collapse(joins, sampling_noise).run();
}

}  // namespace huddle::machine
