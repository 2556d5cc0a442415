// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace huddle::mpi {

std::string_view kind_never_taken(std::string_view name) {
  if (name.find("eighbor_") != std::string_view::npos) return "neighborhood";
  if (name.find("_init") != std::string_view::npos) return "persistent";
  return name.starts_with("MPI_I") ? "nonblocking" : "not taken yet";
}

std::vector<Reason> reasons_of(const std::array<std::size_t, route_count>& passed,
                               const huddle_door& door) {
  std::vector<Reason> reasons;
  for (std::size_t i = 0; i < route_count; ++i) {
    if (passed[i] > 0) reasons.push_back({passed[i], words(static_cast<Route>(i))});
  }
  std::map<std::string_view, std::size_t> elsewhere;
  for (std::size_t i = 0; i < door.route_count; ++i) {
    const std::size_t calls = huddle_counted_calls(&door.passed[i]);
    if (calls > 0) elsewhere[kind_never_taken(door.passed[i].name)] += calls;
  }
  for (const auto& [kind, calls] : elsewhere) reasons.push_back({calls, kind});
  sort_by_calls(reasons);
  return reasons;
}

void sort_by_calls(std::vector<Reason>& reasons) {
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.calls > b.calls; });
}

std::size_t calls_of(const std::vector<Reason>& reasons) {
  std::size_t calls = 0;
  for (const Reason& reason : reasons) calls += reason.calls;
  return calls;
}

std::string listed(const std::vector<Reason>& reasons) {
  std::string list;
  for (const Reason& reason : reasons) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", grouped(reason.calls), reason.words);
  }
  return list.empty() ? list : fmt::format(" ({})", list);
}

std::string grouped(std::size_t number) {
  constexpr std::size_t group = 3;
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && (digits.size() - at) % group == 0) text.push_back(',');
    text.push_back(digits[at]);
  }
  return text;
}

}  // namespace huddle::mpi
