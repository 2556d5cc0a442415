// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The manual page of a C header, from the header itself.
#pragma once

#include <string>
#include <string_view>

#include "tools/manual/pages.h"

namespace huddle::manual {

// huddle(3), also by the names of the header and of its functions.
Page header_page(std::string_view header, const std::string& version);

}  // namespace huddle::manual
