// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Who sends how much to whom: ranks of an MPI program, or threads. Read from the formats in which
// tools leave it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/mapping/evidence.h"
#include "placement/mapping/graph.h"

namespace huddle::mapping {

enum class Kind { unknown, ranks, threads };

// Of one element as people say it: "rank", "thread", "element".
std::string_view element_word(Kind kind);

// More than any job that is placed by a table of pairs.
inline constexpr int most_elements = 65'536;

// More than any pair sends; sums of such amounts stay finite.
inline constexpr double most_bytes_of_a_pair = 1e18;

struct CommMatrix {
  Kind kind = Kind::unknown;
  std::vector<std::string> names;  // by element; empty where the file has none
  std::vector<std::string> hosts;  // likewise: where it ran; one may be empty, which is not known
  Graph graph;
  // The sampled events behind the graph; nothing if it was counted completely, or if the file does
  // not contain them.
  std::optional<Events> events;
  std::vector<std::string> unobserved;  // what the profiler could not see, a sentence each
  std::vector<std::string> notes;       // what was dropped, added up or incomplete

  int size() const { return graph.size(); }
  // "3", or "3 (solver)".
  std::string name_of(int element) const;
};

// In which order a CSV file holds the rows.
enum class Rows { first, last };

struct ReadOptions {
  Rows rows = Rows::first;
  std::string phase = {};         // of a profile; empty: all of them
  bool with_collectives = false;  // of a profile: what they mean, as if it were sent so
};

// Tells the format by its contents.
//
// - huddle-comm: JSON, {"schema": "huddle-comm", "version": 1, "kind": "ranks", "n": 4,
//   "names": [], "entries": [[from, to, bytes, messages], ...]}. `huddle profile` adds "hosts", by
//   rank, "collectives" and "phases", each of which has "entries" of its own. In profiles
//   of threads, the fourth field of an entry is the number of sampled events; "events": {"total":
//   112, "dispersion": 1.3} adds the variance of such a number divided by it. "unobserved" lists
//   what the profiler could not see.
//
// - CSV: a row of numbers for each element, by comma, semicolon or blanks; perhaps a heading.
//
// - Matrix Market: "%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric".
//
// - The files of Open MPI's monitoring component: "E  0  1  4096 bytes  2 msgs sent".
//
// - An edge list: "from to bytes" a line, further columns ignored, # comments.
//
// Throws InputError "FILE:LINE: what is wrong".
CommMatrix read_matrix(const std::string& path, const ReadOptions& options);
// The same from text; `name` stands where the file's name would in errors.
CommMatrix parse_matrix(std::string_view text, const std::string& name, const ReadOptions& options);

// As huddle-comm. Bytes of a pair stand once, smaller number first.
std::string format_matrix(const CommMatrix& matrix);

// What the readers of matrices share: lines and their fields, and errors that name them.

// Walks over a text line by line, and says where it is when something is wrong.
class Lines {
 public:
  Lines(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  // The next line that is neither empty nor begins with one of these; nothing at the end.
  std::optional<std::string_view> next(std::string_view comment_signs);
  [[noreturn]] void fail(const std::string& what) const;  // at the line that came last
  [[noreturn]] void fail_whole(const std::string& what) const;

  // A field of the line that came last.
  double amount(std::string_view field) const;           // finite and not negative
  int element(std::string_view field, int count) const;  // from 0 up to, and without, count

 private:
  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  int number_ = 0;
};

// Fields between commas, semicolons, tabs or blanks, whichever the line has; without quotes around
// them.
void split_fields(std::string_view line, std::vector<std::string_view>& fields);

// Notes on what became of the flows.
void note_folded(CommMatrix& matrix, const Folded& folded);

CommMatrix parse_csv(Lines lines, Rows rows);
CommMatrix parse_matrix_market(Lines lines);
CommMatrix parse_monitoring(Lines lines);
CommMatrix parse_edges(Lines lines);
CommMatrix parse_huddle_comm(std::string_view text, const std::string& name,
                             const ReadOptions& options);

}  // namespace huddle::mapping
