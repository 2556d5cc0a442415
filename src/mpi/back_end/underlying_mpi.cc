// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/underlying_mpi.h"

#include <algorithm>
#include <string_view>

#include "mpi/back_end/mpi_names.h"

namespace huddle::mpi {

UnderlyingCollectives::UnderlyingCollectives(Find find) {
  look_up(find, "PMPI_Barrier", barrier);
  look_up(find, "PMPI_Bcast", bcast);
  look_up(find, "PMPI_Bcast_c", bcast_c);
  look_up(find, "PMPI_Reduce", reduce);
  look_up(find, "PMPI_Reduce_c", reduce_c);
  look_up(find, "PMPI_Allreduce", allreduce);
  look_up(find, "PMPI_Allreduce_c", allreduce_c);
  look_up(find, "PMPI_Allgather", allgather);
  look_up(find, "PMPI_Allgather_c", allgather_c);
  look_up(find, "PMPI_Allgatherv", allgatherv);
  look_up(find, "PMPI_Allgatherv_c", allgatherv_c);
  look_up(find, "PMPI_Alltoall", alltoall);
  look_up(find, "PMPI_Alltoall_c", alltoall_c);
  look_up(find, "PMPI_Alltoallv", alltoallv);
  look_up(find, "PMPI_Alltoallv_c", alltoallv_c);
  look_up(find, "PMPI_Alltoallw", alltoallw);
  look_up(find, "PMPI_Alltoallw_c", alltoallw_c);
  look_up(find, "PMPI_Gather", gather);
  look_up(find, "PMPI_Gather_c", gather_c);
  look_up(find, "PMPI_Gatherv", gatherv);
  look_up(find, "PMPI_Gatherv_c", gatherv_c);
  look_up(find, "PMPI_Scatter", scatter);
  look_up(find, "PMPI_Scatter_c", scatter_c);
  look_up(find, "PMPI_Scatterv", scatterv);
  look_up(find, "PMPI_Scatterv_c", scatterv_c);
  look_up(find, "PMPI_Reduce_scatter", reduce_scatter);
  look_up(find, "PMPI_Reduce_scatter_c", reduce_scatter_c);
  look_up(find, "PMPI_Reduce_scatter_block", reduce_scatter_block);
  look_up(find, "PMPI_Reduce_scatter_block_c", reduce_scatter_block_c);
  look_up(find, "PMPI_Scan", scan);
  look_up(find, "PMPI_Scan_c", scan_c);
  look_up(find, "PMPI_Exscan", exscan);
  look_up(find, "PMPI_Exscan_c", exscan_c);
  narrow_missing_calls(*this);
}

namespace {

Datatype byte_of(Find find) {
  const auto* const found = std::find_if(
      datatypes.begin(), datatypes.end(),
      [](const Predefined& predefined) { return predefined.name == std::string_view("MPI_BYTE"); });
  return handle<Datatype>(*found, find);
}

void look_up_process(Find find, UnderlyingMpi& real) {
  look_up(find, "PMPI_Init", real.init);
  look_up(find, "PMPI_Init_thread", real.init_thread);
  look_up(find, "PMPI_Finalize", real.finalize);
  look_up(find, "PMPI_Abort", real.abort);
  look_up(find, "PMPI_Session_init", real.session_init);
  look_up(find, "PMPI_Session_finalize", real.session_finalize);
  look_up(find, "PMPI_Initialized", real.initialized);
  look_up(find, "PMPI_Finalized", real.finalized);
  look_up(find, "PMPI_Grequest_start", real.grequest_start);
  look_up(find, "PMPI_Grequest_complete", real.grequest_complete);
  look_up(find, "PMPI_Request_get_status", real.request_get_status);
  look_up(find, "PMPI_Wait", real.wait);
  look_up(find, "PMPI_Alloc_mem", real.alloc_mem);
  look_up(find, "PMPI_Free_mem", real.free_mem);
  look_up(find, "PMPI_Get_library_version", real.get_library_version);
}

void look_up_communicators(Find find, UnderlyingMpi& real) {
  look_up(find, "PMPI_Comm_rank", real.comm_rank);
  look_up(find, "PMPI_Comm_size", real.comm_size);
  look_up(find, "PMPI_Comm_remote_size", real.comm_remote_size);
  look_up(find, "PMPI_Comm_test_inter", real.comm_test_inter);
  look_up(find, "PMPI_Comm_dup", real.comm_dup);
  look_up(find, "PMPI_Comm_free", real.comm_free);
  look_up(find, "PMPI_Comm_disconnect", real.comm_disconnect);
  look_up(find, "PMPI_Comm_create_errhandler", real.comm_create_errhandler);
  look_up(find, "PMPI_Comm_set_errhandler", real.comm_set_errhandler);
  look_up(find, "PMPI_Errhandler_free", real.errhandler_free);
  look_up(find, "PMPI_Error_class", real.error_class);
  look_up(find, "PMPI_Comm_create_group", real.comm_create_group);
  look_up(find, "PMPI_Comm_group", real.comm_group);
  look_up(find, "PMPI_Group_size", real.group_size);
  look_up(find, "PMPI_Group_incl", real.group_incl);
  look_up(find, "PMPI_Group_free", real.group_free);
  look_up(find, "PMPI_Group_from_session_pset", real.group_from_session_pset);
  look_up(find, "PMPI_Group_translate_ranks", real.group_translate_ranks);
  look_up(find, "PMPI_Comm_create_keyval", real.comm_create_keyval);
  look_up(find, "PMPI_Comm_set_attr", real.comm_set_attr);
  look_up(find, "PMPI_Comm_get_attr", real.comm_get_attr);
  look_up(find, "PMPI_Comm_call_errhandler", real.comm_call_errhandler);
  look_up(find, "PMPI_Win_test", real.win_test);
  look_up(find, "PMPI_Win_get_group", real.win_get_group);
}

void look_up_messages(Find find, UnderlyingMpi& real) {
  look_up(find, "PMPI_Isend", real.isend);
  look_up(find, "PMPI_Irecv", real.irecv);
  look_up(find, "PMPI_Test", real.test);
  look_up(find, "PMPI_Iprobe", real.iprobe);
  look_up(find, "PMPI_Cancel", real.cancel);
  look_up(find, "PMPI_Test_cancelled", real.test_cancelled);
  look_up(find, "PMPI_Get_count", real.get_count);
}

void look_up_types(Find find, UnderlyingMpi& real) {
  look_up(find, "PMPI_Type_size_x", real.type_size_x);
  look_up(find, "PMPI_Type_get_extent", real.type_get_extent);
  look_up(find, "PMPI_Type_get_true_extent", real.type_get_true_extent);
  look_up(find, "PMPI_Type_get_envelope", real.type_get_envelope);
  look_up(find, "PMPI_Type_get_contents", real.type_get_contents);
  look_up(find, "PMPI_Type_get_envelope_c", real.type_get_envelope_c);
  look_up(find, "PMPI_Type_get_contents_c", real.type_get_contents_c);
  look_up(find, "PMPI_Type_create_hindexed", real.type_create_hindexed);
  look_up(find, "PMPI_Type_create_keyval", real.type_create_keyval);
  look_up(find, "PMPI_Type_set_attr", real.type_set_attr);
  look_up(find, "PMPI_Type_get_attr", real.type_get_attr);
  look_up(find, "PMPI_Type_commit", real.type_commit);
  look_up(find, "PMPI_Type_free", real.type_free);
  look_up(find, "PMPI_Pack", real.pack);
  look_up(find, "PMPI_Unpack", real.unpack);
  look_up(find, "PMPI_Op_commutative", real.op_commutative);
  look_up(find, "PMPI_Reduce_local", real.reduce_local);
}

}  // namespace

UnderlyingMpi::UnderlyingMpi(Find find) : UnderlyingCollectives(find) {
  look_up_process(find, *this);
  look_up_communicators(find, *this);
  look_up_messages(find, *this);
  look_up_types(find, *this);
  byte = byte_of(find);
}

namespace {

// Callbacks of a generalized request whose status is never read.
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
