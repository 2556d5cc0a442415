// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/detach.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace huddle::threads {
namespace {

// Both included. By number, for C libraries that have no function for it; Linux has one from 5.9
// on.
void close_from_to(unsigned first, unsigned last) {
  constexpr unsigned no_flags = 0;
  if (first > last || ::syscall(SYS_close_range, first, last, no_flags) == 0) return;
  const long most = ::sysconf(_SC_OPEN_MAX) - 1;
  for (long one = first; one <= std::min<long>(last, most); ++one) ::close(static_cast<int>(one));
}

}  // namespace

void detach(const std::string& name, std::vector<int> kept) {
  ::setsid();
  ::prctl(PR_SET_NAME, name.c_str());
  (void)!::chdir("/");  // keeps no file system from being unmounted
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  std::sort(kept.begin(), kept.end());
  unsigned next = STDERR_FILENO + 1;
  for (const int one : kept) {
    if (one <= STDERR_FILENO) continue;
    close_from_to(next, static_cast<unsigned>(one) - 1);
    next = static_cast<unsigned>(one) + 1;
  }
  close_from_to(next, ~0U);
}

}  // namespace huddle::threads
