// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/sample_window.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "common/system.h"

namespace huddle::threads {
namespace {

// A window stays for so many passes: each page in it can be seen that often.
constexpr int passes_a_window = 12;
// Unless nobody writes to it.
constexpr int most_empty_passes = 2;
// A pass that takes more calls than that comes by each page too seldom: the window shrinks.
constexpr double most_calls_a_pass = 3;
// Calls that find less than this share of what they might: the window grows.
constexpr double least_share = 0.5;
constexpr int least_pages = 16;
constexpr int most_pages_wanted = 1 << 18;

std::uint64_t hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

}  // namespace

AddressRange range_from(std::string_view text) {
  const std::size_t dash = std::min(text.find('-'), text.size() - 1);
  return {hexadecimal(text.substr(0, dash)), hexadecimal(text.substr(dash + 1))};
}

std::vector<AddressRange> writable_ranges(const std::vector<std::string>& maps) {
  constexpr std::size_t range = 0, access = 1, path = 5;
  std::vector<AddressRange> ranges;
  for (const std::string& line : maps) {
    // "55d0c000-55d0e000 rw-p 00000000 fe:00 12345   /path"
    const std::vector<std::string> fields = words(line);
    if (fields.size() < path || fields[access] != "rw-p") continue;
    const bool is_named = fields.size() > path;
    if (is_named && (fields[path].starts_with("/dev/") || fields[path].starts_with("[v"))) continue;
    const AddressRange found = range_from(fields[range]);
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

// A window that holds everything stays, and is not new the next time.
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

}  // namespace huddle::threads
