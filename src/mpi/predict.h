// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Predicts what calls of a job would take with huddle, for a job that ran without it.
#pragma once

#include <vector>

#include "model/machine/machine.h"
#include "mpi/job_report.h"
#include "runtime/team/cpu_binding.h"

namespace huddle::mpi {

// Predicts calls of teams without a shared heap. Calls that move no data have no predicted time.
// `bindings` are those of the ranks of the job.
Prediction predict_on(machine::Machine machine, std::vector<team::CpuBinding> bindings);

}  // namespace huddle::mpi
