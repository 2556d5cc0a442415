// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/agreed_configuration.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "runtime/memory/one_sided_fence.h"
#include "runtime/team/agree.h"

namespace huddle::team {
namespace {

using Chunk = std::array<char, 4096>;

// Everybody gets the first rank's text: rare, and as many rounds as it takes.
std::string text_of_first(const Bootstrap& bootstrap, const std::string& mine, std::size_t bytes,
                          std::span<Trouble> room) {
  std::string text;
  std::vector<Chunk> chunks;
  agree(room, bootstrap, [&] {
    text.reserve(bytes);
    chunks.resize(room.size());
  });
  while (text.size() < bytes) {
    const std::size_t at = text.size();
    Chunk chunk{};
    if (bootstrap.rank == 0) mine.copy(chunk.data(), chunk.size(), at);
    gather_to(std::span(chunks), bootstrap, chunk);
    text.append(chunks.front().data(), std::min(chunk.size(), bytes - at));
  }
  return text;
}

}  // namespace

AgreementBuffers::AgreementBuffers(int ranks)
    : statements(static_cast<std::size_t>(ranks)),
      views(statements.size()),
      troubles(statements.size()) {}

AgreedConfiguration agree_on_configuration(const Bootstrap& bootstrap, const Context& context,
                                           AgreementBuffers& room) {
  const std::string& text = context.machine_text();
  const std::string& forcing = context.forcing_text();
  const RankStatement mine{
      cpu_binding_of_this_thread(context.processors()),
      context.queue_bytes(),
      text.size(),
      std::hash<std::string>()(text),
      forcing.size(),
      std::hash<std::string>()(forcing),
      context.heap().has_value(),
      memory::OneSidedFence::is_to_be_had(memory::OneSidedFence::Among::processes)};
  gather_to(std::span(room.statements), bootstrap, mine);
  AgreedConfiguration agreed{std::move(room.statements), {}, {}};
  const std::vector<RankStatement>& all = agreed.statements;
  const RankStatement& first = all.front();
  const bool all_alike = std::all_of(all.begin(), all.end(), [&](const RankStatement& one) {
    return one.machine_digest == first.machine_digest && one.machine_bytes == first.machine_bytes;
  });
  if (!all_alike) {
    agreed.machine_text = text_of_first(bootstrap, text, first.machine_bytes, room.troubles);
  }
  const bool all_force_alike = std::all_of(all.begin(), all.end(), [&](const RankStatement& one) {
    return one.forcing_digest == first.forcing_digest && one.forcing_bytes == first.forcing_bytes;
  });
  if (!all_force_alike) {
    agreed.forcing_text = text_of_first(bootstrap, forcing, first.forcing_bytes, room.troubles);
  }
  return agreed;
}

}  // namespace huddle::team
