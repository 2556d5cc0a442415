// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A file descriptor that is closed at the end of its owner.
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
    if (number_ >= 0) ::close(number_);
  }

  // Closes it now. Returns whether that went well: network file systems report a full disk here.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

  // Leaves it open for another owner.
  void release() { number_ = -1; }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

}  // namespace huddle
