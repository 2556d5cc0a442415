// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/api/guard.h"

#include <algorithm>

namespace huddle::api {

void tell(huddle_message* message, std::string_view text) {
  if (message == nullptr) return;
  const std::size_t length = std::min(text.size(), sizeof message->text - 1);
  std::copy_n(text.begin(), length, message->text);
  message->text[length] = '\0';
}

}  // namespace huddle::api
