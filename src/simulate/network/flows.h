// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Data that flow through links at the same time, and how they share them: max-min. Nobody's rate
// can grow without taking from someone who has no more, as many transports do over time. A rate is
// bytes a nanosecond (GB/s).
#pragma once

#include <span>
#include <vector>

namespace huddle::sim {

// Messages that begin at the same time, each with the links that it passes.
class Flows {
 public:
  // A flow never gets more than `most_gb_per_s`, whoever else is there. pre: bytes > 0, and the
  // limit is positive; numbers of links are not negative.
  void add(double bytes, double most_gb_per_s, std::span<const int> links);
  void clear();

  std::size_t count() const { return bytes_.size(); }
  double bytes(std::size_t flow) const { return bytes_[flow]; }
  double most_gb_per_s(std::size_t flow) const { return most_[flow]; }
  std::span<const int> links(std::size_t flow) const {
    return std::span(links_).subspan(first_[flow], first_[flow + 1] - first_[flow]);
  }

 private:
  std::vector<double> bytes_;
  std::vector<double> most_;
  std::vector<std::size_t> first_ = {0};  // where a flow's links begin; one more at the end
  std::vector<int> links_;
};

// What holds a flow back: a link, or its own limit.
inline constexpr int own_limit = -1;

struct Share {
  double gb_per_s = 0;
  int held_by = own_limit;
};

// The shares of those flows whose numbers are given, as if there were no others.
// capacity[link]: GB/s.
std::vector<Share> max_min(const Flows& flows, std::span<const std::size_t> which,
                           std::span<const double> capacity);

// When each flow is through, if all begin at 0: as some end, the others take what they leave.
std::vector<double> through_ns(const Flows& flows, std::span<const double> capacity);

}  // namespace huddle::sim
