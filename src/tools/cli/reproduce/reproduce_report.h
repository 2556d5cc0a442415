// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The results of `huddle reproduce` as text and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/reproduce/reproduce.h"

namespace huddle::cli {

struct Reproductions {
  std::uint64_t seed = 0;
  std::vector<reproduce::Reproduction> papers;
};

std::string reproduce_text(const Reproductions& all, int columns);
std::string reproduce_json(const Reproductions& all);

}  // namespace huddle::cli
