// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the sanitizers want to be told when a thread leaves one stack for another. Without a
// sanitizer every function here is empty.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define HUDDLE_FIBERS_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define HUDDLE_FIBERS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HUDDLE_FIBERS_ASAN 1
#elif __has_feature(thread_sanitizer)
#define HUDDLE_FIBERS_TSAN 1
#endif
#endif

#if defined(HUDDLE_FIBERS_ASAN)
#include <sanitizer/common_interface_defs.h>
#elif defined(HUDDLE_FIBERS_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace huddle::world {

// One stack as the sanitizers know it.
class FiberNotes {
 public:
#if defined(HUDDLE_FIBERS_ASAN)
  void begin_thread() {}
  void begin_fiber(const std::byte* stack, std::size_t bytes) {
    bottom_ = stack;
    bytes_ = bytes;
  }
  void end_fiber() {}
  // Just before the switch. For good: nobody comes back to this stack.
  void leave(FiberNotes& to, bool for_good) {
    __sanitizer_start_switch_fiber(for_good ? nullptr : &fake_stack_, to.bottom_, to.bytes_);
  }
  // Just after the switch. Where the thread's own stack lies is learnt by leaving it.
  void arrive(FiberNotes& from) {
    __sanitizer_finish_switch_fiber(fake_stack_, &from.bottom_, &from.bytes_);
  }

 private:
  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
#elif defined(HUDDLE_FIBERS_TSAN)
  void begin_thread() { fiber_ = __tsan_get_current_fiber(); }
  void begin_fiber(const std::byte*, std::size_t) { fiber_ = __tsan_create_fiber(0); }
  void end_fiber() { __tsan_destroy_fiber(fiber_); }
  void leave(FiberNotes& to, bool) { __tsan_switch_to_fiber(to.fiber_, 0); }
  void arrive(FiberNotes&) {}

 private:
  void* fiber_ = nullptr;
#else
  void begin_thread() {}
  void begin_fiber(const std::byte*, std::size_t) {}
  void end_fiber() {}
  void leave(FiberNotes&, bool) {}
  void arrive(FiberNotes&) {}
#endif
};

}  // namespace huddle::world
