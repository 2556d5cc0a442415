// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Pictures of a machine: its topology and the latencies between its cores. The functions return the
// text and write nothing.
#pragma once

#include <optional>
#include <string>

#include "model/machine/machine.h"

namespace huddle::picture {

// Capabilities of the output of a text picture.
struct Style {
  int columns = 80;
  bool color = false;
  bool unicode = true;  // box drawing and shades; otherwise plain ASCII
};

// The input of a picture.
// Requires: validate(machine) passed.
struct Subject {
  machine::Machine machine;
  std::optional<machine::CpuSet> allowed;  // empty if the machine is not this one
  std::string path;                        // the machine file; empty if there is none
  bool measurable = true;                  // 'huddle calibrate' would measure it here
};

// Returns text for a terminal: the tree, the heat map, the levels and unsteady measurements.
std::string as_text(const Subject& subject, const Style& style);

// Returns the same as an SVG document with a single sheet. Equal subjects give equal bytes.
std::string as_svg(const Subject& subject);

// Returns the subject without control characters in its strings: the author of a machine file must
// not control the terminal that shows it, and XML forbids them.
Subject cleaned(Subject subject);

}  // namespace huddle::picture
