// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "check/checker/site.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <utility>

namespace huddle::check::checker {
namespace {

constexpr std::array<std::string_view, 20> operation_names = {
    "load",     "store",    "fetch_add", "fetch_sub", "fence", "wait",   "wait_any",
    "wait_all", "prefetch", "copy",      "take",      "keep",  "reduce", "sleep",
    "wake",     "expose",   "order",     "reach",     "pull",  "push"};
constexpr std::array<std::string_view, 5> region_names = {"shared", "input", "output", "scratch",
                                                          "reached"};

// Values at most this far below the wrap at 2^32 are printed as a distance from it.
constexpr context::Sequence near_wrap = 4096;

// "void ns::Barrier<W>::arrive(int) [with W = ...]" -> "arrive"
std::string_view short_function(std::string_view function) {
  const std::size_t lambda = function.find("<lambda");
  if (lambda != std::string_view::npos) return "a lambda";
  const std::string_view head = function.substr(0, function.find('('));
  const std::size_t start = head.find_last_of(" :");
  return start == std::string_view::npos ? head : head.substr(start + 1);
}

std::string_view short_file(std::string_view file) {
  const std::size_t slash = file.find_last_of('/');
  return slash == std::string_view::npos ? file : file.substr(slash + 1);
}

}  // namespace

std::string_view name(Operation operation) {
  return operation_names[static_cast<std::size_t>(operation)];
}

std::string_view name(context::Region region) {
  return region_names[static_cast<std::size_t>(region)];
}

std::string text_of(context::Address place) {
  return fmt::format("{} of {} at {}", name(place.region()), place.owner(), place.offset);
}

std::string text_of(context::Address place, std::size_t n) {
  if (n == 0) return text_of(place) + " (0 bytes)";
  return fmt::format("{}..{}", text_of(place), place.offset + n - 1);
}

std::string text_of(context::Sequence value) {
  const context::Sequence below = context::Sequence{0} - value;
  if (below != 0 && below <= near_wrap) return fmt::format("2^32-{}", below);
  return fmt::format("{}", value);
}

std::string text_of(const context::Until& until) {
  const bool is_reached = until.kind == context::Until::Kind::reached;
  return fmt::format("{} {}", is_reached ? "reaches" : "is", text_of(until.value));
}

std::string text_of(const Site& site) {
  return fmt::format("{}, {}:{} in {}", name(site.operation), short_file(site.file), site.line,
                     short_function(site.function));
}

void Trace::note(const Call& call, std::string text, std::vector<Touched> touched) {
  events_.push_back({call, std::move(text), std::move(touched)});
}

std::string Trace::tail(std::size_t events) const {
  const std::size_t first = events_.size() - std::min(events, events_.size());
  std::string text;
  if (first > 0) text += fmt::format("  ({} events before)\n", first);
  for (std::size_t i = first; i < events_.size(); ++i) {
    const Event& event = events_[i];
    text += fmt::format("  rank {}  {}", event.call.rank, event.text);
    if (event.call.site.line != 0) text += fmt::format("  [{}]", text_of(event.call.site));
    text += '\n';
  }
  return text;
}

std::optional<Site> Trace::last_touch(int rank, std::size_t byte) const {
  for (std::size_t i = events_.size(); i-- > 0;) {
    const Event& event = events_[i];
    if (event.call.rank != rank) continue;
    for (const Touched& touched : event.touched) {
      if (touched.first <= byte && byte < touched.first + touched.n) return event.call.site;
    }
  }
  return std::nullopt;
}

}  // namespace huddle::check::checker
