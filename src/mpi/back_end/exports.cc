// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The entry point for the stub, and the MPI functions that begin and end MPI, free communicators,
// allocate memory and test windows. The collectives are exported by calls/.

#include <cstring>

#include "mpi/back_end/mpi_names.h"
#include "mpi/back_end/process.h"
#include "mpi/stub/stub_interface.h"

using namespace huddle::mpi;

namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): one per process, as MPI is
Process* the_process = nullptr;

}  // namespace

namespace huddle::mpi {

Process& process() { return *the_process; }

}  // namespace huddle::mpi

HUDDLE_EXPORT int huddle_back_end_init(const huddle_stub_interface* stub) {
  try {
    the_process = new Process(*stub);
    return 0;
  } catch (...) {
    return 1;
  }
}

HUDDLE_EXPORT int MPI_Init(int* argc, char*** argv) {
  process().announce_world(false);
  const int status = process().real().init(argc, argv);
  if (status == success) process().begin();
  return status;
}

HUDDLE_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  process().announce_world(required == thread_multiple);
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
  // The program may have found this function before it loaded an MPI that has no sessions.
  if (process().real().session_init == nullptr) return error_unsupported_operation;
  process().announce_presence();
  process().inter_node().note_session();
  const int status = process().real().session_init(info, errhandler, session);
  if (status == success) process().session_opened(*session);
  return status;
}

HUDDLE_EXPORT int MPI_Session_finalize(Session* session) {
  process().session_closing(*session);
  return process().real().session_finalize(session);
}

// MPI_Comm_free and MPI_Comm_disconnect run the delete callbacks of the communicator's attributes.
// Collective calls that such a callback makes on the communicator fall back to the MPI.
HUDDLE_EXPORT int MPI_Comm_free(Comm* comm) {
  return process().free(comm, process().real().comm_free);
}

HUDDLE_EXPORT int MPI_Comm_disconnect(Comm* comm) {
  return process().free(comm, process().real().comm_disconnect);
}

// MPI_Alloc_mem and MPI_Free_mem. A call with an info object falls back to the MPI.
HUDDLE_EXPORT int MPI_Alloc_mem(Aint bytes, Info info, void* place) {
  void* const block =
      bytes > 0 ? process().allocate(static_cast<std::size_t>(bytes), info) : nullptr;
  if (block == nullptr) return process().real().alloc_mem(bytes, info, place);
  std::memcpy(place, &block, sizeof block);
  return success;
}

HUDDLE_EXPORT int MPI_Free_mem(void* block) {
  return process().free_if_owned(block) ? success : process().real().free_mem(block);
}

namespace {

// Returns the number of ranks of the window, or 0 if the MPI fails.
int ranks_of(const UnderlyingMpi& real, Win window) {
  int ranks = 0;
  Group group{};
  if (real.win_get_group(window, &group) != success) return ranks;
  real.group_size(group, &ranks);
  real.group_free(&group);
  return ranks;
}

}  // namespace

// A rank that leaves a barrier of the MPI has processed the messages that were sent to it before
// the barrier. huddle's barrier does not call the MPI and progresses it only during long waits.
// Some MPIs test a window before they make progress, and would report that an exposure epoch is
// still open although all access epochs ended before the barrier. So MPI_Win_test is repeated here.
HUDDLE_EXPORT int MPI_Win_test(Win window, int* has_ended) {
  const UnderlyingMpi& real = process().real();
  int status = real.win_test(window, has_ended);
  if (status != success || *has_ended != 0 || !process().is_active()) return status;
  // Each test processes the messages of one rank.
  for (int left = ranks_of(real, window); left > 0 && status == success && *has_ended == 0;
       --left) {
    status = real.win_test(window, has_ended);
  }
  return status;
}
