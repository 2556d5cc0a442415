// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Whom a rank reaches through one communicator or window: by their ranks there, the flows on which
// to count. Holds those only that were written to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "placement/profile/back_end/book.h"
#include "placement/profile/back_end/mpi.h"

namespace huddle::profile {

// Who is who in the world.
struct World {
  Group group;
  int rank = 0;
  int ranks = 0;
};

// Which way bytes go between this rank and the other.
enum class Way { to_other, from_other };

class Peers {
 public:
  // `group` numbers the others as the program does; it is freed with this object.
  Peers(const Mpi& mpi, const World& world, Book& book, Group group);
  ~Peers() { mpi_.group_free(&group_); }
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  // pre: `rank` is one of the group
  Flow& flow(int rank, FlowKind kind, Way way) {
    const std::uint32_t key = key_of(rank, kind, way);
    const Slot& slot = slots_[place_of(key)];
    return slot.key == key && slot.epoch == book_.epoch() ? *slot.flow : find(rank, kind, way);
  }

  int size() const { return size_; }
  // `undefined` where the group is that of the others only.
  int own_rank() const { return own_rank_; }
  bool is_remote() const { return own_rank_ == undefined; }
  // In the world; outside_world for others.
  int world_rank(int rank) const;

  // Collectives, which are added up here until they are spread over the flows.
  void to_each(std::uint64_t bytes) { add(each_, bytes); }
  void in_parts(std::uint64_t bytes) { add(parted_, bytes); }
  void spread();

 private:
  static constexpr std::size_t first_slots = 16;  // a power of two, as every later number

  struct Slot {
    std::uint32_t key = 0;
    std::uint32_t epoch = 0;  // of no book
    Flow* flow = nullptr;
  };

  struct Sum {
    std::uint64_t bytes = 0;
    std::uint64_t calls = 0;
  };
  static void add(Sum& sum, std::uint64_t bytes) {
    sum.bytes += bytes;
    ++sum.calls;
  }
  std::uint64_t part_of(int rank) const;

  static std::uint32_t key_of(int rank, FlowKind kind, Way way) {
    return static_cast<std::uint32_t>(rank) << 3U | static_cast<std::uint32_t>(kind) << 1U |
           static_cast<std::uint32_t>(way);
  }
  std::size_t place_of(std::uint32_t key) const {
    return (key * 0x9e3779b1U >> 7U) & (slots_.size() - 1);
  }
  Flow& find(int rank, FlowKind kind, Way way);

  const Mpi& mpi_;
  const World& world_;
  Book& book_;
  Group group_;
  int own_rank_ = undefined;
  int size_ = 0;
  Sum each_;                 // what every other gets
  Sum parted_;               // what is reduced in parts, which then go to every other
  std::vector<Slot> slots_;  // a cache: two that want the same place take it in turns
  std::size_t misses_ = 0;
};

}  // namespace huddle::profile
