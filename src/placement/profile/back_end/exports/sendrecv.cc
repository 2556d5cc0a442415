// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Calls that send to one rank and receive from another. What is received counts at its sender.
#include "mpi/back_end/exports/export.h"
#include "placement/profile/back_end/profiler.h"

using namespace huddle::profile;

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
