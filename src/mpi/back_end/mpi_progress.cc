// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/mpi_progress.h"

namespace huddle::mpi {
namespace {

// Nobody ever asks what became of it.
int no_query(void* /*extra*/, Status* /*status*/) { return success; }
int no_free(void* /*extra*/) { return success; }
int no_cancel(void* /*extra*/, int /*complete*/) { return success; }

}  // namespace

bool MpiProgress::start() {
  const std::lock_guard lock(mutex_);
  if (is_available_.load()) return true;
  const int status = real_.grequest_start(no_query, no_free, no_cancel, nullptr, &request_);
  is_available_.store(status == success, std::memory_order_release);
  return status == success;
}

void MpiProgress::poll() const {
  if (!is_available_.load(std::memory_order_acquire)) return;
  int ended = 0;
  real_.request_get_status(request_, &ended, status_ignore());
}

void MpiProgress::stop() {
  if (!is_available_.exchange(false)) return;
  real_.grequest_complete(request_);
  real_.wait(&request_, status_ignore());
}

}  // namespace huddle::mpi
