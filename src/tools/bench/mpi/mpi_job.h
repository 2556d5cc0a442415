// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One MPI job that measures: started by its launcher, given orders, alive until it is let go. It
// sleeps while it has none.
#pragma once

#include <sys/types.h>
#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "tools/bench/mpi/order.h"

namespace huddle::bench {

// From a launcher to the MPI that it belongs to: the library that ranks open, and its family.
struct Mpi {
  std::string name;                   // for people and tables
  std::vector<std::string> launcher;  // its words
  // Files or names for the loader, between colons: the first that can be opened is it.
  std::string library;
  std::string abi;  // as huddle's back ends are called
};

// launcher: words between spaces; empty: the first one on the PATH. library: the file, where
// the user says it. Throws UsageError where there is none.
Mpi find_mpi(const std::string& launcher, const std::string& library,
             const std::string& search_path);

// All that bench/peers has set up in this folder. Throws UsageError where there is none.
std::vector<Mpi> find_peers(const std::string& folder);

// Thrown out of a wait for a job when somebody wants to stop.
struct Stopped {};

// What a job is started with, besides its MPI.
struct JobOptions {
  int ranks = 2;
  std::string programs;                       // the folder with the rank programs and the back ends
  std::string machine_file;                   // empty: the ranks look for one
  std::vector<std::string> environment = {};  // NAME=VALUE, before those that there are
  std::vector<std::string> rank_prefix = {};  // words of a command that starts the rank program
  bool with_huddle = true;                    // else the MPI is alone in the ranks
};

// A way in which huddle could have carried out a call.
struct Choice {
  double predicted_ns = 0;
  std::string algorithm;
  std::string parameters;  // in words
};

struct Answer {
  struct Batch {
    Side side = Side::native;
    std::vector<double> ns;  // of each stretch
  };
  std::vector<Batch> batches;
  unsigned long passed = 0;  // calls that huddle left to the MPI
  // Where the order asked for it: what ran, then the best of each other algorithm.
  std::vector<Choice> choices;
};

class Job {
 public:
  // Throws FailureError, with what the job printed, where it does not come up; and Stopped.
  Job(Mpi mpi, const JobOptions& job_options, const std::atomic<bool>& stop);
  ~Job();  // lets it end; kills what does not
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const Mpi& mpi() const { return mpi_; }
  const std::string& version() const { return version_; }  // what the MPI says it is
  bool crowded() const { return crowded_; }                // ranks share processors

  // Throws FailureError where data were wrong or the job died; and Stopped.
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
  bool crowded_ = false;
  pid_t process_ = -1;
  int to_job_ = -1;
  int from_job_ = -1;
  std::string unread_;
  std::deque<std::string> noise_;  // the last lines that were not for us
};

}  // namespace huddle::bench
