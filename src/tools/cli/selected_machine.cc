// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/cli/selected_machine.h"

#include <fmt/format.h>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "model/machine/machine_file.h"
#include "model/machine/topology.h"
#include "runtime/select/choice.h"

namespace huddle::cli {

std::string SelectedMachine::difference() const {
  return fmt::format("{} describes {}, but this machine is {}", loaded.path, theirs, ours);
}

namespace {

// Loads a machine, also from standard input. Ranks have a different standard input, so only
// commands about a machine accept "-".
machine::LoadedMachine loaded_machine(const std::string& named, const machine::Topology& here) {
  if (named != standard_input) return machine::load_machine(named, here);
  std::string text = read_text(named);
  const std::string name = input_name(named);
  machine::Machine machine = machine::parse_machine(text, name);
  return {std::move(machine), name, std::move(text)};
}

}  // namespace

SelectedMachine machine_in_question(const Context& context, const machine::Topology& here) {
  const std::string& named = settings::find(context.settings, "machine").value;
  machine::LoadedMachine loaded = loaded_machine(named, here);
  std::string theirs = fingerprint(loaded.machine.topology);
  return {std::move(loaded), std::move(theirs), fingerprint(here)};
}

void DescribedMachine::declare(Options& options) {
  options.text("--xml", xml_, "FILE", "another machine, as described by 'lstopo --of xml'");
  options.text("--synthetic", synthetic_, "DESC",
               "another machine, as a synthetic description of hwloc");
  options.exclude("--xml", "--synthetic");
}

std::string DescribedMachine::name() const {
  return xml_.empty() ? synthetic_ : std::filesystem::path(xml_).stem().string();
}

machine::Discovery DescribedMachine::discover() const {
  return xml_.empty() ? machine::discover_from_synthetic(synthetic_)
                      : machine::discover_from_xml(xml_);
}

namespace {

// Returns none for "auto".
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
    const SelectedMachine here =
        machine_in_question(context, machine::discover_this_machine().topology);
    return here.is_here() && select::heap_pays(here.loaded.machine);
  } catch (const std::exception&) {
    return false;
  }
}

void warn_of_doubts(const Console& console, const machine::Machine& machine) {
  for (const machine::Doubt& doubt : machine.doubts) {
    console.note(fmt::format("warning: {}: {}", doubt.what, doubt.why));
  }
}

}  // namespace huddle::cli
