// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What has to be equal on all ranks before a team can choose anything: agreed on when it is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/team/agree.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/context.h"
#include "runtime/team/cpu_binding.h"

namespace huddle::team {

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

}  // namespace huddle::team
