// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The machine that a command is about, and whether that is the machine on which it runs.
#pragma once

#include <string>

#include "model/machine/locate.h"
#include "model/machine/machine.h"
#include "model/machine/topology.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"

namespace huddle::cli {

struct SelectedMachine {
  machine::LoadedMachine loaded;
  std::string theirs;  // fingerprint of the described machine
  std::string ours;    // fingerprint of the machine that runs the command

  bool is_here() const { return theirs == ours; }
  // Returns "FILE describes ..., and this machine is ...".
  // Requires: !is_here()
  std::string difference() const;
};

// Returns the machine that the setting `machine` names, else the file found for this machine, else
// a generic model of it.
SelectedMachine machine_in_question(const Context& context, const machine::Topology& here);

// A machine without a machine file, described with --xml or --synthetic.
class DescribedMachine {
 public:
  void declare(Options& options);

  bool is_given() const { return !xml_.empty() || !synthetic_.empty(); }
  // Returns a name for output.
  std::string name() const;
  // Throws InputError.
  // Requires: is_given()
  machine::Discovery discover() const;

 private:
  std::string xml_, synthetic_;
};

// Returns whether ranks on this machine get a shared heap: by the setting `heap` or, if that is
// "auto", by measurements of this machine.
bool wants_heap(const Context& context, const machine::Machine& machine);
// The same for the machine that the settings name. Returns false if its file cannot be read; the
// code that needs the file reports that.
bool wants_heap(const Context& context);

// Warns right after a calibration about unsteady measurements, because choices may depend on them.
void warn_of_doubts(const Console& console, const machine::Machine& machine);

}  // namespace huddle::cli
