// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle ucx` has to say, and its two ways of saying it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/console.h"
#include "tools/cli/ucx_runs.h"
#include "tools/ucx/advice.h"
#include "tools/ucx/format.h"

namespace huddle::cli {

struct UcxAdvice {
  ucx::Heading heading;
  ucx::Advice advice;
};

std::string ucx_json(const UcxAdvice& given);

// Over what messages inside the node go, now and with huddle's settings.
struct UcxCheck {
  UcxAdvice given;
  std::vector<ucx::Selection> now;
  std::vector<ucx::Selection> advised;
  std::vector<ucx::Device> devices;
  std::vector<std::string> complaints;  // of UCX, about huddle's settings
  std::vector<UcxRuns> runs;            // of an MPI's own collectives, by ranks
  std::optional<UcxProgramRuns> program_runs;
};

// Lanes over a network, of messages inside the node.
struct Stray {
  ucx::Lane lane;
  std::string call;
  double from_bytes = 0;
};
std::vector<Stray> strays_of(const std::vector<ucx::Selection>& selections,
                             const std::vector<ucx::Device>& devices);

std::string ucx_check_text(const UcxCheck& check, int columns);
std::string ucx_check_json(const UcxCheck& check);

}  // namespace huddle::cli
