// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/tuning_history.h"

#include <algorithm>
#include <new>
#include <utility>

namespace huddle::team {
namespace {

TuningHistory::Key key_for(std::span<const int> cpus, const TunedClass& of) {
  return {{cpus.begin(), cpus.end()}, of};
}

}  // namespace

TuningHistory::TuningHistory(const Records& records) {
  for (const auto& [key, record] : records) entries_.emplace(key, Entry{record});
}

std::optional<TuningRecord> TuningHistory::find(std::span<const int> cpus,
                                                const TunedClass& of) const noexcept {
  try {
    const Key key = key_for(cpus, of);
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    return found == entries_.end() ? std::nullopt : std::optional(found->second.record);
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

std::optional<select::PlanFeatures> TuningHistory::suggestion(std::span<const int> cpus,
                                                              const TunedClass& of) const noexcept {
  // Records of the same operation come first, then those of the most similar size.
  const auto distance_to = [&of](const TunedClass& other) {
    const auto [less, more] = std::minmax({of.most_bytes, other.most_bytes});
    const double ratio =
        static_cast<double>(more) / static_cast<double>(std::max<std::size_t>(less, 1));
    return std::pair(other.operation != of.operation, ratio);
  };
  try {
    const std::vector<int> same_cpus(cpus.begin(), cpus.end());
    const std::scoped_lock lock(mutex_);
    const std::pair<const Key, Entry>* nearest = nullptr;
    for (const auto& one : entries_) {
      const auto& [key, entry] = one;
      if (key.cpus != same_cpus || key.tuned_class == of ||
          entry.record.kept == Implementation::outside)
        continue;
      if (!entry.record.is_settled && entry.record.kept == Implementation::chosen) continue;
      const bool is_other = key.tuned_class.operation != of.operation;
      if (is_other && !entry.record.plan.copy_method) continue;
      if (nearest == nullptr ||
          distance_to(key.tuned_class) < distance_to(nearest->first.tuned_class))
        nearest = &one;
    }
    if (nearest == nullptr) return std::nullopt;
    select::PlanFeatures plan = nearest->second.record.plan;
    if (nearest->first.tuned_class.operation != of.operation)
      plan = {.copy_method = plan.copy_method};
    return plan;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

void TuningHistory::note(std::span<const int> cpus, const TunedClass& of,
                         const TuningRecord& record) noexcept {
  try {
    const Key key = key_for(cpus, of);
    const std::scoped_lock lock(mutex_);
    Entry& entry = entries_[key];
    const bool is_new = entry.record.median_ns == 0;
    if (is_new || record.is_settled || !entry.record.is_settled) entry = {record, true};
  } catch (const std::bad_alloc&) {
    return;
  }
}

void TuningHistory::note_calls(std::span<const int> cpus, const TunedClass& of,
                               const Tuner::ClassProgress& progress) noexcept {
  try {
    const Key key = key_for(cpus, of);
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    TuningRecord& record = found->second.record;
    if (record.is_settled && !progress.is_settled) return;
    std::uint32_t& present = record.calls_until_next;
    if (!progress.is_interrupted && present <= progress.calls_until_next) return;
    present = progress.calls_until_next;
    found->second.is_changed = true;
  } catch (const std::bad_alloc&) {
    return;
  }
}

TuningHistory::Records TuningHistory::changed() const {
  const std::scoped_lock lock(mutex_);
  Records records;
  for (const auto& [key, entry] : entries_) {
    if (entry.is_changed) records.emplace(key, entry.record);
  }
  return records;
}

}  // namespace huddle::team
