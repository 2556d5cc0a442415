// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Requests that send whenever they are started. A send in parts is one message.
#include <vector>

#include "mpi/back_end/exports/export.h"
#include "placement/profile/back_end/profiler.h"

using namespace huddle::profile;

HUDDLE_EXPORT int MPI_Psend_init(const void* buffer, int partitions, Count n, Datatype type, int to,
                                 int tag, Comm comm, Info info, Request* request) {
  const int status =
      profiler().mpi().psend_init(buffer, partitions, n, type, to, tag, comm, info, request);
  if (status == success) profiler().will_send(*request, comm, to, partitions * n, type);
  return status;
}

HUDDLE_EXPORT int MPI_Start(Request* request) {
  const Request before = *request;
  const int status = profiler().mpi().start(request);
  if (status == success) profiler().started(before, *request);
  return status;
}

HUDDLE_EXPORT int MPI_Startall(int n, Request* requests) {
  const std::vector<Request> before(requests, requests + (n > 0 ? n : 0));
  const int status = profiler().mpi().startall(n, requests);
  for (std::size_t i = 0; status == success && i < before.size(); ++i) {
    profiler().started(before[i], requests[i]);
  }
  return status;
}
