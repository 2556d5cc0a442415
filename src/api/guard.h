// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Between C++ and C: no exception passes, every error becomes a status and a sentence.
#pragma once

#include <exception>
#include <new>
#include <string_view>

#include "base/error.h"
#include "huddle/huddle.h"
#include "world/peer_lost.h"

namespace huddle::api {

void tell(huddle_message* message, std::string_view text);

// Runs `work`; `tell_why` gets what went wrong.
template <class Work, class TellWhy>
huddle_status status_of(Work work, TellWhy tell_why) {
  try {
    work();
    return HUDDLE_OK;
  } catch (const world::PeerLost& error) {
    tell_why(error.what());
    return HUDDLE_PEER_LOST;
  } catch (const Error& error) {
    tell_why(error.what());
    return static_cast<huddle_status>(error.code());
  } catch (const std::bad_alloc&) {
    tell_why("this process has no memory left");
    return HUDDLE_FAILED;
  } catch (const std::exception& error) {
    tell_why(error.what());
    return HUDDLE_FAILED;
  }
}

template <class Work>
huddle_status guarded(huddle_message* message, Work work) {
  return status_of(work, [message](std::string_view text) { tell(message, text); });
}

// Throws UsageError.
void require(bool condition, std::string_view what);

}  // namespace huddle::api
