// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Functions of the C library that the heap intercepts so that children of fork() find their memory.
#include <pthread.h>

#include <cstddef>

#include "runtime/heap/preload/process_malloc.h"

namespace huddle::heap {

void ProcessMalloc::register_fork_handlers() noexcept {
  if (has_fork_handlers_.exchange(true)) return;
  pthread_atfork([] { process_malloc.before_fork(); },
                 [] { process_malloc.after_fork_in_parent(); },
                 [] { process_malloc.after_fork_in_child(); });
}

void ProcessMalloc::note_stack(const void* stack) noexcept {
  Large* const large = large_.load(std::memory_order_acquire);
  if (large != nullptr && large->heap.holds(stack)) large->heap.note_stack(stack);
}

}  // namespace huddle::heap

using huddle::heap::ForkHandler;
using huddle::heap::process_malloc;

extern "C" {

// glibc's pthread_atfork() calls this function. Registers the handlers of the heap before those of
// any other library, whose constructors may run earlier. After a fork, handlers run in the order of
// registration, so the child has its blocks before handlers of other libraries use them, and while
// these libraries still hold the locks that protect their data.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the name is glibc's
int __register_atfork(ForkHandler* prepare, ForkHandler* parent, ForkHandler* child,
                      void* library) noexcept {
  process_malloc.register_fork_handlers();
  return process_malloc.next().register_atfork(prepare, parent, child, library);
}

int pthread_attr_setstack(pthread_attr_t* attributes, void* stack, std::size_t bytes) noexcept {
  const int error = process_malloc.next().pthread_attr_setstack(attributes, stack, bytes);
  if (error == 0) process_malloc.note_stack(stack);
  return error;
}
}
