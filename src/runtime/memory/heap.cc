// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/heap.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include "common/arithmetic.h"
#include "common/error.h"
#include "common/system.h"
#include "runtime/memory/heap_pages.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::memory {
namespace {

// The heap keeps at most used_bytes_ plus this much free memory for later blocks, like the C
// library's malloc. With less, allocations of varying sizes take twice as long, mostly because of
// page faults.
constexpr std::size_t most_kept_idle_bytes = std::size_t{64} << 20;
// A large block is often followed by one that is larger still and needs new memory. So the heap
// keeps less of large blocks; the C library's malloc keeps nothing of them.
constexpr std::size_t large_block_bytes = std::size_t{32} << 20;
constexpr std::size_t most_kept_of_large_bytes = std::size_t{512} << 20;

// Returns the largest amount of free memory that the heap keeps when a block has been freed.
std::size_t idle_limit(std::size_t freed_bytes, std::size_t used_bytes) {
  const std::size_t kept =
      freed_bytes < large_block_bytes ? used_bytes : std::min(used_bytes, most_kept_of_large_bytes);
  return most_kept_idle_bytes + kept;
}

// The file grows in steps of this size. They are small, because core dumps and mlockall() allocate
// memory for all pages up to the end of the file.
constexpr std::size_t file_step_bytes = std::size_t{16} << 20;

// Rounds the cap down to whole pages.
std::size_t heap_cap(std::size_t cap_bytes) {
  if (cap_bytes >= 2 * page_bytes()) return round_down(cap_bytes, page_bytes());
  throw InputError(fmt::format(
      "the limit of the shared heap is {} bytes, but at least two pages ({} bytes) are required; "
      "raise heap-limit",
      cap_bytes, 2 * page_bytes()));
}

std::size_t address_of(const void* block) { return reinterpret_cast<std::uintptr_t>(block); }

constexpr long long never_overcommit = 2;  // a value of vm.overcommit_memory

}  // namespace

void check_heap_limits(const System& system) {
  if (system.number("/proc/sys/vm/overcommit_memory") == never_overcommit) {
    throw FailureError(
        "the kernel does not overcommit memory, so the program runs without a shared heap; set "
        "vm.overcommit_memory to 0 or 1 to use it");
  }
  rlimit address_space{};
  if (getrlimit(RLIMIT_AS, &address_space) != 0 || address_space.rlim_cur == RLIM_INFINITY) return;
  throw FailureError(
      "the address space of this process is limited, so the program runs without a shared heap; "
      "raise the limit with `ulimit -v unlimited` to use it");
}

Heap::Heap(std::size_t cap_bytes, std::size_t most_copied_bytes, Care care)
    : file_(ArenaFile::Kind::memfd, ""),
      view_(file_.descriptor(), heap_cap(cap_bytes)),
      id_(ArenaId::random()),
      most_copied_bytes_(most_copied_bytes),
      care_(care),
      file_bytes_(file_.extend(page_bytes())) {
  // Takes effect if the system's setting of huge pages for shared memory (shmem_enabled) is
  // "advise".
  madvise(view_.base(), view_.cap_bytes(), MADV_HUGEPAGE);
  new (view_.base()) ArenaHeader{ArenaHeader::expected_magic, view_.cap_bytes(), id_};
  space_.give(Backing::none, {begin() + page_bytes(), view_.cap_bytes() - page_bytes()});
}

void* Heap::allocate(std::size_t bytes, std::size_t alignment, Content content) noexcept {
  if (bytes > view_.cap_bytes() || mutex_.is_forking_here()) return nullptr;
  try {
    Lock lock(mutex_);
    if (is_private_) return nullptr;
    if (care_ == Care::checked) return allocate_checked(bytes, alignment, content);
    const auto found = find_or_make_room(round_up(std::max<std::size_t>(bytes, 1), least_alignment),
                                         std::max(alignment, least_alignment), lock);
    if (!found) return nullptr;
    if (is_private_ || !reach(found->piece)) {
      space_.give(found->was_used ? Backing::memory : Backing::none, found->piece);
      return nullptr;
    }
    blocks_[found->piece.offset] = found->piece.bytes;
    used_bytes_ += found->piece.bytes;
    void* const block = view_.base() + in_file(found->piece).offset;
    // The block is the caller's by now. Other threads must not wait while it is cleared.
    lock.unlock();
    if (content == Content::zero && found->was_used) std::memset(block, 0, bytes);
    return block;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool Heap::grow(void* block, std::size_t bytes) noexcept {
  if (bytes > view_.cap_bytes() || mutex_.is_forking_here()) return false;
  const std::scoped_lock lock(mutex_);
  const auto at = blocks_.find(address_of(block));
  // In checked mode, a guard page follows each block.
  if (is_private_ || care_ == Care::checked || at == blocks_.end()) return false;
  const Piece old{at->first, at->second};
  if (bytes <= old.bytes) return true;
  const std::size_t more = round_up(bytes, least_alignment) - old.bytes;
  for (const Backing backing : {Backing::memory, Backing::none}) {
    const Piece taken{old.end(), backing == Backing::none ? round_up(more, page_bytes()) : more};
    if (space_.part_at(backing, taken.offset).bytes < taken.bytes) continue;
    if (!reach(taken)) return false;
    space_.take_exactly(backing, taken);
    at->second += taken.bytes;
    used_bytes_ += taken.bytes;
    return true;
  }
  return false;
}

// Takes whole pages of untouched memory, because the first touch of a byte allocates its page.
std::optional<Heap::Found> Heap::find(std::size_t bytes, std::size_t alignment) {
  if (const auto used = space_.take(Backing::memory, bytes, alignment)) return Found{*used, true};
  const auto clean =
      space_.take(Backing::none, round_up(bytes, page_bytes()), std::max(alignment, page_bytes()));
  return clean ? std::optional(Found{*clean, false}) : std::nullopt;
}

// If there is no suitable part, returns the memory of all free parts and tries again: parts with
// memory may lie between parts without, and are merged with them only then.
std::optional<Heap::Found> Heap::find_or_make_room(std::size_t bytes, std::size_t alignment,
                                                   Lock& lock) {
  auto found = find(bytes, alignment);
  if (found) return found;
  return_pages_of(space_.parts(Backing::memory), lock);
  return find(bytes, alignment);
}

bool Heap::free(void* block) noexcept {
  // In a fork, the child owns the block as well, and its copy may not be complete yet.
  if (block == nullptr || mutex_.is_forking_here()) return true;
  Lock lock(mutex_);
  const auto at = blocks_.find(address_of(block));
  if (at == blocks_.end()) return false;
  const Piece piece = piece_of(at->first, at->second);
  const CheckedBlock checked{at->first, at->second};
  used_bytes_ -= at->second;
  blocks_.erase(at);
  stacks_.erase(stacks_.lower_bound(piece.offset), stacks_.lower_bound(piece.end()));
  try {
    if (care_ == Care::checked) {
      free_checked(checked, lock);
      return true;
    }
    give_memory(piece, lock);
  } catch (const std::bad_alloc&) {
    // The block is leaked, because there is no memory to record that it is free.
  }
  return true;
}

// Makes memory that is no longer in a block a free part. The limit grows with the memory in blocks:
// a program that uses little memory returns most of what it frees, and one that uses much does not
// fault the same pages in repeatedly.
void Heap::give_memory(Piece piece, Lock& lock) {
  const Piece part = space_.give(Backing::memory, piece);
  if (space_.free_bytes(Backing::memory) > idle_limit(piece.bytes, used_bytes_)) {
    return_pages_of({&part, 1}, lock);
  }
}

bool Heap::shrink(void* block, std::size_t bytes) noexcept {
  if (care_ == Care::checked || mutex_.is_forking_here()) return false;
  Lock lock(mutex_);
  const auto at = blocks_.find(address_of(block));
  if (at == blocks_.end()) return false;
  const Piece old{at->first, at->second};
  const std::size_t kept = round_up(bytes, least_alignment);
  if (kept >= old.bytes) return true;
  at->second = kept;
  used_bytes_ -= old.bytes - kept;
  try {
    give_memory({old.offset + kept, old.bytes - kept}, lock);
  } catch (const std::bad_alloc&) {
    return true;  // the rest is leaked, because there is no memory to record that it is free
  }
  return true;
}

// Returns the whole pages of these free parts to the system. Releases the lock meanwhile, because a
// memory hook, such as that of UCX's registration cache, may allocate and free memory. During that
// time the pages are neither in blocks nor in free parts. Pages whose memory the system does not
// take back stay free parts with memory.
void Heap::return_pages_of(std::span<const Piece> parts, Lock& lock) {
  std::vector<Piece> taken;
  taken.reserve(parts.size());
  for (const Piece part : parts) {
    const Piece pages = whole_pages_of(part);
    if (pages.bytes == 0) continue;
    space_.take_exactly(Backing::memory, pages);
    taken.push_back(pages);
  }
  const bool is_private = is_private_;
  lock.unlock();
  const auto kept = std::partition(
      taken.begin(), taken.end(), [&](Piece pages) { return return_to_system(pages, is_private); });
  lock.lock();
  std::for_each(taken.begin(), kept, [this](Piece pages) { space_.give(Backing::none, pages); });
  std::for_each(kept, taken.end(), [this](Piece pages) { space_.give(Backing::memory, pages); });
}

bool Heap::return_to_system(Piece pages, bool is_private) const {
  return is_private ? drop_pages(pages) : remove_shared_pages(pages);
}

// Extends the file to at least the end of the piece, and includes the file in core dumps, like the
// program's other memory. Returns false if the file cannot grow or its descriptor is closed.
bool Heap::reach(Piece piece) {
  const std::size_t end = in_file(piece).end();
  if (end <= file_bytes_) return true;
  const std::size_t bytes = std::min(round_up(end, file_step_bytes), view_.cap_bytes());
  try {
    if (!file_.is_there()) return false;
    file_bytes_ = file_.extend(bytes);
  } catch (const FailureError&) {
    return false;
  }
  madvise(view_.base(), file_bytes_, MADV_DODUMP);
  return true;
}

// Releases the lock before it returns the memory, for the same reason as return_pages_of().
bool Heap::clear(Piece pages) noexcept {
  if (mutex_.is_forking_here()) {
    errno = EAGAIN;
    return false;
  }
  const bool is_private = [this] {
    const std::scoped_lock lock(mutex_);
    return is_private_;
  }();
  if (!return_to_system(pages, is_private)) return false;
  return !is_private || may_be_written(pages);
}

// If there is no memory for the record, a child may crash while the C library changes its list of
// threads.
void Heap::note_stack(const void* stack) noexcept {
  if (mutex_.is_forking_here()) return;
  try {
    const std::scoped_lock lock(mutex_);
    stacks_.insert(address_of(stack));
  } catch (const std::bad_alloc&) {
    return;
  }
}

std::size_t Heap::bytes_of(const void* block) const noexcept {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!mutex_.is_forking_here()) lock.lock();
  const auto at = blocks_.find(address_of(block));
  return at == blocks_.end() ? 0 : at->second;
}

std::size_t Heap::used_bytes() const {
  const std::scoped_lock lock(mutex_);
  return used_bytes_;
}

std::size_t Heap::held_bytes() const {
  const std::scoped_lock lock(mutex_);
  return used_bytes_ + space_.free_bytes(Backing::memory);
}

}  // namespace huddle::memory
