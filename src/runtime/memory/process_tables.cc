// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/memory/process_tables.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/file.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::memory {
namespace {

// Removes and returns the next number of the line, with the space or hyphen that follows. In base
// 16, skips a prefix "0x".
std::optional<std::uint64_t> take_number(std::string_view& line, int base) {
  constexpr int hexadecimal = 16;
  if (base == hexadecimal && line.starts_with("0x")) line.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number, base);
  if (error != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  if (line.starts_with(' ') || line.starts_with('-')) line.remove_prefix(1);
  return number;
}

// A system call in which a thread sleeps.
struct SleepingCall {
  std::uint64_t number = 0;
  std::array<std::uint64_t, 3> arguments{};
};

// Returns nothing if the thread is running. `tasks` is a descriptor of /proc/self/task; the file
// "syscall" of a thread contains the number and the arguments of its system call.
std::optional<SleepingCall> sleeping_call(int tasks, const char* thread) {
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
  const auto call = take_number(line, 10);
  if (!call) return std::nullopt;
  SleepingCall sleeping{*call, {}};
  for (std::uint64_t& argument : sleeping.arguments) argument = take_number(line, 16).value_or(0);
  return sleeping;
}

// Calls act(call) for each thread of this process that sleeps in a system call.
template <class Act>
void for_each_sleeping_call(const Act& act) {
  const FileDescriptor tasks(open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  alignas(dirent64) std::array<char, 1024> entries{};
  ssize_t bytes = 0;
  while ((bytes = getdents64(tasks.number(), entries.data(), entries.size())) > 0) {
    for (ssize_t at = 0; at < bytes;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      const auto call = sleeping_call(tasks.number(), entry->d_name);
      if (call) act(*call);
    }
  }
}

bool awaits_shared_futex(const SleepingCall& call, Piece pages) {
  const std::uint64_t address = call.arguments[0];
  return call.number == SYS_futex && (call.arguments[1] & FUTEX_PRIVATE_FLAG) == 0 &&
         address >= pages.offset && address < pages.end();
}

// The buffers of vectored reads are not examined.
bool may_read_into(const SleepingCall& call, Piece pages) {
  const std::uint64_t buffer = call.arguments[1];
  switch (call.number) {
    case SYS_read:
    case SYS_pread64:
      return buffer < pages.end() && buffer + call.arguments[2] > pages.offset;
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
      return true;
    default:
      return false;
  }
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
  for_each_sleeping_call([&](const SleepingCall& call) {
    if (awaits_shared_futex(call, pages)) wake(call.arguments[0] - pages.offset, file);
  });
}

bool may_be_read_into(Piece pages) noexcept {
  // A process that must not be traced cannot read these files either.
  if (access("/proc/thread-self/syscall", R_OK) != 0) return true;
  bool is_found = false;
  for_each_sleeping_call([&](const SleepingCall& call) { is_found |= may_read_into(call, pages); });
  return is_found;
}

namespace {

constexpr int usual_protection = PROT_READ | PROT_WRITE;
// The number of mappings that Linux permits a process by default (vm.max_map_count), rounded up.
// The attributes of further parts are lost.
constexpr std::size_t most_parts = std::size_t{1} << 16;
// A line of /proc/self/maps contains at most a path of 4096 bytes and 100 bytes more.
constexpr std::size_t line_buffer_bytes = 8192;

// NOLINTNEXTLINE(performance-no-int-to-ptr): the offset of a piece is an address here
void* start_of(Piece pages) { return reinterpret_cast<void*>(pages.offset); }

// Returns the bits of mmap() for the letters of /proc/self/maps, such as "rw-p".
int protection_of(std::string_view letters) {
  const auto bit = [letters](char letter, int value) {
    return letters.substr(0, 3).find(letter) == std::string_view::npos ? 0 : value;
  };
  return bit('r', PROT_READ) | bit('w', PROT_WRITE) | bit('x', PROT_EXEC);
}

// Returns whether a line of such a file describes a device or a queue for asynchronous I/O.
bool is_of_device(std::string_view line) {
  const auto has = [line](std::string_view part) { return line.find(part) != line.npos; };
  if (has(" /dev/shm/") || has(" /dev/zero") || has(" /dev/hugepages/")) return false;
  return has(" /dev/") || has("[aio]") || has("anon_inode:");
}

// Requires: the pages belong to one mapping.
bool is_locked(Piece pages) {
  return syscall(SYS_msync, start_of(pages), pages.bytes, MS_INVALIDATE) != 0 && errno == EBUSY;
}

// Calls act(line) for each line of the file. `buffer` is for its use, and holds the longest line.
template <class Act>
void for_each_line(const char* path, std::array<char, line_buffer_bytes>& buffer, const Act& act) {
  const FileDescriptor file(open(path, O_RDONLY | O_CLOEXEC));
  std::size_t held = 0;
  ssize_t bytes = 0;
  while ((bytes = uninterrupted([&] {
            return read(file.number(), buffer.data() + held, buffer.size() - held);
          })) > 0) {
    std::string_view rest(buffer.data(), held + static_cast<std::size_t>(bytes));
    for (std::size_t end = 0; (end = rest.find('\n')) != std::string_view::npos;) {
      act(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    held = rest.size();
    std::copy(rest.begin(), rest.end(), buffer.begin());
  }
}

}  // namespace

struct PageAttributes::Memory {
  std::array<char, line_buffer_bytes> line;
  std::array<Part, most_parts> parts;
};

PageAttributes::PageAttributes(Piece pages) noexcept : memory_(nullptr), widest_(usual_protection) {
  void* const mapped = mmap(nullptr, sizeof(Memory), usual_protection,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return;
  memory_ = static_cast<Memory*>(mapped);
  bool has_device = false;
  for_each_line("/proc/thread-self/maps", memory_->line, [&](std::string_view line) {
    has_device |= is_of_device(line);
    add(line, pages);
  });
  may_have_devices_ = has_device || count_ == 0;
}

PageAttributes::~PageAttributes() {
  if (memory_ != nullptr) munmap(memory_, sizeof(Memory));
}

void PageAttributes::add(std::string_view line, Piece pages) noexcept {
  const auto first = take_number(line, 16);
  const auto last = take_number(line, 16);
  if (!first || !last || count_ == most_parts) return;
  const std::size_t begin = std::max<std::size_t>(*first, pages.offset);
  const std::size_t end = std::min<std::size_t>(*last, pages.end());
  if (begin >= end) return;
  const Piece part{begin, end - begin};
  const int protection = protection_of(line);
  memory_->parts[count_++] = {part, protection, is_locked(part)};
  widest_ |= protection;
}

std::span<const PageAttributes::Part> PageAttributes::parts() const noexcept {
  return memory_ == nullptr ? std::span<const Part>()
                            : std::span<const Part>(memory_->parts).first(count_);
}

void PageAttributes::restore() const noexcept {
  for (const Part& part : parts()) {
    void* const begin = start_of(part.pages);
    if (part.protection != widest_) mprotect(begin, part.pages.bytes, part.protection);
    if (part.is_locked) mlock(begin, part.pages.bytes);
  }
}

}  // namespace huddle::memory
