// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What huddle decides by on this machine.
#pragma once

#include <string>
#include <vector>

#include "model/machine/locate.h"
#include "tools/doctor/finding.h"

namespace huddle::doctor {

// The machine file that was chosen by a setting; nothing: huddle searches for one.
struct NamedFile {
  std::string path;
  std::string by;  // what named it: "--machine", "HUDDLE_MACHINE", "/etc/huddle/config.toml:3"
};

struct ThisMachine {
  std::string fingerprint;
  std::string user_file;  // which `huddle calibrate` would write
};

// `named` is empty where the file was searched for.
Finding judge_machine(const machine::LoadedMachine& loaded, const ThisMachine& here,
                      const NamedFile& named);

}  // namespace huddle::doctor
