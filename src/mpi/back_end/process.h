// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The state of huddle in one MPI process, shared by all its communicators.
#pragma once

#include <sys/types.h>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include "mpi/back_end/activation.h"
#include "mpi/back_end/communicator.h"
#include "mpi/back_end/datatypes.h"
#include "mpi/back_end/inter_node.h"
#include "mpi/back_end/node_context.h"
#include "mpi/back_end/underlying_mpi.h"
#include "mpi/call_log.h"
#include "mpi/devices.h"
#include "mpi/job_report.h"
#include "mpi/options.h"
#include "mpi/presence.h"
#include "mpi/stats.h"
#include "mpi/stub/stub_interface.h"
#include "mpi/verification.h"
#include "runtime/memory/heap.h"

namespace huddle::mpi {

// Blocks of MPI_Alloc_mem. Some MPIs allocate them from a pool that peers cannot map, so blocks
// that are large enough for huddle's heap come from the heap. Thread-safe.
class AllocMemBlocks {
 public:
  // Allocates a block. Returns null if the heap does not serve blocks of that size.
  void* allocate(const memory::HeapFacts& heap, std::size_t bytes);
  // Frees the block and returns true if allocate() returned it.
  bool free_if_owned(void* block);

 private:
  std::mutex mutex_;  // guards the member below
  std::unordered_set<void*> blocks_;
};

class Process {
 public:
  explicit Process(const huddle_stub_interface& stub);

  const UnderlyingMpi& real() const { return real_; }
  const Types& types() const { return types_; }
  const Operators& operators() const { return operators_; }
  const Options& options() const { return options_; }
  // Returns whether calls are neither counted by operation, timed nor verified.
  bool has_plain_calls() const { return has_plain_calls_; }
  Stats& stats() { return stats_; }
  CallLogs& logs() { return logs_; }
  // Returns the log of a communicator's calls, or null if they are not logged.
  CallLog* log_of(Communicator& communicator) noexcept;
  Devices& devices() { return devices_; }
  const Devices& devices() const { return devices_; }
  InterNode& inter_node() { return inter_node_; }
  bool is_null(Comm comm) const { return comm == null_; }
  // Returns null for MPI_COMM_NULL, after MPI_Finalize, and if the MPI cannot store the entry.
  // Throws InvalidCommunicator.
  Communicator* find(Comm comm);
  // Frees a communicator through `by_mpi`, a function of the MPI, and releases huddle's data for
  // it.
  int free(Comm* comm, int (*by_mpi)(Comm*));
  // Counts a call; may create the team.
  void count(Communicator& communicator);

  // Allocates memory for MPI_Alloc_mem. Returns null if the MPI has to allocate it.
  void* allocate(std::size_t bytes, Info info);
  // Frees the block and returns true if allocate() allocated it.
  bool free_if_owned(void* block) { return blocks_.free_if_owned(block); }

  // Returns whether any communicator has started its activation.
  bool is_active() const { return mpi_progress_.is_available(); }
  // Lets the MPI progress its messages.
  void poll_mpi_progress();

  Verification& verification() { return verification_; }
  // Prints the result of `--verify`, unless it has been printed. Also called in a process that ends
  // without MPI_Finalize.
  void report_verification();

  // Prints one line to stderr.
  void warn(std::string_view sentence);

  // The first two are called before MPI_Init, begin() after it, end() before MPI_Finalize.
  void announce_presence();
  void announce_world(bool has_threads);
  void begin();
  void end();
  // Called after each session is initialized, and before it is finalized.
  void session_opened(Session session);
  void session_closing(Session session);
  // Prints the reports of a program that uses only sessions, at exit.
  void leave();

 private:
  void start_heap();
  void note_other_launcher();
  void save_tuning() noexcept;
  void note_missing_report();
  void print_reports(bool speaks, const std::string& job_report);
  CallLog* new_log_of(const Communicator& communicator);
  bool do_all_ranks_report(int ranks);
  std::optional<JobReport> job_report();
  JobFacts job_facts() const;
  std::string delivered(const JobReport& report);
  Prediction predict_with(std::span<const RankReport> by_rank);
  void report_verification_at_exit();
  Run run() const;

  const huddle_stub_interface& stub_;
  // Determined before MPI_Init, because MPIs that do not support their launcher set the launcher's
  // variables to 0.
  const bool is_launchers_speaker_;
  bool is_alone_among_many_ = false;
  UnderlyingMpi real_;
  Types types_;
  Operators operators_;
  Options options_;
  bool has_plain_calls_;
  Comm null_;
  Comm world_;
  Comm self_;
  Info no_info_;
  Communicators communicators_;
  Stats stats_;
  CallLogs logs_;
  WorldRanks world_ranks_;
  Presence presence_;
  // Visible to ranks that take part in the report on the job: all whose calls are timed, even if
  // huddle is off.
  Presence reporters_;
  InterNode inter_node_;
  MpiProgress mpi_progress_;
  NodeContext context_;
  Activation activation_;
  AllocMemBlocks blocks_;
  Devices devices_;
  std::chrono::steady_clock::time_point begun_{};
  std::atomic<bool> ended_{false};
  std::atomic<bool> has_warned_{false};
  std::once_flag leaving_;
  pid_t pid_ = 0;                // of the process that uses MPI, not of forked children
  std::atomic<int> world_rank_;  // from the launcher until MPI is initialized
  Verification verification_;
  std::once_flag reporting_;
  std::atomic<bool> has_reported_verification_{false};
};

// The instance of this process: created when the stub opens the back end, and never destroyed.
Process& process();

}  // namespace huddle::mpi
