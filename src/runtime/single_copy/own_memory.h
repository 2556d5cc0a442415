// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory of this very process, for ranks that are its threads. Plain copies, that tools which
// look for races see as such.
#pragma once

#include "runtime/single_copy/peer_memory.h"

namespace huddle::single_copy {

class OwnMemory : public PeerMemory {
 public:
  [[nodiscard]] ErrorNumber read(std::byte* to, RemoteAddress from,
                                 std::size_t bytes) noexcept override;
  [[nodiscard]] ErrorNumber write(RemoteAddress to, const std::byte* from,
                                  std::size_t bytes) noexcept override;
  [[nodiscard]] std::byte* mapped(RemoteAddress told) const noexcept override;
};

}  // namespace huddle::single_copy
