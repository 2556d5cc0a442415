// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Generates manual pages and shell completions, from the data behind --help and the C header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/interface.h"

namespace huddle::manual {

// Escapes prose for roff. Hyphens in options stay ASCII, so that options can be copied; those
// within words may become typographic hyphens.
std::string prose(std::string_view text);
// Escapes text to be typed: every character is shown as it is.
std::string literal(std::string_view text);
std::string bold(std::string_view text);
std::string italic(std::string_view text);

// Returns paragraphs. Indented lines are shown unchanged, as in --help.
std::string paragraphs(std::string_view text);
std::string section(std::string_view heading, std::string_view text);
// Returns a list item for `term`, which is roff text.
std::string item(const std::string& term, std::string_view text);

// A manual page.
struct Page {
  std::string name;  // for example "huddle-topo"
  int section = 1;
  std::string text;
  std::vector<std::string> also_named = {};  // in the same section
};

// Returns the beginning of a page. The version takes the place of a date. Lines are not justified,
// and command names are not broken at hyphens.
std::string opening(const Page& page, const std::string& version, std::string_view summary);
// Returns for example "huddle-topo(1)".
std::string reference(const std::string& name, int section);

// Returns huddle(1), a page for each command and subcommand, and huddle-settings(7).
std::vector<Page> pages(const cli::ProgramInterface& all, const std::string& version);

// One passage of a C header: a comment without its marks, and the declarations below it. Either may
// be empty. Indented lines of the comment are shown unchanged. Headers must use huddle's
// conventions: chapters begin with `/* ---- heading ---- */`, comments for readers with `/**`.
struct Passage {
  std::string comment;
  std::string code;
};

struct Chapter {
  std::string heading;
  std::vector<Passage> passages;
};

struct Header {
  std::string opening;  // the first comment for readers
  std::vector<Chapter> chapters;
};

Header header_of(std::string_view text);

// A member of an enumeration or of a public structure.
struct Member {
  std::string comment;
  std::string code;  // with the final comma or semicolon
};
struct Composite {
  std::string name;  // for example "typedef enum huddle_status"
  std::vector<Member> members;
};
// Parses an enumeration or structure. Empty if the code is neither.
Composite composite_of(std::string_view code);

// Returns names such as "huddle_bcast" of all declared functions.
std::vector<std::string> functions_in(std::string_view code);

// Returns huddle(3), generated from the header. The page is also named after the header and each of
// its functions.
Page header_page(std::string_view header, const std::string& version);

// Return shell completions from the data behind --help: each function returns the text of a file
// that the shell loads from its installed location.
std::string bash_completion(const cli::ProgramInterface& all);
std::string zsh_completion(const cli::ProgramInterface& all);
std::string fish_completion(const cli::ProgramInterface& all);

}  // namespace huddle::manual
