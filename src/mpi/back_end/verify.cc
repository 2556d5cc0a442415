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

// The same call with its results elsewhere, for the MPI.
template <class Call>
Call with_results_in(Call call, void* output) {
  if constexpr (is_reduction<Call>) {
    // What the input was is gone.
    if (call.input == call.output) call.input = in_place();
  }
  return with_output(call, output);
}

template <class Call>
void complain(Process& process, const Communicator& communicator, const Call& call,
              const std::optional<std::string>& difference) {
  if (!difference) return;
  process.differs(fmt::format("{}: {}", described(process, communicator, call), *difference));
}

// Takes the call and has the MPI make it into the twin.
template <class Call>
Route take_both_ways(const Process& process, Communicator& communicator, const Call& call,
                     const Written& written, ReferenceResult& twin) {
  const Route passed = call.take(process, communicator);
  if (passed != Route::huddle) return passed;
  if (written.parts.empty()) {
    call.native(process.real());
  } else {
    with_results_in(call, twin.prepare()).native(process.real());
  }
  return passed;
}

// What the rounding of each result is measured by: everybody's magnitudes, joined like the numbers.
template <class Call>
std::vector<double> scale_of(const Process& process, const ResultComparison& judge, Call call) {
  const std::vector<double> scale = judge.magnitudes_of(call.brought(), call.count);
  std::vector<double> joined(scale.size());
  call.input = scale.data();
  call.output = joined.data();
  call.type = process.types().named("MPI_DOUBLE");
  call.op = judge.operator_of_scale();
  call.native(process.real());
  return joined;
}

// The judge is made before the call, for the input may be overwritten.
template <class Call>
Route verified_reduction(Process& process, Communicator& communicator, const Call& call) {
  const Written written = call.written(communicator);
  ResultComparison judge(process, call.comm, {{nullptr, call.count, call.type}, call.facts},
                         call.op);
  if (judge.wants_scale()) judge.set_scale(scale_of(process, judge, call));
  ReferenceResult twin(process.real(), call.comm, written);
  const Route passed = take_both_ways(process, communicator, call, written, twin);
  if (passed != Route::huddle) return passed;
  complain(process, communicator, call, judge.difference(written, twin, communicator.ranks));
  return passed;
}

template <class Call>
Route verified_move(Process& process, Communicator& communicator, const Call& call) {
  const Written written = call.written(communicator);
  ReferenceResult twin(process.real(), call.comm, written);
  const Route passed = take_both_ways(process, communicator, call, written, twin);
  if (passed != Route::huddle) return passed;
  complain(process, communicator, call, different_bytes(process.types(), written, twin));
  return passed;
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
  call.native(process.real());
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
