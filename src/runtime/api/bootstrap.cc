// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <chrono>
#include <memory>

#include "common/error.h"
#include "runtime/api/handles.h"
#include "runtime/team/socket_bootstrap.h"

namespace huddle::api {
namespace {

// `arg` of the C callback is the rendezvous.
int allgather_of(void* arg, const void* mine, size_t bytes, void* all) {
  const auto& bootstrap = *static_cast<huddle_rendezvous*>(arg)->bootstrap;
  const auto gather = [&] {
    bootstrap.allgather(
        {static_cast<const std::byte*>(mine), bytes},
        {static_cast<std::byte*>(all), bytes * static_cast<std::size_t>(bootstrap.ranks)});
  };
  return status_of(nullptr, gather) == HUDDLE_OK ? 0 : 1;
}

}  // namespace

team::Bootstrap bootstrap_of(const huddle_bootstrap& bootstrap) {
  // Uses the rendezvous's own allgather directly, because its exceptions describe the failure; the
  // C callback only returns a status.
  if (bootstrap.allgather == allgather_of) {
    return *static_cast<huddle_rendezvous*>(bootstrap.arg)->bootstrap;
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

huddle_status huddle_rendezvous_before_fork(int ranks, huddle_rendezvous** rendezvous,
                                            huddle_message* message) {
  return make_handle(rendezvous, message, [&] {
    require(ranks >= 1, "huddle_rendezvous_before_fork: a team has one rank at least");
    auto made = std::make_unique<huddle_rendezvous>();
    made->ranks = ranks;
    made->before_fork.emplace(ranks);
    return made.release();
  });
}

huddle_status huddle_rendezvous_attach(huddle_rendezvous* rendezvous, int rank,
                                       huddle_message* message) {
  tell(message, "");
  return status_of(message, [&] {
    require(rendezvous != nullptr, "huddle_rendezvous_attach: the rendezvous is null");
    require(rendezvous->before_fork.has_value(),
            "huddle_rendezvous_attach: a rendezvous at a path attaches its ranks itself; call this "
            "only after huddle_rendezvous_before_fork");
    require(!rendezvous->bootstrap.has_value(),
            "huddle_rendezvous_attach: this process is already attached");
    require(rank >= 0 && rank < rendezvous->ranks,
            "huddle_rendezvous_attach: ranks are counted from 0, and stay below their number");
    rendezvous->bootstrap = rendezvous->before_fork->join(rank);
  });
}

huddle_status huddle_rendezvous_at_path(const char* path, int rank, int ranks, int timeout_ms,
                                        huddle_rendezvous** rendezvous, huddle_message* message) {
  return make_handle(rendezvous, message, [&] {
    require(path != nullptr && *path != '\0', "huddle_rendezvous_at_path: there is no path");
    require(ranks >= 1, "huddle_rendezvous_at_path: a team has one rank at least");
    require(rank >= 0 && rank < ranks,
            "huddle_rendezvous_at_path: ranks are counted from 0, and stay below their number");
    require(timeout_ms > 0, "huddle_rendezvous_at_path: timeout_ms must be positive");
    auto made = std::make_unique<huddle_rendezvous>();
    made->ranks = ranks;
    made->bootstrap =
        huddle::team::path_bootstrap(path, rank, ranks, std::chrono::milliseconds(timeout_ms));
    return made.release();
  });
}

huddle_bootstrap huddle_rendezvous_bootstrap(huddle_rendezvous* rendezvous) {
  if (rendezvous == nullptr || !rendezvous->bootstrap) return {-1, 0, nullptr, nullptr};
  return {rendezvous->bootstrap->rank, rendezvous->bootstrap->ranks, allgather_of, rendezvous};
}

void huddle_rendezvous_free(huddle_rendezvous* rendezvous) { delete rendezvous; }
