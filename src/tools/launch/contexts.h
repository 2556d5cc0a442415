// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The words behind a launcher's name: one or more programs with their options, ":" between them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tools/launch/launcher.h"

namespace huddle::launch {

// One program and the launcher's options for it, as places among the words.
struct AppContext {
  std::size_t begin = 0;    // where its options begin
  std::size_t program = 0;  // its first word; `end` where it was not found
  std::size_t end = 0;      // behind its last word

  bool operator==(const AppContext&) const = default;
};

// Says whether a word can be started: an option that this file does not know may take a word, and
// that one is hardly ever a program.
using IsProgram = std::function<bool(const std::string&)>;

// pre: words[0] is the launcher. At least one; where no program is found, all is taken for options.
std::vector<AppContext> contexts_of(const std::vector<std::string>& words, Passing launcher,
                                    const IsProgram& is_program);

}  // namespace huddle::launch
