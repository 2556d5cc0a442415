// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Words of a machine file as a picture may carry them.
#pragma once

#include "tools/picture/picture.h"

namespace huddle::picture {

// The same subject without control characters in its words: whoever wrote the file must not give
// orders to the terminal that shows it, and XML forbids them.
Subject cleaned(Subject subject);

}  // namespace huddle::picture
