// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/system.h"
#include "common/text.h"

namespace huddle::threads {
namespace {

constexpr std::string_view head = "huddle-touches 1 page";

// The kernel limits the names of threads to 15 characters; a blank separates them.
constexpr std::size_t most_bytes_of_names = std::size_t{16} * most_threads + 16;
// Larger than any OS index.
constexpr std::uint64_t most_recorded_processor = 1'000'000;

// Names must not contain blanks, which end them.
std::string name_word(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '\n' || c == '\t'; }, '_');
  return name.empty() ? "?" : name;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Recording read() {
    Recording recording;
    if (!next_line() || !line_.starts_with(head)) {
      fail(
          "not a recording of huddle profile --record: its first line must be 'huddle-touches 1 "
          "page 4096'");
    }
    line_.remove_prefix(head.size());
    recording.page_bytes = static_cast<std::uint32_t>(number(1U << 30U));
    while (next_line()) take_line(recording);
    return recording;
  }

 private:
  bool next_line() {
    if (at_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    line_ = text_.substr(at_, end - at_);
    at_ = end + 1;
    ++number_;
    return true;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", name_, number_, what));
  }
  std::string_view word() {
    const std::size_t start = std::min(line_.find_first_not_of(' '), line_.size());
    const std::size_t end = std::min(line_.find(' ', start), line_.size());
    const std::string_view found = line_.substr(start, end - start);
    line_.remove_prefix(end);
    return found;
  }
  // Returns what follows the blank after a word.
  std::string_view rest_of_line() {
    const std::string_view rest = line_.substr(std::min<std::size_t>(line_.size(), 1));
    line_ = {};
    return rest;
  }
  std::uint64_t number_in(std::string_view text, std::uint64_t most, int base = 10) const {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value, base);
    if (text.empty() || error != std::errc() || stopped != end || value > most) {
      fail(fmt::format("'{}' is not a number from 0 to {}", printable(text), most));
    }
    return value;
  }
  std::uint64_t number(std::uint64_t most, int base = 10) { return number_in(word(), most, base); }
  std::uint64_t time() {
    const std::uint64_t time_ns = number(std::uint64_t{1} << 62U);
    if (time_ns < last_ns_) fail("the time is before that of the previous line");
    return last_ns_ = time_ns;
  }
  int thread_in(std::string_view text) const {
    return static_cast<int>(number_in(text, most_threads - 1));
  }

  void take_line(Recording& recording) {
    const std::string_view kind = word();
    if (kind == "names") {
      for (std::string_view name = word(); !name.empty(); name = word()) {
        recording.names.emplace_back(name);
      }
    } else if (kind == "rounds-of-pages") {
      recording.rounds = Rounds::of_pages;
    } else if (kind == "m") {
      recording.machine.append(rest_of_line()) += '\n';
    } else if (kind == "t") {
      recording.events.emplace_back(touch());
    } else if (kind == "r") {
      for (std::string_view one = word(); !one.empty(); one = word()) {
        reused_.push_back(thread_in(one));
      }
    } else if (kind == "l") {
      recording.events.emplace_back(look());
    } else if (!kind.empty()) {
      fail(fmt::format("a line must begin with names, rounds-of-pages, m, t, r or l, not '{}'",
                       printable(kind)));
    }
    if (!word().empty()) fail("unexpected text at the end of the line");
  }
  Touch touch() {
    Touch touch;
    touch.time_ns = time();
    touch.thread = thread_in(word());
    touch.page = number(~std::uint64_t{0}, 16);
    const std::string_view way = word();
    if (way != "w" && way != "r") fail("a line of an access (t) must end with w or r");
    touch.write = way == "w";
    return touch;
  }
  Look look() {
    Look look;
    look.time_ns = time();
    look.reused = std::exchange(reused_, {});
    for (std::string_view one = word(); !one.empty(); one = word()) {
      const std::vector<std::string_view> fields = split(one, ':');
      if (fields.size() != 3 && fields.size() != 4) {
        fail("a line of a snapshot (l) must contain THREAD:CPU_NS:HARDWARE_THREAD[:BYTES]");
      }
      constexpr std::uint64_t most = std::uint64_t{1} << 62U;
      look.threads.push_back({thread_in(fields[0]), number_in(fields[1], most),
                              static_cast<int>(number_in(fields[2], most_recorded_processor))});
      if (fields.size() == 4) look.threads.back().memory_bytes = number_in(fields[3], most);
    }
    return look;
  }

  std::string_view text_, line_;
  const std::string& name_;
  std::size_t at_ = 0;
  int number_ = 0;
  std::uint64_t last_ns_ = 0;
  std::vector<int> reused_;  // for the next look
};

// Returns the lines, without the empty one behind the last line break.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

void append(std::string& text, const Touch& touch) {
  fmt::format_to(std::back_inserter(text), "t {} {} {:x} {}\n", touch.time_ns, touch.thread,
                 touch.page, touch.write ? 'w' : 'r');
}

void append(std::string& text, const Look& look) {
  if (!look.reused.empty()) {
    fmt::format_to(std::back_inserter(text), "r {}\n", fmt::join(look.reused, " "));
  }
  fmt::format_to(std::back_inserter(text), "l {}", look.time_ns);
  for (const ThreadUse& use : look.threads) {
    fmt::format_to(std::back_inserter(text), " {}:{}:{}", use.thread, use.cpu_ns, use.processor);
    if (use.memory_bytes) fmt::format_to(std::back_inserter(text), ":{}", *use.memory_bytes);
  }
  text += '\n';
}

}  // namespace

RecordingWriter::RecordingWriter(const Recording& start, std::size_t most_bytes)
    : text_(fmt::format("{} {}\n", head, start.page_bytes)),
      names_at_(text_.size()),
      most_bytes_(most_bytes - std::min(most_bytes, most_bytes_of_names)) {
  if (start.rounds == Rounds::of_pages) text_ += "rounds-of-pages\n";
  for (const std::string_view line : lines_of(start.machine)) text_ += fmt::format("m {}\n", line);
  for (const auto& event : start.events) {
    std::visit([this](const auto& one) { take(one); }, event);
  }
}

template <typename Event>
void RecordingWriter::append_if_it_fits(const Event& event) {
  if (cut_ns_) return;
  const std::size_t before = text_.size();
  append(text_, event);
  if (text_.size() <= most_bytes_) return;
  text_.resize(before);
  cut_ns_ = event.time_ns;
}

void RecordingWriter::take(const Touch& touch) { append_if_it_fits(touch); }
void RecordingWriter::take(const Look& look) { append_if_it_fits(look); }

std::string RecordingWriter::text(const std::vector<std::string>& names) && {
  std::string line = "names";
  for (const std::string& name : names) line += " " + name_word(name);
  text_.insert(names_at_, line + '\n');
  return std::move(text_);
}

std::string format_recording(const Recording& recording) {
  return RecordingWriter(recording, std::numeric_limits<std::size_t>::max()).text(recording.names);
}

Recording read_recording(const std::string& path) {
  return parse_recording(read_text(path, most_recording_bytes), path);
}

Recording parse_recording(std::string_view text, const std::string& name) {
  return Reader(text, name).read();
}

}  // namespace huddle::threads
