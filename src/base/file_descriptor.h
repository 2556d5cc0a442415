// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A file descriptor that is closed by whoever holds it last.
#pragma once

#include <unistd.h>

#include <utility>

namespace huddle {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    const FileDescriptor old(std::exchange(number_, std::exchange(other.number_, -1)));
    return *this;
  }
  ~FileDescriptor() {
    if (number_ >= 0) close(number_);
  }

  // It is not closed by this one any more.
  void release() { number_ = -1; }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

}  // namespace huddle
