// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "common/error.h"

#include <new>

#include "huddle/huddle.h"

namespace huddle {

Error::Error(ExitCode code, std::string_view message) noexcept : code_(code) {
  try {
    message_ = std::make_shared<const std::string>(message);
  } catch (const std::bad_alloc&) {
    message_ = nullptr;
  }
}

const char* Error::what() const noexcept {
  return message_ ? message_->c_str() : "no memory is left, not even for an error message";
}

}  // namespace huddle

#define HUDDLE_TEXT_OF(x) #x
#define HUDDLE_TEXT(x) HUDDLE_TEXT_OF(x)

const char* huddle_version(void) {
  return HUDDLE_TEXT(HUDDLE_VERSION_MAJOR) "." HUDDLE_TEXT(HUDDLE_VERSION_MINOR) "." HUDDLE_TEXT(
      HUDDLE_VERSION_PATCH);
}

const char* huddle_status_text(huddle_status status) {
  switch (status) {
    case HUDDLE_OK:
      return "fine";
    case HUDDLE_FAILED:
      return "failed";
    case HUDDLE_MISUSED:
      return "misused";
    case HUDDLE_BAD_INPUT:
      return "bad input";
    case HUDDLE_PEER_LOST:
      return "a peer is lost";
  }
  return "unknown status";
}
