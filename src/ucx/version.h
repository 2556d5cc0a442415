// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace huddle::ucx {

struct Version {
  int major = 0;
  int minor = 0;

  auto operator<=>(const Version&) const = default;
};

// "1.13" or "1.13.1"; nothing where it is neither.
std::optional<Version> version_from(std::string_view text);
std::string text_of(const Version& version);

// The first of which is known how it scores its paths.
inline constexpr Version oldest_known{1, 9};
// KNEM's figure belongs to all ranks of a node together before, to each of them from here on.
inline constexpr Version knem_is_each_ranks_own{1, 14};
// Sections of ucx.conf apply to the processors that they name.
inline constexpr Version conf_has_sections{1, 17};

}  // namespace huddle::ucx
