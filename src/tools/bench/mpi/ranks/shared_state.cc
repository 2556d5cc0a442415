// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/ranks/shared_state.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <climits>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>

namespace huddle::bench::ranks {
namespace {

// Where rank 0's memory can be opened by the others.
struct Place {
  int process;
  int descriptor;
};

// All ranks have to say yes, or all of them end together.
void insist_all(const Sides& sides, bool fine, const char* sentence) {
  const int here = fine ? 0 : 1;
  int failed = 0;
  sides.service.allreduce(&here, &failed, 1, sides.integer, sides.sum, sides.world);
  if (failed != 0) throw std::runtime_error(sentence);
}

int create(std::size_t bytes) {
  const int descriptor = memfd_create("huddle-bench", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) return -1;
  return descriptor;
}

int open_at(const Place& place) {
  const std::string path =
      "/proc/" + std::to_string(place.process) + "/fd/" + std::to_string(place.descriptor);
  return open(path.c_str(), O_RDWR | O_CLOEXEC);
}

long futex(std::atomic<std::uint32_t>& word, int what, std::uint32_t value) {
  static_assert(sizeof word == sizeof value);
  return syscall(SYS_futex, &word, what, value, nullptr, nullptr, 0);
}

}  // namespace

SharedState::SharedState(const Sides& sides) {
  sides.service.comm_rank(sides.world, &rank_);
  sides.service.comm_size(sides.world, &ranks_);
  bytes_ = sizeof(Head) + static_cast<std::size_t>(ranks_) * sizeof(Slot);
  Place place{getpid(), rank_ == 0 ? create(bytes_) : -1};
  sides.service.bcast(&place, sizeof place, sides.byte, 0, sides.world);
  const int descriptor = rank_ == 0 ? place.descriptor : open_at(place);
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  insist_all(sides, descriptor >= 0 && memory_ != MAP_FAILED,
             "the ranks cannot share memory: huddle bench measures on one node");
  close(descriptor);
  head_ = static_cast<Head*>(memory_);
  slots_ = reinterpret_cast<Slot*>(static_cast<std::byte*>(memory_) + sizeof(Head));
  meet(sides);
}

SharedState::~SharedState() { munmap(memory_, bytes_); }

// Who is where, then the barrier for them.
void SharedState::meet(const Sides& sides) {
  new (&mine()) Slot();
  auto& set = mine().processors;
  if (sched_getaffinity(0, sizeof set, reinterpret_cast<cpu_set_t*>(set.data())) != 0) set[0] = 1;
  insist_all(sides, true, "");
  crowded_ = is_crowded();
  if (rank_ == 0) new (head_) Head(ranks_, crowded_);
  insist_all(sides, true, "");
}

bool SharedState::is_crowded() const {
  Processors all{};
  for (int rank = 0; rank < ranks_; ++rank) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] |= slot(rank).processors[i];
  }
  int count = 0;
  for (const unsigned long word : all) count += std::popcount(word);
  return ranks_ > count;
}

void SharedState::wake() {
  head_->orders.fetch_add(1, std::memory_order_release);
  futex(head_->orders, FUTEX_WAKE, INT_MAX);
}

void SharedState::give(const Order& order) {
  head_->order = order;
  wake();
  ++taken_;
}

void SharedState::end() {
  head_->ends = true;
  wake();
}

bool SharedState::take(Order& order) {
  while (head_->orders.load(std::memory_order_acquire) == taken_) {
    futex(head_->orders, FUTEX_WAIT, taken_);
  }
  ++taken_;
  order = head_->order;
  return !head_->ends;
}

}  // namespace huddle::bench::ranks
