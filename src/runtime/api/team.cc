// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <algorithm>
#include <chrono>
#include <string>

#include "runtime/api/handles.h"
#include "runtime/select/explain.h"

namespace huddle::api {

void tell(huddle_message* message, std::string_view text) {
  if (message == nullptr) return;
  const std::size_t length = std::min(text.size(), sizeof message->text - 1);
  std::copy_n(text.begin(), length, message->text);
  message->text[length] = '\0';
}

namespace {

void require_a_place(const huddle_bootstrap* bootstrap) {
  require(bootstrap != nullptr, "huddle_team_create: the bootstrap is null");
  require(bootstrap->allgather != nullptr,
          "huddle_team_create: the bootstrap has no allgather; that of a rendezvous has one "
          "once this process is attached");
  require(bootstrap->ranks >= 1, "huddle_team_create: a team has one rank at least");
  require(bootstrap->rank >= 0 && bootstrap->rank < bootstrap->ranks,
          "huddle_team_create: ranks are counted from 0, and stay below the number of ranks");
}

}  // namespace
}  // namespace huddle::api

using namespace huddle::api;

huddle_status huddle_team_create(huddle_context* context, const huddle_bootstrap* bootstrap,
                                 huddle_team** team, huddle_message* message) {
  return make_handle(team, message, [&] {
    require(context != nullptr, "huddle_team_create: the context is null");
    require_a_place(bootstrap);
    const huddle::team::Bootstrap others = bootstrap_of(*bootstrap);
    return huddle::team::make_or_decline<huddle_team>(others, context->resources, others).release();
  });
}

void huddle_team_free(huddle_team* team) { delete team; }

int huddle_team_rank(const huddle_team* team) { return team == nullptr ? -1 : team->team.rank(); }

int huddle_team_ranks(const huddle_team* team) { return team == nullptr ? 0 : team->team.ranks(); }

huddle_status huddle_team_set_timeout(huddle_team* team, int timeout_ms) {
  if (team == nullptr) return HUDDLE_MISUSED;
  return status_of(&team->message, [&] {
    require(timeout_ms >= 0, "huddle_team_set_timeout: timeout_ms must not be negative");
    team->time_limit.set(team->team, std::chrono::milliseconds(timeout_ms));
  });
}

const char* huddle_team_message(const huddle_team* team) {
  return team == nullptr ? "the team is null" : team->message.text;
}

namespace huddle::api {

namespace {

static_assert(HUDDLE_ALLREDUCE == static_cast<int>(select::Operation::allreduce));
static_assert(HUDDLE_SCATTERV == static_cast<int>(select::Operation::scatterv));
static_assert(HUDDLE_EXSCAN + 1 == select::operations.size());

select::Request request_of(huddle_operation operation, size_t count, size_t element_bytes) {
  require(operation >= HUDDLE_BARRIER && operation <= HUDDLE_EXSCAN,
          "there is no such huddle_operation");
  const auto of = static_cast<select::Operation>(operation);
  if (of == select::Operation::barrier) return {of, 0, 1};
  require(element_bytes > 0, "element_bytes must be positive; it is 1 for a broadcast");
  require(count <= most_bytes / element_bytes, "more elements than memory can hold");
  return {of, count * element_bytes, element_bytes};
}

std::string text_of(const select::Explanation& explanation, huddle_format format) {
  switch (format) {
    case HUDDLE_TEXT:
      return select::explanation_text(explanation);
    case HUDDLE_JSON:
      return select::explanation_json(explanation);
  }
  throw UsageError("there is no such huddle_format");
}

}  // namespace
}  // namespace huddle::api

huddle_status huddle_explain(huddle_team* team, huddle_operation operation, size_t count,
                             size_t element_bytes, huddle_format format, char* buffer,
                             size_t capacity, size_t* needed) {
  if (team == nullptr) return HUDDLE_MISUSED;
  return status_of(&team->message, [&] {
    require(capacity == 0 || buffer != nullptr, "there is no buffer to write the explanation to");
    const std::string text =
        text_of(team->team.explain(request_of(operation, count, element_bytes)), format);
    if (needed != nullptr) *needed = text.size() + 1;
    if (capacity == 0) return;
    const std::size_t length = std::min(text.size(), capacity - 1);
    std::copy_n(text.begin(), length, buffer);
    buffer[length] = '\0';
  });
}
