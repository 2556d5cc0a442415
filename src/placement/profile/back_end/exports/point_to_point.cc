// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Wrappers of all point-to-point calls that send. A call is counted once the MPI has accepted it,
// so that the MPI reports invalid arguments and failed calls are not counted.

#include <vector>

#include "mpi/back_end/mpi_names.h"
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

// Combined send and receive. Only the send is counted here; the peer counts its own send.
namespace {

template <class N>
int sent(int status, Comm comm, int to, N n, Datatype type) {
  if (status == success) profiler().sent(comm, to, n, type);
  return status;
}

}  // namespace

HUDDLE_EXPORT int MPI_Sendrecv(const void* buffer, int n, Datatype type, int to, int tag, void* in,
                               int n_in, Datatype type_in, int from, int tag_in, Comm comm,
                               Status* state) {
  return sent(
      small().sendrecv(buffer, n, type, to, tag, in, n_in, type_in, from, tag_in, comm, state),
      comm, to, n, type);
}

HUDDLE_EXPORT int MPI_Sendrecv_replace(void* buffer, int n, Datatype type, int to, int tag,
                                       int from, int tag_in, Comm comm, Status* state) {
  return sent(small().sendrecv_replace(buffer, n, type, to, tag, from, tag_in, comm, state), comm,
              to, n, type);
}

HUDDLE_EXPORT int MPI_Isendrecv(const void* buffer, int n, Datatype type, int to, int tag, void* in,
                                int n_in, Datatype type_in, int from, int tag_in, Comm comm,
                                Request* request) {
  return sent(
      small().isendrecv(buffer, n, type, to, tag, in, n_in, type_in, from, tag_in, comm, request),
      comm, to, n, type);
}

HUDDLE_EXPORT int MPI_Isendrecv_replace(void* buffer, int n, Datatype type, int to, int tag,
                                        int from, int tag_in, Comm comm, Request* request) {
  return sent(small().isendrecv_replace(buffer, n, type, to, tag, from, tag_in, comm, request),
              comm, to, n, type);
}

HUDDLE_EXPORT int MPI_Sendrecv_c(const void* buffer, Count n, Datatype type, int to, int tag,
                                 void* in, Count n_in, Datatype type_in, int from, int tag_in,
                                 Comm comm, Status* state) {
  return sent(
      large().sendrecv(buffer, n, type, to, tag, in, n_in, type_in, from, tag_in, comm, state),
      comm, to, n, type);
}

HUDDLE_EXPORT int MPI_Sendrecv_replace_c(void* buffer, Count n, Datatype type, int to, int tag,
                                         int from, int tag_in, Comm comm, Status* state) {
  return sent(large().sendrecv_replace(buffer, n, type, to, tag, from, tag_in, comm, state), comm,
              to, n, type);
}

HUDDLE_EXPORT int MPI_Isendrecv_c(const void* buffer, Count n, Datatype type, int to, int tag,
                                  void* in, Count n_in, Datatype type_in, int from, int tag_in,
                                  Comm comm, Request* request) {
  return sent(
      large().isendrecv(buffer, n, type, to, tag, in, n_in, type_in, from, tag_in, comm, request),
      comm, to, n, type);
}

HUDDLE_EXPORT int MPI_Isendrecv_replace_c(void* buffer, Count n, Datatype type, int to, int tag,
                                          int from, int tag_in, Comm comm, Request* request) {
  return sent(large().isendrecv_replace(buffer, n, type, to, tag, from, tag_in, comm, request),
              comm, to, n, type);
}

// Persistent and partitioned sends, which are counted at each start. A partitioned send is one
// message.
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
