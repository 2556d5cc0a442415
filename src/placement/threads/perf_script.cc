// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/text.h"

namespace huddle::threads {
namespace {

constexpr std::size_t most_script_bytes = std::size_t{512} << 20U;
constexpr std::uint32_t script_page_bytes = 4096;
constexpr std::uint64_t most_process = std::uint64_t{1} << 22U;     // the kernel's limit
constexpr std::uint64_t most_processor = 1'000'000;                 // above any CPU number
constexpr std::uint64_t most_seconds = std::uint64_t{1} << 32U;     // above any uptime
constexpr std::uint64_t first_of_kernel = std::uint64_t{1} << 63U;  // kernel addresses start here
// Samples of further processes are dropped.
constexpr std::size_t most_processes = 4096;
// The interval at which huddle observes a running program.
constexpr std::uint64_t look_ns = 50'000'000;

struct ScriptSample {
  std::uint64_t time_ns = 0, address = 0, process = 0, thread = 0;
  int processor = 0;
  bool write = false;
  std::string_view command;
};

std::optional<std::uint64_t> number(std::string_view text, std::uint64_t most, int base = 10) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc() || stopped != end || value > most) return std::nullopt;
  return value;
}

// Parses "12.345678:" and returns nanoseconds.
std::optional<std::uint64_t> time_of(std::string_view word) {
  if (!word.ends_with(':')) return std::nullopt;
  word.remove_suffix(1);
  const std::size_t point = word.find('.');
  if (point == std::string_view::npos) return std::nullopt;
  const std::string_view digits = word.substr(point + 1);
  constexpr std::size_t most_digits = 9;
  if (digits.size() > most_digits) return std::nullopt;
  const auto seconds = number(word.substr(0, point), most_seconds);
  auto fraction = number(digits, 999'999'999);
  if (!seconds || !fraction) return std::nullopt;
  for (std::size_t i = digits.size(); i < most_digits; ++i) *fraction *= 10;
  return *seconds * 1'000'000'000 + *fraction;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(" \t\r"); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(" \t\r", end);
  }
  return words;
}

// Parses "4711/4713", or a thread id alone.
bool take_ids(std::string_view word, ScriptSample& sample) {
  const std::size_t slash = word.find('/');
  const auto process = number(word.substr(0, slash), most_process);
  const auto thread =
      slash == std::string_view::npos ? process : number(word.substr(slash + 1), most_process);
  if (!process || !thread) return false;
  // Without process ids, all samples count as those of one process.
  sample.process = slash == std::string_view::npos ? 0 : *process;
  sample.thread = *thread;
  return true;
}

// Returns nothing if the line is not a sample.
std::optional<ScriptSample> sample_of(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  ScriptSample sample;
  // A command name may contain blanks, so fields are found by their position relative to the time.
  std::size_t at = 1;
  std::optional<std::uint64_t> time;
  for (; at < words.size(); ++at) {
    time = time_of(words[at]);
    if (time) break;
  }
  if (!time) return std::nullopt;
  sample.time_ns = *time;
  std::size_t ids = at - 1;
  if (words[ids].starts_with('[') && words[ids].ends_with(']') && ids > 0) {
    const auto processor = number(words[ids].substr(1, words[ids].size() - 2), most_processor);
    if (!processor) return std::nullopt;
    sample.processor = static_cast<int>(*processor);
    --ids;
  }
  if (ids == 0 || !take_ids(words[ids], sample)) return std::nullopt;
  sample.command = words[0];
  // The period of the event may precede its name.
  ++at;
  if (at < words.size() && number(words[at], ~std::uint64_t{0})) ++at;
  if (at >= words.size() || !words[at].ends_with(':')) return std::nullopt;
  const std::string_view event = words[at];
  if (++at >= words.size()) return std::nullopt;
  const auto address = number(words[at], ~std::uint64_t{0}, 16);
  if (!address) return std::nullopt;
  sample.address = *address;
  const std::string_view source =
      line.substr(static_cast<std::size_t>(words[at].data() - line.data()));
  const bool is_load = source.find("|OP LOAD") != std::string_view::npos;
  const bool is_store = source.find("|OP STORE") != std::string_view::npos;
  sample.write = is_store || (!is_load && event.find("store") != std::string_view::npos);
  return sample;
}

// Converts samples, ordered by time, to touches and looks.
class Maker {
 public:
  PerfSamples take(const std::vector<ScriptSample>& samples, PerfSamples made) {
    const std::uint64_t start_ns = samples.empty() ? 0 : samples.front().time_ns;
    std::uint64_t next_look_ns = 0;
    for (const ScriptSample& sample : samples) {
      const std::uint64_t time_ns = sample.time_ns - start_ns;
      if (time_ns >= next_look_ns) {
        made.recording.events.emplace_back(look(time_ns));
        next_look_ns = time_ns + look_ns;
      }
      const auto process = processes_.emplace(sample.process, processes_.size()).first->second;
      const auto thread = thread_of(sample, made.recording);
      if (sample.address == 0 || sample.address >= first_of_kernel || !thread ||
          process >= most_processes) {
        ++made.other;
        continue;
      }
      // Distinguishes pages of different processes.
      made.recording.events.emplace_back(
          Touch{time_ns, *thread,
                sample.address / script_page_bytes + (static_cast<std::uint64_t>(process) << 52U),
                sample.write});
    }
    if (!samples.empty()) {
      made.recording.events.emplace_back(look(samples.back().time_ns - start_ns));
    }
    return made;
  }

 private:
  Look look(std::uint64_t time_ns) const { return {time_ns, uses_}; }
  std::optional<int> thread_of(const ScriptSample& sample, Recording& recording) {
    const auto [known, is_new] =
        threads_.emplace(std::pair(sample.process, sample.thread), static_cast<int>(uses_.size()));
    if (known->second >= most_threads) return std::nullopt;
    if (is_new) {
      uses_.push_back({known->second, 0, 0});
      recording.names.emplace_back(sample.command);
    }
    ThreadUse& use = uses_[static_cast<std::size_t>(known->second)];
    // Only the ratios between threads matter.
    constexpr std::uint64_t ns_a_sample = 1'000;
    use.cpu_ns += ns_a_sample;
    use.processor = sample.processor;
    return known->second;
  }

  std::map<std::uint64_t, std::size_t> processes_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> threads_;
  std::vector<ThreadUse> uses_;
};

}  // namespace

PerfSamples parse_perf_script(std::string_view text, const std::string& name) {
  PerfSamples made;
  made.recording.page_bytes = script_page_bytes;
  std::vector<ScriptSample> samples;
  std::size_t line_number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++line_number;
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || line[first] == '#') continue;
    if (const auto sample = sample_of(line)) {
      samples.push_back(*sample);
    } else {
      made.bad_lines.push_back(line_number);
    }
  }
  if (samples.empty()) {
    throw InputError(
        fmt::format("{}:{}: no sample of a memory access found; after perf mem record, print them "
                    "with perf script -F comm,pid,tid,cpu,time,event,addr,data_src",
                    name, made.bad_lines.empty() ? 1 : made.bad_lines.front()));
  }
  std::stable_sort(
      samples.begin(), samples.end(),
      [](const ScriptSample& a, const ScriptSample& b) { return a.time_ns < b.time_ns; });
  return Maker().take(samples, std::move(made));
}

PerfSamples read_perf_script(const std::string& path) {
  return parse_perf_script(read_text(path, most_script_bytes), path);
}

std::vector<std::string> notes_of(const PerfSamples& samples) {
  constexpr std::size_t most_named = 5;
  std::vector<std::string> notes;
  if (!samples.bad_lines.empty()) {
    std::string numbers;
    for (std::size_t i = 0; i < std::min(samples.bad_lines.size(), most_named); ++i) {
      numbers += fmt::format("{}{}", i == 0 ? "" : ", ", samples.bad_lines[i]);
    }
    if (samples.bad_lines.size() > most_named) numbers += ", ...";
    notes.push_back(fmt::format("ignored {} without a complete sample: {}",
                                counted(static_cast<long long>(samples.bad_lines.size()), "line"),
                                numbers));
  }
  if (samples.other > 0) {
    notes.push_back(fmt::format("ignored {} without an address in the program's own memory",
                                counted(static_cast<long long>(samples.other), "sample")));
  }
  return notes;
}

}  // namespace huddle::threads
