// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/operation.h"

#include "common/text.h"

namespace huddle::select {

std::optional<Operation> operation_named(std::string_view word) {
  const std::string known = collective_word(word);
  for (const Operation operation : operations) {
    if (name(operation) == known) return operation;
  }
  return std::nullopt;
}

}  // namespace huddle::select
