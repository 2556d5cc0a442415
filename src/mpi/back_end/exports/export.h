// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What every name of MPI that is exported here has.
#pragma once

#define HUDDLE_EXPORT extern "C" __attribute__((visibility("default")))
