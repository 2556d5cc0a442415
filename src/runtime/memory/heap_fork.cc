// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Fork support of the heap. The kernel excludes the heap's pages from every child (MADV_DONTFORK),
// so that no child can write to them; a child of fork() gets pages of its own here. This code
// allocates nothing, because fork handlers of other libraries may hold locks that an allocation
// needs.

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "common/arithmetic.h"
#include "common/file.h"
#include "runtime/memory/arena_space.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/heap_pages.h"
#include "runtime/memory/page_buffer.h"

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
  uninterrupted([&] { return ::read(parents_.number(), &word, 1); });
  parents_ = FileDescriptor();
}

void ForkLine::notify_parent() noexcept {
  if (!childs_.is_open()) return;
  parents_ = FileDescriptor();
  const char word = 0;
  send(childs_.number(), &word, 1, MSG_NOSIGNAL);  // the parent may have died
  childs_ = FileDescriptor();
}

// Wakes the threads of this process that wait on a shared futex in these pages, so that they read
// its value and wait again. Needed when the pages stop being shared: the kernel identifies such a
// futex by the file of its page, so that after the change FUTEX_WAKE would not find a thread that
// already waits. pthread_join() waits on such a futex, in the control block of the other thread.
// Allocates nothing.
// Requires: the offset of `pages` is an address; the pages were mapped from the beginning of the
// file.
void wake_futex_waiters(Piece pages, int file) noexcept;

namespace {

// Removes and returns the next number of the line. In base 16, skips a prefix "0x".
std::optional<std::uint64_t> take_number(std::string_view& line, int base) {
  constexpr int hexadecimal = 16;
  if (base == hexadecimal && line.starts_with("0x")) line.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number, base);
  if (error != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  if (line.starts_with(' ')) line.remove_prefix(1);
  return number;
}

// Returns the address of the shared futex on which the thread waits, if any. `tasks` is a
// descriptor of /proc/self/task; the file "syscall" of a thread contains the number and the
// arguments of the system call in which the thread sleeps.
std::optional<std::size_t> awaited_futex(int tasks, const char* thread) {
  constexpr std::string_view name = "/syscall";
  const std::string_view number(thread);
  std::array<char, 64> path{};
  if (number.size() + name.size() >= path.size()) return std::nullopt;
  std::copy(name.begin(), name.end(), std::copy(number.begin(), number.end(), path.begin()));
  const FileDescriptor file(openat(tasks, path.data(), O_RDONLY | O_CLOEXEC));
  std::array<char, 256> text{};
  const ssize_t bytes = read(file.number(), text.data(), text.size());
  if (bytes <= 0) return std::nullopt;
  std::string_view line(text.data(), static_cast<std::size_t>(bytes));
  if (take_number(line, 10) != SYS_futex) return std::nullopt;
  const auto address = take_number(line, 16);
  const auto operation = take_number(line, 16);
  const bool is_shared = operation && (*operation & FUTEX_PRIVATE_FLAG) == 0;
  return is_shared ? address : std::nullopt;
}

// Wakes all threads that wait on the shared futex at offset `place` of the file. Works through a
// new mapping of the page, because the kernel identifies the futex by file and offset.
void wake(std::size_t place, int file) {
  const std::size_t page = round_down(place, page_bytes());
  void* const mapped = mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file,
                            static_cast<off_t>(page));
  if (mapped == MAP_FAILED) return;
  syscall(SYS_futex, static_cast<std::byte*>(mapped) + (place - page), FUTEX_WAKE, INT_MAX, nullptr,
          nullptr, 0);
  munmap(mapped, page_bytes());
}

}  // namespace

void wake_futex_waiters(Piece pages, int file) noexcept {
  const FileDescriptor tasks(open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  alignas(dirent64) std::array<char, 1024> entries{};
  ssize_t bytes = 0;
  while ((bytes = getdents64(tasks.number(), entries.data(), entries.size())) > 0) {
    for (ssize_t at = 0; at < bytes;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      const auto futex = awaited_futex(tasks.number(), entry->d_name);
      if (!futex || *futex < pages.offset || *futex >= pages.end()) continue;
      wake(*futex - pages.offset, file);
    }
  }
}

namespace {

using Clock = std::chrono::steady_clock;

// Maximum time that a fork waits until no peer uses the heap. It is longer than a collective on
// large buffers takes, but an acceptable delay if another thread of this process is blocked in a
// collective.
constexpr std::chrono::milliseconds longest_wait_for_peers{500};

void say(std::string_view sentence) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, sentence.data(), sentence.size());
}

// Aborts the child, which would otherwise read zeros instead of its data, or crash later without an
// explanation.
[[noreturn]] void give_up_child() {
  say("huddle: heap: a forked child cannot get a copy of the shared heap, because memory is "
      "exhausted or the program closed the heap's file descriptor; run with HUDDLE_HEAP=off\n");
  std::abort();
}

bool read_all(int file, std::byte* to, Piece part) {
  for (std::size_t done = 0; done < part.bytes;) {
    const ssize_t bytes =
        pread(file, to + done, part.bytes - done, static_cast<off_t>(part.offset + done));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return false;
    done += static_cast<std::size_t>(bytes);
  }
  return true;
}

// Calls act(part) for each part of the pages that has memory; the other pages are untouched and
// zero. Stops and returns false if a call returns false or the file cannot be searched.
template <class Act>
bool for_each_touched_part(int file, Piece pages, const Act& act) {
  for (std::size_t at = pages.offset; at < pages.end();) {
    const off_t begin = lseek(file, static_cast<off_t>(at), SEEK_DATA);
    if (begin < 0) return errno == ENXIO;  // no data until the end of the file
    const off_t end = lseek(file, begin, SEEK_HOLE);
    if (end < 0) return false;
    const std::size_t from = std::min(static_cast<std::size_t>(begin), pages.end());
    at = std::min(static_cast<std::size_t>(end), pages.end());
    if (from < at && !act(Piece{from, at - from})) return false;
  }
  return true;
}

}  // namespace

void Heap::before_fork() noexcept {
  mutex_.lock_for_fork();
  if (!is_private_) {
    // This is repeated for each fork, because ibv_fork_init() and similar calls make the kernel
    // copy the mappings of memory that an adapter no longer uses. The child would then share those
    // pages, and map_all_anew() would fail.
    leave_out_of_children({begin(), view_.cap_bytes()});
    if (holds_stack_of_caller()) freeze_before_fork();
  }
  at_fork_ = choose_at_fork();
}

void Heap::after_fork_in_parent() noexcept {
  switch (at_fork_) {
    case AtFork::nothing:
      break;
    case AtFork::copy:
      line_.wait_in_parent();
      break;
    case AtFork::freeze:
      is_private_ = true;
      freeze_blocks();
      say("huddle: heap: the program forked with more than heap-fork-limit in the shared heap, so "
          "this rank stops sharing the heap; raise that limit to avoid this\n");
      break;
  }
  mutex_.unlock_after_fork();
}

void Heap::after_fork_in_child() noexcept {
  if (at_fork_ != AtFork::nothing) {
    if (!map_all_anew() || !(blocks_.empty() || fill_child())) give_up_child();
    line_.notify_parent();
    file_.close();
    is_private_ = true;
    state_.is_shared = false;
    state_.calls = 0;
  }
  mutex_.unlock_after_fork();
}

// Returns whether the heap contains memory that the child needs before its fork handlers run: the
// current stack, or the control block of the thread, which lies in the same block if the program
// has supplied the thread's stack.
bool Heap::holds_stack_of_caller() const {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the C library's handle is the address of those data
  const auto* const thread = reinterpret_cast<const void*>(pthread_self());
  return holds(__builtin_frame_address(0)) || holds(thread);
}

// Makes all blocks private to this process, so that the child inherits them like any other memory.
// Doing this only for the pages of the stack would not suffice: other blocks may share these pages,
// and peers would read stale data from them. Releases the lock while it waits for other threads'
// calls to end, because those may need the heap.
void Heap::freeze_before_fork() {
  const Clock::time_point deadline = Clock::now() + longest_wait_for_peers;
  while (!is_private_ && file_.is_there()) {
    if (stop_sharing()) {
      is_private_ = freeze_blocks();
      break;
    }
    if (Clock::now() >= deadline) break;
    mutex_.unlock_after_fork();
    sched_yield();
    mutex_.lock_for_fork();
  }
  say(is_private_
          ? "huddle: heap: the program forked on a thread whose stack is in the shared heap, so "
            "this rank stops sharing the heap; fork from another thread to avoid this\n"
          : "huddle: heap: the program forked on a thread whose stack is in the shared heap, while "
            "other ranks used the heap, so the child cannot run; fork from another thread\n");
}

Heap::AtFork Heap::choose_at_fork() {
  if (is_private_) return AtFork::nothing;  // inherited like any other memory
  if (blocks_.empty() || !file_.is_there()) return AtFork::copy;
  const bool is_too_much = std::min(used_bytes_, file_.memory_bytes()) > most_copied_bytes_;
  if ((is_too_much || !line_.open()) && stop_sharing()) return AtFork::freeze;
  if (is_too_much) line_.open();
  return AtFork::copy;
}

// Ends the sharing, unless peers may be using the heap; returns whether it did. Also returns the
// memory between the blocks to the system, so that it is not copied. A call increments `calls` and
// then reads `is_shared`; this function stores `is_shared` and then reads `calls`. So at least one
// of them sees the other's store.
bool Heap::stop_sharing() {
  state_.is_shared = false;
  if (state_.calls == 0) {
    for_each_gap([this](Piece gap) { file_.return_to_system(in_file(gap)); });
    return true;
  }
  state_.is_shared = true;
  return false;
}

// Reserves the address range in a child, which has not inherited the mapping.
bool Heap::map_all_anew() const { return hold_addresses({begin(), view_.cap_bytes()}); }

bool Heap::fill_child() const {
  if (!file_.is_there()) return false;
  return at_fork_ == AtFork::copy ? copy_blocks() : freeze_blocks();
}

bool Heap::copy_blocks() const {
  if (!may_be_written({begin(), end_of_blocks() - begin()})) return false;
  return for_each_run([this](Piece run) {
    return for_each_touched_part(file_.descriptor(), in_file(run), [this](Piece part) {
      return read_all(file_.descriptor(), view_.base() + part.offset, part);
    });
  });
}

// Maps the blocks privately; called in the parent and in the child. From then on neither process
// writes to the file, and each sees only its own writes.
bool Heap::freeze_blocks() const {
  const std::size_t end = end_of_blocks();
  if (!map_own_view({begin(), end - begin()}, file_.descriptor())) return false;
  drop_pages({end, begin() + view_.cap_bytes() - end});
  for_each_gap(drop_pages);
  wake_futex_waiters({begin(), end - begin()}, file_.descriptor());
  return true;
}

// Calls act(run) for each run of consecutive pages that contain blocks, in address order. Stops and
// returns false if a call returns false.
template <class Act>
bool Heap::for_each_run(const Act& act) const {
  Piece run;
  for (const auto& [address, bytes] : blocks_) {
    const std::size_t first = round_down(address, page_bytes());
    if (first > run.end()) {
      if (run.bytes > 0 && !act(run)) return false;
      run.offset = first;
    }
    run.bytes = round_up(address + bytes, page_bytes()) - run.offset;
  }
  return run.bytes == 0 || act(run);
}

// Calls act(gap) for the pages before and between these runs, except the first page of the file,
// which contains the header.
template <class Act>
void Heap::for_each_gap(const Act& act) const {
  std::size_t end = begin() + page_bytes();
  for_each_run([&](Piece run) {
    act(Piece{end, run.offset - end});
    end = run.end();
    return true;
  });
}

std::size_t Heap::end_of_blocks() const {
  if (blocks_.empty()) return begin();
  const auto& [address, bytes] = *blocks_.rbegin();
  return round_up(address + bytes, page_bytes());
}

}  // namespace huddle::memory
