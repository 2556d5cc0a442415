// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The operating system as files: everything that huddle reads from /proc, /sys and /dev goes
// through here, so that a test can show it another machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle {

class System {
 public:
  // This machine, or the one whose files lie under `root`.
  explicit System(std::string root = "") : root_(std::move(root)) {}

  // `path` is absolute, as the kernel's documentation has it: "/proc/sys/kernel/numa_balancing".
  bool exists(std::string_view path) const;
  // The contents without the white space at their end; nothing when it cannot be read.
  std::optional<std::string> read(std::string_view path) const;
  // The same line by line; empty when it cannot be read.
  std::vector<std::string> lines(std::string_view path) const;
  // A file that holds one whole number.
  std::optional<long long> number(std::string_view path) const;
  // What the value of `key` is in a file of "key: value" lines, such as /proc/meminfo.
  std::optional<std::string> field(std::string_view path, std::string_view key) const;
  // Names in a folder, sorted.
  std::vector<std::string> list(std::string_view path) const;

  // Where the path really lies, for system calls that take one.
  std::string at(std::string_view path) const { return root_ + std::string(path); }

 private:
  std::string root_;
};

// The whole of the text as a whole number; nothing for anything else.
std::optional<long long> whole_number(std::string_view text);
// The words of a line, separated by white space.
std::vector<std::string> words(std::string_view line);
// "always [madvise] never" -> "madvise": how sysfs marks the choice in force.
std::string chosen_word(std::string_view line);

// The limits of the control groups that this process is in, version 1 and 2 alike.

// The tightest of each kind, from the process's own group up to the outermost that can be seen;
// nothing where there is no limit.
struct CgroupLimits {
  bool found = false;  // the process is in a group that can be read
  std::optional<double> memory_bytes;
  std::optional<double> processors;  // of time: 2.5 processors' worth
  std::optional<long long> tasks;
  std::string cpuset;  // "0-3"; empty: not given
};

CgroupLimits read_cgroup_limits(const System& system);

inline constexpr std::string_view shared_huge_pages_file =
    "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

// Whether shared memory gets huge pages, if only where a program asks for them.
bool may_share_huge_pages(const System& system);

}  // namespace huddle
