// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/reference_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "mpi/back_end/bounds.h"
#include "mpi/back_end/calls/side.h"

namespace huddle::mpi {
namespace {

// A type or a list of blocks may name what lies far apart, and what is between is not for us to
// read: it may not even be there. A region up to so many times its data is taken for one thing, as
// a column of a matrix is.
constexpr Aint most_region_per_data = 1024;

std::size_t bytes_of(const std::vector<Part>& parts) {
  std::size_t sum = 0;
  for (const Part& part : parts) sum += part.bytes();
  return sum;
}

}  // namespace

ReferenceResult::ReferenceResult(const UnderlyingMpi& real, Comm comm, Written written)
    : real_(real), comm_(comm), written_(std::move(written)), held_(written_.parts) {
  if (written_.read) held_ = {*written_.read};
  const Bounds all = bounds_of(written_.address, held_);
  const Bounds compared = bounds_of(written_.address, written_.parts);
  compared_bytes_ = static_cast<std::size_t>(compared.end - compared.begin);
  compared_from_ = compared.begin;
  if (all.begin == all.end) return;
  if (is_spread(all.end - all.begin)) {
    saved_ = data();
    compared_bytes_ = bytes_of(written_.parts);
    return;
  }
  lowest_ = all.begin;
  const auto* address = static_cast<const std::byte*>(moved(written_.address, lowest_));
  copy_.assign(address, address + (all.end - all.begin));
}

bool ReferenceResult::is_spread(Aint region_bytes) const {
  // Types that hold addresses come with address zero.
  return written_.address == nullptr ||
         region_bytes / most_region_per_data > static_cast<Aint>(bytes_of(held_));
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

void* ReferenceResult::prepare() {
  note_ours();
  if (saved_) restore(*saved_);
  return address();
}

void* ReferenceResult::address() {
  // Of what is not written, any address will do.
  if (saved_ || copy_.empty()) return written_.address;
  // Far outside the copy where the data are far from the program's address.
  return moved(copy_.data(), -lowest_);
}

std::optional<std::size_t> ReferenceResult::first_difference(bool may_hold_padding) {
  if (saved_) {
    const std::vector<std::byte> theirs = data();
    return mismatch({theirs.data(), compared_bytes_}, ours_.data(), may_hold_padding);
  }
  const std::byte* theirs = copy_.data() + (compared_from_ - lowest_);
  const auto* ours = static_cast<const std::byte*>(moved(written_.address, compared_from_));
  return mismatch({theirs, compared_bytes_}, ours, may_hold_padding);
}

std::optional<std::size_t> ReferenceResult::mismatch(std::span<const std::byte> theirs,
                                                     const std::byte* ours, bool may_hold_padding) {
  const auto address = reinterpret_cast<std::uintptr_t>(ours);
  for (std::size_t at = 0; at < theirs.size(); ++at) {
    const auto found =
        std::mismatch(theirs.begin() + static_cast<std::ptrdiff_t>(at), theirs.end(), ours + at);
    at = static_cast<std::size_t>(found.first - theirs.begin());
    if (at == theirs.size()) break;
    // Long doubles lie at multiples of their size.
    const bool is_padding =
        may_hold_padding && (address + at) % sizeof(long double) >= long_double_value_bytes;
    if (!is_padding) return at;
  }
  return std::nullopt;
}

std::string ReferenceResult::place_of(std::size_t byte) const {
  std::size_t before = 0;
  for (std::size_t i = 0; i < written_.parts.size(); ++i) {
    const Part& part = written_.parts[i];
    if (part.bytes() == 0) continue;
    const std::string of = written_.parts.size() == 1 ? "" : fmt::format(" of block {}", i);
    if (saved_ && byte < before + part.bytes()) {
      return fmt::format("element {}{}", (byte - before) / part.facts->bytes, of);
    }
    before += part.bytes();
    const Aint at = static_cast<Aint>(byte) + compared_from_;
    const Bounds bounds = bounds_of(written_.address, part);
    if (saved_ || at < bounds.begin || at >= bounds.end) continue;
    const Aint extent = part.facts->extent;
    const Aint from =
        number_of(part.place.address) - number_of(written_.address) + part.facts->first_byte;
    return fmt::format("element {}{}", extent == 0 ? 0 : std::abs((at - from) / extent), of);
  }
  return "what is between blocks";
}

}  // namespace huddle::mpi
