// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The first step of making a team: each rank takes the memory that the next ones need, and they
// greet each other. Whoever got none says so there, and then nobody goes on; a rank that failed
// later, before it has told the others anything, would be waited for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/team/bootstrap.h"
#include "runtime/team/cpu_binding.h"
#include "runtime/team/set_up.h"
#include "runtime/team/team_context.h"

namespace huddle::team {

// The first thing that ranks tell each other when a team is made: which build of huddle each has.
// What they tell each other later may differ from build to build, in its size as well.

// The same 64 bytes in every version, now and later.
struct Greeting {
  std::uint64_t magic = expected_magic;
  std::array<char, 24> version{};  // "0.1.0", and zeros to the end
  std::uint32_t statement_bytes = 0;
  std::uint32_t card_bytes = 0;
  std::uint32_t decision_bytes = 0;
  std::uint32_t is_in_trouble = 0;  // 1: this rank has no memory to go on
  std::array<std::uint8_t, 16> spare{};

  static constexpr std::uint64_t expected_magic = 0x6D6165742D647568;  // "hud-team"

  static Greeting mine();
};
static_assert(sizeof(Greeting) == 64 && std::is_trivially_copyable_v<Greeting>);

// One allgather. After it all ranks know that they have the same build and go on, or all throw the
// same FailureError. Takes no memory, unless there are very many ranks.
void greet(const Bootstrap& bootstrap, const Greeting& mine = Greeting::mine());

// What has to be equal on all ranks before a team can choose anything: agreed on when it is made.

// What each rank says of itself.
struct RankStatement {
  CpuBinding cpu_bindings;
  std::size_t queue_bytes = 0;
  std::size_t machine_bytes = 0;
  std::size_t machine_digest = 0;
  std::size_t forcing_bytes = 0;
  std::size_t forcing_digest = 0;
  bool has_heap = false;
  bool has_one_sided_fence = false;
};

struct AgreedConfiguration {
  std::vector<RankStatement> statements;  // by rank
  // The lowest rank's machine, where they differ; empty: this rank's is everybody's.
  std::string machine_text;
  // What the lowest rank was told to force, where they differ; nothing: this rank's is everybody's.
  std::optional<std::string> forcing_text;
};

// What a rank has come to by that, before it chooses anything.
struct DerivedConfiguration {
  Trouble trouble;
  std::uint64_t digest = 0;     // see SelectionInputs
  std::size_t queue_bytes = 0;  // the lowest rank's is everybody's
};

// For what ranks tell each other meanwhile: one of each rank.
struct AgreementBuffers {
  explicit AgreementBuffers(int ranks);

  std::vector<RankStatement> statements;
  std::vector<DerivedConfiguration> views;
  std::vector<Trouble> troubles;
};

// All ranks throw the same FailureError, or none does.
AgreedConfiguration agree_on_configuration(const Bootstrap& bootstrap, const Context& context,
                                           AgreementBuffers& room);

struct Preparation {
  Preparation(Peers& peers, const Bootstrap& bootstrap);

  AgreementBuffers agreement;
  Joining joining;
};

// Collective. All ranks throw the same FailureError or none does. Keeps a reference to the
// bootstrap.
std::unique_ptr<Preparation> prepared(Context& context, const Bootstrap& bootstrap);

// The same step of a rank that cannot take the next ones: all throw.
[[noreturn]] void decline(const Bootstrap& bootstrap);
// The same where the only step is that of ranks of a known group.
[[noreturn]] void decline_in_known_group(const Bootstrap& bootstrap);

// A team, or something that has one, from these arguments, in memory of its own: where there is
// none for it, the others hear that, too, by what declines.
template <class T, class Decline, class... Arguments>
std::unique_ptr<T> make_or(Decline decline, Arguments&&... arguments) {
  void* const room = ::operator new(sizeof(T), std::nothrow);
  if (room == nullptr) decline();
  try {
    return std::unique_ptr<T>(new (room) T(std::forward<Arguments>(arguments)...));
  } catch (...) {
    ::operator delete(room);
    throw;
  }
}
template <class T, class... Arguments>
std::unique_ptr<T> make_or_decline(const Bootstrap& bootstrap, Arguments&&... arguments) {
  return make_or<T>([&] { decline(bootstrap); }, std::forward<Arguments>(arguments)...);
}

}  // namespace huddle::team
