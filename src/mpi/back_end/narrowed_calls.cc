// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Collectives with large counts for an MPI that has none. A program that looks them up through weak
// symbols, as mpi4py does, may have found those of huddle before it loaded its MPI.
#include <algorithm>
#include <optional>
#include <vector>

#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/process.h"
#include "mpi/back_end/underlying_mpi.h"

namespace huddle::mpi {
namespace {

const UnderlyingMpi& real() { return process().real(); }

// Reports to the program that the MPI cannot take this count.
int refused(Comm comm) {
  real().comm_call_errhandler(comm, error_count);
  return error_count;
}

// Returns the number of counts that a call on this communicator passes.
int count_of_counts(Comm comm) {
  int is_inter = 0;
  int ranks = 0;
  real().comm_test_inter(comm, &is_inter);
  (is_inter != 0 ? real().comm_remote_size : real().comm_size)(comm, &ranks);
  return ranks;
}

// Returns whether this rank is the root, whose arrays are significant.
bool is_root_of(Comm comm, int root) {
  int is_inter = 0;
  int rank = 0;
  real().comm_test_inter(comm, &is_inter);
  real().comm_rank(comm, &rank);
  return is_inter != 0 ? root == root_itself : root == rank;
}

// The program's arrays of counts and displacements as arrays of int. Null pointers stay null.
class Narrowed {
 public:
  template <class... Wide>
  explicit Narrowed(Comm comm, const Wide*... arrays) {
    const auto ranks = static_cast<std::size_t>(count_of_counts(comm));
    (add(arrays, ranks), ...);
  }

  bool fits() const { return fits_; }
  const int* operator[](std::size_t which) const {
    return arrays_[which].has_value() ? arrays_[which]->data() : nullptr;
  }

 private:
  template <class Wide>
  void add(const Wide* array, std::size_t ranks) {
    arrays_.emplace_back();
    if (array == nullptr) return;
    fits_ = fits_ && std::all_of(array, array + ranks, [](Wide count) { return fits_int(count); });
    if (fits_) arrays_.back().emplace(array, array + ranks);
  }

  std::vector<std::optional<std::vector<int>>> arrays_;
  bool fits_ = true;
};

int bcast(void* buffer, Count count, Datatype type, int root, Comm comm) {
  if (!fits_int(count)) return refused(comm);
  return real().bcast(buffer, static_cast<int>(count), type, root, comm);
}

int reduce(const void* input, void* output, Count count, Datatype type, Op op, int root,
           Comm comm) {
  if (!fits_int(count)) return refused(comm);
  return real().reduce(input, output, static_cast<int>(count), type, op, root, comm);
}

// Calls allreduce, scan, exscan or reduce_scatter_block.
template <auto Narrow>
int reduce_on_all(const void* input, void* output, Count count, Datatype type, Op op, Comm comm) {
  if (!fits_int(count)) return refused(comm);
  return (real().*Narrow)(input, output, static_cast<int>(count), type, op, comm);
}

int reduce_scatter(const void* input, void* output, const Count* counts, Datatype type, Op op,
                   Comm comm) {
  int ranks = 0;  // also on an intercommunicator: the counts are those of the local group
  real().comm_size(comm, &ranks);
  if (!std::all_of(counts, counts + ranks, fits_int)) return refused(comm);
  const std::vector<int> narrow(counts, counts + ranks);
  return real().reduce_scatter(input, output, narrow.data(), type, op, comm);
}

// Calls allgather or alltoall. Counts that are not significant may have any value.
template <auto Narrow>
int exchange(const void* input, Count in_count, Datatype in_type, void* output, Count out_count,
             Datatype out_type, Comm comm) {
  if (input == in_place()) in_count = 0;
  if (!fits_int(in_count) || !fits_int(out_count)) return refused(comm);
  return (real().*Narrow)(input, static_cast<int>(in_count), in_type, output,
                          static_cast<int>(out_count), out_type, comm);
}

// Calls gather or scatter. `is_gather` determines which side is significant on the root only.
template <auto Narrow, bool is_gather>
int exchange_with_root(const void* input, Count in_count, Datatype in_type, void* output,
                       Count out_count, Datatype out_type, int root, Comm comm) {
  if (input == in_place()) in_count = 0;
  if (output == in_place()) out_count = 0;
  if (!is_root_of(comm, root)) (is_gather ? out_count : in_count) = 0;
  if (!fits_int(in_count) || !fits_int(out_count)) return refused(comm);
  return (real().*Narrow)(input, static_cast<int>(in_count), in_type, output,
                          static_cast<int>(out_count), out_type, root, comm);
}

int allgatherv(const void* input, Count in_count, Datatype in_type, void* output,
               const Count* out_counts, const Aint* out_places, Datatype out_type, Comm comm) {
  const Narrowed out(comm, out_counts, out_places);
  if (input == in_place()) in_count = 0;
  if (!fits_int(in_count) || !out.fits()) return refused(comm);
  return real().allgatherv(input, static_cast<int>(in_count), in_type, output, out[0], out[1],
                           out_type, comm);
}

int gatherv(const void* input, Count in_count, Datatype in_type, void* output,
            const Count* out_counts, const Aint* out_places, Datatype out_type, int root,
            Comm comm) {
  const bool is_root = is_root_of(comm, root);
  const Narrowed out(comm, is_root ? out_counts : nullptr, is_root ? out_places : nullptr);
  if (input == in_place()) in_count = 0;
  if (!fits_int(in_count) || !out.fits()) return refused(comm);
  return real().gatherv(input, static_cast<int>(in_count), in_type, output, out[0], out[1],
                        out_type, root, comm);
}

int scatterv(const void* input, const Count* in_counts, const Aint* in_places, Datatype in_type,
             void* output, Count out_count, Datatype out_type, int root, Comm comm) {
  const bool is_root = is_root_of(comm, root);
  const Narrowed in(comm, is_root ? in_counts : nullptr, is_root ? in_places : nullptr);
  if (output == in_place()) out_count = 0;
  if (!fits_int(out_count) || !in.fits()) return refused(comm);
  return real().scatterv(input, in[0], in[1], in_type, output, static_cast<int>(out_count),
                         out_type, root, comm);
}

// Calls alltoallv or alltoallw. `Types` is a datatype or an array of them.
template <auto Narrow, class Types>
int exchange_of_each(const void* input, const Count* in_counts, const Aint* in_places,
                     Types in_types, void* output, const Count* out_counts, const Aint* out_places,
                     Types out_types, Comm comm) {
  const bool has_input = input != in_place();  // with MPI_IN_PLACE, its arrays are ignored
  const Narrowed all(comm, has_input ? in_counts : nullptr, has_input ? in_places : nullptr,
                     out_counts, out_places);
  if (!all.fits()) return refused(comm);
  return (real().*Narrow)(input, all[0], all[1], in_types, output, all[2], all[3], out_types, comm);
}

template <class Function>
void fill(Function*& function, Function* substitute) {
  if (function == nullptr) function = substitute;
}

}  // namespace

void narrow_missing_calls(UnderlyingCollectives& calls) {
  using Calls = UnderlyingCollectives;
  fill(calls.bcast_c, bcast);
  fill(calls.reduce_c, reduce);
  fill(calls.allreduce_c, reduce_on_all<&Calls::allreduce>);
  fill(calls.scan_c, reduce_on_all<&Calls::scan>);
  fill(calls.exscan_c, reduce_on_all<&Calls::exscan>);
  fill(calls.reduce_scatter_block_c, reduce_on_all<&Calls::reduce_scatter_block>);
  fill(calls.reduce_scatter_c, reduce_scatter);
  fill(calls.allgather_c, exchange<&Calls::allgather>);
  fill(calls.alltoall_c, exchange<&Calls::alltoall>);
  fill(calls.gather_c, exchange_with_root<&Calls::gather, true>);
  fill(calls.scatter_c, exchange_with_root<&Calls::scatter, false>);
  fill(calls.allgatherv_c, allgatherv);
  fill(calls.gatherv_c, gatherv);
  fill(calls.scatterv_c, scatterv);
  fill(calls.alltoallv_c, exchange_of_each<&Calls::alltoallv, Datatype>);
  fill(calls.alltoallw_c, exchange_of_each<&Calls::alltoallw, const Datatype*>);
}

}  // namespace huddle::mpi
