// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/context/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/memory/page_buffer.h"

// Sanitizers that must be informed about stack switches; see FiberNotes.
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

namespace huddle::context {

// The sanitizer's state for one stack. Without a sanitizer, all functions are empty.
class FiberNotes {
 public:
#if defined(HUDDLE_FIBERS_ASAN)
  void begin_thread() {}
  void begin_fiber(const std::byte* stack, std::size_t bytes) {
    bottom_ = stack;
    bytes_ = bytes;
  }
  void end_fiber() {}
  // Call just before the switch. for_good: no fiber switches to this stack again.
  void leave(FiberNotes& to, bool for_good) {
    __sanitizer_start_switch_fiber(for_good ? nullptr : &fake_stack_, to.bottom_, to.bytes_);
  }
  // Call just after the switch. Stores the bounds of the stack that was left.
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

namespace {

// The C++ runtime keeps the exceptions being handled per thread, in two pointer-sized words. A
// fiber that is suspended in a catch block keeps its own.
class Exceptions {
 public:
  void save() { std::memcpy(&words_, abi::__cxa_get_globals(), sizeof words_); }
  void restore() const {
    void* globals = abi::__cxa_get_globals();
    std::memcpy(globals, &words_, sizeof words_);
  }

 private:
  std::uintptr_t words_[2] = {};
};

}  // namespace

struct Fibers::Context {
  ucontext_t machine{};
  memory::PageBuffer stack;
  FiberNotes notes;
  Exceptions exceptions;
  bool prepared = false;
};

Fibers::Fibers(int count, std::size_t stack_bytes) : stack_bytes_(stack_bytes) {
  for (int i = 0; i <= count; ++i) contexts_.push_back(std::make_unique<Context>());
}

Fibers::~Fibers() {
  ending_ = true;
  for (int i = 0; i < count(); ++i) {
    if (!context(i).prepared) continue;
    // Lets the fiber leave its stack for good, so that a sanitizer frees its state.
    change(i, false);
    context(i).notes.end_fiber();
  }
}

void Fibers::run(int first, const Body& body) {
  body_ = &body;
  context(host).notes.begin_thread();
  switch_to(first);
  body_ = nullptr;
}

void Fibers::switch_to(int fiber) {
  if (fiber != current_) change(fiber, false);
}

void Fibers::change(int target, bool for_good) {
  Context& from = context(current_);
  Context& to = context(target);
  if (target != host && !to.prepared) prepare(to);
  previous_ = current_;
  current_ = target;
  from.exceptions.save();
  to.exceptions.restore();
  from.notes.leave(to.notes, for_good);
  swapcontext(&from.machine, &to.machine);
  from.notes.arrive(context(previous_).notes);
}

void Fibers::prepare(Context& fresh) {
  // The lowest page is a guard page: a stack overflow faults instead of overwriting other data.
  fresh.stack = memory::PageBuffer(stack_bytes_ + memory::page_bytes());
  mprotect(fresh.stack.data(), memory::page_bytes(), PROT_NONE);
  std::byte* usable = fresh.stack.data() + memory::page_bytes();
  getcontext(&fresh.machine);
  fresh.machine.uc_stack.ss_sp = usable;
  fresh.machine.uc_stack.ss_size = stack_bytes_;
  fresh.machine.uc_link = nullptr;
  fresh.notes.begin_fiber(usable, stack_bytes_);
  // makecontext passes only ints.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&fresh.machine, reinterpret_cast<void (*)()>(&Fibers::enter), 2,
              static_cast<unsigned>(self & 0xFFFFFFFFU),
              static_cast<unsigned>(static_cast<std::uint64_t>(self) >> 32U));
  fresh.prepared = true;
}

void Fibers::enter(unsigned low, unsigned high) {
  const auto self = static_cast<std::uintptr_t>((static_cast<std::uint64_t>(high) << 32U) | low);
  Fibers* fibers = nullptr;
  std::memcpy(&fibers, &self,
              sizeof fibers);  // NOLINT(bugprone-sizeof-expression): a pointer is meant
  fibers->loop();
}

void Fibers::loop() {
  context(current_).notes.arrive(context(previous_).notes);
  while (!ending_) change((*body_)(current_), false);
  change(host, true);
}

}  // namespace huddle::context
