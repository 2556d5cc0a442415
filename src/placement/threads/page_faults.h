// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Page faults of a program, one by one, with thread and address: the kernel's software event, read
// from a ring a processor. Works for one's own programs up to perf_event_paranoid 2. With the
// observer bpf a program in the kernel notes the faults, and the rings tell of births alone.
#pragma once

#include <sys/types.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/file.h"

namespace huddle::threads {

// A page fault as the kernel tells of it.
struct PageFault {
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t address = 0;
  pid_t process = 0;
  pid_t thread = 0;
};

// What notes them in the kernel: the event's own rings, one a processor, or a BPF program.
enum class Observer { perf, bpf };
inline constexpr std::array<std::string_view, 2> observer_names = {"perf", "bpf"};

// A BPF program that the kernel runs at each page fault of the software event: one ring for all
// processors, and a count. It needs root, or CAP_BPF and CAP_PERFMON; no kprobes.
class BpfFaults {
 public:
  // Loads it. Throws FailureError that says why not: it was not built, or may not be loaded.
  BpfFaults();
  ~BpfFaults();
  BpfFaults(BpfFaults&&) noexcept;
  BpfFaults& operator=(BpfFaults&&) noexcept;

  // From now on it sees what that event counts, in the place of the event's own ring. False where
  // the kernel refuses it: errno says why.
  bool attach(int event) const;
  // Adds what has come since the last call.
  void drain(std::vector<PageFault>& faults);
  // As counted in the kernel, those without room in the ring among them.
  std::uint64_t seen() const;
  std::uint64_t lost() const;

 private:
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace huddle::threads

struct perf_event_mmap_page;

namespace huddle::threads {

// A thread or, where the processes differ, a process was started.
struct Birth {
  pid_t process = 0;
  pid_t thread = 0;
  pid_t parent = 0;  // the thread that has started it
};

class PageFaults {
 public:
  // Of this process, its threads and its children from its next exec() on. Throws FailureError that
  // says what to do.
  static PageFaults from_exec_of(pid_t process, Observer observer = Observer::perf);
  // Of nobody, until threads are added. Throws FailureError where there is no such observer.
  explicit PageFaults(Observer observer = Observer::perf);
  // Of this thread from now on. False where the kernel refuses it: errno says why.
  bool add_thread(pid_t thread);
  bool is_watching(pid_t thread) const;
  // Of threads that were added: others have ended.
  void keep_threads(const std::map<pid_t, int>& alive);
  // What to do about that errno.
  [[noreturn]] static void fail_to_open(int error);

  // Adds what has come since the last call, in the order of time.
  void drain(std::vector<PageFault>& faults);
  // What was born according to all that was drained since the last call.
  std::vector<Birth> take_births() { return std::exchange(births_, {}); }
  // For which a ring had no room.
  std::uint64_t lost() const { return lost_ + (bpf_ ? bpf_->lost() : 0); }
  // As counted in the kernel; nothing with the observer perf, which counts what it has told.
  std::optional<std::uint64_t> counted() const {
    return bpf_ ? std::optional(bpf_->seen()) : std::nullopt;
  }

 private:
  struct Ring {
    FileDescriptor event;
    perf_event_mmap_page* head = nullptr;
    pid_t thread = 0;  // 0: all of a processor
    std::size_t bytes = 0;

    Ring(FileDescriptor opened, std::size_t data_pages, pid_t of_thread);
    Ring(Ring&& other) noexcept;
    Ring& operator=(Ring&& other) noexcept;
    ~Ring();
  };
  void drain(Ring& ring, std::vector<PageFault>& faults);
  // False: errno says why.
  bool is_observed(const FileDescriptor& event) const;

  std::optional<BpfFaults> bpf_;
  std::vector<Ring> rings_;
  std::vector<Birth> births_;
  std::uint64_t lost_ = 0;
};

// The mechanisms tried on this process itself: do they have an effect here, and what does a fault
// cost? A call that succeeds says little: some do nothing in kernels that were built without them.
struct Trial {
  bool works = false;
  std::string why_not = {};  // a sentence
  double fault_s = 0;        // a write to a protected page costs that much more, watched
};

// Page faults are seen with thread and address.
Trial try_page_faults(Observer observer = Observer::perf);
// Protected pages are unprotected by the kernel when they are written to, and that is seen.
Trial try_protection();
// The kernel notes which pages are written to after it was told to forget that.
Trial try_soft_dirty();

// What watching may cost: induced faults and the agent's own time, as a share of the processor time
// that the program uses.
struct Spent {
  double program_s = 0;      // processor time of the program
  double agent_s = 0;        // of the agent
  std::uint64_t faults = 0;  // induced

  double cost_s(double fault_s) const { return agent_s + static_cast<double>(faults) * fault_s; }
};

struct Budget {
  double share = 0.02;
  double fault_s = 6e-6;  // what a fault costs the program, measured here
  // Once, of a process: what was not spent while nothing could be seen does not come as one burst.
  int most_faults = 256;

  // Of so many processes together.
  int faults_left(const Spent& spent, int processes) const {
    const double left_s = share * spent.program_s - spent.cost_s(fault_s);
    const double most = static_cast<double>(most_faults) * processes;
    return static_cast<int>(std::clamp(left_s / fault_s, 0.0, most));
  }
};

}  // namespace huddle::threads
