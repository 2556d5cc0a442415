// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The moving sample of a program's memory: a window on all its ranges laid end to end. It is gone
// over again and again, so that each page in it is seen several times, and then moves on. How many
// pages it holds follows what one call may protect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::threads {

struct AddressRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;

  std::uint64_t bytes() const { return end - start; }
  bool operator==(const AddressRange&) const = default;
};

// Returns the range of a line of /proc/PID/maps: "55d0c000-55d0e000".
AddressRange range_from(std::string_view text);

// What a program writes to, by the lines of its /proc/PID/maps: neither devices nor memory that is
// shared with other programs.
std::vector<AddressRange> writable_ranges(const std::vector<std::string>& maps);

class SampleWindow {
 public:
  // The window stays where it is among them, as far as they reach, and its pages are new again.
  void set_ranges(std::vector<AddressRange> ranges);

  // How many pages a call may protect where the budget allows so many.
  int most_pages(int budget) const { return is_first_pass() ? wanted_pages_ - found_ : budget; }
  // What comes next in this pass; nothing once it is over.
  std::optional<AddressRange> next() const;
  // So much of that has been gone over.
  void advance(std::uint64_t bytes) { at_ += bytes; }
  // A call is over: it has found so many pages of those that it might have.
  void finish_call(int pages, int most_pages);

  // It goes as far as it takes to find enough pages. None was protected before: what is found are
  // no faults.
  bool is_first_pass() const { return pass_ == 0; }

 private:
  void finish_first_pass(int pages);
  void move_on();
  std::uint64_t end() const { return is_first_pass() ? all_bytes_ : length_; }

  std::vector<AddressRange> ranges_;
  std::uint64_t all_bytes_ = 0;
  std::uint64_t start_ = 0;   // of the window
  std::uint64_t length_ = 0;  // once the first pass is over
  std::uint64_t at_ = 0;      // in the window: up to where this pass has come
  int wanted_pages_ = 256;
  int found_ = 0;  // in the first pass
  int pass_ = 0;
  // In the passes after the first:
  int calls_ = 0;
  int pages_in_pass_ = 0;
  int empty_passes_ = 0;      // in a row
  double share_of_most_ = 0;  // of what those calls might have found, added up
};

}  // namespace huddle::threads
