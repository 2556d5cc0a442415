// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Settings written as whoever starts the job wants them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "ucx/advice.h"

namespace huddle::ucx {

enum class Format { env, conf, openmpi, mpich, slurm };
inline constexpr std::array<std::string_view, 5> format_names = {"env", "conf", "openmpi", "mpich",
                                                                 "slurm"};

// Throws UsageError for a name that is none.
Format format_named(std::string_view name);

// Where these settings come from: the first lines of what is written.
struct Heading {
  std::string machine;  // name of the machine
  Version version;
  int ranks = 1;
  std::string doubt;  // why they may not hold; empty where nothing speaks against them
};

// Throws UsageError where that version cannot read it.
std::string written(const Heading& heading, const std::vector<Setting>& settings, Format format);

}  // namespace huddle::ucx
