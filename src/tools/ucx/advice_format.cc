// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include "common/error.h"
#include "common/text.h"
#include "tools/ucx/advice.h"

namespace huddle::ucx {
namespace {

std::string heading_text(const Heading& heading) {
  std::string text =
      fmt::format("# Settings for UCX {} on {} with {} per node, by huddle.\n",
                  text_of(heading.version), heading.machine, counted(heading.ranks, "rank"));
  if (!heading.doubt.empty()) text += fmt::format("# {}.\n", heading.doubt);
  return text;
}

std::string comment(const Setting& setting) {
  return fmt::format("# {}\n#   {}{}\n", setting.reason, setting.figure,
                     setting.replaces.empty() ? "" : fmt::format("; UCX: {}", setting.replaces));
}

// `before` and `after` turn "NAME=value" into a line of the format.
std::string lines(const Heading& heading, const Advice& advice, std::string_view before,
                  std::string_view after) {
  std::string text = heading_text(heading);
  const auto line = [&](const Setting& one) {
    return fmt::format("{}{}={}{}\n", before, one.name, one.value, after);
  };
  for (const Setting& setting : advice.settings) text += comment(setting) + line(setting);
  if (advice.untested.empty()) return text;
  text +=
      "#\n"
      "# Not tested: each helps on some machines and hurts on others. Test each with a job on\n"
      "# several nodes before you uncomment it.\n";
  for (const Setting& setting : advice.untested) text += comment(setting) + "# " + line(setting);
  return text;
}

// Returns the settings as words of a launcher's command line, which cannot contain comments.
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
        fmt::format("unknown format '{}'; use one of {}", name, fmt::join(format_names, ", ")));
  }
  return static_cast<Format>(found - format_names.begin());
}

std::string written(const Heading& heading, const Advice& advice, Format format) {
  switch (format) {
    case Format::env:
      return lines(heading, advice, "export ", "");
    case Format::conf:
      if (heading.version < conf_has_sections) {
        throw UsageError(
            fmt::format("UCX {} reads ucx.conf from the working directory of a program, and "
                        "applies it on every machine: use --format env",
                        text_of(heading.version)));
      }
      return lines(heading, advice, "", "");
    case Format::openmpi:
      return words(advice.settings, "-x", '=');
    case Format::mpich:
      return words(advice.settings, "-genv", ' ');
    case Format::slurm:
      // A task prolog that prints "export NAME=value" sets it for each task.
      return "#!/bin/sh\n" + lines(heading, advice, "echo 'export ", "'");
  }
  return "";
}

bool leaves_out_untested(Format format) {
  return format == Format::openmpi || format == Format::mpich;
}

}  // namespace huddle::ucx
