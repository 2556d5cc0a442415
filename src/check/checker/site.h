// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Call sites of operations in a protocol, texts for them, and traces of executions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/checker/where.h"
#include "runtime/context/context.h"
#include "runtime/context/sequence.h"

namespace huddle::check::checker {

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
  std::string_view file;  // from a Where: a string with static lifetime
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

  // Compares positions in the source, regardless of template arguments.
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

// Names for traces and failures.
std::string_view name(Operation operation);
std::string_view name(context::Region region);
// Returns text such as "shared of 2 at 64".
std::string text_of(context::Address place);
// Returns text such as "shared of 2 at 64..127".
std::string text_of(context::Address place, std::size_t n);
// Returns a decimal number, or text such as "2^32-2" for numbers just below the wrap.
std::string text_of(context::Sequence value);
// Returns text such as "reaches 5" or "is 5".
std::string text_of(const context::Until& until);
// Returns text such as "store, barrier.h:57 in arrive".
std::string text_of(const Site& site);

// A readable log of an execution.
class Trace {
 public:
  struct Touched {
    std::size_t first = 0;  // offset in the whole memory
    std::size_t n = 0;
  };

  void begin(bool on) {
    on_ = on;
    events_.clear();
  }
  bool on() const { return on_; }
  // Requires: on().
  void note(const Call& call, std::string text, std::vector<Touched> touched = {});

  // Returns the last `events` events, one per line.
  std::string tail(std::size_t events) const;
  // Returns the call site of the rank's last access to this byte.
  std::optional<Site> last_touch(int rank, std::size_t byte) const;

 private:
  struct Event {
    Call call;
    std::string text;
    std::vector<Touched> touched;
  };
  bool on_ = false;
  std::vector<Event> events_;
};

}  // namespace huddle::check::checker
