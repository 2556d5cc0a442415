// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a rank gives to itself in a call: the one block of which it sees both ends. Where the two
// are not of the same size the program is wrong, and still no byte may go where none belongs.
#pragma once

#include <cstddef>
#include <vector>

#include "mpi/back_end/message.h"
#include "mpi/back_end/underlying_mpi.h"

namespace huddle::mpi {

// What a rank gives, ready for a team: as many bytes as its block in the output has. What is
// missing is what the output holds already; what is too much is left out.
class OwnSendBlock {
 public:
  // In place: `given` is `own`.
  OwnSendBlock(const UnderlyingMpi& real, Comm comm, const Part& given, const Part& own)
      : given_(real, comm, given) {
    given_.fetch();
    if (given.bytes() != own.bytes()) fit(Dense(real, comm, own));
  }
  const void* data() const { return whole_.empty() ? given_.data() : whole_.data(); }

 private:
  void fit(Dense own);

  Dense given_;
  std::vector<std::byte> whole_;
};

// Where a rank gets its block of the input, ready for a team: there is room for so many bytes.
class OwnReceiveBlock {
 public:
  OwnReceiveBlock(const UnderlyingMpi& real, Comm comm, const Part& gotten, std::size_t bytes)
      : gotten_(real, comm, gotten) {
    if (gotten_.bytes() != bytes) set_aside(bytes);
  }
  void* data() { return aside_.empty() ? gotten_.data() : aside_.data(); }
  // Once it is there.
  void store() {
    if (!aside_.empty()) store_aside();
    gotten_.store();
  }

 private:
  void set_aside(std::size_t bytes);
  void store_aside();

  Dense gotten_;
  std::vector<std::byte> aside_;
};

}  // namespace huddle::mpi
