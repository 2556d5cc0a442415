// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// All that a test of a protocol needs: CheckerWorld for the protocol, Job, explore() and sample().
#pragma once

#include "check/checker/checker_world.h"
#include "check/checker/explore.h"
#include "check/checker/job.h"
#include "check/checker/memory.h"
#include "check/checker/mutation.h"
#include "check/checker/survey.h"
