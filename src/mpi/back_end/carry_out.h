// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What happens to a call: huddle takes it, or the MPI has it; either way it is counted.
#pragma once

#include <chrono>
#include <exception>

#include "mpi/back_end/process.h"
#include "mpi/back_end/verify.h"
#include "world/peer_lost.h"
#include "world/sizes_differ.h"

namespace huddle::mpi {

// Seconds that pass, where anybody wants to know.
class StopWatch {
 public:
  explicit StopWatch(bool runs) : runs_(runs) {
    if (runs_) start_ = std::chrono::steady_clock::now();
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  bool runs_;
  std::chrono::steady_clock::time_point start_;
};

// Why this call is not huddle's; the same on all ranks, where the call is right.
template <class Call>
Passed reason_to_pass(const Process& process, const Communicator* communicator, const Call& call) {
  if (communicator == nullptr) return Passed::for_judgement;
  if (!communicator->team) return communicator->passed;
  if (!process.options().takes(Call::operation)) return Passed::not_selected;
  return call.objection(process, *communicator);
}

// How the call was made that just was.
template <class Call>
std::string_view algorithm_of(const Communicator& communicator, const Call& call) {
  const bool moves_nothing = call.common_bytes(communicator) == 0;
  return moves_nothing ? "nothing to move" : communicator.team->latest_algorithm();
}

// What huddle could not do to the end on this rank alone is an error of this communicator.
template <class Call>
int failed(Process& process, const Call& call, const std::exception& error, int code) {
  process.stats().remark(error.what());
  process.complain(error.what());
  process.real().comm_call_errhandler(call.comm, code);
  return code;
}

// What huddle took, and what is wrong with it all the same.
template <class Call>
int error_of(Process& process, const Communicator& communicator, const Call& call) {
  if constexpr (requires { call.is_truncated(communicator); }) {
    if (call.is_truncated(communicator)) {
      process.real().comm_call_errhandler(call.comm, error_truncate);
      return error_truncate;
    }
  }
  return success;
}

// Null where the MPI does not have the communicator, or does not work any more.
template <class Call>
Communicator* communicator_of(Process& process, Call& call) {
  Communicator* communicator = process.find(call.comm);
  // Between groups, what is significant is another matter; and nobody asks.
  if (communicator == nullptr || communicator->passed == Passed::between_groups) {
    return communicator;
  }
  call.look(process, *communicator);
  process.count(*communicator, call.common_bytes(*communicator).value_or(0));
  return communicator;
}

// As statistics have it.
template <class Call>
std::size_t bytes_of_call(const Communicator* communicator, const Call& call) {
  const bool is_looked_at =
      communicator != nullptr && communicator->passed != Passed::between_groups;
  return is_looked_at ? call.bytes(*communicator) : 0;
}

// pre: all ranks make the call.
template <class Call>
Passed take(Process& process, Communicator& communicator, const Call& call) {
  return process.options().verify ? verified(process, communicator, call)
                                  : call.take(process, communicator);
}

template <class Call>
int carry_out(Process& process, Call&& call) {
  const bool counts = process.options().stats;
  Communicator* communicator = communicator_of(process, call);
  const std::size_t bytes = counts ? bytes_of_call(communicator, call) : 0;
  const StopWatch watch(counts);
  Passed passed = reason_to_pass(process, communicator, call);
  try {
    if (passed == Passed::not_passed) passed = take(process, *communicator, call);
  } catch (const world::PeerLost& error) {
    return failed(process, call, error, error_other);
  } catch (const world::SizesDiffer& error) {
    return failed(process, call, error, error_truncate);
  } catch (const UsageError&) {
    // Elements too large for any algorithm, which is equal on all ranks.
    passed = Passed::no_kernel;
  } catch (const FailureError&) {
    // Before anything was moved, and on all ranks together.
    passed = Passed::no_memory;
  } catch (const std::exception& error) {
    return failed(process, call, error, error_other);
  }
  if (passed == Passed::not_passed) {
    ++communicator->shares.taken;
    if (counts) {
      process.stats().taken(Call::operation, algorithm_of(*communicator, call), bytes,
                            watch.seconds());
    }
    return error_of(process, *communicator, call);
  }
  if (communicator != nullptr) ++communicator->shares.passed;
  const int status = call.native(process.real());
  if (counts) process.stats().passed(Call::operation, passed, bytes, watch.seconds());
  return status;
}

}  // namespace huddle::mpi
