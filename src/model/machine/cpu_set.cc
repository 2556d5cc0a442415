// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/cpu_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "common/error.h"

namespace huddle::machine {
namespace {

// More than any machine has; keeps a damaged "0-4000000000" from eating the memory.
constexpr int largest_cpu = (1 << 16) - 1;

[[noreturn]] void refuse(std::string_view text) {
  throw InputError(fmt::format("'{}' is not a list of processors such as \"0-3,8\"", text));
}

int parse_number(std::string_view digits, std::string_view whole) {
  int value = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) refuse(whole);
  if (value < 0 || value > largest_cpu) refuse(whole);
  return value;
}

void parse_range(std::string_view range, std::string_view whole, std::vector<int>& cpus) {
  const std::size_t dash = range.find('-');
  const int first = parse_number(range.substr(0, dash), whole);
  const int last =
      dash == std::string_view::npos ? first : parse_number(range.substr(dash + 1), whole);
  if (last < first) refuse(whole);
  for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
}

}  // namespace

CpuSet::CpuSet(std::vector<int> cpus) : cpus_(std::move(cpus)) {
  std::sort(cpus_.begin(), cpus_.end());
  cpus_.erase(std::unique(cpus_.begin(), cpus_.end()), cpus_.end());
}

CpuSet CpuSet::parse(std::string_view text) {
  std::vector<int> cpus;
  std::size_t start = 0;
  while (!text.empty() && start <= text.size()) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    parse_range(text.substr(start, comma - start), text, cpus);
    if (cpus.size() > static_cast<std::size_t>(largest_cpu)) refuse(text);
    start = comma + 1;
  }
  return CpuSet(std::move(cpus));
}

std::string CpuSet::text() const {
  std::string result;
  for (std::size_t i = 0; i < cpus_.size();) {
    std::size_t last = i;
    while (last + 1 < cpus_.size() && cpus_[last + 1] == cpus_[last] + 1) ++last;
    if (!result.empty()) result += ',';
    result += last == i ? fmt::format("{}", cpus_[i]) : fmt::format("{}-{}", cpus_[i], cpus_[last]);
    i = last + 1;
  }
  return result;
}

bool CpuSet::contains(int cpu) const { return std::binary_search(cpus_.begin(), cpus_.end(), cpu); }

bool CpuSet::contains(const CpuSet& other) const {
  return std::includes(cpus_.begin(), cpus_.end(), other.cpus_.begin(), other.cpus_.end());
}

bool CpuSet::intersects(const CpuSet& other) const {
  return std::any_of(other.begin(), other.end(), [this](int cpu) { return contains(cpu); });
}

CpuSet united(const CpuSet& a, const CpuSet& b) {
  std::vector<int> cpus;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(cpus));
  return CpuSet(std::move(cpus));
}

CpuSet common(const CpuSet& a, const CpuSet& b) {
  std::vector<int> cpus;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(cpus));
  return CpuSet(std::move(cpus));
}

CpuSet without(const CpuSet& a, const CpuSet& b) {
  std::vector<int> cpus;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(cpus));
  return CpuSet(std::move(cpus));
}

}  // namespace huddle::machine
