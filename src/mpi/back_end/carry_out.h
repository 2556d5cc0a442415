// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs a collective call of the program through huddle or the MPI, and counts it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "common/arithmetic.h"
#include "mpi/back_end/beside_devices.h"
#include "mpi/back_end/call.h"
#include "mpi/back_end/process.h"
#include "mpi/back_end/turns.h"
#include "mpi/back_end/verify.h"
#include "mpi/call_log.h"
#include "runtime/context/errors.h"
#include "runtime/internode/prediction.h"
#include "runtime/select/operation.h"

namespace huddle::mpi {

// Measures the interval of a call, if `runs` is true.
class StopWatch {
 public:
  explicit StopWatch(bool runs) {
    if (runs) start();
  }
  void start() {
    runs_ = true;
    call_.enter_ns = now_ns();
  }
  void stop() {
    if (runs_) call_.leave_ns = now_ns();
  }
  const TimedCall& call() const { return call_; }
  double seconds() const { return call_.ns() / ns_per_s; }

 private:
  static double now_ns() {
    return std::chrono::duration<double, std::nano>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  bool runs_ = false;
  TimedCall call_;
};

// Returns whether the MPI is predicted to be faster on several nodes. The MPI may reduce in another
// order, and a result must not depend on this prediction, so only exact reductions are left to the
// MPI.
template <CollectiveCall Call>
bool is_mpi_faster(const Process& process, const Communicator& communicator, const Call& call) {
  if (!communicator.internode) return false;
  const std::size_t bytes = requested_bytes(communicator, call);
  return communicator.internode->is_mpi_faster(Call::operation, bytes) &&
         has_same_result_in_mpi(process, communicator, call);
}

// Returns the fallback reason of a call, or FallbackReason::none. The result is the same on all
// ranks if the call is valid.
template <CollectiveCall Call>
FallbackReason fallback_reason(const Process& process, const Communicator* communicator,
                               const Call& call) {
  if (communicator == nullptr) return FallbackReason::invalid_arguments;
  if (!communicator->is_active()) return communicator->fallback;
  if (!process.options().handles(Call::operation)) return FallbackReason::not_selected;
  if (communicator->internode && !communicator->internode->handles(Call::operation)) {
    return FallbackReason::several_nodes;
  }
  const FallbackReason invalid = call.check_arguments(process, *communicator);
  if (invalid != FallbackReason::none) return invalid;
  return is_mpi_faster(process, *communicator, call) ? FallbackReason::faster_in_mpi
                                                     : FallbackReason::none;
}

// Returns the algorithm of the latest call, for the statistics.
template <CollectiveCall Call>
std::string_view algorithm_of(const Communicator& communicator, const Call& call) {
  const bool moves_nothing = call.common_bytes(communicator) == 0;
  return moves_nothing ? "no data to move" : communicator.latest_algorithm();
}

// Returns the forced algorithm that could not run the latest call, or an empty string.
template <CollectiveCall Call>
std::string_view unserved_algorithm_of(const Communicator& communicator, const Call& call) {
  const bool moves_nothing = call.common_bytes(communicator) == 0;
  return moves_nothing ? std::string_view() : communicator.latest_unserved();
}

// Reports a failure of this rank through the communicator's error handler. Returns `code`.
template <CollectiveCall Call>
int failed(Process& process, const Call& call, const std::exception& error, int code) {
  if (process.options().verify) process.verification().note_skipped(Incomparable::huddle_failed);
  process.stats().add_note(error.what());
  process.warn(error.what());
  process.real().comm_call_errhandler(call.comm, code);
  return code;
}

// Returns the status of a call that huddle has completed. Reports an error if this rank's own block
// was truncated.
template <CollectiveCall Call>
int error_of(Process& process, const Communicator& communicator, const Call& call) {
  if (!call.is_truncated(communicator)) return success;
  process.real().comm_call_errhandler(call.comm, error_truncate);
  return error_truncate;
}

// Reports a failure that kept this rank out of a call, and abandons the team so that the other
// ranks do not wait for this rank.
template <CollectiveCall Call>
int failed_alone(Process& process, Communicator* communicator, const Call& call,
                 const std::exception& error) {
  if (communicator != nullptr) communicator->abandon(error.what());
  return failed(process, call, error, error_other);
}

// Returns whether the MPI rejects the call on entry; such a call is not counted. Returns false on
// the root of a gather, because the other ranks have sent their data by then.
template <CollectiveCall Call>
bool is_rejected_on_entry(const Process& process, const Communicator& communicator,
                          const Call& call) {
  return !call.others_have_sent(communicator) &&
         call.check_arguments(process, communicator) == FallbackReason::invalid_arguments;
}

// Inspects the arguments and counts the call, which may activate the communicator: that is
// collective over its ranks.
template <CollectiveCall Call>
void inspect_and_count(Process& process, Communicator* communicator, Call& call) {
  // Does not inspect calls on intercommunicators, where other arguments are significant.
  if (communicator == nullptr || communicator->fallback == FallbackReason::intercommunicator)
    return;
  call.inspect(process, *communicator);
  const bool is_young = communicator->fallback == FallbackReason::not_activated;
  if (is_young && is_rejected_on_entry(process, *communicator, call)) return;
  if (is_young) note_data(*communicator, call);
  process.count(*communicator);
}

// Returns the size of the call for the statistics.
template <CollectiveCall Call>
std::size_t bytes_of_call(const Communicator* communicator, const Call& call) {
  const bool is_inspected =
      communicator != nullptr && communicator->fallback != FallbackReason::intercommunicator;
  return is_inspected ? call.bytes(*communicator) : 0;
}

// Returns details about a fallback reason; empty if there are none.
template <CollectiveCall Call>
std::string more_about(const Process& process, const Call& call, FallbackReason why) {
  if constexpr (Reduction<Call>) {
    if (why == FallbackReason::no_reduction) return described_reduction(process.operators(), call);
  }
  return {};
}

// Logs a call that has ended.
template <CollectiveCall Call>
void log_call(Process& process, Communicator& communicator, const Call& call, FallbackReason why,
              std::string_view how, TimedCall when) {
  CallLog* const log = process.log_of(communicator);
  if (log == nullptr) return;
  when.is_root = is_at_root(communicator, call) ? 1 : 0;
  process.logs().add(log, {Call::operation, why, how},
                     {call.bytes(communicator), requested_bytes(communicator, call)}, when);
}

// Requires: all ranks make the call, and huddle handles it.
template <CollectiveCall Call>
FallbackReason run_or_verify(Process& process, Communicator& communicator, const Call& call) {
  return process.options().verify ? verified(process, communicator, call)
                                  : call.run(process, communicator);
}

template <CollectiveCall Call>
FallbackReason run_on_host(Process& process, Communicator& communicator, const Call& call) {
  const OnHost<Call> on_host(process.real(), communicator, call);
  const FallbackReason fallback = run_or_verify(process, communicator, on_host.call());
  if (fallback == FallbackReason::none) on_host.finish();
  return fallback;
}

// Requires: all ranks make the call. Data in device memory: see beside_devices.h.
template <CollectiveCall Call>
FallbackReason run(Process& process, Communicator& communicator, const Call& call) {
  if constexpr (MovesData<Call>) {
    const bool on_device = process.devices().have_driver(communicator.looks) &&
                           is_on_device(process.devices(), communicator, call);
    if (communicator.internode) {
      if (on_device) return run_on_host(process, communicator, call);
    } else if (communicator.team->vote_pending(on_device)) {
      if (communicator.team->any_rank(on_device)) return FallbackReason::device_memory;
    } else if (on_device) {
      return run_on_host(process, communicator, call);
    }
  }
  return run_or_verify(process, communicator, call);
}

// Returns whether all calls of this communicator are known to fall back to the MPI, and the
// statistics need only the number of calls. Such calls are not inspected, because a call on a
// communicator of one rank takes the MPI only a few nanoseconds.
inline bool falls_back_unseen(const Process& process, const Communicator* communicator) {
  return communicator != nullptr && !communicator->is_active() &&
         communicator->fallback != FallbackReason::not_activated && !process.options().is_timed() &&
         !process.options().verify;
}

// Calls `attempt`, which runs a call through huddle or returns the fallback reason. After a
// failure, reports it to the program and sets `error` to the status that the program gets.
template <CollectiveCall Call, class Attempt>
FallbackReason unless_failed(Process& process, Communicator* communicator, const Call& call,
                             std::optional<int>& error, const Attempt& attempt) {
  try {
    return attempt();
  } catch (const context::PeerLost& lost) {
    error = failed(process, call, lost, error_other);
  } catch (const context::CallsDiffer& differ) {
    error = failed(process, call, differ, differ.are_sizes() ? error_truncate : error_other);
  } catch (const context::SizesDiffer& differ) {
    error = failed(process, call, differ, error_truncate);
  } catch (const UsageError&) {
    // The elements are too large for every algorithm, on all ranks.
    return FallbackReason::too_large;
  } catch (const FailureError&) {
    // Thrown on all ranks, before any data were moved.
    return FallbackReason::no_memory;
  } catch (const context::PathFailed& path) {
    // Thrown on all ranks.
    error = failed(process, call, path, error_other);
  } catch (const std::exception& other) {
    error = failed_alone(process, communicator, call, other);
  }
  return FallbackReason::none;
}

// A call that programs repeat with the same arguments: see repeated_calls.h.
template <class Call>
concept Repeatable = CollectiveCall<Call> &&
    requires(const Call& call, const Process& process, const Communicator& communicator) {
  // Returns the arguments. Those that are not significant on this rank are null or 0.
  { call.repeatable(communicator) } -> std::same_as<RepeatableArguments>;
  // Returns whether huddle's call uses the program's buffers. Requires: inspect() was called.
  { call.has_plain_buffers(process, communicator) } -> std::same_as<bool>;
};

// Returns the common size of a call that repeats an earlier one which is not known yet. Then the
// team keeps its call, which is known once huddle has run it: see note_repeated(). `freed` is the
// number of freed datatypes at the time of inspect().
// Requires: inspect() was called.
template <CollectiveCall Call>
std::optional<std::size_t> begin_note(Process& process, Communicator* communicator,
                                      const Call& call, std::uint64_t freed) {
  if constexpr (Repeatable<Call>) {
    if (communicator == nullptr || communicator->team == nullptr || process.options().verify ||
        process.devices().have_driver(communicator->looks)) {
      return std::nullopt;
    }
    const std::optional<std::size_t> bytes = call.common_bytes(*communicator);
    if (bytes == 0 || !call.has_plain_buffers(process, *communicator)) return std::nullopt;
    if (!communicator->repeated) communicator->repeated = RepeatedCalls::made();
    if (!communicator->repeated ||
        !communicator->repeated->is_repeated(call.repeatable(*communicator), freed)) {
      return std::nullopt;
    }
    communicator->team->keep_next_call();
    return bytes;
  }
  return std::nullopt;
}

// Does not use the datatypes, because they may have been freed during the call.
// Requires: begin_note() has returned `bytes`, and huddle has run the call.
template <CollectiveCall Call>
void note_repeated(const Process& process, Communicator& communicator, const Call& call,
                   std::size_t bytes) {
  if constexpr (Repeatable<Call>) {
    select::Call made = communicator.team->kept_call();
    bool is_size_of_buffer = Call::operation == select::Operation::alltoall;
    if constexpr (Reduction<Call>) {
      // The team's call may have referred to a reduction that no longer exists.
      made.reduction = communicator.latest.reduction(call.type, call.op);
      if (made.reduction == nullptr) return;
      is_size_of_buffer = true;
    }
    const auto blocks = is_size_of_buffer ? 1 : static_cast<std::size_t>(communicator.ranks);
    communicator.repeated->note(call.repeatable(communicator), bytes * blocks,
                                {tuned_call(process, communicator, call, bytes), made});
  }
}

// Returns what is known about an earlier call with the same arguments, or null. All barriers of a
// communicator are the same.
template <CollectiveCall Call>
const RepeatedCalls::Known* known_call(Process& process, Communicator* communicator,
                                       const Call& call) {
  if (communicator == nullptr) return nullptr;
  if constexpr (Repeatable<Call>) {
    if (!communicator->repeated) return nullptr;
    const RepeatedCalls::Known* const known =
        communicator->repeated->find(call.repeatable(*communicator), process.types().freed());
    const bool may_be_on_device =
        known != nullptr && process.devices().have_driver(communicator->looks);
    return may_be_on_device ? nullptr : known;
  } else if constexpr (!MovesData<Call>) {
    static constexpr RepeatedCalls::Known barrier{.tuned = {Call::operation, 0, true}, .call = {}};
    const bool is_known = communicator->team != nullptr && !process.options().verify &&
                          process.options().handles(Call::operation);
    return is_known ? &barrier : nullptr;
  }
  return nullptr;
}

// Requires: all ranks make the call.
template <CollectiveCall Call>
FallbackReason run_known(team::Team& team, const RepeatedCalls::Known& known) {
  if constexpr (MovesData<Call>) {
    if (team.vote_pending(false) && team.any_rank(false)) return FallbackReason::device_memory;
    team.run(known.call);
  } else {
    team.barrier();
  }
  return FallbackReason::none;
}

// Counts a call that huddle has run. A rank that always arrives last never waits, so it would never
// progress the MPI, although a program may rely on that: other ranks access its windows, or it
// receives messages. A poll takes 17 to 70 ns, in one call of 32.
inline void count_handled(Process& process, Communicator& communicator) {
  constexpr std::uint64_t calls_per_poll = 32;
  if (++communicator.shares.handled % calls_per_poll == 0) process.poll_mpi_progress();
}

// Runs a known call outside a trial. Returns its status.
template <CollectiveCall Call>
int carry_out_known(Process& process, Communicator& communicator, const Call& call,
                    const RepeatedCalls::Known& known, const team::Turn& turn) {
  std::optional<int> error;
  const FallbackReason fallback = unless_failed(process, &communicator, call, error, [&] {
    if (turn.by != team::Implementation::outside) return run_known<Call>(*communicator.team, known);
    return run_outside(communicator, call, known.tuned.bytes, turn);
  });
  if (error) return *error;
  if (fallback == FallbackReason::none) {
    count_handled(process, communicator);
    return success;
  }
  communicator.shares.count(fallback);
  return call.run_by_mpi(process.real());
}

// `known` may be null. Sets `turn` if the call is part of a trial.
template <CollectiveCall Call>
FallbackReason run_in_turn(Process& process, Communicator* communicator, const Call& call,
                           const RepeatedCalls::Known* known, team::Turn& turn, StopWatch& watch) {
  const FallbackReason fallback = fallback_reason(process, communicator, call);
  if (fallback == FallbackReason::faster_in_mpi && communicator->internode) {
    communicator->internode->note_fallback(Call::operation, requested_bytes(*communicator, call));
  }
  if (fallback != FallbackReason::none) return fallback;
  const team::Turn& now = turn_of(process, *communicator, call);
  if (now.is_in_trial) turn = now;
  if (turn.is_timed) watch.start();
  if (now.by == team::Implementation::outside)
    return run_outside(*communicator, call, call.common_bytes(*communicator).value_or(0), turn);
  // In a trial as well, so that calls take the time that they take outside one.
  return known != nullptr ? run_known<Call>(*communicator->team, *known)
                          : run(process, *communicator, call);
}

// Ends a call that huddle has run. `bytes` is its size for the statistics. Returns the status.
template <CollectiveCall Call>
int end_handled(Process& process, Communicator& communicator, const Call& call, std::size_t bytes,
                const team::Turn& turn, const StopWatch& watch) {
  end_turn(communicator, call, turn, watch.call());
  count_handled(process, communicator);
  communicator.shares.seconds += watch.seconds();
  if (process.options().is_timed()) {
    log_call(process, communicator, call, FallbackReason::none, algorithm_of(communicator, call),
             watch.call());
  }
  if (process.options().stats) {
    process.stats().handled(
        Call::operation,
        {algorithm_of(communicator, call), unserved_algorithm_of(communicator, call)}, bytes,
        watch.seconds());
  }
  return error_of(process, communicator, call);
}

// Runs a call that is not known, is part of a trial, or is reported. `communicator` and `known` may
// be null. Returns the status.
template <CollectiveCall Call>
int carry_out_new(Process& process, Communicator* communicator, Call& call,
                  const RepeatedCalls::Known* known) {
  const std::uint64_t freed = process.types().freed();
  try {
    inspect_and_count(process, communicator, call);
  } catch (const std::exception& error) {
    return failed_alone(process, communicator, call, error);
  }
  const bool is_timed = process.options().is_timed();
  // The program may free a datatype during the call.
  const std::size_t bytes = process.options().stats ? bytes_of_call(communicator, call) : 0;
  std::optional<std::size_t> noted_bytes;
  if (known == nullptr) noted_bytes = begin_note(process, communicator, call, freed);
  // Before activation, the time of a call counts: see activation_cost.h.
  const bool is_young =
      communicator != nullptr && communicator->fallback == FallbackReason::not_activated;
  StopWatch watch(is_timed || is_young);
  team::Turn turn;  // in a trial
  std::optional<int> error;
  const FallbackReason fallback = unless_failed(process, communicator, call, error, [&] {
    return run_in_turn(process, communicator, call, known, turn, watch);
  });
  if (error) return *error;
  if (fallback == FallbackReason::none) {
    watch.stop();
    if (noted_bytes) note_repeated(process, *communicator, call, *noted_bytes);
    return end_handled(process, *communicator, call, bytes, turn, watch);
  }
  if (process.options().verify) process.verification().note_skipped(fallback);
  const int status = call.run_by_mpi(process.real());
  watch.stop();
  const std::string more = is_timed ? more_about(process, call, fallback) : std::string();
  if (communicator != nullptr) {
    end_turn(*communicator, call, turn, watch.call());
    communicator->shares.count(fallback);
    communicator->shares.seconds += watch.seconds();
    if (is_young) communicator->mpi_ns += static_cast<std::uint64_t>(watch.call().ns());
    if (is_timed) log_call(process, *communicator, call, fallback, more, watch.call());
  }
  if (process.options().stats) {
    process.stats().fell_back(Call::operation, fallback, more, bytes, watch.seconds());
  }
  return status;
}

template <CollectiveCall Call>
int carry_out(Process& process, Call&& call) {
  Communicator* communicator = nullptr;
  const RepeatedCalls::Known* known = nullptr;
  try {
    communicator = process.find(call.comm);
    known = known_call(process, communicator, call);
  } catch (const InvalidCommunicator& error) {
    if (process.options().verify)
      process.verification().note_skipped(FallbackReason::invalid_arguments);
    return error.status;
  } catch (const std::exception& error) {
    return failed_alone(process, communicator, call, error);
  }
  if (falls_back_unseen(process, communicator)) {
    communicator->shares.count(communicator->fallback);
    return call.run_by_mpi(process.real());
  }
  if (known == nullptr || !process.has_plain_calls())
    return carry_out_new(process, communicator, call, known);
  // Null if the call may be part of a trial.
  const team::Turn* const turn =
      process.options().tunes ? communicator->team->begin_usual_turn(known->tuned) : &by_prediction;
  return turn == nullptr ? carry_out_new(process, communicator, call, known)
                         : carry_out_known(process, *communicator, call, *known, *turn);
}

}  // namespace huddle::mpi
