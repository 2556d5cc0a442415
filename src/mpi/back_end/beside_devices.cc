// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/beside_devices.h"

#include <algorithm>

#include "mpi/back_end/calls/side.h"

namespace huddle::mpi {
namespace {

// A packed view of data that may be in device memory: the MPI copies even dense parts.
class HostRow {
 public:
  HostRow(const UnderlyingMpi& real, Comm comm, const Part& part)
      : facts_(apart(*part.facts)), view_(real, comm, {part.place, &facts_}) {}
  HostRow(const HostRow&) = delete;
  HostRow& operator=(const HostRow&) = delete;

  Dense& view() { return view_; }

 private:
  static TypeFacts apart(TypeFacts facts) {
    facts.dense = false;
    return facts;
  }

  TypeFacts facts_;
  Dense view_;
};

}  // namespace

HostCopy::HostCopy(const UnderlyingMpi& real, Comm comm, const void* address,
                   const std::vector<Part>& parts)
    : real_(real),
      comm_(comm),
      program_address_(address),
      bounds_(bounds_of(address, parts)),
      memory_(static_cast<std::size_t>(bounds_.end - bounds_.begin)) {
  for (const Part& part : parts) {
    if (part.bytes() == 0) continue;
    HostRow there(real_, comm_, part);
    there.view().fetch();
    Dense copy(real_, comm_, here(part));
    std::copy_n(there.view().data(), copy.bytes(), copy.data());
    copy.store();
  }
}

void* HostCopy::address() const { return moved(memory_.data(), -bounds_.begin); }

void HostCopy::store(const std::vector<Part>& written) const {
  for (const Part& part : written) {
    if (part.bytes() == 0) continue;
    Dense copy(real_, comm_, here(part));
    copy.fetch();
    HostRow there(real_, comm_, part);
    std::copy_n(copy.data(), copy.bytes(), there.view().data());
    there.view().store();
  }
}

// Returns the part of the copy that corresponds to `part`.
Part HostCopy::here(const Part& part) const {
  Part copy = part;
  copy.place.address =
      moved(address(), number_of(part.place.address) - number_of(program_address_));
  return copy;
}

bool has_data(const std::vector<Part>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.bytes() > 0; });
}

// Tests the first byte of data of each part, as MPIs do. It may be far from the part's address,
// because types may contain addresses.
bool is_any_on_device(const Devices& devices, const std::vector<Part>& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
    return part.bytes() > 0 && devices.hold(moved(part.place.address, part.facts->first_byte));
  });
}

}  // namespace huddle::mpi
