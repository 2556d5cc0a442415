// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/memory_census.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/file_descriptor.h"
#include "common/system.h"
#include "placement/threads/page_scan.h"
#include "placement/threads/protection.h"
#include "placement/threads/sample_window.h"

namespace huddle::threads {
namespace {

bool is_memory(std::string_view path) {
  constexpr std::array devices = {std::string_view("/dev/shm/"), std::string_view("/dev/zero")};
  if (path.starts_with("anon_inode:")) return false;
  return !path.starts_with("/dev/") ||
         std::any_of(devices.begin(), devices.end(),
                     [path](std::string_view one) { return path.starts_with(one); });
}

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
    if (found < 0 || request.walk_end <= from) return bytes;  // unmapped by now
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

std::uint64_t shared_mapping_bytes(const std::vector<std::string>& maps) {
  constexpr std::size_t range = 0, access = 1, path = 5;
  std::uint64_t bytes = 0;
  for (const std::string& line : maps) {
    const std::vector<std::string> fields = words(line);
    if (fields.size() < path || fields[access] != "rw-s") continue;
    if (fields.size() > path && !is_memory(fields[path])) continue;
    bytes += range_from(fields[range]).bytes();
  }
  return bytes;
}

MemoryCensus count_memory(pid_t process) {
  const std::vector<std::string> maps = System().lines(fmt::format("/proc/{}/maps", process));
  MemoryCensus census{.resident_bytes = resident_bytes(process),
                      .shared_bytes = shared_mapping_bytes(maps)};
  const FileDescriptor pagemap(
      ::open(fmt::format("/proc/{}/pagemap", process).c_str(), O_RDONLY | O_CLOEXEC));
  if (!pagemap.is_open()) return census;
  for (const AddressRange& one : writable_ranges(maps)) {
    census.huge_bytes += huge_bytes_in(pagemap.number(), one);
  }
  return census;
}

}  // namespace huddle::threads
