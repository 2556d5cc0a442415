// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/repack.h"

#include <algorithm>
#include <vector>

#include "mpi/back_end/alone.h"

namespace huddle::mpi {
namespace {

// Data from one layout to another, however many they are, by a collective of this rank alone. (A
// message to itself on the program's communicator could be taken by a receive of the program's.)
bool move(const UnderlyingMpi& real, Comm comm, const TypedBuffer& from, const TypedBuffer& to) {
  const Alone alone(real, comm);
  return alone.is_made() &&
         real.allgather(from.address, static_cast<int>(from.count), from.type, to.address,
                        static_cast<int>(to.count), to.type, alone.comm()) == success;
}

// So many bytes in a row as one element, in blocks that an int counts.
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

}  // namespace huddle::mpi
