// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/doctor.h"

#include <algorithm>
#include <iterator>

#include "tools/doctor/checks.h"
#include "tools/doctor/mpi_installations.h"

namespace huddle::doctor {

int count(const std::vector<Finding>& findings, State state) {
  return static_cast<int>(
      std::count_if(findings.begin(), findings.end(),
                    [state](const Finding& finding) { return finding.state == state; }));
}

std::vector<Finding> examine(const Inputs& inputs) {
  const System system;
  const MachineFileCheck model = check_machine_file(inputs.machine_file, system);
  std::vector<Finding> all;
  const auto add = [&all](std::vector<Finding> findings) {
    std::move(findings.begin(), findings.end(), std::back_inserter(all));
  };
  add(check_siblings(system));
  add(check_copy_modules(system));
  add(check_shared_memory(system));
  add(check_huge_pages(system));
  add(check_processors(system));
  add(check_cgroup(system));
  add(check_limits(system));
  add(check_kernel(system));
  add(check_watching(
      {threads::try_page_faults(), threads::try_protection(), threads::try_soft_dirty(),
       threads::try_page_faults(threads::Observer::bpf), threads::repair_what_was_left()},
      system));
  add(check_host(system, model.is_calibrated));
  add(check_mpi(folders_of(inputs.search_path)));
  add(model.findings);
  return all;
}

}  // namespace huddle::doctor
