// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/own_block.h"

#include <algorithm>
#include <cstring>

namespace huddle::mpi {

GivenBlock::GivenBlock(const Real& real, Comm comm, const Part& given, const Part& own)
    : given_(real, comm, given) {
  given_.fetch();
  if (given.bytes() == own.bytes()) return;
  Dense there(real, comm, own);
  there.fetch();
  whole_.assign(there.data(), there.data() + there.bytes());
  std::copy_n(given_.data(), std::min(given_.bytes(), whole_.size()), whole_.data());
}

GottenBlock::GottenBlock(const Real& real, Comm comm, const Part& gotten, std::size_t bytes)
    : gotten_(real, comm, gotten) {
  if (gotten_.bytes() == bytes) return;
  aside_.resize(bytes);
  gotten_.fetch();
}

void GottenBlock::store() {
  std::copy_n(aside_.data(), std::min(aside_.size(), gotten_.bytes()), gotten_.data());
  gotten_.store();
}

}  // namespace huddle::mpi
