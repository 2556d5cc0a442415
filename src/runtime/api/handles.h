// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The types behind the opaque handles of the C interface, and the conversion of C++ exceptions into
// statuses and messages.
#pragma once

#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "common/calling_thread.h"
#include "common/error.h"
#include "huddle/huddle.h"
#include "runtime/api/time_limit.h"
#include "runtime/context/errors.h"
#include "runtime/memory/heap.h"
#include "runtime/team/socket_bootstrap.h"
#include "runtime/team/team.h"
#include "runtime/team/team_context.h"

namespace huddle::api {

// Statuses of the C interface have the same values as the exit statuses of the commands.
static_assert(HUDDLE_FAILED == static_cast<int>(ExitCode::failure));
static_assert(HUDDLE_MISUSED == static_cast<int>(ExitCode::usage));
static_assert(HUDDLE_BAD_INPUT == static_cast<int>(ExitCode::bad_input));

// Copies `text`, truncated if necessary. `message` may be null.
void tell(huddle_message* message, std::string_view text);

// Runs work() and returns its status. On failure writes the reason to `message`; otherwise leaves
// it unchanged. Does not allocate, so that it can report a lack of memory.
template <class Work>
huddle_status status_of(huddle_message* message, Work work) {
  try {
    work();
    return HUDDLE_OK;
  } catch (const context::PeerLost& error) {
    tell(message, error.what());
    return HUDDLE_PEER_LOST;
  } catch (const TimedOut& error) {
    tell(message, error.what());
    return HUDDLE_PEER_LOST;
  } catch (const Error& error) {
    tell(message, error.what());
    return static_cast<huddle_status>(error.code());
  } catch (const std::bad_alloc&) {
    tell(message, "this process has no memory left");
    return HUDDLE_FAILED;
  } catch (const std::exception& error) {
    tell(message, error.what());
    return HUDDLE_FAILED;
  } catch (const ThreadEnd&) {
    throw;
  } catch (...) {
    tell(message, "a callback of the program threw something that is no std::exception");
    return HUDDLE_FAILED;
  }
}

// The same for a call that creates a handle: first sets the handle to null and the message to "".
template <class Handle, class Make>
huddle_status make_handle(Handle** handle, huddle_message* message, Make make) {
  tell(message, "");
  if (handle == nullptr) {
    tell(message, "there is nowhere to put the new handle: the pointer to it is null");
    return HUDDLE_MISUSED;
  }
  *handle = nullptr;
  return status_of(message, [&] { *handle = make(); });
}

// Limit for the size of one rank's data: half of the largest std::size_t, because code adds offsets
// to sizes.
inline constexpr std::size_t most_bytes = std::numeric_limits<std::size_t>::max() / 2;

// Throws UsageError if `condition` is false. Inline, so that static analyzers see that `condition`
// holds after the call.
inline void require(bool condition, const char* otherwise) {
  if (!condition) throw UsageError(otherwise);
}

}  // namespace huddle::api

// The resources of a context. The context and its teams share ownership of them.
struct huddle_resources {
  huddle_resources(std::unique_ptr<huddle::memory::Heap> of,
                   const huddle::team::RankError& no_heap_because,
                   huddle::team::ContextOptions options)
      : heap(std::move(of)), no_heap(no_heap_because), context(std::move(options)) {}

  std::unique_ptr<huddle::memory::Heap> heap;  // null if it could not be created
  huddle::team::RankError no_heap;             // the reason
  huddle::team::Context context;
};

struct huddle_context {
  std::shared_ptr<huddle_resources> resources;
};

struct huddle_rendezvous {
  int ranks = 1;
  std::optional<huddle::team::ForkBootstrap> before_fork;
  std::optional<huddle::team::Bootstrap> bootstrap;  // set once this process is attached
};

struct huddle_team {
  huddle_team(std::shared_ptr<huddle_resources> of, const huddle::team::Bootstrap& bootstrap)
      : resources(std::move(of)), team(resources->context, bootstrap) {}

  std::shared_ptr<huddle_resources> resources;  // destroyed after the team
  huddle::api::TimeLimit time_limit;            // destroyed after the team, which may refer to it
  huddle::team::Team team;
  huddle_message message{};
};

namespace huddle::api {

// Returns a bootstrap whose allgather calls the caller's callback and throws FailureError if the
// callback fails. Keeps a reference to `bootstrap`.
team::Bootstrap bootstrap_of(const huddle_bootstrap& bootstrap);

}  // namespace huddle::api
