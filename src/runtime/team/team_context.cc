// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/team_context.h"

#include <utility>

#include "model/machine/machine_file.h"
#include "runtime/team/cpu_binding.h"

namespace huddle::team {
namespace {

ContextOptions with_limits(ContextOptions options) {
  if (!options.limits) options.limits = read_cgroup_limits(System());
  return options;
}

}  // namespace

Context::Context(ContextOptions options)
    : options_(with_limits(std::move(options))),
      forcing_text_(options_.forcing.text()),
      processors_(options_.limits->processors.value_or(0)),
      cpus_at_start_(team::cpus_at_start(*options_.limits)),
      peers_(std::make_shared<memory::Arena>(options_.arena)),
      tuning_history_(std::exchange(options_.tuning_records, {})) {
  if (options_.machine_text.empty()) {
    options_.machine_text = machine::format_machine(options_.machine);
  }
}

}  // namespace huddle::team
