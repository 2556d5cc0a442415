// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <chrono>
#include <memory>

#include "common/error.h"
#include "runtime/api/handles.h"
#include "runtime/team/socket_bootstrap.h"

namespace huddle::api {
namespace {

// `arg` of the C callback is the meeting.
int allgather_of(void* arg, const void* mine, size_t bytes, void* all) {
  const auto& bootstrap = *static_cast<huddle_meeting*>(arg)->bootstrap;
  const auto gather = [&] {
    bootstrap.allgather(
        {static_cast<const std::byte*>(mine), bytes},
        {static_cast<std::byte*>(all), bytes * static_cast<std::size_t>(bootstrap.ranks)});
  };
  return status_of(nullptr, gather) == HUDDLE_OK ? 0 : 1;
}

}  // namespace

team::Bootstrap bootstrap_of(const huddle_bootstrap& bootstrap) {
  // Calls the meeting's own allgather, which can describe why it failed; the C callback only
  // returns an error.
  if (bootstrap.allgather == allgather_of) {
    return *static_cast<huddle_meeting*>(bootstrap.arg)->bootstrap;
  }
  // Captures by reference: a copy would allocate, which may fail before the other ranks can be
  // notified.
  const auto gather = [&bootstrap](std::span<const std::byte> mine, std::span<std::byte> all) {
    if (bootstrap.allgather(bootstrap.arg, mine.data(), mine.size(), all.data()) != 0) {
      throw FailureError(
          "the ranks cannot reach each other: the allgather of the bootstrap failed");
    }
  };
  return {bootstrap.rank, bootstrap.ranks, gather};
}

}  // namespace huddle::api

using namespace huddle::api;

huddle_status huddle_meeting_before_fork(int ranks, huddle_meeting** meeting,
                                         huddle_message* message) {
  return make_handle(meeting, message, [&] {
    require(ranks >= 1, "huddle_meeting_before_fork: a team has one rank at least");
    auto made = std::make_unique<huddle_meeting>();
    made->ranks = ranks;
    made->before_fork.emplace(ranks);
    return made.release();
  });
}

huddle_status huddle_meeting_take_place(huddle_meeting* meeting, int rank,
                                        huddle_message* message) {
  tell(message, "");
  return status_of(message, [&] {
    require(meeting != nullptr, "huddle_meeting_take_place: the meeting is null");
    require(meeting->before_fork.has_value(),
            "huddle_meeting_take_place: ranks of a meeting at a path have their places already; "
            "this is for meetings made before a fork");
    require(!meeting->bootstrap.has_value(),
            "huddle_meeting_take_place: this process has its place already");
    require(rank >= 0 && rank < meeting->ranks,
            "huddle_meeting_take_place: ranks are counted from 0, and stay below their number");
    meeting->bootstrap = meeting->before_fork->join(rank);
  });
}

huddle_status huddle_meeting_at_path(const char* path, int rank, int ranks, int timeout_ms,
                                     huddle_meeting** meeting, huddle_message* message) {
  return make_handle(meeting, message, [&] {
    require(path != nullptr && *path != '\0', "huddle_meeting_at_path: there is no path");
    require(ranks >= 1, "huddle_meeting_at_path: a team has one rank at least");
    require(rank >= 0 && rank < ranks,
            "huddle_meeting_at_path: ranks are counted from 0, and stay below their number");
    require(timeout_ms > 0, "huddle_meeting_at_path: timeout_ms must be positive");
    auto made = std::make_unique<huddle_meeting>();
    made->ranks = ranks;
    made->bootstrap =
        huddle::team::path_bootstrap(path, rank, ranks, std::chrono::milliseconds(timeout_ms));
    return made.release();
  });
}

huddle_bootstrap huddle_meeting_bootstrap(huddle_meeting* meeting) {
  if (meeting == nullptr || !meeting->bootstrap) return {-1, 0, nullptr, nullptr};
  return {meeting->bootstrap->rank, meeting->bootstrap->ranks, allgather_of, meeting};
}

void huddle_meeting_free(huddle_meeting* meeting) { delete meeting; }
