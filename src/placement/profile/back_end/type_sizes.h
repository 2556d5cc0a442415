// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How many bytes an element of a datatype is. MPI's own types live as long as it does, so that
// those in use are kept; a program's types come and go, and the MPI is asked each time.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <unordered_set>

#include "placement/profile/back_end/mpi.h"

namespace huddle::profile {

class TypeSizes {
 public:
  TypeSizes(const Mpi& mpi, Find find) : mpi_(mpi) {
    for (const Predefined& type : datatypes) {
      predefined_.insert(number_of(handle<Datatype>(type, find)));
    }
  }

  // pre: the MPI has just accepted a call with it
  std::uint64_t bytes_of(Datatype type) {
    const std::uintptr_t number = number_of(type);
    Entry& entry = entries_[(number ^ (number >> 8U)) % entries_.size()];
    return entry.number == number && number != 0 ? entry.bytes : ask(type, entry);
  }

 private:
  struct Entry {
    std::uintptr_t number = 0;
    std::uint64_t bytes = 0;
  };

  // Handles are pointers or ints.
  static std::uintptr_t number_of(Datatype type) {
    std::uintptr_t number = 0;
    std::memcpy(&number, &type, sizeof(Datatype));
    return number;
  }
  std::uint64_t ask(Datatype type, Entry& entry) {
    Count bytes = 0;
    if (mpi_.type_size_x(type, &bytes) != success || bytes < 0) return 0;
    if (predefined_.contains(number_of(type))) {
      entry = {number_of(type), static_cast<std::uint64_t>(bytes)};
    }
    return static_cast<std::uint64_t>(bytes);
  }

  const Mpi& mpi_;
  std::unordered_set<std::uintptr_t> predefined_;
  std::array<Entry, 64> entries_{};
};

}  // namespace huddle::profile
