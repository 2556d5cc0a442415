// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/stats.h"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "common/arithmetic.h"
#include "common/text.h"

namespace huddle::mpi {

std::string_view kind_never_handled(std::string_view name) {
  if (name.find("eighbor_") != std::string_view::npos) return "neighborhood collective";
  if (name.find("_init") != std::string_view::npos) return "persistent collective";
  return name.starts_with("MPI_I") ? "nonblocking collective" : "unsupported collective";
}

std::vector<Reason> reasons_of(const std::array<std::size_t, fallback_reason_count>& fallbacks,
                               const huddle_stub_interface& stub) {
  std::vector<Reason> reasons;
  for (std::size_t i = 0; i < fallback_reason_count; ++i) {
    if (fallbacks[i] > 0)
      reasons.push_back({fallbacks[i], reason_text(static_cast<FallbackReason>(i))});
  }
  std::map<std::string_view, std::size_t> elsewhere;
  for (std::size_t i = 0; i < stub.call_count; ++i) {
    const std::size_t calls = huddle_counted_calls(&stub.fallbacks[i]);
    if (calls > 0) elsewhere[kind_never_handled(stub.fallbacks[i].name)] += calls;
  }
  for (const auto& [kind, calls] : elsewhere) reasons.push_back({calls, kind});
  sort_by_calls(reasons);
  return reasons;
}

void sort_by_calls(std::vector<Reason>& reasons) {
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.calls > b.calls; });
}

std::size_t calls_of(const std::vector<Reason>& reasons) {
  std::size_t calls = 0;
  for (const Reason& reason : reasons) calls += reason.calls;
  return calls;
}

std::string listed(const std::vector<Reason>& reasons) {
  std::string list;
  for (const Reason& reason : reasons) {
    list += fmt::format("{}{}: {}", list.empty() ? "" : ", ", reason.words, grouped(reason.calls));
  }
  return list.empty() ? list : fmt::format(" ({})", list);
}

std::string grouped(std::size_t number) {
  constexpr std::size_t group = 3;
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && (digits.size() - at) % group == 0) text.push_back(',');
    text.push_back(digits[at]);
  }
  return text;
}

void Stats::add(select::Operation operation, FallbackReason why, const Taken& words,
                std::size_t bytes, double seconds) {
  const std::lock_guard lock(mutex_);
  try {
    std::string how(words.algorithm);
    if (!words.unserved.empty())
      how += fmt::format(" (instead of {}, which cannot run this call)", words.unserved);
    Sum& sum = rows_[{operation, why, std::move(how)}];
    ++sum.calls;
    sum.bytes += bytes;
    sum.seconds += seconds;
  } catch (const std::bad_alloc&) {
    return;
  }
}

void Stats::handled(select::Operation operation, const Taken& how, std::size_t bytes,
                    double seconds) {
  add(operation, FallbackReason::none, how, bytes, seconds);
}

void Stats::fell_back(select::Operation operation, FallbackReason why, std::string_view more,
                      std::size_t bytes, double seconds) {
  add(operation, why, {more}, bytes, seconds);
}

void Stats::tried(const team::Tuner::Result& result) {
  const std::lock_guard lock(mutex_);
  try {
    Trials& trials = trials_[{result.of.operation, result.of.most_bytes}];
    // The rounds of a class's first trial have a result each.
    if (trials.count == 0 || trials.latest.record.is_settled) ++trials.count;
    trials.latest = result;
  } catch (const std::bad_alloc&) {
    return;
  }
}

void Stats::add_note(std::string_view sentence) {
  const std::lock_guard lock(mutex_);
  try {
    ++remarks_[std::string(sentence)];
  } catch (const std::bad_alloc&) {
    return;
  }
}

namespace {

std::string shares_text(std::size_t handled, const std::vector<Reason>& reasons) {
  return fmt::format("huddle: {} collectives of rank 0 handled, {} left to the MPI{}\n",
                     grouped(handled), grouped(calls_of(reasons)), listed(reasons));
}

std::string off_text(const std::vector<Reason>& reasons) {
  return fmt::format("huddle: off; all {} collectives of rank 0 ran in the MPI\n",
                     grouped(calls_of(reasons)));
}

}  // namespace

Shares& Shares::operator+=(const Shares& other) {
  handled += other.handled;
  for (std::size_t i = 0; i < fallback_reason_count; ++i) fallbacks[i] += other.fallbacks[i];
  seconds += other.seconds;
  return *this;
}

std::string times(const Shares& shares, const Run& run) {
  if (!run.seconds) return {};
  const double percent = *run.seconds > 0 ? shares.seconds / *run.seconds * 100 : 0;
  return fmt::format(
      "blocking collectives took {} of the {} from MPI_Init to MPI_Finalize ({:.0f} %); {}",
      time_text(shares.seconds * ns_per_s), time_text(*run.seconds * ns_per_s), percent,
      run.off ? "huddle can save a part of this time"
              : "to compare with the MPI alone, run with --off -v or --compare 6");
}

std::string summary(const Shares& shares, const huddle_stub_interface& stub, const Run& run) {
  const std::vector<Reason> reasons = reasons_of(shares.fallbacks, stub);
  if (shares.handled == 0 && reasons.empty()) {
    return fmt::format("huddle: {}rank 0 called no collective\n", run.off ? "off; " : "");
  }
  const std::string text = run.off ? off_text(reasons) : shares_text(shares.handled, reasons);
  return run.seconds ? fmt::format("{}huddle: {}\n", text, times(shares, run)) : text;
}

std::string Stats::report(const huddle_stub_interface& stub) const {
  const std::lock_guard lock(mutex_);
  std::string text =
      fmt::format("huddle: collectives of rank 0\n{:<24}{:>10}{:>14}{:>12}  {}\n", "operation",
                  "calls", "bytes", "seconds", "algorithm, or fallback reason");
  for (const auto& [row, sum] : rows_) {
    std::string how = row.words;
    if (row.why != FallbackReason::none) {
      how = fmt::format("MPI: {}{}{}", reason_text(row.why), how.empty() ? "" : ": ", how);
    }
    text += fmt::format("{:<24}{:>10}{:>14}{:>12.6f}  {}\n", select::name(row.operation), sum.calls,
                        sum.bytes, sum.seconds, how);
  }
  for (std::size_t i = 0; i < stub.call_count; ++i) {
    const huddle_fallback& fallbacks = stub.fallbacks[i];
    const unsigned long calls = huddle_counted_calls(&fallbacks);
    if (calls == 0) continue;
    text += fmt::format("{:<24}{:>10}{:>14}{:>12}  MPI: {}\n", fallbacks.name, calls, "-", "-",
                        kind_never_handled(fallbacks.name));
  }
  return text + trials_text() + remarks_text();
}

namespace {

// Returns text such as "*12.3 us slots", or "-" if the implementation was not tried.
std::string time_of(const team::Tuner::Result& result, team::Implementation by) {
  const auto& [ns, plan] = result.tried[static_cast<std::size_t>(by)];
  if (ns == 0) return "-";
  return fmt::format("{}{}{}{}", result.record.kept == by ? "*" : "", time_text(ns),
                     plan.algorithm.empty() ? "" : " ", plan.algorithm);
}

}  // namespace

std::string Stats::trials_text() const {
  if (trials_.empty()) return {};
  std::string text = fmt::format(
      "huddle: times of the latest trials (median without waiting); * runs the later calls\n"
      "{:<22}{:>6}{:>8}  {:<20} {:<20} {}\n",
      "operation", "up to", "trials", "huddle", "alternative", "MPI");
  for (const auto& [call_class, trials] : trials_) {
    const auto& [operation, bytes] = call_class;
    text += fmt::format(
        "{:<22}{:>6}{:>8}  {:<20} {:<20} {}\n", select::name(operation),
        select::has_common_size(operation) ? size_text(static_cast<double>(bytes)) : "-",
        trials.count, time_of(trials.latest, team::Implementation::chosen),
        time_of(trials.latest, team::Implementation::alternative),
        time_of(trials.latest, team::Implementation::outside));
  }
  return text;
}

std::vector<Stats::Trials> Stats::trials() const {
  const std::lock_guard lock(mutex_);
  std::vector<Trials> all;
  for (const auto& [call_class, trials] : trials_) all.push_back(trials);
  return all;
}

std::string Stats::remarks() const {
  const std::lock_guard lock(mutex_);
  return remarks_text();
}

std::string Stats::remarks_text() const {
  std::string text;
  for (const auto& [sentence, times] : remarks_) text += fmt::format("  {}\n", sentence);
  return text;
}

}  // namespace huddle::mpi
