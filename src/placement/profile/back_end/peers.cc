// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/profile/back_end/peers.h"

namespace huddle::profile {
namespace {

// Of more ranks, each pair of them would be a line in every rank's part.
constexpr int most_spread = 4096;

}  // namespace

Peers::Peers(const Mpi& mpi, const World& world, Book& book, Group group)
    : mpi_(mpi), world_(world), book_(book), group_(group), slots_(first_slots) {
  mpi_.group_rank(group_, &own_rank_);
  mpi_.group_size(group_, &size_);
}

int Peers::world_rank(int rank) const {
  int in_world = undefined;
  if (mpi_.group_translate_ranks(group_, 1, &rank, world_.group, &in_world) != success ||
      in_world == undefined) {
    return outside_world;
  }
  return in_world;
}

// Where flows meet in one place again and again there are more of them than places.
Flow& Peers::find(int rank, FlowKind kind, Way way) {
  const std::uint32_t key = key_of(rank, kind, way);
  const Slot& before = slots_[place_of(key)];
  const bool is_taken = before.epoch == book_.epoch() && before.key != key;
  if (is_taken && ++misses_ > slots_.size() &&
      slots_.size() < 8 * static_cast<std::size_t>(size())) {
    slots_.assign(slots_.size() * 2, Slot{});
    misses_ = 0;
  }
  const int other = world_rank(rank);
  Flow* const flow = way == Way::to_other ? book_.flow(world_.rank, other, kind)
                                          : book_.flow(other, world_.rank, kind);
  slots_[place_of(key)] = {key, book_.epoch(), flow};
  return *flow;
}

// The first ones get what is left over.
std::uint64_t Peers::part_of(int rank) const {
  const auto ranks = static_cast<std::uint64_t>(size_);
  return parted_.bytes / ranks + (static_cast<std::uint64_t>(rank) < parted_.bytes % ranks ? 1 : 0);
}

// In parts, each sends every other that one's part to be reduced, and its own when it is.
void Peers::spread() {
  if (each_.calls == 0 && parted_.calls == 0) return;
  if (size_ > most_spread) book_.leave_out(each_.calls + parted_.calls);
  for (int rank = 0; size_ <= most_spread && rank < size_; ++rank) {
    if (rank == own_rank_) continue;
    Flow& to = flow(rank, FlowKind::collective, Way::to_other);
    to.bytes += each_.bytes;
    to.messages += each_.calls + 2 * parted_.calls;
    if (parted_.calls > 0) to.bytes += part_of(rank) + part_of(own_rank_);
  }
  each_ = {};
  parted_ = {};
}

}  // namespace huddle::profile
