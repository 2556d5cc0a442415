// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/single_copy/cma.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <algorithm>
#include <cerrno>

#include "common/error.h"
#include "common/other_processes.h"
#include "runtime/single_copy/peer_memory.h"

namespace huddle::single_copy {
namespace {

void pass(iovec& part, std::size_t bytes) {
  part.iov_base = static_cast<std::byte*>(part.iov_base) + bytes;
  part.iov_len -= bytes;
}

}  // namespace

PeerPath cma() {
  return {
      "cma", "process_vm_readv",
      "process_vm_readv and process_vm_writev between processes of one user",
      [](const Owner& owner) { return std::make_unique<CmaMemory>(owner.process, owner.watch); }};
}

// Copies `here.iov_len` bytes with several system calls if necessary. asks_first: check before each
// of them that the process still exists and thus has its ID.
ErrorNumber CmaMemory::copy_by(CopyCall* call, bool asks_first, iovec here,
                               iovec there) const noexcept {
  while (here.iov_len > 0) {
    if (asks_first && has_lost_number(watch_)) return ESRCH;
    const std::size_t most = std::min(here.iov_len, most_at_once);
    const iovec local{here.iov_base, most};
    const iovec remote{there.iov_base, most};
    const ssize_t copied = call(process_, &local, 1, &remote, 1, 0);
    if (copied < 0 && errno == EINTR) continue;
    if (copied < 0) return errno;
    // A copy may be short because the owner's mapping ends there; the next call then returns the
    // error.
    if (copied == 0) return EFAULT;
    pass(here, static_cast<std::size_t>(copied));
    pass(there, static_cast<std::size_t>(copied));
  }
  return fine;
}

ErrorNumber CmaMemory::read(std::byte* to, RemoteAddress from, std::size_t bytes) noexcept {
  const ErrorNumber error = copy_by(calls_.read, false, {to, bytes}, {pointer_to(from), bytes});
  return error == fine && has_lost_number(watch_) ? ESRCH : error;
}

// The kernel only reads from `from`; iovec has no const variant.
ErrorNumber CmaMemory::write(RemoteAddress to, const std::byte* from, std::size_t bytes) noexcept {
  return copy_by(calls_.write, true, {const_cast<std::byte*>(from), bytes},
                 {pointer_to(to), bytes});
}

// If ptrace_scope is 0, Yama adds no restriction; if it is 2 or 3, Yama ignores PR_SET_PTRACER.
bool yama_asks(const System& system) {
  constexpr long long restricted = 1;
  return system.number("/proc/sys/kernel/yama/ptrace_scope") == restricted;
}

TracingPermit::TracingPermit() {
  if (prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) == 0) return;
  throw FailureError(
      fmt::format("cannot let other ranks read this process's memory: {}", text_of(errno)));
}

TracingPermit::~TracingPermit() { prctl(PR_SET_PTRACER, 0, 0, 0, 0); }

void TracingPermits::take() {
  const std::scoped_lock lock(mutex_);
  if (taken_ == 0) permit_.emplace();
  ++taken_;
}

void TracingPermits::release() {
  const std::scoped_lock lock(mutex_);
  if (--taken_ == 0) permit_.reset();
}

}  // namespace huddle::single_copy
