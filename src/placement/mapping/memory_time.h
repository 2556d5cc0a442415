// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Predicts how long ranks or threads wait for memory in a placement. Those that stream share the
// paths from memory to their L3 cache and NUMA node, so the time depends on which others are there.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/machine/cost.h"
#include "placement/mapping/slots.h"

namespace huddle::mapping {

// The data that each element (a rank or a thread) moved while its communication was recorded.
struct MemoryTraffic {
  double seconds = 0;         // duration of the recording
  std::vector<double> bytes;  // by element: read and written
  // By element: size of the data that it accesses repeatedly; 0 if larger than all caches. An
  // empty list means 0 for all. Smaller data stay in a cache if the cache has room for them.
  std::vector<double> working_set_bytes = {};
};

// Specifies where the data of a moved element are. In a new run they follow it to its NUMA node. In
// a running program they stay in the node on which it ran before.
enum class Pages { follow, stay };

// Returns the levels for which the machine file has copy curves of several concurrent copiers.
std::set<std::string> contended_levels(const machine::Machine& machine);

// Predicted waiting times of the elements, from the copy curves of the machine file.
class MemoryTimes {
 public:
  // Estimates from the traffic how much of its time each element streamed in `observed`, the
  // placement in which the traffic was recorded. Keeps a reference to `tree`.
  // Requires: contended_levels() is not empty.
  MemoryTimes(const machine::CostModel& model, const SlotTree& tree, const MemoryTraffic& traffic,
              const std::vector<int>& observed, Pages pages = Pages::follow);

  MemoryTimes(MemoryTimes&&) = default;
  MemoryTimes(const MemoryTimes&) = delete;  // streams refer to the curves

  // Returns the sum of the waiting times of all elements in this placement.
  double ns(const std::vector<int>& mapping) const;
  // Returns the total rate at which the elements copy memory in this placement.
  double gb_per_s(const std::vector<int>& mapping) const;
  // Returns the fraction of time in which an element streams if it is delayed as it was observed.
  double activity(int element) const {
    return streams_[static_cast<std::size_t>(element)].activity;
  }
  bool streams(int element) const {
    return streams_[static_cast<std::size_t>(element)].copied_bytes > 0;
  }
  bool pages_stay() const { return pages_ == Pages::stay; }
  // Returns the innermost group of slots that share a path to memory, by slot. Groups of all levels
  // have different numbers.
  const std::vector<int>& innermost_groups() const { return group_of_slot_.front(); }

 private:
  friend class MemoryLoads;
  struct Stream {
    double copied_bytes = 0;
    double activity = 0;
    int home = 0;  // slot near its data; ignored if the data follow
    const std::vector<double>* ns_per_byte = nullptr;  // [level x (copiers + 1)]
  };
  double element_ns(const Stream& stream, int slot, const std::vector<double>& loads) const;
  std::vector<double> loads(const std::vector<int>& mapping) const;
  void find_groups(const machine::CostModel& model, const std::set<std::string>& levels);
  const std::vector<double>* curves_of(const machine::CostModel& model, double working_set_bytes);
  void find_distances(const machine::CostModel& model);
  void find_activities(double seconds, const std::vector<int>& observed);

  const SlotTree& tree_;
  Pages pages_;
  // The time to copy memory near another slot, divided by that near the own, by level of the tree.
  std::vector<double> farther_;
  std::vector<std::string> levels_;              // innermost first
  std::vector<std::vector<int>> group_of_slot_;  // [level][slot]
  std::vector<std::vector<int>> slots_of_group_;
  std::size_t most_copiers_ = 0;                  // of any level
  std::map<double, std::vector<double>> curves_;  // by size of the working set
  std::vector<Stream> streams_;                   // by element
};

// The loads of all groups in a placement that changes step by step.
class MemoryLoads {
 public:
  MemoryLoads(const MemoryTimes& times, const std::vector<int>& mapping)
      : times_(times), loads_(times.loads(mapping)) {}

  // Returns the time saved if `element` moves from slot `from` to `to`, and `other`, the element on
  // `to`, takes its place; `other` is negative if there is none. `occupant`: element by slot,
  // before the exchange. Subtracts the number of slots visited from `budget`.
  double gain(int element, int from, int to, int other, std::vector<int>& occupant,
              long long& budget);
  // Carries out the same exchange in the loads.
  void exchange(int element, int from, int to, int other);

 private:
  double ns_around(int from, int to, const std::vector<int>& occupant, long long& budget) const;

  const MemoryTimes& times_;
  std::vector<double> loads_;
};

}  // namespace huddle::mapping
