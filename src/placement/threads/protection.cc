// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/threads/protection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/file.h"
#include "common/system.h"
#include "placement/threads/helper/greeting.h"

namespace huddle::threads {

// Argument of the ioctl PAGEMAP_SCAN of Linux 6.7, which finds pages by their properties and
// write-protects them in the same step. Headers of older distributions do not define it.
struct PageRegion {
  std::uint64_t start = 0, end = 0, categories = 0;
};

struct PageScan {
  std::uint64_t size = sizeof(PageScan);
  std::uint64_t flags = 0;
  std::uint64_t start = 0, end = 0;
  std::uint64_t walk_end = 0;  // out: end of the scanned range
  std::uint64_t vec = 0;       // address of an array of PageRegion
  std::uint64_t vec_len = 0;
  std::uint64_t max_pages = 0;
  std::uint64_t category_inverted = 0;  // categories of the masks below that must be absent
  std::uint64_t category_mask = 0;      // all of these must match
  std::uint64_t category_anyof_mask = 0;
  std::uint64_t return_mask = 0;
};

inline constexpr unsigned long pagemap_scan = _IOWR('f', 16, PageScan);
// Flags: protect the pages that match, and fail for memory without userfaultfd.
inline constexpr std::uint64_t protect_matching = 1U << 0U;
inline constexpr std::uint64_t only_watched = 1U << 1U;
// Page categories. A page counts as written if it was written to since it was last protected, or if
// it was never protected.
inline constexpr std::uint64_t page_is_written = 1U << 1U;
inline constexpr std::uint64_t page_is_present = 1U << 3U;
inline constexpr std::uint64_t page_is_huge = 1U << 6U;

namespace {

// Passes over a window before it moves on: each of its pages can be observed that often.
constexpr int passes_a_window = 12;
// The window moves on early after this many passes in a row without a write.
constexpr int most_empty_passes = 2;
// If a pass takes more calls than this, pages are visited too rarely and the window shrinks.
constexpr double most_calls_a_pass = 3;
// If calls find less than this fraction of the pages that they may protect, the window grows.
constexpr double least_share = 0.5;
constexpr int least_pages = 16;
constexpr int most_pages_wanted = 1 << 18;

std::uint64_t hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

// Fields of a line of /proc/PID/maps: "55d0c000-55d0e000 rw-p 00000000 fe:00 12345   /path".
constexpr std::size_t range_field = 0, access_field = 1, path_field = 5;

bool begins_with_any(std::string_view path, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [path](std::string_view one) { return path.starts_with(one); });
}

// Returns whether the path of a shared mapping is that of memory without a file on a disk:
// anonymous, POSIX, of memfd_create(), or System V. The program may give POSIX memory another path.
bool is_shared_memory(std::string_view path) {
  using namespace std::literals;
  constexpr std::array prefixes = {"/dev/zero"sv, "/dev/shm/"sv, "/memfd:"sv, "/SYSV"sv};
  return begins_with_any(path, prefixes);
}

bool is_device(std::string_view path) {
  using namespace std::literals;
  constexpr std::array prefixes = {"/dev/"sv, "[v"sv, "anon_inode:"sv};
  return begins_with_any(path, prefixes);
}

// Returns whether writes to the mapping can be made visible. `fields`: at least path_field.
bool is_observed(const std::vector<std::string>& fields) {
  const std::string_view path =
      fields.size() > path_field ? std::string_view(fields[path_field]) : std::string_view();
  if (fields[access_field] == "rw-p") return !is_device(path);
  return fields[access_field] == "rw-s" && is_shared_memory(path);
}

}  // namespace

AddressRange range_from(std::string_view text) {
  const std::size_t dash = std::min(text.find('-'), text.size() - 1);
  return {hexadecimal(text.substr(0, dash)), hexadecimal(text.substr(dash + 1))};
}

std::vector<AddressRange> writable_ranges(const std::vector<std::string>& maps) {
  std::vector<AddressRange> ranges;
  for (const std::string& line : maps) {
    const std::vector<std::string> fields = words(line);
    if (fields.size() < path_field || !is_observed(fields)) continue;
    const AddressRange found = range_from(fields[range_field]);
    if (found.end > found.start) ranges.push_back(found);
  }
  return ranges;
}

void SampleWindow::set_ranges(std::vector<AddressRange> ranges) {
  if (ranges == ranges_) return;
  ranges_ = std::move(ranges);
  all_bytes_ = 0;
  for (const AddressRange& range : ranges_) all_bytes_ += range.bytes();
  if (start_ >= all_bytes_) start_ = 0;
  at_ = 0;
  pass_ = 0;
  found_ = 0;
}

std::optional<AddressRange> SampleWindow::next() const {
  if (at_ >= end() || (is_first_pass() && found_ >= wanted_pages_)) return std::nullopt;
  std::uint64_t offset = (start_ + at_) % all_bytes_;
  for (const AddressRange& range : ranges_) {
    if (offset < range.bytes()) {
      const std::uint64_t from = range.start + offset;
      return AddressRange{from, std::min(range.end, from + end() - at_)};
    }
    offset -= range.bytes();
  }
  return std::nullopt;
}

void SampleWindow::finish_call(int pages, int most_pages) {
  if (is_first_pass()) {
    finish_first_pass(pages);
    return;
  }
  ++calls_;
  share_of_most_ += static_cast<double>(pages) / most_pages;
  pages_in_pass_ += pages;
  if (at_ < length_) return;
  at_ = 0;
  empty_passes_ = pages_in_pass_ == 0 ? empty_passes_ + 1 : 0;
  pages_in_pass_ = 0;
  if (++pass_ > passes_a_window || empty_passes_ >= most_empty_passes) move_on();
}

void SampleWindow::finish_first_pass(int pages) {
  found_ += pages;
  if (found_ < wanted_pages_ && at_ < all_bytes_) return;
  length_ = at_;
  at_ = 0;
  pass_ = 1;
}

// A window that contains all memory stays, and its next pass is not a first pass.
void SampleWindow::move_on() {
  const bool holds_all = length_ >= all_bytes_;
  const double calls_a_pass = static_cast<double>(calls_) / (pass_ - 1);
  if (calls_a_pass > most_calls_a_pass) {
    wanted_pages_ = std::max(wanted_pages_ / 2, least_pages);
  } else if (share_of_most_ < least_share * calls_ && !holds_all) {
    wanted_pages_ = std::min(wanted_pages_ * 2, most_pages_wanted);
  }
  const bool stays = holds_all && calls_a_pass <= most_calls_a_pass;
  if (!stays && all_bytes_ > 0) start_ = (start_ + length_) % all_bytes_;
  pass_ = stays ? 1 : 0;
  found_ = calls_ = empty_passes_ = 0;
  share_of_most_ = 0;
}

namespace {

// Returns whether the program has a userfaultfd of its own. The helper has closed its copy of ours.
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

// Fails for memory that the program has registered with its own userfaultfd, and for memory that
// has just been unmapped. Such memory is not observed.
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
  // Protecting a huge page makes the kernel split it: partly at once, completely at the next write.
  if (huge_ == HugePages::left_alone) {
    request.category_mask |= page_is_huge;
    request.category_inverted = page_is_huge;
  }
  request.return_mask = page_is_written;
  const int found = ::ioctl(pagemap_.number(), pagemap_scan, &request);
  // unmapped in the meantime
  if (found < 0 || request.walk_end <= range.start) return {0, range.bytes()};
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

namespace {

std::uint64_t huge_bytes_in(int pagemap, const AddressRange& range) {
  std::uint64_t bytes = 0;
  for (std::uint64_t from = range.start; from < range.end;) {
    std::array<PageRegion, 64> regions;
    PageScan request;
    request.start = from;
    request.end = range.end;
    request.vec = reinterpret_cast<std::uintptr_t>(regions.data());
    request.vec_len = regions.size();
    request.category_mask = request.return_mask = page_is_present | page_is_huge;
    const int found = ::ioctl(pagemap, pagemap_scan, &request);
    if (found < 0 || request.walk_end <= from) return bytes;  // unmapped in the meantime
    for (int i = 0; i < found; ++i) {
      const PageRegion& region = regions[static_cast<std::size_t>(i)];
      bytes += region.end - region.start;
    }
    from = request.walk_end;
  }
  return bytes;
}

}  // namespace

void MemoryCensus::keep_most(const MemoryCensus& other) {
  resident_bytes = std::max(resident_bytes, other.resident_bytes);
  shared_bytes = std::max(shared_bytes, other.shared_bytes);
  huge_bytes = std::max(huge_bytes, other.huge_bytes);
}

std::uint64_t file_mapping_bytes(const std::vector<std::string>& maps) {
  std::uint64_t bytes = 0;
  for (const std::string& line : maps) {
    const std::vector<std::string> fields = words(line);
    if (fields.size() <= path_field || fields[access_field] != "rw-s") continue;
    if (is_observed(fields) || is_device(fields[path_field])) continue;
    bytes += range_from(fields[range_field]).bytes();
  }
  return bytes;
}

MemoryCensus count_memory(pid_t process) {
  const std::vector<std::string> maps = System().lines(fmt::format("/proc/{}/maps", process));
  MemoryCensus census{.resident_bytes = resident_bytes(process),
                      .shared_bytes = file_mapping_bytes(maps)};
  const FileDescriptor pagemap(
      ::open(fmt::format("/proc/{}/pagemap", process).c_str(), O_RDONLY | O_CLOEXEC));
  if (!pagemap.is_open()) return census;
  for (const AddressRange& one : writable_ranges(maps)) {
    census.huge_bytes += huge_bytes_in(pagemap.number(), one);
  }
  return census;
}

}  // namespace huddle::threads
