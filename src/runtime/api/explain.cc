// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/explain.h"

#include <algorithm>
#include <string>

#include "runtime/api/guard.h"
#include "runtime/api/handles.h"

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
  require(element_bytes > 0, "elements of no bytes cannot be asked about; of a broadcast it is 1");
  require(count <= most_bytes / element_bytes, "no memory holds so many elements");
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

using namespace huddle::api;

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
