// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/context/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>

#include "runtime/context/fiber_notes.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::world {
namespace {

// The C++ runtime keeps the exceptions that are being handled per thread: two pointer-sized words.
// A fiber that is left inside a catch block takes its own along.
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
    // So that it leaves its stack for good: a sanitizer frees then what it keeps for it.
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
  // The lowest page is a guard: a stack that is too small ends in a fault, not in somebody's data.
  fresh.stack = memory::PageBuffer(stack_bytes_ + memory::page_bytes());
  mprotect(fresh.stack.data(), memory::page_bytes(), PROT_NONE);
  std::byte* usable = fresh.stack.data() + memory::page_bytes();
  getcontext(&fresh.machine);
  fresh.machine.uc_stack.ss_sp = usable;
  fresh.machine.uc_stack.ss_size = stack_bytes_;
  fresh.machine.uc_link = nullptr;
  fresh.notes.begin_fiber(usable, stack_bytes_);
  // makecontext hands on ints only.
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

}  // namespace huddle::world
