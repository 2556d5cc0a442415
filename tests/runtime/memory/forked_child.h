// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A child process that checks what it finds in a heap.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <functional>

#include "runtime/memory/heap.h"

namespace huddle::memory {

enum class FirstAct { as_usual, dies };

// A child that reports whether it found the expected data. It works after the parent's writes.
class Child {
 public:
  Child(Heap& heap, const std::function<bool()>& work, FirstAct first = FirstAct::as_usual) {
    EXPECT_EQ(pipe(go_.data()), 0);
    heap.before_fork();
    pid_ = fork();
    if (pid_ == 0) {
      if (first == FirstAct::dies) _exit(1);
      heap.after_fork_in_child();
      close(go_[1]);
      char word = 0;
      const bool is_told = read(go_[0], &word, 1) == 0;
      _exit(is_told && work() ? 0 : 1);
    }
    heap.after_fork_in_parent();
    close(go_[0]);
  }
  // Returns the status from waitpid().
  int end() {
    close(go_[1]);  // the child then reads end-of-file and begins
    int status = -1;
    waitpid(pid_, &status, 0);
    return status;
  }

 private:
  std::array<int, 2> go_{};
  pid_t pid_ = -1;
};

inline std::byte* filled(Heap& heap, std::size_t bytes, int value) {
  auto* block = static_cast<std::byte*>(heap.allocate(bytes));
  std::memset(block, value, bytes);
  return block;
}

inline bool holds_only(const std::byte* block, std::size_t bytes, int value) {
  return block[0] == std::byte(value) && std::memcmp(block, block + 1, bytes - 1) == 0;
}

}  // namespace huddle::memory
