// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/shades.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace huddle::picture {
namespace {

// Light is near. A blank is kept for a core of one thread and itself.
constexpr std::array<std::string_view, 4> unicode_ramp = {"░", "▒", "▓", "█"};
constexpr std::array<std::string_view, 6> ascii_ramp = {".", ":", "+", "*", "#", "@"};

// Latencies that differ by less are one: averages of blocks do, and nobody would see it.
constexpr double same_within = 1.02;

std::vector<double> distinct(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<double> result;
  for (const double ns : values) {
    if (ns > 0 && (result.empty() || ns > result.back() * same_within)) result.push_back(ns);
  }
  return result;
}

// Which of `ramp` characters the i-th of `count` gets, so that first and last differ most.
std::size_t spread(std::size_t i, std::size_t count, std::size_t ramp) {
  return count < 2 ? 0 : i * (ramp - 1) / (count - 1);
}

}  // namespace

std::string_view Shades::of(double ns) const {
  const auto step = std::find_if(steps.begin(), steps.end(),
                                 [ns](const Shade& shade) { return ns <= shade.most_ns; });
  return step == steps.end() ? steps.back().character : step->character;
}

std::string Shades::legend() const {
  std::string text;
  for (const Shade& shade : steps) {
    text +=
        fmt::format("{}{}{} {}{:.0f}", text.empty() ? "" : ", ", shade.character, shade.character,
                    exact ? "" : "to ", exact ? shade.most_ns / same_within : shade.most_ns);
  }
  return text + " ns";
}

Shades shades_for(const Blocks& blocks, const Scale& scale, bool unicode) {
  const std::span<const std::string_view> ramp =
      unicode ? std::span<const std::string_view>(unicode_ramp)
              : std::span<const std::string_view>(ascii_ramp);
  const std::vector<double> values = distinct(blocks.ns);
  Shades shades;
  shades.exact = values.size() <= ramp.size();
  if (shades.exact) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      shades.steps.push_back(
          {values[i] * same_within, ramp[spread(i, values.size(), ramp.size())]});
    }
    return shades;
  }
  for (std::size_t i = 0; i < ramp.size(); ++i) {
    const double fraction = static_cast<double>(i + 1) / static_cast<double>(ramp.size());
    shades.steps.push_back({scale.ns_at(fraction), ramp[i]});
  }
  return shades;
}

}  // namespace huddle::picture
