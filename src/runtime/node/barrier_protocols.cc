// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/node/barrier_protocols.h"

#include <algorithm>

namespace huddle::node {

DisseminationBarrier::DisseminationBarrier(const Parameters& parameters, int rank, int ranks,
                                           context::Sequence start)
    : call_(start) {
  const int per_line = parameters.flags_per_line;
  const std::size_t stride =
      round_up(static_cast<std::size_t>(per_line) * flag_bytes, false_sharing_bytes);
  // A rank's flag lies in the memory of the first rank whose flag shares its cache line.
  const auto place = [&](std::size_t round, int announcer) {
    const int owner = announcer / per_line * per_line;
    return FlagAddress{owner,
                       round * stride + static_cast<std::size_t>(announcer - owner) * flag_bytes};
  };
  for (int distance = 1; distance < ranks; distance *= parameters.radix) {
    Round round{place(rounds_.size(), rank), {}};
    for (int step = 1; step < parameters.radix && step * distance < ranks; ++step) {
      round.hear.push_back(place(rounds_.size(), (rank + ranks - step * distance) % ranks));
    }
    rounds_.push_back(std::move(round));
  }
  if (rank % per_line == 0) shared_bytes_ = rounds_.size() * stride;
}

namespace {

// Addresses of the flags that a parent shares with its children.
class Flags {
 public:
  Flags(int children, const TreeBarrier::Parameters& parameters)
      : per_line_(parameters.flags_per_line), release_(parameters.release) {
    const std::size_t queue = queue_bytes(children);
    reports_ = layout_.reserve(queue);
    switch (release_) {
      case Release::same_line:
        break;
      case Release::own_queue:
        releases_ = layout_.reserve(queue);
        break;
      case Release::announced:
        releases_ = layout_.reserve(children == 0 ? 0 : false_sharing_bytes);
        break;
    }
  }

  Address report(int parent, int child) const {
    return {Region::shared, parent, reports_ + slot(child)};
  }
  Address release(int parent, int child) const {
    switch (release_) {
      case Release::same_line:
        return report(parent, child) + flag_bytes;
      case Release::own_queue:
        return {Region::shared, parent, releases_ + slot(child)};
      case Release::announced:
        return {Region::shared, parent, releases_};
    }
    return {};
  }
  std::size_t size() const { return round_up(layout_.size(), false_sharing_bytes); }

 private:
  std::size_t slot_bytes() const {
    return release_ == Release::same_line ? 2 * flag_bytes : flag_bytes;
  }
  // Returns the distance between groups of flags. A group is meant to share a cache line, but
  // occupies several if its flags do not fit into one.
  std::size_t line_stride() const {
    return round_up(static_cast<std::size_t>(per_line_) * slot_bytes(), false_sharing_bytes);
  }
  std::size_t queue_bytes(int children) const {
    return static_cast<std::size_t>((children + per_line_ - 1) / per_line_) * line_stride();
  }
  std::size_t slot(int child) const {
    return static_cast<std::size_t>(child / per_line_) * line_stride() +
           static_cast<std::size_t>(child % per_line_) * slot_bytes();
  }

  int per_line_;
  Release release_;
  SharedLayout layout_;
  std::size_t reports_ = 0;
  std::size_t releases_ = 0;
};

int number_among(std::span<const int> siblings, int rank) {
  return static_cast<int>(std::find(siblings.begin(), siblings.end(), rank) - siblings.begin());
}

}  // namespace

TreeBarrier::TreeBarrier(const Tree& tree, const Parameters& parameters, int rank,
                         context::Sequence start)
    : has_parent_(tree.root() != rank), round_(start) {
  const int children = static_cast<int>(tree.children(rank).size());
  const Flags mine(children, parameters);
  shared_bytes_ = mine.size();
  for (int child = 0; child < children; ++child) {
    reports_of_children_.push_back(mine.report(rank, child));
    const Address release = mine.release(rank, child);
    if (releases_.empty() || releases_.back() != release) releases_.push_back(release);
  }
  if (!has_parent_) return;
  const int parent = tree.parent(rank);
  const auto siblings = tree.children(parent);
  const Flags parents(static_cast<int>(siblings.size()), parameters);
  report_ = parents.report(parent, number_among(siblings, rank));
  release_ = parents.release(parent, number_among(siblings, rank));
}

}  // namespace huddle::node
