// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Kernel modules by which MPIs copy between processes.
#include <array>

#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

struct Module {
  std::string_view name;
  std::string_view device;
};
constexpr std::array modules = {Module{"KNEM", "/dev/knem"}, Module{"XPMEM", "/dev/xpmem"}};

}  // namespace

std::vector<Finding> check_copy_modules(const System& system) {
  Finding finding{
      .id = "copy-modules", .group = "Between processes", .what = "Copying by a kernel module"};
  for (const Module& module : modules) {
    if (!system.exists(module.device)) continue;
    finding.found += finding.found.empty() ? "" : ", ";
    finding.found += std::string(module.name) + " (" + std::string(module.device) + ")";
  }
  // Nothing is missing without them: huddle uses neither, and process_vm_readv does the same.
  if (finding.found.empty()) finding.found = "neither KNEM nor XPMEM, which only some MPIs use";
  return {finding};
}

}  // namespace huddle::doctor
