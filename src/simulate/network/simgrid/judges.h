// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Who simulates instead of huddle: each says the nanoseconds until the last rank is ready. A
// process asks one of them, once; a simgrid::s4u::Engine has to be there.
#pragma once

#include "simulate/network/simgrid/job.h"

namespace huddle::judge {

// huddle's schedule, every rank an actor that sends and receives. Links are shared out whenever a
// message begins or ends; messages of one card share it evenly, or with `cards_in_order` those of a
// later round wait for those of earlier ones, as in huddle's model.
double schedule_ns(const Job& job, bool cards_in_order);

// SMPI, SimGrid's own MPI, with its own algorithm of that name (sim::smpi_algorithm).
double smpi_ns(const Job& job);

}  // namespace huddle::judge
