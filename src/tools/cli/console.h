// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where output goes and what it may look like there. Results go to `out`, everything else to `err`.
#pragma once

#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "common/settings/settings.h"

namespace huddle::cli {

// Wider output is not used: a figure far from its name is hard to find.
inline constexpr int most_table_columns = 100;
inline constexpr int most_report_columns = 110;

struct Console {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  bool color = false;   // of `out`
  bool unicode = true;  // box drawing and shades may be used
  int columns = 80;
  bool progress = false;  // `err` is a terminal: a progress bar may move
  int err_columns = 0;    // how wide `err` is; 0: not a terminal, lines are never broken there

  // Throws FailureError when it cannot be written: a result must not get lost in silence.
  void print(std::string_view text) const;
  // Into a file, of which `err` hears; - is `out`. Throws FailureError.
  void deliver(const std::string& target, std::string_view bytes) const;
  // On `err`, broken to its width with a hanging indent. Control characters become '?': much of
  // what is said there quotes files and arguments.
  void note(std::string_view text) const;
};

// Asks the terminal what it can show.

// Settings `color`, `unicode` and `progress` decide where they are not "auto"; NO_COLOR, a pipe and
// the locale do otherwise.
Console make_console(std::span<const settings::Resolved> settings);

// For what is said before or without any settings: help, errors.
Console plain_console();

}  // namespace huddle::cli
