// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/dense_blocks.h"

#include <algorithm>
#include <cstdint>

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

DenseBlocks::DenseBlocks(const UnderlyingMpi& real, Comm comm, const VectorBufferArgument& side,
                         int ranks)
    : blocks_(static_cast<std::size_t>(ranks)) {
  for (int rank = 0; rank < ranks; ++rank) {
    const std::size_t bytes = side.bytes(rank);
    if (bytes == 0) continue;
    const Part part = side.block(rank);
    auto* const data =
        part.facts->dense ? static_cast<std::byte*>(part.place.address) : copied(real, comm, part);
    if (base_ == &nothing_) base_ = data;
    const auto offset =
        reinterpret_cast<std::intptr_t>(data) - reinterpret_cast<std::intptr_t>(base_);
    blocks_[static_cast<std::size_t>(rank)] = {offset, bytes};
  }
}

std::byte* DenseBlocks::copied(const UnderlyingMpi& real, Comm comm, const Part& part) {
  // Reserves memory only for the first copy, because most calls need none, and for all blocks at
  // once, because addresses within the elements must remain valid.
  if (copies_.empty()) copies_.reserve(blocks_.size());
  return copies_.emplace_back(real, comm, part).data();
}

void DenseBlocks::shorten(int rank, std::size_t bytes) {
  node::Block& block = blocks_[static_cast<std::size_t>(rank)];
  if (block.bytes <= bytes) return;
  // Bytes that will not be received keep their contents.
  fetch();
  block.bytes = bytes;
}

void DenseBlocks::fetch() {
  for (Dense& copy : copies_) copy.fetch();
}

void DenseBlocks::store() {
  for (Dense& copy : copies_) copy.store();
}

}  // namespace huddle::mpi
