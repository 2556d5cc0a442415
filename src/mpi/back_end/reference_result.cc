// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/reference_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace huddle::mpi {
namespace {

std::size_t bytes_of(const std::vector<Part>& parts) {
  std::size_t sum = 0;
  for (const Part& part : parts) sum += part.bytes();
  return sum;
}

}  // namespace

ReferenceResult::ReferenceResult(const UnderlyingMpi& real, Comm comm, Written written)
    : real_(real),
      comm_(comm),
      written_(std::move(written)),
      held_(written_.parts),
      compared_bytes_(bytes_of(written_.parts)) {
  if (written_.read) held_ = {*written_.read};
  before_ = data();
}

std::vector<std::byte> ReferenceResult::data() const {
  std::vector<std::byte> all;
  for (const Part& part : held_) {
    if (part.bytes() == 0) continue;
    Dense view(real_, comm_, part);
    view.fetch();
    all.insert(all.end(), view.data(), view.data() + view.bytes());
  }
  return all;
}

void ReferenceResult::restore(const std::vector<std::byte>& data) const {
  const std::byte* from = data.data();
  for (const Part& part : held_) {
    if (part.bytes() == 0) continue;
    Dense view(real_, comm_, part);
    std::copy_n(from, view.bytes(), view.data());
    view.store();
    from += view.bytes();
  }
}

void ReferenceResult::begin() {
  note_ours();
  restore(before_);
}

void ReferenceResult::end() {
  theirs_ = data();
  if (theirs_ != ours_) restore(ours_);
}

std::string ReferenceResult::place_of(std::size_t byte) const {
  for (std::size_t i = 0; i < written_.parts.size(); ++i) {
    const Part& part = written_.parts[i];
    if (byte >= part.bytes()) {
      byte -= part.bytes();
      continue;
    }
    const std::string of = written_.parts.size() == 1 ? "" : fmt::format(" of block {}", i);
    return fmt::format("element {}{}", byte / part.facts->bytes, of);
  }
  return "no element";
}

}  // namespace huddle::mpi
