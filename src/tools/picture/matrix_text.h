// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The latencies between cores as a heat map of characters.
#pragma once

#include <string>

#include "model/machine/machine.h"
#include "tools/picture/style.h"

namespace huddle::picture {

// With its scale below; one line that says so where the machine has one core only.
std::string matrix_text(const machine::Machine& machine, const Style& style);

}  // namespace huddle::picture
