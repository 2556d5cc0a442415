// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/memory/heap_pages.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "common/arithmetic.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::memory {
namespace {

constexpr int anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// NOLINTNEXTLINE(performance-no-int-to-ptr): the offset of a piece is an address here
void* address_of(Piece pages) { return reinterpret_cast<void*>(pages.offset); }

bool map(Piece pages, int protection, int flags, int file) {
  if (pages.bytes == 0) return true;
  void* const address = address_of(pages);
  void* const mapped = mmap(address, pages.bytes, protection, flags, file, 0);
  // Kernels before 4.17 ignore MAP_FIXED_NOREPLACE and take the address as a hint.
  if (mapped != MAP_FAILED && mapped != address) munmap(mapped, pages.bytes);
  return mapped == address;
}

}  // namespace

bool hold_addresses(Piece pages) noexcept {
  return map(pages, PROT_NONE, anonymous | MAP_FIXED_NOREPLACE, -1);
}

bool may_be_written(Piece pages) noexcept {
  return pages.bytes == 0 || mprotect(address_of(pages), pages.bytes, PROT_READ | PROT_WRITE) == 0;
}

bool map_own_view(Piece pages, int protection, int file) noexcept {
  return map(pages, protection, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file);
}

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;
#endif

bool copy_from_file(Piece pages) noexcept {
  return madvise(address_of(pages), pages.bytes, MADV_POPULATE_WRITE) == 0;
}

bool drop_pages(Piece pages) noexcept { return map(pages, PROT_NONE, anonymous | MAP_FIXED, -1); }

bool remove_shared_pages(Piece pages) noexcept {
  return pages.bytes == 0 || madvise(address_of(pages), pages.bytes, MADV_REMOVE) == 0;
}

void leave_out_of_children(Piece pages) noexcept {
  madvise(address_of(pages), pages.bytes, MADV_DONTFORK);
}

bool forbid_pages(Piece pages) noexcept {
  return pages.bytes == 0 || mprotect(address_of(pages), pages.bytes, PROT_NONE) == 0;
}

namespace {

// Fill pattern of memory that must not be used. As a double it is a huge negative number; as a
// pointer it is invalid.
constexpr std::byte nobodys{0xF3};
// malloc's guarantee: the alignment suffices for any type.
constexpr std::size_t least_alignment = alignof(std::max_align_t);

std::byte* pointer_to(std::size_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the address of a block is a number here
  return reinterpret_cast<std::byte*>(address);
}

std::size_t end_of_room(const CheckedBlock& block) {
  return round_up(block.address + block.bytes, page_bytes());
}

template <class... Words>
[[noreturn]] void say_and_end(fmt::format_string<Words...> sentence, Words&&... words) {
  std::array<char, 512> text{};
  const auto end =
      fmt::format_to_n(text.data(), text.size(), sentence, std::forward<Words>(words)...);
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, text.data(), static_cast<std::size_t>(end.out - text.data()));
  std::abort();
}

}  // namespace

std::size_t CheckedBlock::pages_for(std::size_t bytes) {
  return round_up(std::max<std::size_t>(bytes, 1), page_bytes()) + page_bytes();
}

CheckedBlock CheckedBlock::at_end_of(Piece pages, std::size_t bytes, std::size_t alignment) {
  const std::size_t end = pages.end() - page_bytes();
  const std::size_t wanted = std::max<std::size_t>(bytes, 1);
  return {round_down(end - wanted, std::max(alignment, least_alignment)), wanted};
}

Piece CheckedBlock::pages() const {
  const std::size_t begin = round_down(address, page_bytes());
  return {begin, end_of_room(*this) + page_bytes() - begin};
}

void CheckedBlock::arm(bool fill) const noexcept {
  const std::size_t end = end_of_room(*this);
  forbid_pages({end, page_bytes()});
  std::byte* const begin = pointer_to(address);
  if (fill) std::fill_n(begin, bytes, nobodys);
  std::fill(begin + bytes, pointer_to(end), nobodys);
}

bool CheckedBlock::is_intact() const noexcept {
  return std::all_of(pointer_to(address + bytes), pointer_to(end_of_room(*this)),
                     [](std::byte one) { return one == nobodys; });
}

void report(std::string_view found, const CheckedBlock& block) {
  say_and_end("huddle: heap: {}: the block of {} bytes at {:#x}\n", found, block.bytes,
              block.address);
}

void report(std::string_view found, Piece pages) {
  say_and_end(
      "huddle: heap: {}: addresses {:#x} to {:#x}; complete all "
      "communication with a buffer before freeing it\n",
      found, pages.offset, pages.end());
}

}  // namespace huddle::memory
