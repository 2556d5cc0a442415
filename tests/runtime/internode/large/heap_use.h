// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Counts the heap memory of this thread in operators new and delete. For a program in which no
// other code allocates meanwhile.
#pragma once

#include <cstddef>

namespace huddle::internode::test {

// Measures from its construction on.
class HeapUse {
 public:
  HeapUse();

  std::size_t most_bytes() const;  // maximum since construction
  std::size_t bytes() const;       // current

 private:
  std::size_t before_;
};

// Allocations of the test itself are not counted while an object of this class exists. They must be
// released under another such object.
class Uncounted {
 public:
  Uncounted();
  ~Uncounted();
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;
};

}  // namespace huddle::internode::test
