// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "ucx/format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace huddle::ucx {
namespace {

std::string heading_text(const Heading& heading) {
  std::string text =
      fmt::format("# UCX {} on {}, {} a node, by huddle.\n", text_of(heading.version),
                  heading.machine, counted(heading.ranks, "rank"));
  if (!heading.doubt.empty()) text += fmt::format("# {}.\n", heading.doubt);
  return text;
}

std::string comment(const Setting& setting) {
  return fmt::format("# {}\n#   {}{}\n", setting.reason, setting.figure,
                     setting.replaces.empty() ? "" : fmt::format("; UCX: {}", setting.replaces));
}

std::string lines(const Heading& heading, const std::vector<Setting>& settings,
                  std::string_view before, std::string_view after) {
  std::string text = heading_text(heading);
  for (const Setting& setting : settings) {
    text +=
        comment(setting) + fmt::format("{}{}={}{}\n", before, setting.name, setting.value, after);
  }
  return text;
}

// Words of a launcher's command line: no room for comments.
std::string words(const std::vector<Setting>& settings, std::string_view flag, char between) {
  std::vector<std::string> all;
  for (const Setting& setting : settings) {
    all.push_back(fmt::format("{} {}{}{}", flag, setting.name, between, setting.value));
  }
  return fmt::format("{}\n", fmt::join(all, " "));
}

}  // namespace

Format format_named(std::string_view name) {
  const auto* const found = std::find(format_names.begin(), format_names.end(), name);
  if (found == format_names.end()) {
    throw UsageError(
        fmt::format("there is no format '{}'; there are {}", name, fmt::join(format_names, ", ")));
  }
  return static_cast<Format>(found - format_names.begin());
}

std::string written(const Heading& heading, const std::vector<Setting>& settings, Format format) {
  switch (format) {
    case Format::env:
      return lines(heading, settings, "export ", "");
    case Format::conf:
      if (heading.version < conf_has_sections) {
        throw UsageError(
            fmt::format("UCX {} reads a ucx.conf from the folder that a program runs in, and "
                        "applies it whatever "
                        "the processor: take --format env",
                        text_of(heading.version)));
      }
      return lines(heading, settings, "", "");
    case Format::openmpi:
      return words(settings, "-x", '=');
    case Format::mpich:
      return words(settings, "-genv", ' ');
    case Format::slurm:
      // What a task prolog prints as "export NAME=value" is in each task's environment.
      return "#!/bin/sh\n" + lines(heading, settings, "echo 'export ", "'");
  }
  return "";
}

}  // namespace huddle::ucx
