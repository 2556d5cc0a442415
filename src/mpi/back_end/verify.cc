// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/verify.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "mpi/back_end/buffers_of_call.h"
#include "mpi/back_end/call.h"
#include "mpi/back_end/calls/allgather.h"
#include "mpi/back_end/calls/alltoall.h"
#include "mpi/back_end/calls/gather.h"
#include "mpi/back_end/calls/reduce_scatter.h"
#include "mpi/back_end/calls/scan.h"
#include "mpi/back_end/calls/scatter.h"
#include "mpi/back_end/describe.h"
#include "mpi/back_end/reference_result.h"
#include "mpi/back_end/result_comparison.h"

namespace huddle::mpi {
namespace {

// Returns what the call writes on this rank. The root of a broadcast only reads its buffer, which
// other threads may read at the same time, so that nothing may be restored there.
template <class Call>
Written written_here(const Communicator& communicator, const Call& call) {
  Written written = call.written(communicator);
  if constexpr (!requires { call.input; }) {
    if (!call.read(communicator).empty()) written.parts.clear();
  }
  return written;
}

template <class Call>
void note(Process& process, const Communicator& communicator, const Call& call,
          const Comparison& comparison) {
  if (comparison.incomparable) {
    process.verification().note_skipped(*comparison.incomparable);
  } else if (!comparison.difference) {
    process.verification().note_equal();
  } else if (process.verification().note_difference()) {
    process.complain(fmt::format("verify: {}: {}", described(process, communicator, call),
                                 *comparison.difference));
  }
}

// Makes the call by huddle and then by the MPI, and compares the results by `compare`. Notes
// nothing about a call that falls back to the MPI: the caller makes and counts it.
template <class Call, class Compare>
Route make_both_ways(Process& process, Communicator& communicator, const Call& call,
                     ReferenceResult& reference, const Compare& compare) {
  const Route passed = call.take(process, communicator);
  if (passed != Route::huddle) return passed;
  reference.begin();
  const int status = call.native(process.real());
  reference.end();
  note(process, communicator, call,
       status == success ? compare() : Comparison::impossible(Incomparable::mpi_failed));
  return passed;
}

// Returns the scale of each result's rounding: the magnitudes of all ranks' input, reduced like the
// input itself.
template <class Call>
std::vector<double> scale_of(const Process& process, const ResultComparison& comparison,
                             Call call) {
  const std::vector<double> scale = comparison.magnitudes_of(call.brought(), call.count);
  std::vector<double> joined(scale.size());
  call.input = scale.data();
  call.output = joined.data();
  call.type = process.types().named("MPI_DOUBLE");
  call.op = comparison.operator_of_scale();
  call.native(process.real());
  return joined;
}

// The comparison is set up before the call, which may overwrite its input.
template <class Call>
Route verified_reduction(Process& process, Communicator& communicator, const Call& call) {
  const Written written = call.written(communicator);
  ResultComparison comparison(process, call.comm, {{nullptr, call.count, call.type}, call.facts},
                              call.op);
  if (comparison.wants_scale()) comparison.set_scale(scale_of(process, comparison, call));
  ReferenceResult reference(process.real(), call.comm, written);
  return make_both_ways(process, communicator, call, reference,
                        [&] { return comparison.result(written, reference, communicator.ranks); });
}

template <class Call>
Route verified_move(Process& process, Communicator& communicator, const Call& call) {
  const Written written = written_here(communicator, call);
  ReferenceResult reference(process.real(), call.comm, written);
  return make_both_ways(process, communicator, call, reference,
                        [&] { return compare_bytes(process, call.comm, written, reference); });
}

}  // namespace

template <class Call>
Route verified(Process& process, Communicator& communicator, const Call& call) {
  if constexpr (is_reduction<Call>) {
    return verified_reduction(process, communicator, call);
  } else {
    return verified_move(process, communicator, call);
  }
}

template <>
Route verified(Process& process, Communicator& communicator, const BarrierCall& call) {
  const Route passed = call.take(process, communicator);
  if (passed != Route::huddle) return passed;
  // A barrier has no result: it counts as compared if the MPI's succeeds as well.
  if (call.native(process.real()) == success) {
    process.verification().note_equal();
  } else {
    process.verification().note_skipped(Incomparable::mpi_failed);
  }
  return passed;
}

template Route verified(Process&, Communicator&, const BcastCall&);
template Route verified(Process&, Communicator&, const ReduceCall&);
template Route verified(Process&, Communicator&, const AllreduceCall&);
template Route verified(Process&, Communicator&, const AllgatherCall&);
template Route verified(Process&, Communicator&, const AllgathervCall&);
template Route verified(Process&, Communicator&, const AlltoallCall&);
template Route verified(Process&, Communicator&, const AlltoallvCall&);
template Route verified(Process&, Communicator&, const AlltoallwCall&);
template Route verified(Process&, Communicator&, const GatherCall&);
template Route verified(Process&, Communicator&, const GathervCall&);
template Route verified(Process&, Communicator&, const ScatterCall&);
template Route verified(Process&, Communicator&, const ScattervCall&);
template Route verified(Process&, Communicator&, const ReduceScatterCall&);
template Route verified(Process&, Communicator&, const ReduceScatterBlockCall&);
template Route verified(Process&, Communicator&, const ScanCall&);
template Route verified(Process&, Communicator&, const ExscanCall&);

}  // namespace huddle::mpi
