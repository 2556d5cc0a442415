// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The machine that a command speaks of, and whether that is the one that it runs on.
#pragma once

#include <string>

#include "model/machine/locate.h"
#include "tools/cli/command.h"

namespace huddle::cli {

struct MachineInQuestion {
  machine::LoadedMachine loaded;
  std::string theirs;  // fingerprint of the machine that is described
  std::string ours;    // of the one that we are on

  bool is_here() const { return theirs == ours; }
  // "FILE describes ..., and this machine is ...". pre: it is not here.
  std::string difference() const;
};

// What the setting `machine` names, else the file that is found for this machine, else generic
// figures for it.
MachineInQuestion machine_in_question(const Context& context, const machine::Topology& here);

}  // namespace huddle::cli
