// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Text in the language of manual pages.
#pragma once

#include <string>
#include <string_view>

namespace huddle::manual {

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

}  // namespace huddle::manual
