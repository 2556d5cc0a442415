// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Processes that compete: forked, kept where they belong, waited for. They end with their parent.
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

// Where the ranks of a comparison may run.
struct Binding {
  int ranks = 2;
  std::vector<int> pus;

  bool crowded() const { return ranks > static_cast<int>(pus.size()); }
  // Each rank has a processor to itself; where there are not enough, all run on all.
  std::vector<int> pus_of(int rank) const;
  // The processor that a team counts each rank for.
  std::vector<int> counted_for() const;
};

// "2 ranks on cpus 0 and 1", "8 ranks on 2 cpus".
std::string text(const Binding& binding);

// Keeps the calling process to these. Throws FailureError naming what is not allowed.
void run_on(const std::vector<int>& pus);

// Memory that a process shares with those that it forks: mapped before, placed on the node of the
// rank that touches it first.
class SharedPages {
 public:
  // Throws FailureError where there is no memory.
  explicit SharedPages(std::size_t bytes);
  ~SharedPages();
  SharedPages(SharedPages&& other) noexcept;
  SharedPages& operator=(SharedPages&& other) noexcept;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Things in such memory. They are there once one process, the one they should lie near, has built
// them.
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
  // Forks; each calls `work` once it is where it belongs. Throws FailureError. pre: the caller has
  // no other threads.
  RankProcesses(const Binding& binding, const std::function<void(const team::Bootstrap&)>& work);
  // Kills whoever still runs.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  // True when all have ended, false when the time is over before. Throws FailureError where one has
  // failed, or been killed: what it said, or how it died. Nobody runs any more then.
  bool wait(std::chrono::milliseconds limit);

 private:
  void kill_all();
  void reap(int options);
  bool read_complaints();  // false once nobody is left to complain

  std::vector<pid_t> children_;  // by rank; has_ended where it has been waited for
  FileDescriptor complaints_;    // read end of a pipe whose other end the ranks have
  std::string complaint_;        // of a rank that failed
  std::string death_;            // of one that may have had no time to complain
};

}  // namespace huddle::bench
