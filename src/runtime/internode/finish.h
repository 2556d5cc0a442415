// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How a rank waits for messages: as it does for its peers' flags.
#pragma once

#include <memory>
#include <utility>

#include "runtime/context/hardware/waiting.h"

namespace huddle::internode {

// Messages: go on by advance(). Where that ends in the middle, they may still come in: what they
// were to be received into is left to them.
template <typename Messages, typename Meanwhile>
std::unique_ptr<Messages> finish(std::unique_ptr<Messages> messages,
                                 world::hardware::Waiting& waiting, const Meanwhile& meanwhile) {
  try {
    bool is_done = messages->advance();
    meanwhile();
    is_done = is_done || messages->advance();
    if (is_done) return messages;
    world::hardware::Wait wait(waiting);
    do {
      wait.spend();
    } while (!messages->advance());
    return messages;
  } catch (...) {
    static_cast<void>(messages.release());
    throw;
  }
}
template <typename Messages>
std::unique_ptr<Messages> finish(std::unique_ptr<Messages> messages,
                                 world::hardware::Waiting& waiting) {
  return finish(std::move(messages), waiting, [] {});
}

}  // namespace huddle::internode
