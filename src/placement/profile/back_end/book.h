// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The flows of this rank: one for each pair, kind and phase that has been seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include "placement/profile/part.h"

namespace huddle::profile {

class Book {
 public:
  explicit Book(OwnPart& part) : part_(part) {}

  // The one to count on now; it stays where it is. Which one that is changes with the phase.
  Flow* flow(std::int32_t from, std::int32_t to, FlowKind kind);

  void leave_out(std::uint64_t collectives) { part_.leave_out(collectives); }

  // Tells whether flow() may give another answer than before.
  std::uint32_t epoch() const { return epoch_; }

  // 0: nothing is counted. Every other number is a phase.
  void set_phase(std::int32_t phase) {
    phase_ = phase;
    ++epoch_;
  }

 private:
  struct Key {
    std::int32_t from, to, phase;
    FlowKind kind;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::size_t hash = 0;
      for (const auto part : {key.from, key.to, key.phase, static_cast<std::int32_t>(key.kind)}) {
        hash = hash * 0x9e3779b97f4a7c15U + static_cast<std::uint32_t>(part);
      }
      return hash;
    }
  };

  OwnPart& part_;
  std::unordered_map<Key, Flow*, Hash> flows_;
  std::int32_t phase_ = first_phase;
  std::uint32_t epoch_ = 1;
  Flow nobody_;  // what is not counted goes here
};

}  // namespace huddle::profile
