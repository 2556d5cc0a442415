// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/guardian.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "common/error.h"
#include "common/pidfd.h"
#include "common/without_signals.h"
#include "placement/threads/detach.h"

namespace huddle::threads {
namespace {

FileDescriptor open_process(pid_t process) {
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

// What was removed by then was given back by the agent.
void give_back_all(const StateFolder& folder, const StateFile& file) {
  SystemMasks masks;
  const KeptState kept = read_kept_state(text_in(file.descriptor()));
  give_back(kept, masks);
  const StateFolder::Lock lock = folder.lock();
  if (file.is_there()) folder.give_back_values(kept);
  file.remove();
}

// pre: no signal is delivered.
[[noreturn]] void guard(const StateFolder& folder, const StateFile& file, int agent) {
  detach("huddle-guardian", {file.descriptor(), agent});
  pollfd wait{agent, POLLIN, 0};
  while (::poll(&wait, 1, -1) < 0 && errno == EINTR) {
  }
  try {
    give_back_all(folder, file);
  } catch (const std::exception&) {
    ::_exit(1);  // whoever comes next repairs it
  }
  ::_exit(0);
}

}  // namespace

Guardian::Guardian(const StateFolder& folder, const StateFile& file) {
  const FileDescriptor agent = open_process(::getpid());
  if (!agent.is_open()) {
    throw FailureError(fmt::format("nobody can wait for this process's end ({}): nothing is bound",
                                   std::strerror(errno)));
  }
  // What is sent to all of the process group is not for the guardian, which has not left it yet.
  const WithoutSignals meanwhile;
  const pid_t child = ::fork();
  if (child < 0) {
    throw FailureError(fmt::format("no further process: {}", std::strerror(errno)));
  }
  if (child == 0) guard(folder, file, agent.number());
  identity_ = {child, SystemMasks().born(child)};
  hold_ = open_process(child);
}

Guardian::~Guardian() {
  ::kill(identity_.number, SIGKILL);
  ::waitpid(identity_.number, nullptr, 0);
}

bool Guardian::is_alive() const { return !is_dead(hold_.number()); }

}  // namespace huddle::threads
