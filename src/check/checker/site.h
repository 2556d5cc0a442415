// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where in a protocol something was asked for, and what.
#pragma once

#include <cstdint>
#include <string_view>

#include "check/checker/where.h"

namespace huddle::verify::checker {

enum class Operation : std::uint8_t {
  load,
  store,
  fetch_add,
  fetch_sub,
  fence,
  wait,
  wait_any,
  wait_all,
  prefetch_write,
  copy,
  take,
  keep,
  reduce,
  sleep,
  wake,
  expose,
  order_callers_stores,
  reach,
  pull,
  push,
};

struct Site {
  Operation operation = Operation::load;
  std::string_view file;  // of a Where: it stays
  unsigned line = 0;
  unsigned column = 0;
  std::string_view function;

  Site() = default;
  Site(Operation what, const Where& where)
      : operation(what),
        file(where.file_name()),
        line(where.line()),
        column(where.column()),
        function(where.function_name()) {}

  // The same text of program, whatever the template's arguments.
  friend bool operator==(const Site& a, const Site& b) {
    return a.line == b.line && a.column == b.column && a.operation == b.operation &&
           a.file == b.file;
  }
};

// One call of an operation by one rank.
struct Call {
  int rank = 0;
  Site site;
};

}  // namespace huddle::verify::checker
