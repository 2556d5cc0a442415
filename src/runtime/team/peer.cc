// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/team/peer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "common/error.h"
#include "common/other_processes.h"

namespace huddle::team {
namespace {

constexpr std::size_t page_of_words_bytes = 4096;
constexpr std::size_t words_of_a_page = page_of_words_bytes / sizeof(std::uint64_t);
constexpr std::uint64_t absent = 0;

std::atomic_ref<std::uint64_t> word_at(std::byte* base, std::size_t offset) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(base + offset));
}

}  // namespace

PresenceTable::PresenceTable(std::shared_ptr<memory::Arena> arena) : arena_(std::move(arena)) {}

PresenceTable::Entry PresenceTable::enter() {
  const std::scoped_lock lock(mutex_);
  if (free_words_.empty()) add_page();
  const Entry entry{free_words_.back(), ++last_ticket_};
  free_words_.pop_back();
  word_at(arena_->base(), entry.offset).store(entry.ticket, std::memory_order_release);
  return entry;
}

void PresenceTable::leave(Entry entry) {
  const std::scoped_lock lock(mutex_);
  word_at(arena_->base(), entry.offset).store(absent, std::memory_order_release);
  free_words_.push_back(entry.offset);
}

void PresenceTable::add_page() {
  // Reserves space for every word, so that leave() never allocates.
  free_words_.reserve(words_ + words_of_a_page);
  const memory::Piece page = arena_->allocate(page_of_words_bytes);
  words_ += words_of_a_page;
  for (std::size_t at = page.offset + page_of_words_bytes; at > page.offset;) {
    at -= sizeof(std::uint64_t);
    word_at(arena_->base(), at).store(absent, std::memory_order_relaxed);
    free_words_.push_back(at);
  }
}

bool is_present(std::byte* arena_base, PresenceTable::Entry entry) {
  return word_at(arena_base, entry.offset).load(std::memory_order_acquire) == entry.ticket;
}

namespace {

// Returns whether the error is a lack of descriptors or memory. Receiving a descriptor from the
// peer would then fail for the same reason.
bool is_exhaustion(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

FailureError no_descriptor(int error) {
  return FailureError(
      fmt::format("cannot open a file descriptor for another rank: {}; raise `ulimit -n`",
                  std::strerror(error)));
}

FailureError cannot_watch(int error) {
  return FailureError(
      fmt::format("cannot watch the process of another rank: {}; this requires pidfd_open (Linux "
                  "5.3 or later) or access to /proc",
                  std::strerror(error)));
}

}  // namespace

Peer::Peer(std::shared_ptr<memory::Arena> arena) : arena_(std::move(arena)) {}

Peer::Peer(const FileDescriptor& arena, FileDescriptor process, const PeerAddress& address)
    : view_(arena.number(), address.cap_bytes), process_(std::move(process), address.process) {}

// Opens the process first. If the process id has been reused by then, the new process does not have
// this arena, which is_arena() detects.
std::shared_ptr<Peer> open_peer(const ProcessIdentity& me, const PeerAddress& address) {
  if (!share_process_ids(me, address.process)) return nullptr;
  FileDescriptor process = open_process(static_cast<pid_t>(address.process.pid));
  if (!process.is_open()) {
    if (is_exhaustion(errno)) throw no_descriptor(errno);
    if (errno == ESRCH) {
      throw FailureError(
          fmt::format("process {} of another rank does not exist: it has ended, or it is on "
                      "another machine; start all ranks of a team on one machine",
                      address.process.pid));
    }
    if (errno == EACCES) return nullptr;
    throw cannot_watch(errno);
  }
  const std::string path = fmt::format("/proc/{}/fd/{}", address.process.pid, address.descriptor);
  const FileDescriptor arena(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!arena.is_open()) {
    if (is_exhaustion(errno)) throw no_descriptor(errno);
    return nullptr;
  }
  if (!memory::is_arena(arena.number(), address.arena, address.cap_bytes)) return nullptr;
  return std::make_shared<Peer>(arena, std::move(process), address);
}

FileDescriptor own_process() {
  FileDescriptor process = open_process(getpid());
  if (process.is_open()) return process;
  throw is_exhaustion(errno) ? no_descriptor(errno) : cannot_watch(errno);
}

bool has_died(const ProcessIdentity& process) {
  const FileDescriptor held = open_process(static_cast<pid_t>(process.pid));
  return held.is_open() ? is_dead(held.number()) : errno == ESRCH;
}

}  // namespace huddle::team
