// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/pulse.h"

namespace huddle::mpi {
namespace {

// Nobody ever asks what became of it.
int no_query(void* /*extra*/, Status* /*status*/) { return success; }
int no_free(void* /*extra*/) { return success; }
int no_cancel(void* /*extra*/, int /*complete*/) { return success; }

}  // namespace

bool Pulse::start() {
  const std::lock_guard lock(mutex_);
  if (beats_.load()) return true;
  const int status = real_.grequest_start(no_query, no_free, no_cancel, nullptr, &request_);
  beats_.store(status == success, std::memory_order_release);
  return status == success;
}

void Pulse::ask() const {
  if (!beats_.load(std::memory_order_acquire)) return;
  int ended = 0;
  real_.request_get_status(request_, &ended, status_ignore());
}

void Pulse::stop() {
  if (!beats_.exchange(false)) return;
  real_.grequest_complete(request_);
  real_.wait(&request_, status_ignore());
}

}  // namespace huddle::mpi
