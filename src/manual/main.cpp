// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs while huddle is built: huddle-manual FOLDER writes what is installed below FOLDER/share.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "base/file.h"
#include "huddle/huddle.h"
#include "manual/completions.h"
#include "manual/pages.h"

namespace {

void write_all(const std::string& folder) {
  const huddle::cli::ProgramInterface all = huddle::cli::program_interface();
  for (const huddle::manual::Page& page : huddle::manual::pages(all, huddle_version())) {
    huddle::write_text(page.text, fmt::format("{}/man/man{}/{}.{}", folder, page.section, page.name,
                                              page.section));
  }
  // As each shell looks for it.
  huddle::write_text(huddle::manual::bash_completion(all),
                     folder + "/bash-completion/completions/huddle");
  huddle::write_text(huddle::manual::zsh_completion(all), folder + "/zsh/site-functions/_huddle");
  huddle::write_text(huddle::manual::fish_completion(all),
                     folder + "/fish/vendor_completions.d/huddle.fish");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return fmt::print(stderr, "usage: huddle-manual FOLDER\n"), 2;
  try {
    write_all(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    return fmt::print(stderr, "huddle-manual: {}\n", error.what()), 1;
  }
}
