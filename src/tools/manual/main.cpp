// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The program that generates manual pages and completions during huddle's build. `huddle-manual
// FOLDER HEADER` writes the files to FOLDER, as they are installed in share. HEADER is huddle.h.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>

#include "common/file.h"
#include "huddle/huddle.h"
#include "tools/manual/manual.h"

namespace {

void write_page(const huddle::manual::Page& page, const std::string& folder) {
  const auto file = [&](const std::string& name) {
    return fmt::format("{}.{}", name, page.section);
  };
  const std::filesystem::path section = fmt::format("{}/man/man{}", folder, page.section);
  huddle::write_text(page.text, section / file(page.name));
  for (const std::string& name : page.also_named) {
    std::filesystem::create_symlink(file(page.name), section / file(name));
  }
}

// Requires: the folder contains no pages.
void write_all(const std::string& folder, const std::string& header) {
  const huddle::cli::ProgramInterface all = huddle::cli::program_interface();
  for (const auto& page : huddle::manual::pages(all, huddle_version())) write_page(page, folder);
  write_page(huddle::manual::header_page(huddle::read_text(header), huddle_version()), folder);
  // Each shell searches these paths.
  huddle::write_text(huddle::manual::bash_completion(all),
                     folder + "/bash-completion/completions/huddle");
  huddle::write_text(huddle::manual::zsh_completion(all), folder + "/zsh/site-functions/_huddle");
  huddle::write_text(huddle::manual::fish_completion(all),
                     folder + "/fish/vendor_completions.d/huddle.fish");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return fmt::print(stderr, "usage: huddle-manual FOLDER HEADER\n"), 2;
  try {
    write_all(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& error) {
    return fmt::print(stderr, "huddle-manual: {}\n", error.what()), 1;
  }
}
