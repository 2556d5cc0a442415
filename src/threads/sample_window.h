// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The moving sample of a program's memory: a window on all its ranges laid end to end. The window is
// gone over again and again, so that each page in it is seen several times, and then moves on. Its
// size follows what one call may protect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace huddle::threads {

struct AddressRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;

  std::uint64_t bytes() const { return end - start; }
  bool operator==(const AddressRange&) const = default;
};

// What a program writes to, by the lines of its /proc/PID/maps: neither devices nor memory that is
// shared with other programs.
std::vector<AddressRange> writable_ranges(const std::vector<std::string>& maps);

class SampleWindow {
 public:
  // The window stays where it is among them, as far as they reach.
  void set_ranges(std::vector<AddressRange> ranges);
  const std::vector<AddressRange>& ranges() const { return ranges_; }
  std::uint64_t bytes() const { return all_bytes_; }

  // What comes next in this pass; nothing once it is over.
  std::optional<AddressRange> next() const;
  // So much of that has been gone over.
  void advance(std::uint64_t bytes) { at_ += bytes; }
  // A call is over: it has found so many pages of those that it might have.
  void finish_call(int pages, int most_pages);

  // Nothing in the window was protected before: what a pass finds are no faults.
  bool is_first_pass() const { return pass_ == 0; }

 private:
  std::uint64_t window_bytes() const;
  void move_on();

  std::vector<AddressRange> ranges_;
  std::uint64_t all_bytes_ = 0;
  std::uint64_t start_ = 0;  // of the window
  std::uint64_t wanted_bytes_ = 1U << 20U;
  std::uint64_t at_ = 0;  // in the window: up to where this pass has come
  int pass_ = 0;
  int calls_ = 0;             // in the passes after the first
  double share_of_most_ = 0;  // of what those might have found, added up
};

}  // namespace huddle::threads
