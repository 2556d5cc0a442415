// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/call.h"

#include <fmt/format.h>

namespace huddle::mpi {

std::string_view described_type(const TypeFacts& facts) {
  return facts.element == nullptr ? "a derived datatype" : facts.element->name;
}

std::string described_data(const Written& written) {
  Count sum = 0;
  const Part* largest = nullptr;
  for (const Part& part : written.parts) {
    sum += part.place.count;
    if (largest == nullptr || part.bytes() > largest->bytes()) largest = &part;
  }
  if (largest == nullptr) return "nothing";
  const TypeFacts& facts = *largest->facts;
  return fmt::format("{} elements of {} ({} bytes, extent {})", sum, described_type(facts),
                     facts.bytes, facts.extent);
}

}  // namespace huddle::mpi
