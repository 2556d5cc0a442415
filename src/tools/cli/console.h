// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Output streams and their capabilities. Results go to `out`, everything else to `err`.
#pragma once

#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "common/settings/settings.h"

namespace huddle::cli {

// Limits for wide terminals, because a figure far from its name is hard to find.
inline constexpr int most_table_columns = 100;
inline constexpr int most_report_columns = 110;

struct Console {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  bool color = false;   // of `out`
  bool unicode = true;  // box drawing and shades may be used
  int columns = 80;
  bool progress = false;  // `err` is a terminal and may show a progress bar
  int err_columns = 0;    // width of `err`; 0: not a terminal, lines are not broken

  // Throws FailureError if writing fails, so that a result is never lost silently.
  void print(std::string_view text) const;
  // Writes into a file and reports it on `err`; "-" is `out`. Throws FailureError.
  void deliver(const std::string& target, std::string_view bytes) const;
  // Prints on `err`, broken to its width with a hanging indent. Control characters become '?'
  // because messages quote file contents and arguments.
  void note(std::string_view text) const;
};

// Returns a console for the terminal's capabilities. The settings `color`, `unicode` and `progress`
// take precedence unless they are "auto"; otherwise NO_COLOR, pipes and the locale decide.
Console make_console(std::span<const settings::Resolved> settings);

// Returns a console for output before settings are known: help and errors.
Console plain_console();

}  // namespace huddle::cli
