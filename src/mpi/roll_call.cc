// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/roll_call.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>

#include "team/stream.h"

namespace huddle::mpi {

RollCall::RollCall(std::optional<JobRank> place, const std::string& kind)
    : place_(std::move(place)) {
  if (!place_) return;
  prefix_ = fmt::format("huddle-{}-{:016x}-", geteuid(),
                        std::hash<std::string>()(place_->job + ' ' + kind));
}

std::string RollCall::name_of(int rank) const { return prefix_ + std::to_string(rank); }

void RollCall::sign_in() {
  const std::lock_guard lock(mutex_);
  if (!place_ || own_.is_open()) return;
  FileDescriptor probe(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  FileDescriptor own(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  // Whoever cannot look for others does not let itself be found either.
  if (!probe.is_open() || !own.is_open()) return;
  team::AbstractAddress address(name_of(place_->rank));
  // A name that somebody has already is there for the others: all that counts is that everybody
  // sees the same.
  (void)bind(own.number(), address.generic(), address.length);
  probe_ = std::move(probe);
  own_ = std::move(own);
}

void RollCall::confirm(int rank) {
  const std::lock_guard lock(mutex_);
  if (!place_ || rank == place_->rank) return;
  own_ = FileDescriptor();
  probe_ = FileDescriptor();
}

bool RollCall::is_here(int rank) {
  if (!place_) return true;
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<std::size_t>(rank);
  if (index >= seen_.size()) seen_.resize(index + 1);
  if (!seen_[index]) {
    team::AbstractAddress address(name_of(rank));
    seen_[index] =
        probe_.is_open() && connect(probe_.number(), address.generic(), address.length) == 0;
  }
  return seen_[index];
}

}  // namespace huddle::mpi
