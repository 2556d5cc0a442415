// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What there is to share memory with.
#pragma once

#include <optional>
#include <vector>

#include "tools/doctor/finding.h"

namespace huddle::doctor {

struct ShmFacts {
  int memfd_error = 0;  // of memfd_create; 0: it works
  bool folder = false;  // /dev/shm is there
  bool writable = false;
  double size_bytes = 0;  // 0: not known
  double free_bytes = 0;
};

std::vector<Finding> judge_shared_memory(const ShmFacts& facts);

}  // namespace huddle::doctor
