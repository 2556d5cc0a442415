// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/heap_choice.h"

#include <string>

#include "base/error.h"
#include "cli/machine_in_question.h"
#include "machine/discover.h"
#include "select/heap_gain.h"

namespace huddle::cli {
namespace {

const std::string& heap_setting(const Context& context) {
  return settings::find(context.settings, "heap").value;
}

}  // namespace

bool wants_heap(const Context& context, const machine::Machine& machine) {
  const std::string& heap = heap_setting(context);
  return heap == "auto" ? select::heap_pays(machine) : heap == "on";
}

bool wants_heap(const Context& context) {
  const std::string& heap = heap_setting(context);
  if (heap != "auto") return heap == "on";
  try {
    const MachineInQuestion here =
        machine_in_question(context, machine::discover_this_machine().topology);
    return here.is_here() && select::heap_pays(here.loaded.machine);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace huddle::cli
