// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Memory that messages are sent from or received into. Where a call ends in the middle, some may
// still be under way: then it is left to them.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <vector>

namespace huddle::internode {

class MessageBuffer {
 public:
  explicit MessageBuffer(std::size_t bytes = 0)
      : bytes_(std::make_unique<std::vector<std::byte>>(bytes)) {}
  MessageBuffer(MessageBuffer&&) = default;
  MessageBuffer& operator=(MessageBuffer&&) = default;
  MessageBuffer(const MessageBuffer&) = delete;
  MessageBuffer& operator=(const MessageBuffer&) = delete;
  // NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): left to the messages, as said above
  ~MessageBuffer() {
    if (std::uncaught_exceptions() > exceptions_) static_cast<void>(bytes_.release());
  }
  // NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

  void resize(std::size_t bytes) { bytes_->resize(bytes); }
  std::byte* data() { return bytes_->data(); }
  const std::byte* data() const { return bytes_->data(); }
  std::size_t size() const { return bytes_->size(); }
  bool empty() const { return bytes_->empty(); }

 private:
  int exceptions_ = std::uncaught_exceptions();
  std::unique_ptr<std::vector<std::byte>> bytes_;
};

}  // namespace huddle::internode
