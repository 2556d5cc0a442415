// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Both sides in one process: the MPI's own functions and those of huddle's back end in front of the
// same MPI, called through function pointers. No MPI is linked and nothing is preloaded.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "abi.h"
#include "mpi/stub/stub_interface.h"
#include "tools/bench/harness/harness.h"
#include "tools/bench/mpi/order.h"

namespace huddle::bench::ranks {

// The functions that are measured.
struct Functions {
  using Comm = mpi::Comm;
  using Datatype = mpi::Datatype;
  using Op = mpi::Op;

  int (*barrier)(Comm);
  int (*bcast)(void*, int, Datatype, int, Comm);
  int (*reduce)(const void*, void*, int, Datatype, Op, int, Comm);
  int (*allreduce)(const void*, void*, int, Datatype, Op, Comm);
  int (*allgather)(const void*, int, Datatype, void*, int, Datatype, Comm);
  int (*allgatherv)(const void*, int, Datatype, void*, const int*, const int*, Datatype, Comm);
  int (*alltoall)(const void*, int, Datatype, void*, int, Datatype, Comm);
  int (*alltoallv)(const void*, const int*, const int*, Datatype, void*, const int*, const int*,
                   Datatype, Comm);
  int (*gather)(const void*, int, Datatype, void*, int, Datatype, int, Comm);
  int (*gatherv)(const void*, int, Datatype, void*, const int*, const int*, Datatype, int, Comm);
  int (*scatter)(const void*, int, Datatype, void*, int, Datatype, int, Comm);
  int (*scatterv)(const void*, const int*, const int*, Datatype, void*, int, Datatype, int, Comm);
  int (*reduce_scatter)(const void*, void*, const int*, Datatype, Op, Comm);
  int (*reduce_scatter_block)(const void*, void*, int, Datatype, Op, Comm);
  int (*scan)(const void*, void*, int, Datatype, Op, Comm);
  int (*exscan)(const void*, void*, int, Datatype, Op, Comm);
};

// Calls visit.operator()<&Functions::f>("F") for each function.
template <class Visit>
void each_function(Visit visit) {
  visit.template operator()<&Functions::barrier>("Barrier");
  visit.template operator()<&Functions::bcast>("Bcast");
  visit.template operator()<&Functions::reduce>("Reduce");
  visit.template operator()<&Functions::allreduce>("Allreduce");
  visit.template operator()<&Functions::allgather>("Allgather");
  visit.template operator()<&Functions::allgatherv>("Allgatherv");
  visit.template operator()<&Functions::alltoall>("Alltoall");
  visit.template operator()<&Functions::alltoallv>("Alltoallv");
  visit.template operator()<&Functions::gather>("Gather");
  visit.template operator()<&Functions::gatherv>("Gatherv");
  visit.template operator()<&Functions::scatter>("Scatter");
  visit.template operator()<&Functions::scatterv>("Scatterv");
  visit.template operator()<&Functions::reduce_scatter>("Reduce_scatter");
  visit.template operator()<&Functions::reduce_scatter_block>("Reduce_scatter_block");
  visit.template operator()<&Functions::scan>("Scan");
  visit.template operator()<&Functions::exscan>("Exscan");
}

// MPI functions that the harness itself requires.
struct Service {
  int (*init)(int*, char***);
  int (*finalize)();
  int (*abort)(mpi::Comm, int);
  int (*comm_rank)(mpi::Comm, int*);
  int (*comm_size)(mpi::Comm, int*);
  int (*comm_dup)(mpi::Comm, mpi::Comm*);
  int (*bcast)(void*, int, mpi::Datatype, int, mpi::Comm);
  int (*allreduce)(const void*, void*, int, mpi::Datatype, mpi::Op, mpi::Comm);
  int (*get_library_version)(char*, int*);
  int (*get_processor_name)(char*, int*);
  int (*barrier)(mpi::Comm);
  int (*ibarrier)(mpi::Comm, mpi::Request*);
  int (*test)(mpi::Request*, int*, mpi::Status*);
  int (*send)(const void*, int, mpi::Datatype, int, int, mpi::Comm);
  int (*receive)(void*, int, mpi::Datatype, int, int, mpi::Comm, mpi::Status*);
  int (*isend)(const void*, int, mpi::Datatype, int, int, mpi::Comm, mpi::Request*);
  int (*ireceive)(void*, int, mpi::Datatype, int, int, mpi::Comm, mpi::Request*);
};

using Choices = huddle_choices_function;

struct Sides {
  std::array<Functions, 2> of;  // by Side
  Service service;              // init and finalize are huddle's, if there is a back end
  Choices* choices;             // huddle's; null without it
  mpi::Comm world;
  mpi::Datatype byte;
  mpi::Datatype number;  // double
  mpi::Datatype integer;
  mpi::Datatype word;  // 8 bytes
  mpi::Op sum;
  mpi::Op most;
  mpi::Op bit_or;

  const Functions& side(Side which) const { return of[static_cast<std::size_t>(which)]; }
};

// Opens the MPI and huddle's back end. If `back_end_path` is `no_back_end`, both sides are the
// MPI's own functions. Throws std::runtime_error if a library cannot be opened.
Sides open_sides(const std::string& mpi_path, const std::string& back_end_path);

// Returns the number of calls that fell back to the MPI. sides.cc counts them: it provides the back
// end with wrappers of the MPI's functions.
unsigned long passed_calls();

// The arguments of a call, and those that only v-forms need.
struct CallData : bench::CallData {
  // For blocks of `bytes` bytes, by rank: counts and displacements in bytes, and counts in doubles.
  const std::vector<int>& byte_counts;
  const std::vector<int>& byte_places;
  const std::vector<int>& number_counts;
};

using CallFunction = void(const Functions& mpi, const Sides& sides, const CallData& at);

// Returns the function that runs `operation` through the MPI function of the same name.
// Requires: `operation` is not a barrier and can be timed.
CallFunction* call_function_of(Operation operation);

}  // namespace huddle::bench::ranks
