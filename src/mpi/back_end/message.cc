// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/message.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <vector>

#include "mpi/back_end/underlying_mpi.h"

namespace huddle::mpi {
namespace {

// Copies data of any size between layouts, by a collective on a communicator of this rank alone.
// (If this rank sent itself a message on the program's communicator, a receive of the program could
// match it.)
bool move(const UnderlyingMpi& real, Comm comm, const TypedBuffer& from, const TypedBuffer& to) {
  const Alone alone(real, comm);
  return alone.is_made() &&
         real.allgather(from.address, static_cast<int>(from.count), from.type, to.address,
                        static_cast<int>(to.count), to.type, alone.comm()) == success;
}

// Describes contiguous bytes as one element of a datatype, in blocks whose sizes fit an int.
class PackedRow {
 public:
  PackedRow(const UnderlyingMpi& real, const std::byte* address, std::size_t bytes) : real_(real) {
    std::vector<int> blocks;
    std::vector<Aint> places;
    for (std::size_t at = 0; at < bytes; at += most_packed_bytes) {
      blocks.push_back(static_cast<int>(std::min(most_packed_bytes, bytes - at)));
      places.push_back(static_cast<Aint>(at));
    }
    real.type_create_hindexed(static_cast<int>(blocks.size()), blocks.data(), places.data(),
                              real.byte, &place_.type);
    real.type_commit(&place_.type);
    place_.address = const_cast<std::byte*>(address);
    place_.count = 1;
  }
  PackedRow(const PackedRow&) = delete;
  PackedRow& operator=(const PackedRow&) = delete;
  ~PackedRow() { real_.type_free(&place_.type); }

  const TypedBuffer& place() const { return place_; }

 private:
  const UnderlyingMpi& real_;
  TypedBuffer place_;
};

}  // namespace

bool pack(const UnderlyingMpi& real, Comm comm, const TypedBuffer& from, std::byte* row,
          std::size_t bytes) {
  if (bytes > most_packed_bytes) return move(real, comm, from, PackedRow(real, row, bytes).place());
  const auto room = static_cast<int>(bytes);
  int position = 0;
  return real.pack(from.address, static_cast<int>(from.count), from.type, row, room, &position,
                   comm) == success &&
         position == room;
}

bool unpack(const UnderlyingMpi& real, Comm comm, const std::byte* row, std::size_t bytes,
            const TypedBuffer& to) {
  if (bytes > most_packed_bytes) return move(real, comm, PackedRow(real, row, bytes).place(), to);
  const auto size = static_cast<int>(bytes);
  int position = 0;
  return real.unpack(row, size, &position, to.address, static_cast<int>(to.count), to.type, comm) ==
             success &&
         position == size;
}

namespace {

// A buffer that MPI_Pack accepts. MPI_BOTTOM is address zero, which MPICH 4.0 rejects in MPI_Pack,
// so such data are described relative to another address, by a shifted type.
class Packable {
 public:
  Packable(const UnderlyingMpi& real, const TypedBuffer& place) : real_(real), place_(place) {
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
  const UnderlyingMpi& real_;
  TypedBuffer place_;
  bool moved_ = false;
};

}  // namespace

// A packed copy of data that have gaps.
class Dense::Copy {
 public:
  Copy(const UnderlyingMpi& real, Comm comm, const Part& part)
      : real_(real), comm_(comm), place_(part.place), facts_(*part.facts), row_(part.bytes()) {}

  std::byte* data() { return row_.data(); }

  void fetch() {
    in_parts([this](const TypedBuffer& from, std::byte* row, std::size_t bytes) {
      return pack(real_, comm_, from, row, bytes);
    });
  }
  void store() {
    in_parts([this](const TypedBuffer& to, const std::byte* row, std::size_t bytes) {
      return unpack(real_, comm_, row, bytes, to);
    });
  }

 private:
  // Calls move() for parts whose numbers of elements and packed bytes fit in an int, as MPI
  // requires.
  template <class Move>
  void in_parts(Move move) {
    if (row_.empty()) return;
    const auto most_elements =
        static_cast<Count>(std::max<std::size_t>(1, most_packed_bytes / facts_.bytes));
    std::byte* row = row_.data();
    const Packable from(real_, place_);
    std::byte* address = from.address();
    for (Count left = place_.count; left > 0;) {
      const Count part = std::min(left, most_elements);
      const std::size_t bytes = static_cast<std::size_t>(part) * facts_.bytes;
      if (!move(TypedBuffer{address, part, from.type()}, row, bytes)) {
        throw std::runtime_error("the packed size of a datatype differs from its size");
      }
      address += part * facts_.extent;
      row += bytes;
      left -= part;
    }
  }

  const UnderlyingMpi& real_;
  Comm comm_;
  TypedBuffer place_;
  TypeFacts facts_;  // a copy, because the program may free the type before its output is stored
  std::vector<std::byte> row_;
};

void Dense::Delete::operator()(Copy* copy) const { std::default_delete<Copy>()(copy); }

void Dense::set_aside(const UnderlyingMpi& real, Comm comm, Part part) {
  copy_.reset(std::make_unique<Copy>(real, comm, part).release());
  data_ = copy_->data();
}

void Dense::fetch_copy() { copy_->fetch(); }

void Dense::store_copy() { copy_->store(); }

Bounds bounds_of(const void* address, const Part& part) {
  // A negative extent places the elements in descending order.
  const Aint last = static_cast<Aint>(part.place.count - 1) * part.facts->extent;
  const Aint begin = number_of(part.place.address) - number_of(address) + part.facts->first_byte +
                     std::min<Aint>(0, last);
  return {begin, begin + std::abs(last) + static_cast<Aint>(part.facts->span)};
}

Bounds bounds_of(const void* address, const std::vector<Part>& parts) {
  std::optional<Bounds> all;
  for (const Part& part : parts) {
    if (part.bytes() == 0) continue;
    const Bounds bounds = bounds_of(address, part);
    if (!all) all = bounds;
    *all = {std::min(all->begin, bounds.begin), std::max(all->end, bounds.end)};
  }
  return all.value_or(Bounds());
}

}  // namespace huddle::mpi
