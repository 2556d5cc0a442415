// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where output goes and what it may look like there. Results go to `out`, everything else to `err`.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace huddle::cli {

struct Console {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  bool color = false;   // of `out`
  bool unicode = true;  // box drawing and shades may be used
  int columns = 80;
  bool progress = false;  // `err` is a terminal: a progress bar may move

  // Throws FailureError when it cannot be written: a result must not get lost in silence.
  void print(std::string_view text) const;
  void note(std::string_view text) const;  // one line on `err`
};

}  // namespace huddle::cli
