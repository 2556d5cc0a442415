// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Logs when a rank entered and left its collective calls. Rank 0 compares the logs of all ranks at
// the end (job_report.h), so logging sends no messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/fallback_reason.h"
#include "runtime/select/operation.h"
#include "runtime/team/cpu_binding.h"

namespace huddle::mpi {

// The properties that the calls of a row of the report share. Equal on all ranks of a correct
// program.
struct CallKind {
  select::Operation operation = select::Operation::barrier;
  FallbackReason why = FallbackReason::none;
  std::string how = {};  // the algorithm, or details of the fallback reason
  // The class of the size that all ranks know: see select::size_class_of().
  std::size_t size_class = 0;
  auto operator<=>(const CallKind&) const = default;
};

// Returns whether the sample contains a call with this number. The numbers are those of a random
// sample, because programs repeat sequences of calls. A larger stride selects some of the calls of
// a smaller one, always including number 0.
bool is_sampled(std::uint64_t number, std::uint64_t stride);

struct CallSum {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;   // of this rank's data
  std::uint64_t common = 0;  // of the sizes that select the algorithms
  double seconds = 0;
};

// The interval of one call, by the clock of the rank's node.
struct TimedCall {
  double enter_ns = 0;
  double leave_ns = 0;
  std::uint32_t kind = 0;  // index of its CallKind
  std::uint32_t is_root = 0;
  std::uint64_t number = 0;  // among the calls of its kind

  double ns() const { return leave_ns - enter_ns; }
};

// The calls of one rank on all communicators with the same ranks.
struct GroupCalls {
  std::vector<int> members = {};  // ranks in MPI_COMM_WORLD
  std::vector<CallKind> kinds = {};
  std::vector<CallSum> sums = {};  // by kind, of all calls
  // About one of `stride` calls of each kind, a power of two: those with is_sampled().
  std::uint64_t stride = 1;
  std::vector<TimedCall> sample = {};

  // Drops calls of the sample until at most `most_calls` are left, but not the first of each kind.
  void thin(std::size_t most_calls);
};

// Not thread-safe.
class CallLog {
 public:
  explicit CallLog(std::vector<int> members) { calls_.members = std::move(members); }

  struct Bytes {
    std::size_t own = 0;
    std::size_t common = 0;
  };
  struct Key {
    select::Operation operation;
    FallbackReason why;
    std::string_view how;
  };
  // `when.kind` is ignored. Throws bad_alloc if there is no memory for the call.
  void add(const Key& key, Bytes bytes, TimedCall when);
  const GroupCalls& calls() const { return calls_; }

 private:
  std::uint32_t kind_of(const Key& key, std::size_t size_class);

  GroupCalls calls_;
  std::map<CallKind, std::uint32_t> kinds_;
  std::uint32_t latest_ = 0;
};

// The logs of this rank. Thread-safe. Drops a call if there is no memory for it.
class CallLogs {
 public:
  // Returns the log of the communicators with these ranks, or null if there is no memory or there
  // are too many groups.
  CallLog* log_of(const std::vector<int>& members);
  void add(CallLog* log, const CallLog::Key& key, CallLog::Bytes bytes, const TimedCall& when);
  std::vector<GroupCalls> all() const;

 private:
  mutable std::mutex mutex_;  // guards the members below
  std::deque<CallLog> logs_;
  std::map<std::vector<int>, CallLog*> by_members_;
};

// The data that a rank contributes to the report on the job.
struct RankReport {
  team::CpuBinding binding{};
  double run_seconds = 0;  // from MPI_Init to MPI_Finalize
  std::vector<GroupCalls> groups = {};

  std::string bytes() const;
};
// Returns nothing if the bytes are not a report of this version of huddle.
std::optional<RankReport> rank_report_from(std::string_view bytes);

// Returns how many calls of its samples each of `ranks` ranks may send, such that rank 0 has room
// for all.
std::size_t sample_limit(int ranks);

}  // namespace huddle::mpi
