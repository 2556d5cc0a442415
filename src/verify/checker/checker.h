// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// All that a test of a protocol needs: CheckerWorld for the protocol, Job, explore() and sample().
#pragma once

#include "verify/checker/checker_world.h"
#include "verify/checker/explore.h"
#include "verify/checker/job.h"
#include "verify/checker/memory.h"
#include "verify/checker/mutation.h"
#include "verify/checker/survey.h"
