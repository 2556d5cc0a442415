// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/described_machine.h"

#include <filesystem>

namespace huddle::cli {

void DescribedMachine::declare(Options& options) {
  options.text("--xml", xml_, "FILE", "a machine elsewhere, as 'lstopo --of xml' wrote it");
  options.text("--synthetic", synthetic_, "DESC", "a machine elsewhere, in hwloc's words");
  options.exclude("--xml", "--synthetic");
}

std::string DescribedMachine::name() const {
  return xml_.empty() ? synthetic_ : std::filesystem::path(xml_).stem().string();
}

machine::Discovery DescribedMachine::discover() const {
  return xml_.empty() ? machine::discover_from_synthetic(synthetic_)
                      : machine::discover_from_xml(xml_);
}

}  // namespace huddle::cli
