// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/heap_choice.h"

#include <optional>
#include <string>

#include "common/error.h"
#include "model/machine/discover.h"
#include "runtime/select/heap_gain.h"
#include "tools/cli/machine_in_question.h"

namespace huddle::cli {
namespace {

// Nothing where it is left open.
std::optional<bool> said(const Context& context) {
  const std::string& heap = settings::find(context.settings, "heap").value;
  if (heap == "auto") return std::nullopt;
  return heap != "off";
}

}  // namespace

bool wants_heap(const Context& context, const machine::Machine& machine) {
  const auto is_on = said(context);
  return is_on ? *is_on : select::heap_pays(machine);
}

bool wants_heap(const Context& context) {
  if (const auto is_on = said(context)) return *is_on;
  try {
    const MachineInQuestion here =
        machine_in_question(context, machine::discover_this_machine().topology);
    return here.is_here() && select::heap_pays(here.loaded.machine);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace huddle::cli
