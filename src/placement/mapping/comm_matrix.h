// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Communication matrices: the bytes that pairs of ranks or threads exchange, and the readers of the
// file formats in which tools write them. An "element" is a rank or a thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/mapping/evidence.h"
#include "placement/mapping/graph.h"
#include "placement/mapping/memory_time.h"

namespace huddle::mapping {

enum class Kind { unknown, ranks, threads };

// Returns "rank", "thread" or "element", for messages.
std::string_view element_word(Kind kind);

// Limit above the size of any job for which a table of all pairs is practical.
inline constexpr int most_elements = 65'536;

// Upper bound of the bytes of a pair; sums of such amounts stay finite.
inline constexpr double most_bytes_of_a_pair = 1e18;

struct CommMatrix {
  Kind kind = Kind::unknown;
  std::vector<std::string> names;  // by element; empty if the file has none
  std::vector<std::string> hosts;  // by element: the host on which it ran, empty if unknown
  Graph graph;
  // The sampled events behind the graph. Nothing if all traffic was counted, or if the file
  // contains no events.
  std::optional<Events> events;
  // The data that the elements moved from and to memory. Nothing if that is unknown.
  std::optional<MemoryTraffic> memory;
  std::vector<std::string> unobserved;  // what the profiler could not observe, one sentence each
  std::vector<std::string> notes;       // what was dropped, summed up or incomplete

  int size() const { return graph.size(); }
  // Returns "3", or "3 (solver)" if the element has a name.
  std::string name_of(int element) const;
};

// Selects whether the first row of a CSV file belongs to the first element or to the last.
enum class Rows { first, last };

struct ReadOptions {
  Rows rows = Rows::first;
  std::string phase = {};         // of a profile; empty: all phases
  bool with_collectives = false;  // of a profile: adds the logical traffic of collectives
};

// Reads a matrix and detects the format from its contents.
//
// - huddle-comm: JSON, {"schema": "huddle-comm", "version": 1, "kind": "ranks", "n": 4, "names":
//   [], "entries": [[from, to, bytes, messages], ...]}. `huddle profile` adds "hosts", by rank,
//   "collectives" and "phases", each of which has "entries" of its own. In profiles of threads, the
//   fourth field of an entry is the number of sampled events; "events": {"total": 112,
//   "dispersion": 1.3} adds the variance of such a number divided by that number. "unobserved"
//   lists what the profiler could not see.
//
// - CSV: a row of numbers for each element, separated by commas, semicolons or blanks, optionally
//   below a heading.
//
// - Matrix Market: "%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric".
//
// - The files of Open MPI's monitoring component: "E  0  1  4096 bytes  2 msgs sent".
//
// - An edge list: one "from to bytes" per line, further columns ignored, # comments.
//
// Throws InputError "FILE:LINE: message" if the file is invalid.
CommMatrix read_matrix(const std::string& path, const ReadOptions& options);
// Parses text in any of these formats. `name` takes the place of the file name in errors.
CommMatrix parse_matrix(std::string_view text, const std::string& name, const ReadOptions& options);

// Returns the matrix as huddle-comm. Each pair has one entry with the smaller number first.
std::string format_matrix(const CommMatrix& matrix);

// Iterates over the lines of a text and reports errors with the line number.
class Lines {
 public:
  Lines(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  // Returns the next line that is neither empty nor begins with one of `comment_signs`; nothing at
  // the end.
  std::optional<std::string_view> next(std::string_view comment_signs);
  [[noreturn]] void fail(const std::string& what) const;  // reports the current line
  [[noreturn]] void fail_whole(const std::string& what) const;

  // These functions parse a field of the current line. They fail if it is invalid.
  double amount(std::string_view field) const;           // finite and not negative
  int element(std::string_view field, int count) const;  // 0 <= element < count

 private:
  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  int number_ = 0;
};

// Splits a line at its commas, semicolons, tabs or blanks, whichever it has. Removes quotes.
void split_fields(std::string_view line, std::vector<std::string_view>& fields);

// Adds notes on dropped entries and on pairs whose directions differ.
void note_folded(CommMatrix& matrix, const Folded& folded);

CommMatrix parse_csv(Lines lines, Rows rows);
CommMatrix parse_matrix_market(Lines lines);
CommMatrix parse_monitoring(Lines lines);
CommMatrix parse_edges(Lines lines);
CommMatrix parse_huddle_comm(std::string_view text, const std::string& name,
                             const ReadOptions& options);

}  // namespace huddle::mapping
