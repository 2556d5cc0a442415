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

// The oldest version whose score is known.
inline constexpr Version oldest_known{1, 9};
// UCX_MULTI_LANE_MAX_RATIO is 10 in older versions and 4 from here on (openucx/ucx 6153).
inline constexpr Version lane_ratio_is_lower{1, 11};
// From here on UCX charges CMA and KNEM the same overhead per operation.
inline constexpr Version copies_have_one_overhead{1, 12};
// Older versions divide KNEM's figure by the ranks of the node (openucx/ucx 8255).
inline constexpr Version knem_is_each_ranks_own{1, 14};
// From here on KNEM registers memory for each message, without a cache.
inline constexpr Version knem_registers_each_time{1, 16};
// From here on UCX selects protocols by their estimated time; older versions select them by
// thresholds unless UCX_PROTO_ENABLE=y.
inline constexpr Version estimates_select_protocols{1, 16};
// From here on sections of ucx.conf apply only to the processors that they name.
inline constexpr Version conf_has_sections{1, 17};
// From here on UCX divides a shared rate by at most 8 ranks when it estimates protocols.
inline constexpr Version division_is_capped{1, 20};

}  // namespace huddle::ucx
