// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/console.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "common/error.h"
#include "common/text.h"
#include "tools/cli/wrap.h"

namespace huddle::cli {
namespace {

constexpr int note_indent = 4;

}  // namespace

void Console::print(std::string_view text) const {
  if (std::fwrite(text.data(), 1, text.size(), out) != text.size() || std::fflush(out) != 0) {
    throw FailureError(fmt::format("cannot write the result: {}", std::strerror(errno)));
  }
}

void Console::deliver(const std::string& target, std::string_view bytes) const {
  if (target == "-") {
    print(bytes);
    return;
  }
  std::ofstream file(target, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw FailureError(fmt::format("{}: cannot write: {}", target, std::strerror(errno)));
  note("wrote " + target);
}

void Console::note(std::string_view text) const {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    line = printable(line);
    const bool fits = err_columns == 0 || static_cast<int>(display_width(line)) <= err_columns;
    line = fits ? line + "\n" : wrap("", line, note_indent, err_columns);
    std::fwrite(line.data(), 1, line.size(), err);
  }
}

}  // namespace huddle::cli
