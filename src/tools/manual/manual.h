// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/interface.h"

namespace huddle::manual {

// Text in the language of manual pages.

// Sentences: whatever has a meaning in roff loses it. Hyphens of options stay hyphens that can be
// copied, those of words may become typographic ones.
std::string prose(std::string_view text);
// Something to be typed: every character stays what it is.
std::string literal(std::string_view text);
std::string bold(std::string_view text);
std::string italic(std::string_view text);

// Paragraphs. Lines that are indented are shown as they are, as in --help.
std::string paragraphs(std::string_view text);
std::string section(std::string_view heading, std::string_view text);
// What `term` (ready for roff) is, hanging.
std::string item(const std::string& term, std::string_view text);

// Manual pages, from the tables that --help and `huddle config` are made of.
struct Page {
  std::string name;  // "huddle-topo"
  int section = 1;
  std::string text;
  std::vector<std::string> also_named = {};  // in the same section
};

// How every page begins. It has no date of its own: huddle's version says what it is of. Lines are
// neither stretched nor is a command's name broken at its hyphen.
std::string opening(const Page& page, const std::string& version, std::string_view summary);
// "huddle-topo(1)"
std::string reference(const std::string& name, int section);

// huddle(1), a page for each command and each below it, and huddle-settings(7).
std::vector<Page> pages(const cli::ProgramInterface& all, const std::string& version);

// A C header as its readers see it: comments, and what each is about. For headers of huddle's
// manner: chapters begin with `/* ---- heading ---- */`, comments that are for readers with `/**`.

// A comment without its marks, lines that are shown as they are being indented; and the
// declarations below it. Either may be missing.
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

// Of an enumeration, or of a structure that is no secret: what it is, and what it holds.
struct Member {
  std::string comment;
  std::string code;  // with what ends it
};
struct Composite {
  std::string name;  // "typedef enum huddle_status"
  std::vector<Member> members;
};
// Empty where the code is neither.
Composite composite_of(std::string_view code);

// "huddle_bcast" of what declares it and others; none of what declares no function.
std::vector<std::string> functions_in(std::string_view code);

// The manual page of a C header, from the header itself.

// huddle(3), also by the names of the header and of its functions.
Page header_page(std::string_view header, const std::string& version);

// What shells propose behind a tabulator, from the tables that --help is made of.

// Each is the text of a file that the shell reads by itself where it is installed.
std::string bash_completion(const cli::ProgramInterface& all);
std::string zsh_completion(const cli::ProgramInterface& all);
std::string fish_completion(const cli::ProgramInterface& all);

}  // namespace huddle::manual
