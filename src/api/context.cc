// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <algorithm>
#include <cstring>
#include <string>

#include "api/guard.h"
#include "api/handles.h"
#include "machine/discover.h"
#include "machine/locate.h"
#include "settings/settings.h"

namespace huddle::api {
namespace {

// A quarter of what a process may map on small machines, and more than sixteen large teams take.
constexpr std::size_t default_cap_bytes = std::size_t{1} << 30;

// Fields that the caller's version does not have keep their defaults.
huddle_settings completed(const huddle_settings* given) {
  huddle_settings settings;
  huddle_settings_default(&settings);
  if (given == nullptr) return settings;
  require(given->size != 0, "huddle_settings: call huddle_settings_default first");
  std::memcpy(&settings, given, std::min(given->size, sizeof settings));
  settings.size = sizeof settings;
  return settings;
}

machine::Machine machine_for(const char* named) {
  const std::string path =
      named != nullptr
          ? named
          : settings::find(settings::resolve(settings::process_sources()), "machine").value;
  const machine::Discovery discovery = machine::discover_this_machine();
  return machine::load_machine(path, discovery.topology).machine;
}

team::ContextOptions options_from(const huddle_settings& settings) {
  team::ContextOptions options;
  options.machine = machine_for(settings.machine_file);
  options.arena.cap_bytes = settings.cap_bytes;
  options.queue_bytes = settings.queue_bytes;
  if (settings.progress != nullptr) {
    options.progress = [call = settings.progress, arg = settings.progress_arg] { call(arg); };
  }
  return options;
}

}  // namespace
}  // namespace huddle::api

using namespace huddle::api;

void huddle_settings_default(huddle_settings* settings) {
  *settings = {};
  settings->size = sizeof *settings;
  settings->cap_bytes = default_cap_bytes;
  settings->queue_bytes = huddle::team::ContextOptions().queue_bytes;
}

huddle_status huddle_context_create(const huddle_settings* settings, huddle_context** context,
                                    huddle_message* message) {
  return guarded(message, [&] {
    require(context != nullptr, "huddle_context_create: nowhere to put the context");
    *context = new huddle_context(options_from(completed(settings)));
  });
}

void huddle_context_free(huddle_context* context) { delete context; }
