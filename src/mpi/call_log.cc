// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/call_log.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "common/arithmetic.h"

namespace huddle::mpi {
namespace {

// A group's sample takes at most 128 KiB per rank.
constexpr std::size_t most_sampled = 4096;

// A program that creates more groups of ranks has the calls of the others counted, but not timed.
constexpr std::size_t most_groups = 256;

// The samples of all ranks take at most 64 MiB on rank 0.
constexpr std::size_t most_sampled_in_job = std::size_t{2} << 20;
constexpr std::size_t least_sampled_per_rank = 256;

}  // namespace

// The steps of the generator SplitMix64 that mix the bits of a number.
bool is_sampled(std::uint64_t number, std::uint64_t stride) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return ((number ^ (number >> 31)) & (stride - 1)) == 0;
}

void GroupCalls::thin(std::size_t most_calls) {
  const auto is_first = [](const TimedCall& one) { return one.number == 0; };
  while (sample.size() > std::max<std::size_t>(1, most_calls) &&
         !std::all_of(sample.begin(), sample.end(), is_first)) {
    stride *= 2;
    std::erase_if(sample, [this](const TimedCall& one) { return !is_sampled(one.number, stride); });
  }
}

std::uint32_t CallLog::kind_of(const Key& key, std::size_t size_class) {
  if (latest_ < calls_.kinds.size()) {
    const CallKind& latest = calls_.kinds[latest_];
    if (latest.operation == key.operation && latest.why == key.why &&
        latest.size_class == size_class && latest.how == key.how) {
      return latest_;
    }
  }
  const auto next = static_cast<std::uint32_t>(calls_.kinds.size());
  const CallKind kind{key.operation, key.why, std::string(key.how), size_class};
  calls_.kinds.reserve(next + 1);
  calls_.sums.reserve(next + 1);
  const auto [at, is_new] = kinds_.emplace(kind, next);
  if (is_new) {
    calls_.kinds.push_back(kind);
    calls_.sums.emplace_back();
  }
  return at->second;
}

void CallLog::add(const Key& key, Bytes bytes, TimedCall when) {
  latest_ = kind_of(key, select::size_class_of(bytes.common));
  CallSum& sum = calls_.sums[latest_];
  when.number = sum.calls++;
  sum.bytes += bytes.own;
  sum.common += bytes.common;
  sum.seconds += when.ns() / ns_per_s;
  if (!is_sampled(when.number, calls_.stride)) return;
  when.kind = latest_;
  calls_.sample.push_back(when);
  calls_.thin(most_sampled);
}

CallLog* CallLogs::log_of(const std::vector<int>& members) {
  const std::lock_guard lock(mutex_);
  const auto known = by_members_.find(members);
  if (known != by_members_.end()) return known->second;
  if (logs_.size() == most_groups) return nullptr;
  try {
    CallLog& log = logs_.emplace_back(members);
    by_members_.emplace(members, &log);
    return &log;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void CallLogs::add(CallLog* log, const CallLog::Key& key, CallLog::Bytes bytes,
                   const TimedCall& when) {
  if (log == nullptr) return;
  const std::lock_guard lock(mutex_);
  try {
    log->add(key, bytes, when);
  } catch (const std::bad_alloc&) {
    return;
  }
}

std::vector<GroupCalls> CallLogs::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<GroupCalls> groups;
  for (const CallLog& log : logs_) {
    if (!log.calls().kinds.empty()) groups.push_back(log.calls());
  }
  return groups;
}

namespace {

// Appends values in the format that only this version of huddle reads.
class Writer {
 public:
  template <class Value>
  void value(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  template <class Items>
  void items(const Items& items) {
    value(items.size());
    for (const auto& item : items) value(item);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads such values. Becomes invalid at the first one that is incomplete.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class Value>
  Value value() {
    Value value{};
    if (rest_.size() < sizeof(value)) {
      is_valid_ = false;
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof(value));
    rest_.remove_prefix(sizeof(value));
    return value;
  }
  template <class Items>
  void items(Items& items) {
    using Item = typename Items::value_type;
    const auto count = value<std::size_t>();
    if (count > rest_.size() / sizeof(Item)) {
      is_valid_ = false;
      return;
    }
    items.resize(count);
    for (Item& item : items) item = value<Item>();
  }
  bool is_valid() const { return is_valid_; }
  bool is_complete() const { return is_valid_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool is_valid_ = true;
};

void write(Writer& writer, const GroupCalls& group) {
  writer.items(group.members);
  writer.value(group.kinds.size());
  for (const CallKind& kind : group.kinds) {
    writer.value(kind.operation);
    writer.value(kind.why);
    writer.items(kind.how);
    writer.value(kind.size_class);
  }
  writer.items(group.sums);
  writer.value(group.stride);
  writer.items(group.sample);
}

GroupCalls read_group(Reader& reader) {
  GroupCalls group;
  reader.items(group.members);
  const auto kinds = reader.value<std::size_t>();
  for (std::size_t i = 0; i < kinds && reader.is_valid(); ++i) {
    CallKind& kind = group.kinds.emplace_back();
    kind.operation = reader.value<select::Operation>();
    kind.why = reader.value<FallbackReason>();
    reader.items(kind.how);
    kind.size_class = reader.value<std::size_t>();
  }
  reader.items(group.sums);
  group.stride = reader.value<std::uint64_t>();
  reader.items(group.sample);
  return group;
}

}  // namespace

std::string RankReport::bytes() const {
  Writer writer;
  writer.value(binding);
  writer.value(run_seconds);
  writer.value(groups.size());
  for (const GroupCalls& group : groups) write(writer, group);
  return writer.take();
}

std::optional<RankReport> rank_report_from(std::string_view bytes) {
  Reader reader(bytes);
  RankReport report;
  report.binding = reader.value<team::CpuBinding>();
  report.run_seconds = reader.value<double>();
  const auto groups = reader.value<std::size_t>();
  for (std::size_t i = 0; i < groups && reader.is_valid(); ++i) {
    report.groups.push_back(read_group(reader));
  }
  return reader.is_complete() ? std::optional(std::move(report)) : std::nullopt;
}

std::size_t sample_limit(int ranks) {
  return std::max(least_sampled_per_rank, most_sampled_in_job / static_cast<std::size_t>(ranks));
}

}  // namespace huddle::mpi
