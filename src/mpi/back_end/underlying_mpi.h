// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What huddle asks of the MPI underneath: its functions, under their profiling names, looked up
// once; and what a byte is to it.
#pragma once

#include "abi.h"
#include "mpi/back_end/underlying_collectives.h"

namespace huddle::mpi {

struct UnderlyingMpi : UnderlyingCollectives {
  explicit UnderlyingMpi(Find find);

  int (*init)(int*, char***);
  int (*init_thread)(int*, char***, int, int*);
  int (*finalize)();
  int (*abort)(Comm, int);
  // Null before MPI 4.
  int (*session_init)(Info, Errhandler, Session*);
  int (*session_finalize)(Session*);
  int (*initialized)(int*);
  int (*finalized)(int*);

  int (*comm_rank)(Comm, int*);
  int (*comm_size)(Comm, int*);
  int (*comm_test_inter)(Comm, int*);
  int (*comm_dup)(Comm, Comm*);
  int (*comm_free)(Comm*);
  int (*comm_disconnect)(Comm*);
  int (*comm_create_errhandler)(ErrorFunction, Errhandler*);
  int (*comm_set_errhandler)(Comm, Errhandler);
  int (*errhandler_free)(Errhandler*);
  int (*error_class)(int, int*);
  int (*comm_create_group)(Comm, Group, int tag, Comm*);
  int (*comm_group)(Comm, Group*);
  int (*group_size)(Group, int*);
  int (*group_incl)(Group, int, const int*, Group*);
  int (*group_free)(Group*);
  int (*group_from_session_pset)(Session, const char*, Group*);  // null before MPI 4
  int (*group_translate_ranks)(Group, int, const int*, Group, int*);
  int (*comm_create_keyval)(CopyFunction, DeleteFunction, int*, void*);
  int (*comm_set_attr)(Comm, int, void*);
  int (*comm_get_attr)(Comm, int, void*, int*);
  int (*comm_call_errhandler)(Comm, int);

  int (*alloc_mem)(Aint, Info, void*);
  int (*free_mem)(void*);

  int (*win_test)(Win, int*);
  int (*win_get_group)(Win, Group*);

  int (*type_size_x)(Datatype, Count*);
  int (*type_get_extent)(Datatype, Aint*, Aint*);
  int (*type_get_true_extent)(Datatype, Aint*, Aint*);
  int (*type_get_envelope)(Datatype, int*, int*, int*, int*);
  int (*type_get_contents)(Datatype, int, int, int, int*, Aint*, Datatype*);
  // Null before MPI 4.
  int (*type_get_envelope_c)(Datatype, Count*, Count*, Count*, Count*, int*);
  int (*type_get_contents_c)(Datatype, Count, Count, Count, Count, int*, Aint*, Count*, Datatype*);
  int (*type_create_hindexed)(int, const int*, const Aint*, Datatype, Datatype*);
  int (*type_create_keyval)(TypeCopyFunction, TypeDeleteFunction, int*, void*);
  int (*type_set_attr)(Datatype, int, void*);
  int (*type_get_attr)(Datatype, int, void*, int*);
  int (*type_commit)(Datatype*);
  int (*type_free)(Datatype*);
  Datatype byte;  // for what huddle lays out itself
  int (*pack)(const void*, int, Datatype, void*, int, int*, Comm);
  int (*unpack)(const void*, int, int*, void*, int, Datatype, Comm);

  int (*op_commutative)(Op, int*);
  int (*reduce_local)(const void*, void*, int, Datatype, Op);

  int (*isend)(const void*, int, Datatype, int, int tag, Comm, Request*);
  int (*irecv)(void*, int, Datatype, int, int tag, Comm, Request*);
  int (*test)(Request*, int*, Status*);

  int (*grequest_start)(int (*)(void*, Status*), int (*)(void*), int (*)(void*, int), void*,
                        Request*);
  int (*grequest_complete)(Request);
  int (*request_get_status)(Request, int*, Status*);
  int (*wait)(Request*, Status*);
  int (*get_library_version)(char*, int*);
};

}  // namespace huddle::mpi
