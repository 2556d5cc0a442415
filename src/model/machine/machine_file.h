// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The machine file: TOML with a schema version, read back without loss. Format:
// docs/machine-file.md.
#pragma once

#include <string>
#include <string_view>

#include "model/machine/machine.h"

namespace huddle::machine {

inline constexpr int machine_file_schema = 1;

// Throws InputError "FILE:LINE: what is wrong" for anything that is not a sound machine file.
Machine read_machine_file(const std::string& path);
// The same from text; `name` stands where the file's name would in errors.
Machine parse_machine(std::string_view text, const std::string& name);

std::string format_machine(const Machine& machine);

// All or nothing: written beside the target and renamed over it. Makes missing folders.
// Throws FailureError.
void write_machine_file(const Machine& machine, const std::string& path);

}  // namespace huddle::machine
