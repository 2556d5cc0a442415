// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/message.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace huddle::mpi {
namespace {

// A place as MPI_Pack takes it. MPI_BOTTOM is address zero, which MPICH 4.0 refuses to pack at:
// such data are named from another address, by a type that is moved by as much.
class Packable {
 public:
  Packable(const Real& real, const Place& place) : real_(real), place_(place) {
    if (place.address != nullptr) return;
    place_.address = this;
    const int one = 1;
    const Aint back = -static_cast<Aint>(reinterpret_cast<std::intptr_t>(place_.address));
    real_.type_create_hindexed(1, &one, &back, place.type, &place_.type);
    real_.type_commit(&place_.type);
    moved_ = true;
  }
  Packable(const Packable&) = delete;
  Packable& operator=(const Packable&) = delete;
  ~Packable() {
    if (moved_) real_.type_free(&place_.type);
  }

  std::byte* address() const { return static_cast<std::byte*>(place_.address); }
  Datatype type() const { return place_.type; }

 private:
  const Real& real_;
  Place place_;
  bool moved_ = false;
};

}  // namespace

Dense::Dense(const Real& real, Comm comm, const Place& place, const TypeFacts& facts)
    : real_(real), comm_(comm), place_(place), facts_(facts) {
  if (!facts_.dense) copy_.resize(bytes());
}

template <class Move>
void Dense::in_parts(Move move) {
  if (facts_.bytes == 0 || facts_.dense || place_.count == 0) return;
  // Where blocks differ in size the ranks cannot ask each other first.
  if (!can_be_moved(facts_)) {
    throw std::runtime_error("no MPI packs an element of more than 2 GiB with gaps");
  }
  if (!can_be_moved(facts_)) {
    throw std::runtime_error("the MPI does not pack an element of more than 2 GiB with gaps");
  }
  const auto most_elements = static_cast<Count>(most_packed_bytes / facts_.bytes);
  std::byte* packed = copy_.data();
  const Packable from(real_, place_);
  std::byte* address = from.address();
  for (Count left = place_.count; left > 0;) {
    const auto part = static_cast<int>(std::min(left, most_elements));
    const auto bytes = static_cast<int>(static_cast<std::size_t>(part) * facts_.bytes);
    int position = 0;
    if (move(address, part, from.type(), packed, bytes, &position) != success ||
        position != bytes) {
      throw std::runtime_error("the MPI does not pack a datatype into as many bytes as it holds");
    }
    address += part * facts_.extent;
    packed += bytes;
    left -= part;
  }
}

void Dense::fetch() {
  in_parts([this](std::byte* address, int part, Datatype type, std::byte* packed, int bytes,
                  int* position) {
    return real_.pack(address, part, type, packed, bytes, position, comm_);
  });
}

void Dense::store() {
  in_parts([this](std::byte* address, int part, Datatype type, std::byte* packed, int bytes,
                  int* position) {
    return real_.unpack(packed, bytes, position, address, part, type, comm_);
  });
}

}  // namespace huddle::mpi
