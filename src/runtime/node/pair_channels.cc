// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/pair_channels.h"

namespace huddle::node {

PairChannels::PairChannels(const PairParameters& parameters, int ranks, world::Sequence start)
    : cells_(static_cast<world::Sequence>(parameters.cells)),
      lines_(static_cast<world::Sequence>(parameters.lines)),
      cell_stride_(round_up(parameters.tile_bytes, apart_bytes)),
      departures_(carver_, start),
      drained_offset_(carver_.take(static_cast<std::size_t>(ranks) * apart_bytes)),
      lines_offset_(carver_.take(static_cast<std::size_t>(ranks) * lines_ * apart_bytes)),
      cells_offset_(
          carver_.take(static_cast<std::size_t>(ranks) * cells_ * cell_stride_, page_bytes)),
      channels_(static_cast<std::size_t>(ranks), Channel{start, start, start}) {}

world::Sequence PairChannels::asked_ahead(world::Sequence tiles, world::Sequence cells) {
  return tiles < cells ? std::min(tiles, cells - tiles) : 0;
}

void PairChannels::expect(PairStream& in, world::Sequence told) {
  if (told == size_word(in.block.bytes)) return;
  const std::size_t sent = in.block.bytes - size_word(in.block.bytes) + told;
  if (!surprise_) surprise_ = {in.peer, sent, in.block.bytes};
  in.block.bytes = sent;
  in.is_unwanted = true;
}

}  // namespace huddle::node
