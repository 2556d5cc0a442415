// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One run of a modelled job: the ranks' clocks, who goes on next, the lines of flags, and the
// copies that are under way.
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/context/fiber.h"
#include "simulate/protocols/model/figures.h"
#include "simulate/protocols/model/holdings.h"
#include "simulate/protocols/model/model_world.h"
#include "simulate/protocols/model/sharing.h"

namespace huddle::predict::model {

class Run {
 public:
  Run(const Job& job, const machine::CostModel& model);

  Outcome run();

  // What ModelWorld asks for.
  int ranks() const { return figures_.ranks(); }
  bool lets_reach() const { return job_.reachable; }
  void caller_read(int rank, world::Address place, std::size_t bytes);
  void meet(int rank);
  world::Sequence look(int rank, world::Address flag);
  void put(int rank, world::Address flag, world::Sequence value);
  world::Sequence change(int rank, world::Address flag, world::Sequence amount);
  // Until one of them holds; returns which.
  int await(int rank, std::span<const world::AwaitedFlag> awaited);
  // Joined: `left` is read as well, and the other is `from`.
  void copy(int rank, world::Address to, world::Address from, std::size_t bytes,
            memory::CopyKernel kernel, bool takes,
            std::optional<world::Address> left = std::nullopt);
  void copy_by_path(int rank, world::Address to, world::Address from, std::size_t bytes);
  void own(int rank, world::Address place, std::size_t bytes);
  void expose(int rank, world::Address at, world::Address what);
  world::Address exposed(int rank, world::Address at);

 private:
  // Thrown through a rank's frames when another one has failed.
  struct Abandoned {};

  // A line of flags, and whatever lies beside them.
  struct Line {
    std::array<world::Sequence, Holdings::line_bytes / sizeof(world::Sequence)> values{};
    int writer = -1;
    int writer_before = -1;
    std::vector<char> has;  // by rank: since it was last written
    double written_ns = 0;
    double writable_ns = 0;  // whoever takes it from its writer waits until then
    double readable_ns = 0;  // the next reader is served then
    std::vector<int> waiting;
  };

  // What a rank does between two looks at flags of which it has to wait for one, or two stores: it
  // goes on in one piece.
  struct Work {
    double alone_ns = 0;
    double bytes = 0;
    std::vector<Load> loads;
  };

  struct Rank {
    double clock_ns = 0;
    Work work;
    // Looks that follow each other overlap, also over stores and short copies: the processor looks
    // ahead. When the first one began.
    std::optional<double> looks_since_ns;
    std::vector<world::AwaitedFlag> awaited;  // while it waits
    double waits_since_ns = 0;
    bool has_begun = false;
    bool has_ended = false;
  };

  int live(int rank);
  Rank& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  Line& line(world::Address flag);
  static std::size_t slot(world::Address flag) {
    return flag.offset % Holdings::line_bytes / sizeof(world::Sequence);
  }
  bool is_held(const world::AwaitedFlag& one) {
    return one.until.holds(line(one.flag).values[slot(one.flag)]);
  }

  // Whose turn it is: of those that are ready and the copies that end, the earliest.
  int next();
  int next_to_leave() const;
  void give_way();
  // Until nobody is behind this rank's clock.
  void catch_up(int rank);
  void finish_work(int rank);
  double now_ns(int rank) { return of(rank).clock_ns + of(rank).work.alone_ns; }
  void take_over(int rank, Line& line);
  // When the rank has it, who asked for it at that time.
  double fetch_ns(int rank, Line& line, double asked_ns);
  void look_at(int rank, Line& line);
  void wake(Line& line);
  // The line of flags in which all of it lies, such as a payload that rides behind its flag.
  Line* line_around(world::Address place, std::size_t bytes);
  void find_read(int rank, world::Address place, std::size_t bytes,
                 std::vector<Holdings::Found>& found);
  void find_written(int rank, world::Address place, std::size_t bytes, memory::CopyKernel kernel,
                    std::vector<Holdings::Found>& found);
  void do_copy(int rank, int owner, memory::CopyKernel kernel);
  void add_load(int rank, int resource, double bytes);
  void count_lines(int from, int to, std::size_t lines) {
    lines_between_[static_cast<std::size_t>(from) * ranks_.size() + static_cast<std::size_t>(to)] +=
        lines;
  }
  void begin_report();
  void report_progress(double now_ns);
  std::string stalled_text();
  Outcome outcome();

  const Job& job_;
  Figures figures_;
  Holdings holdings_;
  Sharing sharing_;
  world::Fibers fibers_;
  std::vector<Rank> ranks_;
  std::set<std::pair<double, int>> ready_;
  std::vector<std::map<std::size_t, Line>> lines_;  // by owner, by number
  std::map<std::pair<int, std::size_t>, world::Address> exposed_;
  int met_ = 0;
  int meetings_ = 0;
  unsigned turns_ = 0;
  double origin_ns_ = 0;
  std::vector<std::size_t> lines_between_;
  std::vector<Span> spans_;
  std::vector<Holdings::Found> found_from_, found_to_, found_left_;
  std::exception_ptr error_;
};

}  // namespace huddle::predict::model
