// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Fork support of the heap. The kernel excludes the heap's pages from every child (MADV_DONTFORK),
// so that no child can write to them; a child of fork() gets pages of its own here, or the parent
// makes its pages private before the fork. This code allocates nothing, because fork handlers of
// other libraries may hold locks that an allocation needs.

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/arithmetic.h"
#include "common/file.h"
#include "runtime/memory/arena_space.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/heap_pages.h"
#include "runtime/memory/page_buffer.h"
#include "runtime/memory/process_tables.h"

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

namespace {

using Clock = std::chrono::steady_clock;

// Maximum time that a fork waits until no peer uses the heap. It is longer than a collective on
// large buffers takes, but an acceptable delay if another thread of this process is blocked in a
// collective.
constexpr std::chrono::milliseconds longest_wait_for_peers{500};

// A multiple of the size of huge pages, which are returned to the system only as a whole. Small
// compared with a heap that is worth moving.
constexpr std::size_t moved_step_bytes = std::size_t{32} << 20;

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
  // The handlers call functions that are cancellation points, but a fork is not one.
  int cancel_state = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
  mutex_.lock_for_fork();
  if (!is_private_) {
    // This is repeated for each fork, because ibv_fork_init() and similar calls make the kernel
    // copy the mappings of memory that an adapter no longer uses. The child would then share those
    // pages, and map_all_anew() would fail.
    leave_out_of_children({begin(), view_.cap_bytes()});
    if (holds_a_stack()) unshare_because_of_stack();
  }
  at_fork_ = choose_at_fork();
  cancel_state_ = cancel_state;
}

void Heap::after_fork_in_parent() noexcept {
  if (at_fork_ == AtFork::copy) line_.wait_in_parent();
  end_fork();
}

void Heap::end_fork() noexcept {
  const int cancel_state = cancel_state_;
  mutex_.unlock_after_fork();
  pthread_setcancelstate(cancel_state, nullptr);
}

void Heap::after_fork_in_child() noexcept {
  if (at_fork_ == AtFork::copy) {
    if (!map_all_anew() || !(blocks_.empty() || copy_blocks())) give_up_child();
    copies_.hold_in_child();
    line_.notify_parent();
    is_private_ = true;
  }
  file_.close();
  state_.is_shared = false;
  state_.calls = 0;
  end_fork();
}

// Returns whether the heap contains memory that the child needs before its fork handlers run: the
// current stack, or the control block of the thread, which lies in the same block if the program
// has supplied the thread's stack.
bool Heap::holds_stack_of_caller() const {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the C library's handle is the address of those data
  const auto* const thread = reinterpret_cast<const void*>(pthread_self());
  return holds(__builtin_frame_address(0)) || holds(thread);
}

// Releases the lock while it waits for other threads' calls to end, because those may need the
// heap.
void Heap::unshare_because_of_stack() {
  const Clock::time_point deadline = Clock::now() + longest_wait_for_peers;
  while (!is_private_ && file_.is_there() && !unshare() && Clock::now() < deadline) {
    mutex_.unlock_after_fork();
    sched_yield();
    mutex_.lock_for_fork();
  }
  say(is_private_
          ? "huddle: heap: the program forked while a thread has its stack in the shared heap, so "
            "this rank stops sharing the heap; allocate stacks with mmap() to avoid this\n"
          : "huddle: heap: the program forked while a thread has its stack in the shared heap and "
            "other ranks used the heap, so the child may crash; allocate stacks with mmap()\n");
}

// The child inherits blocks that are private like any other memory.
Heap::AtFork Heap::choose_at_fork() {
  copies_.expect_nothing();
  if (is_private_) return AtFork::inherit;
  return blocks_.empty() || !file_.is_there() ? AtFork::copy : prepare_copy();
}

Heap::AtFork Heap::prepare_copy() {
  const std::size_t bytes = std::min(used_bytes_, file_.memory_bytes());
  const std::size_t living_bytes = copies_.living_bytes();
  const bool is_counted = copies_.expect(bytes);
  const bool is_too_much = !is_counted || living_bytes + bytes > most_copied_bytes_;
  const bool can_wait = line_.open();
  if ((!is_too_much && can_wait) || !unshare()) return AtFork::copy;
  line_ = ForkLine();
  if (!is_counted) {
    say("huddle: heap: the program forked with too many living children, so this rank stops "
        "sharing "
        "the heap\n");
  } else if (is_too_much) {
    say("huddle: heap: the program forked with more than heap-fork-limit in the shared heap and in "
        "copies of living children, so this rank stops sharing the heap; raise that limit to avoid "
        "this\n");
  } else {
    say("huddle: heap: the program forked while no file descriptor was left, so this rank stops "
        "sharing the heap; raise `ulimit -n` to avoid this\n");
  }
  return AtFork::inherit;
}

// Makes all blocks private, unless peers may be using the heap. Returns whether it did.
bool Heap::unshare() {
  if (!end_sharing()) return false;
  is_private_ = make_blocks_private();
  state_.is_shared = !is_private_;
  return is_private_;
}

// Ends the sharing, unless peers may be using the heap; returns whether it did. Also returns the
// memory between the blocks to the system, so that it is not copied. A call increments `calls` and
// then reads `is_shared`; this function stores `is_shared` and then reads `calls`. So at least one
// of them sees the other's store.
bool Heap::end_sharing() {
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

bool Heap::copy_blocks() const {
  if (!file_.is_there()) return false;
  if (!may_be_written({begin(), end_of_blocks() - begin()})) return false;
  return for_each_run([this](Piece run) {
    return for_each_touched_part(file_.descriptor(), in_file(run), [this](Piece part) {
      return read_all(file_.descriptor(), view_.base() + part.offset, part);
    });
  });
}

// Maps the blocks privately, with the attributes that the program has set for their pages. From
// then on the process does not write to the file.
bool Heap::make_blocks_private() const {
  const Piece blocks{begin(), end_of_blocks() - begin()};
  const PageAttributes attributes(blocks);
  if (!map_own_view(blocks, attributes.widest_protection(), file_.descriptor())) return false;
  attributes.restore();
  drop_pages({blocks.end(), begin() + view_.cap_bytes() - blocks.end()});
  for_each_gap(drop_pages);
  wake_futex_waiters(blocks, file_.descriptor());
  // The data of a read that began before would arrive in pages that are no longer mapped.
  if (!attributes.may_have_devices() && !may_be_read_into(blocks)) move_blocks_out_of_file();
  return true;
}

// Copies the file's pages to private memory and returns them to the system, in steps, so that both
// together never need much more memory than before. Pages that cannot be copied, such as those that
// the program has protected, stay in the file.
void Heap::move_blocks_out_of_file() const {
  for_each_run([this](Piece run) {
    return for_each_touched_part(file_.descriptor(), in_file(run), [this](Piece part) {
      for (std::size_t at = part.offset; at < part.end();) {
        const Piece step{
            at, std::min(round_down(at + moved_step_bytes, moved_step_bytes), part.end()) - at};
        if (!move_out_of_file(step)) move_page_by_page(step);
        at = step.end();
      }
      return true;
    });
  });
}

bool Heap::move_out_of_file(Piece pages) const {
  const bool is_copied = copy_from_file({begin() + pages.offset, pages.bytes});
  if (is_copied) file_.return_to_system(pages);
  return is_copied;
}

void Heap::move_page_by_page(Piece pages) const {
  for (std::size_t at = pages.offset; at < pages.end(); at += page_bytes()) {
    move_out_of_file({at, page_bytes()});
  }
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
