// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/png.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "common/error.h"
#include "common/file.h"
#include "common/run_program.h"
#include "common/temporary_folder.h"
#include "tools/launch/program_path.h"

namespace huddle::cli {
namespace {

namespace fs = std::filesystem;

// A large picture on a busy machine takes a few seconds.
constexpr std::chrono::seconds patience{60};
// rsvg-convert draws 4/3 of a pixel a point.
constexpr const char* zoom = "1.5";
constexpr std::string_view way_out = "write an SVG with --svg instead";

std::string converter() {
  const char* const search_path = std::getenv("PATH");
  const auto program =
      launch::find_program("rsvg-convert", search_path == nullptr ? "" : search_path);
  if (!program) {
    throw FailureError(fmt::format(
        "a PNG needs rsvg-convert, which is not on PATH: install it (Debian: librsvg2-bin), or {}",
        way_out));
  }
  return *program;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

// Returns whether the file has both its first and its last bytes.
bool is_whole_png(std::string_view bytes) {
  return bytes.starts_with("\x89PNG\r\n") && bytes.ends_with("IEND\xAE\x42\x60\x82");
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string png_from(const std::string& svg) {
  const std::string program = converter();
  std::error_code error;
  const TemporaryFolder folder(fs::temp_directory_path(error) / "huddle-png", error);
  if (error) {
    throw FailureError(fmt::format(
        "cannot make a temporary folder: {}; set TMPDIR to a folder that you may write to",
        error.message()));
  }
  const std::string from = folder.path() / "picture.svg";
  const std::string to = folder.path() / "picture.png";
  write_text(svg, from);
  const auto output =
      run_program({program, "--format", "png", "--zoom", zoom, "--output", to, from}, patience);
  if (!output) throw FailureError(fmt::format("{} cannot be started; {}", program, way_out));
  if (output->too_slow) {
    throw FailureError(
        fmt::format("{} did not finish within {} s; {}", program, patience.count(), way_out));
  }
  std::string png = bytes_of(to);
  if (!is_whole_png(png)) {
    throw FailureError(fmt::format(
        "{} wrote no PNG ({}); {}", program,
        output->text.empty() ? "it printed no reason" : first_line(output->text), way_out));
  }
  return png;
}

}  // namespace huddle::cli
