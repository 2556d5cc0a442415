// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What this thread has of the heap: operators new and delete, counted. For a program of its own,
// where nothing else takes memory meanwhile.
#pragma once

#include <cstddef>

namespace huddle::internode::test {

// From where it is made on.
class HeapUse {
 public:
  HeapUse();

  std::size_t most_bytes() const;  // at any time since
  std::size_t bytes() const;       // now

 private:
  std::size_t before_;
};

// What the test takes for itself is not counted as long as this lives. Whoever takes it gives it
// back under another one of these.
class Uncounted {
 public:
  Uncounted();
  ~Uncounted();
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;
};

}  // namespace huddle::internode::test
