// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/huge_pages.h"

namespace huddle {

bool may_share_huge_pages(const System& system) {
  const std::string chosen = chosen_word(system.read(shared_huge_pages_file).value_or(""));
  return chosen == "always" || chosen == "within_size" || chosen == "advise" || chosen == "force";
}

}  // namespace huddle
