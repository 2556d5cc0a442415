// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The checked mode of the heap (Heap::Care::checked). The memory of a freed block is returned to
// the system at once, its pages become inaccessible, and its addresses are reused only if no others
// are left. Peers have their own mappings, which this process cannot protect; but if a peer touches
// a freed page, the page gets memory again, which the heap detects.
#include <unistd.h>

#include <algorithm>

#include "runtime/memory/heap.h"
#include "runtime/memory/heap_pages.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::memory {

Piece Heap::piece_of(std::size_t address, std::size_t bytes) const {
  return care_ == Care::checked ? CheckedBlock{address, bytes}.pages() : Piece{address, bytes};
}

void* Heap::allocate_checked(std::size_t bytes, std::size_t alignment, Content content) {
  const std::size_t all = CheckedBlock::pages_for(bytes);
  const std::size_t aligned = std::max(alignment, page_bytes());
  auto pages = space_.take(Backing::none, all, aligned);
  if (!pages) {
    use_freed_again();
    pages = space_.take(Backing::none, all, aligned);
  }
  if (!pages) return nullptr;
  if (!reach(*pages) || !may_be_written(*pages)) {
    space_.give(Backing::none, *pages);
    return nullptr;
  }
  const CheckedBlock block = CheckedBlock::at_end_of(*pages, bytes, alignment);
  blocks_[block.address] = block.bytes;
  used_bytes_ += block.bytes;
  block.arm(content == Content::any);
  return view_.base() + (block.address - begin());
}

void Heap::free_checked(const CheckedBlock& block, Lock& lock) {
  if (!block.is_intact()) report("the program wrote beyond the end of an allocated block", block);
  const Piece pages = block.pages();
  const bool is_private = is_private_;
  lock.unlock();
  // Includes the guard page, which has no memory, so that memory hooks see one range.
  may_be_written(pages);
  const bool is_gone = return_to_system(pages, is_private) && forbid_pages(pages);
  lock.lock();
  if (!is_gone) return;  // the pages are leaked
  freed_.push_back(pages);
  constexpr std::size_t looks = 8;
  const std::size_t latest = freed_.size() - std::min(looks, freed_.size());
  std::for_each(freed_.begin() + static_cast<std::ptrdiff_t>(latest), freed_.end(),
                [this](Piece freed) { look_at(freed); });
}

void Heap::use_freed_again() {
  for (const Piece pages : freed_) {
    look_at(pages);
    space_.give(Backing::none, pages);
  }
  freed_.clear();
}

void Heap::check_freed() const noexcept {
  if (mutex_.is_forking_here()) return;
  const std::scoped_lock lock(mutex_);
  std::for_each(freed_.begin(), freed_.end(), [this](Piece freed) { look_at(freed); });
}

void Heap::look_at(Piece freed) const noexcept {
  if (is_private_ || !file_.is_there()) return;
  const Piece part = in_file(freed);
  const off_t data = lseek(file_.descriptor(), static_cast<off_t>(part.offset), SEEK_DATA);
  if (data >= 0 && static_cast<std::size_t>(data) < part.end()) {
    report("another rank accessed memory after it was freed", freed);
  }
}

}  // namespace huddle::memory
