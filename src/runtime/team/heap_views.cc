// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/heap_views.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "common/error.h"
#include "common/file_descriptor.h"

namespace huddle::team {

// A process id may have been given to another process meanwhile: that one does not have this heap.
std::shared_ptr<const memory::ArenaView> HeapViews::open(const ProcessIdentity& owner,
                                                         const HeapCard& card) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(known_, [](const auto& known) { return known.second.expired(); });
  auto& known = known_[card.id];
  if (auto view = known.lock()) return view;
  const std::string path = fmt::format("/proc/{}/fd/{}", owner.pid, card.descriptor);
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) throw FailureError(std::strerror(errno));
  if (!memory::is_arena(file.number(), card.id, card.cap_bytes)) {
    throw FailureError("what was opened is not its heap");
  }
  auto view = std::make_shared<const memory::ArenaView>(file.number(), card.cap_bytes);
  known = view;
  return view;
}

}  // namespace huddle::team
