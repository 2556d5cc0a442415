// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "contest/hold.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "calibrate/clock.h"
#include "calibrate/flag.h"
#include "calibrate/statistics.h"
#include "contest/gate.h"
#include "contest/judge.h"
#include "contest/rank_processes.h"
#include "contest/shared_pages.h"
#include "memory/page_buffer.h"
#include "team/context.h"

namespace huddle::contest {
namespace {

// Between two looks at how far the ranks are: often enough for a bar that moves, and seldom enough
// for whoever shares a processor with this one.
constexpr std::chrono::milliseconds between_looks{50};
// As much as a program that uses huddle may share.
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

// What the parent and the ranks tell each other.
struct Board {
  std::atomic<bool> stop{false};   // the parent's wish
  std::atomic<bool> go_on{true};   // the first rank's word, the same for all ranks
  std::atomic<int> turns_done{0};  // of all rounds
  std::atomic<int> rounds_done{0};
};

// What a rank leaves there for the first one.
struct alignas(calibrate::apart_bytes) Stretch {
  double begin_ns = 0;
  double end_ns = 0;
  long switched_away = 0;
};

// Everything that the processes of one contest share.
struct Common {
  explicit Common(const Contest& contest, int rounds)
      : gate_pages(sizeof(Gate)),
        gate(new (gate_pages.data()) Gate(contest.seating.ranks, contest.seating.crowded())),
        stretches(static_cast<std::size_t>(contest.seating.ranks)),
        figures(contest.entries.size() * static_cast<std::size_t>(rounds)),
        words(contest.entries.size()) {
    board.build();
    stretches.build();
    figures.build();
    words.build();
  }

  SharedPages gate_pages;
  Gate* gate;
  Shared<Board> board;
  Shared<Stretch> stretches;  // by rank
  Shared<double> figures;     // by round, then by entry
  Shared<Words> words;        // how each entry went about it
};

// A rank's own pages, from the system or from its heap.
class Pages {
 public:
  Pages(std::size_t bytes, memory::Heap* heap) : bytes_(bytes) {
    if (heap == nullptr) {
      own_ = memory::PageBuffer(bytes);
      data_ = own_.data();
    } else {
      data_ = static_cast<std::byte*>(heap->allocate(bytes, memory::page_bytes()));
      if (data_ == nullptr) throw FailureError("the heap has no room for a contest's buffers");
    }
    std::fill_n(data_, bytes, std::byte{0});
  }
  std::span<std::byte> bytes() const { return {data_, bytes_}; }

 private:
  memory::PageBuffer own_;
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

// One rank's part.
class Competitor {
 public:
  Competitor(const Contest& contest, const Terms& terms, const Common& common, team::Team& team,
             memory::Heap* heap)
      : contest_(contest),
        terms_(terms),
        common_(common),
        source_(contest.bytes, heap),
        target_(contest.bytes, heap),
        here_{team.rank(), team.ranks(), &team, source_.bytes(), target_.bytes(), heap} {}

  void compete() {
    for (const Entry& entry : contest_.entries) {
      entry.contender->set_up(here_);
      common_.gate->wait();
    }
    const long switches_before = involuntary_switches();
    const std::size_t entries = contest_.entries.size();
    for (int round = 0; round < terms_.rounds; ++round) {
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

  // All ranks get the same answer.
  bool goes_on() {
    if (is_first()) common_.board->go_on.store(!common_.board->stop.load());
    common_.gate->wait();
    return common_.board->go_on.load();
  }

  void take_turn(int round, std::size_t number) {
    const Entry& entry = contest_.entries[number];
    time_stretch(entry);  // the caches hold what the one before has left
    std::vector<double> ns;
    for (int i = 0; i < entry.stretches; ++i) ns.push_back(time_stretch(entry));
    if (!is_first()) return;
    const std::size_t row = static_cast<std::size_t>(round) * contest_.entries.size();
    common_.figures[row + number] = calibrate::median_of(ns);
    common_.board->turns_done.fetch_add(1);
  }

  // What a call took; on the first rank only.
  double time_stretch(const Entry& entry) {
    Stretch& mine = common_.stretches[here_.rank];
    ++here_.stamp;
    entry.contender->prepare(here_);
    common_.gate->wait();
    mine.begin_ns = calibrate::now_ns();
    entry.contender->run(here_, entry.calls);
    mine.end_ns = calibrate::now_ns();
    common_.gate->wait();
    const double ns = is_first() ? whole_ns() / entry.calls : 0;
    if (!entry.contender->is_right(here_)) {
      throw FailureError(fmt::format("{}: {}: the result is wrong", contest_.name, entry.name));
    }
    return ns;
  }

  double whole_ns() const {
    double begin_ns = common_.stretches[0].begin_ns;
    double end_ns = 0;
    for (int rank = 0; rank < here_.ranks; ++rank) {
      begin_ns = std::min(begin_ns, common_.stretches[rank].begin_ns);
      end_ns = std::max(end_ns, common_.stretches[rank].end_ns);
    }
    return end_ns - begin_ns;
  }

  void leave(long switches_before) {
    common_.stretches[here_.rank].switched_away = involuntary_switches() - switches_before;
    if (!is_first()) return;
    for (std::size_t i = 0; i < contest_.entries.size(); ++i) {
      write_down(common_.words[i], contest_.entries[i].contender->how(here_));
    }
  }

  const Contest& contest_;
  const Terms& terms_;
  const Common& common_;
  Pages source_;
  Pages target_;
  Here here_;
};

void wait_for(RankProcesses& ranks, const Contest& contest, const Terms& terms, Board& board,
              Watcher& watcher, const std::atomic<bool>& stop) {
  const double turns = static_cast<double>(contest.entries.size()) * terms.rounds;
  while (!ranks.wait(between_looks)) {
    if (stop.load()) board.stop.store(true);
    watcher.advance(board.turns_done.load() / turns);
  }
}

Result collect(const Contest& contest, const Common& common) {
  Result result{.name = contest.name,
                .seating = contest.seating,
                .bytes = contest.bytes,
                .rounds = common.board->rounds_done.load(),
                .entries = {},
                .verdicts = {}};
  const std::size_t entries = contest.entries.size();
  for (int rank = 0; rank < contest.seating.ranks; ++rank) {
    result.switched_away += common.stretches[rank].switched_away;
  }
  for (std::size_t i = 0; i < entries; ++i) {
    const Entry& entry = contest.entries[i];
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
  for (const Judgement& judgement : contest.judgements) {
    result.verdicts.push_back(judge(judgement, result.entries));
  }
  return result;
}

}  // namespace

Result hold(const Contest& contest, const Terms& terms, Watcher& watcher,
            const std::atomic<bool>& stop) {
  const Common common(contest, terms.rounds);
  RankProcesses ranks(contest.seating, [&](const team::Bootstrap& bootstrap) {
    team::ContextOptions options;
    options.machine = terms.machine;
    options.arena.cap_bytes = cap_bytes;
    std::optional<memory::Heap> heap;
    if (contest.in_heap) options.heap = heap.emplace(cap_bytes).facts();
    team::Context context(std::move(options));
    team::Team team(context, bootstrap);
    Competitor(contest, terms, common, team, heap ? &*heap : nullptr).compete();
  });
  wait_for(ranks, contest, terms, *common.board, watcher, stop);
  return collect(contest, common);
}

}  // namespace huddle::contest
