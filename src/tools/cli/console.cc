// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/cli/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "common/error.h"
#include "common/text.h"
#include "tools/cli/terminal_text.h"

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
  if (!file) throw FailureError(fmt::format("cannot write {}: {}", target, std::strerror(errno)));
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

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// Returns the width without a terminal. The caller sets it, as in `COLUMNS=120 huddle topo | less`.
int columns_without_terminal() {
  constexpr int usual = 80;
  const std::string said = environment("COLUMNS");
  int columns = 0;
  std::from_chars(said.data(), said.data() + said.size(), columns);
  return columns > 0 ? columns : usual;
}

bool decide(const std::string& setting, bool automatic) {
  if (setting == "always") return true;
  if (setting == "never") return false;
  return automatic;
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = environment(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

// Returns 0 if the stream is not a terminal.
int terminal_columns(std::FILE* stream) {
  if (isatty(fileno(stream)) == 0) return 0;
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return columns_without_terminal();
}

}  // namespace

Console plain_console() {
  Console console;
  const int columns = terminal_columns(console.out);
  console.columns = columns == 0 ? columns_without_terminal() : columns;
  console.err_columns = terminal_columns(console.err);
  return console;
}

Console make_console(std::span<const settings::Resolved> settings) {
  Console console = plain_console();
  const bool out_is_terminal = isatty(fileno(console.out)) != 0;
  const bool colors_wanted = environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  console.color = decide(settings::find(settings, "color").value, out_is_terminal && colors_wanted);
  console.unicode = decide(settings::find(settings, "unicode").value, locale_is_utf8());
  console.progress =
      decide(settings::find(settings, "progress").value, isatty(fileno(console.err)) != 0);
  return console;
}

}  // namespace huddle::cli
