// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/communicator.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "runtime/memory/cpu.h"

namespace huddle::mpi {
namespace {

std::size_t hash_of_comm(Comm comm) {
  std::uintptr_t bits = 0;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the handle is a pointer in some ABIs
  std::memcpy(&bits, &comm, sizeof comm);
  return bits ^ (bits >> 6) ^ (bits >> 12);
}

}  // namespace

Communicators::Communicators(const UnderlyingMpi& real, Find in_mpi, FallbackReason young,
                             AtEnd at_end)
    : real_(real),
      copy_to_no_duplicate_(handle<CopyFunction>(null_copy_function, in_mpi)),
      young_(young),
      at_end_(std::move(at_end)) {}

Communicator* Communicators::find(Comm comm) {
  std::atomic<Communicator*>& cached = cache_[hash_of_comm(comm) % cache_.size()];
  Communicator* communicator = cached.load(std::memory_order_acquire);
  if (communicator != nullptr && communicator->handle.load(std::memory_order_relaxed) == comm) {
    return communicator;
  }
  communicator = look_up(comm);
  if (communicator != nullptr) cached.store(communicator, std::memory_order_release);
  return communicator;
}

Communicator* Communicators::look_up(Comm comm) {
  {
    const std::lock_guard lock(mutex_);
    if (keyval_ == keyval_invalid &&
        real_.comm_create_keyval(copy_to_no_duplicate_, forget, &keyval_, this) != success) {
      return nullptr;
    }
  }
  void* value = nullptr;
  constexpr int not_written = -1;
  int found = not_written;
  const int status = real_.comm_get_attr(comm, keyval_, static_cast<void*>(&value), &found);
  // MPICH 5 returns success after an error if the program has set an error handler.
  if (status != success || found == not_written) throw InvalidCommunicator(status);
  if (found != 0) return static_cast<Communicator*>(value);
  Communicator* const freed = being_freed(comm);
  return freed != nullptr ? freed : make(comm);
}

Communicator* Communicators::make(Comm comm) {
  Communicator& communicator = take_free();
  int intercommunicator = 0;
  if (real_.comm_test_inter(comm, &intercommunicator) != success ||
      real_.comm_rank(comm, &communicator.rank) != success ||
      real_.comm_size(comm, &communicator.ranks) != success ||
      real_.comm_set_attr(comm, keyval_, &communicator) != success) {
    retire(communicator);
    recycle(communicator);
    return nullptr;
  }
  if (intercommunicator != 0) {
    communicator.fallback = FallbackReason::intercommunicator;
  } else if (communicator.ranks == 1) {
    communicator.fallback = FallbackReason::one_rank;
  } else {
    communicator.fallback = young_;
  }
  communicator.handle.store(comm, std::memory_order_relaxed);
  return &communicator;
}

void Communicators::begin() {
  const std::lock_guard lock(mutex_);
  add_spare();
}

// Allocates an entry if none is free. Does nothing if there is no memory; the next call tries
// again.
// Requires: the mutex is held.
void Communicators::add_spare() {
  if (!free_.empty()) return;
  try {
    // Reserves memory here so that freeing a communicator never needs any.
    free_.reserve(all_.size() + 1);
    freeing_.reserve(all_.size() + 1);
    free_.push_back(&all_.emplace_back());
  } catch (const std::bad_alloc&) {
    return;
  }
}

Communicator& Communicators::take_free() {
  const std::lock_guard lock(mutex_);
  add_spare();
  if (free_.empty()) throw std::bad_alloc();
  Communicator& communicator = *free_.back();
  free_.pop_back();
  add_spare();
  return communicator;
}

Communicators::Freeing::Freeing(Communicators& communicators, Comm comm)
    : communicators_(communicators) {
  try {
    communicator_ = communicators.find(comm);
  } catch (const std::bad_alloc&) {
    return;
  }
  if (communicator_ != nullptr) communicators_.begin_freeing(comm, *communicator_);
}

Communicators::Freeing::~Freeing() {
  if (communicator_ != nullptr) communicators_.end_freeing(*communicator_);
}

// If the MPI fails to free the communicator, its calls continue to fall back to the MPI, because
// the other ranks may have freed theirs.
void Communicators::begin_freeing(Comm comm, Communicator& communicator) {
  retire(communicator);
  communicator.fallback = FallbackReason::being_freed;
  const std::lock_guard lock(mutex_);
  freeing_.push_back({comm, std::this_thread::get_id(), &communicator, true});
}

void Communicators::end_freeing(Communicator& communicator) {
  bool is_deleted = false;
  {
    const std::lock_guard lock(mutex_);
    const auto freed = std::find_if(freeing_.begin(), freeing_.end(), [&](const Freed& one) {
      return one.communicator == &communicator;
    });
    is_deleted = !freed->has_attribute;
    freeing_.erase(freed);
  }
  if (is_deleted) recycle(communicator);
}

Communicator* Communicators::being_freed(Comm comm) const {
  const std::lock_guard lock(mutex_);
  const auto freed = std::find_if(freeing_.begin(), freeing_.end(), [&](const Freed& one) {
    return one.comm == comm && one.by == std::this_thread::get_id();
  });
  return freed == freeing_.end() ? nullptr : freed->communicator;
}

bool Communicators::may_recycle(Communicator& communicator) {
  const std::lock_guard lock(mutex_);
  const auto freed = std::find_if(freeing_.begin(), freeing_.end(), [&](const Freed& one) {
    return one.communicator == &communicator;
  });
  if (freed == freeing_.end()) return true;
  freed->has_attribute = false;
  return false;
}

// Resets everything that a later communicator with this entry must not inherit.
void Communicators::retire(Communicator& communicator) {
  at_end_(communicator);
  communicator.team.reset();
  communicator.internode.reset();
  communicator.entry = {};
  communicator.calls = 0;
  communicator.next_vote = 0;
  communicator.data = {};
  communicator.mpi_ns = 0;
  communicator.why = {};
  communicator.latest = {};
  communicator.repeated.reset();
  communicator.log.reset();
}

void Communicators::recycle(Communicator& communicator) {
  const std::lock_guard lock(mutex_);
  ended_ += communicator.shares;
  communicator.shares = {};
  free_.push_back(&communicator);
}

Shares Communicators::shares() const {
  const std::lock_guard lock(mutex_);
  Shares sum = ended_;
  for (const Communicator& communicator : all_) sum += communicator.shares;
  return sum;
}

void Communicators::note_tuning() const {
  const std::lock_guard lock(mutex_);
  for (const Communicator& communicator : all_) {
    if (communicator.team) communicator.team->note_tuning();
  }
}

void Communicators::outlast_lookers() const {
  const std::lock_guard lock(mutex_);
  for (const Communicator& communicator : all_) {
    while (communicator.looks.load(std::memory_order_acquire)) memory::spin_pause();
  }
}

int Communicators::forget(Comm /*comm*/, int /*keyval*/, void* value, void* extra) {
  auto& communicators = *static_cast<Communicators*>(extra);
  auto& communicator = *static_cast<Communicator*>(value);
  communicator.handle.store(Comm{}, std::memory_order_relaxed);
  if (communicators.may_recycle(communicator)) {
    communicators.retire(communicator);
    communicators.recycle(communicator);
  }
  return success;
}

void WorldRanks::session_opened(Session session) {
  const std::lock_guard lock(mutex_);
  sessions_.push_back(session);
}

std::size_t WorldRanks::closed(Session session) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(sessions_.begin(), sessions_.end(), session);
  if (found != sessions_.end()) sessions_.erase(found);
  return sessions_.size();
}

bool WorldRanks::take_everybody(Group& everybody) {
  int initialized = 0;
  real_.initialized(&initialized);
  if (initialized != 0) return real_.comm_group(world_, &everybody) == success;
  const std::lock_guard lock(mutex_);
  return sessions_.size() == 1 &&
         real_.group_from_session_pset(sessions_.front(), "mpi://WORLD", &everybody) == success;
}

WorldRanks::Ranks WorldRanks::ranks_of(const Communicator& communicator) {
  Group everybody{};
  if (!take_everybody(everybody)) return {.fallback = FallbackReason::several_sessions};
  Group group{};
  real_.comm_group(communicator.handle.load(), &group);
  std::vector<int> ranks(static_cast<std::size_t>(communicator.ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> in_job(ranks.size(), undefined);
  real_.group_translate_ranks(group, communicator.ranks, ranks.data(), everybody, in_job.data());
  real_.group_free(&group);
  real_.group_free(&everybody);
  // Spawned processes are in another job than their parents.
  const bool are_of_it = std::find(in_job.begin(), in_job.end(), undefined) == in_job.end();
  return {std::move(in_job), are_of_it ? FallbackReason::none : FallbackReason::spawned_processes};
}

}  // namespace huddle::mpi
