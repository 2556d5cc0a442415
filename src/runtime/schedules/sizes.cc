// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/schedules/sizes.h"

#include <utility>

namespace huddle::net {

Sizes Sizes::equal(std::size_t bytes) {
  Sizes sizes;
  sizes.elements_ = bytes;
  return sizes;
}

Sizes Sizes::cut(std::size_t count, std::size_t element, std::int64_t blocks) {
  Sizes sizes;
  sizes.elements_ = count;
  sizes.element_bytes_ = element;
  sizes.blocks_ = static_cast<std::size_t>(blocks);
  return sizes;
}

Sizes Sizes::listed(std::span<const std::size_t> bytes) {
  std::vector<std::size_t> starts;
  starts.reserve(bytes.size() + 1);
  starts.push_back(0);
  for (const std::size_t size : bytes) starts.push_back(starts.back() + size);
  Sizes sizes;
  sizes.starts_ = std::make_shared<const std::vector<std::size_t>>(std::move(starts));
  return sizes;
}

bool Sizes::operator==(const Sizes& other) const {
  if (starts_ != other.starts_) return starts_ && other.starts_ && *starts_ == *other.starts_;
  return elements_ == other.elements_ && element_bytes_ == other.element_bytes_ &&
         blocks_ == other.blocks_;
}

std::size_t Sizes::offset(std::int64_t block) const {
  const auto number = static_cast<std::size_t>(block);
  if (starts_) return (*starts_)[number];
  // In two steps, since the product of many elements and many blocks may not fit.
  const std::size_t whole = elements_ / blocks_;
  const std::size_t rest = elements_ % blocks_;
  return (whole * number + rest * number / blocks_) * element_bytes_;
}

std::size_t Sizes::bytes(const Blocks& blocks) const {
  std::size_t sum = 0;
  for (const Run& run : blocks) {
    if (!starts_ && elements_ % blocks_ == 0) {
      sum += bytes(0) * static_cast<std::size_t>(run.count());
      continue;
    }
    for (std::int64_t i = 0; i < run.repeats; ++i) {
      const std::int64_t first = run.first + i * run.stride;
      sum += offset(first + run.length) - offset(first);
    }
  }
  return sum;
}

}  // namespace huddle::net
