// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/own_block.h"

#include <algorithm>

namespace huddle::mpi {

void OwnSendBlock::fit(Dense own) {
  own.fetch();
  whole_.assign(own.data(), own.data() + own.bytes());
  std::copy_n(given_.data(), std::min(given_.bytes(), whole_.size()), whole_.data());
}

void OwnReceiveBlock::set_aside(std::size_t bytes) {
  aside_.resize(bytes);
  gotten_.fetch();
}

void OwnReceiveBlock::store_aside() {
  std::copy_n(aside_.data(), std::min(aside_.size(), gotten_.bytes()), gotten_.data());
}

}  // namespace huddle::mpi
