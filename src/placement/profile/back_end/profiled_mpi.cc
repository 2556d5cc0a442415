// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/profile/back_end/profiled_mpi.h"

#include <string>

#include "mpi/back_end/mpi_names.h"

namespace huddle::profile {
namespace {

// `ending` is "" for counts of type int and "_c" for MPI_Count.
template <class N>
void look_up_sends(Find find, const char* ending, Sends<N>& sends) {
  const auto look = [&](const char* name, auto& function) {
    look_up(find, (std::string("PMPI_") + name + ending).c_str(), function);
  };
  look("Send", sends.send);
  look("Bsend", sends.bsend);
  look("Ssend", sends.ssend);
  look("Rsend", sends.rsend);
  look("Isend", sends.isend);
  look("Ibsend", sends.ibsend);
  look("Issend", sends.issend);
  look("Irsend", sends.irsend);
  look("Send_init", sends.send_init);
  look("Bsend_init", sends.bsend_init);
  look("Ssend_init", sends.ssend_init);
  look("Rsend_init", sends.rsend_init);
  look("Sendrecv", sends.sendrecv);
  look("Sendrecv_replace", sends.sendrecv_replace);
  look("Isendrecv", sends.isendrecv);
  look("Isendrecv_replace", sends.isendrecv_replace);
  look("Put", sends.put);
  look("Rput", sends.rput);
  look("Get", sends.get);
  look("Rget", sends.rget);
  look("Accumulate", sends.accumulate);
  look("Raccumulate", sends.raccumulate);
  look("Get_accumulate", sends.get_accumulate);
  look("Rget_accumulate", sends.rget_accumulate);
}

void look_up_questions(Find find, Mpi& mpi) {
  look_up(find, "PMPI_Query_thread", mpi.query_thread);
  look_up(find, "PMPI_Comm_rank", mpi.comm_rank);
  look_up(find, "PMPI_Comm_size", mpi.comm_size);
  look_up(find, "PMPI_Comm_get_parent", mpi.comm_get_parent);
  look_up(find, "PMPI_Comm_test_inter", mpi.comm_test_inter);
  look_up(find, "PMPI_Comm_group", mpi.comm_group);
  look_up(find, "PMPI_Comm_remote_group", mpi.comm_remote_group);
  look_up(find, "PMPI_Win_get_group", mpi.win_get_group);
  look_up(find, "PMPI_Topo_test", mpi.topo_test);
  look_up(find, "PMPI_Cartdim_get", mpi.cartdim_get);
  look_up(find, "PMPI_Cart_shift", mpi.cart_shift);
  look_up(find, "PMPI_Graph_neighbors_count", mpi.graph_neighbors_count);
  look_up(find, "PMPI_Graph_neighbors", mpi.graph_neighbors);
  look_up(find, "PMPI_Dist_graph_neighbors_count", mpi.dist_graph_neighbors_count);
  look_up(find, "PMPI_Dist_graph_neighbors", mpi.dist_graph_neighbors);
  look_up(find, "PMPI_Group_rank", mpi.group_rank);
  look_up(find, "PMPI_Group_size", mpi.group_size);
  look_up(find, "PMPI_Group_translate_ranks", mpi.group_translate_ranks);
  look_up(find, "PMPI_Group_free", mpi.group_free);
  look_up(find, "PMPI_Group_from_session_pset", mpi.group_from_session_pset);
  look_up(find, "PMPI_Type_size_x", mpi.type_size_x);
}

}  // namespace

Mpi::Mpi(Find find) {
  look_up_sends(find, "", small);
  look_up_sends(find, "_c", large);
  look_up(find, "PMPI_Psend_init", psend_init);
  look_up(find, "PMPI_Start", start);
  look_up(find, "PMPI_Startall", startall);
  look_up(find, "PMPI_Request_free", request_free);
  look_up(find, "PMPI_Fetch_and_op", fetch_and_op);
  look_up(find, "PMPI_Compare_and_swap", compare_and_swap);
  look_up(find, "PMPI_Init", init);
  look_up(find, "PMPI_Init_thread", init_thread);
  look_up(find, "PMPI_Finalize", finalize);
  look_up(find, "PMPI_Session_init", session_init);
  look_up(find, "PMPI_Session_finalize", session_finalize);
  look_up(find, "PMPI_Pcontrol", pcontrol);
  look_up(find, "PMPI_Comm_free", comm_free);
  look_up(find, "PMPI_Comm_disconnect", comm_disconnect);
  look_up(find, "PMPI_Win_free", win_free);
  look_up_questions(find, *this);
}

}  // namespace huddle::profile
