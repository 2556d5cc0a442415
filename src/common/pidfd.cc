// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/pidfd.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace huddle {

namespace {

int send_nothing(int pidfd) {
  constexpr int no_signal = 0;
  return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, no_signal, nullptr, 0));
}

bool is_pidfd(int descriptor) { return send_nothing(descriptor) == 0 || errno != EBADF; }

}  // namespace

// A program may have closed the descriptor, and may have a file of its own by that number.
bool is_dead(int pidfd) {
  if (pidfd < 0) return false;
  pollfd watched{pidfd, POLLIN, 0};
  int found = 0;
  do {
    found = poll(&watched, 1, 0);
  } while (found < 0 && errno == EINTR);
  return found == 1 && (watched.revents & POLLIN) != 0 && is_pidfd(pidfd);
}

// No signal is sent, but whoever it would go to is looked for. Where that is refused to all (a
// filter of system calls, another user by now), whoever is dead may have lost its number.
bool has_lost_number(int pidfd) {
  if (pidfd < 0 || send_nothing(pidfd) == 0) return false;
  return errno == ESRCH || is_dead(pidfd);
}

}  // namespace huddle
