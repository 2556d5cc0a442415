// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A set of processor numbers (the operating system's), written as Linux writes it: "0-3,8".
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::machine {

class CpuSet {
 public:
  CpuSet() = default;
  // pre: every number is 0 or more; order and repetition do not matter.
  explicit CpuSet(std::vector<int> cpus);

  // "0-3,8" or "" for the empty set. Throws InputError that quotes what it could not read.
  static CpuSet parse(std::string_view text);
  std::string text() const;

  bool empty() const { return cpus_.empty(); }
  int count() const { return static_cast<int>(cpus_.size()); }
  int first() const { return cpus_.front(); }  // pre: not empty
  bool contains(int cpu) const;
  bool contains(const CpuSet& other) const;
  bool intersects(const CpuSet& other) const;

  // In rising order.
  const std::vector<int>& cpus() const { return cpus_; }
  auto begin() const { return cpus_.begin(); }
  auto end() const { return cpus_.end(); }

  auto operator<=>(const CpuSet&) const = default;

 private:
  std::vector<int> cpus_;
};

CpuSet united(const CpuSet& a, const CpuSet& b);
CpuSet common(const CpuSet& a, const CpuSet& b);
CpuSet without(const CpuSet& a, const CpuSet& b);

}  // namespace huddle::machine
