// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/settlement.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "machine/machine_file.h"
#include "team/agree.h"

namespace huddle::team {
namespace {

struct Statement {
  Whereabouts whereabouts;
  std::size_t queue_bytes = 0;
  std::size_t machine_bytes = 0;
  std::size_t machine_digest = 0;
};

using Chunk = std::array<char, 4096>;

// Everybody gets the first rank's text: rare, and as many rounds as it takes.
std::string text_of_first(const Bootstrap& bootstrap, const std::string& mine, std::size_t bytes) {
  std::string text;
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
  const std::string& text = context.machine_text();
  const Statement mine{whereabouts_of_this_thread(context.processors()), context.queue_bytes(),
                       text.size(), std::hash<std::string>()(text)};
  const std::vector<Statement> statements = gather(bootstrap, mine);
  const Statement& first = statements.front();
  const bool all_alike = std::all_of(statements.begin(), statements.end(), [&](const auto& one) {
    return one.machine_digest == first.machine_digest && one.machine_bytes == first.machine_bytes;
  });
  Settlement settlement;
  settlement.machine =
      all_alike
          ? context.machine()
          : machine::parse_machine(text_of_first(bootstrap, text, first.machine_bytes), "rank 0");
  settlement.queue_bytes = first.queue_bytes;
  for (const Statement& one : statements) settlement.whereabouts.push_back(one.whereabouts);
  return settlement;
}

}  // namespace huddle::team
