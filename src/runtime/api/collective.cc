// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/api/collective.h"

#include <fmt/format.h>

#include "runtime/memory/types.h"

namespace huddle::api {
namespace {

// The numbers of the C interface are those of the kernels.
static_assert(HUDDLE_INT8 == static_cast<int>(memory::Type::int8));
static_assert(HUDDLE_FLOAT16 == static_cast<int>(memory::Type::float16));
static_assert(HUDDLE_LONG_DOUBLE_INT + 1 == memory::type_facts.size());
static_assert(HUDDLE_SUM == static_cast<int>(memory::Operator::sum));
static_assert(HUDDLE_BITWISE_AND == static_cast<int>(memory::Operator::bitwise_and));
static_assert(HUDDLE_MAX_LOCATION + 1 == memory::operator_names.size());

bool exists(huddle_type type) { return type >= HUDDLE_INT8 && type <= HUDDLE_LONG_DOUBLE_INT; }

}  // namespace

memory::Reduction reduction_of(huddle_type type, huddle_operator op) {
  require(exists(type), "there is no such huddle_type");
  require(op >= HUDDLE_SUM && op <= HUDDLE_MAX_LOCATION, "there is no such huddle_operator");
  const auto of = static_cast<memory::Type>(type);
  const auto by = static_cast<memory::Operator>(op);
  if (!memory::is_defined(of, by)) {
    throw UsageError(fmt::format("{} is not for elements of type {}", name(by), name(of)));
  }
  return memory::reduction(of, by);
}

memory::Reduction reduction_of(const huddle_reduction* reduction) {
  require(reduction != nullptr, "the reduction is null");
  require(reduction->combine != nullptr, "the reduction has no function that combines");
  require(reduction->element_bytes > 0, "the reduction is of elements of no bytes");
  return {reduction->combine, reduction->arg, reduction->element_bytes, false};
}

}  // namespace huddle::api

size_t huddle_type_bytes(huddle_type type) {
  if (!huddle::api::exists(type)) return 0;
  return huddle::memory::type_bytes(static_cast<huddle::memory::Type>(type));
}
