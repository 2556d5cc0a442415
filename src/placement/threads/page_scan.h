// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The PAGEMAP_SCAN call of Linux 6.7, which headers of older distributions do not have: finds pages
// by what they are, and write-protects them in the same step.
#pragma once

#include <sys/ioctl.h>

#include <cstdint>

namespace huddle::threads {

struct PageRegion {
  std::uint64_t start = 0, end = 0, categories = 0;
};

struct PageScan {
  std::uint64_t size = sizeof(PageScan);
  std::uint64_t flags = 0;
  std::uint64_t start = 0, end = 0;
  std::uint64_t walk_end = 0;  // out: where it stopped
  std::uint64_t vec = 0;       // address of an array of PageRegion
  std::uint64_t vec_len = 0;
  std::uint64_t max_pages = 0;
  std::uint64_t category_inverted = 0;  // of those below: has to be absent
  std::uint64_t category_mask = 0;      // all of these
  std::uint64_t category_anyof_mask = 0;
  std::uint64_t return_mask = 0;
};

inline constexpr unsigned long pagemap_scan = _IOWR('f', 16, PageScan);
// Flags: protect what matches, and fail where no userfaultfd watches that memory.
inline constexpr std::uint64_t protect_matching = 1U << 0U;
inline constexpr std::uint64_t only_watched = 1U << 1U;
// Categories.
inline constexpr std::uint64_t page_is_written = 1U << 1U;  // since it was protected, or never was
inline constexpr std::uint64_t page_is_present = 1U << 3U;
inline constexpr std::uint64_t page_is_huge = 1U << 6U;

}  // namespace huddle::threads
