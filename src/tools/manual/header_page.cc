// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <utility>

#include "tools/manual/manual.h"

namespace huddle::manual {
namespace {

// The macro that gives an enumeration the type int in C++.
constexpr std::string_view as_int = " HUDDLE_AS_INT";

// Removes comment marks. Up to two blanks after a star do not count as indentation.
std::string stripped(const std::string& line) {
  static const std::regex marks(R"(^\s*(?:/\*\*<?|\*(?!/))? {0,2}|\s*\*/\s*$)");
  return std::regex_replace(line, marks, "");
}

std::string comment_text(const std::string& comment) {
  std::string text;
  std::istringstream lines(comment);
  for (std::string line; std::getline(lines, line);) {
    const std::string one = stripped(line);
    if (!text.empty() || !one.empty()) text += one + "\n";
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

std::string without(std::string text, std::string_view part) {
  const std::size_t at = text.find(part);
  return at == std::string::npos ? text : text.erase(at, part.size());
}

// Returns the text of the comment that begins with `line`. Reads its further lines from `lines`.
std::string comment_from(std::string line, std::istream& lines) {
  std::string all = line;
  while (line.find("*/") == std::string::npos && std::getline(lines, line)) all += "\n" + line;
  return comment_text(all);
}

}  // namespace

Header header_of(std::string_view text) {
  static const std::regex chapter_mark(R"(/\* -+ (.+?) -+ \*/)");
  Header header;
  bool goes_on = false;  // the current passage continues
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::smatch mark;
    if (std::regex_match(line, mark, chapter_mark)) {
      header.chapters.push_back({mark[1], {}});
    } else if (line.starts_with("/**")) {
      std::string comment = comment_from(line, lines);
      if (!header.chapters.empty()) {
        header.chapters.back().passages.push_back({std::move(comment), ""});
      } else if (header.opening.empty()) {
        header.opening = std::move(comment);
      }
      goes_on = true;
      continue;
    } else if (line.starts_with('#') && !header.chapters.empty()) {
      break;  // the end of the file
    } else if (!line.empty() && !header.chapters.empty()) {
      auto& passages = header.chapters.back().passages;
      if (!goes_on) passages.emplace_back();
      passages.back().code += without(line, as_int) + "\n";
      goes_on = true;
      continue;
    }
    goes_on = false;
  }
  return header;
}

Composite composite_of(std::string_view code) {
  const std::size_t open = code.find('{');
  const std::size_t close = code.rfind('}');
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  Composite composite{std::string(code.substr(0, code.find_last_not_of(' ', open - 1) + 1)), {}};
  const std::string body(code.substr(open + 1, close - open - 1));
  // A comment precedes its member or, with a `<`, follows it.
  const bool is_enum = composite.name.find("enum") != std::string::npos;
  const std::regex member(is_enum ? R"(\s*()([^,/]+,)\s*(/\*\*<[^]*?\*/)?)"
                                  : R"(\s*(/\*\*[^]*?\*/)?\s*([^;/]+;)())");
  for (std::sregex_iterator one(body.begin(), body.end(), member), end; one != end; ++one) {
    composite.members.push_back({comment_text((*one)[1].str() + (*one)[3].str()), (*one)[2]});
  }
  return composite;
}

std::vector<std::string> functions_in(std::string_view code) {
  static const std::regex declaration(R"((?:^|\n)(?!typedef)\w[\w *]*?(\w+)\()");
  const std::string text(code);
  std::vector<std::string> names;
  for (std::sregex_iterator one(text.begin(), text.end(), declaration), end; one != end; ++one) {
    names.push_back((*one)[1]);
  }
  return names;
}

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

// Formats the members. Those without a comment form one paragraph.
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

// Puts each declaration on one line, whatever the width of the terminal.
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
  constexpr std::string_view gap = ".PP\n";  // the heading already adds a gap
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
  page.text =
      opening(page, version, "collectives between the processes of a node, for C programs") +
      section("SYNOPSIS", header_synopsis) + section("DESCRIPTION", paragraphs(header.opening));
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
