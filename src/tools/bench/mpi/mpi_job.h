// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// An MPI job that measures. A Job starts it with the MPI's launcher and sends it orders, between
// which the ranks sleep. Its destructor ends the job.
#pragma once

#include <sys/types.h>
#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "tools/bench/mpi/order.h"

namespace huddle::bench {

// An MPI: its launcher, the library that the ranks open, and huddle's back end for it.
struct Mpi {
  std::string name;                   // for users and tables
  std::vector<std::string> launcher;  // the words of its command
  // File names for the loader, separated by colons; the first that can be opened is used.
  std::string library;
  std::string abi;  // name of huddle's back end
};

// Finds an MPI by its launcher, a command whose words are separated by spaces. If `launcher` is
// empty, uses the first launcher in `search_path` (a PATH). `library` is the MPI library; if it is
// empty, it is searched for near the launcher. Throws UsageError if no MPI is found.
Mpi find_mpi(const std::string& launcher, const std::string& library,
             const std::string& search_path);

// Returns all MPIs that bench/peers has set up in this folder. Throws UsageError if there is none.
std::vector<Mpi> find_peers(const std::string& folder);

// Thrown while waiting for a job if a stop has been requested.
struct Stopped {};

// Options for starting a job, in addition to its MPI.
struct JobOptions {
  int ranks = 2;
  std::string programs;                       // folder of the rank programs and the back ends
  std::string machine_file;                   // empty: the ranks look for one
  std::vector<std::string> environment = {};  // NAME=VALUE; overrides inherited ones
  std::vector<std::string> rank_prefix = {};  // command that starts the rank program
  bool with_huddle = true;                    // false: the ranks run the MPI alone
};

// An algorithm with which huddle could have run a call.
struct Choice {
  double predicted_ns = 0;
  std::string algorithm;
  std::string parameters;  // in words
};

struct Answer {
  struct Batch {
    Side side = Side::native;
    std::vector<double> ns;  // per stretch
  };
  std::vector<Batch> batches;
  unsigned long passed = 0;  // calls that fell back to the MPI
  // If requested: the algorithm that ran, then the best of each other algorithm.
  std::vector<Choice> choices;
};

class Job {
 public:
  // Starts the job and waits until its ranks are ready. Throws Stopped once `stop` is set, and
  // FailureError with the job's output if the job does not start.
  Job(Mpi mpi, const JobOptions& job_options, const std::atomic<bool>& stop);
  ~Job();  // ends the job; kills processes that do not end
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const Mpi& mpi() const { return mpi_; }
  const std::string& version() const { return version_; }  // as reported by the MPI
  bool oversubscribed() const { return oversubscribed_; }  // ranks share hardware threads

  // Sends an order and returns the answer. Throws Stopped once `stop` is set, and FailureError if
  // data were wrong or the job died.
  Answer carry_out(const Order& order);

 private:
  void start(const JobOptions& job_options);
  void wait_until_ready();
  std::string next_word(std::string& rest);
  bool read_more(int milliseconds);
  [[noreturn]] void fail(const std::string& why);
  bool has_ended(int milliseconds);

  Mpi mpi_;
  const std::atomic<bool>& stop_;
  std::string version_;
  bool oversubscribed_ = false;
  pid_t process_ = -1;
  int to_job_ = -1;
  int from_job_ = -1;
  std::string unread_;
  std::deque<std::string> noise_;  // last output that is not part of the protocol
};

}  // namespace huddle::bench
