// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Wrappers of the one-sided operations, which count at the origin: puts as traffic from this rank
// to the target, gets as traffic from the target. A call is counted once the MPI has accepted it.
#include "mpi/back_end/mpi_names.h"
#include "placement/profile/back_end/profiler.h"

using namespace huddle::profile;

namespace {

template <class N>
int put(int status, Win win, int target, N n, Datatype type) {
  if (status == success) profiler().moved(win, target, Way::to_other, n, type);
  return status;
}

template <class N>
int got(int status, Win win, int target, N n, Datatype type) {
  if (status == success) profiler().moved(win, target, Way::from_other, n, type);
  return status;
}

// Counts both directions: operand to the target, previous value back. MPI_NO_OP sends no operand.
template <class N>
int exchanged(int status, Win win, int target, N n, Datatype type, N n_back, Datatype type_back,
              Op op) {
  if (!profiler().is_no_op(op)) put(status, win, target, n, type);
  return got(status, win, target, n_back, type_back);
}

}  // namespace

HUDDLE_EXPORT int MPI_Put(const void* buffer, int n, Datatype type, int target, Aint place,
                          int n_there, Datatype type_there, Win win) {
  return put(small().put(buffer, n, type, target, place, n_there, type_there, win), win, target, n,
             type);
}

HUDDLE_EXPORT int MPI_Rput(const void* buffer, int n, Datatype type, int target, Aint place,
                           int n_there, Datatype type_there, Win win, Request* request) {
  return put(small().rput(buffer, n, type, target, place, n_there, type_there, win, request), win,
             target, n, type);
}

HUDDLE_EXPORT int MPI_Get(void* buffer, int n, Datatype type, int target, Aint place, int n_there,
                          Datatype type_there, Win win) {
  return got(small().get(buffer, n, type, target, place, n_there, type_there, win), win, target, n,
             type);
}

HUDDLE_EXPORT int MPI_Rget(void* buffer, int n, Datatype type, int target, Aint place, int n_there,
                           Datatype type_there, Win win, Request* request) {
  return got(small().rget(buffer, n, type, target, place, n_there, type_there, win, request), win,
             target, n, type);
}

HUDDLE_EXPORT int MPI_Accumulate(const void* buffer, int n, Datatype type, int target, Aint place,
                                 int n_there, Datatype type_there, Op op, Win win) {
  return put(small().accumulate(buffer, n, type, target, place, n_there, type_there, op, win), win,
             target, n, type);
}

HUDDLE_EXPORT int MPI_Raccumulate(const void* buffer, int n, Datatype type, int target, Aint place,
                                  int n_there, Datatype type_there, Op op, Win win,
                                  Request* request) {
  return put(
      small().raccumulate(buffer, n, type, target, place, n_there, type_there, op, win, request),
      win, target, n, type);
}

HUDDLE_EXPORT int MPI_Get_accumulate(const void* buffer, int n, Datatype type, void* result,
                                     int n_back, Datatype type_back, int target, Aint place,
                                     int n_there, Datatype type_there, Op op, Win win) {
  return exchanged(small().get_accumulate(buffer, n, type, result, n_back, type_back, target, place,
                                          n_there, type_there, op, win),
                   win, target, n, type, n_back, type_back, op);
}

HUDDLE_EXPORT int MPI_Rget_accumulate(const void* buffer, int n, Datatype type, void* result,
                                      int n_back, Datatype type_back, int target, Aint place,
                                      int n_there, Datatype type_there, Op op, Win win,
                                      Request* request) {
  return exchanged(small().rget_accumulate(buffer, n, type, result, n_back, type_back, target,
                                           place, n_there, type_there, op, win, request),
                   win, target, n, type, n_back, type_back, op);
}

HUDDLE_EXPORT int MPI_Put_c(const void* buffer, Count n, Datatype type, int target, Aint place,
                            Count n_there, Datatype type_there, Win win) {
  return put(large().put(buffer, n, type, target, place, n_there, type_there, win), win, target, n,
             type);
}

HUDDLE_EXPORT int MPI_Rput_c(const void* buffer, Count n, Datatype type, int target, Aint place,
                             Count n_there, Datatype type_there, Win win, Request* request) {
  return put(large().rput(buffer, n, type, target, place, n_there, type_there, win, request), win,
             target, n, type);
}

HUDDLE_EXPORT int MPI_Get_c(void* buffer, Count n, Datatype type, int target, Aint place,
                            Count n_there, Datatype type_there, Win win) {
  return got(large().get(buffer, n, type, target, place, n_there, type_there, win), win, target, n,
             type);
}

HUDDLE_EXPORT int MPI_Rget_c(void* buffer, Count n, Datatype type, int target, Aint place,
                             Count n_there, Datatype type_there, Win win, Request* request) {
  return got(large().rget(buffer, n, type, target, place, n_there, type_there, win, request), win,
             target, n, type);
}

HUDDLE_EXPORT int MPI_Accumulate_c(const void* buffer, Count n, Datatype type, int target,
                                   Aint place, Count n_there, Datatype type_there, Op op, Win win) {
  return put(large().accumulate(buffer, n, type, target, place, n_there, type_there, op, win), win,
             target, n, type);
}

HUDDLE_EXPORT int MPI_Raccumulate_c(const void* buffer, Count n, Datatype type, int target,
                                    Aint place, Count n_there, Datatype type_there, Op op, Win win,
                                    Request* request) {
  return put(
      large().raccumulate(buffer, n, type, target, place, n_there, type_there, op, win, request),
      win, target, n, type);
}

HUDDLE_EXPORT int MPI_Get_accumulate_c(const void* buffer, Count n, Datatype type, void* result,
                                       Count n_back, Datatype type_back, int target, Aint place,
                                       Count n_there, Datatype type_there, Op op, Win win) {
  return exchanged(large().get_accumulate(buffer, n, type, result, n_back, type_back, target, place,
                                          n_there, type_there, op, win),
                   win, target, n, type, n_back, type_back, op);
}

HUDDLE_EXPORT int MPI_Rget_accumulate_c(const void* buffer, Count n, Datatype type, void* result,
                                        Count n_back, Datatype type_back, int target, Aint place,
                                        Count n_there, Datatype type_there, Op op, Win win,
                                        Request* request) {
  return exchanged(large().rget_accumulate(buffer, n, type, result, n_back, type_back, target,
                                           place, n_there, type_there, op, win, request),
                   win, target, n, type, n_back, type_back, op);
}

HUDDLE_EXPORT int MPI_Fetch_and_op(const void* buffer, void* result, Datatype type, int target,
                                   Aint place, Op op, Win win) {
  return exchanged(profiler().mpi().fetch_and_op(buffer, result, type, target, place, op, win), win,
                   target, 1, type, 1, type, op);
}

// The value to compare with is sent to the target as well.
HUDDLE_EXPORT int MPI_Compare_and_swap(const void* buffer, const void* compare, void* result,
                                       Datatype type, int target, Aint place, Win win) {
  const int status =
      profiler().mpi().compare_and_swap(buffer, compare, result, type, target, place, win);
  put(status, win, target, 2, type);
  return got(status, win, target, 1, type);
}
