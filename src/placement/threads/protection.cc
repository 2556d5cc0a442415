// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/protection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "common/system.h"
#include "placement/threads/helper/greeting.h"
#include "placement/threads/page_scan.h"

namespace huddle::threads {
namespace {

// The helper has closed the one that it has handed over.
bool has_userfaultfd(pid_t process) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fd", process), error)) {
    const fs::path target = fs::read_symlink(entry.path(), error);
    if (target == "anon_inode:[userfaultfd]") return true;
  }
  return false;
}

}  // namespace

FileDescriptor open_userfaultfd() {
  FileDescriptor opened(static_cast<int>(
      ::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | HUDDLE_UFFD_USER_MODE_ONLY)));
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | HUDDLE_UFFD_WP_ASYNC;
  if (opened.is_open() && ::ioctl(opened.number(), UFFDIO_API, &api) == 0) return opened;
  return {};
}

std::uint64_t resident_bytes(pid_t process) {
  // "size resident shared ...", in pages.
  const auto text = System().read(fmt::format("/proc/{}/statm", process));
  const std::vector<std::string> fields = text ? words(*text) : std::vector<std::string>{};
  if (fields.size() < 2) return 0;
  return static_cast<std::uint64_t>(whole_number(fields[1]).value_or(0)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

Protection::Protection(pid_t process, FileDescriptor userfaultfd, HugePages huge)
    : process_(process),
      userfaultfd_(std::move(userfaultfd)),
      pagemap_(::open(fmt::format("/proc/{}/pagemap", process).c_str(), O_RDONLY | O_CLOEXEC)),
      huge_(huge) {}

bool Protection::find_ranges() {
  if (has_userfaultfd(process_)) return false;
  std::vector<AddressRange> ranges;
  const std::vector<std::string> maps = System().lines(fmt::format("/proc/{}/maps", process_));
  for (const AddressRange& range : writable_ranges(maps)) {
    if (register_range(range)) ranges.push_back(range);
  }
  window_.set_ranges(std::move(ranges));
  return true;
}

void Protection::watch_only(const AddressRange& range) {
  if (register_range(range)) window_.set_ranges({range});
}

// Fails for what the program watches by a userfaultfd of its own, and for what has just been
// unmapped: that is left alone.
bool Protection::register_range(const AddressRange& range) const {
  uffdio_register registration{};
  registration.range = {range.start, range.bytes()};
  registration.mode = UFFDIO_REGISTER_MODE_WP;
  return ::ioctl(userfaultfd_.number(), UFFDIO_REGISTER, &registration) == 0;
}

Protection::Scan Protection::scan(const AddressRange& range, int most_pages) const {
  std::array<PageRegion, 64> regions;
  PageScan request;
  request.flags = protect_matching | only_watched;
  request.start = range.start;
  request.end = range.end;
  request.max_pages = static_cast<std::uint64_t>(most_pages);
  request.vec = reinterpret_cast<std::uintptr_t>(regions.data());
  request.vec_len = regions.size();
  request.category_mask = page_is_written | page_is_present;
  // The kernel splits a huge page that is protected: at once in part, as a whole at the next write.
  if (huge_ == HugePages::left_alone) {
    request.category_mask |= page_is_huge;
    request.category_inverted = page_is_huge;
  }
  request.return_mask = page_is_written;
  const int found = ::ioctl(pagemap_.number(), pagemap_scan, &request);
  if (found < 0 || request.walk_end <= range.start) return {0, range.bytes()};  // unmapped by now
  std::uint64_t bytes = 0;
  for (int i = 0; i < found; ++i) {
    const PageRegion& region = regions[static_cast<std::size_t>(i)];
    bytes += region.end - region.start;
  }
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return {static_cast<int>(bytes / page_bytes), request.walk_end - range.start};
}

int Protection::rearm(int budget) {
  const int most_pages = window_.most_pages(budget);
  int left = budget > 0 ? most_pages : 0;
  if (left <= 0) return 0;
  const bool makes_faults = !window_.is_first_pass();
  while (left > 0) {
    const std::optional<AddressRange> range = window_.next();
    if (!range) break;
    const Scan done = scan(*range, left);
    left -= done.pages;
    window_.advance(done.bytes);
  }
  window_.finish_call(most_pages - left, most_pages);
  return makes_faults ? most_pages - left : 0;
}

}  // namespace huddle::threads
