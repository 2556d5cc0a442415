// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A run of a simulated job: the ranks' clocks, their scheduling, the cache lines of flags, and the
// copies in progress.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/context/context.h"
#include "runtime/context/fiber.h"
#include "simulate/protocols/model/figures.h"
#include "simulate/protocols/model/simulated_context.h"

namespace huddle::protocols::model {

// Tracks which caches hold which lines of the ranks' data, without their contents and in ranges
// instead of single lines. Caches are finite and evict in FIFO order; a range leaves each cache
// independently.
class CacheContents {
 public:
  static constexpr std::size_t line_bytes = 64;

  explicit CacheContents(const Figures& figures);

  // A part of a range, and where it was found.
  struct Found {
    std::size_t bytes = 0;
    Side side;
  };
  // read() and write() call count(writer, lines) for lines that the rank gets from another writer,
  // and append the parts of the range to `found` in order. The sizes of the parts add up to
  // `bytes`, although caches hold whole lines.
  template <class Count>
  void read(int rank, context::Address place, std::size_t bytes, std::vector<Found>& found,
            Count count);
  // If `past` is true, the stores are non-temporal.
  template <class Count>
  void write(int rank, context::Address place, std::size_t bytes, bool past, bool by_pages,
             std::vector<Found>& found, Count count);
  // Makes the lines exclusive to this rank, as if it had just written them.
  void own(int rank, context::Address place, std::size_t bytes);

 private:
  struct Holder {
    int cache = 0;
    std::uint64_t until = 0;  // evicted once the cache has taken in this many bytes
  };
  struct Piece {
    std::int64_t end = 0;  // the line after its last
    int writer = -1;
    std::vector<std::uint64_t> readers;  // ranks that have read it since it was written
    std::vector<Holder> holders;
  };
  using Pieces = std::map<std::int64_t, Piece>;  // by first line; no gaps in accessed places

  Pieces& pieces_of(context::Address place) {
    return pieces_[static_cast<std::size_t>(place.owner()) * 4 +
                   static_cast<std::size_t>(place.region())];
  }
  // Calls visit(bytes, first line, piece) for all pieces of the range, cut at its ends.
  template <class Visit>
  void each(context::Address place, std::size_t bytes, Visit visit);
  static Pieces::iterator cut(Pieces& pieces, std::int64_t line);

  bool is_in(const Holder& holder) const {
    return holder.until > taken_in_[static_cast<std::size_t>(holder.cache)];
  }
  bool has(const Piece& piece, int cache) const;
  // Returns the index of the innermost of the rank's caches that holds the piece; -1 if none does.
  int own_cache_with(const Piece& piece, int rank) const;
  // Returns whether another rank wrote the piece and holds it in a cache that it does not share
  // with this rank, which has not read it since.
  bool is_still_with_writer(const Piece& piece, int rank) const {
    if (piece.writer < 0 || piece.writer == rank || has_had(piece, rank)) return false;
    const auto& theirs = figures_.caches_of(piece.writer);
    return !theirs.empty() && has(piece, theirs.front());
  }
  // Returns the nearest or farthest rank that holds the piece in a cache that this rank does not
  // use; -1 if there is none.
  int peer_with(const Piece& piece, int rank, bool nearest) const;
  void take_in(Piece& piece, int rank, std::uint64_t bytes);
  bool has_had(const Piece& piece, int rank) const {
    const auto i = static_cast<std::size_t>(rank);
    return i / 64 < piece.readers.size() && (piece.readers[i / 64] >> (i % 64) & 1U) != 0;
  }
  void note(Piece& piece, int rank) const {
    const auto i = static_cast<std::size_t>(rank);
    if (piece.readers.empty()) {
      piece.readers.resize((static_cast<std::size_t>(figures_.ranks()) + 63) / 64);
    }
    piece.readers[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  void note_written(Piece& piece, int rank) const {
    piece.writer = rank;
    piece.readers.clear();
    note(piece, rank);
  }
  // Removes the piece from all caches that this rank does not use.
  // Requires: this rank has written it.
  void keep_alone(std::int64_t first, Piece& piece, int rank);
  static std::size_t lines_bytes(std::int64_t first, const Piece& piece) {
    return static_cast<std::size_t>(piece.end - first) * line_bytes;
  }

  const Figures& figures_;
  std::vector<Pieces> pieces_;           // indexed by owner and region
  std::vector<std::uint64_t> taken_in_;  // by cache: bytes so far
};

template <class Visit>
void CacheContents::each(context::Address place, std::size_t bytes, Visit visit) {
  if (bytes == 0) return;
  constexpr auto line_size = static_cast<std::int64_t>(line_bytes);
  const auto line = [](std::int64_t at) {
    return (at >= 0 ? at : at - (line_size - 1)) / line_size;
  };
  const auto first_byte = static_cast<std::int64_t>(place.offset);
  const auto end_byte = first_byte + static_cast<std::int64_t>(bytes);
  const std::int64_t first = line(first_byte);
  const std::int64_t end = line(end_byte - 1) + 1;
  Pieces& pieces = pieces_of(place);
  auto at = cut(pieces, first);
  std::int64_t next = first;
  while (next < end) {
    if (at == pieces.end() || at->first > next) {
      const std::int64_t stop = at == pieces.end() ? end : std::min(end, at->first);
      at = pieces.emplace_hint(at, next, Piece{stop, -1, {}, {}});
    } else if (at->second.end > end) {
      cut(pieces, end);
    }
    const std::int64_t stop = at->second.end;
    const std::int64_t from = std::max(first_byte, next * line_size);
    const std::int64_t to = std::min(end_byte, stop * line_size);
    visit(static_cast<std::size_t>(to - from), at->first, at->second);
    next = stop;
    ++at;
  }
}

template <class Count>
void CacheContents::read(int rank, context::Address place, std::size_t bytes,
                         std::vector<Found>& found, Count count) {
  each(place, bytes, [&](std::size_t n, std::int64_t first, Piece& piece) {
    const int own = own_cache_with(piece, rank);
    Side side{Side::Where::own_cache, own, {}};
    if (is_still_with_writer(piece, rank)) {
      side = {Side::Where::peer_cache, piece.writer, machine::HandoffKind::read_dirty};
    } else if (own < 0) {
      const int peer = peer_with(piece, rank, true);
      side = peer >= 0 ? Side{Side::Where::peer_cache, peer, machine::HandoffKind::read_dirty}
                       : Side{Side::Where::memory, place.owner(), {}};
    }
    if (!has_had(piece, rank)) {
      if (piece.writer >= 0) {
        count(piece.writer, static_cast<std::size_t>(piece.end - first));
      }
      note(piece, rank);
    }
    take_in(piece, rank, lines_bytes(first, piece));
    found.push_back({n, side});
  });
}

template <class Count>
void CacheContents::write(int rank, context::Address place, std::size_t bytes, bool past,
                          bool by_pages, std::vector<Found>& found, Count count) {
  using machine::HandoffKind;
  each(place, bytes, [&](std::size_t n, std::int64_t first, Piece& piece) {
    const int own = own_cache_with(piece, rank);
    const int peer = peer_with(piece, rank, false);
    Side side{Side::Where::memory, place.owner(), {}};
    if (peer >= 0) {
      HandoffKind manner = HandoffKind::write_cached;
      if (piece.writer != rank && own >= 0) manner = HandoffKind::write_ping_pong;
      if (piece.writer == peer && own < 0) manner = HandoffKind::write_reader_owned;
      if (by_pages) manner = HandoffKind::write_interleaved;
      if (past) manner = HandoffKind::write_cached_nontemporal;
      side = {Side::Where::peer_cache, peer, manner};
    } else if (own >= 0 && !past) {
      side = {Side::Where::own_cache, own, {}};
    }
    if (!has_had(piece, rank) && piece.writer >= 0) {
      count(piece.writer, static_cast<std::size_t>(piece.end - first));
    }
    note_written(piece, rank);
    if (past) {
      piece.holders.clear();
    } else {
      keep_alone(first, piece, rank);
    }
    found.push_back({n, side});
  });
}

class Run {
 public:
  Run(const Job& job, const machine::CostModel& model);

  Outcome run();

  // Called by SimulatedContext.
  int ranks() const { return figures_.ranks(); }
  bool lets_reach() const { return job_.reachable; }
  void caller_read(int rank, context::Address place, std::size_t bytes);
  void meet(int rank);
  context::Sequence look(int rank, context::Address flag);
  void put(int rank, context::Address flag, context::Sequence value);
  context::Sequence change(int rank, context::Address flag, context::Sequence amount);
  // Waits until one of the flags has its value; returns its index.
  int await(int rank, std::span<const context::AwaitedFlag> awaited);
  // Copies `from` to `to`. If `left` is set, reduces `left` and `from` into `to` instead.
  void copy(int rank, context::Address to, context::Address from, std::size_t bytes,
            memory::CopyKernel kernel, bool takes,
            std::optional<context::Address> left = std::nullopt);
  void copy_by_path(int rank, context::Address to, context::Address from, std::size_t bytes);
  void own(int rank, context::Address place, std::size_t bytes);
  void expose(int rank, context::Address at, context::Address what);
  context::Address exposed(int rank, context::Address at);

 private:
  // Unwinds the stack of a rank after another one has failed.
  struct Abandoned {};

  // A cache line that contains flags, and possibly data next to them.
  struct Line {
    std::array<context::Sequence, CacheContents::line_bytes / sizeof(context::Sequence)> values{};
    int writer = -1;
    int writer_before = -1;
    std::vector<char> has;  // by rank: has it since the last write
    double written_ns = 0;
    double owned_ns = 0;     // the writer requested it then
    double arrives_ns = 0;   // the writer has it then
    double writable_ns = 0;  // the next writer waits until then
    double readable_ns = 0;  // the next reader gets it then
    std::vector<int> waiting;
  };

  // The copies of a rank between two operations on flags. They are simulated as one copy.
  struct Work {
    double alone_ns = 0;
    double bytes = 0;
    std::vector<Load> loads;
  };

  struct Rank {
    double clock_ns = 0;
    Work work;
    // Start of the first of several consecutive checks of flags. Such checks overlap, also across
    // stores and short copies, because the CPU executes speculatively.
    std::optional<double> looks_since_ns;
    // When the stores end that occupy a buffer of the core.
    std::multiset<double> stores_end_ns;
    std::vector<context::AwaitedFlag> awaited;  // while it waits
    double waits_since_ns = 0;
    bool has_begun = false;
    bool has_ended = false;
  };

  int live(int rank);
  Rank& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  Line& line(context::Address flag);
  static std::size_t slot(context::Address flag) {
    return flag.offset % CacheContents::line_bytes / sizeof(context::Sequence);
  }
  bool is_held(const context::AwaitedFlag& one) {
    return one.until.holds(line(one.flag).values[slot(one.flag)]);
  }

  // Returns the rank that runs next: the earliest among the ready ranks and those whose copies end.
  int next();
  int next_to_leave() const;
  void give_way();
  // Lets other ranks run until none is behind this rank's clock.
  void catch_up(int rank);
  void finish_work(int rank);
  double now_ns(int rank) { return of(rank).clock_ns + of(rank).work.alone_ns; }
  double requested_ns(int rank, Line& line, double now_ns);
  void take_over(int rank, Line& line);
  // Returns when the rank has the line if it requested it at asked_ns.
  double fetch_ns(int rank, Line& line, double asked_ns);
  void look_at(int rank, Line& line);
  void wake(Line& line);
  // Returns the line of flags that contains the whole place, such as a payload behind its flag;
  // otherwise null.
  Line* line_around(context::Address place, std::size_t bytes);
  void find_read(int rank, context::Address place, std::size_t bytes,
                 std::vector<CacheContents::Found>& found);
  void find_written(int rank, context::Address place, std::size_t bytes, memory::CopyKernel kernel,
                    std::vector<CacheContents::Found>& found);
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
  CacheContents holdings_;
  Sharing sharing_;
  context::Fibers fibers_;
  std::vector<Rank> ranks_;
  std::set<std::pair<double, int>> ready_;
  std::vector<std::map<std::size_t, Line>> lines_;  // by owner, then by line number
  std::map<std::pair<int, std::size_t>, context::Address> exposed_;
  int met_ = 0;
  int meetings_ = 0;
  unsigned turns_ = 0;
  double origin_ns_ = 0;
  std::vector<std::size_t> lines_between_;
  std::vector<Span> spans_;
  std::vector<CacheContents::Found> found_from_, found_to_, found_left_;
  std::exception_ptr error_;
};

}  // namespace huddle::protocols::model
