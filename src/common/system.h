// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Access to the operating system's files. huddle reads all of /proc, /sys and /dev through System,
// so that tests can substitute the files of another machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle {

class System {
 public:
  // Reads this machine's files or, for tests, those below the folder `root`.
  explicit System(std::string root = "") : root_(std::move(root)) {}

  // `path` is always absolute, as in the kernel's documentation: "/proc/sys/kernel/numa_balancing".
  bool exists(std::string_view path) const;
  // Returns the contents without trailing white space; nothing if the file cannot be read.
  std::optional<std::string> read(std::string_view path) const;
  // Returns the lines of a file; none if it cannot be read.
  std::vector<std::string> lines(std::string_view path) const;
  // Returns the integer in a file that contains nothing else.
  std::optional<long long> number(std::string_view path) const;
  // Returns the value of `key` in a file of "key: value" lines, such as /proc/meminfo.
  std::optional<std::string> field(std::string_view path, std::string_view key) const;
  // Returns the names in a folder, sorted.
  std::vector<std::string> list(std::string_view path) const;

  // Returns the actual path of a file, for system calls.
  std::string at(std::string_view path) const { return root_ + std::string(path); }

 private:
  std::string root_;
};

// Parses the whole text as an integer. Returns nothing if it is not one.
std::optional<long long> whole_number(std::string_view text);
// Splits a line at white space.
std::vector<std::string> words(std::string_view line);
// Returns the choice that a sysfs file marks with brackets: "always [madvise] never" -> "madvise".
std::string chosen_word(std::string_view line);

// The tightest limits of the cgroups (version 1 and 2) that this process is in, from its own group
// up to the outermost visible one; nothing if there is no limit.
struct CgroupLimits {
  bool found = false;  // the process is in a cgroup that can be read
  std::optional<double> memory_bytes;
  std::optional<double> processors;  // CPU quota: 2.5 means the CPU time of 2.5 hardware threads
  std::optional<long long> tasks;
  std::string cpuset;  // "0-3"; empty if there is none
};

CgroupLimits read_cgroup_limits(const System& system);

inline constexpr std::string_view shared_huge_pages_file =
    "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

// Returns whether shared memory can get huge pages, even if only by madvise().
bool may_share_huge_pages(const System& system);

}  // namespace huddle
