// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The first steps of team set-up. Each rank allocates the memory that later steps need; then the
// ranks exchange greetings that identify their builds of huddle and report whether the allocation
// failed. If it failed on any rank, all ranks throw. A rank that ran out of memory in a later step
// could not report it, and the others would wait for it.
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
#include "runtime/team/placement_check.h"
#include "runtime/team/set_up.h"
#include "runtime/team/team_context.h"

namespace huddle::team {

// The first message at team set-up. It identifies the build of huddle, because the size and layout
// of later messages differ between builds. These 64 bytes never change between versions.
struct Greeting {
  std::uint64_t magic = expected_magic;
  std::array<char, 24> version{};  // "0.1.0", padded with zeros
  std::uint32_t statement_bytes = 0;
  std::uint32_t card_bytes = 0;
  std::uint32_t decision_bytes = 0;
  std::uint32_t is_in_trouble = 0;  // 1: this rank has no memory to continue
  std::array<std::uint8_t, 16> spare{};

  static constexpr std::uint64_t expected_magic = 0x6D6165742D647568;  // "hud-team"

  static Greeting mine();
};
static_assert(sizeof(Greeting) == 64 && std::is_trivially_copyable_v<Greeting>);

// Collective; makes one allgather. Returns if all ranks have the same build and enough memory;
// otherwise all ranks throw the same FailureError. Works without heap memory for up to 256 ranks.
void greet(const Bootstrap& bootstrap, const Greeting& mine = Greeting::mine());

// The configuration of one rank. The ranks compare their configurations before they select
// algorithms.
struct RankStatement {
  CpuBinding cpu_bindings;
  std::size_t queue_bytes = 0;
  std::size_t machine_bytes = 0;
  std::size_t machine_digest = 0;
  std::size_t forcing_bytes = 0;
  std::size_t forcing_digest = 0;
  bool has_heap = false;
  bool has_one_sided_fence = false;
  MemoryNodes memory_nodes = {};
};

struct AgreedConfiguration {
  std::vector<RankStatement> statements;  // by rank
  // The text of rank 0's machine file if the ranks' texts differ, otherwise empty.
  std::string machine_text;
  // Rank 0's forced algorithms if the ranks' settings differ, otherwise nothing.
  std::optional<std::string> forcing_text;
};

// The values that a rank derives from the agreed configuration.
struct DerivedConfiguration {
  RankError rank_error;
  std::uint64_t digest = 0;     // see GroupConfiguration::digest()
  std::size_t queue_bytes = 0;  // all ranks use rank 0's
};

// Buffers for the allgathers of the agreement: one element per rank.
struct AgreementBuffers {
  explicit AgreementBuffers(int ranks);

  std::vector<RankStatement> statements;
  std::vector<DerivedConfiguration> views;
  std::vector<RankError> troubles;
};

// Collective. Exchanges the ranks' configurations and, if the machine files or forced algorithms
// differ, those of rank 0. Either all ranks throw the same FailureError or none does.
AgreedConfiguration agree_on_configuration(const Bootstrap& bootstrap, const Context& context,
                                           AgreementBuffers& room);

struct Preparation {
  Preparation(Peers& peers, const Bootstrap& bootstrap);

  AgreementBuffers agreement;
  TeamSetUp joining;
};

// Collective. Allocates the memory for team set-up and exchanges greetings. Either all ranks throw
// the same FailureError or none does. Keeps a reference to the bootstrap.
std::unique_ptr<Preparation> prepared(Context& context, const Bootstrap& bootstrap);

// Call instead of prepared() on a rank that cannot set up a team. All ranks then throw
// FailureError.
[[noreturn]] void fail_set_up(const Bootstrap& bootstrap);
// The same if the ranks are setting up a team of a group whose configuration all of them know (see
// GroupConfiguration).
[[noreturn]] void decline_in_known_group(const Bootstrap& bootstrap);

// Constructs a team, or an object that contains one, on the heap. If there is no memory for the
// object, calls `fail_set_up`, which reports that to the other ranks and throws.
template <class T, class Decline, class... Arguments>
std::unique_ptr<T> make_or(Decline fail_set_up, Arguments&&... arguments) {
  void* const room = ::operator new(sizeof(T), std::nothrow);
  if (room == nullptr) fail_set_up();
  try {
    return std::unique_ptr<T>(new (room) T(std::forward<Arguments>(arguments)...));
  } catch (...) {
    ::operator delete(room);
    throw;
  }
}
template <class T, class... Arguments>
std::unique_ptr<T> make_or_decline(const Bootstrap& bootstrap, Arguments&&... arguments) {
  return make_or<T>([&] { fail_set_up(bootstrap); }, std::forward<Arguments>(arguments)...);
}

}  // namespace huddle::team
