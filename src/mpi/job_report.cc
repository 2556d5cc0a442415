// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/job_report.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "common/arithmetic.h"
#include "runtime/select/call_times.h"

namespace huddle::mpi {
namespace {

OverRanks over_ranks(std::span<const double> values) {
  if (values.empty()) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least,
          std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()),
          *most};
}

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The logs of one group's ranks, in the order of its members. Null for a rank that has none.
struct Group {
  std::vector<int> members;
  std::vector<const GroupCalls*> logs;

  bool is_complete() const { return std::find(logs.begin(), logs.end(), nullptr) == logs.end(); }
};

std::vector<Group> groups_of(std::span<const RankReport> by_rank) {
  std::map<std::vector<int>, Group> groups;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    for (const GroupCalls& calls : by_rank[rank].groups) {
      Group& group = groups[calls.members];
      group.members = calls.members;
      group.logs.resize(calls.members.size());
      const auto at = std::find(calls.members.begin(), calls.members.end(), static_cast<int>(rank));
      if (at != calls.members.end())
        group.logs[static_cast<std::size_t>(at - calls.members.begin())] = &calls;
    }
  }
  std::vector<Group> list;
  for (auto& [members, group] : groups) list.push_back(std::move(group));
  return list;
}

// The time that each rank of a group waited and transferred data in the sampled calls of one kind.
struct Division {
  std::vector<double> waiting_ns;       // by rank
  std::vector<double> total_ns;         // by rank
  std::vector<double> longest_ns = {};  // by call: the longest transfer of a rank
};

// The lateness of one rank of the job.
struct Lateness {
  std::uint64_t last = 0;  // number of calls that it entered last
  double late_ns = 0;      // sum over these calls
};

// One sampled call on all ranks of a group.
class MatchedCall {
 public:
  explicit MatchedCall(std::size_t ranks) : calls_(ranks) {}

  // Returns false if the ranks made calls of different kinds.
  bool match(const Group& group, std::span<const std::vector<const TimedCall*>> samples,
             std::size_t at) {
    entries_ = {};
    const std::uint64_t number = samples.front()[at]->number;
    is_first_ = number == 0;
    for (std::size_t rank = 0; rank < calls_.size(); ++rank) {
      const GroupCalls& log = *group.logs[rank];
      const TimedCall& call = *samples[rank][at];
      calls_[rank] = {call.enter_ns, call.leave_ns, call.is_root != 0};
      entries_.add(calls_[rank]);
      if (rank == 0) kind_ = &log.kinds[call.kind];
      if (log.kinds[call.kind] != *kind_ || call.number != number) return false;
    }
    const auto later = [](const select::CallTimes& one, const select::CallTimes& other) {
      return one.enter_ns < other.enter_ns;
    };
    last_ = static_cast<std::size_t>(std::max_element(calls_.begin(), calls_.end(), later) -
                                     calls_.begin());
    return true;
  }
  const CallKind& kind() const { return *kind_; }
  // Returns whether it is the first call of its kind, which every sample contains.
  bool is_first() const { return is_first_; }
  std::size_t last() const { return last_; }
  double ns(std::size_t rank) const { return calls_[rank].ns(); }
  double waiting_ns(std::size_t rank) const {
    return entries_.waiting_ns(kind_->operation, calls_[rank]);
  }
  // Returns the time by which the last rank entered after the mean of the others.
  double late_ns() const {
    double others_ns = 0;
    for (std::size_t rank = 0; rank < calls_.size(); ++rank) {
      if (rank != last_) others_ns += calls_[rank].enter_ns;
    }
    return calls_[last_].enter_ns - others_ns / static_cast<double>(calls_.size() - 1);
  }

 private:
  std::vector<select::CallTimes> calls_;  // by rank
  select::EntryTimes entries_;
  const CallKind* kind_ = nullptr;  // on all ranks
  std::size_t last_ = 0;
  bool is_first_ = false;
};

using Divisions = std::map<CallKind, Division>;

// Divides the sampled calls of a group by kind. The result is empty if the ranks' calls cannot be
// matched, for example because several threads use the group's communicators.
Divisions divisions_of(const Group& group, std::vector<Lateness>& late) {
  const std::size_t ranks = group.members.size();
  if (ranks < 2 || !group.is_complete()) return {};
  std::uint64_t stride = 1;
  for (const GroupCalls* log : group.logs) stride = std::max(stride, log->stride);
  std::size_t common = std::numeric_limits<std::size_t>::max();
  std::vector<std::vector<const TimedCall*>> samples;  // by rank, with this stride
  for (const GroupCalls* log : group.logs) {
    std::vector<const TimedCall*>& sample = samples.emplace_back();
    for (const TimedCall& call : log->sample) {
      if (is_sampled(call.number, stride)) sample.push_back(&call);
    }
    common = std::min(common, sample.size());
  }
  Divisions divisions;
  std::vector<Lateness> here(ranks);
  MatchedCall call(ranks);
  for (std::size_t number = 0; number < common; ++number) {
    if (!call.match(group, samples, number)) return {};
    Division& division = divisions[call.kind()];
    division.waiting_ns.resize(ranks);
    division.total_ns.resize(ranks);
    double longest_ns = 0;
    // The number of calls that this one stands for.
    const std::uint64_t weight = call.is_first() ? 1 : stride;
    const auto factor = static_cast<double>(weight);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const double waiting_ns = call.waiting_ns(rank);
      division.waiting_ns[rank] += factor * waiting_ns;
      division.total_ns[rank] += factor * call.ns(rank);
      longest_ns = std::max(longest_ns, call.ns(rank) - waiting_ns);
    }
    division.longest_ns.push_back(longest_ns);
    here[call.last()].last += weight;
    here[call.last()].late_ns += factor * call.late_ns();
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    Lateness& of_job = late[static_cast<std::size_t>(group.members[rank])];
    of_job.last += here[rank].last;
    of_job.late_ns += here[rank].late_ns;
  }
  return divisions;
}

// The times of each rank of the job, over all its groups.
struct RankTimes {
  std::vector<double> seconds;
  std::vector<double> waiting_seconds;
  std::vector<double> transfer_seconds;
};

const CallSum* sum_of(const GroupCalls* calls, const CallKind& kind) {
  if (calls == nullptr) return nullptr;
  const auto at = std::find(calls->kinds.begin(), calls->kinds.end(), kind);
  return at == calls->kinds.end()
             ? nullptr
             : &calls->sums[static_cast<std::size_t>(at - calls->kinds.begin())];
}

// Returns the row of one kind, and adds its times to those of the ranks.
JobRow row_of(const Group& group, const CallKind& kind, Division* division, RankTimes& times) {
  JobRow row;
  row.kind = kind;
  row.is_divided = division != nullptr;
  std::vector<double> seconds;
  std::vector<double> waiting;
  std::vector<double> transfer;
  double bytes = 0;
  double common = 0;
  double calls = 0;
  for (std::size_t rank = 0; rank < group.members.size(); ++rank) {
    const CallSum* sum = sum_of(group.logs[rank], kind);
    if (sum == nullptr) continue;
    row.calls = std::max(row.calls, sum->calls);
    calls += static_cast<double>(sum->calls);
    bytes += static_cast<double>(sum->bytes);
    common += static_cast<double>(sum->common);
    seconds.push_back(sum->seconds);
    const auto in_job = static_cast<std::size_t>(group.members[rank]);
    times.seconds[in_job] += sum->seconds;
    if (division == nullptr) continue;
    const double total_ns = division->total_ns[rank];
    const double share = total_ns > 0 ? division->waiting_ns[rank] / total_ns : 0;
    waiting.push_back(share * sum->seconds);
    transfer.push_back((1 - share) * sum->seconds);
    times.waiting_seconds[in_job] += waiting.back();
    times.transfer_seconds[in_job] += transfer.back();
  }
  row.bytes_per_call = calls > 0 ? bytes / calls : 0;
  row.common_per_call = calls > 0 ? common / calls : 0;
  row.seconds = over_ranks(seconds);
  row.waiting_seconds = over_ranks(waiting);
  row.transfer_seconds = over_ranks(transfer);
  if (division != nullptr) row.typical_ns = median(division->longest_ns);
  return row;
}

// Returns the size that selects the algorithm of a row's calls. If only pairs of ranks know the
// sizes, returns the mean size of a block.
std::size_t predicted_bytes(const JobRow& row, std::size_t ranks) {
  const double bytes = row.common_per_call > 0 || !select::exchanges_blocks(row.kind.operation)
                           ? row.common_per_call
                           : row.bytes_per_call / static_cast<double>(ranks);
  return static_cast<std::size_t>(bytes);
}

// Adds the prediction to a row of calls that the MPI ran. Compares with the typical call, so that
// calls during which the system interrupted a rank do not count as savings.
void predict_saving(JobRow& row, const Group& group, const Prediction& prediction) {
  const bool might_run =
      row.kind.why == FallbackReason::switched_off || row.kind.why == FallbackReason::not_activated;
  if (!might_run || !row.is_divided || !prediction.ns) return;
  row.predicted_ns =
      prediction.ns(row.kind.operation, predicted_bytes(row, group.members.size()), group.members);
  if (!row.predicted_ns || row.typical_ns <= *row.predicted_ns) return;
  const double of_calls =
      static_cast<double>(row.calls) * (row.typical_ns - *row.predicted_ns) / ns_per_s;
  row.saving_seconds = std::min(of_calls, row.transfer_seconds.mean);
}

double seconds_of(const JobGroup& group) {
  return std::accumulate(group.rows.begin(), group.rows.end(), 0.0,
                         [](double sum, const JobRow& row) { return sum + row.seconds.mean; });
}

std::vector<CallKind> kinds_of(const Group& group) {
  std::vector<CallKind> kinds;
  for (const GroupCalls* log : group.logs) {
    if (log != nullptr) kinds.insert(kinds.end(), log->kinds.begin(), log->kinds.end());
  }
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  return kinds;
}

std::optional<LateRank> late_rank(std::span<const Lateness> late) {
  const auto latest = std::max_element(
      late.begin(), late.end(),
      [](const Lateness& one, const Lateness& other) { return one.last < other.last; });
  const std::uint64_t calls =
      std::accumulate(late.begin(), late.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const Lateness& one) { return sum + one.last; });
  if (calls == 0) return std::nullopt;
  return LateRank{static_cast<int>(latest - late.begin()),
                  static_cast<double>(latest->last) / static_cast<double>(calls),
                  latest->late_ns / static_cast<double>(latest->last)};
}

}  // namespace

double JobReport::mean_over_job(double JobRow::*quantity) const {
  double sum = 0;
  for (const JobGroup& group : groups) {
    for (const JobRow& row : group.rows) {
      sum += row.*quantity * static_cast<double>(group.members.size());
    }
  }
  return sum / ranks;
}

JobReport job_report(std::span<const RankReport> by_rank, const Prediction& prediction) {
  JobReport report;
  report.is_calibrated = prediction.is_calibrated;
  report.ranks = static_cast<int>(by_rank.size());
  RankTimes times;
  for (auto* list : {&times.seconds, &times.waiting_seconds, &times.transfer_seconds}) {
    list->resize(by_rank.size());
  }
  std::vector<Lateness> late(by_rank.size());
  for (const Group& group : groups_of(by_rank)) {
    Divisions divisions = divisions_of(group, late);
    JobGroup& of_job = report.groups.emplace_back();
    of_job.members = group.members;
    for (const CallKind& kind : kinds_of(group)) {
      const auto division = divisions.find(kind);
      JobRow& row = of_job.rows.emplace_back(
          row_of(group, kind, division == divisions.end() ? nullptr : &division->second, times));
      predict_saving(row, group, prediction);
      if (!row.is_divided) row.undivided_seconds = row.seconds.mean;
    }
    std::stable_sort(of_job.rows.begin(), of_job.rows.end(),
                     [](const JobRow& one, const JobRow& other) {
                       return one.seconds.mean > other.seconds.mean;
                     });
  }
  std::stable_sort(report.groups.begin(), report.groups.end(),
                   [](const JobGroup& one, const JobGroup& other) {
                     return seconds_of(one) > seconds_of(other);
                   });
  for (const RankReport& rank : by_rank) {
    report.run_seconds = std::max(report.run_seconds, rank.run_seconds);
  }
  report.seconds = over_ranks(times.seconds);
  report.waiting_seconds = over_ranks(times.waiting_seconds);
  report.transfer_seconds = over_ranks(times.transfer_seconds);
  report.late = late_rank(late);
  return report;
}

}  // namespace huddle::mpi
