// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/team/preparation.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "huddle/huddle.h"
#include "runtime/memory/one_sided_fence.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/group_configuration.h"
#include "runtime/team/peer.h"

namespace huddle::team {
namespace {

// Does not rely on a terminating zero, because the greeting comes from another process.
std::string_view version_of(const Greeting& greeting) {
  return {greeting.version.begin(),
          std::find(greeting.version.begin(), greeting.version.end(), '\0')};
}

std::string what_differs(const Greeting& first, const Greeting& other, std::size_t rank) {
  if (other.magic != first.magic) {
    return fmt::format("rank {} uses another protocol for set-up than rank 0", rank);
  }
  if (other.version != first.version) {
    return fmt::format("rank {} uses huddle {}, but rank 0 uses huddle {}", rank, version_of(other),
                       version_of(first));
  }
  if (other.statement_bytes != first.statement_bytes || other.card_bytes != first.card_bytes ||
      other.decision_bytes != first.decision_bytes) {
    return fmt::format("rank {} uses another build of huddle {} than rank 0", rank,
                       version_of(first));
  }
  return {};
}

}  // namespace

Greeting Greeting::mine() {
  Greeting greeting;
  const std::string_view version = huddle_version();
  std::copy_n(version.begin(), std::min(version.size(), greeting.version.size()),
              greeting.version.begin());
  greeting.statement_bytes = sizeof(RankStatement);
  greeting.card_bytes = sizeof(PeerAddress);
  greeting.decision_bytes = sizeof(Decision);
  return greeting;
}

namespace {

// All ranks check the same greetings, so all get the same result.
void check(std::span<const Greeting> greetings) {
  for (std::size_t rank = 1; rank < greetings.size(); ++rank) {
    const std::string difference = what_differs(greetings.front(), greetings[rank], rank);
    if (difference.empty()) continue;
    throw FailureError(difference + "; install the same libhuddle for all ranks");
  }
  for (std::size_t rank = 0; rank < greetings.size(); ++rank) {
    if (greetings[rank].is_in_trouble == 0) continue;
    throw_of(rank,
             RankError("no memory is left to set up a team; free memory, or start fewer ranks"));
  }
}

}  // namespace

void greet(const Bootstrap& bootstrap, const Greeting& mine) {
  with_room_by_rank<Greeting>(bootstrap.ranks, [&](std::span<Greeting> greetings) {
    gather_to(greetings, bootstrap, mine);
    check(greetings);
  });
}

namespace {

using Chunk = std::array<char, 4096>;

// Collective. Returns rank 0's text, which has `bytes` bytes, on all ranks. Makes one allgather per
// chunk, which is acceptable because ranks rarely have different settings.
std::string text_of_first(const Bootstrap& bootstrap, const std::string& mine, std::size_t bytes,
                          std::span<RankError> room) {
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
  CpuBinding binding = cpu_binding_of_this_thread(context.processors());
  binding.at_start = context.cpus_at_start();
  const RankStatement mine{
      binding,
      context.queue_bytes(),
      text.size(),
      std::hash<std::string>()(text),
      forcing.size(),
      std::hash<std::string>()(forcing),
      context.heap().has_value(),
      memory::OneSidedFence::is_supported(memory::OneSidedFence::Among::processes),
      memory_nodes(binding, context.machine().topology, bootstrap.page_nodes)};
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

namespace {

Greeting greeting_in_trouble() {
  Greeting mine = Greeting::mine();
  mine.is_in_trouble = 1;
  return mine;
}

}  // namespace

Preparation::Preparation(Peers& peers, const Bootstrap& bootstrap)
    : agreement(bootstrap.ranks), joining(peers, bootstrap) {
  joining.allocate_memory();
}

std::unique_ptr<Preparation> prepared(Context& context, const Bootstrap& bootstrap) {
  std::unique_ptr<Preparation> mine;
  const RankError rank_error =
      RankError::of([&] { mine = std::make_unique<Preparation>(context.peers(), bootstrap); });
  greet(bootstrap, rank_error.is_any() ? greeting_in_trouble() : Greeting::mine());
  return mine;
}

void decline_in_known_group(const Bootstrap& bootstrap) {
  TeamSetUp::fail_set_up(bootstrap);
  throw FailureError(
      "this rank has no memory left to set up a team; free memory, or start fewer ranks");
}

void fail_set_up(const Bootstrap& bootstrap) {
  greet(bootstrap, greeting_in_trouble());
  throw FailureError(
      "this rank has no memory left to set up a team; free memory, or start fewer ranks");
}

}  // namespace huddle::team
