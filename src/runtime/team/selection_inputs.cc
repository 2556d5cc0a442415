// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/selection_inputs.h"

#include <new>
#include <string>

namespace huddle::team {
namespace {

void assign(std::string& to, std::string_view why) noexcept {
  try {
    to = why;
  } catch (const std::bad_alloc&) {
    to = "no memory";  // short enough to need none
  }
}

}  // namespace

void SelectionInputs::refuse_path(single_copy::PathNumber path, std::string_view why) noexcept {
  assign(resources_.paths[path].refusal, why);
}

void SelectionInputs::refuse_heap(std::string_view why) noexcept {
  assign(resources_.heap_refusal, why);
}

}  // namespace huddle::team
