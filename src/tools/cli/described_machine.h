// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A machine that is not here and has no machine file, as --xml and --synthetic describe it.
#pragma once

#include <string>

#include "model/machine/discover.h"
#include "tools/cli/command.h"

namespace huddle::cli {

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

}  // namespace huddle::cli
