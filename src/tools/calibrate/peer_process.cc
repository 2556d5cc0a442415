// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/peer_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "common/error.h"

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

single_copy::RemoteAddress address_in(const PeerProcess& peer, std::size_t offset) {
  return reinterpret_cast<std::uintptr_t>(peer.remote_data()) + offset;
}

void check(single_copy::ErrorNumber error, std::string_view what) {
  if (error == single_copy::fine) return;
  throw FailureError(
      fmt::format("{} another process's memory: {}", what, single_copy::text_of(error)));
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

std::unique_ptr<single_copy::PeerMemory> memory_of(const PeerProcess& peer,
                                                   const single_copy::PeerPath& path) {
  return single_copy::open(path, {.process = peer.pid(), .watch = peer.watch()});
}

void read_from_peer(single_copy::PeerMemory& memory, const PeerProcess& peer,
                    std::span<std::byte> target, std::size_t offset) {
  check(memory.read(target.data(), address_in(peer, offset), target.size()), "reading");
}

void write_to_peer(single_copy::PeerMemory& memory, const PeerProcess& peer, std::size_t offset,
                   std::span<const std::byte> data) {
  check(memory.write(address_in(peer, offset), data.data(), data.size()), "writing to");
}

std::string refusal_of(single_copy::PeerMemory& memory, const PeerProcess& peer) {
  single_copy::Proof proof{.address = address_in(peer, 0)};
  std::memset(&proof.word, static_cast<int>(PeerProcess::fill), sizeof proof.word);
  std::string why = single_copy::reading_refusal(memory, proof);
  return why.empty() ? single_copy::writing_refusal(memory, proof) : why;
}

}  // namespace huddle::calibrate
