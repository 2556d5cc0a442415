// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "net/sizes.h"

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
  Sizes sizes;
  sizes.starts_.push_back(0);
  for (const std::size_t size : bytes) sizes.starts_.push_back(sizes.starts_.back() + size);
  return sizes;
}

std::size_t Sizes::offset(std::int64_t block) const {
  const auto number = static_cast<std::size_t>(block);
  if (!starts_.empty()) return starts_[number];
  // In two steps, since the product of many elements and many blocks may not fit.
  const std::size_t whole = elements_ / blocks_;
  const std::size_t rest = elements_ % blocks_;
  return (whole * number + rest * number / blocks_) * element_bytes_;
}

std::size_t Sizes::bytes(const Blocks& blocks) const {
  std::size_t sum = 0;
  for (const Run& run : blocks) {
    if (starts_.empty() && elements_ % blocks_ == 0) {
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
