// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reads and writes machine files: TOML with a schema version, without loss of precision.
// docs/machine-file.md describes the format.
#pragma once

#include <string>
#include <string_view>

#include "model/machine/machine.h"

namespace huddle::machine {

inline constexpr int machine_file_schema = 1;

// Throws InputError "FILE:LINE: error" if the file is not a valid machine file.
Machine read_machine_file(const std::string& path);
// The same for the contents of a file. Errors use `name` as the file's name.
Machine parse_machine(std::string_view text, const std::string& name);

std::string format_machine(const Machine& machine);

// Replaces the file atomically. Creates missing folders. Throws FailureError.
void write_machine_file(const Machine& machine, const std::string& path);

}  // namespace huddle::machine
