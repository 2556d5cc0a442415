// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/beside_devices.h"

#include <algorithm>

#include "mpi/back_end/calls/side.h"

namespace huddle::mpi {

bool has_data(const std::vector<Part>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.bytes() > 0; });
}

// As MPIs do, by where a part begins. Types that hold addresses begin far from the program's.
bool is_any_on_device(const Devices& devices, const std::vector<Part>& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
    return part.bytes() > 0 && devices.hold(moved(part.place.address, part.facts->first_byte));
  });
}

}  // namespace huddle::mpi
