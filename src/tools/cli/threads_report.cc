// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/thread_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/arithmetic.h"
#include "common/text.h"
#include "tools/cli/terminal_text.h"

namespace huddle::cli {
namespace {

// The events of each pair of threads.
class Square {
 public:
  explicit Square(const mapping::Graph& counts)
      : side_(at(counts.size())), cells_(side_ * side_, 0) {
    for (int v = 0; v < counts.size(); ++v) {
      const mapping::Graph::Row row = counts.row(v);
      for (std::size_t i = 0; i < row.size(); ++i) {
        cells_[at(v) * side_ + at(row.neighbours[i])] = row.bytes[i];
        most_ = std::max(most_, row.bytes[i]);
      }
    }
  }
  double at_cell(std::size_t row, std::size_t column) const { return cells_[row * side_ + column]; }
  double most() const { return most_; }
  // Returns the smallest number that is drawn. Values below a hundredth of the maximum are noise or
  // belong to the start of the program.
  double least() const { return std::max(std::ceil(most_ / 100), 1.0); }

 private:
  std::size_t side_;
  std::vector<double> cells_;
  double most_ = 0;
};

std::string whole_text(double events) { return fmt::format("{:.0f}", std::floor(events)); }

// Returns the number of samples, the scale of the picture, and a warning if they show nothing.
std::string scale_text(const mapping::CommMatrix& matrix, const Shading& shading, double least,
                       const Console& console) {
  const std::string blank =
      least > 1 ? fmt::format("fewer than {}", whole_text(least)) : std::string("none");
  const std::string threads = counted(matrix.size(), mapping::element_word(matrix.kind));
  const std::string why_not = finding_text(*matrix.events, threads, mapping::EvidenceLimits());
  const std::string total = counted(std::llround(matrix.events->total()), "sampled event");
  return wrap("",
              fmt::format("{} (a page that one thread accessed after another); of each pair: {}",
                          total, shading.legend(blank, whole_text)),
              2, console.columns) +
         (why_not.empty() ? "" : wrap("note: ", why_not, 6, console.columns));
}

// Returns for example "threads 0-1, 2-3 and 4 more pairs". Leaves out rare pairs, for example with
// the thread that initialized the memory, and pairs that would make the line too long.
std::string pairs_text(const threads::SharedRange& range) {
  constexpr std::size_t most_pairs = 4;
  constexpr std::uint64_t rare = 10;  // a pair with less than a tenth of the events is rare
  const std::vector<threads::PairEvents>& pairs = range.pairs;
  std::string text = "threads ";
  std::size_t named = 0;
  std::uint64_t counted_events = 0;
  for (const threads::PairEvents& pair : pairs) counted_events += pair.events;
  for (; named < std::min(pairs.size(), most_pairs); ++named) {
    const threads::PairEvents& pair = pairs[named];
    if (pair.events * rare < range.events) break;
    text += fmt::format("{}{}-{}", named == 0 ? "" : ", ", pair.a, pair.b);
  }
  if (named == 0) return "many pairs of threads";
  if (counted_events < range.events) return text + " and others";
  if (named == pairs.size()) return text;
  return text + " and " + counted(static_cast<long long>(pairs.size() - named), "more pair");
}

// Returns the variables and the mapping that contain the range.
std::string owner_text(const threads::SharedRange& range) {
  if (!range.mapping) return "memory whose mapping is not known";
  if (range.mapping->empty()) return "anonymous memory";
  // This is how the kernel lists a shared mapping without a file.
  if (range.mapping->starts_with("/dev/zero")) return "anonymous shared memory";
  const std::string file = printable(range.mapping->substr(range.mapping->rfind('/') + 1));
  std::string symbols;
  for (const std::string& symbol : range.symbols) {
    symbols += (symbols.empty() ? "" : ", ") + printable(symbol);
  }
  return symbols.empty() ? file : symbols + " in " + file;
}

std::string shared_range_text(const threads::SharedRange& range) {
  return fmt::format("{}: {}, {} at 0x{:x}", pairs_text(range), owner_text(range),
                     size_text(static_cast<double>(range.addresses.bytes())),
                     range.addresses.start);
}

}  // namespace

mapping::CommMatrix threads_matrix(const threads::Agent& agent, const std::vector<int>& threads,
                                   const std::vector<std::string>& names,
                                   std::uint32_t page_bytes) {
  mapping::CommMatrix matrix;
  matrix.kind = mapping::Kind::threads;
  for (const int thread : threads) {
    if (at(thread) < names.size()) matrix.names.push_back(names[at(thread)]);
  }
  if (matrix.names.size() != threads.size()) matrix.names.clear();
  matrix.events = agent.whole_events(threads);
  matrix.graph = matrix.events->counts;
  for (double& bytes : matrix.graph.bytes) bytes *= page_bytes;
  matrix.memory = agent.whole_traffic(threads);
  return matrix;
}

std::string sharing_text(const mapping::CommMatrix& matrix, std::span<const int> threads,
                         const Console& console) {
  constexpr int columns_a_cell = 3, label = 6;
  const int fitting = std::max((console.columns - label) / columns_a_cell, 2);
  const int side = std::min(matrix.size(), fitting);
  const Square square(matrix.events->counts);
  const mapping::Finding finding = examine(*matrix.events, mapping::EvidenceLimits());
  const Shading shading({.least = std::min(square.least(), square.most()),
                         .most = square.most(),
                         .pale = finding != mapping::Finding::sufficient,
                         .unicode = console.unicode});
  std::string text = spaces(label);
  for (int column = 0; column < side; ++column) {
    text += fmt::format(" {:>2}", threads[at(column)] % 100);
  }
  text += '\n';
  for (int row = 0; row < side; ++row) {
    text += fmt::format("{:>{}}", threads[at(row)], label);
    for (int column = 0; column < side; ++column) {
      text += ' ';
      text += row == column ? "  " : shading.of(square.at_cell(at(row), at(column)));
    }
    text += '\n';
  }
  if (side < matrix.size()) {
    text += fmt::format("  ... and {} more threads\n", matrix.size() - side);
  }
  return text + scale_text(matrix, shading, square.least(), console);
}

std::string memory_text(const threads::SharedMemory& memory, const Console& console) {
  constexpr int hang = 9;
  const auto percent = [&memory](std::uint64_t events) {
    return std::lround(100 * static_cast<double>(events) / static_cast<double>(memory.events));
  };
  std::uint64_t left = memory.events;
  std::string text;
  for (const threads::SharedRange& range : memory.ranges) {
    if (percent(range.events) == 0) break;
    text += wrap(fmt::format("  {:3} %  ", percent(range.events)), shared_range_text(range), hang,
                 console.columns);
    left -= range.events;
  }
  if (percent(left) > 0) text += fmt::format("  {:3} %  all other memory\n", percent(left));
  return text;
}

std::string decisions_text(const std::vector<threads::Decision>& decisions,
                           const Console& console) {
  std::string text;
  for (std::size_t i = 0; i < decisions.size();) {
    std::size_t last = i;
    while (last + 1 < decisions.size() && decisions[last + 1].reason == decisions[i].reason) ++last;
    const double from_s = static_cast<double>(decisions[i].time_ns) * 1e-9;
    const double to_s = static_cast<double>(decisions[last].time_ns) * 1e-9;
    const std::string times = last == i ? fmt::format("{:.2f} s", from_s)
                                        : fmt::format("{:.2f} to {:.2f} s", from_s, to_s);
    const std::string often =
        last == i ? "" : fmt::format(" ({} times)", static_cast<int>(last - i + 1));
    text += wrap(padded(times, 16) + "  ", text_of(decisions[last]) + often, 18, console.columns);
    i = last + 1;
  }
  return text;
}

std::string playback_text(const threads::Playback& playback, const Console& console) {
  if (playback.standing.empty()) {
    return wrap("",
                "nothing to compare: fewer than two active threads, or more than hardware threads",
                0, console.columns);
  }
  const double by_number = playback.standing_ns("order");
  const auto row = [by_number](std::string_view name, double ns) {
    const std::string ratio = by_number > 0 ? fmt::format("{:.2f}", ns / by_number) : "-";
    return fmt::format("  {:<8}  {:>8}  {:>5}\n", name, time_text(ns), ratio);
  };
  std::string text;
  for (const threads::PlacementTime& one : playback.standing) text += row(one.name, one.ns);
  text += row("huddle", playback.settled_ns);
  return text +
         wrap(
             "  ",
             fmt::format(
                 "huddle: starts with {}; {}, which {} {}; the time is that of the final placement",
                 threads::start_names[at(static_cast<int>(playback.start))],
                 counted(playback.moves, "move"), playback.moves == 1 ? "costs" : "cost",
                 time_text(playback.moving_ns)),
             2, console.columns);
}

std::string threads_text(const ThreadsSubject& subject, const Console& console) {
  std::string text = fmt::format(
      "{}: {} active, {} accesses to pages observed\n"
      "{}\n",
      subject.title, counted(static_cast<long long>(subject.threads.size()), "thread"),
      subject.touches, subject.machine);
  for (const std::string& note : subject.notes) text += wrap("note: ", note, 6, console.columns);
  if (subject.unobserved) {
    text += wrap("note: ", unobserved_text(*subject.unobserved), 6, console.columns);
  }
  if (subject.threads.size() > 1 && total_bytes(subject.matrix.graph) > 0) {
    text +=
        "\n"
        "threads that share pages, by thread number\n" +
        sharing_text(subject.matrix, subject.threads, console);
    if (!subject.memory.ranges.empty()) {
      text +=
          "\n"
          "memory whose pages passed between threads most often\n" +
          memory_text(subject.memory, console);
    }
  } else if (subject.threads.size() > 1) {
    text +=
        "\n"
        "no page was accessed by two threads\n";
  }
  if (!subject.decisions.empty()) {
    text += std::string(subject.moves ? "\n"
                                        "decisions\n"
                                      : "\n"
                                        "decisions that would have been taken\n") +
            decisions_text(subject.decisions, console);
  }
  if (subject.playback) {
    text +=
        "\n"
        "predicted communication time, and its ratio to the placement by number\n" +
        playback_text(*subject.playback, console);
  }
  return text;
}

std::string unobserved_text(const threads::Unobserved& unobserved) {
  const auto amount = [&unobserved](std::uint64_t threads::MemoryCensus::*bytes) -> std::string {
    if (!unobserved.memory) return "an unknown amount, because the program ended too soon";
    const std::uint64_t found = *unobserved.memory.*bytes;
    return found == 0 ? "none" : size_text(static_cast<double>(found));
  };
  const std::string reads =
      unobserved.reads
          ? "reads of all memory (" + amount(&threads::MemoryCensus::resident_bytes) +
                "; --allow-sysctl observes some of them)"
          : "most reads of all memory (" + amount(&threads::MemoryCensus::resident_bytes) + ")";
  return fmt::format(
      "not observed: {}; shared mappings of files ({}); huge pages ({}{}){}", reads,
      amount(&threads::MemoryCensus::shared_bytes), amount(&threads::MemoryCensus::huge_bytes),
      unobserved.splits_huge ? ", except those that were split"
                             : "; --split-huge-pages splits them",
      unobserved.traffic ? "; memory traffic (the processor's counters are not available)" : "");
}

std::string cost_text(const threads::Watched& watched) {
  const threads::Spent& spent = watched.spent;
  if (spent.faults == 0) return "";
  return fmt::format(
      "observation took {:.1f} % of {:.2f} s of CPU time: {} induced page faults of {} each, and "
      "{} in huddle itself",
      100 * spent.cost_s(watched.fault_s) / spent.program_s, spent.program_s, spent.faults,
      time_text(watched.fault_s * 1e9), time_text(spent.agent_s * 1e9));
}

}  // namespace huddle::cli
