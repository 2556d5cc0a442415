// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/futex_waiters.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/file_descriptor.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::memory {
namespace {

// Takes the next number of the line, in this base, with "0x" before it if it is hexadecimal.
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

// The kernel writes the number of the call that a thread sleeps in, and its arguments.
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

// Uses another mapping of the page, in which the kernel finds the same futex.
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

}  // namespace huddle::memory
