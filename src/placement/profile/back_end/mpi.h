// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The MPI's functions that a profile stands in front of or asks, under their profiling names. What
// an MPI does not have is null, and no program calls it there.
#pragma once

#include "abi.h"

namespace huddle::profile {

using namespace huddle::mpi;

// The shapes of calls, with counts of an int and of MPI 4's MPI_Count.
template <class N>
using Send = int(const void*, N, Datatype, int to, int tag, Comm);
template <class N>
using SendRequest = int(const void*, N, Datatype, int to, int tag, Comm, Request*);
template <class N>
using Sendrecv = int(const void*, N, Datatype, int to, int tag, void*, N, Datatype, int from,
                     int tag_from, Comm, Status*);
template <class N>
using SendrecvReplace = int(void*, N, Datatype, int to, int tag, int from, int tag_from, Comm,
                            Status*);
template <class N>
using Isendrecv = int(const void*, N, Datatype, int to, int tag, void*, N, Datatype, int from,
                      int tag_from, Comm, Request*);
template <class N>
using IsendrecvReplace = int(void*, N, Datatype, int to, int tag, int from, int tag_from, Comm,
                             Request*);
using PsendInit = int(const void*, int partitions, Count, Datatype, int to, int tag, Comm, Info,
                      Request*);

template <class N>
using Put = int(const void*, N, Datatype, int target, Aint, N, Datatype, Win);
template <class N>
using Rput = int(const void*, N, Datatype, int target, Aint, N, Datatype, Win, Request*);
template <class N>
using Get = int(void*, N, Datatype, int target, Aint, N, Datatype, Win);
template <class N>
using Rget = int(void*, N, Datatype, int target, Aint, N, Datatype, Win, Request*);
template <class N>
using Accumulate = int(const void*, N, Datatype, int target, Aint, N, Datatype, Op, Win);
template <class N>
using Raccumulate = int(const void*, N, Datatype, int target, Aint, N, Datatype, Op, Win, Request*);
template <class N>
using GetAccumulate = int(const void*, N, Datatype, void*, N, Datatype, int target, Aint, N,
                          Datatype, Op, Win);
template <class N>
using RgetAccumulate = int(const void*, N, Datatype, void*, N, Datatype, int target, Aint, N,
                           Datatype, Op, Win, Request*);

// What there is once for each of the two kinds of counts.
template <class N>
struct Sends {
  Send<N>*send, *bsend, *ssend, *rsend;
  SendRequest<N>*isend, *ibsend, *issend, *irsend;
  SendRequest<N>*send_init, *bsend_init, *ssend_init, *rsend_init;
  Sendrecv<N>* sendrecv;
  SendrecvReplace<N>* sendrecv_replace;
  Isendrecv<N>* isendrecv;
  IsendrecvReplace<N>* isendrecv_replace;
  Put<N>* put;
  Rput<N>* rput;
  Get<N>* get;
  Rget<N>* rget;
  Accumulate<N>* accumulate;
  Raccumulate<N>* raccumulate;
  GetAccumulate<N>* get_accumulate;
  RgetAccumulate<N>* rget_accumulate;
};

struct Mpi {
  explicit Mpi(Find find);

  Sends<int> small;
  Sends<Count> large;
  PsendInit* psend_init;
  int (*start)(Request*);
  int (*startall)(int, Request*);
  int (*request_free)(Request*);
  int (*fetch_and_op)(const void*, void*, Datatype, int, Aint, Op, Win);
  int (*compare_and_swap)(const void*, const void*, void*, Datatype, int, Aint, Win);

  int (*init)(int*, char***);
  int (*init_thread)(int*, char***, int, int*);
  int (*finalize)();
  int (*session_init)(Info, Errhandler, Session*);
  int (*session_finalize)(Session*);
  int (*pcontrol)(int, ...);

  int (*query_thread)(int*);
  int (*comm_rank)(Comm, int*);
  int (*comm_size)(Comm, int*);
  int (*comm_get_parent)(Comm*);
  int (*comm_test_inter)(Comm, int*);
  int (*comm_group)(Comm, Group*);
  int (*comm_remote_group)(Comm, Group*);
  int (*comm_free)(Comm*);
  int (*comm_disconnect)(Comm*);
  int (*topo_test)(Comm, int*);
  int (*cartdim_get)(Comm, int*);
  int (*cart_shift)(Comm, int, int, int*, int*);
  int (*graph_neighbors_count)(Comm, int, int*);
  int (*graph_neighbors)(Comm, int, int, int*);
  int (*dist_graph_neighbors_count)(Comm, int*, int*, int*);
  int (*dist_graph_neighbors)(Comm, int, int*, int*, int, int*, int*);
  int (*win_get_group)(Win, Group*);
  int (*win_free)(Win*);
  int (*group_rank)(Group, int*);
  int (*group_size)(Group, int*);
  int (*group_translate_ranks)(Group, int, const int*, Group, int*);
  int (*group_free)(Group*);
  int (*group_from_session_pset)(Session, const char*, Group*);
  int (*type_size_x)(Datatype, Count*);
};

}  // namespace huddle::profile
