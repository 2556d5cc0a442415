// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/bench/engine/run_comparison.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <string_view>

#include "common/arithmetic.h"
#include "common/error.h"
#include "runtime/memory/page_buffer.h"
#include "runtime/team/team_context.h"
#include "tools/bench/engine/rank_processes.h"
#include "tools/bench/harness/harness.h"
#include "tools/calibrate/pinned_threads.h"
#include "tools/calibrate/sampling.h"
#include "tools/calibrate/statistics.h"

namespace huddle::bench {
namespace {

double ratio(const Requirement& judgement, double subject_ns, double rival_ns) {
  switch (judgement.bar.kind) {
    case Bar::Kind::time_at_most:
      return subject_ns / rival_ns;
    case Bar::Kind::rate_at_least:
      return judgement.subject_bytes / subject_ns / (judgement.rival_bytes / rival_ns);
  }
  return 0;
}

bool holds(const Bar& bar, double ratio) {
  switch (bar.kind) {
    case Bar::Kind::time_at_most:
      return ratio <= bar.limit;
    case Bar::Kind::rate_at_least:
      return ratio >= bar.limit;
  }
  return false;
}

}  // namespace

Verdict judge(const Requirement& judgement, const std::vector<EntryResult>& entries) {
  const auto median = [&](std::size_t entry) { return median_of(entries[entry].ns); };
  Verdict verdict{.what = judgement.what,
                  .subject = judgement.subject,
                  .rival = *std::min_element(
                      judgement.rivals.begin(), judgement.rivals.end(),
                      [&](std::size_t a, std::size_t b) { return median(a) < median(b); }),
                  .bar = judgement.bar,
                  .subject_bytes = judgement.subject_bytes,
                  .rival_bytes = judgement.rival_bytes,
                  .ratios = {}};
  const auto& subject_ns = entries[verdict.subject].ns;
  const auto& rival_ns = entries[verdict.rival].ns;
  for (std::size_t round = 0; round < subject_ns.size(); ++round) {
    verdict.ratios.push_back(ratio(judgement, subject_ns[round], rival_ns[round]));
  }
  const calibrate::Summary summary = calibrate::summarize(verdict.ratios);
  verdict.median = summary.median;
  verdict.spread = summary.spread;
  verdict.holds = holds(verdict.bar, verdict.median);
  return verdict;
}

namespace {

// Time between two checks of the ranks' progress: short enough for a progress bar, long enough not
// to disturb a rank that shares a hardware thread with this process.
constexpr std::chrono::milliseconds between_looks{50};
// Limit for shared memory, the same as for a program that uses huddle.
constexpr std::size_t cap_bytes = std::size_t{1} << 30;

long involuntary_switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

using Words = std::array<char, 256>;

void write_down(Words& place, std::string_view words) {
  place.fill('\0');
  std::copy_n(words.begin(), std::min(words.size(), place.size() - 1), place.begin());
}

// Flags in shared memory through which the parent and the ranks communicate.
struct Board {
  std::atomic<bool> stop{false};   // set by the parent
  std::atomic<bool> go_on{true};   // set by rank 0 for all ranks
  std::atomic<int> turns_done{0};  // of all rounds
  std::atomic<int> rounds_done{0};
};

// Start and end of a stretch on one rank, which rank 0 reads.
struct alignas(calibrate::false_sharing_bytes) Stretch {
  double begin_ns = 0;
  double end_ns = 0;
  long switched_away = 0;
};

// The shared memory of the processes of one comparison.
struct Common {
  explicit Common(const Comparison& comparison, int rounds)
      : barrier_pages(sizeof(HarnessBarrier)),
        barrier(new (barrier_pages.data())
                    HarnessBarrier(comparison.binding.ranks, comparison.binding.oversubscribed())),
        stretches(static_cast<std::size_t>(comparison.binding.ranks)),
        figures(comparison.entries.size() * static_cast<std::size_t>(rounds)),
        words(comparison.entries.size()) {
    board.build();
    stretches.build();
    figures.build();
    words.build();
  }

  SharedPages barrier_pages;
  HarnessBarrier* barrier;
  Shared<Board> board;
  Shared<Stretch> stretches;  // by rank
  Shared<double> figures;     // times in ns, by round, then by entry
  Shared<Words> words;        // description of each entry's algorithm
};

// A buffer of a rank, from the system or from the rank's heap.
class Pages {
 public:
  Pages(std::size_t bytes, memory::Heap* heap) : bytes_(bytes) {
    if (heap == nullptr) {
      own_ = memory::PageBuffer(bytes);
      data_ = own_.data();
    } else {
      data_ = static_cast<std::byte*>(heap->allocate(bytes, memory::page_bytes()));
      if (data_ == nullptr)
        throw FailureError("the heap is too small for the buffers of a comparison");
    }
    std::fill_n(data_, bytes, std::byte{0});
  }
  std::span<std::byte> bytes() const { return {data_, bytes_}; }

 private:
  memory::PageBuffer own_;
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

// Runs one rank's part of a comparison.
class RankRun {
 public:
  RankRun(const Comparison& comparison, const RunOptions& options, const Common& common,
          team::Team& team, memory::Heap* heap)
      : comparison_(comparison),
        options_(options),
        common_(common),
        source_(comparison.bytes, heap),
        target_(comparison.bytes, heap),
        here_{team.rank(), team.ranks(), &team, source_.bytes(), target_.bytes(), heap} {}

  void run_all() {
    for (const Entry& entry : comparison_.entries) {
      entry.implementation->set_up(here_);
      common_.barrier->wait();
    }
    const long switches_before = involuntary_switches();
    const std::size_t entries = comparison_.entries.size();
    for (int round = 0; round < options_.rounds; ++round) {
      for (std::size_t turn = 0; turn < entries; ++turn) {
        if (!goes_on()) return leave(switches_before);
        take_turn(round, (turn + static_cast<std::size_t>(round)) % entries);
      }
      if (is_first()) common_.board->rounds_done.store(round + 1);
    }
    leave(switches_before);
  }

 private:
  bool is_first() const { return here_.rank == 0; }

  // Returns false once a stop is requested. All ranks get the same value.
  bool goes_on() {
    if (is_first()) common_.board->go_on.store(!common_.board->stop.load());
    common_.barrier->wait();
    return common_.board->go_on.load();
  }

  void take_turn(int round, std::size_t number) {
    const Entry& entry = comparison_.entries[number];
    time_stretch(entry);  // evicts what the previous entry has left in the caches
    std::vector<double> ns;
    for (int i = 0; i < entry.stretches; ++i) ns.push_back(time_stretch(entry));
    if (!is_first()) return;
    const std::size_t row = static_cast<std::size_t>(round) * comparison_.entries.size();
    common_.figures[row + number] = median_of(ns);
    common_.board->turns_done.fetch_add(1);
  }

  // Times a stretch and checks its results. Returns the time per call on rank 0, and 0 on other
  // ranks.
  double time_stretch(const Entry& entry) {
    Stretch& mine = common_.stretches[here_.rank];
    ++here_.stamp;
    entry.implementation->prepare(here_);
    common_.barrier->wait();
    mine.begin_ns = calibrate::now_ns();
    entry.implementation->run(here_, entry.calls);
    mine.end_ns = calibrate::now_ns();
    common_.barrier->wait();
    const double ns = is_first() ? whole_ns() / entry.calls : 0;
    if (!entry.implementation->is_right(here_)) {
      throw FailureError(fmt::format("{}: {}: the result is wrong", comparison_.name, entry.name));
    }
    return ns;
  }

  // Returns the time from the start of the last rank until the return of the last rank.
  double whole_ns() const {
    double begin_ns = 0;
    double end_ns = 0;
    for (int rank = 0; rank < here_.ranks; ++rank) {
      begin_ns = std::max(begin_ns, common_.stretches[rank].begin_ns);
      end_ns = std::max(end_ns, common_.stretches[rank].end_ns);
    }
    return end_ns - begin_ns;
  }

  void leave(long switches_before) {
    common_.stretches[here_.rank].switched_away = involuntary_switches() - switches_before;
    if (!is_first()) return;
    for (std::size_t i = 0; i < comparison_.entries.size(); ++i) {
      write_down(common_.words[i], comparison_.entries[i].implementation->how(here_));
    }
  }

  const Comparison& comparison_;
  const RunOptions& options_;
  const Common& common_;
  Pages source_;
  Pages target_;
  RankContext here_;
};

void wait_for(RankProcesses& ranks, const Comparison& comparison, const RunOptions& options,
              Board& board, ComparisonWatcher& watcher, const std::atomic<bool>& stop) {
  const double turns = static_cast<double>(comparison.entries.size()) * options.rounds;
  while (!ranks.wait(between_looks)) {
    if (stop.load()) board.stop.store(true);
    watcher.advance(board.turns_done.load() / turns);
  }
}

Result collect(const Comparison& comparison, const Common& common) {
  Result result{.name = comparison.name,
                .binding = comparison.binding,
                .bytes = comparison.bytes,
                .rounds = common.board->rounds_done.load(),
                .entries = {},
                .verdicts = {}};
  const std::size_t entries = comparison.entries.size();
  for (int rank = 0; rank < comparison.binding.ranks; ++rank) {
    result.switched_away += common.stretches[rank].switched_away;
  }
  for (std::size_t i = 0; i < entries; ++i) {
    const Entry& entry = comparison.entries[i];
    EntryResult one{.name = entry.name,
                    .how = common.words[i].data(),
                    .bare = entry.bare,
                    .calls = entry.calls,
                    .stretches = entry.stretches,
                    .predicted_ns = entry.predicted_ns,
                    .ns = {}};
    for (int round = 0; round < result.rounds; ++round) {
      one.ns.push_back(common.figures[static_cast<std::size_t>(round) * entries + i]);
    }
    result.entries.push_back(std::move(one));
  }
  if (result.rounds == 0) return result;
  for (const Requirement& judgement : comparison.judgements) {
    result.verdicts.push_back(judge(judgement, result.entries));
  }
  return result;
}

}  // namespace

Result run_comparison(const Comparison& comparison, const RunOptions& options,
                      ComparisonWatcher& watcher, const std::atomic<bool>& stop) {
  const Common common(comparison, options.rounds);
  RankProcesses ranks(comparison.binding, [&](const team::Bootstrap& bootstrap) {
    team::ContextOptions of_team;
    of_team.machine = options.machine;
    of_team.arena.cap_bytes = cap_bytes;
    std::optional<memory::Heap> heap;
    if (comparison.in_heap) of_team.heap = heap.emplace(cap_bytes).facts();
    team::Context context(std::move(of_team));
    team::Team team(context, bootstrap);
    RankRun(comparison, options, common, team, heap ? &*heap : nullptr).run_all();
  });
  wait_for(ranks, comparison, options, *common.board, watcher, stop);
  return collect(comparison, common);
}

}  // namespace huddle::bench
