// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The entry point of the back end and the wrappers of the calls that begin or end MPI, a phase or
// the lifetime of a handle.
#include "mpi/back_end/mpi_names.h"
#include "placement/profile/back_end/profiler.h"

namespace {

using namespace huddle::profile;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): one per process, as MPI is
Profiler* the_profiler = nullptr;

}  // namespace

namespace huddle::profile {

Profiler& profiler() { return *the_profiler; }

}  // namespace huddle::profile

HUDDLE_EXPORT int huddle_back_end_init(const huddle_stub_interface* stub) {
  try {
    the_profiler = new Profiler(*stub);
    return 0;
  } catch (...) {
    return 1;
  }
}

HUDDLE_EXPORT int MPI_Init(int* argc, char*** argv) {
  const int status = profiler().mpi().init(argc, argv);
  if (status == success) profiler().begin();
  return status;
}

HUDDLE_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int status = profiler().mpi().init_thread(argc, argv, required, provided);
  if (status == success) profiler().begin();
  return status;
}

HUDDLE_EXPORT int MPI_Finalize() {
  profiler().end();
  profiler().release();
  return profiler().mpi().finalize();
}

HUDDLE_EXPORT int MPI_Session_init(Info info, Errhandler errhandler, Session* session) {
  const int status = profiler().mpi().session_init(info, errhandler, session);
  if (status == success) profiler().begin(*session);
  return status;
}

HUDDLE_EXPORT int MPI_Session_finalize(Session* session) {
  return profiler().mpi().session_finalize(session);
}

HUDDLE_EXPORT int MPI_Pcontrol(int level, ...) {
  profiler().set_phase(level);
  return profiler().mpi().pcontrol(level);
}

// The wrappers forget a handle before they free it, because the MPI may then give it to another
// thread.
HUDDLE_EXPORT int MPI_Comm_free(Comm* comm) {
  profiler().forget_communicator(*comm);
  return profiler().mpi().comm_free(comm);
}

HUDDLE_EXPORT int MPI_Comm_disconnect(Comm* comm) {
  profiler().forget_communicator(*comm);
  return profiler().mpi().comm_disconnect(comm);
}

HUDDLE_EXPORT int MPI_Win_free(Win* win) {
  profiler().forget_window(*win);
  return profiler().mpi().win_free(win);
}

HUDDLE_EXPORT int MPI_Request_free(Request* request) {
  profiler().forget_request(*request);
  return profiler().mpi().request_free(request);
}
