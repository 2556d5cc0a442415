// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/fork_line.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace huddle::memory {

bool ForkLine::open() noexcept {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
  parents_ = FileDescriptor(ends[0]);
  childs_ = FileDescriptor(ends[1]);
  return true;
}

void ForkLine::wait_in_parent() noexcept {
  if (!parents_.is_open()) return;
  childs_ = FileDescriptor();
  char word = 0;
  while (read(parents_.number(), &word, 1) < 0 && errno == EINTR) {
  }
  parents_ = FileDescriptor();
}

void ForkLine::tell_in_child() noexcept {
  if (!childs_.is_open()) return;
  parents_ = FileDescriptor();
  const char word = 0;
  send(childs_.number(), &word, 1, MSG_NOSIGNAL);  // the parent may be gone
  childs_ = FileDescriptor();
}

}  // namespace huddle::memory
