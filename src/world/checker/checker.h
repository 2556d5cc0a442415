// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// All that a test of a protocol needs: CheckerWorld for the protocol, Job, explore() and sample().
#pragma once

#include "world/checker/checker_world.h"
#include "world/checker/explore.h"
#include "world/checker/job.h"
#include "world/checker/memory.h"
#include "world/checker/mutation.h"
#include "world/checker/survey.h"
