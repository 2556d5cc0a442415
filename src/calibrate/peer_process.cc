// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "calibrate/peer_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/error.h"
#include "base/pidfd.h"

namespace huddle::calibrate {
namespace {

// What happens in the child. Other threads may hold any lock at the moment of the fork, so only
// calls that need none are made here.
[[noreturn]] void hold_memory(pid_t parent, const memory::PageBuffer& buffer, int ready_pipe,
                              PeerProcess::Idle idle) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  // Ctrl-C is for the parent, which takes the child along.
  std::signal(SIGINT, SIG_IGN);
  std::memset(buffer.data(), static_cast<int>(PeerProcess::fill), buffer.size());
  const char ready = 1;
  if (write(ready_pipe, &ready, 1) != 1) _exit(1);
  while (true) idle == PeerProcess::Idle::yields ? sched_yield() : pause();
}

ssize_t try_read(const PeerProcess& peer, std::byte* target, std::size_t bytes,
                 std::size_t offset) {
  const iovec local{target, bytes};
  const iovec remote{const_cast<std::byte*>(peer.remote_data()) + offset, bytes};
  return process_vm_readv(peer.pid(), &local, 1, &remote, 1, 0);
}

}  // namespace

PeerProcess::PeerProcess(Crew& crew, int pu, std::size_t bytes, Idle idle) : buffer_(bytes) {
  // A child runs, and so places its memory, where the thread runs that makes it.
  crew.run(std::array{pu}, [this, idle](std::size_t) { start(idle); });
}

void PeerProcess::start(Idle idle) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    throw FailureError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) hold_memory(parent, buffer_, pipe_ends[1], idle);
  const std::string why = child < 0 ? std::strerror(errno) : "it died at once";
  close(pipe_ends[1]);
  char ready = 0;
  const bool is_ready = child > 0 && read(pipe_ends[0], &ready, 1) == 1;
  close(pipe_ends[0]);
  if (is_ready) {
    pid_ = child;
    watch_ = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
    return;
  }
  if (child > 0) waitpid(child, nullptr, 0);
  throw FailureError(fmt::format("cannot start a process to read from: {}", why));
}

PeerProcess::~PeerProcess() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void read_from_peer(const PeerProcess& peer, std::byte* target, std::size_t bytes,
                    std::size_t offset) {
  const ssize_t came = try_read(peer, target, bytes, offset);
  if (came == static_cast<ssize_t>(bytes) && !has_lost_number(peer.watch())) return;
  throw FailureError(fmt::format("process_vm_readv brought {} of {} bytes", came, bytes));
}

void write_to_peer(const PeerProcess& peer, std::size_t offset, std::span<std::byte> data) {
  const iovec local{data.data(), data.size()};
  const iovec remote{const_cast<std::byte*>(peer.remote_data()) + offset, data.size()};
  const ssize_t went = process_vm_writev(peer.pid(), &local, 1, &remote, 1, 0);
  if (went == static_cast<ssize_t>(data.size())) return;
  throw FailureError(fmt::format("process_vm_writev took {} of {} bytes", went, data.size()));
}

std::string why_no_cma(const PeerProcess& peer) {
  std::byte byte{};
  if (try_read(peer, &byte, 1, 0) == 1) return {};
  return fmt::format("process_vm_readv is refused: {}", std::strerror(errno));
}

}  // namespace huddle::calibrate
