// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/settlement.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "team/agree.h"
#include "team/greeting.h"

namespace huddle::team {
namespace {

using Chunk = std::array<char, 4096>;

// Everybody gets the first rank's text: rare, and as many rounds as it takes.
std::string text_of_first(const Bootstrap& bootstrap, const std::string& mine, std::size_t bytes) {
  std::string text;
  text.reserve(bytes);
  while (text.size() < bytes) {
    const std::size_t at = text.size();
    Chunk chunk{};
    if (bootstrap.rank == 0) mine.copy(chunk.data(), chunk.size(), at);
    const Chunk first = gather(bootstrap, chunk).front();
    text.append(first.data(), std::min(first.size(), bytes - at));
  }
  return text;
}

}  // namespace

Settlement settle(const Bootstrap& bootstrap, const Context& context) {
  greet(bootstrap);
  const std::string& text = context.machine_text();
  const Statement mine{whereabouts_of_this_thread(context.processors()), context.queue_bytes(),
                       text.size(), std::hash<std::string>()(text), context.heap().has_value()};
  Settlement settlement{gather(bootstrap, mine), {}};
  const std::vector<Statement>& all = settlement.statements;
  const Statement& first = all.front();
  const bool all_alike = std::all_of(all.begin(), all.end(), [&](const Statement& one) {
    return one.machine_digest == first.machine_digest && one.machine_bytes == first.machine_bytes;
  });
  if (!all_alike) settlement.machine_text = text_of_first(bootstrap, text, first.machine_bytes);
  return settlement;
}

}  // namespace huddle::team
