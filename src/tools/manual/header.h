// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A C header as its readers see it: comments, and what each is about. For headers of huddle's
// manner: chapters begin with `/* ---- heading ---- */`, comments that are for readers with `/**`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace huddle::manual {

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

}  // namespace huddle::manual
