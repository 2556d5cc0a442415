// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where the stub enters, and where a program begins and ends MPI. The names of MPI that this back
// end takes are in exports/; the stub sends their calls there.
#include "mpi/back_end/exports/export.h"
#include "mpi/back_end/process.h"
#include "mpi/stub/door.h"

namespace {

using namespace huddle::mpi;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): MPI is the process's
Process* the_process = nullptr;

}  // namespace

namespace huddle::mpi {

Process& process() { return *the_process; }

}  // namespace huddle::mpi

HUDDLE_EXPORT int huddle_enter(const huddle_door* door) {
  try {
    the_process = new Process(*door);
    return 0;
  } catch (...) {
    return 1;
  }
}

HUDDLE_EXPORT int MPI_Init(int* argc, char*** argv) {
  process().sign_in_for_world(false);
  const int status = process().real().init(argc, argv);
  if (status == success) process().begin();
  return status;
}

HUDDLE_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  process().sign_in_for_world(required == thread_multiple);
  const int status = process().real().init_thread(argc, argv, required, provided);
  if (status == success) process().begin();
  return status;
}

HUDDLE_EXPORT int MPI_Finalize() {
  process().end();
  return process().real().finalize();
}

HUDDLE_EXPORT int MPI_Abort(Comm comm, int code) {
  process().report_verification();
  return process().real().abort(comm, code);
}

HUDDLE_EXPORT int MPI_Session_init(Info info, Errhandler errhandler, Session* session) {
  process().sign_in();
  process().inter_node().note_session();
  const int status = process().real().session_init(info, errhandler, session);
  if (status == success) process().opened(*session);
  return status;
}

HUDDLE_EXPORT int MPI_Session_finalize(Session* session) {
  process().closing(*session);
  return process().real().session_finalize(session);
}
