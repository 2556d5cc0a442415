// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs a collective call of the program by huddle or by the MPI, and counts it.
#pragma once

#include <chrono>
#include <exception>
#include <string>

#include "mpi/back_end/beside_devices.h"
#include "mpi/back_end/call.h"
#include "mpi/back_end/process.h"
#include "mpi/back_end/reducer.h"
#include "mpi/back_end/verify.h"
#include "runtime/context/errors.h"
#include "runtime/internode/prediction.h"
#include "runtime/select/operation.h"

namespace huddle::mpi {

// Measures elapsed seconds if `runs` is true; otherwise returns 0.
class StopWatch {
 public:
  explicit StopWatch(bool runs) : runs_(runs) {
    if (runs_) start_ = std::chrono::steady_clock::now();
  }
  double seconds() const {
    if (!runs_) return 0;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  bool runs_;
  std::chrono::steady_clock::time_point start_;
};

// Returns the size that the selection uses for a call whose size every rank knows: per rank for
// operations that move a block per rank.
template <class Call>
std::size_t bytes_of_request(const Communicator& communicator, const Call& call) {
  const std::size_t bytes = call.common_bytes(communicator).value_or(0);
  const bool is_of_all_blocks = Call::operation == select::Operation::allgatherv ||
                                Call::operation == select::Operation::alltoall;
  return is_of_all_blocks ? bytes / static_cast<std::size_t>(communicator.ranks) : bytes;
}

// Returns whether the MPI is predicted to be faster. Its order of reduction differs, and the bits
// of a result must not depend on the choice, so only reductions that are exact are left to it.
template <class Call>
bool is_left_to_mpi(const Process& process, const Communicator& communicator, const Call& call) {
  if (!communicator.internode) return false;
  const std::size_t bytes = bytes_of_request(communicator, call);
  if (!communicator.internode->is_mpi_quicker(Call::operation, bytes)) return false;
  if constexpr (requires { call.op; }) {
    const auto kernel = kernel_of(process.operators(), *call.facts, call.op);
    return kernel && memory::is_exact(kernel->type);
  }
  return true;
}

// Returns the fallback reason of a call, or Route::huddle: the same on all ranks if it is valid.
template <class Call>
Route reason_to_pass(const Process& process, const Communicator* communicator, const Call& call) {
  if (communicator == nullptr) return Route::invalid_arguments;
  if (!communicator->has_joined()) return communicator->passed;
  if (!process.options().takes(Call::operation)) return Route::not_selected;
  if (communicator->internode && !communicator->internode->takes(Call::operation)) {
    return Route::several_nodes;
  }
  const Route objection = call.objection(process, *communicator);
  if (objection != Route::huddle) return objection;
  return is_left_to_mpi(process, *communicator, call) ? Route::quicker_by_mpi : Route::huddle;
}

// Returns how the latest call was made.
template <class Call>
std::string_view algorithm_of(const Communicator& communicator, const Call& call) {
  const bool moves_nothing = call.common_bytes(communicator) == 0;
  return moves_nothing ? "no data to move" : communicator.latest_algorithm();
}

// Returns the forced algorithm that could not run the latest call.
template <class Call>
std::string_view unserved_of(const Communicator& communicator, const Call& call) {
  const bool moves_nothing = call.common_bytes(communicator) == 0;
  return moves_nothing ? std::string_view() : communicator.latest_unserved();
}

// Reports a failure that only this rank saw through the communicator's error handler.
template <class Call>
int failed(Process& process, const Call& call, const std::exception& error, int code) {
  if (process.options().verify) process.verification().note_skipped(Incomparable::huddle_failed);
  process.stats().remark(error.what());
  process.complain(error.what());
  process.real().comm_call_errhandler(call.comm, code);
  return code;
}

// Reports truncation of this rank's own block in a call that huddle has completed.
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

// The same for a failure that kept this rank out of a call: the others must not wait for it.
template <class Call>
int failed_alone(Process& process, Communicator* communicator, const Call& call,
                 const std::exception& error) {
  if (communicator != nullptr) communicator->give_up(error.what());
  return failed(process, call, error, error_other);
}

// Returns whether the MPI rejects the call on entry, so that no other rank enters or counts it. The
// root of a gather is an exception, because the other ranks have sent by then.
template <class Call>
bool is_refused_at_once(const Process& process, const Communicator& communicator,
                        const Call& call) {
  if constexpr (requires { call.others_have_sent(communicator); }) {
    if (call.others_have_sent(communicator)) return false;
  }
  return call.objection(process, communicator) == Route::invalid_arguments;
}

template <class Call>
void look_and_count(Process& process, Communicator* communicator, Call& call) {
  // Other arguments are significant on intercommunicators, so these are not inspected.
  if (communicator == nullptr || communicator->passed == Route::between_groups) return;
  call.look(process, *communicator);
  const bool is_young = communicator->passed == Route::not_activated;
  if (is_young && is_refused_at_once(process, *communicator, call)) return;
  process.count(*communicator, call.common_bytes(*communicator).value_or(0));
}

// Size of the call in the statistics.
template <class Call>
std::size_t bytes_of_call(const Communicator* communicator, const Call& call) {
  const bool is_looked_at =
      communicator != nullptr && communicator->passed != Route::between_groups;
  return is_looked_at ? call.bytes(*communicator) : 0;
}

// Returns details about a fallback reason; empty if there are none.
template <class Call>
std::string more_about(const Process& process, const Call& call, Route why) {
  if constexpr (requires { call.op; }) {
    if (why == Route::no_reduction) return described_reduction(process.operators(), call);
  }
  return {};
}

// Requires: all ranks make the call, and huddle handles it.
template <class Call>
Route make(Process& process, Communicator& communicator, const Call& call) {
  return process.options().verify ? verified(process, communicator, call)
                                  : call.take(process, communicator);
}

template <class Call>
Route make_on_host(Process& process, Communicator& communicator, const Call& call) {
  const OnHost<Call> on_host(process.real(), communicator, call);
  const Route passed = make(process, communicator, on_host.call());
  if (passed == Route::huddle) on_host.finish();
  return passed;
}

// Requires: all ranks make the call.
template <class Call>
Route take(Process& process, Communicator& communicator, const Call& call) {
  if constexpr (requires { call.written(communicator); }) {
    const bool on_device = process.devices().have_driver(communicator.looks) &&
                           is_on_device(process.devices(), communicator, call);
    if (communicator.internode) {
      if (on_device) return make_on_host(process, communicator, call);
    } else if (communicator.team->is_to_ask(on_device)) {
      if (communicator.team->holds_anywhere(on_device)) return Route::device_memory;
    } else if (on_device) {
      return make_on_host(process, communicator, call);
    }
  }
  return make(process, communicator, call);
}

// Returns whether all calls of this communicator are known to fall back to the MPI, and no
// statistics need more than their number. Such a call is not inspected, since a call on a single
// rank takes the MPI only a few nanoseconds.
inline bool passes_unseen(const Process& process, const Communicator* communicator) {
  return communicator != nullptr && !communicator->has_joined() &&
         communicator->passed != Route::not_activated && !process.options().is_timed() &&
         !process.options().verify;
}

template <class Call>
int carry_out(Process& process, Call&& call) {
  const bool counts = process.options().stats;
  Communicator* communicator = nullptr;
  try {
    communicator = process.find(call.comm);
    if (passes_unseen(process, communicator)) {
      communicator->shares.count(communicator->passed);
      return call.native(process.real());
    }
    look_and_count(process, communicator, call);
  } catch (const InvalidCommunicator& error) {
    if (process.options().verify) process.verification().note_skipped(Route::invalid_arguments);
    return error.status;
  } catch (const std::exception& error) {
    return failed_alone(process, communicator, call, error);
  }
  const std::size_t bytes = counts ? bytes_of_call(communicator, call) : 0;
  const StopWatch watch(process.options().is_timed());
  Route passed = Route::huddle;
  try {
    passed = reason_to_pass(process, communicator, call);
    if (passed == Route::huddle) passed = take(process, *communicator, call);
  } catch (const context::PeerLost& error) {
    return failed(process, call, error, error_other);
  } catch (const context::CallsDiffer& error) {
    return failed(process, call, error, error.are_sizes() ? error_truncate : error_other);
  } catch (const context::SizesDiffer& error) {
    return failed(process, call, error, error_truncate);
  } catch (const UsageError&) {
    // The elements are too large for every algorithm, on all ranks.
    passed = Route::too_large;
  } catch (const FailureError&) {
    // Thrown on all ranks, before any data were moved.
    passed = Route::no_memory;
  } catch (const context::PathFailed& error) {
    // Thrown on all ranks.
    return failed(process, call, error, error_other);
  } catch (const std::exception& error) {
    return failed_alone(process, communicator, call, error);
  }
  if (passed == Route::huddle) {
    const double seconds = watch.seconds();
    ++communicator->shares.taken;
    communicator->shares.seconds += seconds;
    if (counts) {
      process.stats().taken(Call::operation,
                            {algorithm_of(*communicator, call), unserved_of(*communicator, call)},
                            bytes, seconds);
    }
    return error_of(process, *communicator, call);
  }
  if (process.options().verify) process.verification().note_skipped(passed);
  const int status = call.native(process.real());
  const double seconds = watch.seconds();
  if (communicator != nullptr) {
    communicator->shares.count(passed);
    communicator->shares.seconds += seconds;
  }
  if (counts) {
    process.stats().passed(Call::operation, passed, more_about(process, call, passed), bytes,
                           seconds);
  }
  return status;
}

}  // namespace huddle::mpi
