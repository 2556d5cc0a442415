// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/engine_machine.h"

#include <fmt/format.h>

#include <utility>

#include "tools/calibrate/calibrate.h"
#include "tools/calibrate/sizes.h"
#include "tools/cli/bench_engine.h"
#include "tools/cli/doubts.h"
#include "tools/cli/machine_in_question.h"
#include "tools/cli/measure_progress.h"

namespace huddle::cli {
namespace {

constexpr int usual_rounds = 10;
constexpr int quick_rounds = 3;

// Timed here, so predicted for here: a file of another machine would choose for that one.
machine::LoadedMachine file_of_here(const Context& context, const machine::Topology& here) {
  MachineInQuestion machine = machine_in_question(context, here);
  if (machine.is_here()) return std::move(machine.loaded);
  throw UsageError(machine.difference() + "; only what is here can be timed");
}

}  // namespace

// Choices and floors should speak of the same minutes: a virtual machine may be another one today
// than when its file was written. A file that was named is what its namer wants to try.
machine::LoadedMachine engine_machine(const Context& context, const EngineBenchOptions& options,
                                      const machine::Discovery& discovery,
                                      const Interrupt& interrupt) {
  const bool is_named = !settings::find(context.settings, "machine").value.empty();
  if (options.as_is || is_named) return file_of_here(context, discovery.topology);
  const calibrate::Plan plan = calibrate::make_plan(
      discovery.topology, {discovery.allowed, true, calibrate::usable_memory_bytes()});
  MeasureProgress watcher(context.console, plan, "measuring this machine: ");
  calibrate::Outcome outcome =
      calibrate::calibrate(discovery.topology, plan, watcher, interrupt.requested());
  watcher.finish();
  if (!outcome.stopped) {
    warn_of_doubts(context.console, outcome.machine);
    return {std::move(outcome.machine), measured_now};
  }
  context.console.note(
      fmt::format("huddle: {} before anything was timed", interrupt.signal_name()));
  interrupt.die();
}

int engine_rounds(const EngineBenchOptions& options) {
  if (options.rounds > 0) return options.rounds;
  return options.quick ? quick_rounds : usual_rounds;
}

}  // namespace huddle::cli
