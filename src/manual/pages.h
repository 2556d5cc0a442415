// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Manual pages, from the tables that --help and `huddle config` are made of.
#pragma once

#include <string>
#include <vector>

#include "cli/interface.h"

namespace huddle::manual {

struct Page {
  std::string name;  // "huddle-topo"
  int section = 1;
  std::string text;
};

// huddle(1), a page for each command, and huddle-settings(7).
std::vector<Page> pages(const cli::ProgramInterface& all, const std::string& version);

}  // namespace huddle::manual
