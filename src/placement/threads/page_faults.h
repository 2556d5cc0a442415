// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Observes the page faults of a program one by one, with thread and address, through the kernel's
// software event for page faults and one ring buffer per CPU. Works for the user's own programs if
// perf_event_paranoid is at most 2. With Observer::bpf, a BPF program records the faults and the
// rings only report new threads.
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

// A page fault as reported by the kernel.
struct PageFault {
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t address = 0;
  pid_t process = 0;
  pid_t thread = 0;
};

// Mechanism that records the faults: the event's own rings, one per CPU, or a BPF program.
enum class Observer { perf, bpf };
inline constexpr std::array<std::string_view, 2> observer_names = {"perf", "bpf"};

// A BPF program that the kernel runs at each page fault of the software event: one ring for all
// CPUs, and a counter. Requires root, or CAP_BPF and CAP_PERFMON; no kprobes.
class BpfFaults {
 public:
  // Loads the program. Throws FailureError with the reason if it was not built or is not allowed.
  BpfFaults();
  ~BpfFaults();
  BpfFaults(BpfFaults&&) noexcept;
  BpfFaults& operator=(BpfFaults&&) noexcept;

  // Attaches the program to the event, whose own ring then gets no samples. Returns false with
  // errno on failure.
  bool attach(int event) const;
  // Appends the faults since the last call.
  void drain(std::vector<PageFault>& faults);
  // Returns the number of faults that the kernel counted, including those that did not fit into the
  // ring.
  std::uint64_t seen() const;
  // Returns the number of faults that did not fit into the ring.
  std::uint64_t lost() const;

 private:
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace huddle::threads

struct perf_event_mmap_page;

namespace huddle::threads {

// A new thread or, if the processes differ, a new process.
struct Birth {
  pid_t process = 0;
  pid_t thread = 0;
  pid_t parent = 0;  // the thread that created it
};

class PageFaults {
 public:
  // Observes `process`, its threads and its children from its next exec() on, on the CPUs that it
  // may use now. Throws FailureError with advice.
  static PageFaults from_exec_of(pid_t process, Observer observer = Observer::perf);
  // Observes no thread until threads are added. Throws FailureError if unavailable.
  explicit PageFaults(Observer observer = Observer::perf);
  // Observes this thread from now on. Returns false with errno on failure: ENOMEM if the kernel
  // allows no more memory for rings.
  bool add_thread(pid_t thread);
  bool is_watching(pid_t thread) const;
  // Stops observing the added threads that are not in `alive`.
  void keep_threads(const std::map<pid_t, int>& alive);
  // Throws FailureError with advice for that errno.
  [[noreturn]] static void fail_to_open(int error);
  // Returns the memory that the kernel has locked for the rings.
  std::size_t locked_bytes() const;

  // Appends the faults since the last call, ordered by time.
  void drain(std::vector<PageFault>& faults);
  // Returns the new threads found by drain() since the last call.
  std::vector<Birth> take_births() { return std::exchange(births_, {}); }
  // Returns the number of faults for which a ring had no room.
  std::uint64_t lost() const { return lost_ + (bpf_ ? bpf_->lost() : 0); }
  // Returns the number of faults that the kernel counted; nothing for Observer::perf, which does
  // not count separately.
  std::optional<std::uint64_t> counted() const {
    return bpf_ ? std::optional(bpf_->seen()) : std::nullopt;
  }

 private:
  struct Ring {
    FileDescriptor event;
    perf_event_mmap_page* head = nullptr;
    pid_t thread = 0;  // 0: all threads on a CPU
    std::size_t bytes = 0;

    Ring(FileDescriptor opened, std::size_t data_pages, pid_t of_thread);
    Ring(Ring&& other) noexcept;
    Ring& operator=(Ring&& other) noexcept;
    ~Ring();
  };
  void drain(Ring& ring, std::vector<PageFault>& faults);
  // Returns false with errno on failure.
  bool is_observed(const FileDescriptor& event) const;
  // Returns false if the kernel does not allow that much memory for rings.
  bool open_rings(pid_t process, std::size_t data_pages);

  std::optional<BpfFaults> bpf_;
  std::vector<Ring> rings_;
  std::vector<Birth> births_;
  std::uint64_t lost_ = 0;
};

// Result of trying a mechanism on this process itself: whether it has an effect, and what a fault
// costs. A successful system call is not sufficient: some do nothing in kernels that were built
// without the feature.
struct Trial {
  bool works = false;
  std::string why_not = {};  // reason as text
  double fault_s = 0;        // additional time of a write to a protected page, while observed
};

// Tests whether page faults are reported with thread and address.
Trial try_page_faults(Observer observer = Observer::perf);
// Tests whether the kernel unprotects pages on write and reports which.
Trial try_protection();
// Tests whether the kernel tracks which pages were written since the last reset.
Trial try_soft_dirty();

// Cost of watching: induced faults and the agent's CPU time, relative to the program's.
struct Spent {
  double program_s = 0;      // CPU time of the program
  double agent_s = 0;        // CPU time of the agent
  std::uint64_t faults = 0;  // induced

  double cost_s(double fault_s) const { return agent_s + static_cast<double>(faults) * fault_s; }
};

struct Budget {
  double share = 0.02;
  double fault_s = 6e-6;  // cost of a fault to the program, measured on this machine
  // Limit per process and round, so that budget saved in idle rounds is not spent in one burst.
  int most_faults = 256;

  // Returns the number of faults that may be induced now in `processes` processes together.
  int faults_left(const Spent& spent, int processes) const {
    const double left_s = share * spent.program_s - spent.cost_s(fault_s);
    const double most = static_cast<double>(most_faults) * processes;
    return static_cast<int>(std::clamp(left_s / fault_s, 0.0, most));
  }
};

}  // namespace huddle::threads
