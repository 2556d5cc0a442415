// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "select/explain.h"

#include <algorithm>
#include <string>

#include "api/guard.h"
#include "api/handles.h"

namespace huddle::api {
namespace {

static_assert(HUDDLE_ALLREDUCE == static_cast<int>(select::Operation::allreduce));

std::string explained(const team::Team& team, huddle_operation operation, size_t bytes,
                      huddle_format format) {
  require(operation >= HUDDLE_BARRIER && operation <= HUDDLE_ALLREDUCE, "no such operation");
  const select::Explanation explanation =
      team.explain({static_cast<select::Operation>(operation), bytes, 1});
  switch (format) {
    case HUDDLE_TEXT:
      return select::explanation_text(explanation);
    case HUDDLE_JSON:
      return select::explanation_json(explanation);
  }
  throw UsageError("no such format");
}

}  // namespace
}  // namespace huddle::api

using namespace huddle::api;

huddle_status huddle_explain(const huddle_team* team, huddle_operation operation, size_t bytes,
                             huddle_format format, char* buffer, size_t capacity, size_t* needed) {
  return guarded(nullptr, [&] {
    require(team != nullptr, "huddle_explain: no team");
    require(capacity == 0 || buffer != nullptr, "huddle_explain: nowhere to put the text");
    const std::string text = explained(team->team, operation, bytes, format);
    if (needed != nullptr) *needed = text.size() + 1;
    if (capacity == 0) return;
    const std::size_t length = std::min(text.size(), capacity - 1);
    std::copy_n(text.begin(), length, buffer);
    buffer[length] = '\0';
  });
}
