// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Manual pages, from the tables that --help and `huddle config` are made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/interface.h"

namespace huddle::manual {

struct Page {
  std::string name;  // "huddle-topo"
  int section = 1;
  std::string text;
  std::vector<std::string> also_named = {};  // in the same section
};

// How every page begins. It has no date of its own: huddle's version says what it is of. Lines are
// neither stretched nor is a command's name broken at its hyphen.
std::string opening(const Page& page, const std::string& version, std::string_view summary);
// "huddle-topo(1)"
std::string reference(const std::string& name, int section);

// huddle(1), a page for each command and each below it, and huddle-settings(7).
std::vector<Page> pages(const cli::ProgramInterface& all, const std::string& version);

}  // namespace huddle::manual
