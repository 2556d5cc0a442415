// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// std::source_location, with a replacement for compilers that lack it.
#pragma once

#include <version>

#if defined(__cpp_lib_source_location)
#include <source_location>
#endif

namespace huddle::check::checker {

#if defined(__cpp_lib_source_location)
using Where = std::source_location;
#else
class Where {
 public:
  static constexpr Where current(const char* file = __builtin_FILE(),
                                 const char* function = __builtin_FUNCTION(),
                                 unsigned line = __builtin_LINE(),
                                 unsigned column = __builtin_COLUMN()) {
    Where where;
    where.file_ = file;
    where.function_ = function;
    where.line_ = line;
    where.column_ = column;
    return where;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr const char* function_name() const { return function_; }
  constexpr unsigned line() const { return line_; }
  constexpr unsigned column() const { return column_; }

 private:
  const char* file_ = "";
  const char* function_ = "";
  unsigned line_ = 0;
  unsigned column_ = 0;
};
#endif

}  // namespace huddle::check::checker
