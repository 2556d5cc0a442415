// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/forcing.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"

namespace huddle::select {

Forcing::Forcing(std::string_view text) : choices_(forced_choices(text)) {
  for (const ForcedChoice& choice : choices_) {
    if (operation_named(choice.operation)) continue;
    throw InputError(fmt::format("unknown collective '{}'", choice.operation));
  }
}

std::string_view Forcing::algorithm_for(const Request& request) const {
  const auto fits = [&](const ForcedChoice& choice) {
    return choice.operation == name(request.operation) && request.bytes >= choice.least_bytes &&
           request.bytes <= choice.most_bytes;
  };
  const auto first = std::find_if(choices_.begin(), choices_.end(), fits);
  return first == choices_.end() ? std::string_view() : std::string_view(first->algorithm);
}

}  // namespace huddle::select
