// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Settings in the form that a shell, a launcher or a batch system reads.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tools/ucx/advice.h"

namespace huddle::ucx {

enum class Format { env, conf, openmpi, mpich, slurm };
inline constexpr std::array<std::string_view, 5> format_names = {"env", "conf", "openmpi", "mpich",
                                                                 "slurm"};

// Throws UsageError if no format has this name.
Format format_named(std::string_view name);

// The origin of the settings, for the first lines of the text.
struct Heading {
  std::string machine;  // name of the machine
  Version version;
  int ranks = 1;
  std::string doubt;  // why they may be wrong; empty if there is no reason
};

// Returns the advice as text; untested settings become comments, or are left out of a command line.
// Throws UsageError if this version cannot read the format.
std::string written(const Heading& heading, const Advice& advice, Format format);

// Returns whether the format has no comments, so that untested settings are missing from it.
bool leaves_out_untested(Format format);

}  // namespace huddle::ucx
