// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Pictures of a machine: what it is made of and what its cores pay to talk. Nothing here writes
// anywhere; every function returns what is to be written.
#pragma once

#include <optional>
#include <string>

#include "model/machine/machine.h"

namespace huddle::picture {

// What the place can show where a picture in characters goes.
struct Style {
  int columns = 80;
  bool color = false;
  bool unicode = true;  // box drawing and shades; otherwise plain ASCII
};

// What is to be drawn. pre: validate(machine) has passed.
struct Subject {
  machine::Machine machine;
  std::optional<machine::CpuSet> allowed;  // nothing: a machine that we are not on
  std::string path;                        // the machine file; empty where there is none
  bool measurable = true;                  // 'huddle calibrate', run here, would measure it
};

// For a terminal: the tree, the heat map, the levels, and what is doubtful.
std::string as_text(const Subject& subject, const Style& style);

// For a document: the same on one sheet. The same subject gives the same bytes.
std::string as_svg(const Subject& subject);

// Words of a machine file as a picture may carry them.

// The same subject without control characters in its words: whoever wrote the file must not give
// orders to the terminal that shows it, and XML forbids them.
Subject cleaned(Subject subject);

}  // namespace huddle::picture
