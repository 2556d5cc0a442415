// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/team_context.h"

#include <utility>

#include "common/system.h"
#include "model/machine/machine_file.h"

namespace huddle::team {

Context::Context(ContextOptions options)
    : options_(std::move(options)),
      forcing_text_(options_.forcing.text()),
      processors_(read_cgroup_limits(System()).processors.value_or(0)),
      peers_(std::make_shared<memory::Arena>(options_.arena)) {
  if (options_.machine_text.empty()) {
    options_.machine_text = machine::format_machine(options_.machine);
  }
}

}  // namespace huddle::team
