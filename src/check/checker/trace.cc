// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "check/checker/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "check/checker/text.h"

namespace huddle::verify::checker {

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

}  // namespace huddle::verify::checker
