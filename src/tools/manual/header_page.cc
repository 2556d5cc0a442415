// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/manual/header_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include "tools/manual/header.h"
#include "tools/manual/roff.h"

namespace huddle::manual {
namespace {

constexpr int functions_section = 3;

std::string on_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string indented(const std::string& text) {
  return text.empty() ? "" : ".RS 4\n" + paragraphs(text) + ".RE\n";
}

// Those that need no word stand in a row.
std::string members_text(const std::vector<Member>& members) {
  std::string text;
  bool in_a_row = false;
  for (const Member& member : members) {
    const std::string code = bold(on_one_line(member.code));
    if (member.comment.empty()) {
      text += (in_a_row ? "" : ".PP\n") + code + "\n";
    } else {
      text += fmt::format(".TP\n{}\n{}", code, paragraphs(member.comment));
    }
    in_a_row = member.comment.empty();
  }
  return ".RS 4\n" + text + ".RE\n";
}

// Declarations fill lines, whatever a terminal's width.
std::string declarations(const std::string& code) {
  std::string text;
  std::istringstream all(code);
  for (std::string one; std::getline(all, one, ';');) {
    one = on_one_line(one);
    if (!one.empty()) text += (text.empty() ? ".PP\n" : ".br\n") + bold(one + ";") + "\n";
  }
  return text;
}

std::string passage_text(const Passage& passage) {
  if (passage.code.empty()) return ".PP\n" + paragraphs(passage.comment);
  const Composite composite = composite_of(passage.code);
  if (composite.members.empty()) return declarations(passage.code) + indented(passage.comment);
  return fmt::format(".PP\n{}\n{}{}", bold(composite.name), indented(passage.comment),
                     members_text(composite.members));
}

std::string chapter_text(const Chapter& chapter) {
  std::string text;
  for (const Passage& passage : chapter.passages) text += passage_text(passage);
  constexpr std::string_view gap = ".PP\n";  // the heading makes one
  return section(upper(chapter.heading), std::string_view(text).substr(gap.size()));
}

constexpr std::string_view header_synopsis = R"(.B #include <huddle/huddle.h>
.PP
.EX
cc \-o program program.c $(pkg\-config \-\-cflags \-\-libs huddle)
.EE
)";

}  // namespace

Page header_page(std::string_view text, const std::string& version) {
  const Header header = header_of(text);
  Page page{.name = "huddle", .section = functions_section, .text = {}};
  page.text = opening(page, version, "collectives for the processes of one machine, from C") +
              section("SYNOPSIS", header_synopsis) +
              section("DESCRIPTION", paragraphs(header.opening));
  page.also_named = {"huddle.h"};
  for (const Chapter& chapter : header.chapters) {
    page.text += chapter_text(chapter);
    for (const Passage& passage : chapter.passages) {
      for (std::string& name : functions_in(passage.code))
        page.also_named.push_back(std::move(name));
    }
  }
  page.text += section("SEE ALSO", reference("huddle", 1) + ",\n" + reference("huddle-explain", 1) +
                                       ",\n" + reference("huddle-settings", 7) + "\n");
  return page;
}

}  // namespace huddle::manual
