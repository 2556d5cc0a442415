// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/ucx/version.h"

#include <fmt/format.h>

#include <charconv>

namespace huddle::ucx {

std::optional<Version> version_from(std::string_view text) {
  Version version;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  if (minor.ec != std::errc() || version.major < 0 || version.minor < 0) return std::nullopt;
  if (minor.ptr != end && *minor.ptr != '.') return std::nullopt;
  return version;
}

std::string text_of(const Version& version) {
  return fmt::format("{}.{}", version.major, version.minor);
}

}  // namespace huddle::ucx
