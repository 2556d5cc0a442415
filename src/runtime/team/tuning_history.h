// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Results of trials that outlive their team. A later team of ranks on the same CPUs continues with
// them instead of trying every implementation again, and so does a later run of the program if the
// caller stores them.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/team/tuner.h"

namespace huddle::team {

// Thread-safe.
class TuningHistory {
 public:
  struct Key {
    std::vector<int> cpus;  // by rank
    TunedClass tuned_class;
    auto operator<=>(const Key&) const = default;
  };
  using Records = std::map<Key, TuningRecord>;

  TuningHistory() = default;
  explicit TuningHistory(const Records& records);

  // Returns nothing if there is no record, or no memory to search for one.
  std::optional<TuningRecord> find(std::span<const int> cpus, const TunedClass& of) const noexcept;
  // Returns a plan that may be fast, because a trial has kept it for calls of the same operation
  // and the most similar size. If there is no record of one, returns those features of another
  // operation's plan that do not depend on the operation. Returns nothing if there is none, or no
  // memory to search.
  std::optional<select::PlanFeatures> suggestion(std::span<const int> cpus,
                                                 const TunedClass& of) const noexcept;
  // Adds or replaces a record, unless it is not settled and the present one is. Does nothing if
  // memory is exhausted.
  void note(std::span<const int> cpus, const TunedClass& of, const TuningRecord& record) noexcept;
  // Notes how many calls remain until the next trial of a class that has a record. If several teams
  // note different numbers, the lowest one holds. If the latest trial was interrupted, the number
  // replaces the present one, which has elapsed. A number that is not settled does not replace one
  // that is.
  void note_calls(std::span<const int> cpus, const TunedClass& of,
                  const Tuner::ClassProgress& progress) noexcept;
  // Returns the records that differ from those at the start.
  Records changed() const;

 private:
  struct Entry {
    TuningRecord record;
    bool is_changed = false;
  };

  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;  // guarded by mutex_
};

}  // namespace huddle::team
