// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Copies that go on at the same time, and how they share what they pass through: max-min. Nobody's
// rate can grow without taking from someone who has no more. A copy loads each resource with so
// many bytes for each of its own: a memory controller carries a plain copy three times, a cache
// that holds one side of it half. Rates are bytes a nanosecond (GB/s).
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace huddle::predict::model {

// What a copy asks of one resource.
struct Load {
  int resource = 0;
  double bytes = 0;  // while the whole copy goes through
};

class Sharing {
 public:
  static constexpr double never = std::numeric_limits<double>::infinity();

  // gb_per_s of each resource; infinity: it holds nobody back.
  explicit Sharing(std::vector<double> gb_per_s);

  // At `now_ns` the copy of that number begins, of so many bytes. Alone it takes so long. pre:
  // now_ns is not before what was said last, alone_ns > 0, bytes > 0, and the copy is not under
  // way.
  void begin(int copy, double now_ns, double bytes, double alone_ns,
             const std::vector<Load>& loads);
  // When the next copy is through, as long as none begins before; never: none is under way.
  double next_end_ns();
  // Takes that one out, at that time, and returns its number; of several the lowest.
  int finish_next();

  // What has passed through each resource since the last clear().
  const std::vector<double>& passed_bytes() const { return passed_bytes_; }
  void clear_passed() { passed_bytes_.assign(passed_bytes_.size(), 0); }

 private:
  struct Open {
    int copy = 0;
    double left_bytes = 0;
    double most_gb_per_s = 0;  // alone
    double gb_per_s = 0;
    std::vector<Load> loads;  // for each of its bytes
  };

  void advance(double now_ns);
  void share();
  void set(Open& one, double gb_per_s);

  std::vector<double> gb_per_s_;
  std::vector<double> passed_bytes_;
  std::vector<Open> open_;  // by number
  double now_ns_ = 0;
  bool is_shared_ = true;
  std::size_t next_ = 0;
  double next_end_ns_ = never;
  // Of share(): kept for their memory.
  std::vector<char> full_;
  std::vector<double> free_, asked_;
  std::vector<int> touched_;
  std::vector<std::size_t> unset_;
};

}  // namespace huddle::predict::model
