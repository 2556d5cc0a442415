// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Text for people: broken into lines, with hanging indents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace huddle::picture {

// The text in lines of at most `width` columns, broken at blanks and after commas; a word without
// either that is longer than a line is cut. At least one line, which may be empty.
std::vector<std::string> wrapped(std::string_view text, int width);

// A paragraph: the first line starts with `lead`, the others are indented as far.
std::string paragraph(std::string_view lead, std::string_view text, int columns);

}  // namespace huddle::picture
