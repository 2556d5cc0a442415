// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/node/exposures.h"

#include <fmt/format.h>

#include "runtime/context/errors.h"

namespace huddle::node {

void Departures::tell_of(int owner) {
  throw context::PeerLost(fmt::format("rank {} has left a call in the middle", owner));
}

namespace {

// System error numbers are below this; the remaining bits suffice for the ranks of a node.
constexpr context::Sequence errors = 1 << 12;
constexpr context::Sequence ways = 2;

}  // namespace

ExposedBuffers::ExposedBuffers(SharedLayout& layout, int places, context::Sequence start)
    : shown_(layout),
      through_(layout),
      departures_(layout, start),
      places_offset_(layout.reserve(static_cast<std::size_t>(places) * context::exposure_bytes)),
      call_(start) {}

ExposedBuffers::Failure ExposedBuffers::failure_of(Way way, int owner,
                                                   single_copy::ErrorNumber error) {
  const Failure what = static_cast<Failure>(owner) * ways + static_cast<Failure>(way);
  return what * errors + static_cast<Failure>(error);
}

void ExposedBuffers::fail(int rank, Failure failure) {
  const Failure what = failure / errors;
  const bool is_writing = static_cast<Way>(what % ways) == Way::writing;
  throw context::PathFailed(fmt::format("rank {} cannot {} the memory of rank {} any more: {}",
                                        rank, is_writing ? "write to" : "read", what / ways,
                                        single_copy::text_of(static_cast<int>(failure % errors))));
}

}  // namespace huddle::node
