// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/agree.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "base/error.h"

namespace huddle::team {

Trouble::Trouble(std::string_view text) {
  const std::string_view some = text.empty() ? "an error without a word" : text;
  std::copy_n(some.begin(), std::min(some.size(), text_.size() - 1), text_.begin());
}

Trouble Trouble::of(const std::function<void()>& step) {
  try {
    step();
    return {};
  } catch (const std::exception& error) {
    return Trouble(error.what());
  }
}

// Even where the bytes come from elsewhere and nothing ends them.
std::string_view Trouble::text() const {
  return {text_.begin(), std::find(text_.begin(), text_.end(), '\0')};
}

void throw_first(std::span<const Trouble> by_rank) {
  const auto first = std::find_if(by_rank.begin(), by_rank.end(),
                                  [](const Trouble& trouble) { return trouble.is_any(); });
  if (first == by_rank.end()) return;
  throw FailureError(fmt::format("rank {}: {}", first - by_rank.begin(), first->text()));
}

void agree(const Bootstrap& bootstrap, const std::function<void()>& step) {
  throw_first(gather(bootstrap, Trouble::of(step)));
}

}  // namespace huddle::team
