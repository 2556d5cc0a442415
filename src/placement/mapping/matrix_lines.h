// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the readers of matrices share: lines and their fields, and errors that name them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/mapping/comm_matrix.h"

namespace huddle::place {

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

}  // namespace huddle::place
