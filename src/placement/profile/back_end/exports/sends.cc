// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// All ways to send to one rank. Each is counted once the MPI has taken it, so that what is wrong
// with a call is said by the MPI, and is not counted.
#include "mpi/back_end/exports/export.h"
#include "placement/profile/back_end/profiler.h"

using namespace huddle::profile;

namespace {

template <class N>
int send(Send<N>* real, const void* buffer, N n, Datatype type, int to, int tag, Comm comm) {
  const int status = real(buffer, n, type, to, tag, comm);
  if (status == success) profiler().sent(comm, to, n, type);
  return status;
}

template <class N>
int isend(SendRequest<N>* real, const void* buffer, N n, Datatype type, int to, int tag, Comm comm,
          Request* request) {
  const int status = real(buffer, n, type, to, tag, comm, request);
  if (status == success) profiler().sent(comm, to, n, type);
  return status;
}

template <class N>
int send_init(SendRequest<N>* real, const void* buffer, N n, Datatype type, int to, int tag,
              Comm comm, Request* request) {
  const int status = real(buffer, n, type, to, tag, comm, request);
  if (status == success) profiler().will_send(*request, comm, to, n, type);
  return status;
}

}  // namespace

HUDDLE_EXPORT int MPI_Send(const void* buffer, int n, Datatype type, int to, int tag, Comm comm) {
  return send(small().send, buffer, n, type, to, tag, comm);
}

HUDDLE_EXPORT int MPI_Bsend(const void* buffer, int n, Datatype type, int to, int tag, Comm comm) {
  return send(small().bsend, buffer, n, type, to, tag, comm);
}

HUDDLE_EXPORT int MPI_Ssend(const void* buffer, int n, Datatype type, int to, int tag, Comm comm) {
  return send(small().ssend, buffer, n, type, to, tag, comm);
}

HUDDLE_EXPORT int MPI_Rsend(const void* buffer, int n, Datatype type, int to, int tag, Comm comm) {
  return send(small().rsend, buffer, n, type, to, tag, comm);
}

HUDDLE_EXPORT int MPI_Isend(const void* buffer, int n, Datatype type, int to, int tag, Comm comm,
                            Request* request) {
  return isend(small().isend, buffer, n, type, to, tag, comm, request);
}

HUDDLE_EXPORT int MPI_Ibsend(const void* buffer, int n, Datatype type, int to, int tag, Comm comm,
                             Request* request) {
  return isend(small().ibsend, buffer, n, type, to, tag, comm, request);
}

HUDDLE_EXPORT int MPI_Issend(const void* buffer, int n, Datatype type, int to, int tag, Comm comm,
                             Request* request) {
  return isend(small().issend, buffer, n, type, to, tag, comm, request);
}

HUDDLE_EXPORT int MPI_Irsend(const void* buffer, int n, Datatype type, int to, int tag, Comm comm,
                             Request* request) {
  return isend(small().irsend, buffer, n, type, to, tag, comm, request);
}

HUDDLE_EXPORT int MPI_Send_init(const void* buffer, int n, Datatype type, int to, int tag,
                                Comm comm, Request* request) {
  return send_init(small().send_init, buffer, n, type, to, tag, comm, request);
}

HUDDLE_EXPORT int MPI_Bsend_init(const void* buffer, int n, Datatype type, int to, int tag,
                                 Comm comm, Request* request) {
  return send_init(small().bsend_init, buffer, n, type, to, tag, comm, request);
}

HUDDLE_EXPORT int MPI_Ssend_init(const void* buffer, int n, Datatype type, int to, int tag,
                                 Comm comm, Request* request) {
  return send_init(small().ssend_init, buffer, n, type, to, tag, comm, request);
}

HUDDLE_EXPORT int MPI_Rsend_init(const void* buffer, int n, Datatype type, int to, int tag,
                                 Comm comm, Request* request) {
  return send_init(small().rsend_init, buffer, n, type, to, tag, comm, request);
}

HUDDLE_EXPORT int MPI_Send_c(const void* buffer, Count n, Datatype type, int to, int tag,
                             Comm comm) {
  return send(large().send, buffer, n, type, to, tag, comm);
}

HUDDLE_EXPORT int MPI_Bsend_c(const void* buffer, Count n, Datatype type, int to, int tag,
                              Comm comm) {
  return send(large().bsend, buffer, n, type, to, tag, comm);
}

HUDDLE_EXPORT int MPI_Ssend_c(const void* buffer, Count n, Datatype type, int to, int tag,
                              Comm comm) {
  return send(large().ssend, buffer, n, type, to, tag, comm);
}

HUDDLE_EXPORT int MPI_Rsend_c(const void* buffer, Count n, Datatype type, int to, int tag,
                              Comm comm) {
  return send(large().rsend, buffer, n, type, to, tag, comm);
}

HUDDLE_EXPORT int MPI_Isend_c(const void* buffer, Count n, Datatype type, int to, int tag,
                              Comm comm, Request* request) {
  return isend(large().isend, buffer, n, type, to, tag, comm, request);
}

HUDDLE_EXPORT int MPI_Ibsend_c(const void* buffer, Count n, Datatype type, int to, int tag,
                               Comm comm, Request* request) {
  return isend(large().ibsend, buffer, n, type, to, tag, comm, request);
}

HUDDLE_EXPORT int MPI_Issend_c(const void* buffer, Count n, Datatype type, int to, int tag,
                               Comm comm, Request* request) {
  return isend(large().issend, buffer, n, type, to, tag, comm, request);
}

HUDDLE_EXPORT int MPI_Irsend_c(const void* buffer, Count n, Datatype type, int to, int tag,
                               Comm comm, Request* request) {
  return isend(large().irsend, buffer, n, type, to, tag, comm, request);
}

HUDDLE_EXPORT int MPI_Send_init_c(const void* buffer, Count n, Datatype type, int to, int tag,
                                  Comm comm, Request* request) {
  return send_init(large().send_init, buffer, n, type, to, tag, comm, request);
}

HUDDLE_EXPORT int MPI_Bsend_init_c(const void* buffer, Count n, Datatype type, int to, int tag,
                                   Comm comm, Request* request) {
  return send_init(large().bsend_init, buffer, n, type, to, tag, comm, request);
}

HUDDLE_EXPORT int MPI_Ssend_init_c(const void* buffer, Count n, Datatype type, int to, int tag,
                                   Comm comm, Request* request) {
  return send_init(large().ssend_init, buffer, n, type, to, tag, comm, request);
}

HUDDLE_EXPORT int MPI_Rsend_init_c(const void* buffer, Count n, Datatype type, int to, int tag,
                                   Comm comm, Request* request) {
  return send_init(large().rsend_init, buffer, n, type, to, tag, comm, request);
}
