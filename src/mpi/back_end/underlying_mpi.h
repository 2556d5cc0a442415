// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The functions of the underlying MPI, looked up once by their profiling names, and MPI_BYTE.
#pragma once

#include <atomic>
#include <mutex>

#include "abi.h"

namespace huddle::mpi {

// The MPI's functions for the collectives that huddle handles. For an MPI before MPI 4, the forms
// with large counts are those of narrowed_calls.cc.
struct UnderlyingCollectives {
  explicit UnderlyingCollectives(Find find);

  int (*barrier)(Comm);
  int (*bcast)(void*, int, Datatype, int, Comm);
  int (*bcast_c)(void*, Count, Datatype, int, Comm);
  int (*reduce)(const void*, void*, int, Datatype, Op, int, Comm);
  int (*reduce_c)(const void*, void*, Count, Datatype, Op, int, Comm);
  int (*allreduce)(const void*, void*, int, Datatype, Op, Comm);
  int (*allreduce_c)(const void*, void*, Count, Datatype, Op, Comm);
  int (*allgather)(const void*, int, Datatype, void*, int, Datatype, Comm);
  int (*allgather_c)(const void*, Count, Datatype, void*, Count, Datatype, Comm);
  int (*allgatherv)(const void*, int, Datatype, void*, const int*, const int*, Datatype, Comm);
  int (*allgatherv_c)(const void*, Count, Datatype, void*, const Count*, const Aint*, Datatype,
                      Comm);
  int (*alltoall)(const void*, int, Datatype, void*, int, Datatype, Comm);
  int (*alltoall_c)(const void*, Count, Datatype, void*, Count, Datatype, Comm);
  int (*alltoallv)(const void*, const int*, const int*, Datatype, void*, const int*, const int*,
                   Datatype, Comm);
  int (*alltoallv_c)(const void*, const Count*, const Aint*, Datatype, void*, const Count*,
                     const Aint*, Datatype, Comm);
  int (*alltoallw)(const void*, const int*, const int*, const Datatype*, void*, const int*,
                   const int*, const Datatype*, Comm);
  int (*alltoallw_c)(const void*, const Count*, const Aint*, const Datatype*, void*, const Count*,
                     const Aint*, const Datatype*, Comm);
  int (*gather)(const void*, int, Datatype, void*, int, Datatype, int, Comm);
  int (*gather_c)(const void*, Count, Datatype, void*, Count, Datatype, int, Comm);
  int (*gatherv)(const void*, int, Datatype, void*, const int*, const int*, Datatype, int, Comm);
  int (*gatherv_c)(const void*, Count, Datatype, void*, const Count*, const Aint*, Datatype, int,
                   Comm);
  int (*scatter)(const void*, int, Datatype, void*, int, Datatype, int, Comm);
  int (*scatter_c)(const void*, Count, Datatype, void*, Count, Datatype, int, Comm);
  int (*scatterv)(const void*, const int*, const int*, Datatype, void*, int, Datatype, int, Comm);
  int (*scatterv_c)(const void*, const Count*, const Aint*, Datatype, void*, Count, Datatype, int,
                    Comm);
  int (*reduce_scatter)(const void*, void*, const int*, Datatype, Op, Comm);
  int (*reduce_scatter_c)(const void*, void*, const Count*, Datatype, Op, Comm);
  int (*reduce_scatter_block)(const void*, void*, int, Datatype, Op, Comm);
  int (*reduce_scatter_block_c)(const void*, void*, Count, Datatype, Op, Comm);
  int (*scan)(const void*, void*, int, Datatype, Op, Comm);
  int (*scan_c)(const void*, void*, Count, Datatype, Op, Comm);
  int (*exscan)(const void*, void*, int, Datatype, Op, Comm);
  int (*exscan_c)(const void*, void*, Count, Datatype, Op, Comm);
};

// Sets the functions that are null: they call the MPI's forms with counts of type int.
void narrow_missing_calls(UnderlyingCollectives& calls);

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
  int (*comm_remote_size)(Comm, int*);
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
  Datatype byte;  // MPI_BYTE, for buffers that huddle lays out itself
  int (*pack)(const void*, int, Datatype, void*, int, int*, Comm);
  int (*unpack)(const void*, int, int*, void*, int, Datatype, Comm);

  int (*op_commutative)(Op, int*);
  int (*reduce_local)(const void*, void*, int, Datatype, Op);

  int (*isend)(const void*, int, Datatype, int, int tag, Comm, Request*);
  int (*irecv)(void*, int, Datatype, int, int tag, Comm, Request*);
  int (*test)(Request*, int*, Status*);
  int (*iprobe)(int source, int tag, Comm, int*, Status*);
  int (*cancel)(Request*);
  int (*test_cancelled)(const Status*, int*);
  int (*get_count)(const Status*, Datatype, int*);

  int (*grequest_start)(int (*)(void*, Status*), int (*)(void*), int (*)(void*, int), void*,
                        Request*);
  int (*grequest_complete)(Request);
  int (*request_get_status)(Request, int*, Status*);
  int (*wait)(Request*, Status*);
  int (*get_library_version)(char*, int*);
};

// A communicator of this rank alone, created without the other ranks.
class Alone {
 public:
  Alone(const UnderlyingMpi& real, Comm comm) : real_(real) {
    Group all{};
    Group mine{};
    int rank = 0;
    real.comm_rank(comm, &rank);
    real.comm_group(comm, &all);
    real.group_incl(all, 1, &rank, &mine);
    is_made_ = real.comm_create_group(comm, mine, /*tag=*/0, &comm_) == success;
    real.group_free(&mine);
    real.group_free(&all);
  }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
  ~Alone() {
    if (is_made_) real_.comm_free(&comm_);
  }

  // Returns whether the MPI created it.
  bool is_made() const { return is_made_; }
  Comm comm() const { return comm_; }

 private:
  const UnderlyingMpi& real_;
  Comm comm_{};
  bool is_made_ = false;
};

// Keeps the MPI progressing while a rank waits in huddle: testing an incomplete request runs all of
// the MPI's progress, and a generalized request completes only when huddle completes it. It needs
// no communicator and therefore no other ranks.
class MpiProgress {
 public:
  explicit MpiProgress(const UnderlyingMpi& real) : real_(real) {}

  // Returns whether progress is available. Thread-safe and idempotent.
  bool start();
  bool is_available() const { return is_available_.load(std::memory_order_relaxed); }
  // Progresses the MPI. Does nothing before start().
  void poll() const;
  // Call before MPI ends.
  // Requires: no thread is in poll().
  void stop();

 private:
  const UnderlyingMpi& real_;
  std::atomic<bool> is_available_{false};
  std::mutex mutex_;  // guards the creation of the member below
  Request request_{};
};

}  // namespace huddle::mpi
