// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Forks the rank processes of a comparison, binds them to hardware threads and waits for them. The
// ranks are killed when their parent ends.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "common/file.h"
#include "runtime/team/bootstrap.h"

namespace huddle::bench {

// The number of ranks of a comparison, and the hardware threads on which they run.
struct Binding {
  int ranks = 2;
  std::vector<int> pus;

  bool oversubscribed() const { return ranks > static_cast<int>(pus.size()); }
  // Returns the hardware threads of a rank: its own, or all if there are not enough for all ranks.
  std::vector<int> pus_of(int rank) const;
  // Returns for each rank the hardware thread that represents it in the model: its own, or one in
  // turn if the ranks are oversubscribed.
  std::vector<int> counted_for() const;
};

// Returns for example "2 ranks, one each on cpus 0, 1" or "8 ranks on 2 cpus".
std::string text(const Binding& binding);

// Binds the calling process to these hardware threads. Throws FailureError if the system refuses.
void run_on(const std::vector<int>& pus);

// Memory that a process shares with its forked children. It is mapped before the fork and placed on
// the NUMA node of the rank that touches it first.
class SharedPages {
 public:
  // Throws FailureError if the memory cannot be mapped.
  explicit SharedPages(std::size_t bytes);
  ~SharedPages();
  SharedPages(SharedPages&& other) noexcept;
  SharedPages& operator=(SharedPages&& other) noexcept;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Objects in shared pages. They exist after one process has called build(), which places the pages
// near that process.
template <class T>
class Shared {
 public:
  static_assert(std::is_trivially_destructible_v<T>);
  explicit Shared(std::size_t count = 1) : pages_(count * sizeof(T)), count_(count) {}

  void build() const {
    for (std::size_t i = 0; i < count_; ++i) new (pages_.data() + i * sizeof(T)) T();
  }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) const { return first()[i]; }
  T& operator[](int rank) const { return first()[rank]; }
  T& operator*() const { return *first(); }
  T* operator->() const { return first(); }

 private:
  T* first() const { return std::launder(reinterpret_cast<T*>(pages_.data())); }

  SharedPages pages_;
  std::size_t count_;
};

class RankProcesses {
 public:
  // Forks the ranks. Each binds itself and then calls `work`. Throws FailureError if a process
  // cannot be started.
  // Requires: the caller has no other threads.
  RankProcesses(const Binding& binding, const std::function<void(const team::Bootstrap&)>& work);
  // Kills the ranks that still run.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  // Returns true once all ranks have ended, false if the time limit passes first. If a rank has
  // failed or was killed, kills all others and throws FailureError with the rank's message or, if
  // it sent none, its exit status or signal.
  bool wait(std::chrono::milliseconds limit);

 private:
  void kill_all();
  void reap(int options);
  bool read_complaints();  // false once no rank holds the pipe open

  std::vector<pid_t> children_;  // by rank; has_ended after it has been reaped
  FileDescriptor complaints_;    // read end of a pipe to which the ranks write
  std::string complaint_;        // message of a rank that failed
  std::string death_;            // exit status or signal of a rank that failed
};

}  // namespace huddle::bench
