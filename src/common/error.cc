// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/error.h"

#include <new>

namespace huddle {

Error::Error(ExitCode code, std::string_view message) noexcept : code_(code) {
  try {
    message_ = std::make_shared<const std::string>(message);
  } catch (const std::bad_alloc&) {
    message_ = nullptr;
  }
}

const char* Error::what() const noexcept {
  return message_ ? message_->c_str() : "no memory is left, not even to say what is wrong";
}

}  // namespace huddle
