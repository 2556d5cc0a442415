// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "check/checker/memory.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "check/checker/site.h"

namespace huddle::check::checker {

Memory::Memory(int ranks, const Sizes& sizes, context::Sequence first)
    : ranks_(ranks),
      parts_{Part(ranks, sizes.shared), Part(ranks, sizes.input), Part(ranks, sizes.output),
             Part(ranks, sizes.scratch)} {
  auto& shared = part(context::Region::shared).bytes;
  for (std::size_t i = 0; i + sizeof first <= shared.size(); i += sizeof first) {
    std::memcpy(&shared[i], &first, sizeof first);
  }
  keep_as_image();
}

std::span<std::byte> Memory::bytes(context::Region region, int owner) {
  Part& p = part(region);
  return std::span(p.bytes).subspan(static_cast<std::size_t>(owner) * p.rank_bytes, p.rank_bytes);
}

std::span<const std::byte> Memory::bytes(context::Region region, int owner) const {
  const Part& p = part(region);
  return std::span(p.bytes).subspan(static_cast<std::size_t>(owner) * p.rank_bytes, p.rank_bytes);
}

void Memory::keep_as_image() {
  for (Part& p : parts_) p.image = p.bytes;
}

void Memory::restore_image() {
  for (Part& p : parts_) {
    p.dirty.clean_all([&p](std::size_t first, std::size_t n) {
      std::memcpy(&p.bytes[first], &p.image[first], n);
    });
  }
}

std::uint64_t Memory::digest() const {
  std::uint64_t sum = 0;
  std::uint64_t region = 0;
  for (const Part& p : parts_) {
    ++region;
    p.dirty.each([&](std::size_t first, std::size_t n) {
      std::uint64_t line = mixed(region, first);
      for (std::size_t i = 0; i < n; i += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, &p.bytes[first + i], std::min(sizeof word, n - i));
        line = mixed(line, word);
      }
      sum += line;  // a sum, because lines are visited in any order
    });
  }
  return sum;
}

std::optional<std::string> Memory::refusal(int rank, context::Address place, std::size_t n) const {
  const std::string what = text_of(place, n);
  if (place.owner() < 0 || place.owner() >= ranks_) {
    return fmt::format("{}: there is no rank {}", what, place.owner());
  }
  if (place.region() != context::Region::shared && place.owner() != rank) {
    return fmt::format("{} is out of rank {}'s reach", what, rank);
  }
  const std::size_t limit = size(place.region());
  if (n > limit || place.offset > limit - n) {
    return fmt::format("{} is out of range, there are {} bytes", what, limit);
  }
  return std::nullopt;
}

std::span<const std::byte> Memory::read(context::Address place, std::size_t n) const {
  return std::span(part(place.region()).bytes).subspan(within(place), n);
}

void Memory::write(context::Address place, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  Part& p = part(place.region());
  const std::size_t first = within(place);
  p.dirty.mark(first, bytes.size());
  std::copy(bytes.begin(), bytes.end(), p.bytes.begin() + static_cast<std::ptrdiff_t>(first));
}

std::size_t Memory::within(context::Address place) const {
  return static_cast<std::size_t>(place.owner()) * size(place.region()) + place.offset;
}

std::size_t Memory::index(context::Address place) const {
  std::size_t before = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(place.region()); ++i) {
    before += parts_[i].bytes.size();
  }
  return before + within(place);
}

context::Address Memory::place_at(std::size_t index) const {
  std::size_t region = 0;
  while (region + 1 < parts_.size() && index >= parts_[region].bytes.size()) {
    index -= parts_[region++].bytes.size();
  }
  const std::size_t rank_bytes = std::max<std::size_t>(1, parts_[region].rank_bytes);
  return {static_cast<context::Region>(region), static_cast<int>(index / rank_bytes),
          index % rank_bytes};
}

std::size_t Memory::all_bytes() const {
  std::size_t sum = 0;
  for (const Part& p : parts_) sum += p.bytes.size();
  return sum;
}

namespace {

constexpr std::uint16_t mark = 0xE5D0;

struct Written {
  std::uint16_t marked = 0;
  std::uint16_t region = 0;
  // The lower half of a signed 64-bit offset. Offsets may be negative, but fit in 32 bits.
  std::int32_t offset = 0;
};
static_assert(sizeof(Written) == context::exposure_bytes);

}  // namespace

std::array<std::byte, context::exposure_bytes> encoded(context::Address what) {
  const Written written{mark, static_cast<std::uint16_t>(what.region()),
                        static_cast<std::int32_t>(static_cast<std::ptrdiff_t>(what.offset))};
  std::array<std::byte, context::exposure_bytes> bytes{};
  std::memcpy(bytes.data(), &written, sizeof written);
  return bytes;
}

std::optional<context::Address> exposed_address(int owner, std::span<const std::byte> bytes) {
  Written written;
  std::memcpy(&written, bytes.data(), sizeof written);
  if (written.marked != mark ||
      written.region > static_cast<std::uint16_t>(context::Region::scratch)) {
    return std::nullopt;
  }
  return context::Address{static_cast<context::Region>(written.region), owner,
                          static_cast<std::size_t>(static_cast<std::ptrdiff_t>(written.offset))};
}

}  // namespace huddle::check::checker
