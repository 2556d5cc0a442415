// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/library_load_monitor.h"

#include <dlfcn.h>

#include <utility>

namespace huddle::mpi {
namespace {

constexpr auto among = memory::OneSidedFence::Among::threads;

}  // namespace

LibraryLoadMonitor::LibraryLoadMonitor(std::string marker)
    : marker_(std::move(marker)), fence_(among, memory::OneSidedFence::is_to_be_had(among)) {}

LibraryLoadMonitor::~LibraryLoadMonitor() {
  if (handle_ != nullptr) dlclose(handle_);
}

// Loaded anew it comes last. Whoever loads something at this moment keeps us waiting.
void LibraryLoadMonitor::catch_up(const std::function<void()>& wait_for_lookers) {
  if (is_missing_) return;
  if (last_.exchange(nullptr) != nullptr) {
    fence_.rare_side();
    wait_for_lookers();
  }
  if (handle_ != nullptr) dlclose(handle_);
  handle_ = dlopen(marker_.c_str(), RTLD_NOW | RTLD_LOCAL);
  link_map* last = nullptr;
  is_missing_ = handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &last) != 0;
  last_.store(last, std::memory_order_release);
}

}  // namespace huddle::mpi
