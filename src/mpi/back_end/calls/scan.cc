// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/calls/scan.h"

namespace huddle::mpi {

Route ScanCall::objection(const Process& process, const Communicator& /*communicator*/) const {
  const bool fine = is_right(process, count) && !is_refused_alias();
  return fine ? Route::huddle : Route::for_judgement;
}

Route ScanCall::take(const Process& process, Communicator& communicator) const {
  const auto join = [this](auto& team, const ReductionParts& parts,
                           const memory::Reduction& reduction) {
    team.scan(parts.input(), parts.output(), static_cast<std::size_t>(count), reduction);
  };
  return take_by(process, communicator, Gotten{true, count}, join);
}

int ScanCall::native(const UnderlyingMpi& real) const {
  return fits_int(count) ? real.scan(input, output, static_cast<int>(count), type, op, comm)
                         : real.scan_c(input, output, count, type, op, comm);
}

Written ScanCall::written(const Communicator& /*communicator*/) const {
  return {output, {part_of_output(count)}};
}

Route ExscanCall::objection(const Process& process, const Communicator& communicator) const {
  const bool is_first = communicator.rank == 0;
  const bool fine = is_right(process, is_first ? 0 : count) && !is_refused_alias();
  return fine ? Route::huddle : Route::for_judgement;
}

Route ExscanCall::take(const Process& process, Communicator& communicator) const {
  const bool is_first = communicator.rank == 0;
  const auto join = [this](auto& team, const ReductionParts& parts,
                           const memory::Reduction& reduction) {
    team.exscan(parts.input(), parts.output(), static_cast<std::size_t>(count), reduction);
  };
  return take_by(process, communicator, Gotten{!is_first, count}, join);
}

int ExscanCall::native(const UnderlyingMpi& real) const {
  return fits_int(count) ? real.exscan(input, output, static_cast<int>(count), type, op, comm)
                         : real.exscan_c(input, output, count, type, op, comm);
}

Written ExscanCall::written(const Communicator& communicator) const {
  return communicator.rank == 0 ? Written{} : Written{output, {part_of_output(count)}};
}

}  // namespace huddle::mpi
