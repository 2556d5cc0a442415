// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Breaks text into lines that fit.
#pragma once

#include <string>
#include <string_view>

namespace huddle::cli {

// The words of `text` behind `head`, in lines of at most `columns`; lines after the first start
// with as many spaces as `hang` says. A word that does not fit stands alone on a line that is too
// long: a path or a command has to stay in one piece. Ends with a line break.
std::string wrap(std::string_view head, std::string_view text, int hang, int columns);

// Returns the columns that the text takes on a terminal.
int width_of(std::string_view text);

std::string spaces(int count);
// The text and as many spaces as it takes to fill `width` columns.
std::string padded(std::string_view text, int width);

}  // namespace huddle::cli
