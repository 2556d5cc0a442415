// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The machine that a command speaks of, and whether that is the one that it runs on.
#pragma once

#include <string>

#include "model/machine/locate.h"
#include "model/machine/machine.h"
#include "model/machine/topology.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"

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

// A machine that is not here and has no machine file, as --xml and --synthetic describe it.
class DescribedMachine {
 public:
  void declare(Options& options);

  bool is_given() const { return !xml_.empty() || !synthetic_.empty(); }
  // What to call it.
  std::string name() const;
  // pre: it is given. Throws InputError.
  machine::Discovery discover() const;

 private:
  std::string xml_, synthetic_;
};

// Whether ranks on this machine get a shared heap: what the setting `heap` says or, where it leaves
// that open, what was measured here.
bool wants_heap(const Context& context, const machine::Machine& machine);
// The same of the machine in question. One of which nothing can be read gets none: whoever needs it
// will say so.
bool wants_heap(const Context& context);

// What a calibration just made leaves open, told at once: a figure that is chosen by may be one of
// them.
void warn_of_doubts(const Console& console, const machine::Machine& machine);

}  // namespace huddle::cli
