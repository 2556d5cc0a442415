// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/bench/mpi/ranks/work.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <bit>
#include <climits>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "common/arithmetic.h"

namespace huddle::bench::ranks {
namespace {

// Identifies rank 0's memory for the other ranks, which open it.
struct Place {
  int process;
  int descriptor;
};

// Throws on all ranks unless `fine` holds on all of them.
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
             "the ranks cannot share memory: huddle bench measures on one node only");
  close(descriptor);
  head_ = static_cast<Head*>(memory_);
  slots_ = reinterpret_cast<Slot*>(static_cast<std::byte*>(memory_) + sizeof(Head));
  meet(sides);
}

SharedState::~SharedState() { munmap(memory_, bytes_); }

// Publishes each rank's hardware threads, then creates the barrier accordingly.
void SharedState::meet(const Sides& sides) {
  new (&mine()) Slot();
  auto& set = mine().processors;
  if (sched_getaffinity(0, sizeof set, reinterpret_cast<cpu_set_t*>(set.data())) != 0) set[0] = 1;
  insist_all(sides, true, "");
  oversubscribed_ = is_crowded();
  if (rank_ == 0) new (head_) Head(ranks_, oversubscribed_);
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

namespace {

constexpr std::size_t page_bytes = 4096;

}  // namespace

std::byte* Buffer::at_least(std::size_t bytes, bool fresh) {
  if (bytes > bytes_ || fresh) {
    bytes_ = round_up(bytes, page_bytes);
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(page_bytes, bytes_)));
    if (memory_ == nullptr) throw std::bad_alloc();
    if (!fresh) std::memset(memory_.get(), 0, bytes_);
  }
  return memory_.get();
}

void Work::begin(const Order& order) {
  order_ = order;
  allocate_scratch();
  if (order.operation == Operation::barrier) return;
  const bench::TestData test_data = bench::test_data_of(order.operation);
  const auto ranks = static_cast<std::size_t>(shared_.ranks());
  const auto kinds_of_calls = static_cast<std::size_t>(kinds());
  const bool fresh = order.timing == Timing::cold;
  // A mock-up that splits a message into parts may need a few elements more.
  const std::size_t parts = ranks * bytes_of(Extent::part, order.bytes, shared_.ranks());
  const auto stride = [&](bool in_blocks) {
    return round_up(in_blocks ? order.bytes * ranks : std::max(order.bytes, parts), apart);
  };
  input_stride_ = stride(test_data.input_in_blocks);
  output_stride_ = stride(test_data.output_in_blocks);
  input_ = inputs_.at_least(kinds_of_calls * input_stride_, fresh);
  output_ = outputs_.at_least(kinds_of_calls * output_stride_, fresh);
  byte_counts_.assign(ranks, static_cast<int>(order.bytes));
  number_counts_.assign(ranks, static_cast<int>(order.bytes / sizeof(double)));
  byte_places_.clear();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    byte_places_.push_back(static_cast<int>(rank * order.bytes));
  }
}

void Work::allocate_scratch() {
  if (order_.mockup == Mockup::none) return;
  const std::size_t bytes = scratch_bytes(order_.mockup, order_.bytes, shared_.ranks());
  scratch_ = {scratch_inputs_.at_least(bytes, /*fresh=*/false),
              scratch_outputs_.at_least(bytes, /*fresh=*/false)};
}

void Work::use_new_communicator() { sides_.service.comm_dup(world_, &sides_.world); }

CallData Work::call_data(int call) const {
  const auto number = static_cast<std::size_t>(call);
  return {{shared_.rank(), shared_.ranks(), root(call), order_.bytes, stamp(call),
           input_ + number * input_stride_, output_ + number * output_stride_},
          byte_counts_,
          byte_places_,
          number_counts_};
}

void Work::prepare() {
  stamp_ += static_cast<std::uint32_t>(kinds());
  turn_ = order_.timing == Timing::osu ? 0 : (turn_ + kinds()) % shared_.ranks();
  if (order_.operation == Operation::barrier) return;
  const bench::TestData test_data = bench::test_data_of(order_.operation);
  for (int call = 0; call < kinds(); ++call) test_data.fill(call_data(call));
}

void Work::carry_out(Side side) {
  const Functions& mpi = sides_.side(side);
  if (order_.mockup != Mockup::none) {
    MockupFunction* const mockup_function = mockup_function_of(order_.mockup);
    for (int call = 0; call < order_.calls; ++call)
      mockup_function(mpi, sides_, call_data(call % kinds()), scratch_);
    return;
  }
  if (order_.operation == Operation::barrier) {
    for (int call = 0; call < order_.calls; ++call) mpi.barrier(sides_.world);
    return;
  }
  CallFunction* const call_function = call_function_of(order_.operation);
  for (int call = 0; call < order_.calls; ++call)
    call_function(mpi, sides_, call_data(call % kinds()));
}

bool Work::is_right() const {
  if (order_.operation == Operation::barrier) return true;
  const bench::TestData test_data = bench::test_data_of(order_.operation);
  bool right = true;
  for (int call = 0; call < kinds(); ++call) right = right && test_data.is_right(call_data(call));
  return right;
}

void Work::synchronize(Side side) {
  const Functions& mpi = sides_.side(side);
  if (order_.mockup == Mockup::none) {
    mpi.barrier(sides_.world);
  } else {
    mockup_function_of(order_.mockup)(mpi, sides_, call_data(0), scratch_);
  }
}

bool Work::is_right_barrier(Side side) {
  bool right = true;
  for (int call = 0; call < order_.calls; ++call) {
    shared_.mine().mark.store(stamp(call), std::memory_order_relaxed);
    synchronize(side);
    for (int rank = 0; rank < shared_.ranks(); ++rank) {
      const auto ahead = static_cast<std::int32_t>(
          shared_.slot(rank).mark.load(std::memory_order_relaxed) - stamp(call));
      right = right && ahead >= 0;
    }
  }
  return right;
}

}  // namespace huddle::bench::ranks
