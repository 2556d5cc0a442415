// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the place can show where a picture in characters goes.
#pragma once

namespace huddle::picture {

struct Style {
  int columns = 80;
  bool color = false;
  bool unicode = true;  // box drawing and shades; otherwise plain ASCII
};

}  // namespace huddle::picture
